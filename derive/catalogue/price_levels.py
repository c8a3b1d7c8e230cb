"""Bands, continued: price levels and increments in dollars, with a price/cost for each, and their consequences without N_a.

A ratio of prices removes all common factors. An increment is the long-context price minus the base price. It covers the cost of more
context: KV reads in decode, attention in prefill. Divided by the rental price of a byte or a FLOP it gives KV bytes and attention FLOPs,
without parameters, base price or batch.
"""

from derive.catalogue.assumed import ONE_COPY
from derive.catalogue.band_terms import DENSE, ONE_ATTENTION
from derive.catalogue.sources import ours
from derive.records import CONDITION, Equation, Requirement, Step, at

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
