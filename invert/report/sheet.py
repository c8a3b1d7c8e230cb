"""One sheet in full: each reading with its numbers, what it assumed, what it predicts and what to cite."""

from collections.abc import Iterable

from derive.show.parts import moves_lines, route_lines
from derive.solving.result import Solution
from derive.units import show
from invert.assumptions import FACTS
from invert.estimators.names import KV_NAMES
from invert.records import Check, PairInference, PricingRules, Reading, verdict, why_not
from invert.report.commands import cite_sheet
from invert.report.findings import findings, firmness
from invert.report.layout import aligned, kv, laid_out, left_out, title
from invert.report.prices import all_prices
from invert.report.readings import readings_table
from invert.report.short import heading
from invert.report.tiers import tiers
from invert.result import Inference, Run


def report(one: Inference, table: Run, width: int = 100) -> str:
    """Format the full report in this width: findings, reliability, limits, and the lecture's readings with all numbers."""
    return laid_out(full_parts(one, table), width)


def full_parts(one: Inference, table: Run) -> list[str]:
    """Return the full report as paragraphs and tables."""
    flags = [f"Flags: {'; '.join(one.flags)}."] if one.flags else []
    sections = [*heading(one, table), "", readings_table(one, table), *flags, *all_prices(one, table)]
    sections += [*findings(one, table), *firmness(one, table), *tiers(one, table)]
    for pair in one.pairs:
        sections += _pair(one, pair)
    if not one.pairs:
        sections += [
            *title("The lecture's KV bytes"),
            "One price for all lengths: there is no threshold and no premium to read KV bytes from.",
        ]
    sections += [*_bandwidth_bound(one), *_storage(one, table)]
    if one.rules:
        sections += [*_contradiction(one, table), *_rules(one.rules)]
    return [*sections, *_known_cache(one), *_anchors(one, table), "", cited_by(one, table, one.equations)]


def _pair(one: Inference, pair: PairInference) -> list[str]:
    seen = pair.pair
    where = f" at {show('long_context_threshold', seen.long_context_threshold)}" if len(one.pairs) > 1 else ""
    lines = title(f"KV bytes from the threshold{where}, as the lecture reads it (1:36:01)")
    lines += [*route_lines(pair.lecture.solution), *_scaling(pair.lecture.solution)]
    lines += title(f"KV joint: KV bytes from both premiums and output/input together, one price/cost, every anchor as it is{where}")
    lines += [", ".join(f"{found.name} = {found.value:g}" for found in (seen.premium_in, seen.premium_out, seen.output_input_ratio))]
    if pair.joint.problem:
        lines += [f"no reading: {pair.joint.problem}", "These prices cannot come from the model at these anchors. Nothing is clipped."]
    else:
        values = pair.joint.values
        lines += [*route_lines(pair.joint.solution), *_scaling(pair.joint.solution)]
        lines += [
            f"with it: weight_compute_ratio = {values['weight_compute_ratio']:.4g}, memory_time_share = {values['memory_time_share']:.3g}"
        ]
    return lines + _checks(pair, where)


def _scaling(solution: Solution) -> list[str]:
    return moves_lines(solution.answers[0].elasticities)


def _checks(pair: PairInference, where: str) -> list[str]:
    by_lecture = {check.component: check for check in pair.lecture_checks}
    joint = {check.component: check for check in pair.joint_checks}
    rows = [
        {
            "component": name,
            "published": _number(check.component, check.published),
            "lecture predicts": _predicted(by_lecture.get(name)),
            "joint predicts": _predicted(joint.get(name)),
        }
        for name, check in {**joint, **by_lecture}.items()
    ]
    return [
        *title(f"Predictions of each reading for the sheet{where}"),
        aligned(("component", "published", "lecture predicts", "joint predicts"), rows),
        f"verdict over what each did not use: lecture {verdict(pair.lecture_checks)}, joint {verdict(pair.joint_checks)}"
        " (a miss lies outside the published number's rounding cell)",
    ]


def _predicted(check: Check | None) -> str:
    if check is None:
        return "-"
    mark = "used" if check.used_by_reading else ("ok" if check.inside_rounding_cell else "miss")
    return f"{'at least ' if check.bound else ''}{_number(check.component, check.predicted)} ({mark})"


def _number(component: str, value: float) -> str:
    name = component.split("@", maxsplit=1)[0]
    return f"{value:.3g}" if name.startswith(("premium", "output")) else show(name, value, digits=3)


def _bandwidth_bound(one: Inference) -> list[str]:
    lines = title("Bandwidth-bound fraction of decode, as the lecture reads it (1:47:56)")
    if one.bandwidth_bound.problem:
        return [*lines, f"no reading: {one.bandwidth_bound.problem}"]
    solution = one.bandwidth_bound.solution
    leans = "It leans upward: the ratio also holds the margin on output, idle capacity and whatever else leaves compute idle."
    return [*lines, *route_lines(solution), *_scaling(solution), leans]


def _storage(one: Inference, table: Run) -> list[str]:
    if one.implied_drain_time is None or one.implied_drain_time.problem:
        return []
    solution, devices = one.implied_drain_time.solution, table.drain_times["range"]
    said = "HBM itself drains in {} (real devices): a figure near that says storage is priced as HBM, not that the bytes lie there."
    return [
        *title("Hold time at the price of one read"),
        *route_lines(solution),
        *_scaling(solution),
        said.format(show("drain_time", devices.value["HBM"], digits=3)) if devices.value else left_out(devices),
    ]


def _contradiction(one: Inference, table: Run) -> list[str]:
    pair = one.pairs[0]
    text = (
        "If the threshold is where cache reads overtake arithmetic, decode below it is bound by arithmetic, and an output token"
        f" costs {pair.claimed_ratio:.3g} times an input token at the lecture's two balance batches"
        f" (serving.normalised_cost). This sheet asks {pair.pair.output_input_ratio.value:g} times, which the second reading takes"
        f" for time bound by memory at every length. One model cannot do both. {_side_by_side(one, table)}"
    )
    return [*title("The readings against each other"), text]


def _side_by_side(one: Inference, table: Run) -> str:
    """Compare the KV bytes of the lecture and of the joint reading, with their ratio only if both use the same size."""
    lecture, joint = one.pairs[0].lecture.values["kv_bytes_per_token"], one.pairs[0].joint.values
    if one.size_stated:
        said = f"On the same anchors, KV from threshold is {kv(lecture)}/token"
    else:
        size = _size(table.assumptions.assumed_active_params)
        said = f"KV from threshold, with {size} active as the lecture has it, is {kv(lecture)}/token"
    if not joint:
        return f"{said}, and no KV bytes fit all prices together."
    jointly, by_price = joint["kv_bytes_per_token"], f", with {_size(joint['active_params'])} by its price"
    beside = f" ({one.pairs[0].joint_over_lecture:.2g} times the lecture's)" if one.size_stated else by_price
    return f"{said} and KV joint, one price/cost with every anchor and price as it is, {kv(jointly)}/token{beside}."


def _size(active_params: float) -> str:
    return show("active_params", active_params, digits=3)


def _rules(found: PricingRules) -> list[str]:
    rows = [
        {"pricing rule": rule, "KV": _rule_answer(solution), "equation": _rule_id(solution)} for rule, solution in found.solutions.items()
    ]
    return [
        *title("The same threshold and output premium under other pricing rules (compute-bound base)"),
        aligned(("pricing rule", "KV", "equation"), rows),
        f"A memory-bound base multiplies all but the last by {found.memory_bound_base_cost:.3g}.",
    ]


def _rule_answer(solution: Solution) -> str:
    if not solution.answers:
        return "not identified" if solution.reason and solution.reason.code == "not_identified" else "no answer"
    (answer,) = solution.answers
    if answer.kind == "point":
        return kv(answer.value) + "/token"
    return f"at least {kv(answer.low)}/token" if answer.low else f"at most {kv(answer.high)}/token"


def _rule_id(solution: Solution) -> str:
    return solution.equations[0] if solution.equations else why_not(solution.reason)


def _known_cache(one: Inference) -> list[str]:
    if one.known is None:
        return []
    truth = one.known
    grade = "by the vendor's word" if truth.grade == "verified" else f"{truth.grade}: the vendor does not say so"
    lines = title("What the architecture says")
    lines += [f"{truth.architecture} ({grade}): {kv(truth.stored)}/token stored, {kv(truth.read)}/token read at long context, in bf16"]
    if times := one.times_reading:
        jointly = f" and {times.joint:.3g} times the joint one" if times.joint else ""
        lines += [f"Decode reads {times.lecture:.3g} times the lecture's reading{jointly}."]
    return lines


def _anchors(one: Inference, table: Run) -> list[str]:
    """Yield every outside fact, its source, and the readings and estimates that depend on it."""
    means = dict(zip(("short_context", "long_context"), one.observables.contexts, strict=False))
    values = {**one.anchors.values, **{name: value for name, value in means.items() if name not in one.anchors.values}}
    resting, unused = anchors_by_label(one), None if one.size_stated else ("active_params", "KV from threshold")
    rows = [
        {"anchor": f"{name} = {show(name, value)}", "from": one.anchors.origin.get(name, "band mean"),
         "what rests on it": ", ".join(label for label, names in resting.items() if name in names and (name, label) != unused)
         or "none of the readings and estimates"}
        for name, value in values.items() if name in FACTS
    ]  # fmt: skip
    assumed = " and ".join(f"{name} = {show(name, value)}" for name, value in table.assumptions.held.items())
    text = (
        f"Besides, {assumed} are assumed: KV bytes read off decode prices are proportional to the tokens of a step."
        f" machine_balance_ratio and bytes_per_weight make a ridge_point of {show('ridge_point', one.anchors.values['ridge_point'])};"
        f" it and sweep_time are those of rates sustained.{_end_of_contexts(one)}{_size_of_lecture(one, table)}"
        " Readings and forward checks use each anchor as it is. Estimates with a range do so if it is given; if it is not, they"
        " draw the mean contexts, and those of one price/cost also prompt_position, prefill_decode_flops_ratio, overlap, sweep_time and"
        " holding_cost_ratio, from priors."
    )
    return [*title("Anchors: outside facts, and what rests on each"), aligned(tuple(rows[0]), rows), text]


def _end_of_contexts(one: Inference) -> str:
    """Return the end of contexts if it was given as an anchor."""
    if one.anchors.origin.get("max_context") != "given":
        return ""
    return f" max_context = {show('max_context', one.anchors.values['max_context'])} as given: contexts above a threshold end there."


def _size_of_lecture(one: Inference, table: Run) -> str:
    assumed = _size(table.assumptions.assumed_active_params)
    return "" if one.size_stated else f" KV from threshold uses {assumed} active_params, as in the lecture, unless they are stated."


def anchors_by_label(one: Inference) -> dict[str, tuple[str, ...]]:
    """Return the anchors of every reading of KV bytes, every estimate and the tier by price, by label."""
    first = one.pairs[0] if one.pairs else None
    readings: dict[str, Reading] = {"KV from threshold": first.lecture, "KV joint": first.joint} if first else {}
    found = {label: reading.anchors for label, reading in readings.items() if reading.values}
    found |= {KV_NAMES[key].heading: estimate.anchors for key, estimate in one.kv_bytes.items()}
    found |= {name: estimate.anchors for name, estimate in one.estimates.items()}
    return found | ({"tier by price": one.storage[0].anchors} if one.storage else {})


def cited_by(one: Inference, table: Run, equations: Iterable[str]) -> str:
    """Return the command that cites the price sheet and these equations."""
    return f"cite  {cite_sheet(one, table, (id.split('@')[0] for id in equations))}"
