"""Invert prices to hidden quantities with SciPy, and check the forward model on the prices that were not used.

One price with one unknown uses `brentq`, several prices use `least_squares`. If no used price changes along a direction, the direction is
reported and no value is chosen.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, inf, log, nextafter

import numpy as np
from scipy.optimize import brentq, least_squares

from derive.immutable import immutable
from invert.arrays import Array

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
    return Inversion(
        values=dict(zip(names, (at * scales).tolist(), strict=True)),
        residuals=dict(zip(published, residuals(at).tolist(), strict=True)),
        undetermined=find_undetermined(jacobian, names),
    )


def find_undetermined(jacobian: Array, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the names that change together in each direction without a change of prices. A column of the Jacobian is a name."""
    _, singular, directions = np.linalg.svd(jacobian)
    rank = int((singular > _SINGULAR * max(singular.max(initial=0.0), _LEAST)).sum())
    return tuple(tuple(name for name, part in zip(names, row, strict=True) if abs(part) > _SMALLEST_PART) for row in directions[rank:])
