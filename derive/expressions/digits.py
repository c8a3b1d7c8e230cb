"""What rounding leaves of a number: the digits lost, all that the givens determine, and an end of a domain that it passes."""

from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING

from derive.evaluate import precise
from derive.quantities import quantity, symbol

if TYPE_CHECKING:
    from mpmath import mpf
    from sympy import Expr

STEP = 1e-20
"""Relative step of a slope in 50 digits, and where Newton's method stops."""

LAST_DIGITS = 1e-13
"""Relative difference up to which numbers may differ for no other reason than that they were rounded."""


@cache
def loses_digits(expression: "Expr") -> bool:
    """Whether digits can be lost that the givens determine: log(1 - x) of a small x, (1 - x**n)/(1 - x) of an x near 1.

    Where only + - * / are, what a difference loses is what it magnifies of the givens' own rounding.
    """
    from sympy import exp, log, preorder_traversal

    def irrational(part: "Expr") -> bool:
        return isinstance(part, (exp, log)) or (part.is_Pow and not part.exp.is_Integer)

    def outer(part: "Expr") -> bool:
        return isinstance(part, (exp, log)) or (part.is_Pow and not part.exp.is_Number)

    parts = [part for part in preorder_traversal(expression) if irrational(part) or cancels(part)]
    return any(
        any(irrational(inner) for inner in preorder_traversal(part)) if cancels(part) else outer(part) and has_difference(part)
        for part in parts
    )


def cancels(part: "Expr") -> bool:
    """Whether the expression is a difference of positive terms.

    >>> cancels(1 - symbol("overlap")), cancels(1 + symbol("overlap"))
    (True, False)
    """
    return part.is_Add and len({term.could_extract_minus_sign() for term in part.args}) == 2


@cache
def has_difference(expression: "Expr") -> bool:
    """Whether there is a difference of positive terms anywhere in the expression."""
    from sympy import preorder_traversal

    return any(cancels(part) for part in preorder_traversal(expression))


def exactly(difference: "Expr", root: "Expr | None", unknown: str, values: Mapping[str, float]) -> "mpf | None":
    """The root of these very numbers in 50 digits: by its closed form, or by Newton's method from where the unknown stands."""
    if root is not None:
        found = precise(root, values)
        return found if isfinite(found) else None
    at = precise(symbol(unknown), values)
    for _ in range(60):
        height = precise(difference, {**values, unknown: at})
        step = at * STEP or STEP
        slope = (precise(difference, {**values, unknown: at + step}) - height) / step
        if not (isfinite(height) and isfinite(slope) and slope):
            return None
        move = height / slope
        at -= move
        if at <= 0:
            return None
        if abs(move) <= STEP * at:
            return at
    return None


def clamped(unknown: str, value: float) -> float:
    """A root past the end of a closed domain, put on the end: whether the equation holds there is for others to say.

    >>> clamped("mfu", 1.0000000000000002), clamped("overlap", -1e-17), clamped("batch", -2.0)
    (1.0, 0.0, -2.0)
    """
    row = quantity(unknown)
    return 0.0 if value < 0 and row.may_be_zero else min(max(value, row.floor) if row.floor else value, row.ceiling)
