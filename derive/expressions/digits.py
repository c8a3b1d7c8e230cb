"""What rounding leaves of a number: the digits lost, all that the givens determine, and an end of a domain that it passes."""

from collections.abc import Mapping
from functools import cache
from math import isclose, isfinite
from typing import TYPE_CHECKING

from derive.evaluate import precise
from derive.quantities import quantity
from derive.trees import EXPONENTIAL, LOGARITHM, MINUS, RAISED, ROOT, SUM, Tree, all_parts, is_negative, names

if TYPE_CHECKING:
    from mpmath import mpf

_STEP = 1e-20
"""Relative step of a slope in 50 digits, and where Newton's method stops."""

LAST_DIGITS = 1e-13
"""Relative difference up to which numbers may differ for no other reason than that they were rounded."""


_PAST = 1e-2
"""Up to what share of an end of a domain a root beyond it may be for rounding alone."""


@cache
def loses_digits(tree: Tree) -> bool:
    """Whether digits can be lost that the givens determine: log(1 - x) of a small x, (1 - x**n)/(1 - x) of an x near 1.

    Where only + - * / are, what a difference loses is what it magnifies of the givens' own rounding.
    """
    inner = (part for part in all_parts(tree) if _is_irrational(part) or cancels(part))
    return any(any(map(_is_irrational, all_parts(part))) if cancels(part) else _is_outer(part) and has_difference(part) for part in inner)


@cache
def is_rational(tree: Tree) -> bool:
    """Whether it is made with + - * / and whole powers alone."""
    return not any(map(_is_irrational, all_parts(tree)))


def _is_irrational(part: Tree) -> bool:
    """Whether it is more than + - * / make: a logarithm, an exponential, a root, a power that is not whole."""
    if not isinstance(part, tuple):
        return False
    return part[0] in (EXPONENTIAL, LOGARITHM, ROOT) or (part[0] == RAISED and not _is_whole(part[2]))


def _is_outer(part: Tree) -> bool:
    return isinstance(part, tuple) and (part[0] in (EXPONENTIAL, LOGARITHM) or (part[0] == RAISED and bool(names(part[2]))))


def _is_whole(tree: Tree) -> bool:
    return isinstance(tree[1] if isinstance(tree, tuple) and tree[0] == MINUS else tree, int)


def cancels(part: Tree) -> bool:
    """Whether the formula is a difference of positive terms.

    >>> cancels(("+", 1, ("-", "overlap"))), cancels(("+", 1, "overlap"))
    (True, False)
    """
    return isinstance(part, tuple) and part[0] == SUM and len(set(map(is_negative, part[1:]))) == 2


@cache
def has_difference(tree: Tree) -> bool:
    """Whether there is a difference of positive terms anywhere in the formula."""
    return any(map(cancels, all_parts(tree)))


def exactly(difference: Tree, root: Tree | None, unknown: str, values: Mapping[str, float]) -> "mpf | None":
    """The root of these very numbers in 50 digits: by its closed form, or by Newton's method from where the unknown stands."""
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


def clamped(unknown: str, value: float) -> float:
    """A root past the end of a closed domain, put on the end: whether the equation holds there is for others to say.

    >>> clamped("mfu", 1.0000000000000002), clamped("overlap", -1e-17), clamped("batch", -2.0)
    (1.0, 0.0, -2.0)
    """
    row = quantity(unknown)
    if value < row.floor and row.may_be_zero:
        return row.floor
    nearest = min(max(value, row.floor), row.ceiling)
    return nearest if isclose(value, nearest, rel_tol=_PAST) else value
