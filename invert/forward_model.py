"""The forward model, which computes predicted prices from hidden quantities, and its inversion with SciPy.

Every formula is compiled from the catalogue. One price with one unknown uses `brentq`, several prices use `least_squares`. If no used price
changes along a direction, the direction is reported and no value is chosen.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp, inf, log, nextafter
from typing import TypedDict

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import brentq, least_squares

from derive.catalogue import equation
from derive.expressions.branches import branches
from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS
from derive.trees import Tree, evaluate
from invert.arrays import Array, Values


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
    """Return the context [token] at which the KV cache reads take as long as arithmetic, by default on chips at their peak rates.

    The lecture equates it with the threshold of long-context prices. It is infinite without a cache. Anchors: active_params [1] and
    ridge_point [FLOP/byte].

    >>> round(crossover_context(5000 / 3, {"active_params": 1e11, "ridge_point": 600.0}))
    200000
    """
    at = {**NEUTRAL_DEFAULTS, "mfu": 1.0, "mbu": 1.0, **anchors, "kv_bytes_per_token": kv_bytes_per_token}
    return float(equation("context.balance_context").right_side(at)) if kv_bytes_per_token else inf


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


_LEAST, _MOST = 1e-30, 1e30
"""Limits of all hidden quantities in SI units."""
_ROUNDING = 1e-15
"""Relative difference at which the solvers stop."""
_SMALL_STEP = 1e-6
"""Share of its scale by which a parameter is changed, to find which prices change."""
_SINGULAR = 1e-7
"""Singular value, relative to the largest, below which prices do not determine a direction."""
_SMALLEST_PART = 1e-3
"""A parameter with a smaller part in a direction of unit length is not named."""
_SOLVED = 1e-9
"""Largest residual of a price that the parameters reproduce."""


@immutable
class Inversion:
    """Hidden quantities, the residual of each used price (predicted over published, minus 1), and the quantities that the prices do not
    determine.

    `undetermined` has one tuple of names for each direction. They can change together without a change of a used price.
    """

    values: Mapping[str, float]
    residuals: Mapping[str, float]
    undetermined: tuple[tuple[str, ...], ...] = ()

    @property
    def solved(self) -> bool:
        """Whether every used price is reproduced."""
        return all(abs(one) <= _SOLVED for one in self.residuals.values())

    @property
    def meanings(self) -> tuple[str, ...]:
        """Return the meaning of each undetermined direction in words."""
        return tuple(
            f"{' and '.join(names)} can change without any used price" if names[1:] else f"no used price depends on {names[0]}"
            for names in self.undetermined
        )


def invert_price(predict: Callable[[float], float], published: float, low: float = _LEAST, high: float = _MOST) -> float | None:
    """Return the value between `low` and `high` (both above 0) at which the model predicts a published price, or None if no value does.

    >>> invert_price(lambda size: 3.0 / size, 6.0)
    0.5
    """

    def residual(logarithm: float) -> float:
        return log(predict(exp(logarithm)) / published)

    if published <= 0 or residual(log(low)) * residual(log(high)) >= 0:
        return None
    place = brentq(residual, log(low), log(high), xtol=_ROUNDING, rtol=4 * np.finfo(float).eps)
    value = exp(place)
    # The logarithm of a large value has lost the last digits of the value: one Newton step returns them.
    slope = (residual(place + _SMALL_STEP) - residual(place - _SMALL_STEP)) / (2 * _SMALL_STEP)
    value *= 1 - (predict(value) / published - 1) / slope
    neighbours = (nextafter(value, 0), value, nextafter(value, inf))
    return min(neighbours, key=lambda near: abs(predict(near) / published - 1))


def invert_prices(
    predict: Callable[[Mapping[str, float]], Mapping[str, float]], published: Mapping[str, float], start: Mapping[str, float]
) -> Inversion:
    """Return the parameters at which the model predicts the published prices, found from `start` (not 0, which sets their scale).

    >>> def predict(at):
    ...     return {"input": at["scale"], "output": at["scale"] * at["ratio"]}
    >>> found = invert_prices(predict, {"input": 2.0, "output": 12.0}, {"scale": 1.0, "ratio": 1.0})
    >>> {name: round(value, 12) for name, value in found.values.items()}, found.undetermined
    ({'scale': 2.0, 'ratio': 6.0}, ())
    """
    names, scales = tuple(start), np.array([*start.values()])

    def residuals(scaled: Array) -> Array:
        predicted = predict(dict(zip(names, (scaled * scales).tolist(), strict=True)))
        return np.array([predicted[name] / price - 1 for name, price in published.items()])

    # Levenberg-Marquardt needs a residual for each parameter: with fewer prices the others are 0.
    lacking = np.zeros(max(len(names) - len(published), 0))
    found = least_squares(
        lambda scaled: np.concatenate([residuals(scaled), lacking]), np.ones(len(names)), method="lm", xtol=_ROUNDING, ftol=_ROUNDING,
        gtol=_ROUNDING,
    )  # fmt: skip
    steps = _SMALL_STEP * np.eye(len(names))
    jacobian = np.column_stack([(residuals(found.x + step) - residuals(found.x - step)) / (2 * _SMALL_STEP) for step in steps])
    # The solver stops where a step of finite differences no longer helps: one Newton step returns the last digits.
    polished = found.x - np.linalg.lstsq(jacobian, residuals(found.x), rcond=_SINGULAR)[0]
    at = min((polished, found.x), key=lambda place: float(np.abs(residuals(place)).max()))
    # Along each of these directions the names change together without a change of prices.
    free = (zip(names, direction, strict=True) for direction in null_space(jacobian, rcond=_SINGULAR).T)
    return Inversion(
        values=dict(zip(names, (at * scales).tolist(), strict=True)),
        residuals=dict(zip(published, residuals(at).tolist(), strict=True)),
        undetermined=tuple(tuple(name for name, part in direction if abs(part) > _SMALLEST_PART) for direction in free),
    )
