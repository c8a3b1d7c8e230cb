"""Bands, continued: price levels and increments in dollars, with a price/cost for each, and their consequences without N_a.

A ratio of prices removes all common factors. An increment is the long-context price minus the base price. It covers the cost of more
context: KV reads in decode, attention in prefill. Divided by the rental price of a byte or a FLOP it gives KV bytes and attention FLOPs,
without parameters, base price or batch.
"""

from typing import Any

from derive.catalogue.assumed import DENSE, ONE_ATTENTION, ONE_COPY
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


LEVELS = (
    Equation(
        id="bands.active_params_times_price_cost_ratio",
        title="Active parameters times price/cost, from the input price",
        kind=CONDITION,
        rule="the reading of the input price as compute times price/cost",
        relation=lambda active_params_times_price_cost_ratio, input_price, prefill_decode_flops_ratio, flop_per_mac_and_token,
            price_per_flop, prefill_cost_ratio: (
            active_params_times_price_cost_ratio,
            input_price * prefill_decode_flops_ratio / (flop_per_mac_and_token * price_per_flop * prefill_cost_ratio),
        ),
        statement="The input price gives only the product of active parameters and price/cost.",
        assumptions=("prefill is compute-bound",),
        result="2.105T",
        derivation=lambda: (
            Step(
                operation="the claim: the input price is price/cost times the compute cost, at the sustained FLOP/s of prefill",
                relation=lambda active_params_times_price_cost_ratio, active_params, input_price, rematerialisation_cost,
                    prefill_cost_ratio: (
                    active_params_times_price_cost_ratio,
                    active_params * input_price / (rematerialisation_cost * prefill_cost_ratio),
                ),
            ),
            Step(
                operation="the cost of recomputing as a function of the price of a FLOP. The parameters cancel",
                premises=(
                    at("#1"),
                    at("cache.rematerialisation_cost"),
                    at("serving.peak_prefill_rate", prefill_attention_factor=1),
                    at("serving.price_per_flop"),
                ),
                eliminated=("rematerialisation_cost", "prefill_rate_per_chip", "chip_price"),
            ),
        ),
        sources=(ours("the input price over the prefill cost of one parameter. Only the product of parameters and price/cost is known"),),
    ),
    Equation(
        id="bands.kv_bytes_from_increment",
        title="KV bytes from the output increment in dollars",
        kind=CONDITION,
        rule="the reading of the output increment as KV reads",
        relation=lambda kv_bytes_per_token, output_increment, tokens_per_step, increment_price_cost_ratio, price_per_hbm_byte,
            long_context, short_context: (
            kv_bytes_per_token,
            output_increment * tokens_per_step / (increment_price_cost_ratio * price_per_hbm_byte * (long_context - short_context)),
        ),
        requires=(Requirement(holds=lambda long_context, short_context: long_context > short_context),),
        statement="The extra price of an output token at long context covers its extra KV reads.",
        assumptions=("decode is memory-bound in both bands", "each band is priced at its mean context", DENSE, ONE_COPY),
        given={"output_increment": "6 USD/MTok"},
        result="20.35 kB/token",
        derivation=lambda: (
            Step(
                operation="the claim: the increment is the cost of the KV time of the additional context, times price/cost",
                relation=lambda output_increment, increment_price_cost_ratio, chips, chip_price, kv_time, batch, tokens_per_step: (
                    output_increment,
                    increment_price_cost_ratio * chips * chip_price * kv_time / (batch * tokens_per_step),
                ),
            ),
            Step(
                operation="the KV time in bytes, and the price of a byte",
                premises=(
                    at("#1"),
                    at(
                        "roofline.kv_time",
                        context_length=lambda long_context, short_context: long_context - short_context,
                        kv_replication=1,
                    ),
                    at("serving.price_per_hbm_byte"),
                ),
                eliminated=("kv_time", "chip_price"),
            ),
        ),
        sources=(
            ours("parameters, base price and batch are not needed. Every factor has elasticity one. At price/cost 1 and the rental price"
                 " it is KV from premium at cost. Models with known architecture calibrate price/cost"),
        ),
    ),
    Equation(
        id="bands.attention_flops_from_increment",
        title="Attention FLOPs from the input increment in dollars",
        kind=CONDITION,
        rule="the reading of the input increment as attention FLOPs",
        relation=lambda attention_flops_per_pair, input_increment, one_token, prefill_decode_flops_ratio, increment_price_cost_ratio,
            price_per_flop, prompt_position, long_context, short_context: (
            attention_flops_per_pair,
            input_increment
            * one_token
            * prefill_decode_flops_ratio
            / (increment_price_cost_ratio * price_per_flop * prompt_position * (long_context - short_context)),
        ),
        requires=(Requirement(holds=lambda long_context, short_context: long_context > short_context),),
        statement="The extra price of a prompt token at long context covers the attention to the tokens before it.",
        assumptions=("prefill is compute-bound", "each band is priced at its mean context", ONE_ATTENTION),
        result="4.134 MFLOP/token",
        derivation=lambda: (
            Step(
                operation="the claim: the increment is the cost of attention over the additional context, times price/cost",
                relation=lambda input_increment, increment_price_cost_ratio, rematerialisation_cost, prompt_position, long_context,
                    short_context, attention_context: (
                    input_increment,
                    increment_price_cost_ratio
                    * rematerialisation_cost
                    * prompt_position
                    * (long_context - short_context)
                    / attention_context,
                ),
            ),
            Step(
                operation="the attention context and the cost of recomputing as functions of FLOPs and their price. The parameters cancel",
                premises=(
                    at("#1"),
                    at("context.attention_context"),
                    at("cache.rematerialisation_cost"),
                    at("serving.peak_prefill_rate", prefill_attention_factor=1),
                    at("serving.price_per_flop"),
                ),
                eliminated=("attention_context", "rematerialisation_cost", "prefill_rate_per_chip", "chip_price"),
            ),
        ),
        sources=(ours("the input increment is independent of KV: prefill is compute-bound"),),
    ),
    Equation(
        id="bands.increments_of_a_sum",
        title="Condition on the two increments with no overlap",
        kind=CONDITION,
        relation=lambda output_increment, prefill_decode_flops_ratio, input_increment, prompt_position: (
            output_increment,
            prefill_decode_flops_ratio * input_increment / prompt_position,
        ),
        sense=">=",
        statement="If compute and memory time of decode add, the output increment also contains the attention FLOPs. The input increment"
                  " gives their cost.",
        assumptions=("no overlap", "one price/cost for all prices", "each band is priced at its mean context", DENSE, ONE_ATTENTION),
        result="5.2 USD/MTok",
        derivation=lambda: (
            Step(
                operation="the claim: the output increment covers attention over the whole context and also KV reads",
                relation=lambda output_increment, increment_price_cost_ratio, rematerialisation_cost, prefill_decode_flops_ratio,
                    long_context, short_context, attention_context: (
                    output_increment,
                    increment_price_cost_ratio
                    * rematerialisation_cost
                    * prefill_decode_flops_ratio
                    * (long_context - short_context)
                    / attention_context,
                ),
            ),
            Step(
                operation="the attention of the input increment substituted",
                premises=(
                    at("#1"),
                    at("bands.attention_flops_from_increment"),
                    at("context.attention_context"),
                    at("cache.rematerialisation_cost"),
                    at("serving.peak_prefill_rate", prefill_attention_factor=1),
                    at("serving.price_per_flop"),
                ),
                eliminated=(
                    *("attention_context", "attention_flops_per_pair"),
                    *("rematerialisation_cost", "prefill_rate_per_chip", "chip_price"),
                ),
            ),
        ),
        sources=(ours("if this is not true, no positive KV bytes give both premiums without overlap: the sheet contradicts the model"),),
    ),
    Equation(
        id="bands.kv_read_within_price",
        title="Largest KV bytes that an output price for all lengths can cover",
        kind=CONDITION,
        relation=lambda output_price, price_per_hbm_byte, kv_bytes_per_token, max_context, tokens_per_step: (
            output_price,
            price_per_hbm_byte * kv_bytes_per_token * max_context / tokens_per_step,
        ),
        sense=">=",
        statement="If no request is sold below cost, a price for all lengths must at least cover the KV reads at the longest context.",
        assumptions=("no request is sold below its cost", DENSE, ONE_COPY),
        result="2.632 USD/MTok",
        derivation=lambda: (
            Step(
                operation="the claim: at the longest context the output price covers at least the KV time",
                relation=lambda output_price, chips, chip_price, kv_time, batch, tokens_per_step: (
                    output_price,
                    chips * chip_price * kv_time / (batch * tokens_per_step),
                ),
            ),
            Step(
                operation="the KV time in bytes, and the price of a byte",
                premises=(
                    at("#1"),
                    at("roofline.kv_time", context_length="max_context", kv_replication=1),
                    at("serving.price_per_hbm_byte"),
                ),
                eliminated=("kv_time", "chip_price"),
            ),
        ),
        sources=(ours("a sheet without a premium gives only an upper bound of KV bytes"),),
    ),
    Equation(
        id="bands.cache_read_ratio",
        title="Cache-read ratio from the cost of a hit",
        kind=CONDITION,
        rule="the reading of the cache-read price as its cost",
        relation=lambda cache_read_ratio, cache_read_price_cost_ratio, prefill_decode_flops_ratio, tier_read_cost_ratio, one_token,
            balance_context, suffix_tokens, attention_flops_per_pair, flop_per_weight, active_params, prefill_cost_ratio: (
            cache_read_ratio,
            cache_read_price_cost_ratio
            * (
                prefill_decode_flops_ratio * tier_read_cost_ratio * one_token / balance_context
                + suffix_tokens * attention_flops_per_pair / (flop_per_weight * active_params)
            )
            / prefill_cost_ratio,
        ),
        statement="The price of a hit covers one read from its tier and the attention of the new tokens to it.",
        assumptions=(
            "cache_read_price_cost_ratio is the price/cost of a hit over the price/cost of input",
            "hits are priced at the mean context of the base band",
            DENSE,
            ONE_ATTENTION,
        ),
        given={"cache_read_price_cost_ratio": "2", "tier_read_cost_ratio": "10", "suffix_tokens": "2k", "active_params": "100B"},
        result="0.03667",
        sources=(
            ours("one equation with five unknowns, so it is weak evidence. A low price of hits can mean that the new tokens need"
                 " little attention, or that the tier is cheap"),
        ),
    ),
)
