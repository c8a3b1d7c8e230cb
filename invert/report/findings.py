"""Describe a sheet as an analyst would: estimates with reasons, their reliability, and limits."""

from invert.assumptions import Assumptions
from invert.estimate_text import two_digits
from invert.estimators.names import kv_heading
from invert.posterior.draws import RELIABLE
from invert.records import Convention, Estimate, Identifiability
from invert.report.columns import ESTIMATE_KEYS, REGISTRY, UNKNOWN
from invert.report.layout import NONE, Table, aligned, kv, title
from invert.result import Inference, Run


def estimates_table(one: Inference, table: Run) -> Table:
    """Return every estimate of the sheet with its range, its record and its reason."""
    columns = ("", "estimate", f"{table.assumptions.level:.0%} range", "right before", "because")
    found = {column: one.named_estimates[column.of] for key in ESTIMATE_KEYS if (column := REGISTRY[key]).of in one.named_estimates}
    rows = [
        (
            column.heading, column.text(one), column.span(one), coverage_in_words(of),
            of.because + "; PRIOR-DOMINATED" * of.prior_dominated,
        )
        for column, of in found.items()
    ]  # fmt: skip
    return aligned(columns, rows)


def families_of_typical_kv(one: Inference) -> list[str]:
    """Return the families behind the typical KV: the release, the KV bytes and the weight of each."""
    stored, read = one.kv_bytes_stored["typical"].families, one.kv_bytes["typical"].families
    if stored is None:
        return []
    read_by = {one.family: one.kv_bytes for one in read.weights} if read else {}
    rows = [
        {"family": one.family, "released": one.released.isoformat(), "KV": kv(read_by.get(one.family)),
         "KV stored": kv(one.kv_bytes), "weight": f"{one.weight:.1%}"}
        for one in stored.weights[:_MOST_FAMILIES]
    ]  # fmt: skip
    count = len(stored.weights)
    some = f". The {_MOST_FAMILIES} with the largest weights are listed" * (count > _MOST_FAMILIES)
    return [
        *title("Families behind the typical KV"),
        aligned(tuple(rows[0]), rows),
        f"{count} families{some}. The effective number of families is {stored.effective:.3g}. A family is a kv_family of"
        " architectures.csv, with the mean of its models that were released before.",
    ]


_MOST_FAMILIES = 10
"""Families that a report lists; JSON has all."""
RIGHT_BEFORE = (
    "Right before: how many ranges contained the known value of other models. unknown: never compared with a known value."
    " backsolve validate --section truth, --section skill and --section storage have the errors of each estimate on every known model."
)


def coverage_in_words(estimate: Estimate) -> str:
    """Return `11 of 14`, also for a bound, `unknown` without a record, or a dash without an estimate."""
    if estimate.kind in ("given", "undetermined"):
        return NONE
    return "{} of {}".format(*estimate.coverage) if estimate.coverage else UNKNOWN


def firmness(one: Inference, table: Run) -> list[str]:
    """Describe draws, contraction, tornado, identifiability and convention."""
    lines = [*title("How much the prices changed the priors"), *_draws(one)]
    if one.contradiction:
        return [*lines, one.contradiction, "At these anchors no positive KV bytes fit the published prices, so the draws differ from them."]
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
        f"{found.sampler}: effective sample size {found.ess:.0f}, Pareto-k {found.pareto_k:.2f} (trusted below {RELIABLE:g}),"
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
    ends = f"with one input at its {least} % and {most} % quantile and all others at their medians"
    lines = [f"What changes KV bytes most: KV bytes over their central value {ends}"]
    for estimator, swings in one.swings.items():
        ends_of = {one.name: ("none" if end is None else two_digits(end) for end in (one.low, one.high)) for one in swings}
        lines.append(f"    {kv_heading(estimator)}: " + ", ".join(f"{name} {' to '.join(ends)}" for name, ends in ends_of.items()))
    return lines


def _convention(found: Convention) -> str:
    seen = (found.premium_in, found.premium_out)
    asked = ", ".join(f"x{one.value:.3g} {way} ({one.low:.3g} to {one.high:.3g})" for one, way in zip(seen, ("in", "out"), strict=True))
    by_cost = (
        f"Cost or convention: if the base prices are given, the cost model predicts premiums that round to the published ones,"
        f" {asked}, with probability {two_digits(found.probability_by_cost)}"
    )
    share = f"{found.same} of {found.others}"
    if found.bayes_factor is None:
        return f"{by_cost}. There is no factor, because no other vendor has this pair of premiums ({share} other vendors with a premium)."
    return (
        f"{by_cost}. {share} other vendors with a premium have the same one. As a convention the probability is"
        f" {two_digits(found.probability_by_habit)}."
        f" Bayes factor for a convention: {'' if found.probability_by_cost else 'above '}{two_digits(found.bayes_factor)}."
    )


def _identifiability(found: Identifiability) -> list[str]:
    rows = [{"to know": name, "from these prices": found.verdict(name)} for name in found.missing_facts]
    free = f"{found.rank} prices determine {found.rank} combinations of {found.hidden} hidden quantities, and leave {found.nullity} open"
    return [
        *title("What the prices determine"),
        f"{found.regime}: {free}.",
        "determined by the prices alone:",
        *(f"    {name}" for name in found.pinned or ("nothing",)),
        aligned(tuple(rows[0]), rows),
    ]
