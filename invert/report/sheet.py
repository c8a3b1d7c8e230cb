"""One sheet in full: each reading with its numbers, assumptions, predictions and citations."""

from derive.show.parts import moves_lines, route_lines
from derive.solving.result import Solution
from derive.units import show
from invert.assumptions import FACTS
from invert.estimators.names import kv_heading
from invert.records import PairInference, PricingRules, Reading, verdict
from invert.report.commands import cite_sheet
from invert.report.findings import RIGHT_BEFORE, estimates_table, families_of_typical_kv, firmness
from invert.report.layout import aligned, kv, title
from invert.report.prices import all_prices
from invert.report.readings import readings_table
from invert.report.short import heading
from invert.report.tiers import tiers
from invert.result import Inference, Run


def full_parts(one: Inference, table: Run) -> list[str]:
    """Return the full report as paragraphs and tables: findings, reliability, limits, and the lecture's readings with all numbers."""
    flags = [f"Flags: {'; '.join(one.flags)}."] if one.flags else []
    sections = [*heading(one, table), "", readings_table(one, table), *flags, *all_prices(one, table)]
    sections += [*title("All estimates, and why"), estimates_table(one, table), RIGHT_BEFORE, *families_of_typical_kv(one)]
    sections += [*firmness(one, table), *tiers(one, table)]
    for pair in one.pairs:
        sections += _pair(one, pair)
    if not one.pairs:
        sections += [*title("The lecture's KV bytes"), "The sheet has one price for all lengths, so it has no threshold and no premium."]
    sections += _reading(
        "Bandwidth-bound fraction of decode, as the lecture reads it (1:47:56)",
        one.bandwidth_bound,
        "It is too high if output has a higher margin, or if chips or their compute are idle for other reasons.",
    )
    if one.implied_drain_time and not one.implied_drain_time.problem:
        sections += _reading(
            "Implied drain time: the hold time that costs as much as one read",
            one.implied_drain_time,
            "A time near the drain time of HBM means that storage is priced like HBM, not that the cache is in HBM.",
        )
    if one.rules:
        sections += _rules(one.rules)
    equations = (id.split("@")[0] for id in one.equations)
    return [
        *sections,
        *_known_cache(one),
        *_anchors(one, table),
        "",
        f"Cite         {cite_sheet(one, table, equations)}",
        "Words        backsolve explain WORD",
    ]


def _reading(heading: str, reading: Reading, *more: str) -> list[str]:
    """Return a reading under its heading: its steps in numbers, its sensitivities and `more`, or the reason why there is no reading."""
    if reading.problem:
        return [*title(heading), f"no reading: {reading.problem}"]
    moves = moves_lines(reading.solution.answers[0].elasticities)
    return [*title(heading), *route_lines(reading.solution), *moves, *more]


def _pair(one: Inference, pair: PairInference) -> list[str]:
    """Return both readings of one pair of bands, and whether each meets the prices that it did not use."""
    seen, values = pair.pair, pair.joint.values
    where = f" at {show('long_context_threshold', seen.long_context_threshold)}" if len(one.pairs) > 1 else ""
    prices = ", ".join(f"{found.name} = {found.value:g}" for found in (seen.premium_in, seen.premium_out, seen.output_input_ratio))
    beside = ", ".join(f"{name} = {values[name]:.3g}" for name in ("weight_compute_ratio", "memory_time_share") if name in values)
    return [
        *_reading(f"KV bytes from the threshold{where}, as the lecture reads it (1:36:01)", pair.lecture),
        *_reading(f"KV joint: KV bytes from all prices together, at one price/cost and the central anchors{where}", pair.joint),
        f"prices: {prices}{f'; then {beside}' if beside else ''}",
        *(["The forward model cannot give these prices at these anchors."] if pair.joint.problem else []),
        f"Check with the prices that the reading did not use: lecture {verdict(pair.lecture_checks)}, joint {verdict(pair.joint_checks)}"
        " (fail: a predicted price does not round to the published one)",
    ]


def _rules(found: PricingRules) -> list[str]:
    rows = [
        (rule, _rule_answer(solution), solution.equations[0] if solution.equations else solution.why_not)
        for rule, solution in found.solutions.items()
    ]
    return [
        *title("KV bytes by other pricing rules, with the same threshold and output premium (compute-bound base)"),
        aligned(("pricing rule", "KV", "equation"), rows),
        f"If the base band is memory-bound, all except the last are larger by a factor of {found.memory_bound_base_cost:.3g}.",
    ]


def _rule_answer(solution: Solution) -> str:
    if not solution.answers:
        return "not identified" if solution.reason and solution.reason.code == "not_identified" else "no answer"
    (answer,) = solution.answers
    if answer.kind == "point":
        return kv(answer.value) + "/token"
    return f"at least {kv(answer.low)}/token" if answer.low else f"at most {kv(answer.high)}/token"


def _known_cache(one: Inference) -> list[str]:
    if one.known is None:
        return []
    truth = one.known
    grade = "stated by the vendor" if truth.grade == "verified" else f"{truth.grade}: not stated by the vendor"
    lines = title("What the architecture says")
    lines += [f"{truth.architecture} ({grade}): {kv(truth.stored)}/token stored, {kv(truth.read)}/token read at long context, in bf16"]
    if times := one.times_reading:
        jointly = f" and {times['joint']:.3g} times the joint one" if "joint" in times else ""
        lines += [f"Decode reads {times['lecture']:.3g} times the lecture's reading{jointly}."]
    return lines


def _anchors(one: Inference, table: Run) -> list[str]:
    """Yield every outside fact, its source, and the readings and estimates that depend on it."""
    means = dict(zip(("short_context", "long_context"), one.observables.contexts, strict=False))
    values = {**one.anchors.values, **{name: value for name, value in means.items() if name not in one.anchors.values}}
    resting, unused = anchors_by_label(one), None if one.size_stated else ("active_params", "KV from threshold")
    rows = [
        {"anchor": f"{name} = {show(name, value)}", "from": one.anchors.origin.get(name, "band mean"),
         "used by": ", ".join(label for label, names in resting.items() if name in names and (name, label) != unused)
         or "none of the readings and estimates"}
        for name, value in values.items() if name in FACTS
    ]  # fmt: skip
    assumed = " and ".join(f"{name} = {show(name, value)}" for name, value in table.assumptions.held.items())
    ridge = show("ridge_point", one.anchors.values["ridge_point"])
    text = (
        f"Also assumed: {assumed}. Together machine_balance_ratio and bytes_per_weight give a ridge_point of "
        f"{ridge}. Readings and forward checks use these values. Estimates with a range draw all other anchors from priors."
    )
    return [*title("Anchors: facts from outside the sheet, and the estimates that use each"), aligned(tuple(rows[0]), rows), text]


def anchors_by_label(one: Inference) -> dict[str, tuple[str, ...]]:
    """Return the anchors of every reading of KV bytes, every estimate and the tier by price, by label."""
    first = one.pairs[0] if one.pairs else None
    readings: dict[str, Reading] = {"KV from threshold": first.lecture, "KV joint": first.joint} if first else {}
    found = {label: reading.anchors for label, reading in readings.items() if reading.values}
    found |= {kv_heading(key): estimate.anchors for key, estimate in one.kv_bytes.items()}
    found |= {name: estimate.anchors for name, estimate in one.estimates.items()}
    return found | ({"tier by price": one.storage[0].anchors} if one.storage else {})
