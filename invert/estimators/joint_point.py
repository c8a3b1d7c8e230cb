"""The exact inverse of a pair of bands, and the pricing rules, all solved from catalogue equations."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from derive.catalogue import equation
from derive.expressions.branches import sides_of
from derive.solving.api import respond
from derive.solving.one_equation import solve_equation
from derive.solving.result import Solution
from derive.trees import text
from derive.units import show
from invert.assumptions import ASSUMED, Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.records import (
    BandPair,
    Estimate,
    PairInference,
    PricingRules,
    Reading,
    point_estimate,
    references,
    the_point,
    unanswered,
    undetermined,
    why_not,
)

JOINT_EQUATIONS = (
    "bands.premium_in", "bands.output_input_ratio", "bands.premium_out", "bands.decode_cost_short", "bands.decode_cost_long",
    "bands.balance_context",
)  # fmt: skip
_JOINT_ANCHORS = ("active_params", "ridge_point", "prompt_position", "prefill_decode_flops_ratio", "overlap", *ASSUMED)
IDS_OF_RULE = {
    "knee": ("bands.rule_knee", "bands.kv_bytes_from_scale"),
    "threshold": ("bands.rule_threshold", "bands.kv_bytes_from_scale"),
    "upper end": ("bands.rule_upper_end", "bands.kv_bytes_from_scale"),
    "band means": ("bands.rule_band_means", "bands.kv_bytes_from_scale"),
    "Lloyd-Max": ("bands.rule_lloyd_max", "bands.kv_bytes_from_scale"),
    "roofline, upper end": ("readings.tier_coverage",),
}


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """KV bytes and what goes with them at the anchors as they stand; undetermined, with what they break, where prices contradict them."""
    names = ("kv_bytes_per_token", "balance_context", "memory_time_share")
    if not case.seen.pairs:
        because = "one price for all lengths: there is no premium to read KV bytes from"
        return {name: undetermined(assumptions, because) for name in names}
    found = joint_reading(case.seen.pairs[0], case.anchors.values)
    if found.problem:
        return {name: undetermined(assumptions, found.problem) for name in names}
    because, cited = "one mark-up, every anchor and price as it stands", references(*JOINT_EQUATIONS)
    return {name: point_estimate(assumptions, found.values[name], because, equations=cited) for name in names}


def joint_reading(pair: BandPair, anchors: Mapping[str, float]) -> Reading:
    """KV bytes and what goes with them from both premiums and R together, each band priced at its mean context.

    premium_in gives the attention FLOPs, the output prices the decode cost of each band, those the memory ratios, and
    two memory ratios L_star and w. Where the prices cannot come from the model, the inequality they break is named.
    """
    return _jointly((*((name, anchors[name]) for name in _JOINT_ANCHORS), *pair.values.items()))


@lru_cache
def _jointly(numbers: tuple[tuple[str, float], ...]) -> Reading:
    """The reading of these numbers: what `infer` compares asks mostly the same ones again, and each takes as long as half a posterior."""
    given = dict(numbers)
    solution = respond("kv_bytes_per_token", given, using=JOINT_EQUATIONS)
    if len(solution.answers) != 1 or solution.answers[0].kind != "point":
        return unanswered("joint", solution)
    values = {step.unknown: step.value for step in solution.route if step.value is not None}
    values |= given
    for id, unknown in (("bands.memory_ratio_short", "weight_compute_ratio"), ("bands.memory_time_share", "memory_time_share")):
        answers, reason = solve_equation(equation(id), unknown, values)
        if not answers:
            return Reading(name="joint", values={}, solution=solution, problem=why_not(reason))
        values[unknown] = the_point(answers)
    return Reading(name="joint", values=values, solution=solution)


def broken_by(case: Case, assumptions: Assumptions) -> str | None:
    """What the prices break, in the catalogue's names, where the facts given leave the decode cost nothing to move; else None."""
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
        left, right = map(text, sides_of(needed))
        paid = show("output_increment", increments["output_increment"])
        return f"inconsistent: {left} >= {right} does not hold: {paid} < {show('output_increment', least)} ({needed.reference})"
    return f"inconsistent: {problem}"


def pricing_rules(pairs: Sequence[PairInference], anchors: Mapping[str, float], max_context: float | None) -> PricingRules | None:
    """KV bytes by each pricing rule over the first pair of bands, and what a memory-bound base makes of them; None without a pair."""
    if not pairs:
        return None
    pair = pairs[0].pair
    return PricingRules(rule_solutions(pair, anchors, max_context), memory_bound_base_cost(pair, anchors))


def rule_solutions(pair: BandPair, anchors: Mapping[str, float], max_context: float | None) -> dict[str, Solution]:
    """KV bytes by each pricing rule, on the same anchors, for a base band that is compute-bound (base_cost 1).

    A memory-bound base multiplies all but the last by its base cost. The rule decides as much as the prices do.
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
    return {rule: respond("kv_bytes_per_token", given, using=ids) for rule, ids in IDS_OF_RULE.items()}


def memory_bound_base_cost(pair: BandPair, anchors: Mapping[str, float]) -> float:
    """What a memory-bound base band multiplies the KV bytes of most pricing rules by: R over the FLOP/s ratio."""
    at = {**anchors, "output_input_ratio": pair.output_input_ratio.value}
    base_cost: float = equation("bands.base_cost_memory_bound").right_side(at)
    return base_cost
