"""Bands, continued: rules by which a vendor may set the premium, each with a context scale over which the cost doubles. The cost of a band
is linear in the context, base_cost (1 + L/cost_context_scale). A rule says at which contexts the two prices equal costs.
"""

from typing import Any

from derive.catalogue.assumed import ONE_COPY
from derive.catalogue.sources import ours
from derive.records import CONDITION, Equation, Requirement, Step, at

_AFFINE = ("the cost of a band is linear in the context plus a constant, and premiums follow cost",)


def _cost(context: Any, scale: Any) -> Any:
    """Return the cost of a band at a context over its cost at context 0."""
    return 1 + context / scale


RULES = (
    Equation(
        id="bands.kv_bytes_from_scale",
        title="KV bytes from the context scale of the cost",
        kind=CONDITION,
        relation=lambda kv_bytes_per_token, flop_per_weight, active_params, mbu, base_cost, ridge_point, mfu,
            cost_context_scale: (
            kv_bytes_per_token,
            flop_per_weight * active_params * mbu * base_cost / (ridge_point * mfu * cost_context_scale),
        ),
        statement="The cost is base_cost at no context, and twice as high at cost_context_scale. This slope gives the KV read.",
        assumptions=(
            "the cost of a band is linear in the context plus a constant",
            "base_cost is 1 if the base band is compute-bound, and bands.base_cost_memory_bound if it is memory-bound",
            ONE_COPY,
        ),
        given={"active_params": "100B", "base_cost": "8.3", "cost_context_scale": "400k"},
        result="9.836 kB/token",
        derivation=lambda: (
            Step(
                operation="the claim: the slope of the cost, base_cost over its scale, is the KV read, which is 1/balance_context",
                relation=lambda balance_context, cost_context_scale, base_cost: (balance_context, cost_context_scale / base_cost),
            ),
            Step(
                operation="the balance context as a function of KV bytes",
                premises=(at("#1"), at("context.balance_context", kv_replication=1)),
                eliminated=("balance_context",),
            ),
        ),
        sources=(ours("the slope of the band cost is the KV read. Rules for cost_context_scale follow"),),
    ),
    Equation(
        id="bands.base_cost_memory_bound",
        changes=("the tokens of a step share its reads",),
        title="Base cost of a memory-bound base band",
        kind=CONDITION,
        relation=lambda base_cost, output_input_ratio, tokens_per_step, one_token, prefill_decode_flops_ratio: (
            base_cost,
            output_input_ratio * tokens_per_step / (prefill_decode_flops_ratio * one_token),
        ),
        statement="If the base band is memory-bound even without context, each token of a step costs as much as R input tokens.",
        assumptions=("attention FLOPs are left out", "one price/cost for all prices"),
        result="8.308",
        derivation=lambda: (
            Step(
                operation="the claim: a step costs its memory time even without context, and its tokens are priced at this cost",
                relation=lambda output_input_ratio, prefill_decode_flops_ratio, base_cost, tokens_per_step, one_token: (
                    output_input_ratio,
                    prefill_decode_flops_ratio * base_cost * one_token / tokens_per_step,
                ),
            ),
            Step(operation="solved for the base cost", premises=(at("#1"),)),
        ),
        sources=(ours("bands.decode_cost at no context, memory-bound"),),
    ),
    Equation(
        id="bands.rule_knee",
        title="Pricing rule: the threshold is the knee",
        kind=CONDITION,
        rule="the pricing rule that the threshold is the knee of the cost",
        relation=lambda cost_context_scale, long_context_threshold: (cost_context_scale, long_context_threshold),
        statement="The lecture's rule in this form: the cost doubles at the threshold. The premium is not used.",
        assumptions=_AFFINE,
        result="200k tokens",
        derivation=lambda: (
            Step(
                operation="the threshold reading and the slope of the cost (with a base of one compute time) give the same KV bytes",
                premises=(
                    at("bands.kv_bytes_from_scale", base_cost=1, mbu=1, mfu=1),
                    at("readings.threshold_is_crossover"),
                    at("batching.machine_balance_ratio"),
                ),
                eliminated=("kv_bytes_per_token", "machine_balance_ratio"),
            ),
        ),
        sources=(ours("readings.threshold_is_crossover as a function of a context scale"),),
    ),
    Equation(
        id="bands.rule_threshold",
        title="Pricing rule: the premium is the cost at the threshold",
        kind=CONDITION,
        rule="the pricing rule that the premium is the cost at the threshold",
        relation=lambda cost_context_scale, long_context_threshold, premium_out: (
            cost_context_scale,
            long_context_threshold / (premium_out - 1),
        ),
        requires=(Requirement(holds=lambda premium_out: premium_out > 1),),
        statement="The cost at the threshold over the cost at no context is the premium.",
        assumptions=_AFFINE,
        result="400k tokens",
        derivation=lambda: (
            Step(
                operation="the claim: the premium is the cost at the threshold over the cost at no context",
                relation=lambda premium_out, long_context_threshold, cost_context_scale: (
                    premium_out,
                    _cost(long_context_threshold, cost_context_scale),
                ),
            ),
            Step(
                operation="solved for the scale",
                premises=(at("#1"),),
            ),
        ),
        sources=(ours("1 + L_thr/L_c = premium"),),
    ),
    Equation(
        id="bands.rule_upper_end",
        title="Pricing rule: each band covers its worst case",
        kind=CONDITION,
        rule="the pricing rule that each band covers its most expensive request",
        relation=lambda cost_context_scale, max_context, premium_out, long_context_threshold: (
            cost_context_scale,
            (max_context - premium_out * long_context_threshold) / (premium_out - 1),
        ),
        requires=(
            Requirement(holds=lambda premium_out: premium_out > 1),
            Requirement(holds=lambda max_context, premium_out, long_context_threshold: max_context > long_context_threshold * premium_out),
        ),
        statement="The cost at the longest context over the cost at the threshold is the premium.",
        assumptions=_AFFINE,
        result="1.4M tokens",
        derivation=lambda: (
            Step(
                operation="the claim: the premium is the cost at the longest context over the cost at the threshold",
                relation=lambda premium_out, max_context, cost_context_scale, long_context_threshold: (
                    premium_out,
                    _cost(max_context, cost_context_scale) / _cost(long_context_threshold, cost_context_scale),
                ),
            ),
            Step(
                operation="solved for the scale",
                premises=(at("#1"),),
            ),
        ),
        sources=(ours("(1 + L_max/L_c)/(1 + L_thr/L_c) = premium"),),
    ),
    Equation(
        id="bands.rule_band_means",
        title="Pricing rule: each band is priced at its mean",
        kind=CONDITION,
        rule="the pricing rule that each band is priced at its mean",
        relation=lambda cost_context_scale, long_context, premium_out, short_context: (
            cost_context_scale,
            (long_context - premium_out * short_context) / (premium_out - 1),
        ),
        requires=(
            Requirement(holds=lambda premium_out: premium_out > 1),
            Requirement(holds=lambda long_context, premium_out, short_context: long_context > premium_out * short_context),
        ),
        statement="The premium is the cost at the mean context of the upper band over the cost at the mean context of the lower band.",
        assumptions=_AFFINE,
        result="540k tokens",
        derivation=lambda: (
            Step(
                operation="the claim: the premium is the cost at the mean of the upper band over the cost at the mean of the lower band",
                relation=lambda premium_out, long_context, cost_context_scale, short_context: (
                    premium_out,
                    _cost(long_context, cost_context_scale) / _cost(short_context, cost_context_scale),
                ),
            ),
            Step(
                operation="solved for the scale",
                premises=(at("#1"),),
            ),
        ),
        sources=(ours("(1 + L_hi/L_c)/(1 + L_lo/L_c) = premium"),),
    ),
    Equation(
        id="bands.rule_lloyd_max",
        title="Pricing rule: band means with the best threshold",
        kind=CONDITION,
        rule="the pricing rule of band means with the best threshold",
        relation=lambda cost_context_scale, long_context_threshold, premium_out, short_context: (
            cost_context_scale,
            (2 * long_context_threshold - (1 + premium_out) * short_context) / (premium_out - 1),
        ),
        requires=(
            Requirement(holds=lambda premium_out: premium_out > 1),
            Requirement(
                holds=lambda long_context_threshold, premium_out, short_context: (
                    2 * long_context_threshold > short_context * (premium_out + 1)
                ),
            ),
        ),
        statement="The premium is the cost ratio of the band means. The threshold is halfway between them: the least-squares split of"
                  " demand.",
        assumptions=_AFFINE,
        result="700k tokens",
        derivation=lambda: (
            Step(
                operation="a further claim: the threshold is halfway between the band means",
                relation=lambda long_context_threshold, short_context, long_context: (
                    long_context_threshold,
                    (short_context + long_context) / 2,
                ),
            ),
            Step(
                operation="the rule of band means with this threshold",
                premises=(at("#1"), at("bands.rule_band_means")),
                eliminated=("long_context",),
            ),
        ),
        sources=(ours("bands.rule_band_means with L_thr = (L_lo + L_hi)/2: the two-level Lloyd-Max quantiser"),),
    ),
)
