"""What a careful analyst would write of a sheet: estimates with their reasons, how firm they are, and what they cannot tell."""

from math import exp, log

from derive.units import show
from invert.estimators import calibration
from invert.posterior.summary import QUANTITIES, contracted, prior_spreads
from invert.records import Estimate, dominated
from invert.report.layout import ESTIMATORS, aligned, or_why, title
from invert.result import Inference, InferenceTable
from invert.sensitivity import Swing, convention, identified, swings_of_headline, swings_of_one_markup

REMARKS = {"one_markup": " (what the lecture assumes)"}


def estimate_text(name: str, estimate: Estimate) -> str:
    """`155 kB/token, 42.2 to 547 kB/token`, a bound, or that it is undetermined.

    >>> estimate_text("kv_bytes_per_token", Estimate("upper", high=2e3)), estimate_text("batch", Estimate("undetermined"))
    ('at most 2 kB/token', 'undetermined')
    """

    def number(value: float) -> str:
        return show(name.removesuffix("_stored"), value, digits=3)

    if estimate.kind == "given":
        return f"{number(estimate.median)} (given)"
    if estimate.kind == "interval":
        return f"{number(estimate.median)}, {number(estimate.low)} to {number(estimate.high)}"
    if estimate.kind == "upper":
        return f"at most {number(estimate.high)}"
    return f"at least {number(estimate.low)}" if estimate.kind == "lower" else "undetermined"


def findings(one: Inference, table: InferenceTable) -> list[str]:
    """KV bytes by three estimators, what each makes of the known models, and the other estimates."""
    rows = [
        {"estimate": ESTIMATORS[key] + REMARKS.get(key, ""),
         f"KV bytes per token ({table.assumptions.level:.0%})": estimate_text("kv_bytes_per_token", estimate), "because": estimate.because}
        for key, estimate in one.kv_bytes.items()
    ]  # fmt: skip
    lines = [*title("What the sheet says of KV bytes: three estimates side by side"), aligned(tuple(rows[0]), rows)]
    lines += [text for text in (_apart(one), *or_why(lambda: [_known_models(one, table)])) if text]
    beside = [
        {
            "quantity": name,
            f"{table.assumptions.level:.0%}": estimate_text(name, estimate),
            "cite": _ids(estimate),
            "because": _because(estimate),
        }
        for name, estimate in one.estimates.items()
    ]
    return [*lines, *title("What it says besides"), aligned(tuple(beside[0]), beside)]


def _because(estimate: Estimate) -> str:
    return estimate.because + ("; PRIOR-DOMINATED" if estimate.prior_dominated else "")


def _ids(estimate: Estimate) -> str:
    return " ".join(reference.split("@")[0] for reference in estimate.equations[-1:])


def _apart(one: Inference) -> str:
    """Which line is the headline, and how far the lines disagree, in nats and as a factor."""
    headline = one.kv_bytes["headline"]
    if headline.kind == "given":
        return (
            f"The headline is what was given, {estimate_text('kv_bytes_per_token', headline)}: it is not estimated here. What rental cost"
            " would pay for is no estimate of it, but says how far the price of more context lies from that cost."
        )
    medians = {key: estimate.median for key, estimate in one.kv_bytes.items() if estimate.median}
    if len(medians) < 2:
        return "The headline is the calibrated line. Without an output premium every line is a bound, and none of them a reading."
    factor = max(medians.values()) / min(medians.values())
    return (
        f"The headline is the calibrated line. The medians lie {log(factor):.2g} nats apart, a factor of {factor:.3g}: what pays for the"
        " premium decides the reading, and the sheet does not tell."
    )


def _known_models(one: Inference, table: InferenceTable) -> str:
    """What each estimator makes of models whose cache is known, without this one and its siblings."""
    architecture = one.model.architecture if one.model and one.model.architecture else None
    learnt = calibration.learn(architecture, table.assumptions)
    common = _misreads(table, learnt, "one_markup")
    out = f" Left out of what is learned: {', '.join(learnt.left_out)}." if learnt.left_out else ""
    with_price, without = (
        {row.belief: row.rms for row in calibration.leave_one_out(assumptions=table.assumptions)}[belief]
        for belief in ("both", "reference class")
    )
    return (
        f"On {learnt.increments.count} tiered sheets of models whose cache is known ({', '.join(learnt.kv_ratios)}), one mark-up {common},"
        f" increments at rental cost"
        f" {exp(learnt.increments.mean):.2g} of it (bias {learnt.increments.mean:+.2f}, sd {learnt.increments.sd:.2f}); the calibrated line"
        f" takes that out and adds the {learnt.reference.count} caches of the reference class (median"
        f" {show('kv_bytes_per_token', exp(learnt.reference.mean), digits=3)}, sd {learnt.reference.sd:.2f} nats).{out} Left out one family"
        f" at a time, the class alone foretells the cache within {without:.2f} nats (rms), with the premium {with_price:.2f}: a premium"
        " says little beyond that a model is like other models."
    )


def _misreads(table: InferenceTable, learnt: calibration.Calibration, estimator: str) -> str:
    """`reads 0.021 of the true cache (bias -3.86, sd 1.50 nats)`, over the medians it gives for the models learned from."""
    errors = [known.error(estimator) for known in table.known if known.member.architecture in learnt.kv_ratios]
    found = [error for error in errors if error is not None]
    if len(found) < 2:
        return f"gives a median for {len(found)} of them"
    of = calibration.sample_of(found)
    some = "" if len(found) == len(errors) else f" of {len(found)} of them"
    return f"reads {exp(of.mean):.2g} of the true cache{some} (bias {of.mean:+.2f}, sd {of.sd:.2f} nats)"


def firmness(one: Inference, table: InferenceTable) -> list[str]:
    """Draws, contraction, tornado, identifiability and convention."""
    lines = [*title("How firmly"), *_draws(one)]
    if one.contradiction:
        return [
            *lines,
            one.contradiction,
            "Nothing is clipped: at these anchors no positive KV bytes fit the prices as published; those draws stray from them.",
        ]
    lines += [*_contraction(one, table)]
    common = one.kv_bytes["one_markup"].kind
    if one.pairs and common in ("interval", "given"):
        lines += [*(_tornado(one, table) if common == "interval" else ()), *_convention(one, table)]
    return [*lines, *_identifiability(one)]


def _draws(one: Inference) -> list[str]:
    found = one.summary
    if not found.marginals:
        return [f"{found.sampler}: none of the draws fits the prices"]
    return [
        f"{found.sampler}: effective sample size {found.ess:.0f}, Pareto-k {found.pareto_k:.2f} (trusted below 0.7),"
        f" {found.feasible_fraction:.0%} of the draws fit the prices, log evidence {found.log_evidence:.2f}"
    ]


def _contraction(one: Inference, table: InferenceTable) -> list[str]:
    """Prior against posterior: how much of the variance each quantity lost."""
    (prior,) = prior_spreads([one.evidence], table.assumptions, QUANTITIES)
    rows = []
    for name, marginal in one.summary.marginals.items():
        contraction = contracted(marginal.spread, prior[name])
        rows.append({
            "quantity": name, "prior sd (nats)": f"{prior[name]:.2f}", "posterior sd": f"{marginal.spread:.2f}",
            "contraction": f"{contraction:.2f}", "": "PRIOR-DOMINATED" if dominated(contraction, table.assumptions) else "",
        })  # fmt: skip
    headline = one.kv_bytes["headline"]
    lines = [aligned(tuple(rows[0]), rows) if rows else ""]
    if headline.kind == "given" or headline.contraction is None:
        return lines
    text = f"KV calibrated against its reference class: contraction {headline.contraction:.2f}"
    return [*lines, text + (", PRIOR-DOMINATED" if headline.prior_dominated else "")]


def _tornado(one: Inference, table: InferenceTable) -> list[str]:
    architecture = one.model.architecture if one.model and one.model.architecture else None
    lines = ["what would change it: KV bytes over their central value with one input at 5 and 95 % of what it may be, the rest at medians"]
    for label, swings in (
        ("one mark-up", lambda: swings_of_one_markup(one.evidence, table.assumptions)),
        ("calibrated", lambda: swings_of_headline(one.evidence, table.assumptions, architecture)),
    ):
        lines += or_why(lambda label=label, swings=swings: [f"    {label}: " + ", ".join(map(_swing, swings()))])
    return lines


def _swing(swing: Swing) -> str:
    ends = " to ".join("none" if end is None else f"{end:.2g}" for end in (swing.low, swing.high))
    return f"{swing.name} {ends}"


def _convention(one: Inference, table: InferenceTable) -> list[str]:
    pair = one.pairs[0].pair
    mine = (pair.premium_in.value, pair.premium_out.value)
    others = [(premium_in, premium_out) for provider, premium_in, premium_out in table.premiums if provider != one.sheet.provider]
    found = convention(one.evidence, table.assumptions, one.summary.log_evidence, mine, others)
    text = (
        f"Cost or convention: the premiums x{mine[0]:.3g} in, x{mine[1]:.3g} out have a probability of {found.probability_by_cost:.2g}"
        f" under the cost model, its other prices known; {found.same} of {found.others} pairs that other vendors ask are the same."
        f" Bayes factor for a convention: {'' if found.probability_by_cost else 'above '}{found.bayes_factor:.2g}."
    )
    return [text]


def _identifiability(one: Inference) -> list[str]:
    found = identified(one)
    rows = [{"to know": name, "from these prices": found.verdict(name)} for name in found.missing_facts]
    free = f"{found.rank} prices pin {found.rank} combinations of {found.rank + found.nullity} hidden quantities, {found.nullity} stay free"
    return [
        *title("What the prices can tell at all"),
        f"{found.regime}: {free}.",
        "pinned by themselves:",
        *(f"    {name}" for name in found.pinned or ("nothing",)),
        aligned(tuple(rows[0]), rows),
    ]
