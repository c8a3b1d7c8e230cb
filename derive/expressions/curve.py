"""The zeros of a curve over the domain of a quantity: points and stretches. SciPy finds them between the points of a grid.

The roots of a smooth formula without a closed form are the zeros of its curve, each confirmed in 50 digits.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from derive.expressions.digits import LAST_DIGITS, clamp, loses_digits, root_in_50_digits
from derive.quantities import quantity
from derive.records import HOLDS
from derive.trees import Tree, evaluate_arrays, precise, terms

_PLACES, _NEAR_ONE = 600, 40
"""Number of points of the grid, and of points close to 1 for a quantity with a maximum of 1."""
_BEYOND, _LEAST_SHARE = 1e6, 1e-15
"""Factor by which the grid extends beyond the usual values, and its least share."""
_BETWEEN, _ROUNDS = 32, 11
"""Number of parts into which the way to an edge is cut, and number of repetitions: enough for the last digit."""
_WIDE = 1e-3
"""Relative width above which adjacent zeros are a stretch and not a point."""

Floats = NDArray[np.float64]
Height = Callable[[Floats], Floats]
"""The relative distance of two sides at values of a quantity, NaN where an equation does not apply."""

_Stretch = tuple[float | None, float | None]
"""The ends of a stretch at which a curve is zero. Equal ends are a point, and None is the end of the grid."""


def search_interval(name: str) -> tuple[float, float]:
    """Return the interval of a quantity in which zeros are searched [in its unit]."""
    row = quantity(name)
    low = _LEAST_SHARE if isfinite(row.ceiling) else (row.low or row.high / _BEYOND) / _BEYOND
    return max(low, row.floor), min(row.high * _BEYOND, row.ceiling)


def grid_of(name: str, places: int = _PLACES) -> Floats:
    """Return values of a quantity over its whole domain, by ratios."""
    row = quantity(name)
    if row.floor < 0:
        return np.linspace(*row.limits(), places)
    grid = np.geomspace(*search_interval(name), places)
    close = 1 - np.geomspace(1e-12, 0.1, _NEAR_ONE) if row.ceiling == 1 else np.empty(0)
    return np.unique(np.concatenate([[0.0] if row.may_be_zero else [], grid, close]))


@np.errstate(invalid="ignore", over="ignore")
def find_zeros(name: str, height: Height, places: int = _PLACES, tolerance: float = HOLDS) -> tuple[list[_Stretch], Floats]:
    """Return the zeros of a curve of a quantity, and the computed heights. If it is above `tolerance` at a crossing, it jumps over zero."""
    x = grid_of(name, places)
    y = height(x)
    if not (np.abs(y) > HOLDS).any():
        return [(None, None)] if np.isfinite(y).any() else [], y[np.isfinite(y)]
    for more in (_edges(x, y, height), _turning_points(x, y, height)):
        if len(more):
            x = np.unique(np.concatenate([x, more]))
            y = height(x)
    zeros = [*_crossings(x, y, height, tolerance), *_level_stretches(x, y, height)]
    return sorted(zeros, key=lambda one: one[0] or 0.0), y[np.isfinite(y)]


def last_places(inside: Floats, outside: Floats, holds: Callable[[Floats], NDArray[np.bool_]]) -> Floats:
    """Return the last place between each place and another at which a condition is true, to the last digit."""
    each = np.arange(len(inside))
    for _ in range(_ROUNDS if len(inside) else 0):
        places = np.linspace(inside, outside, _BETWEEN, axis=1)
        there = holds(places[:, 1:].ravel()).reshape(len(each), -1)
        first = np.argmin(np.pad(there, ((0, 0), (0, 1))), axis=1)
        inside, outside = places[each, first], places[each, np.minimum(first + 1, _BETWEEN - 1)]
    return inside


def _edges(x: Floats, y: Floats, height: Height) -> Floats:
    """Return the last places at which the curve is defined, one for each edge of its domain."""
    there = np.isfinite(y)
    at = np.flatnonzero(there[1:] != there[:-1])
    inside, outside = np.where(there[at], (x[at], x[at + 1]), (x[at + 1], x[at]))
    return last_places(inside, outside, lambda place: np.isfinite(height(place)))


def _turning_points(x: Floats, y: Floats, height: Height) -> Floats:
    """Return the places where the distance of the curve from zero has a minimum."""
    from scipy.optimize import elementwise

    size, sign = np.abs(y), np.sign(y[1:-1])
    nearest = (size[1:-1] < size[:-2]) & (size[1:-1] <= size[2:]) & (y[:-2] * sign > 0) & (y[2:] * sign > 0)
    # Rounding turns a level curve back everywhere.
    nearest &= np.maximum(size[:-2], size[2:]) - size[1:-1] > HOLDS * (1 + size[1:-1])
    at = np.flatnonzero(nearest) + 1
    if not len(at):
        return np.empty(0)
    found = elementwise.find_minimum(lambda place, side: side * height(place), (x[at - 1], x[at], x[at + 1]), args=(np.sign(y[at]),))
    places: Floats = np.asarray(found.x)[np.isfinite(found.x)]
    return places


def _crossings(x: Floats, y: Floats, height: Height, tolerance: float) -> Iterator[_Stretch]:
    """Yield the points where the curve crosses zero, without jumps over zero."""
    from scipy.optimize import elementwise

    at = np.flatnonzero((y[:-1] * y[1:] < 0) & (np.abs(y[:-1]) > HOLDS) & (np.abs(y[1:]) > HOLDS))
    if not len(at):
        return
    roots = np.asarray(elementwise.find_root(height, (x[at], x[at + 1]), maxiter=300).x)
    heights = np.abs(height(roots))
    beside = [np.abs(height(np.clip(roots * (1 + side * _WIDE), x[at], x[at + 1]))) <= HOLDS for side in (-1, 1)]
    for place, root, size, below, above in zip(at, roots.tolist(), heights.tolist(), *beside, strict=True):
        if not size <= tolerance:
            continue
        if below and above:
            yield _stretch_ends(root, root, x[place], x[place + 1], height)
        else:
            yield root, root


def _level_stretches(x: Floats, y: Floats, height: Height) -> Iterator[_Stretch]:
    """Yield the stretches, and the points of the grid, at which the curve is zero."""
    for first, beyond in np.flatnonzero(np.diff(np.abs(y) <= HOLDS, prepend=False, append=False)).reshape(-1, 2).tolist():
        below = float(x[first - 1]) if first and isfinite(y[first - 1]) else None
        above = float(x[beyond]) if beyond < len(x) and isfinite(y[beyond]) else None
        ends = _stretch_ends(float(x[first]), float(x[beyond - 1]), below, above, height)
        start, end = (None if first == 0 else ends[0]), (None if beyond == len(x) else ends[1])
        if beyond == 1 or (start is not None and end is not None and end <= start * (1 + _WIDE)):
            best = float(x[first:beyond][np.argmin(np.abs(y[first:beyond]))])
            yield best, best
        else:
            yield start, end


def _stretch_ends(first: float, last: float, low: float | None, high: float | None, height: Height) -> tuple[float, float]:
    """Return how far to both sides the curve stays zero."""

    def is_zero(place: Floats) -> NDArray[np.bool_]:
        return np.asarray(np.abs(height(place)) <= HOLDS)

    ends = np.array([first, last])
    beyond = np.array([first if low is None else low, last if high is None else high])
    open_ended = (beyond != ends) & ~is_zero(beyond)
    ends[open_ended] = last_places(ends[open_ended], beyond[open_ended], is_zero)
    return float(ends[0]), float(ends[1])


_GRID, _SPARSE = 2000, 50
"""Number of points of the curve, and of points with many digits, which are slow."""
_NEARLY = 1e-3
"""Largest relative height at a zero that is to be confirmed. Next to the edge of its domain, a curve is steep."""
_MOST_ROOTS = 100
"""With more zeros than this, the formula is zero but for rounding, so that only many digits find its roots."""


@lru_cache(maxsize=64)
def search_roots(difference: Tree, unknown: str, givens: tuple[tuple[str, float], ...]) -> tuple[float, ...]:
    """Return all roots of a smooth formula over the domain of the unknown, to the last digit.

    They are cached, because a question asks for them in each of its routes.
    """
    from scipy.optimize import brentq

    values, parts = dict(givens), terms(difference)

    def height(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            at = {**{name: np.float64(value) for name, value in givens}, unknown: x}
            heights = [np.broadcast_to(evaluate_arrays(part, at), x.shape) for part in parts]
            return np.asarray(sum(heights) / sum(map(abs, heights)), dtype=float)

    def precise_height(x: float) -> float:
        heights = [precise(part, {**values, unknown: x}) for part in parts]
        return float(sum(heights) / sum(map(abs, heights))) if any(heights) else 0.0

    zeros, _ = find_zeros(unknown, height, _GRID, _NEARLY)
    points = {low for low, high in zeros if low is not None and low == high}
    starts = points if len(points) <= _MOST_ROOTS else set[float]()
    if len(starts) < len(zeros) or (not zeros and any(map(loses_digits, parts))):
        # Where rounding leaves nothing of what moves, many digits still see it.
        grid = [(x, precise_height(x)) for x in grid_of(unknown, _SPARSE).tolist()]
        for (x, y), (beyond, after) in pairwise(grid):
            # Between two points the formula may have no value.
            with suppress(ValueError):
                starts |= {brentq(precise_height, x, beyond)} if y * after < 0 else set()
    return tuple(sorted({root for start in starts for root in _confirm_root(difference, unknown, {**values, unknown: start})}))


def _confirm_root(difference: Tree, unknown: str, at: Mapping[str, float]) -> list[float]:
    """Return the root near the present value, or an empty list if the curve is zero there by rounding alone."""
    exact = root_in_50_digits(difference, None, unknown, at)
    if exact is not None:
        return [clamp(unknown, float(exact))]
    scale = max(abs(precise(term, at)) for term in terms(difference))
    return [at[unknown]] if abs(precise(difference, at)) <= LAST_DIGITS * scale else []
