"""The prices of a sheet in twenty hidden primitives, differentiated: exact gradients, by the chain rule over catalogue equations.

FLOP/s and byte/s are sustained: utilisations are 1, and a step yields one token.
"""

from collections.abc import Collection, Mapping
from functools import cache
from math import inf
from re import findall
from types import MappingProxyType

import numpy as np

from derive.catalogue import equation
from derive.errors import UnknownName, WrongValue
from derive.expressions.branches import branches, regimes_of
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.trees import Tree, difference, names, slopes
from invert.arrays import Array

_DECODE = "bands.decode_cost"
SPAN = "(long_context - short_context)"
TYPICAL = {
    **{"active_params": 1e11, "weight_bytes": 1e12, "kv_bytes_per_token": 7e3, "attention_flops_per_pair": 2e6, "batch": 256.0},
    **{"peak_flops": 1e15, "prefill_decode_flops_ratio": 1.0, "hbm_bandwidth": 3e12, "chip_price": 5e-4, "hbm_capacity": 8e10},
    **{"input_price_cost_ratio": 1.0, "output_price_cost_ratio": 1.0, "storage_price_cost_ratio": 1.0},
    **{"cache_read_price_cost_ratio": 1.0, "holding_cost_ratio": 1.0},
    **{"short_context": 2e4, "long_context": 3e5, "prompt_position": 0.5, "suffix_tokens": 1e3, "tier_read_cost_ratio": 1.0},
}
PRIMITIVES = tuple(TYPICAL)
"""Registry names, except `output_price_cost_ratio` and `storage_price_cost_ratio`, which are like `input_price_cost_ratio`.

`holding_cost_ratio` is here without price/cost, which is separate. `cache_read_price_cost_ratio` is relative to the price/cost of input.
"""

_CANCELS = {"bytes_per_weight": 1.0}
"""Factors that cancel in formulas: weights are counted in bytes, for any width of one weight."""

_PLACE = {name: place for place, name in enumerate(PRIMITIVES)}
_HAIR = 1e-12
"""Attention FLOPs of 0 have no logarithm, so they are counted in units of this share of compute."""


_DEFINED_BY = {
    **{"prefill_cost_ratio": "bands.prefill_cost", "band_price": "bands.price"},
    "input_price": "bands.active_params_times_price_cost_ratio",
    **{"storage_price": "bands.storage_price", "cache_read_ratio": "bands.cache_read_ratio", "sweep_time": "scheduling.sweep_time"},
    **{"balance_context": "context.balance_context", "attention_context": "context.attention_context"},
    **{"attention_intensity": "architecture.attention_intensity", "ridge_point": "batching.ridge_point"},
    **{"machine_balance_ratio": "batching.machine_balance_ratio", "sparsity": "batching.sparsity"},
    **{"balance_batch": "batching.balance_batch", "weight_compute_ratio": "batching.weight_compute_ratio"},
    **{"total_params": "memory.weight_bytes", "price_per_flop": "serving.price_per_flop", "decode_cost_ratio": _DECODE},
    "price_per_hbm_byte": "serving.price_per_hbm_byte",
}
GIVEN_AS = {
    "ridge_point": "hbm_bandwidth", "sweep_time": "hbm_capacity", "balance_context": "kv_bytes_per_token",
    "attention_context": "attention_flops_per_pair", "weight_compute_ratio": "weight_bytes",
}  # fmt: skip
"""Quantities that may replace a primitive at a point, and the primitive that follows from each."""
_SHORT, _LONG = {"context_length": "short_context"}, {"context_length": "long_context"}
_OUTPUT = {"input_price_cost_ratio": "output_price_cost_ratio"}
_PRICES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "input": ("input_price", _SHORT),
    "output": ("band_price", _SHORT | _OUTPUT),
    "long_input": ("input_price", _LONG),
    "long_output": ("band_price", _LONG | _OUTPUT),
    "cache_read": ("input_price*cache_read_ratio", _SHORT),
    "storage": ("storage_price", _SHORT | {"input_price_cost_ratio": "storage_price_cost_ratio"}),
}
"""For each component: its price, its context and its price/cost in the equations."""
_COMPONENTS = tuple(_PRICES)
# The price/cost of more context is that of output, whatever is read or multiplied for it.
_ALSO = {
    **{"kv_bytes_per_token_in_dollars": "kv_bytes_per_token", "cost_ratio": "decode_cost_ratio"},
    "increment_price_cost_ratio": "output_price_cost_ratio",
    "active_params_times_price_cost_ratio": "active_params*input_price_cost_ratio",
}
_Known = tuple[float, Array]
"""The value of a quantity, and its d ln(quantity)/d ln(primitive)."""


def ordered(components: Collection[str]) -> tuple[str, ...]:
    for name in components:
        if name not in _COMPONENTS:
            raise UnknownName("component", name, _COMPONENTS)
    if not components:
        raise UnknownName("component", "", _COMPONENTS, "a sheet has at least one price")
    return tuple(name for name in _COMPONENTS if name in components)


def primitives_at(values: Mapping[str, float], overlap: float) -> dict[str, float]:
    """Return all primitives [SI] and the overlap. Each is given, derived from given values, or typical."""
    for name in {*TYPICAL, *GIVEN_AS} & {*values}:
        if not (0 < values[name] < inf or (values[name] == 0 and name == "attention_flops_per_pair")):
            raise WrongValue(f"{name} = {values[name]:g}: must be a finite number > 0")
    at = (
        {name: float(values.get(name, usual)) for name, usual in TYPICAL.items()}
        | _CANCELS
        | {"overlap": quantity("overlap").check(float(overlap))}
    )
    if "long_context" not in values:
        at["long_context"] *= at["short_context"] / TYPICAL["short_context"]
    if at["long_context"] <= at["short_context"]:
        raise WrongValue(f"long_context = {at['long_context']:g}: must be above short_context = {at['short_context']:g}")
    no_attention = at["attention_flops_per_pair"] == 0
    at["attention_flops_per_pair"] = at["attention_flops_per_pair"] or 1.0
    given = {name: values[name] for name in GIVEN_AS if name in values}
    if no_attention:
        given["attention_context"] = at["long_context"] / _HAIR
    for name, value in given.items():
        # Each is a product of powers of primitives.
        usual, powers = gradient(name, {**at, "no_attention": False})
        at[GIVEN_AS[name]] *= (value / usual) ** (1 / powers[_PLACE[GIVEN_AS[name]]])
    return {**at, "no_attention": no_attention}


def gradient(name: str, at: Mapping[str, float], own: Mapping[str, str] = MappingProxyType({})) -> _Known:
    """Return a quantity, or a product of names, with its gradient. Names in `own` count for the primitive that they replace.

    If attention_flops_per_pair is 0, its column is not logarithmic but in units of _HAIR of compute at the long context.
    """
    name = _ALSO.get(name, name)
    name = own.get(name, name)
    if name in _PLACE:
        unit = np.zeros(len(PRIMITIVES))
        unit[_PLACE[name]] = 1 / _HAIR if at["no_attention"] and name == "attention_flops_per_pair" else 1.0
        return at[name], unit
    if name in at or (name in NEUTRAL_DEFAULTS and name not in _DEFINED_BY):
        return at.get(name, NEUTRAL_DEFAULTS.get(name, 0)), np.zeros(len(PRIMITIVES))
    return _chain(_tree(name), {one: gradient(one, at, own) for one in names(_tree(name))})


def _chain(tree: Tree, inside: Mapping[str, _Known]) -> _Known:
    """Return the value of a formula with its gradient, from those of the quantities in it."""
    value, found = slopes(tree, {name: one for name, (one, _) in inside.items()})
    return value, sum((slope * inside[name][0] / value * inside[name][1] for name, slope in found.items()), np.zeros(len(PRIMITIVES)))


@cache
def _tree(name: str) -> Tree:
    """Return the formula of a quantity in the catalogue, or of a product of names."""
    if name == SPAN:
        return difference("long_context", "short_context")
    if name in _DEFINED_BY:
        left, right = equation(_DEFINED_BY[name]).trees
        return right if left == name else (branches(equation(_DEFINED_BY[name]), name)[0].roots or ())[0]
    product: Tree
    (_, product), *others = findall(r"([*/]?)([^*/]+)", name)
    for operation, factor in others:
        product = (operation, product, factor)
    return product


def gradients(prices: tuple[str, ...], at: Mapping[str, float]) -> Array:
    """Return the exact d ln(price)/d ln(primitive), with shape (prices, primitives)."""
    return np.array([price(name, at)[1] for name in prices])


def price(component: str, at: Mapping[str, float]) -> _Known:
    """Return the price of a component, at its own context and price/cost, with its gradient."""
    name, own = _PRICES[component]
    return gradient(name, at, own)


def regime_in_words(prices: tuple[str, ...], at: Mapping[str, float]) -> str:
    # Of the two times of decode, the weight read is part of that of memory.
    times = regimes_of(equation(_DECODE))[0].wins[0]
    own = (_PRICES[component][1] for component in ("output", "long_output"))
    longer = (max(times, key=lambda time: _chain(time, {one: gradient(one, at, by) for one in names(time)})[0]) for by in own)
    base, long = ("memory-bound" if "weight_compute_ratio" in names(time) else "compute-bound" for time in longer)
    if not {"long_input", "long_output"} & set(prices):
        return base
    return f"{base} in both bands" if base == long else f"{base} in the base band, {long} in the long one"


def drain_time_gradient(at: Mapping[str, float]) -> Array:
    """Return the gradient of the implied drain time, by the chain rule through its prices."""
    output, long_output, storage = (price(name, at) for name in ("output", "long_output", "storage"))
    inside = {name: gradient(name, at) for name in ("short_context", "long_context", "tokens_per_step")}
    inside |= {"output_price": output, "premium_out": (long_output[0] / output[0], long_output[1] - output[1]), "storage_price": storage}
    return _chain(equation("cache.implied_drain_time").trees[1], inside)[1]
