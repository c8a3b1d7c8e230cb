"""Roots of smooth expressions inside a quantity's domain, and how they move with what was given."""

from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING

from derive.compiled import evaluate, scalar
from derive.quantities import quantity, symbol

if TYPE_CHECKING:
    from sympy import Expr

HOLDS = 1e-9
"""Relative difference up to which two sides count as equal."""

LAST_DIGITS = 1e-13
"""Relative difference beyond which a root has lost digits."""


@cache
def text(expression: "Expr") -> str:
    """The expression as text, printed once."""
    return str(expression)


def real_roots(
    difference: "Expr", closed: "tuple[Expr, ...] | None", unknown: str, values: Mapping[str, float]
) -> list[tuple[float, str | None]]:
    """Every root of a smooth expression in the domain of the unknown, with its closed form if it has one."""
    if closed is None:
        from derive.search import bracketed

        return [(root, None) for root in bracketed(difference, unknown, values)]
    found = [(clamped(unknown, evaluate(root, values)), text(root)) for root in closed]
    return [(root, formula) for root, formula in found if in_domain(unknown, root)]


def in_domain(unknown: str, value: float) -> bool:
    """Whether the value may be an answer: finite, positive (or zero where that is a value), and a share at most 1."""
    row = quantity(unknown)
    return isfinite(value) and (value > 0 or (value == 0 and row.may_be_zero)) and value <= row.ceiling


def clamped(unknown: str, value: float) -> float:
    """A root past the end of a closed domain, put on the end: whether the equation holds there is for others to say.

    >>> clamped("mfu", 1.0000000000000002), clamped("overlap", -1e-17), clamped("batch", -2.0)
    (1.0, 0.0, -2.0)
    """
    row = quantity(unknown)
    return 0.0 if value < 0 and row.may_be_zero else min(value, row.ceiling)


def drops_out(difference: "Expr", unknown: str, values: Mapping[str, float]) -> bool:
    """Whether the unknown has no effect at these numbers, because its coefficient is exactly zero."""
    row = quantity(unknown)
    heights = {evaluate(difference, {**values, unknown: row.low + share * (row.high - row.low)}) for share in (0.125, 0.5, 1.0)}
    return len(heights) == 1 and all(isfinite(height) for height in heights)


def polished(difference: "Expr", unknown: str, values: Mapping[str, float]) -> float:
    """The root one Newton step on, or where it was if there is no slope."""
    height, slope = (evaluate(part, values) for part in with_slope(difference, unknown))
    return values[unknown] - height / slope if slope else values[unknown]


@cache
def with_slope(difference: "Expr", unknown: str) -> "tuple[Expr, Expr]":
    """The expression, and its derivative with respect to the unknown."""
    return difference, difference.diff(symbol(unknown))


def elasticities(difference: "Expr", unknown: str, values: Mapping[str, float]) -> dict[str, float]:
    """d ln(unknown)/d ln(given) for each given where difference = 0, by the implicit function theorem.

    Empty where the unknown is 0 and has no logarithm.
    """
    names, slopes_at = _gradient(difference)
    slope = dict(zip(names, slopes_at(*(values[name] for name in names)), strict=True))
    scale = values[unknown] * slope[unknown]
    return {name: 0.0 - values[name] * slope[name] / scale for name in names if name != unknown} if scale else {}


@cache
def _gradient(difference: "Expr") -> "tuple[tuple[str, ...], Callable[..., tuple[float, ...]]]":
    from sympy import diff

    names = tuple(sorted(part.name for part in difference.free_symbols))
    return names, scalar(tuple(diff(difference, symbol(name)) for name in names), names)
