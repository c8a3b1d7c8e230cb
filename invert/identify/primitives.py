"""The prices of a sheet in twenty hidden primitives, differentiated: catalogue equations put into one another, exact gradients.

FLOP/s and byte/s are sustained: utilisations are 1, and a step yields one token.
"""

from collections.abc import Collection, Mapping
from functools import cache, reduce
from math import inf
from re import findall

import numpy as np

from derive.catalogue import equation
from derive.errors import UnknownName, WrongValue
from derive.evaluate import evaluate
from derive.expressions.branches import branches, regimes_of
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.trees import PRODUCT, Tree, TreePair, difference, names, put_into, slopes
from invert.arrays import Array

_COMPONENTS = ("input", "output", "long_input", "long_output", "cache_read", "storage")
SPAN = "(long_context - short_context)"
TYPICAL = {
    **{"active_params": 1e11, "weight_bytes": 1e12, "kv_bytes_per_token": 7e3, "attention_flops_per_pair": 2e6, "batch": 256.0},
    **{"peak_flops": 1e15, "prefill_decode_flops_ratio": 1.0, "hbm_bandwidth": 3e12, "chip_price": 5e-4, "hbm_capacity": 8e10},
    **{"input_markup": 1.0, "output_markup": 1.0, "storage_markup": 1.0, "cache_read_markup": 1.0, "holding_cost_ratio": 1.0},
    **{"short_context": 2e4, "long_context": 3e5, "prompt_position": 0.5, "suffix_tokens": 1e3, "tier_read_cost_ratio": 1.0},
}
PRIMITIVES = tuple(TYPICAL)
"""Registry names but for `output_markup` and `storage_markup`, each over the cost of its own component as `input_markup` is.

`holding_cost_ratio` is here without price/cost, which is separate. `cache_read_markup` is relative to the price/cost of input.
"""

_CANCELS = {"bytes_per_weight": 1.0}
"""Factors that cancel in formulas: weights are counted in bytes, for any width of one weight."""

_PLACE = {name: place for place, name in enumerate(PRIMITIVES)}
_HAIR = 1e-12
"""Attention FLOPs of 0 have no logarithm: they are taken at this share of compute, in units of it."""


_DEFINED_BY = {
    **{"input_price": "bands.active_params_times_markup", "prefill_cost_ratio": "bands.prefill_cost", "band_price": "bands.price"},
    **{"storage_price": "bands.storage_price", "cache_read_ratio": "bands.cache_read_ratio", "sweep_time": "scheduling.sweep_time"},
    **{"balance_context": "context.balance_context", "attention_context": "context.attention_context"},
    **{"attention_intensity": "architecture.attention_intensity", "ridge_point": "batching.ridge_point"},
    **{"machine_balance_ratio": "batching.machine_balance_ratio", "sparsity": "batching.sparsity"},
    **{"balance_batch": "batching.balance_batch", "weight_compute_ratio": "batching.weight_compute_ratio"},
    **{"total_params": "memory.weight_bytes", "price_per_flop": "serving.price_per_flop"},
    "price_per_hbm_byte": "serving.price_per_hbm_byte",
}
GIVEN_AS = {
    "ridge_point": "hbm_bandwidth", "sweep_time": "hbm_capacity", "balance_context": "kv_bytes_per_token",
    "attention_context": "attention_flops_per_pair", "weight_compute_ratio": "weight_bytes",
}  # fmt: skip
"""What a point may be given by, and the primitive that then follows."""

_OWN = {
    "input": {"context_length": "short_context"},
    "output": {"context_length": "short_context", "input_markup": "output_markup"},
    "long_input": {"context_length": "long_context"},
    "long_output": {"context_length": "long_context", "input_markup": "output_markup"},
    "cache_read": {"context_length": "short_context"},
    "storage": {"context_length": "short_context", "input_markup": "storage_markup"},
}
"""The context and the price/cost with which a component uses the equations."""

# The price/cost of more context is that of output, whatever is read or multiplied for it.
_ALSO = {
    **{"increment_markup": "output_markup", "kv_bytes_per_token_in_dollars": "kv_bytes_per_token"},
    "active_params_times_markup": "active_params*input_markup",
}


def ordered(components: Collection[str]) -> tuple[str, ...]:
    for name in components:
        if name not in _COMPONENTS:
            raise UnknownName("component", name, _COMPONENTS)
    if not components:
        raise UnknownName("component", "", _COMPONENTS, "a sheet has at least one price")
    return tuple(name for name in _COMPONENTS if name in components)


def primitives_at(values: Mapping[str, float], overlap: float) -> dict[str, float]:
    """Return all primitives [SI] and the overlap: given, derived from given values, or typical."""
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
        usual, found = slopes(build_tree(name), at)
        power = found[GIVEN_AS[name]] * at[GIVEN_AS[name]] / usual
        at[GIVEN_AS[name]] *= (value / usual) ** (1 / power)
    return {**at, "no_attention": no_attention}


@cache
def build_tree(name: str) -> Tree:
    """Return the expression tree of a quantity, or of a product of names, in primitives, the overlap, and its context and price/cost."""
    name = _ALSO.get(name, name)
    if name in QUANTITIES and name not in _DEFINED_BY:
        return int(NEUTRAL_DEFAULTS[name]) if name in NEUTRAL_DEFAULTS and name not in TYPICAL else name
    if name in _DEFINED_BY:
        (branch,) = branches(equation(_DEFINED_BY[name]), name)
        return _primitive_tree((branch.roots or ())[0])
    if name == SPAN:
        return difference("long_context", "short_context")
    parts = findall(r"([*/]?)([^*/]+)", name)
    return (
        reduce(lambda product, part: (part[0], product, build_tree(part[1])), parts[1:], build_tree(parts[0][1]))
        if len(parts) > 1
        else name
    )


def _primitive_tree(tree: Tree) -> Tree:
    return put_into(tree, {name: build_tree(name) for name in names(tree)})


@cache
def _regimes() -> tuple[tuple[Tree, TreePair], ...]:
    """Decode cost by regime in primitives, with the longer and the shorter time of each."""
    pairs = ((one.expression, one.wins[0]) for one in regimes_of(equation("bands.decode_cost")))
    return tuple((_primitive_tree(cost), (_primitive_tree(longer), _primitive_tree(shorter))) for cost, (longer, shorter) in pairs)


def _regime(component: str, at: Mapping[str, float]) -> int:
    here = _own(component, at)
    return next(n for n, (_, (longer, shorter)) in enumerate(_regimes()) if evaluate(longer, here) >= evaluate(shorter, here))


def regime_in_words(prices: tuple[str, ...], at: Mapping[str, float]) -> str:
    # Of the two times of decode, the weight read is part of that of memory.
    longer = [_regimes()[_regime(component, at)][1][0] for component in ("output", "long_output")]
    base, long = ("memory-bound" if "weight_bytes" in names(time) else "compute-bound" for time in longer)
    if not {"long_input", "long_output"} & set(prices):
        return base
    return f"{base} in both bands" if base == long else f"{base} in the base band, {long} in the long one"


@cache
def _price(component: str, regime: int) -> Tree:
    """Return the price of a component in primitives, at its own context and price/cost. `regime` is the regime of decode."""
    if component in ("input", "long_input"):
        return build_tree("input_price")
    if component in ("output", "long_output"):
        return put_into(build_tree("band_price"), {"cost_ratio": _regimes()[regime][0]})
    return build_tree("storage_price") if component == "storage" else (PRODUCT, build_tree("input_price"), build_tree("cache_read_ratio"))


def _own(component: str, at: Mapping[str, float]) -> dict[str, float]:
    return {**at, **{name: at[primitive] for name, primitive in _OWN[component].items()}}


def gradients(prices: tuple[str, ...], at: Mapping[str, float]) -> Array:
    """Return the exact d ln(price)/d ln(primitive), with shape (prices, primitives).

    If attention_flops_per_pair is 0, its column is not logarithmic but in units of _HAIR of compute at the long context.
    """
    return np.array([gradient(_price(name, _regime(name, at)), _own(name, at), _OWN[name]) for name in prices])


def gradient(tree: Tree, at: Mapping[str, float], own: Mapping[str, str]) -> Array:
    """Return d ln(formula)/d ln(primitive). Names in `own` count for the primitive that they replace."""
    value, found = slopes(tree, at)
    row = np.zeros(len(PRIMITIVES))
    for name, slope in found.items():
        if name != "overlap" and name not in _CANCELS:
            row[_PLACE[own.get(name, name)]] += slope * at[name] / value
    if at["no_attention"]:
        row[_PLACE["attention_flops_per_pair"]] /= _HAIR
    return row


def drain_time_row(at: Mapping[str, float]) -> Array:
    """Return the gradient of the implied drain time, by the chain rule through its prices."""
    names = ("output", "long_output", "storage")
    output, long_output, storage = (evaluate(_price(name, _regime(name, at)), _own(name, at)) for name in names)
    base, long, hold = gradients(names, at)
    made_of = {"output_price": (output, base), "premium_out": (long_output / output, long - base), "storage_price": (storage, hold)}
    made_of |= {name: (at[name], gradient(name, at, {})) for name in ("short_context", "long_context")}
    right = put_into(equation("cache.implied_drain_time").trees[1], {"tokens_per_step": build_tree("tokens_per_step")})
    seen = {name: value for name, (value, _) in made_of.items()}
    drain_time, found = slopes(right, seen)
    row: Array = sum(slope * seen[name] / drain_time * made_of[name][1] for name, slope in found.items())
    return row
