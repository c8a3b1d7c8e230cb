"""The forward model computes predicted prices from hidden quantities. Every formula is compiled from the catalogue."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypedDict

from derive.catalogue import equation
from derive.evaluate import evaluate
from derive.expressions.branches import branches
from derive.quantities import NEUTRAL_DEFAULTS
from derive.trees import Tree
from invert.arrays import Values


class Forward(TypedDict):
    """Predictions of `forward`. Prices and premiums have one value per band."""

    input: list[Values]
    output: list[Values]
    premium_in: list[Values]
    premium_out: list[Values]
    output_input_ratio: Values
    storage_price: Values
    cache_read_price: Values


def forward(hidden: Mapping[str, Values], contexts: Sequence[Values], input_price: Values = 1.0) -> Forward:
    """Predict the prices of every band, the storage price and the least cost of a cache read from hidden quantities.

    hidden: active_params [1], attention_flops_per_pair [FLOP/token], balance_context [token], weight_compute_ratio [1], prompt_position
    [1], prefill_decode_flops_ratio [1], overlap [1], sweep_time [s], holding_cost_ratio [1], as numbers or arrays that broadcast.
    tokens_per_step [token] and mbu [1] (if sweep_time is for the full bandwidth) are 1 unless given. `contexts` are the band means [token],
    `input_price` is the price of the base band [USD/token]. Returns input and output prices by band, premiums over the base band,
    storage_price [USD/token/s] and cache_read_price [USD/token].

    >>> hidden = {"active_params": 1e11, "attention_flops_per_pair": 0.0, "balance_context": 1e5, "weight_compute_ratio": 5.0,
    ...           "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.0, "overlap": 1.0, "sweep_time": 0.024,
    ...           "holding_cost_ratio": 1.0}
    >>> prices = forward(hidden, (1e5, 4e5))
    >>> [float(price) for price in prices["output"]], float(prices["premium_out"][1])
    ([6.0, 9.0], 1.5)
    """
    hidden = {**NEUTRAL_DEFAULTS, **hidden}
    prefill = [equation("bands.prefill_cost").right_side({**hidden, "context_length": context}) for context in contexts]
    decode = [equation("bands.decode_cost").right_side({**hidden, "context_length": context}) for context in contexts]
    base = {**hidden, "input_price": input_price, "prefill_cost_ratio": prefill[0]}
    inputs, outputs = ([equation("bands.price").right_side({**base, "cost_ratio": cost}) for cost in costs] for costs in (prefill, decode))
    return {
        "input": inputs,
        "output": outputs,
        "premium_in": [price / inputs[0] for price in inputs],
        "premium_out": [price / outputs[0] for price in outputs],
        "output_input_ratio": outputs[0] / inputs[0],
        "storage_price": equation("bands.storage_price").right_side(base),
        "cache_read_price": equation("bands.cache_read_price").right_side(base),
    }


def crossover_context(kv_bytes_per_token: float, anchors: Mapping[str, float]) -> float:
    """Return the context [token] at which the KV cache reads take as long as arithmetic, on chips at their peak rates.

    The lecture equates it with the threshold of long-context prices. Anchors: active_params [1] and ridge_point [FLOP/byte].

    >>> round(crossover_context(5000 / 3, {"active_params": 1e11, "ridge_point": 600.0}))
    200000
    """
    at = {**NEUTRAL_DEFAULTS, **anchors, "kv_bytes_per_token": kv_bytes_per_token}
    context: float = equation("context.balance_context").right_side({**at, "mfu": 1.0, "mbu": 1.0})
    return context


def kv_bytes_from_crossover(balance_context: float, anchors: Mapping[str, float]) -> float:
    """Return the KV bytes per token [byte/token] of a balance context [token]: the two are inversely proportional."""
    at = {**NEUTRAL_DEFAULTS, **anchors}
    context: float = equation("context.balance_context").right_side({**at, "kv_bytes_per_token": 1.0})
    return context / balance_context


def predict_output_input_ratio(bandwidth_bound_fraction: float) -> float:
    """Return the output over the input price if decode leaves this share of the compute idle and prefill none: 1/(1 - fraction).

    >>> predict_output_input_ratio(0.8)
    5.000000000000001
    """
    form = closed_form("readings.bandwidth_bound_fraction", "output_input_ratio")
    return evaluate(form, {"bandwidth_bound_fraction": bandwidth_bound_fraction})


@cache
def closed_form(id: str, unknown: str) -> Tree:
    """Return the one closed form of an unknown of an equation."""
    (branch,) = branches(equation(id), unknown)
    (root,) = branch.roots or ()
    return root
