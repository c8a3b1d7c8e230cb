"""What a careful analyst would write of a sheet: estimates with their reasons, how firm they are, and what they cannot tell."""

from collections.abc import Mapping

from derive.units import show
from invert.assumptions import Assumptions
from invert.estimators.names import KV_NAMES
from invert.records import Convention, Estimate, Identifiability, Misreading, Swing, Verdict, Worth
from invert.report.layout import NONE, aligned, count_in_words, kv, left_out, title, two_digits
from invert.result import Inference, Run


def estimate_text(name: str, estimate: Estimate) -> str:
    """`155 kB/token, 42.2 to 547 kB/token`, a bound, or that it is undetermined.

    >>> estimate_text("kv_bytes_per_token", Estimate(kind="upper", high=2e3)), estimate_text("batch", Estimate(kind="undetermined"))
    ('at most 2 kB/token', 'undetermined')
    """

    def number(value: float | None) -> str:
        return "" if value is None else show(name.replace("_stored", ""), value, digits=3)

    if estimate.kind == "given":
        return f"{number(estimate.median)} (given)"
    if estimate.kind == "interval":
        return f"{number(estimate.median)}, {number(estimate.low)} to {number(estimate.high)}"
    if estimate.kind == "upper":
        return f"at most {number(estimate.high)}"
    return f"at least {number(estimate.low)}" if estimate.kind == "lower" else "undetermined"


def findings(one: Inference, table: Run) -> list[str]:
    """KV bytes by every estimator, what each makes of the known models, and the other estimates."""
    rows = [
        {"estimate": _in_full(key), "KV bytes per token": estimate_text("kv_bytes_per_token", estimate),
         f"{table.assumptions.level:.0%} ranges held": held_in_words(estimate), "because": estimate.because}
        for key, estimate in one.kv_bytes.items()
    ]  # fmt: skip
    lines = [*title(f"Estimates of KV bytes: {count_in_words(len(rows))} estimates side by side"), aligned(tuple(rows[0]), rows)]
    verdict = table.premium_verdict
    premium = left_out(verdict) if verdict.left_out else premium_in_words(verdict.value)
    known = _known_models(one.worth.value) if one.worth.value else left_out(one.worth)
    lines += [text for text in (_apart(one), premium, known) if text]
    stored = one.kv_bytes_stored.get("storage_price")
    by_storage = {"kv_bytes_stored_per_token": stored} if stored else {}
    beside = [
        {
            "quantity": name,
            "range": estimate_text(name, estimate),
            f"{table.assumptions.level:.0%} ranges held": held_in_words(estimate),
            "cite": _ids(estimate),
            "because": _because(estimate),
        }
        for name, estimate in {**one.estimates, **by_storage}.items()
    ]
    return [*lines, *_class_of_its_time(one), *title("Further estimates"), aligned(tuple(beside[0]), beside), _WITHOUT_RECORD]


def _class_of_its_time(one: Inference) -> list[str]:
    """The families whose caches the class of its time is made of: when each was released, what it has, and how much it weighs."""
    stored, read = one.kv_bytes_stored["headline"].votes, one.kv_bytes["headline"].votes
    if stored is None:
        return []
    read_by = {vote.family: vote.kv_bytes for vote in read.cast} if read else {}
    rows = [
        {"family": vote.family, "released": vote.released.isoformat(), "KV read": kv(read_by.get(vote.family)),
         "KV stored": kv(vote.kv_bytes), "weight": f"{vote.weight:.1%}"}
        for vote in stored.cast[:_MOST_VOTES]
    ]  # fmt: skip
    count, some = len(stored.cast), "" if len(stored.cast) <= _MOST_VOTES else f"; the {_MOST_VOTES} heaviest stand here"
    return [
        *title("Whose caches the class of its time is made of"),
        aligned(tuple(rows[0]), rows),
        (
            f"{count} families have a vote, effective number {stored.effective:.3g} of equal weight{some}. A family is a kv_family in"
            " architectures.csv, with the mean of its models released before."
        ),
    ]


def _in_full(estimator: str) -> str:
    """`one mark-up (what the lecture assumes)`."""
    one = KV_NAMES[estimator]
    return f"{one.name} ({one.remark})" if one.remark else one.name


def _because(estimate: Estimate) -> str:
    return estimate.because + ("; PRIOR-DOMINATED" if estimate.prior_dominated else "")


def _ids(estimate: Estimate) -> str:
    return " ".join(reference.split("@")[0] for reference in estimate.equations[-1:])


_MOST_VOTES = 10
"""Families that a report lists; JSON has all."""
_WITHOUT_RECORD = (
    "A range without a record is one of the assumptions, at no level: what draws of one mark-up, hosts of one model and rounding leave"
    " open. Such a range was never checked, and one markup is wrong for public architectures."
)
"""Said under what no model of known architecture was ever held against."""


def held_in_words(estimate: Estimate) -> str:
    """`11 of 14`, or a dash where such ranges have no record."""
    return "{} of {}".format(*estimate.kept) if estimate.kept and not estimate.bounds else NONE


def _apart(one: Inference) -> str:
    """Which line is the headline, and how far the readings of prices disagree, in nats and as a factor."""
    headline = one.kv_bytes["headline"]
    if headline.kind == "given":
        return (
            f"The headline is what was given, {estimate_text('kv_bytes_per_token', headline)}: it is not estimated here. KV bytes at"
            " rental cost are no estimate, but show how far the price of more context is from that cost."
        )
    said = f"The headline is the {KV_NAMES['headline'].name}."
    if one.apart is None:
        return f"{said} Without an output premium a price only bounds the cache."
    return (
        f"{said} The medians that the premium gives lie {one.apart.nats:.2g} nats apart, a factor of {one.apart.factor:.3g}: what pays for"
        " it decides the reading, and the sheet does not tell."
    )


def _known_models(worth: Worth) -> str:
    """What each reading makes of models whose cache is known, without this one and those that share its cache.

    The headline has a record of its own, of more models, which stands beside it.
    """
    readings = {name: found for name, found in worth.misreadings.items() if name != "headline"}
    out = f" Left out of what is learned: {', '.join(worth.left_out)}." if worth.left_out else ""
    families = worth.records["headline"].groups if "headline" in worth.records else 0
    return (
        f"On {len(worth.models)} sheets of several bands, of models in {families} families whose cache is known"
        f" ({', '.join(worth.models)}), {_misread(readings)}.{out}"
    )


def premium_in_words(found: Verdict | None) -> str:
    """What increments add to the class, in one sentence, or nothing where too few families have them.

    >>> no = Verdict(count=9, families=6, by_class=-1.43, by_price=-1.84, gain_of_pool=0.0, standard_error=0.0, stacked=0.0)
    >>> premium_in_words(no).endswith("by 0.41 nats: no premium enters the headline.")
    True
    """
    if found is None:
        return ""
    gain = found.gain_of_price
    enters = f"it enters the headline with a weight of {found.weight:.2f}" if found.enters else "no premium enters the headline"
    return (
        f"Of {found.count} sheets in {found.families} families the premium alone predicts the cache {'better' if gain > 0 else 'worse'}"
        f" than the class of its time does, by {abs(gain):.2f} nats: {enters}."
    )


def _misread(by_estimator: Mapping[str, Misreading]) -> str:
    """What every estimator makes of the known models, in the words of the first."""
    of_others = [(KV_NAMES[name].name, found) for name, found in by_estimator.items()]
    return ", ".join(f"{name} {_share(found) if place else _misreads(found)}" for place, (name, found) in enumerate(of_others))


def _share(found: Misreading) -> str:
    """`0.51 of it (bias -0.68, sd 1.21)`."""
    if found.bias is None:
        return f"a median for {found.medians} of them"
    return f"{found.share:.2g} of it (bias {found.bias:+.2f}, sd {found.sd:.2f})"


def _misreads(found: Misreading) -> str:
    """`reads 0.021 of the true cache (bias -3.86, sd 1.50 nats)`, over the medians it gives for the models learned from."""
    if found.bias is None:
        return f"gives a median for {found.medians} of them"
    some = "" if found.medians == found.models else f" of {found.medians} of them"
    return f"reads {found.share:.2g} of the true cache{some} (bias {found.bias:+.2f}, sd {found.sd:.2f} nats)"


def firmness(one: Inference, table: Run) -> list[str]:
    """Draws, contraction, tornado, identifiability and convention."""
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
    if not found.marginals:
        return [f"{found.sampler}: none of the draws fits the prices"]
    return [
        f"{found.sampler}: effective sample size {found.ess:.0f}, Pareto-k {found.pareto_k:.2f} (trusted below {found.trusted_below:g}),"
        f" {found.feasible_fraction:.0%} of the draws fit the prices, log evidence {found.log_evidence:.2f}"
    ]


def _contraction(one: Inference) -> list[str]:
    """Prior against posterior: how much of the variance each quantity lost."""
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
