"""Search for roots without a closed form: a logarithmic grid over the domain, and SciPy between points of opposite sign."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from math import exp, inf, isfinite, isnan, log, nan

from derive.evaluate import evaluate, evaluator, precise
from derive.expressions.digits import LAST_DIGITS, clamp, loses_digits, root_in_50_digits
from derive.quantities import quantity
from derive.trees import Tree, names, terms

_Point = tuple[float, float]
"""The logarithm of the unknown, and the height of the expression there."""

_GRID = 2_000
BEYOND = 1e6
"""Factor by which the search extends beyond the usual values."""
_BESIDE = 1e-9
"""Relative distance from a root at which the curve is checked to be a line and not rounding."""
_MOST_ROOTS = 100
"""With more roots than this, the expression is zero everywhere except for rounding, so there is no root."""
_LEAST, _SPARSE = 1e-15, 50
"""The least share in the search, and the number of grid points below the usual shares or in many digits."""
_XTOL, _RTOL, _MOST_STEPS = 1e-300, 8.9e-16, 200
"""Tolerances of SciPy, to the last digit, and the largest number of steps."""
_NARROW = 1e-9
"""Precision of an extremum, as a share of a step of the grid."""


def search_roots(difference: Tree, unknown: str, values: Mapping[str, float]) -> list[float]:
    """Return all roots of a smooth expression over the domain of the unknown, to the last digit.

    Two roots within one step of the grid are separated by the extremum between them. A root at which the expression touches zero without
    crossing it is not found.
    """
    return [*_search_roots(difference, unknown, tuple((name, values[name]) for name in sorted(names(difference)) if name != unknown))]


@lru_cache(maxsize=64)
def _search_roots(difference: Tree, unknown: str, givens: tuple[tuple[str, float], ...]) -> tuple[float, ...]:
    """Return the same. Cached, because a question asks for it in each of its routes."""
    values = dict(givens)
    of_unknown = _evaluate_constants(difference, unknown, values)
    worked_out, rest = evaluator(of_unknown), {name: values[name] for name in names(of_unknown) if name != unknown}

    def height(ln_x: float) -> float:
        return worked_out({**rest, unknown: exp(ln_x)})

    def surely(ln_x: float) -> float:
        return float(precise(difference, {**values, unknown: exp(ln_x)}))

    grid = _grid(unknown, height)
    points = sorted([*grid, *_edges(grid, height, surely), *_extrema(grid, height)])
    noisy = any(loses_digits(term) for term in terms(difference))
    found = _crossings(_remove_noise(points, surely) if noisy else points, height)
    if noisy and not found:
        # Where rounding leaves nothing of what moves, many digits still see it.
        found = _crossings([(ln_x, surely(ln_x)) for ln_x in _even_steps(grid[0][0], grid[-1][0], _SPARSE)], surely)
    if len(found) > _MOST_ROOTS:
        return ()
    return tuple(sorted({root for one in found for root in _confirm_root(difference, unknown, values, one)}))


def _evaluate_constants(tree: Tree, unknown: str, values: Mapping[str, float]) -> Tree:
    """Return the expression with every part that does not contain the unknown evaluated."""
    if unknown not in names(tree):
        number = evaluate(tree, values)
        return tree if isnan(number) else number
    return (tree[0], *(_evaluate_constants(part, unknown, values) for part in tree[1:])) if isinstance(tree, tuple) else tree


def _crossings(points: list[_Point], height: Callable[[float], float]) -> list[float]:
    """Return where the expression is zero: at a grid point, or between two points of opposite sign."""
    found = [exp(ln_x) for ln_x, at in points if at == 0]
    return found + [exp(_root_between(left, right, height)) for left, right in pairwise(points) if left[1] * right[1] < 0]


def _root_between(left: _Point, right: _Point, height: Callable[[float], float]) -> float:
    """Return where the sign changes between two points, to the last digit: at a root, or at a pole."""
    from scipy.optimize import brentq

    beyond: list[float] = []
    # In many digits the ends may be higher than floating point has them.
    ends = dict((left, right))

    def defined(ln_x: float) -> float:
        found = ends[ln_x] if ln_x in ends else height(ln_x)
        if isnan(found):
            # Off its domain between two points that are on it, it is a pole.
            beyond.append(ln_x)
            return 0.0
        return found

    root = float(brentq(defined, left[0], right[0], xtol=_XTOL, rtol=_RTOL, maxiter=_MOST_STEPS))
    return beyond[0] if beyond else root


def _remove_noise(points: list[_Point], surely: Callable[[float], float]) -> list[_Point]:
    """Return the points with their heights in many digits near every change of sign, which may be due to rounding."""
    turning = {k for k, (_, at) in enumerate(points) if at == 0}
    for k, ((_, before), (_, after)) in enumerate(pairwise(points)):
        turning |= {k, k + 1} if before * after <= 0 else set()
    return [(ln_x, surely(ln_x) if k in turning else at) for k, (ln_x, at) in enumerate(points)]


def _confirm_root(difference: Tree, unknown: str, values: Mapping[str, float], root: float) -> list[float]:
    """Return the root near the result of the search, or an empty list if the search ended on rounding or on a pole."""
    if not any(loses_digits(term) for term in terms(difference)):
        below, here, above = (evaluate(difference, {**values, unknown: root * (1 + side)}) for side in (-_BESIDE, 0, _BESIDE))
        # Where the heights beside it lie on a line through it, rounding is less than a thousandth of what they differ by.
        if below * above < 0 and max(abs(above + below), abs(here)) <= abs(above - below) / 1e3:
            return [root]
    at = {**values, unknown: root}
    exact = root_in_50_digits(difference, None, unknown, at)
    if exact is not None:
        return [clamp(unknown, float(exact))]
    scale = max(abs(precise(term, at)) for term in terms(difference))
    return [root] if abs(precise(difference, at)) <= LAST_DIGITS * scale else []


def search_interval(unknown: str) -> tuple[float, float]:
    """Return the interval of a quantity in which roots are searched [in its unit].

    >>> search_interval("acceptance_rate")
    (1e-15, 1.0)
    """
    row = quantity(unknown)
    low = _LEAST if row.ceiling < inf else (row.low or row.high / BEYOND) / BEYOND
    return low, min(row.high * BEYOND, row.ceiling)


def _grid(unknown: str, height: Callable[[float], float]) -> list[_Point]:
    """Return the heights over the whole domain, NaN where the expression is not defined."""
    row = quantity(unknown)
    low, high = (row.low or row.high / BEYOND) / BEYOND, min(row.high * BEYOND, row.ceiling)
    places = [*_even_steps(log(low), log(high), _GRID), log(high)]
    if row.ceiling < inf:
        places = [*_even_steps(log(_LEAST), log(low), _SPARSE), *places]
    return [(ln_x, at if isfinite(at := height(ln_x)) else nan) for ln_x in places]


def _even_steps(first: float, last: float, steps: int) -> list[float]:
    return [first + step * (last - first) / steps for step in range(steps)]


def _edges(grid: list[_Point], height: Callable[[float], float], surely: Callable[[float], float]) -> Iterator[_Point]:
    """Yield a point at each edge of where the expression is defined, as a root may be within a step of it."""
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


def _extrema(grid: list[_Point], height: Callable[[float], float]) -> Iterator[_Point]:
    """Yield a point where the expression turns back near zero and may have crossed it twice."""
    for (before, at_before), (_, at_middle), (after, at_after) in zip(grid, grid[1:], grid[2:], strict=False):
        sign = 1 if at_middle > 0 else -1
        if may_reach_zero(sign * at_before, sign * at_middle, sign * at_after):
            nearest = _lowest(before, after, height, sign)
            if sign * height(nearest) < 0:
                yield nearest, height(nearest)


def may_reach_zero(before: float, middle: float, after: float) -> bool:
    """Return whether a curve with these three heights, positive in the middle, turns back there and may have crossed zero.

    The bound allows four times the depth that two straight lines between the places would reach.

    >>> may_reach_zero(0.3, 0.1, 0.2), may_reach_zero(1.0003, 1.0001, 1.0002), may_reach_zero(0.1, 0.2, 0.3)
    (True, False, False)
    """
    return 0 < middle <= after and middle < before and middle <= 4 * (max(before, after) - middle)


def _lowest(low: float, high: float, height: Callable[[float], float], sign: int) -> float:
    """Return where a curve that turns back near zero is nearest to it, from above or (sign -1) from below."""
    import numpy as np
    from scipy.optimize import minimize_scalar

    with np.errstate(all="ignore"):
        narrow = {"xatol": _NARROW * (high - low)}
        found = minimize_scalar(lambda ln_x: sign * height(float(ln_x)), bounds=(low, high), method="bounded", options=narrow)
    return float(found.x)
