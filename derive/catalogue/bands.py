"""Bands: the forward model of a two-band sheet, and what inverts it. All are conditions: they equate prices with costs.

Costs are in units of the linear compute cost of a prompt token. `memory_ratio` is memory over linear compute time,
w + L/L_star; attention adds a L/(2 N_a) to compute. A sheet gives output_input_ratio, premium_in and premium_out;
premium_in gives the attention FLOPs, the output prices give the decode cost of each band, the decode cost gives the
memory ratio, and two memory ratios give L_star and w.
"""

from typing import Any

from derive.catalogue.sources import ours
from derive.records import CONDITION, Equation, maximum, minimum


def _compute(context: Any, attention_flops_per_pair: Any, active_params: Any, flop_per_weight: Any) -> Any:
    return 1 + attention_flops_per_pair * context / (flop_per_weight * active_params)


def _decode(ratio: Any, compute: Any, memory: Any, overlap: Any) -> Any:
    return ratio * (maximum(compute, memory) + (1 - overlap) * minimum(compute, memory))


_BAND_MEANS = ("each band priced at its mean context", "one mark-up throughout")
_ONE_ATTENTION = "attention FLOPs of prefill and decode are the same (not so for latent attention)"

EQUATIONS = (
    Equation(
        id="bands.prefill_cost",
        title="Cost of a prompt token",
        kind=CONDITION,
        relation=lambda prefill_cost_ratio, prompt_position, context_length, attention_flops_per_pair,
            active_params, flop_per_weight: (
            prefill_cost_ratio,
            _compute(prompt_position * context_length, attention_flops_per_pair, active_params, flop_per_weight),
        ),
        statement="Prefill is compute-bound: weights, and attention over the part of the prompt before the token.",
        assumptions=("prefill in chunks of 2,000 tokens or more", _ONE_ATTENTION),
        sources=(ours("prompt_position is 1/2 when the whole prompt is new and near 1 for a short suffix after a cached prefix"),),
    ),
    Equation(
        id="bands.decode_cost",
        title="Cost of a decoded token",
        kind=CONDITION,
        relation=lambda decode_cost_ratio, prefill_decode_flops_ratio, context_length,
            attention_flops_per_pair, active_params, flop_per_weight, weight_compute_ratio, balance_context,
            overlap: (
            decode_cost_ratio,
            _decode(
                prefill_decode_flops_ratio,
                _compute(context_length, attention_flops_per_pair, active_params, flop_per_weight),
                weight_compute_ratio + context_length / balance_context,
                overlap,
            ),
        ),
        statement="Decode takes the larger of compute and memory time, plus what of the smaller is not hidden.",
        assumptions=("dense attention", _ONE_ATTENTION),
        sources=(ours("roofline.step_time at overlap 1, roofline.step_time_serial at overlap 0, attention FLOPs kept"),),
    ),
    Equation(
        id="bands.price",
        title="Price of a token from its cost",
        kind=CONDITION,
        relation=lambda band_price, input_price, cost_ratio, prefill_cost_ratio: (
            band_price,
            input_price * cost_ratio / prefill_cost_ratio,
        ),
        statement="Every price of a sheet is to the base input price as its cost is to that of a prompt token of the base band.",
        assumptions=_BAND_MEANS,
        sources=(ours("a common mark-up, eliminated between a price and the base input price"),),
    ),
    Equation(
        id="bands.premium_in",
        title="Input premium",
        kind=CONDITION,
        relation=lambda premium_in, prompt_position, long_context, short_context, attention_flops_per_pair,
            active_params, flop_per_weight: (
            premium_in,
            _compute(prompt_position * long_context, attention_flops_per_pair, active_params, flop_per_weight)
            / _compute(prompt_position * short_context, attention_flops_per_pair, active_params, flop_per_weight),
        ),
        requires=(
            lambda long_context, short_context: long_context > short_context,
            lambda premium_in, long_context, short_context: premium_in * short_context < long_context,
        ),
        statement="Prefill is compute-bound, so an input premium can only pay for attention FLOPs: it says nothing of KV.",
        assumptions=_BAND_MEANS,
        sources=(ours("bands.prefill_cost at the two band means"),),
    ),
    Equation(
        id="bands.output_input_ratio",
        title="Decode cost of the base band",
        kind=CONDITION,
        relation=lambda decode_cost_short, output_input_ratio, prompt_position, short_context,
            attention_flops_per_pair, active_params, flop_per_weight: (
            decode_cost_short,
            output_input_ratio * _compute(prompt_position * short_context, attention_flops_per_pair, active_params, flop_per_weight),
        ),
        statement="The output price of the base band is R times its input price.",
        assumptions=_BAND_MEANS,
        sources=(ours("the output/input ratio of the base band, with bands.prefill_cost at the short context"),),
    ),
    Equation(
        id="bands.premium_out",
        title="Decode cost of the long-context band",
        kind=CONDITION,
        relation=lambda decode_cost_long, premium_out, decode_cost_short: (decode_cost_long, premium_out * decode_cost_short),
        statement="The output price of the long-context band is premium_out times that of the base band.",
        assumptions=_BAND_MEANS,
        sources=(ours("the ratio of the two output prices is the ratio of the two decode costs"),),
    ),
    Equation(
        id="bands.decode_cost_short",
        title="Decode cost of the base band from its memory ratio",
        kind=CONDITION,
        relation=lambda decode_cost_short, prefill_decode_flops_ratio, short_context,
            attention_flops_per_pair, active_params, flop_per_weight, memory_ratio_short, overlap: (
            decode_cost_short,
            _decode(
                prefill_decode_flops_ratio,
                _compute(short_context, attention_flops_per_pair, active_params, flop_per_weight),
                memory_ratio_short,
                overlap,
            ),
        ),
        statement="Solved for memory_ratio_short it undoes the overlap; a compute-bound band gives only an upper end.",
        assumptions=_BAND_MEANS,
        sources=(ours("bands.decode_cost at the short context"),),
    ),
    Equation(
        id="bands.decode_cost_long",
        title="Decode cost of the long-context band from its memory ratio",
        kind=CONDITION,
        relation=lambda decode_cost_long, prefill_decode_flops_ratio, long_context, attention_flops_per_pair,
            active_params, flop_per_weight, memory_ratio_long, overlap: (
            decode_cost_long,
            _decode(
                prefill_decode_flops_ratio,
                _compute(long_context, attention_flops_per_pair, active_params, flop_per_weight),
                memory_ratio_long,
                overlap,
            ),
        ),
        statement="Solved for memory_ratio_long it undoes the overlap; a compute-bound band gives only an upper end.",
        assumptions=_BAND_MEANS,
        sources=(ours("bands.decode_cost at the long context"),),
    ),
    Equation(
        id="bands.memory_ratio_short",
        title="Memory ratio of the base band",
        kind=CONDITION,
        relation=lambda memory_ratio_short, weight_compute_ratio, short_context, balance_context: (
            memory_ratio_short,
            weight_compute_ratio + short_context / balance_context,
        ),
        requires=(lambda memory_ratio_short, short_context, balance_context: memory_ratio_short > short_context / balance_context,),
        statement="Weight read and KV read of the base band, in units of linear compute time.",
        assumptions=("dense attention",),
        sources=(ours("roofline.memory_time over roofline.compute_time at the short context"),),
    ),
    Equation(
        id="bands.balance_context",
        title="Balance context from two memory ratios",
        kind=CONDITION,
        relation=lambda balance_context, long_context, short_context, memory_ratio_long, memory_ratio_short: (
            balance_context,
            (long_context - short_context) / (memory_ratio_long - memory_ratio_short),
        ),
        requires=(
            lambda long_context, short_context: long_context > short_context,
            lambda memory_ratio_long, memory_ratio_short: memory_ratio_long > memory_ratio_short,
        ),
        statement="The memory line rises by one linear compute time over each balance context.",
        assumptions=("the weight read is the same in both bands", "dense attention"),
        sources=(ours("the memory ratio at the two band means, the weight read eliminated"),),
    ),
    Equation(
        id="bands.memory_time_share",
        title="Memory share of the work of decode in the base band",
        kind=CONDITION,
        relation=lambda memory_time_share, memory_ratio_short, short_context, attention_flops_per_pair,
            active_params, flop_per_weight: (
            memory_time_share,
            memory_ratio_short / (memory_ratio_short + _compute(short_context, attention_flops_per_pair, active_params, flop_per_weight)),
        ),
        statement="Memory time over memory plus compute time at the short context: 0.833 at R = 5 without attention, where 1 - 1/R is 0.8.",
        assumptions=_BAND_MEANS,
        sources=(ours("roofline.memory_time_share in units of linear compute time; R also holds margin, so it leans upward"),),
    ),
    Equation(
        id="bands.storage_price",
        title="Storage price from the balance context",
        kind=CONDITION,
        relation=lambda storage_price, input_price, one_token, prefill_decode_flops_ratio,
            holding_cost_ratio, balance_context, sweep_time, prefill_cost_ratio: (
            storage_price,
            input_price * one_token * prefill_decode_flops_ratio * holding_cost_ratio / (balance_context * sweep_time * prefill_cost_ratio),
        ),
        statement="Holding a token in HBM for one sweep time costs as much as reading it once.",
        assumptions=("storage priced as HBM times holding_cost_ratio", "the memory of the replica is full"),
        sources=(ours("no parameters, FLOPs or dollars of hardware enter: the storage price over the input price gives L_star"),),
    ),
    Equation(
        id="bands.cache_read_price",
        title="Least a cache read can cost",
        kind=CONDITION,
        relation=lambda cache_read_price, input_price, one_token, prefill_decode_flops_ratio,
            balance_context, prefill_cost_ratio: (
            cache_read_price,
            input_price * one_token * prefill_decode_flops_ratio / (balance_context * prefill_cost_ratio),
        ),
        sense=">=",
        statement="A cached token is at least read once from HBM; a dearer tier and attention over the suffix come on top.",
        assumptions=("one mark-up throughout",),
        sources=(ours("a published read price bounds the read cost from above and says no more"),),
    ),
    Equation(
        id="bands.kv_bytes_from_scale",
        title="KV bytes from the context scale of the cost",
        kind=CONDITION,
        relation=lambda kv_bytes_per_token, flop_per_weight, active_params, mbu, base_cost, ridge_point, mfu,
            cost_context_scale: (
            kv_bytes_per_token,
            flop_per_weight * active_params * mbu * base_cost / (ridge_point * mfu * cost_context_scale),
        ),
        statement="A cost that doubles over cost_context_scale from a base of base_cost compute times has this KV read in its slope.",
        assumptions=(
            "the band cost is affine in the context",
            "base_cost is 1 if the base band is compute-bound, R/prefill_decode_flops_ratio if memory-bound",
        ),
        sources=(ours("the slope of the band cost is the KV read; rules for cost_context_scale follow"),),
    ),
    Equation(
        id="bands.base_cost_memory_bound",
        title="Base cost of a memory-bound base band",
        kind=CONDITION,
        relation=lambda base_cost, output_input_ratio, prefill_decode_flops_ratio: (
            base_cost,
            output_input_ratio / prefill_decode_flops_ratio,
        ),
        statement="If the base band is memory-bound already, an output token costs R input tokens before any context is read.",
        assumptions=("attention FLOPs left out", "one mark-up throughout"),
        sources=(ours("bands.decode_cost at no context, memory-bound"),),
    ),
    Equation(
        id="bands.rule_knee",
        title="Pricing rule: the threshold is the knee",
        kind=CONDITION,
        relation=lambda cost_context_scale, long_context_threshold: (cost_context_scale, long_context_threshold),
        statement="Cost doubles at the threshold: the lecture's rule in this form. The premium is not used.",
        sources=(ours("readings.threshold_is_crossover in terms of a context scale"),),
    ),
    Equation(
        id="bands.rule_threshold",
        title="Pricing rule: the premium is the cost at the threshold",
        kind=CONDITION,
        relation=lambda cost_context_scale, long_context_threshold, premium_out: (
            cost_context_scale,
            long_context_threshold / (premium_out - 1),
        ),
        requires=(lambda premium_out: premium_out > 1,),
        statement="The cost at the threshold over the cost at no context is the premium.",
        sources=(ours("1 + L_thr/L_c = premium"),),
    ),
    Equation(
        id="bands.rule_upper_end",
        title="Pricing rule: each band covers its worst case",
        kind=CONDITION,
        relation=lambda cost_context_scale, max_context, premium_out, long_context_threshold: (
            cost_context_scale,
            (max_context - premium_out * long_context_threshold) / (premium_out - 1),
        ),
        requires=(
            lambda premium_out: premium_out > 1,
            lambda max_context, premium_out, long_context_threshold: max_context > premium_out * long_context_threshold,
        ),
        statement="The cost at the longest context over the cost at the threshold is the premium.",
        sources=(ours("(1 + L_max/L_c)/(1 + L_thr/L_c) = premium"),),
    ),
    Equation(
        id="bands.rule_band_means",
        title="Pricing rule: each band is priced at its mean",
        kind=CONDITION,
        relation=lambda cost_context_scale, long_context, premium_out, short_context: (
            cost_context_scale,
            (long_context - premium_out * short_context) / (premium_out - 1),
        ),
        requires=(
            lambda premium_out: premium_out > 1,
            lambda long_context, premium_out, short_context: long_context > premium_out * short_context,
        ),
        statement="The cost at the mean of the upper band over the cost at the mean of the lower is the premium.",
        sources=(ours("(1 + L_hi/L_c)/(1 + L_lo/L_c) = premium"),),
    ),
    Equation(
        id="bands.rule_lloyd_max",
        title="Pricing rule: band means with the best threshold",
        kind=CONDITION,
        relation=lambda cost_context_scale, long_context_threshold, premium_out, short_context: (
            cost_context_scale,
            (2 * long_context_threshold - (1 + premium_out) * short_context) / (premium_out - 1),
        ),
        requires=(
            lambda premium_out: premium_out > 1,
            lambda long_context_threshold, premium_out, short_context: 2 * long_context_threshold > (1 + premium_out) * short_context,
        ),
        statement="Band means, with the threshold halfway between them, as the least-squares split of the demand has it.",
        sources=(ours("bands.rule_band_means with L_thr = (L_lo + L_hi)/2: the two-level Lloyd-Max quantiser"),),
    ),
)
