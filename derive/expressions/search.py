"""Roots by a search, where there is no closed form: a logarithmic grid over the domain, then Brent's method."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import exp, inf, isnan, log

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from derive.evaluate import at_arrays, evaluate, precise
from derive.expressions.digits import LAST_DIGITS, clamped, exactly, loses_digits
from derive.quantities import quantity
from derive.trees import Tree, terms

Point = tuple[float, float]
"""The logarithm of the unknown, and the height of the expression there."""

GRID = 2_000
BEYOND = 1e6
"""How far beyond the values met in practice the search looks."""
BESIDE = 1e-9
"""How far beside a root it is looked whether the expression is a line there, or mere rounding."""
LEAST, SPARSE = 1e-15, 50
"""The least share that is looked for, and the number of points below those met in practice."""


def bracketed(difference: Tree, unknown: str, values: Mapping[str, float]) -> list[float]:
    """All roots of a smooth expression over the domain of the unknown, each worked out to the last digit.

    Two roots within one step of the grid are told apart by looking for the extremum between them; a root at which the
    expression touches zero without crossing it is not seen.
    """

    def height(ln_x: float) -> float:
        return evaluate(difference, {**values, unknown: exp(ln_x)})

    def surely(ln_x: float) -> float:
        return float(precise(difference, {**values, unknown: exp(ln_x)}))

    grid = _grid(difference, unknown, values)
    points = sorted([*grid, *_edges(grid, height, surely), *_extrema(grid, height)])
    found = [exp(ln_x) for ln_x, at in points if at == 0]
    for (left, at_left), (right, at_right) in pairwise(points):
        if at_left * at_right < 0:
            try:
                found.append(exp(brentq(_with_ends(height, {left: at_left, right: at_right}), left, right, xtol=1e-15, rtol=1e-15)))
            except ValueError:
                # The search landed on a pole, where the sign changes too.
                continue
    return sorted({root for one in found for root in _settled(difference, unknown, values, one)})


def _with_ends(height: Callable[[float], float], ends: Mapping[float, float]) -> Callable[[float], float]:
    """The height, and at both ends the one already known: rounding must not turn the sign there."""
    return lambda ln_x: ends[ln_x] if ln_x in ends else height(ln_x)


def _settled(difference: Tree, unknown: str, values: Mapping[str, float], root: float) -> list[float]:
    """The root near which the search ended; none where it was led by the rounding of the expression, or onto a pole."""
    if not any(loses_digits(term) for term in terms(difference)):
        below, here, above = (evaluate(difference, {**values, unknown: root * (1 + side)}) for side in (-BESIDE, 0, BESIDE))
        # Where the heights beside it lie on a line through it, rounding is less than a thousandth of what they differ by.
        if below * above < 0 and max(abs(above + below), abs(here)) <= abs(above - below) / 1e3:
            return [root]
    at = {**values, unknown: root}
    exact = exactly(difference, None, unknown, at)
    if exact is not None:
        return [clamped(unknown, float(exact))]
    scale = max(abs(precise(term, at)) for term in terms(difference))
    return [root] if abs(precise(difference, at)) <= LAST_DIGITS * scale else []


def _grid(difference: Tree, unknown: str, values: Mapping[str, float]) -> list[Point]:
    """The heights over the whole domain, NaN where the expression is not defined."""
    row = quantity(unknown)
    low, high = (row.low or row.high / BEYOND) / BEYOND, min(row.high * BEYOND, row.ceiling)
    ln_x = np.linspace(log(low), log(high), GRID + 1)
    if row.ceiling < inf:
        ln_x = np.concatenate([np.linspace(log(LEAST), log(low), SPARSE, endpoint=False), ln_x])
    with np.errstate(all="ignore"):
        heights = at_arrays(difference, {**{name: np.float64(value) for name, value in values.items()}, unknown: np.exp(ln_x)})
    return list(zip(ln_x.tolist(), np.where(np.isfinite(heights), heights, np.nan).tolist(), strict=True))


def _edges(grid: list[Point], height: Callable[[float], float], surely: Callable[[float], float]) -> Iterator[Point]:
    """A point at each edge of where the expression is defined: a root may lie within a step of it."""
    for left, right in pairwise(grid):
        if isnan(left[1]) == isnan(right[1]):
            continue
        ends = (right[0], left[0]) if isnan(left[1]) else (left[0], right[0])
        # So close to the edge, rounding may be all that is left of the height, or of which side of the edge it is.
        edge = _last_inside(*ends, height)
        edge = _last_inside(*ends, surely) if isnan(surely(edge)) else edge
        yield edge, surely(edge)


def _last_inside(inside: float, outside: float, height: Callable[[float], float]) -> float:
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if isnan(height(middle)) else (middle, outside)
    return inside


def _extrema(grid: list[Point], height: Callable[[float], float]) -> Iterator[Point]:
    """A point wherever the expression turns back before zero and may have crossed it twice on the way."""
    for (before, at_before), (_, at_middle), (after, at_after) in zip(grid, grid[1:], grid[2:], strict=False):
        sign = 1 if at_middle > 0 else -1
        if 0 < sign * at_middle <= sign * at_after and sign * at_middle < sign * at_before:
            nearest = minimize_scalar(lambda ln_x, sign=sign: sign * height(ln_x), bounds=(before, after), method="bounded")
            if nearest.fun < 0:
                yield float(nearest.x), height(float(nearest.x))
