"""Serving: what a token costs (lecture, 0:12:40 to 0:15:49 and 1:34:03 to 1:47:33)."""

from derive.arithmetic import maximum
from derive.catalogue.serving_costs import COSTS
from derive.catalogue.serving_methods import METHODS
from derive.catalogue.sources import ours, scaling_book, talk
from derive.records import Equation, Step, at

EQUATIONS = (
    Equation(
        id="serving.cost_per_token",
        title="Cost of a decoded token",
        defines="cost_per_token",
        relation=lambda cost_per_token, chips, chip_price, step_time, batch, tokens_per_step: (
            cost_per_token,
            chips * chip_price * step_time / (batch * tokens_per_step),
        ),
        statement="The chips of the step are paid for its time; the batch shares the bill.",
        assumptions=("every step is full: no idle time is charged",),
        sources=(talk("0:12:40", "0:15:29", "cost per token is time over batch, at about two dollars an hour a GPU"),),
    ),
    Equation(
        id="serving.cost_from_throughput",
        title="Cost of a token from a measured throughput",
        relation=lambda cost_per_token, chips, chip_price, throughput: (cost_per_token, chips * chip_price / throughput),
        statement="What the chips cost in a second over the tokens they make in a second.",
        assumptions=("every token is charged alike",),
        steps=(
            Step(
                operation="step time and batch enter both only as the throughput",
                premises=(at("serving.cost_per_token"), at("scheduling.throughput")),
                eliminated=("step_time",),
            ),
        ),
        sources=(scaling_book("14,800 tokens a second on 16 dollars an hour of hardware is 0.30 dollars a million"),),
    ),
    Equation(
        id="serving.price_per_flop",
        title="Price of a FLOP",
        defines="price_per_flop",
        relation=lambda price_per_flop, chip_price, peak_flops, mfu: (price_per_flop, chip_price / (peak_flops * mfu)),
        statement="What a chip costs in a second over the FLOPs it sustains in it.",
        assumptions=("the chip is busy with arithmetic alone",),
        sources=(ours("rent over sustained arithmetic"),),
    ),
    Equation(
        id="serving.price_per_hbm_byte",
        title="Price of a byte read from HBM",
        defines="price_per_hbm_byte",
        relation=lambda price_per_hbm_byte, chip_price, hbm_bandwidth, mbu: (price_per_hbm_byte, chip_price / (hbm_bandwidth * mbu)),
        statement="What a chip costs in a second over the bytes it reads in it.",
        assumptions=("the chip is busy with reading alone",),
        sources=(ours("rent over sustained bandwidth: it differs less between accelerators than either does"),),
    ),
    Equation(
        id="serving.normalised_cost",
        title="Cost of a decoded token over its compute floor",
        defines="normalised_cost",
        relation=lambda normalised_cost, balance_batch, batch, context_length, balance_context: (
            normalised_cost,
            maximum(1, balance_batch / batch + context_length / balance_context),
        ),
        statement="Flat at 1 while compute binds, then the weight hyperbola plus a line in the context.",
        assumptions=("perfect overlap", "dense attention", "attention FLOPs left out"),
        steps=(
            Step(
                operation="what it means: the cost of a token over that of its arithmetic alone",
                relation=lambda normalised_cost, cost_per_token, batch, tokens_per_step, chips, chip_price, compute_time: (
                    normalised_cost,
                    cost_per_token * batch * tokens_per_step / (chips * chip_price * compute_time),
                ),
            ),
            Step(
                operation="the price of the chips cancels",
                premises=(at("#1"), at("serving.cost_per_token")),
                eliminated=("cost_per_token",),
                relation=lambda normalised_cost, step_time, compute_time: (normalised_cost, step_time / compute_time),
            ),
            Step(
                operation="the step takes the longer of its arithmetic and its reads",
                premises=(at("#2"), at("roofline.step_time"), at("roofline.memory_time")),
                eliminated=("step_time", "memory_time"),
                relation=lambda normalised_cost, weight_time, kv_time, compute_time: (
                    normalised_cost,
                    maximum(1, (weight_time + kv_time) / compute_time),
                ),
            ),
            Step(
                operation="each read over the arithmetic, in terms of its balance point",
                premises=(
                    at("#3"),
                    at("batching.weight_compute_ratio#1"),
                    at("batching.weight_compute_ratio"),
                    at("context.kv_compute_ratio#1"),
                    at("context.kv_compute_ratio"),
                ),
                eliminated=("weight_time", "kv_time", "weight_compute_ratio", "kv_compute_ratio"),
            ),
        ),
        sources=(
            talk(
                "1:34:03",
                "1:35:09",
                "cost is flat in the context, then rises linearly",
                "in the two balance points only: no price, FLOP/s or byte is needed",
            ),
        ),
    ),
    Equation(
        id="serving.prefill_normalised_cost",
        title="Cost of a token of a pass with many new tokens, over its compute floor",
        defines="prefill_normalised_cost",
        relation=lambda prefill_normalised_cost, balance_batch, batch, context_length, balance_context,
            new_tokens_per_pass, one_token: (
            prefill_normalised_cost,
            maximum(1, (balance_batch / batch + context_length / balance_context) * one_token / new_tokens_per_pass),
        ),
        statement="New tokens share one read of weights and cache, so a pass of a few tokens is already compute-bound.",
        assumptions=("perfect overlap", "KV of the new tokens stays on chip", "attention FLOPs left out"),
        steps=(
            Step(
                operation="what it means: arithmetic grows with the new tokens, the reads do not, and both are shared by the new tokens",
                relation=lambda prefill_normalised_cost, new_tokens_per_pass, one_token, compute_time, memory_time: (
                    prefill_normalised_cost,
                    maximum(compute_time * new_tokens_per_pass / one_token, memory_time) * one_token / (compute_time * new_tokens_per_pass),
                ),
            ),
            Step(
                operation="the reads over the arithmetic, in terms of the two balance points",
                premises=(
                    at("#1"),
                    at("roofline.memory_time"),
                    at("batching.weight_compute_ratio#1"),
                    at("batching.weight_compute_ratio"),
                    at("context.kv_compute_ratio#1"),
                    at("context.kv_compute_ratio"),
                ),
                eliminated=("memory_time", "weight_time", "kv_time", "weight_compute_ratio", "kv_compute_ratio"),
            ),
        ),
        sources=(talk("1:41:45", "1:47:33", "prefill is many tokens in one pass: memory unchanged, compute times the new tokens"),),
    ),
    *METHODS,
    *COSTS,
)
