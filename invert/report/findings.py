"""Describe a sheet as an analyst would: estimates with reasons, their reliability, and limits."""

from math import log

from invert.assumptions import Assumptions
from invert.estimate_text import two_digits
from invert.estimators.names import KV_NAMES
from invert.records import CLOSED_MODELS, Convention, Estimate, Identifiability, Misreading, Record, Swing, Verdict, Worth
from invert.report.columns import ESTIMATE_KEYS, REGISTRY, UNKNOWN, Column, short_kv
from invert.report.layout import NONE, Table, aligned, kv, left_out, title
from invert.result import Inference, Run


def findings(one: Inference, table: Run) -> list[str]:
    """Return every estimate with its reason, what each makes of the known models, and whose caches the typical KV is from."""
    verdict = table.premium_verdict
    premium = left_out(verdict) if verdict.left_out else premium_in_words(verdict.value)
    known = _known_models(one.worth.value) if one.worth.value else left_out(one.worth)
    records = [
        f"{column.heading}: {record_in_words(record)}"
        for column in _estimated(one)
        if column.models and (record := one.named_estimates[column.of].record)
    ]
    return [
        *title("All estimates, and why"),
        estimates_table(one, table),
        _WITHOUT_RECORD,
        *records,
        *filter(None, (_ratio_text(one), premium, known)),
        *_families_of_typical_kv(one),
    ]


def estimates_table(one: Inference, table: Run) -> Table:
    """Return every estimate of the sheet with its range, its record and its reason."""
    columns = ("", "estimate", f"{table.assumptions.level:.0%} range", "right before", "because")
    found = {column: one.named_estimates[column.of] for column in _estimated(one)}
    rows = [
        (column.heading, column.text(one), column.span(one), held_in_words(of), of.because + "; PRIOR-DOMINATED" * of.prior_dominated)
        for column, of in found.items()
    ]
    return aligned(columns, rows)


def _estimated(one: Inference) -> list[Column]:
    """Return the estimate columns of this sheet."""
    return [column for column in map(REGISTRY.__getitem__, ESTIMATE_KEYS) if column.of in one.named_estimates]


def record_in_words(record: Record) -> str:
    """Return what such estimates have got right, in one line."""
    held, closed = record.held[-1], record.of == CLOSED_MODELS
    groups = f"of {record.groups} vendors" if closed else f"in {record.groups} families"
    source = "open models and an extra price/cost" if closed else "the other families"
    return (
        f"of {record.count} {record.of} {groups}, each predicted from {source}, {held.held} were in their {held.level:.0%} range; off by"
        f" {record.rms:.2f} nats (rms), {record.rms_of_class:.2f} without the price"
    )


def _families_of_typical_kv(one: Inference) -> list[str]:
    """Return the families that the typical KV is made of: when each was released, what it has, and its weight."""
    stored, read = one.kv_bytes_stored["headline"].votes, one.kv_bytes["headline"].votes
    if stored is None:
        return []
    read_by = {vote.family: vote.kv_bytes for vote in read.cast} if read else {}
    rows = [
        {"family": vote.family, "released": vote.released.isoformat(), "KV": kv(read_by.get(vote.family)),
         "KV stored": kv(vote.kv_bytes), "weight": f"{vote.weight:.1%}"}
        for vote in stored.cast[:_MOST_VOTES]
    ]  # fmt: skip
    count, some = len(stored.cast), "" if len(stored.cast) <= _MOST_VOTES else f"; here are the {_MOST_VOTES} heaviest"
    return [
        *title("Families behind the typical KV"),
        aligned(tuple(rows[0]), rows),
        f"{count} families count as much as {stored.effective:.3g} of equal weight{some}. A family is a kv_family of architectures.csv:"
        " the mean of its models that were released before.",
    ]


_MOST_VOTES = 10
"""Families that a report lists; JSON has all."""
_WITHOUT_RECORD = "A range without a record is one of the assumptions alone: nobody has compared such ranges with a known value."


def held_in_words(estimate: Estimate) -> str:
    """Return `11 of 14`, also for a bound, `unknown` without a record, or a dash without an estimate."""
    if estimate.kind in ("given", "undetermined"):
        return NONE
    return "{} of {}".format(*estimate.kept) if estimate.kept else UNKNOWN


def _ratio_text(one: Inference) -> str:
    """Return which estimate is the headline, and how far those by prices differ."""
    headline = one.kv_bytes["headline"]
    if headline.kind == "given":
        return f"KV bytes per token are given, {short_kv(headline.median)}, and not estimated here."
    said = f"The headline is {KV_NAMES['headline'].heading}."
    if one.apart is None:
        return f"{said} Without an output premium prices only bound KV bytes."
    return f"{said} The medians by the premium differ by a factor of {one.apart:.3g} ({log(one.apart):.2g} nats)."


def _known_models(worth: Worth) -> str:
    """Return what each estimator makes of models whose cache is known, without this one and those that share its cache.

    The typical KV has a record of its own, of more models.
    """
    readings = (f"{KV_NAMES[name].heading} {_misread(found)}" for name, found in worth.misreadings.items() if name != "headline")
    out = f" Not calibrated on: {', '.join(worth.left_out)}." if worth.left_out else ""
    families = worth.records["headline"].groups if "headline" in worth.records else 0
    return (
        f"On {len(worth.models)} sheets of several bands, of models in {families} families whose cache is known"
        f" ({', '.join(worth.models)}), {', '.join(readings)}.{out}"
    )


def premium_in_words(found: Verdict | None) -> str:
    """Describe the gain of the premium over the typical KV in one sentence, or return an empty text for too few families.

    >>> no = Verdict(count=9, families=6, by_class=-1.43, by_price=-1.84, gain_of_pool=0.0, standard_error=0.0, stacked=0.0)
    >>> premium_in_words(no).endswith("by 0.41 nats: no premium enters the typical KV.")
    True
    """
    if found is None:
        return ""
    gain = found.gain_of_price
    enters = f"it enters the typical KV with a weight of {found.weight:.2f}" if found.enters else "no premium enters the typical KV"
    return (
        f"Of {found.count} sheets in {found.families} families the premium alone predicts KV bytes {'better' if gain > 0 else 'worse'}"
        f" than the typical KV, by {abs(gain):.2f} nats: {enters}."
    )


def _misread(found: Misreading) -> str:
    """Return `reads 0.021 of the true cache (bias -3.86, sd 1.50 nats)`, over its medians on the known models."""
    if found.bias is None:
        return f"gives a median for {found.medians} of them"
    some = "" if found.medians == found.models else f" of {found.medians} of them"
    return f"reads {found.share:.2g} of the true cache{some} (bias {found.bias:+.2f}, sd {found.sd:.2f} nats)"


def firmness(one: Inference, table: Run) -> list[str]:
    """Describe draws, contraction, tornado, identifiability and convention."""
    lines = [*title("How firmly"), *_draws(one)]
    if one.contradiction:
        return [
            *lines,
            one.contradiction,
            "Nothing is clipped: at these anchors no positive KV bytes fit the prices as published. Those draws stray from them.",
        ]
    lines += [*_contraction(one), *_tornado(one, table.assumptions)]
    lines += [_convention(one.convention)] if one.convention else []
    return [*lines, *_identifiability(one.identifiability)]


def _draws(one: Inference) -> list[str]:
    found = one.summary
    if not found:
        return []
    if not found.marginals:
        return [f"{found.sampler}: none of the draws fits the prices"]
    return [
        f"{found.sampler}: effective sample size {found.ess:.0f}, Pareto-k {found.pareto_k:.2f} (trusted below {found.trusted_below:g}),"
        f" {found.feasible_fraction:.0%} of the draws fit the prices, log evidence {found.log_evidence:.2f}"
    ]


def _contraction(one: Inference) -> list[str]:
    """Describe the contraction: the share of its prior variance that each quantity lost."""
    rows = [
        {
            "quantity": name, "prior sd (nats)": f"{found.prior_spread:.2f}", "posterior sd": f"{found.spread:.2f}",
            "contraction": f"{found.contraction:.2f}", "": "PRIOR-DOMINATED" if found.prior_dominated else "",
        }
        for name, found in one.contractions.items()
    ]  # fmt: skip
    return [aligned(tuple(rows[0]), rows) if rows else ""]


def _tornado(one: Inference, assumptions: Assumptions) -> list[str]:
    if one.swings is None:
        return []
    least, most = (f"{100 * tail:.3g}" for tail in assumptions.tails)
    ends = f"with one input at {least} and {most} % of what it may be, the rest at medians"
    lines = [f"what would change it: KV bytes over their central value {ends}"]
    for estimator, swings in one.swings.items():
        label = KV_NAMES[estimator].heading
        lines.append(left_out(swings) if swings.value is None else f"    {label}: " + ", ".join(map(_swing, swings.value)))
    return lines


def _swing(swing: Swing) -> str:
    ends = " to ".join("none" if end is None else two_digits(end) for end in (swing.low, swing.high))
    return f"{swing.name} {ends}"


def _convention(found: Convention) -> str:
    seen = (found.premium_in, found.premium_out)
    asked = ", ".join(f"x{one.value:.3g} {way} ({one.low:.3g} to {one.high:.3g})" for one, way in zip(seen, ("in", "out"), strict=True))
    by_cost = (
        f"Cost or convention: premiums in the cells of those published, {asked}, have a probability of"
        f" {two_digits(found.probability_by_cost)} under the cost model, its base prices known"
    )
    votes = f"{found.same} of {found.others}"
    if found.bayes_factor is None:
        return f"{by_cost}. Nobody else asks this pair ({votes} other vendors with a premium): no factor."
    return (
        f"{by_cost}; {votes} other vendors with a premium have one in the same cells: as a convention"
        f" {two_digits(found.probability_by_habit)}."
        f" Bayes factor for a convention: {'' if found.probability_by_cost else 'above '}{two_digits(found.bayes_factor)}."
    )


def _identifiability(found: Identifiability) -> list[str]:
    rows = [{"to know": name, "from these prices": found.verdict(name)} for name in found.missing_facts]
    free = f"{found.rank} prices pin {found.rank} combinations of {found.hidden} hidden quantities, {found.nullity} stay free"
    return [
        *title("What the prices can tell at all"),
        f"{found.regime}: {free}.",
        "pinned by themselves:",
        *(f"    {name}" for name in found.pinned or ("nothing",)),
        aligned(tuple(rows[0]), rows),
    ]
