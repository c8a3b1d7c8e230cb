"""Bands, continued: memory ratios and the balance context from the two premiums and the output/input ratio."""

from derive.catalogue.band_terms import BAND_MEANS, DENSE, NOTHING_IN_VAIN, ONE_ATTENTION, compute, decode, shared
from derive.catalogue.sources import ours
from derive.records import CONDITION, Equation, Requirement, Step, at

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
