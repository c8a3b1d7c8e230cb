"""Roots by a search, where there is no closed form: a logarithmic grid over the domain, then Brent's method."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import exp, isnan, log
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from derive.compiled import evaluate, vectorised
from derive.quantities import quantity

if TYPE_CHECKING:
    from sympy import Expr

Point = tuple[float, float]
"""The logarithm of the unknown, and the height of the expression there."""

GRID = 2_000
BEYOND = 1e6
"""How far beyond the values met in practice the search looks."""


def bracketed(difference: "Expr", unknown: str, values: Mapping[str, float]) -> list[float]:
    """All roots of a smooth expression over the domain of the unknown.

    Two roots within one step of the grid are told apart by looking for the extremum between them; a root at which the
    expression touches zero without crossing it is not seen.
    """

    def height(ln_x: float) -> float:
        return evaluate(difference, {**values, unknown: exp(ln_x)})

    grid = _grid(difference, unknown, values)
    points = sorted([*grid, *_edges(grid, height), *_extrema(grid, height)])
    found = [exp(ln_x) for ln_x, at in points if at == 0]
    for (left, at_left), (right, at_right) in pairwise(points):
        if at_left * at_right < 0:
            try:
                found.append(exp(brentq(height, left, right, xtol=1e-15, rtol=1e-15)))
            except ValueError:
                # The search landed on a pole, where the sign changes too.
                continue
    return found


def _grid(difference: "Expr", unknown: str, values: Mapping[str, float]) -> list[Point]:
    """The heights over the whole domain, NaN where the expression is not defined."""
    row = quantity(unknown)
    low, high = (row.low or row.high / BEYOND) / BEYOND, min(row.high * BEYOND, row.ceiling)
    ln_x = np.linspace(log(low), log(high), GRID + 1)
    names = tuple(sorted(part.name for part in difference.free_symbols))
    with np.errstate(all="ignore"):
        heights = vectorised(difference, names)(*(np.exp(ln_x) if name == unknown else values[name] for name in names))
    return list(zip(ln_x.tolist(), np.where(np.isfinite(heights), heights, np.nan).tolist(), strict=True))


def _edges(grid: list[Point], height: Callable[[float], float]) -> Iterator[Point]:
    """A point at each edge of where the expression is defined: a root may lie within a step of it."""
    for left, right in pairwise(grid):
        if isnan(left[1]) == isnan(right[1]):
            continue
        inside, outside = (right[0], left[0]) if isnan(left[1]) else (left[0], right[0])
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if isnan(height(middle)) else (middle, outside)
        yield inside, height(inside)


def _extrema(grid: list[Point], height: Callable[[float], float]) -> Iterator[Point]:
    """A point wherever the expression turns back before zero and may have crossed it twice on the way."""
    for (before, at_before), (_, at_middle), (after, at_after) in zip(grid, grid[1:], grid[2:], strict=False):
        sign = 1 if at_middle > 0 else -1
        if 0 < sign * at_middle <= sign * at_after and sign * at_middle < sign * at_before:
            nearest = minimize_scalar(lambda ln_x, sign=sign: sign * height(ln_x), bounds=(before, after), method="bounded")
            if nearest.fun < 0:
                yield float(nearest.x), height(float(nearest.x))
