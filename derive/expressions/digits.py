"""Control the effect of rounding: detect lost digits, recompute in 50 digits, and correct values that pass a limit by rounding."""

from collections.abc import Mapping
from functools import cache
from math import isclose, isfinite
from typing import TYPE_CHECKING

from derive.quantities import quantity
from derive.trees import EXPONENTIAL, LOGARITHM, RAISED, ROOT, SUM, Tree, all_parts, is_negative, precise

if TYPE_CHECKING:
    from mpmath import mpf

_STEP = 1e-20
"""Relative step of a slope in 50 digits, and where Newton's method stops."""

LAST_DIGITS = 1e-13
"""Relative difference up to which numbers may differ by rounding alone."""

_PAST = 1e-2
"""Relative distance beyond a limit of the domain up to which a root may be there by rounding alone."""


@cache
def loses_digits(tree: Tree) -> bool:
    """Return whether floating point can lose digits of a formula, such as log(1 - x) for a small x.

    In a rational formula a difference only magnifies the rounding errors of the givens.
    """
    parts = [part for part in all_parts(tree) if isinstance(part, tuple)]
    irrational = (part[0] in (EXPONENTIAL, LOGARITHM, ROOT) or (part[0] == RAISED and not isinstance(part[2], int)) for part in parts)
    return any(irrational) and has_difference(tree)


@cache
def has_difference(tree: Tree) -> bool:
    """Return whether any part of the formula is a difference of positive terms."""
    sums = (part for part in all_parts(tree) if isinstance(part, tuple) and part[0] == SUM)
    return any(len(set(map(is_negative, one[1:]))) == 2 for one in sums)


def root_in_50_digits(difference: Tree, root: Tree | None, unknown: str, values: Mapping[str, float]) -> "mpf | None":
    """Return the root in 50 digits, by its closed form or by Newton's method from the present value of the unknown."""
    if root is not None:
        found = precise(root, values)
        return found if isfinite(found) else None
    at = precise(unknown, values)
    for _ in range(60):
        height = precise(difference, {**values, unknown: at})
        step = at * _STEP or _STEP
        slope = (precise(difference, {**values, unknown: at + step}) - height) / step
        if not (isfinite(height) and isfinite(slope) and slope):
            return None
        move = height / slope
        at -= move
        if at <= 0:
            return None
        if abs(move) <= _STEP * at:
            return at
    return None


def clamp(unknown: str, value: float) -> float:
    """Return the end of a closed domain for a root that rounding has moved beyond it. The caller checks the equation there.

    >>> clamp("mfu", 1.0000000000000002), clamp("overlap", -1e-17), clamp("batch", -2.0)
    (1.0, 0.0, -2.0)
    """
    row = quantity(unknown)
    if value < row.floor and row.may_be_zero:
        return row.floor
    nearest = min(max(value, row.floor), row.ceiling)
    return nearest if isclose(value, nearest, rel_tol=_PAST) else value
