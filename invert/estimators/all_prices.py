"""All prices of a sheet with one price/cost: the point that reproduces them, the posterior, the pricing rules, and cost against habit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, isfinite

from derive.answers import values_of_steps
from derive.catalogue import equation
from derive.trees import text
from derive.units import show
from invert import records
from invert.assumptions import ASSUMED, USUAL, Assumptions
from invert.data import Data
from invert.estimators.cases import Case, rental
from invert.forward_model import Inversion, crossover_context, forward, invert_prices
from invert.posterior.points import Pair, PriceData, solved
from invert.posterior.sampler import LEVEL_OF_PRICES, Marginal, Summary, posterior, summarise

JOINT_STEPS = (
    ("bands.premium_in", "attention_flops_per_pair"),
    ("bands.output_input_ratio", "decode_cost_short"),
    ("bands.premium_out", "decode_cost_long"),
    ("bands.decode_cost_short", "memory_ratio_short"),
    ("bands.decode_cost_long", "memory_ratio_long"),
    ("bands.balance_context", "balance_context"),
    ("context.balance_context", "kv_bytes_per_token"),
)
"""The closed form of the inverse, equation by equation, for reports."""
JOINT_EQUATIONS = tuple(id for id, _ in JOINT_STEPS[:-1])
_JOINT_ANCHORS = ("active_params", "ridge_point", "prompt_position", "prefill_decode_flops_ratio", "overlap", *ASSUMED)
_COMPUTE_BOUND = 0.1
"""Start value of weight reads over arithmetic, in a search for a compute-bound decode."""
_ROUNDING = 1e-12
"""A parameter below this share of the arithmetic with the weights is 0, with a rounding error."""
_UNUSED = {"sweep_time": 1.0, "holding_cost_ratio": 1.0}
"""Inputs of the forward model for a storage price, which the joint reading does not use."""
_FROM_SCALE = ("bands.kv_bytes_from_scale", "kv_bytes_per_token")
STEPS_OF_RULE = {
    "knee": (("bands.rule_knee", "cost_context_scale"), _FROM_SCALE),
    "threshold": (("bands.rule_threshold", "cost_context_scale"), _FROM_SCALE),
    "upper end": (("bands.rule_upper_end", "cost_context_scale"), _FROM_SCALE),
    "band means": (("bands.rule_band_means", "cost_context_scale"), _FROM_SCALE),
    "Lloyd-Max": (("bands.rule_lloyd_max", "cost_context_scale"), _FROM_SCALE),
    "roofline, upper end": (("readings.tier_coverage", "balance_context"), ("context.balance_context", "kv_bytes_per_token")),
}
"""The equations of each pricing rule, with their unknowns."""


def joint_reading(pair: records.BandPair, anchors: Mapping[str, float]) -> records.Reading:
    """Return KV bytes and related quantities from both premiums and R together, each band priced at its mean context.

    premium_in gives the attention FLOPs. The output prices give the decode cost of each band. These costs give the memory ratios. Two
    memory ratios give L_star and w. If the prices cannot come from the model, the problem names the inequality that they break.
    """
    given = {name: anchors[name] for name in _JOINT_ANCHORS} | pair.values
    reading = records.Reading(name="joint", steps=JOINT_STEPS, given=given)
    if not reading.solution.answers:
        return reading
    closed = values_of_steps(reading.solution.route) | given
    left = records.Reading(name="joint", steps=(("bands.memory_ratio_short", "weight_compute_ratio"),), given=closed).solution
    if not left.answers:
        return replace(reading, fault=left.why_not)
    closed |= {"weight_compute_ratio": left.value, "kv_bytes_per_token": crossover_context(1.0, given) / closed["balance_context"]}
    found = invert_pair(given, closed)
    if not found.solved or found.undetermined:
        return replace(reading, fault="the forward model does not reproduce the prices")
    values = closed | dict(found.values)
    values["balance_context"] = crossover_context(values["kv_bytes_per_token"], given)
    values["memory_time_share"] = equation("bands.memory_time_share").right_side(values)
    return replace(reading, values=values)


def invert_pair(given: Mapping[str, float], closed: Mapping[str, float] | None = None) -> Inversion:
    """Return attention FLOPs, KV bytes and weight reads at which the forward model predicts both premiums and output/input.

    `given` has the three ratios, the mean contexts of both bands and the anchors. `closed` is the solution in closed form, if
    it is known. No value is clipped: a value below zero means that the prices cannot come from the model.
    """
    contexts = given["short_context"], given["long_context"]
    published = {name: given[name] for name in ("premium_in", "premium_out", "output_input_ratio")}

    def predict(at: Mapping[str, float]) -> dict[str, float]:
        balance = crossover_context(at["kv_bytes_per_token"], given)
        found = forward({**_UNUSED, **given, **at, "balance_context": balance}, contexts)
        premiums = {"premium_in": float(found["premium_in"][1]), "premium_out": float(found["premium_out"][1])}
        return {**premiums, "output_input_ratio": float(found["output_input_ratio"])}

    # A unit of each parameter costs as much as the arithmetic of the weights at the long context. Costs have a kink where memory overtakes
    # arithmetic: a search from one side of it may not find a solution on the other.
    units = {"attention_flops_per_pair": 2 * given["active_params"] / contexts[1]}
    units |= {"kv_bytes_per_token": crossover_context(1.0, given) / contexts[1], "weight_compute_ratio": 1.0}
    ratio = max(given["output_input_ratio"], 1.0)
    starts = [dict(zip(units, shares, strict=True)) for shares in ((1.0, ratio, ratio), (1.0, ratio, _COMPUTE_BOUND))]
    if closed:
        # Near the kink both searches may end on the wrong side.
        starts.append({name: closed[name] / unit or _ROUNDING for name, unit in units.items()})
    for start in starts:
        found = invert_prices(predict, published, {name: share * units[name] for name, share in start.items()})
        if found.solved and not found.undetermined:
            break
    return replace(found, values={name: 0.0 if abs(value) < _ROUNDING * units[name] else value for name, value in found.values.items()})


def broken_by(case: Case, assumptions: Assumptions) -> str | None:
    """Return the inequality that the prices break, in the catalogue's names, if the given facts fix the decode cost, or else None."""
    pinned = {"overlap", "prompt_position", "prefill_decode_flops_ratio"} <= set(assumptions.given)
    problem = joint_reading(case.observables.pairs[0], case.anchors.values).problem if pinned and case.observables.pairs else None
    if not problem:
        return None
    base, above = case.sheet.bands[:2]
    increments = {
        "input_increment": above.input.usd_per_token - base.input.usd_per_token,
        "output_increment": above.output.usd_per_token - base.output.usd_per_token,
    }
    needed = equation("bands.increments_of_a_sum")
    least = needed.right_side({**case.anchors.values, **increments}) if increments["input_increment"] > 0 else 0.0
    if assumptions.overlap == 0 and increments["output_increment"] < least:
        left, right = map(text, needed.trees)
        paid = show("output_increment", increments["output_increment"])
        return f"inconsistent: {left} >= {right} does not hold: {paid} < {show('output_increment', least)} ({needed.reference})"
    return f"inconsistent: {problem}"


def pricing_rules(pair: records.BandPair, anchors: Mapping[str, float], max_context: float | None) -> records.PricingRules:
    """Return KV bytes by each pricing rule, on the same anchors, for a base band that is compute-bound (base_cost 1).

    A memory-bound base multiplies all except the last by its base cost, R over the FLOP/s ratio. The choice of the rule matters as much as
    the prices.
    """
    given = {name: anchors[name] for name in ("active_params", "ridge_point")} | pair.values
    given |= {"long_context_threshold": float(pair.long_context_threshold), "base_cost": 1.0}
    if max_context:
        given |= {"max_context": max_context, "covered_context": max_context}
    base_cost = equation("bands.base_cost_memory_bound").right_side({**anchors, "output_input_ratio": pair.output_input_ratio.value})
    readings = (records.Reading(name=rule, steps=steps, given=given) for rule, steps in STEPS_OF_RULE.items())
    return records.PricingRules({one.name: one.solution for one in readings}, base_cost)


_JOINT = (*JOINT_EQUATIONS, "bands.prefill_cost", "bands.decode_cost", "bands.price")
_KV, _BATCH = "kv_bytes_per_token", "batch_multiple"
_CITED = {
    _KV: _JOINT,
    "memory_time_share": ("bands.memory_time_share",),
    "balance_context": _JOINT,
    "attention_intensity": (*_JOINT, "architecture.attention_intensity"),
    LEVEL_OF_PRICES: ("bands.active_params_times_price_cost_ratio", "serving.price_per_flop"),
    _BATCH: ("batching.weight_compute_ratio",),
}
"""The equations of each quantity."""
LEANS_UPWARD = "too high if output has a higher margin, or if chips or their compute are idle for other reasons"
_BECAUSE = {
    _KV: "assumes one price/cost for base price and premium",
    "memory_time_share": LEANS_UPWARD,
    LEVEL_OF_PRICES: "uses the rental price of a bf16 FLOP",
}


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, records.Estimate]:
    """Return KV bytes and related quantities if all prices have one price/cost."""
    found, broken = posterior_of(case.price_data, data, assumptions), broken_by(case, assumptions)
    anchors = ["active_params", "machine_balance_ratio", "bytes_per_weight", "prompt_position", "prefill_decode_flops_ratio", "overlap"]
    anchors += ("short_context", "long_context") if "premium_out" in case.price_data.cells else ("short_context",)
    anchors += ("sweep_time", "holding_cost_ratio") if "storage_ratio" in case.price_data.cells else ()
    moving, cited = (*anchors, _KV), {name: records.references(*ids) for name, ids in _CITED.items()}
    if broken or found.feasible_fraction < assumptions.feasible_share:
        fits = f"{found.feasible_fraction:.0%} of the draws fit the prices"
        why = dict.fromkeys(cited, "the prices contradict the model at these anchors" if broken else fits)
        problem = joint_reading(case.observables.pairs[0], case.anchors.values).problem if case.observables.pairs else None
        why[_KV] = broken or f"{fits}: they contradict the model" + (f"; {problem}" if problem else "")
        estimated = {
            name: records.Estimate(kind="undetermined", because=why[name], equations=cited[name], anchors=moving) for name in cited
        }
    else:
        estimated = {}
        for name, equations in cited.items():
            one = found.marginals["weight_compute_ratio" if name == _BATCH else name]
            estimated[name] = replace(_estimate(name, one, case), equations=equations, contraction=one.contraction, anchors=moving)
    if assumptions.kv_bytes_per_token is not None:
        estimated[_KV] = records.given_value(assumptions.kv_bytes_per_token, _KV)
    return estimated


def posterior_of(price_data: PriceData, data: Data, assumptions: Assumptions) -> Summary:
    """Return the posterior of a sheet, which is drawn once for the same prices."""
    of_flop = rental(data, assumptions).values["price_per_flop"]
    return data.once((posterior_of, price_data.key, assumptions), lambda: summarise(price_data, assumptions, of_flop))


def _estimate(name: str, found: Marginal, case: Case) -> records.Estimate:
    """Return a quantity of the posterior. The batch [balance batches] is a lower bound, KV bytes without a premium an upper one."""
    if name == _BATCH:
        least = solved("batching.weight_compute_ratio", "batch", {"balance_batch": 1.0, "weight_compute_ratio": found.at_most})
        return records.Estimate(kind="lower", low=float(least), because="too low if memory time is not only weight reads")
    if name == _KV and not case.sheet.has_premium:
        because = "no output premium, so the prices give only an upper bound"
        return records.Estimate(kind="upper", high=found.at_most, because=because)
    return records.interval((found.low, found.median, found.high), _BECAUSE.get(name, "assumes one price/cost for all prices"))


def probability_by_cost(of: PriceData, log_evidence: float, data: Data, assumptions: Assumptions) -> float | None:
    """Return the probability by the cost model that the premiums above the first threshold are in their rounding cells, given the base
    prices.

    It is None if the base prices are infeasible. `log_evidence` is the log marginal likelihood of all prices of the sheet,
    which is used for a sheet with one threshold: the difference to the base prices is the log probability of the premiums.
    """

    def evidence(cells: Mapping[str, tuple[Pair, ...]]) -> float:
        one = replace(of, cells=cells, edges=of.edges[:2])
        return data.once((probability_by_cost, one.key, assumptions), lambda: posterior(one, assumptions).weights.log_evidence)

    # Only the premiums over the first threshold are judged: bands above it are left out.
    first = {name: cells[:1] for name, cells in of.cells.items()}
    whole = evidence(first) if len(of.edges) > 2 else log_evidence
    base = evidence({name: cells for name, cells in first.items() if name not in ("premium_in", "premium_out")})
    return exp(whole - base) if isfinite(base) else None


def convention(
    pair: records.BandPair, by_cost: float, others: Sequence[records.Premiums], assumptions: Assumptions = USUAL
) -> records.Convention:
    """Return the probabilities of the premiums as a cost (`by_cost`) and as a habit of vendors with premiums in the same cells.

    The cells are the rounding cells of the published premiums. `others` are the premiums of other vendors' sheets. A vendor
    counts once, for any number of sheets. The habit's probability is the share of vendors, with `convention_count` added for
    these cells and for any other.

    >>> from invert.sheets.observables import observe
    >>> ratios = {name: observe(name, value) for name, value in (("output_input_ratio", 6.0), ("premium_in", 2.0), ("premium_out", 1.5))}
    >>> pair = records.BandPair(long_context_threshold=200_000, short_context=2e4, long_context=3e5, **ratios)
    >>> asked = [("a", 2.0, 1.5), ("a", 2.0, 2.0), ("b", 2.0, 1.4), ("c", 1.5, 1.5)]
    >>> others = [records.Premiums(provider=one, premium_in=over, premium_out=beyond) for one, over, beyond in asked]
    >>> found = convention(pair, 0.01, others)
    >>> found.same, found.others, found.probability_by_habit, round(found.bayes_factor)
    (2, 3, 0.6, 60)
    """
    into, out = pair.premium_in, pair.premium_out
    alike = [one for one in others if into.low <= one.premium_in <= into.high and out.low <= one.premium_out <= out.high]
    same, vendors = (len({one.provider for one in some}) for some in (alike, others))
    each = assumptions.convention_count
    return records.Convention(
        premium_in=pair.premium_in,
        premium_out=pair.premium_out,
        probability_by_cost=by_cost,
        probability_by_habit=(same + each) / (vendors + 2 * each),
        same=same,
        others=vendors,
    )
