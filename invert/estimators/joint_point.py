"""All prices of a pair of bands inverted together by SciPy, and the pricing rules of the catalogue."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import inf

from derive.catalogue import equation
from derive.trees import text
from derive.units import show
from invert.assumptions import ASSUMED, Assumptions
from invert.estimators.cases import Case
from invert.forward_model import forward, kv_bytes_from_crossover
from invert.inversion import Inversion, invert_prices
from invert.records import BandPair, PricingRules, Reading, unanswered
from invert.steps import solve_steps

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
STEPS_OF_RULE = {
    **{
        rule: ((id, "cost_context_scale"), ("bands.kv_bytes_from_scale", "kv_bytes_per_token"))
        for rule, id in {
            "knee": "bands.rule_knee",
            "threshold": "bands.rule_threshold",
            "upper end": "bands.rule_upper_end",
            "band means": "bands.rule_band_means",
            "Lloyd-Max": "bands.rule_lloyd_max",
        }.items()
    },
    "roofline, upper end": (("readings.tier_coverage", "balance_context"), ("context.balance_context", "kv_bytes_per_token")),
}
"""The equations of each pricing rule, with their unknowns."""


def joint_reading(pair: BandPair, anchors: Mapping[str, float]) -> Reading:
    """Return KV bytes and related quantities from both premiums and R together, each band priced at its mean context.

    premium_in gives the attention FLOPs. The output prices give the decode cost of each band. These costs give the memory ratios. Two
    memory ratios give L_star and w. If the prices cannot come from the model, the problem names the inequality that they break.
    """
    return _jointly((*((name, anchors[name]) for name in _JOINT_ANCHORS), *pair.values.items()))


@lru_cache
def _jointly(numbers: tuple[tuple[str, float], ...]) -> Reading:
    """Return the reading of these numbers.

    It is cached, because comparisons in `infer` repeat most readings, and one reading needs half the time of a posterior.
    """
    given = dict(numbers)
    solution = solve_steps(JOINT_STEPS, given)
    if not solution.answers:
        return unanswered("joint", solution)
    closed = {step.unknown: step.value for step in solution.route if step.value is not None} | given
    left = solve_steps([("bands.memory_ratio_short", "weight_compute_ratio")], closed)
    if not left.answers:
        return Reading(name="joint", values={}, solution=solution, problem=left.why_not)
    found = invert_pair(given, closed | {"weight_compute_ratio": left.value})
    values = closed | dict(found.values)
    if not found.solved or found.undetermined:
        return Reading(name="joint", values={}, solution=solution, problem="the forward model does not reproduce the prices")
    values["kv_bytes_per_token"] = kv_bytes_from_crossover(values["balance_context"], given)
    values["memory_time_share"] = equation("bands.memory_time_share").right_side(values)
    return Reading(name="joint", values=values, solution=solution)


def invert_pair(given: Mapping[str, float], closed: Mapping[str, float] | None = None) -> Inversion:
    """Return attention FLOPs, balance context and weight reads at which the forward model predicts both premiums and output/input.

    `given` has the three ratios, the mean contexts of both bands and the anchors. `closed` is the solution in closed form, if
    it is known. No value is clipped: a value below zero means that the prices cannot come from the model.
    """
    contexts = given["short_context"], given["long_context"]
    published = {name: given[name] for name in ("premium_in", "premium_out", "output_input_ratio")}

    def structure(at: Mapping[str, float]) -> dict[str, float]:
        return {
            "attention_flops_per_pair": 2 * given["active_params"] * at["attention_ratio"] / contexts[1],
            "balance_context": contexts[1] / at["memory_ratio_of_cache"] if at["memory_ratio_of_cache"] else inf,
            "weight_compute_ratio": at["weight_compute_ratio"],
        }

    def predict(at: Mapping[str, float]) -> dict[str, float]:
        found = forward({**_UNUSED, **given, **structure(at)}, contexts)
        return {
            "premium_in": float(found["premium_in"][1]),
            "premium_out": float(found["premium_out"][1]),
            "output_input_ratio": float(found["output_input_ratio"]),
        }

    # Each parameter is a share of the arithmetic of the weights, of one scale for every model. Costs have a kink where memory overtakes
    # arithmetic: a search from one side of it may not find a solution on the other.
    ratio = max(given["output_input_ratio"], 1.0)
    starts = [(1.0, ratio, ratio), (1.0, ratio, _COMPUTE_BOUND)]
    if closed:
        # Near the kink both searches may end on the wrong side.
        attention = closed["attention_flops_per_pair"] * contexts[1] / (2 * given["active_params"])
        exact = (attention, contexts[1] / closed["balance_context"], closed["weight_compute_ratio"])
        starts += [(exact[0] or _ROUNDING, exact[1] or _ROUNDING, exact[2] or _ROUNDING)]
    for start_at in starts:
        start = dict(zip(("attention_ratio", "memory_ratio_of_cache", "weight_compute_ratio"), start_at, strict=True))
        found = invert_prices(predict, published, start)
        if found.solved and not found.undetermined:
            break
    at = {name: 0.0 if abs(value) < _ROUNDING else value for name, value in found.values.items()}
    return replace(found, values=structure(at))


def broken_by(case: Case, assumptions: Assumptions) -> str | None:
    """Return the inequality that the prices break, in the catalogue's names, if the given facts fix the decode cost, or else None."""
    pinned = {"overlap", "prompt_position", "prefill_decode_flops_ratio"} <= set(assumptions.given)
    problem = joint_reading(case.seen.pairs[0], case.anchors.values).problem if pinned and case.seen.pairs else None
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


def pricing_rules(pair: BandPair, anchors: Mapping[str, float], max_context: float | None) -> PricingRules:
    """Return KV bytes by each pricing rule, on the same anchors, for a base band that is compute-bound (base_cost 1).

    A memory-bound base multiplies all except the last by its base cost, R over the FLOP/s ratio. The choice of the rule matters as much as
    the prices.
    """
    given = {
        "active_params": anchors["active_params"],
        "ridge_point": anchors["ridge_point"],
        "long_context_threshold": float(pair.long_context_threshold),
        "premium_out": pair.premium_out.value,
        "short_context": pair.short_context,
        "long_context": pair.long_context,
        "base_cost": 1.0,
    }
    if max_context:
        given |= {"max_context": max_context, "covered_context": max_context}
    base_cost = equation("bands.base_cost_memory_bound").right_side({**anchors, "output_input_ratio": pair.output_input_ratio.value})
    return PricingRules({rule: solve_steps(steps, given) for rule, steps in STEPS_OF_RULE.items()}, base_cost)
