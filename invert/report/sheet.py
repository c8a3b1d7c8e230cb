"""The report of one sheet: on one screen, and in full with each reading, its reliability, its limits and its citations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from derive.show.layout import label_lines
from derive.show.words import text_of
from derive.units import show
from invert.assumptions import FACTS, Assumptions
from invert.estimate_text import kv_heading, plain_digits
from invert.estimators.lecture import PairInference
from invert.posterior.draws import RELIABLE
from invert.posterior.sampler import Summary
from invert.records import EXTRAPOLATED, Convention, Identifiability, PricingRules, Reading, Swing, verdict
from invert.report.columns import ESTIMATE_KEYS, MODEL_KEYS, REGISTRY, SHORT_KEYS, Column, models_of_record, name_of, short_kv
from invert.report.layout import NONE, Table, aligned, cite_sheet, infer_in_full, kv, title
from invert.report.prices import price_parts
from invert.report.tiers import ABSENT, deciding_source, tier_section

if TYPE_CHECKING:
    from invert.result import Inference, Run

_SAID = ("one band", "architecture known", "architecture assumed", "KV PRIOR-DOMINATED", "KV given", EXTRAPOLATED)
"""Flags that other lines of the screen already explain."""


def short_parts(one: "Inference", table: "Run") -> list[str]:
    """Return the report of one screen as paragraphs and tables."""
    lines = [*heading(one, table), readings_table(one, table), "", " ".join(advice(one, table)), ""]
    commands = [*label_lines("More", [infer_in_full(one, table)]), *label_lines("Cite", [cite_sheet(one, table, ())])]
    return [*lines, *price_parts(one, table), *commands]


def heading(one: "Inference", table: "Run") -> list[str]:
    """Name the sheet, and the amounts that replace published ones."""
    sheet = one.sheet
    region = f", {sheet.region}" if sheet.region else ""
    named = f"{sheet.provider} {sheet.model} ({sheet.service_tier}{region}), prices of {sheet.as_of.isoformat()}"
    changed = [
        f"what if: {place} = {amount}, {'where none is published' if one.adds(place) else 'in place of the published amount'}"
        for place, amount in table.changes.items()
    ]
    copied = [f"what if: {place} is {of}, without an amount" for place, of in one.copied.items()]
    return [named, *changed, *copied]


def advice(one: "Inference", table: "Run") -> Iterator[str]:
    """Recommend an estimate, and list the evidence against the readings, as sentences."""
    verdict, checks = table.premium_verdict, one.pairs[0].missed if one.pairs else None
    if one.contradiction:
        yield one.contradiction
    for names in one.inversion.undetermined:
        said = " and ".join(names).replace("_", " ").replace("kv ", "KV ")
        yield f"These prices do not determine {said}{' one by one' if names[1:] else ''}."
    if one.known:
        yield f"Use {short_kv(one.known.read)}: the architecture is {'public' if one.known.grade == 'verified' else one.known.grade}."
    elif not one.pairs:
        yield "Use the typical KV."
    elif one.kv_bytes["from_premium"].kind == "undetermined":
        below = one.pairs[0].pair.premium_out.value < 1
        why = "the output price of long contexts is below the base price" if below else one.kv_bytes["from_premium"].because
        yield f"Use the typical KV: {why}, so the premium gives no KV."
    elif verdict and not verdict.enters and (record := one.kv_bytes["from_premium"].record):
        better, worse = ("it", "the premium") if record.gain < 0 else ("the premium", "it")
        gain = f"{abs(record.gain):.2g} nats"
        yield f"Use the typical KV: {better} predicts {record.count} known models better than {worse} ({gain})."
    if checks and checks[0]:
        right = checks[1] - checks[0]
        yield f"KV from threshold contradicts bandwidth-bound: together they predict {right} of {checks[1]} other prices."
    if (found := one.convention) and (found.bayes_factor or 0.0) > 1:
        yield f"The premium looks like a convention (Bayes factor {plain_digits(found.bayes_factor or 0.0)})."
    if deciding_source(one):
        yield "One database decides the cache tier."
    explained = (*_SAID, one.sheet.service_tier.replace("_", "-"), f"priced in {one.sheet.bands[0].input.currency}")
    if flags := [flag for flag in one.flags if flag not in explained]:
        yield f"Flags: {'; '.join(flags)}."


_SIZES_BY_KNOWLEDGE = ("total_params_by_knowledge", "total_params_by_price_and_knowledge")
"""Rows for a sheet whose size is not stated."""


def readings_table(one: "Inference", run: "Run") -> Table:
    """Return the readings and estimates of a sheet as a table."""
    return aligned(_columns(run), [_cells(column, one, run) for column in columns_of(one)], gap=2, rule=False)


def _columns(run: "Run") -> tuple[str, ...]:
    return "", "estimate", f"{100 * run.assumptions.level:.0f} % range", "right before"


def _cells(column: Column, one: "Inference", run: "Run") -> tuple[str, ...]:
    return column.heading, column.text(one), column.span(one), record_text(column, one, run)


def readings_in_lines(one: "Inference", run: "Run") -> list[str]:
    """Return the same as sentences, without missing values."""
    records = ((column, record_text(column, one, run)) for column in columns_of(one) if column.text(one) != ABSENT)
    return [
        f"{column.heading}: {column.whole_text(one)}{f'; right before: {record}' if record != NONE else ''}." for column, record in records
    ]


def columns_of(one: "Inference") -> Iterator[Column]:
    """Yield the columns that are rows for this sheet: the columns of the default table, and others with a value."""
    for column in map(REGISTRY.__getitem__, MODEL_KEYS):
        size_is_stated = one.size_stated if column.key == "active_params_by_price" else not one.size_stated
        wanted = column.key not in ("active_params_by_price", *_SIZES_BY_KNOWLEDGE) or size_is_stated
        if wanted and (column.key in SHORT_KEYS or column.text(one) != ABSENT):
            yield column


def record_text(column: Column, one: "Inference", run: "Run") -> str:
    """Return how often estimates like the one of this sheet were right before, and on which models."""
    record = column.record([one], run) or NONE
    if column.text(one) == ABSENT:
        return NONE
    if column.models and EXTRAPOLATED in one.flags:
        return "extrapolated"
    return f"{record} {models_of_record(column, one)}" if column.models and record[:1].isdigit() else record


def full_parts(one: "Inference", table: "Run") -> list[str]:
    """Return the full report as paragraphs and tables: findings, reliability, limits, and the lecture's readings with all numbers."""
    flags = [f"Flags: {'; '.join(one.flags)}."] if one.flags else []
    sections = [*heading(one, table), *title("All estimates, and why"), estimates_table(one, table), RIGHT_BEFORE, *flags]
    notes = dict.fromkeys(price.notes for price in one.sheet.prices.values() if price.notes)
    sections += [*title("Prices"), *price_parts(one, table), *notes]
    sections += [*families_of_typical_kv(one), *firmness(one, table), *tier_section(one, table)]
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
    commands = [
        *label_lines("Cite", [cite_sheet(one, table, (id.split("@")[0] for id in one.equations))]),
        *label_lines("Words", ["backsolve explain WORD"]),
    ]
    return [*sections, *_rules(one.rules), *_known_cache(one), *_anchors(one, table), "", *commands]


def estimates_table(one: "Inference", run: "Run") -> Table:
    """Return the readings, and every estimate with its reason."""
    columns = [*columns_of(one), *(column for key in ESTIMATE_KEYS if (column := REGISTRY[key]).of in one.named_estimates)]
    rows = []
    for column in dict.fromkeys(columns):
        found = one.named_estimates.get(column.of)
        because = found.because + "; PRIOR-DOMINATED" * found.prior_dominated if found else ""
        rows.append((*_cells(column, one, run), because))
    return aligned((*_columns(run), "because"), rows)


RIGHT_BEFORE = (
    "Right before: how many ranges contained the known value of other models. unknown: never compared with a known value."
    " backsolve validate --section truth, --section skill and --section storage have the errors of each estimate on every known model."
)


def _reading(heading: str, reading: Reading, *more: str) -> list[str]:
    """Return a reading under its heading: its steps in numbers, its sensitivities and `more`, or the reason why there is no reading."""
    if reading.problem:
        return [*title(heading), f"no reading: {reading.problem}"]
    # The short report shows no steps.
    from derive.show.parts import moves_lines, route_lines

    moves = moves_lines(reading.solution.answers[0].elasticities)
    return [*title(heading), *route_lines(reading.solution), *moves, *more]


def _pair(one: "Inference", pair: PairInference) -> list[str]:
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


def _rules(found: PricingRules | None) -> list[str]:
    """Return the KV bytes of every pricing rule."""
    if found is None:
        return []
    rows = []
    for rule, solution in found.solutions.items():
        one = solution.answers[0] if solution.answers else None
        said = f"{kv(one.value)}/token" if one and one.value else text_of(solution.unknown, one) if one else NONE
        rows.append((rule, said, solution.equations[0] if one else solution.why_not))
    return [
        *title("KV bytes by other pricing rules, with the same threshold and output premium (compute-bound base)"),
        aligned(("pricing rule", "KV", "equation"), rows),
        f"If the base band is memory-bound, all except the last are larger by a factor of {found.memory_bound_base_cost:.3g}.",
    ]


def _known_cache(one: "Inference") -> list[str]:
    """Return the cache of a known architecture, and the ratios of the readings to it."""
    if (truth := one.known) is None:
        return []
    grade = "stated by the vendor" if truth.grade == "verified" else f"{truth.grade}: not stated by the vendor"
    times = [f"Decode reads {times:.3g} times the {name} reading." for name, times in (one.times_reading or {}).items()]
    stored = f"{kv(truth.stored)}/token stored, {kv(truth.read)}/token read at long context, in bf16"
    return [*title("What the architecture says"), f"{truth.architecture} ({grade}): {stored}", *times]


def _anchors(one: "Inference", table: "Run") -> list[str]:
    """Return every outside fact, its source, and the readings and estimates that depend on it."""
    means = dict(zip(("short_context", "long_context"), one.observables.contexts, strict=False))
    labels, unused = anchors_by_label(one), None if one.size_stated else ("active_params", "KV from threshold")
    rows = [
        (
            f"{name} = {show(name, value)}",
            one.anchors.origin.get(name, "band mean"),
            ", ".join(label for label, names in labels.items() if name in names and (name, label) != unused) or "no reading or estimate",
        )
        for name, value in {**means, **one.anchors.values}.items()
        if name in FACTS
    ]
    assumed = " and ".join(f"{name} = {show(name, value)}" for name, value in table.assumptions.held.items())
    return [
        *title("Anchors: facts from outside the sheet, and the estimates that use each"),
        aligned(("anchor", "from", "used by"), rows),
        f"Also assumed: {assumed}. Together machine_balance_ratio and bytes_per_weight give a ridge_point of "
        f"{show('ridge_point', one.anchors.values['ridge_point'])}. Readings and forward checks use these values. Estimates with a range"
        " draw all other anchors from priors.",
    ]


def anchors_by_label(one: "Inference") -> dict[str, tuple[str, ...]]:
    """Return the anchors of every reading of KV bytes, every estimate and the tier by price, by label."""
    readings = (("KV from threshold", one.pairs[0].lecture), ("KV joint", one.pairs[0].joint)) if one.pairs else ()
    found = {label: reading.anchors for label, reading in readings if reading.values}
    found |= {name_of(*name): estimate.anchors for name, estimate in one.named_estimates.items()}
    return found | ({"tier by price": one.storage[0].anchors} if one.storage else {})


def families_of_typical_kv(one: "Inference") -> list[str]:
    """Return the families behind the typical KV: the release, the KV bytes and the weight of each."""
    stored, read = one.kv_bytes_stored["typical"].families, one.kv_bytes["typical"].families
    if stored is None:
        return []
    read_by = {of.family: of.kv_bytes for of in read.weights} if read else {}
    rows = [
        (of.family, of.released.isoformat(), kv(read_by.get(of.family)), kv(of.kv_bytes), f"{of.weight:.1%}")
        for of in stored.weights[:_MOST_FAMILIES]
    ]
    some = f", the {_MOST_FAMILIES} with the largest weights are listed" * (len(stored.weights) > _MOST_FAMILIES)
    return [
        *title("Families behind the typical KV"),
        aligned(("family", "released", "KV", "KV stored", "weight"), rows),
        f"{len(stored.weights)} families{some}. The effective number of families is {stored.effective:.3g}. A family is a kv_family of"
        " architectures.csv, with the mean of its models that were released before.",
    ]


_MOST_FAMILIES = 10
"""Families that a report lists; JSON has all."""


def firmness(one: "Inference", table: "Run") -> list[str]:
    """Describe draws, contraction, tornado, identifiability and convention."""
    lines = [*title("How much the prices changed the priors"), *([_draws(one.summary)] if one.summary else [])]
    if one.contradiction:
        return [*lines, one.contradiction, "At these anchors no positive KV bytes fit the published prices, so the draws differ from them."]
    narrowed = [
        (name, *(f"{number:.2f}" for number in (of.prior_spread, of.spread, of.contraction)), "PRIOR-DOMINATED" * of.prior_dominated)
        for name, of in one.contractions.items()
    ]
    lines += [aligned(("quantity", "prior sd (nats)", "posterior sd", "contraction", ""), narrowed)] if narrowed else []
    lines += [_tornado(one.swings, table.assumptions)] if one.swings else []
    lines += [_convention(one.convention)] if one.convention else []
    return [*lines, *_identifiability(one.identifiability)]


def _draws(found: Summary) -> str:
    if not found.marginals:
        return f"{found.sampler}: none of the draws fits the prices"
    return (
        f"{found.sampler}: effective sample size {found.ess:.0f}, Pareto-k {found.pareto_k:.2f} (trusted below {RELIABLE:g}),"
        f" {found.feasible_fraction:.0%} of the draws fit the prices, log evidence {found.log_evidence:.2f}"
    )


def _tornado(found: Mapping[str, Sequence[Swing]], assumptions: Assumptions) -> Table:
    """Return the KV bytes over their central value, with one input at each end and all others at their medians."""
    ends = [f"at its {100 * tail:.3g} %" for tail in assumptions.tails]
    rows = [
        (kv_heading(estimator), of.name, *(ABSENT if end is None else plain_digits(end) for end in (of.low, of.high)))
        for estimator, swings in found.items()
        for of in swings
    ]
    return aligned(("over its central value", "with only this input changed", *ends), rows)


def _convention(found: Convention) -> str:
    seen = zip((found.premium_in, found.premium_out), ("in", "out"), strict=True)
    asked = ", ".join(f"x{of.value:.3g} {way} ({of.low:.3g} to {of.high:.3g})" for of, way in seen)
    factor = "There is no factor, because no other vendor has this pair of premiums."
    if found.bayes_factor is not None:
        floor = "" if found.probability_by_cost else "above "
        factor = f"Bayes factor for a convention: {floor}{plain_digits(found.bayes_factor)}."
    return (
        f"Cost or convention: if the base prices are given, the cost model predicts premiums that round to the published ones, {asked},"
        f" with probability {plain_digits(found.probability_by_cost)}. {found.same} of {found.others} other vendors with a premium have the"
        f" same one. As a convention the probability is {plain_digits(found.probability_by_habit)}. {factor}"
    )


def _identifiability(found: Identifiability) -> list[str]:
    free = f"{found.rank} prices determine {found.rank} combinations of {found.hidden} hidden quantities, and leave {found.nullity} open"
    return [
        *title("What the prices determine"),
        f"{found.regime}: {free}.",
        "determined by the prices alone:",
        *(f"    {name}" for name in found.pinned or ("nothing",)),
        aligned(("to know", "from these prices"), [(name, found.verdict(name)) for name in found.missing_facts]),
    ]
