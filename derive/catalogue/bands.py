"""Bands: the forward model of a two-band sheet, and its inverse. All equations are conditions: they equate prices with costs.

Costs are in units of the linear compute cost of a prompt token. `memory_ratio` is memory over linear compute time,
w + L/L_star. Attention adds a L/(2 N_a) to compute. A sheet gives output_input_ratio, premium_in and premium_out.
premium_in gives the attention FLOPs, the output prices give the decode cost of each band, the decode cost gives the
memory ratio, and two memory ratios give L_star and w.
"""

from derive.catalogue.assumed import BAND_MEANS, DENSE, NOTHING_IN_VAIN, ONE_ATTENTION, ONE_COPY, compute, decode, shared
from derive.catalogue.price_levels import LEVELS, RULES
from derive.catalogue.sources import ours
from derive.records import CONDITION, Equation, Requirement, Step, at

_PRICED_PREFILL = (
    at(
        "readings.input_price_cost_ratio",
        input_price=lambda input_price, prefill_cost_ratio: input_price / prefill_cost_ratio,
    ),
    at("cache.rematerialisation_cost"),
    at("serving.peak_prefill_rate", prefill_attention_factor=1),
)
"""The price/cost of a prompt token without attention, at the sustained FLOP/s of prefill."""

INVERSE = (
    Equation(
        id="bands.output_input_ratio",
        title="Decode cost of the base band",
        kind=CONDITION,
        rule="the reading of output/input as decode cost over prefill cost",
        relation=lambda decode_cost_short, output_input_ratio, prompt_position, short_context,
            attention_flops_per_pair, active_params, flop_per_weight: (
            decode_cost_short,
            output_input_ratio * compute(prompt_position * short_context, attention_flops_per_pair, active_params, flop_per_weight),
        ),
        statement="The output price of the base band is R times its input price.",
        assumptions=BAND_MEANS,
        given={"active_params": "100B"},
        result="6.6",
        derivation=lambda: (
            Step(
                operation="the price of an output token of the base band is R times the price of a prompt token",
                premises=(
                    at(
                        "bands.price",
                        cost_ratio="decode_cost_short",
                        band_price=lambda output_input_ratio, input_price: output_input_ratio * input_price,
                    ),
                    at("bands.prefill_cost", context_length="short_context"),
                ),
                eliminated=("prefill_cost_ratio",),
            ),
        ),
        sources=(ours("the output/input ratio of the base band, with bands.prefill_cost at the short context"),),
    ),
    Equation(
        id="bands.premium_out",
        title="Decode cost of the long-context band",
        kind=CONDITION,
        rule="the reading of the output premium as a ratio of decode costs",
        relation=lambda decode_cost_long, premium_out, decode_cost_short: (decode_cost_long, premium_out * decode_cost_short),
        statement="The output price of the long-context band is premium_out times the output price of the base band.",
        assumptions=BAND_MEANS,
        given={"decode_cost_short": "6.6"},
        result="9.9",
        derivation=lambda: (
            Step(
                operation="the output price of the long-context band is premium_out times the output price of the base band",
                premises=(
                    at("bands.price", cost_ratio="decode_cost_short"),
                    at(
                        "bands.price",
                        cost_ratio="decode_cost_long",
                        band_price=lambda premium_out, band_price: premium_out * band_price,
                    ),
                ),
                eliminated=("band_price",),
            ),
        ),
        sources=(ours("the ratio of the two output prices is the ratio of the two decode costs"),),
    ),
    Equation(
        id="bands.decode_cost_short",
        changes=("the tokens of a step share its reads, but each needs its own arithmetic",),
        title="Decode cost of the base band from its memory ratio",
        kind=CONDITION,
        relation=lambda decode_cost_short, prefill_decode_flops_ratio, short_context,
            attention_flops_per_pair, active_params, flop_per_weight, memory_ratio_short, tokens_per_step, one_token, overlap: (
            decode_cost_short,
            decode(
                prefill_decode_flops_ratio,
                compute(short_context, attention_flops_per_pair, active_params, flop_per_weight),
                shared(memory_ratio_short, tokens_per_step, one_token),
                overlap,
            ),
        ),
        statement="Solved for memory_ratio_short, it removes the effect of overlap. A compute-bound band gives only an upper bound.",
        assumptions=(*BAND_MEANS, DENSE, ONE_ATTENTION, NOTHING_IN_VAIN),
        given={"active_params": "100B"},
        result="6.603",
        derivation=lambda: (
            Step(
                operation="the cost of a decoded token at the mean of the base band",
                premises=(
                    at("bands.decode_cost", decode_cost_ratio="decode_cost_short", context_length="short_context"),
                    at("bands.memory_ratio_short"),
                ),
                eliminated=("weight_compute_ratio", "balance_context"),
            ),
        ),
        sources=(ours("bands.decode_cost at the short context"),),
    ),
    Equation(
        id="bands.decode_cost_long",
        changes=("the tokens of a step share its reads, but each needs its own arithmetic",),
        title="Decode cost of the long-context band from its memory ratio",
        kind=CONDITION,
        relation=lambda decode_cost_long, prefill_decode_flops_ratio, long_context, attention_flops_per_pair,
            active_params, flop_per_weight, memory_ratio_long, tokens_per_step, one_token, overlap: (
            decode_cost_long,
            decode(
                prefill_decode_flops_ratio,
                compute(long_context, attention_flops_per_pair, active_params, flop_per_weight),
                shared(memory_ratio_long, tokens_per_step, one_token),
                overlap,
            ),
        ),
        statement="Solved for memory_ratio_long, it removes the effect of overlap. A compute-bound band gives only an upper bound.",
        assumptions=(*BAND_MEANS, DENSE, ONE_ATTENTION, NOTHING_IN_VAIN),
        given={"active_params": "100B"},
        result="9.923",
        derivation=lambda: (
            Step(
                operation="the cost of a decoded token at the mean of the long-context band",
                premises=(
                    at("bands.decode_cost", decode_cost_ratio="decode_cost_long", context_length="long_context"),
                    at("bands.memory_ratio_short", memory_ratio_short="memory_ratio_long", short_context="long_context"),
                ),
                eliminated=("weight_compute_ratio", "balance_context"),
            ),
        ),
        sources=(ours("bands.decode_cost at the long context"),),
    ),
    Equation(
        id="bands.balance_context",
        title="Balance context from two memory ratios",
        kind=CONDITION,
        rule="the reading of two memory ratios",
        relation=lambda balance_context, long_context, short_context, memory_ratio_long, memory_ratio_short: (
            balance_context,
            (long_context - short_context) / (memory_ratio_long - memory_ratio_short),
        ),
        requires=(
            Requirement(holds=lambda long_context, short_context: long_context > short_context),
            Requirement(holds=lambda memory_ratio_long, memory_ratio_short: memory_ratio_long > memory_ratio_short),
        ),
        statement="When the context grows by one balance context, the memory time grows by one linear compute time.",
        assumptions=("the weight read is the same in both bands", DENSE),
        result="77.99k tokens",
        derivation=lambda: (
            Step(
                operation="the memory ratio at the two band means. The weight read is the same in both",
                premises=(
                    at("bands.memory_ratio_short"),
                    at("bands.memory_ratio_short", memory_ratio_short="memory_ratio_long", short_context="long_context"),
                ),
                eliminated=("weight_compute_ratio",),
            ),
        ),
        sources=(ours("the memory ratio at the two band means, the weight read eliminated"),),
    ),
)


EQUATIONS = (
    Equation(
        id="bands.prefill_cost",
        title="Cost of a prompt token",
        kind=CONDITION,
        rule="the condition that prefill is compute-bound",
        relation=lambda prefill_cost_ratio, prompt_position, context_length, attention_flops_per_pair,
            active_params, flop_per_weight: (
            prefill_cost_ratio,
            compute(prompt_position * context_length, attention_flops_per_pair, active_params, flop_per_weight),
        ),
        statement="Prefill is compute-bound. A token costs its weights, and attention over the part of the prompt before it.",
        assumptions=("prefill in chunks of 2,000 tokens or more", ONE_ATTENTION),
        given={"context_length": "100k", "active_params": "100B"},
        result="1.5",
        derivation=lambda: (
            Step(
                operation="the claim: prefill pays for its weights, and for attention over the part of the prompt before the token",
                relation=lambda prefill_cost_ratio, prompt_position, context_length, attention_context: (
                    prefill_cost_ratio,
                    1 + prompt_position * context_length / attention_context,
                ),
            ),
            Step(
                operation="the attention context in terms of the model",
                premises=(at("#1"), at("context.attention_context")),
                eliminated=("attention_context",),
            ),
        ),
        sources=(ours("prompt_position is 1/2 when the whole prompt is new and near 1 for a short suffix after a cached prefix"),),
    ),
    Equation(
        id="bands.decode_cost",
        changes=("the tokens of a step share its reads, but each needs its own arithmetic",),
        title="Cost of a decoded token",
        kind=CONDITION,
        relation=lambda decode_cost_ratio, prefill_decode_flops_ratio, context_length,
            attention_flops_per_pair, active_params, flop_per_weight, weight_compute_ratio, balance_context,
            tokens_per_step, one_token, overlap: (
            decode_cost_ratio,
            decode(
                prefill_decode_flops_ratio,
                compute(context_length, attention_flops_per_pair, active_params, flop_per_weight),
                shared(weight_compute_ratio + context_length / balance_context, tokens_per_step, one_token),
                overlap,
            ),
        ),
        statement="Decode costs the longer of compute and memory time, plus the part of the shorter one that is not hidden. If a step"
                  " yields several tokens and one is assumed, the balance context is too long and KV bytes are too few by this factor.",
        assumptions=(DENSE, ONE_ATTENTION, NOTHING_IN_VAIN),
        given={"context_length": "100k", "active_params": "100B", "weight_compute_ratio": "8.45"},
        result="7.549",
        derivation=lambda: (
            Step(
                operation="the claim: the longer time, plus the part of the shorter time that is not hidden, as in a step with overlap 0"
                          " to 1. Every token has its own arithmetic, and the tokens of a step share its reads",
                relation=lambda decode_cost_ratio, prefill_decode_flops_ratio, compute_ratio, memory_ratio, tokens_per_step, one_token,
                    overlap: (
                    decode_cost_ratio,
                    decode(prefill_decode_flops_ratio, compute_ratio, shared(memory_ratio, tokens_per_step, one_token), overlap),
                ),
            ),
            Step(
                operation="memory and compute time, in units of the linear compute time",
                premises=(
                    at("#1", compute_ratio=lambda context_length, attention_context: 1 + context_length / attention_context),
                    at("bands.memory_ratio_short", memory_ratio_short="memory_ratio", short_context="context_length"),
                    at("context.attention_context"),
                ),
                eliminated=("memory_ratio", "attention_context"),
            ),
        ),
        sources=(ours("roofline.step_time at overlap 1, roofline.step_time_serial at overlap 0, with attention FLOPs"),),
    ),
    Equation(
        id="bands.price",
        title="Price of a token from its cost",
        kind=CONDITION,
        rule="the condition that price is proportional to cost",
        relation=lambda band_price, input_price, cost_ratio, prefill_cost_ratio: (
            band_price,
            input_price * cost_ratio / prefill_cost_ratio,
        ),
        statement="Every price of the sheet has the same price/cost. So its ratio to the base input price equals the ratio of its cost to"
                  " the cost of a base prompt token.",
        assumptions=BAND_MEANS,
        given={"cost_ratio": "9.9"},
        result="18 USD/MTok",
        sources=(ours("a common price/cost, eliminated between a price and the base input price"),),
    ),
    Equation(
        id="bands.premium_in",
        title="Input premium",
        kind=CONDITION,
        rule="the reading of the input premium as attention FLOPs",
        relation=lambda premium_in, prompt_position, long_context, short_context, attention_flops_per_pair,
            active_params, flop_per_weight: (
            premium_in,
            compute(prompt_position * long_context, attention_flops_per_pair, active_params, flop_per_weight)
            / compute(prompt_position * short_context, attention_flops_per_pair, active_params, flop_per_weight),
        ),
        requires=(
            Requirement(holds=lambda long_context, short_context: long_context > short_context),
            Requirement(holds=lambda premium_in, long_context, short_context: premium_in * short_context < long_context),
        ),
        statement="Prefill is compute-bound, so an input premium can only pay for attention FLOPs. It gives no information about KV bytes.",
        assumptions=BAND_MEANS,
        given={"active_params": "100B"},
        result="2.273",
        derivation=lambda: (
            Step(
                operation="the cost of a prompt token at the two band means, with one price/cost",
                premises=(
                    at("bands.prefill_cost", context_length="short_context"),
                    at(
                        "bands.prefill_cost",
                        context_length="long_context",
                        prefill_cost_ratio=lambda premium_in, prefill_cost_ratio: premium_in * prefill_cost_ratio,
                    ),
                ),
                eliminated=("prefill_cost_ratio",),
            ),
        ),
        sources=(ours("bands.prefill_cost at the two band means"),),
    ),
    Equation(
        id="bands.memory_ratio_short",
        title="Memory ratio of the base band",
        kind=CONDITION,
        relation=lambda memory_ratio_short, weight_compute_ratio, short_context, balance_context: (
            memory_ratio_short,
            weight_compute_ratio + short_context / balance_context,
        ),
        requires=(
            Requirement(
                holds=lambda memory_ratio_short, short_context, balance_context: memory_ratio_short > short_context / balance_context,
            ),
        ),
        statement="Weight-read time plus KV-read time of the base band, in units of linear compute time.",
        assumptions=(DENSE,),
        given={"weight_compute_ratio": "8.45"},
        result="8.706",
        derivation=lambda: (
            Step(
                operation="the definition",
                relation=lambda memory_ratio_short, memory_time, compute_time: (memory_ratio_short, memory_time / compute_time),
            ),
            Step(
                operation="weight read and KV read over the arithmetic of the same step",
                premises=(
                    at("#1"),
                    at("roofline.memory_time"),
                    at("batching.weight_compute_ratio#1"),
                    at("context.kv_compute_ratio#1"),
                ),
                eliminated=("memory_time", "weight_time", "kv_time", "compute_time"),
                relation=lambda memory_ratio_short, weight_compute_ratio, kv_compute_ratio: (
                    memory_ratio_short,
                    weight_compute_ratio + kv_compute_ratio,
                ),
            ),
            Step(
                operation="the KV read at the mean of the base band",
                premises=(at("#2"), at("context.kv_compute_ratio", context_length="short_context")),
                eliminated=("kv_compute_ratio",),
            ),
        ),
        sources=(ours("roofline.memory_time over roofline.compute_time at the short context"),),
    ),
    Equation(
        id="bands.memory_time_share",
        changes=("each token of a step has its own arithmetic",),
        title="Memory time over memory plus compute time, base band",
        kind=CONDITION,
        relation=lambda memory_time_share, memory_ratio_short, tokens_per_step, one_token, short_context, attention_flops_per_pair,
            active_params, flop_per_weight: (
            memory_time_share,
            shared(memory_ratio_short, tokens_per_step, one_token)
            / (
                shared(memory_ratio_short, tokens_per_step, one_token)
                + compute(short_context, attention_flops_per_pair, active_params, flop_per_weight)
            ),
        ),
        statement="Memory time over memory plus compute time, at short context: 0.833 at R = 5 without attention, where 1 - 1/R is 0.8.",
        assumptions=(*BAND_MEANS, DENSE, ONE_ATTENTION, NOTHING_IN_VAIN),
        given={"active_params": "100B"},
        result="0.8013",
        derivation=lambda: (
            Step(
                operation="both times in units of the linear compute time. Attention and every token of the step count as compute",
                premises=(
                    at(
                        "roofline.memory_time_share",
                        memory_time=lambda memory_ratio_short, step_time: memory_ratio_short * step_time,
                        compute_time="step_time",
                        attention_time=lambda step_time, short_context, attention_context: step_time * short_context / attention_context,
                        tokens_verified_per_step=lambda tokens_per_step, one_token: tokens_per_step / one_token,
                    ),
                    at("context.attention_context"),
                ),
                eliminated=("attention_context",),
            ),
        ),
        sources=(ours("roofline.memory_time_share in units of linear compute time. It may be too high, because R contains the margin"),),
    ),
    Equation(
        id="bands.storage_price",
        changes=("reads are slower than at full bandwidth by mbu. The price was too high by 1/mbu before",),
        title="Storage price from the balance context",
        kind=CONDITION,
        rule="the condition that storage is priced like HBM",
        relation=lambda storage_price, input_price, one_token, prefill_decode_flops_ratio,
            holding_cost_ratio, mbu, balance_context, sweep_time, prefill_cost_ratio: (
            storage_price,
            input_price
            * one_token
            * prefill_decode_flops_ratio
            * holding_cost_ratio
            * mbu
            / (balance_context * sweep_time * prefill_cost_ratio),
        ),
        statement="Storing a token in HBM for one sweep at the sustained bandwidth costs as much as reading it once.",
        assumptions=("storage costs holding_cost_ratio times as much as HBM", "the memory of the replica is full", ONE_COPY),
        given={"holding_cost_ratio": "0.5"},
        result="1.599 USD/MTok/h",
        derivation=lambda: (
            Step(
                operation="the claim: storage costs as much as the memory that it fills, and has the same price/cost as input",
                relation=lambda storage_price, holding_cost_ratio, input_price_cost_ratio, chip_price, kv_bytes_per_token, hbm_capacity: (
                    storage_price,
                    holding_cost_ratio * input_price_cost_ratio * chip_price * kv_bytes_per_token / hbm_capacity,
                ),
            ),
            Step(
                operation="price/cost from the input price without attention, at the sustained FLOP/s of prefill",
                premises=(
                    at("#1"),
                    *_PRICED_PREFILL,
                ),
                eliminated=("input_price_cost_ratio", "rematerialisation_cost", "prefill_rate_per_chip"),
                relation=lambda storage_price, holding_cost_ratio, input_price, prefill_decode_flops_ratio, mfu, peak_flops,
                    kv_bytes_per_token, prefill_cost_ratio, flop_per_mac_and_token, active_params, hbm_capacity: (
                    storage_price,
                    holding_cost_ratio
                    * input_price
                    * prefill_decode_flops_ratio
                    * mfu
                    * peak_flops
                    * kv_bytes_per_token
                    / (prefill_cost_ratio * flop_per_mac_and_token * active_params * hbm_capacity),
                ),
            ),
            Step(
                operation="the balance context contains KV bytes and parameters, and the sweep time contains the chip",
                premises=(
                    at("#2"),
                    at("context.balance_context", kv_replication=1),
                    at("batching.ridge_point"),
                    at("scheduling.sweep_time"),
                ),
                eliminated=("kv_bytes_per_token", "ridge_point", "hbm_capacity"),
            ),
        ),
        sources=(ours("no parameters, FLOPs or hardware prices are needed: the storage price over the input price gives L_star"),),
    ),
    Equation(
        id="bands.cache_read_price",
        title="Lowest cost of a cache read",
        kind=CONDITION,
        relation=lambda cache_read_price, input_price, one_token, prefill_decode_flops_ratio,
            balance_context, prefill_cost_ratio: (
            cache_read_price,
            input_price * one_token * prefill_decode_flops_ratio / (balance_context * prefill_cost_ratio),
        ),
        sense=">=",
        statement="A cached token is read at least once from HBM. A more expensive tier and attention of the suffix cost extra.",
        assumptions=("one price/cost for all prices", ONE_COPY),
        result="0.0000303 USD/MTok",
        derivation=lambda: (
            Step(
                operation="the claim: a hit costs at least one read from memory, with the price/cost of input",
                relation=lambda cache_read_price, input_price_cost_ratio, retrieve_cost: (
                    cache_read_price,
                    input_price_cost_ratio * retrieve_cost,
                ),
            ),
            Step(
                operation="price/cost from the input price without attention, at the sustained FLOP/s of prefill",
                premises=(
                    at("#1"),
                    *_PRICED_PREFILL,
                    at(
                        "cache.retrieve_cost",
                        transfers_per_hold=1,
                        tier_price="chip_price",
                        tier_bandwidth=lambda hbm_bandwidth, mbu: hbm_bandwidth * mbu,
                    ),
                ),
                eliminated=("input_price_cost_ratio", "rematerialisation_cost", "prefill_rate_per_chip", "retrieve_cost"),
                relation=lambda cache_read_price, input_price, prefill_decode_flops_ratio, mfu, peak_flops, kv_bytes_per_token,
                    prefill_cost_ratio, flop_per_mac_and_token, active_params, hbm_bandwidth, mbu: (
                    cache_read_price,
                    input_price
                    * prefill_decode_flops_ratio
                    * mfu
                    * peak_flops
                    * kv_bytes_per_token
                    / (prefill_cost_ratio * flop_per_mac_and_token * active_params * hbm_bandwidth * mbu),
                ),
            ),
            Step(
                operation="the balance context contains KV bytes, parameters and the chip",
                premises=(at("#2"), at("context.balance_context", kv_replication=1), at("batching.ridge_point")),
                eliminated=("kv_bytes_per_token", "ridge_point"),
            ),
        ),
        sources=(ours("a published read price is only an upper bound of the read cost"),),
    ),
    *INVERSE,
    *LEVELS,
    *RULES,
)
