"""Roots of smooth formulas inside a quantity's domain, and how they move with what was given."""

from collections.abc import Callable, Mapping
from functools import cache
from math import inf, isfinite
from typing import Any

from derive.evaluate import evaluate, exact, exact_slope, precise, precise_slope
from derive.expressions.branches import at_nothing_of
from derive.expressions.digits import LAST_DIGITS, clamped, is_rational, loses_digits
from derive.expressions.search import bracketed
from derive.quantities import quantity
from derive.trees import Tree, names, slopes

_NEXT_TO_NOTHING = 1e-6
"""Share of the most that is met at which roots are looked at that divide by nothing where a quantity is nothing."""


def real_roots(
    difference: Tree, closed: tuple[Tree, ...] | None, unknown: str, values: Mapping[str, float]
) -> list[tuple[float, Tree | None]]:
    """Every root of a smooth formula in the domain of the unknown, with its closed form if it has one."""
    if closed is None:
        return [(root, None) for root in bracketed(difference, unknown, values)]
    numbers = [_number(root, values) for root in closed]
    nothing = frozenset(name for name in names(difference) if values.get(name) == 0)
    some = {**values, **{name: _NEXT_TO_NOTHING * quantity(name).high for name in nothing}}
    if nothing and any(not isfinite(number) and isfinite(evaluate(root, some)) for number, root in zip(numbers, closed, strict=True)):
        # A square without its coefficient is a line, which the roots of squares divide by nothing to come to.
        rest, roots = at_nothing_of(difference, nothing, unknown)
        if unknown in names(rest):
            return real_roots(rest, roots, unknown, values)
    found = [(clamped(unknown, number), root) for number, root in zip(numbers, closed, strict=True)]
    return [(value, root) for value, root in found if in_domain(unknown, value)]


def _number(root: Tree, values: Mapping[str, float]) -> float:
    """A closed form at numbers, with all the digits that they determine."""
    value = float("nan") if loses_digits(root) else evaluate(root, values)
    if value and isfinite(value):
        return value
    return as_float(exact(root, values) if is_rational(root) else precise(root, values))


def as_float(number: Any) -> float:
    """A number of many digits as one of few; infinity where it is beyond them.

    >>> as_float(10**400), as_float(0.5)
    (inf, 0.5)
    """
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def negligible(height: "Callable[[Mapping[str, Any]], Any]", values: Mapping[str, Any], share: float) -> bool:
    """Whether a height is no more than what it moves by if each value moves by that share of itself.

    >>> negligible(lambda at: at["batch"] - at["chips"], {"batch": 8.0, "chips": 8.00001}, 1e-6)
    True
    """
    here = height(values)
    moves = (abs(height({**values, name: value * (1 + sign * share)}) - here) for name, value in values.items() for sign in (1, -1))
    return bool(abs(here) <= sum(move for move in moves if isfinite(move)) / 2)


def in_domain(unknown: str, value: float) -> bool:
    """Whether the value may be an answer: finite, positive (or zero where that is a value), a share at most 1, some counts no less."""
    least, most, may_be_zero = _domain(unknown)
    return isfinite(value) and (value != 0 or may_be_zero) and least <= value <= most


@cache
def _domain(unknown: str) -> tuple[float, float, bool]:
    """The ends of the domain of a quantity, and whether 0 is in it: asked of thousands of draws."""
    row = quantity(unknown)
    return row.floor, row.ceiling, row.may_be_zero


def drops_out(difference: Tree, unknown: str, values: Mapping[str, float]) -> bool:
    """Whether the unknown has no effect at these numbers: its coefficient is zero, or all that is left is rounding anywhere."""
    return is_rounding(difference, unknown, values) or moves_nothing(difference, unknown, values)


def is_rounding(difference: Tree, unknown: str, values: Mapping[str, float]) -> bool:
    """Whether all that is left is rounding, wherever the unknown is in practice."""
    low = quantity(unknown).low
    places = [{**values, unknown: low}, *_places(unknown, values)] if low else []
    height = precise if loses_digits(difference) else evaluate
    return bool(places) and all(negligible(lambda moved: height(difference, moved), place, LAST_DIGITS) for place in places)


def moves_nothing(difference: Tree, unknown: str, values: Mapping[str, float]) -> bool:
    """Whether the coefficient of the unknown is zero at these numbers."""
    places = _places(unknown, values)
    heights = {evaluate(difference, place) for place in places}
    if len(heights) > 1 or not all(isfinite(height) for height in heights):
        return False
    # Its effect may be too small for the digits of the rest: that is no zero.
    slope_at = exact_slope if is_rational(difference) else precise_slope
    return all(slope_at(difference, unknown, place) == 0 for place in places)


def _places(unknown: str, values: Mapping[str, float]) -> list[dict[str, float]]:
    row = quantity(unknown)
    return [{**values, unknown: row.low + share * (row.high - row.low)} for share in (0.125, 0.5, 1.0)]


def elasticities(difference: Tree, unknown: str, values: Mapping[str, float]) -> dict[str, float]:
    """d ln(unknown)/d ln(given) for each given where difference = 0, by the implicit function theorem.

    Empty where the unknown is 0 and has no logarithm, and where a slope has no end, as that of a square root or a logarithm at 0.
    """
    try:
        _, slope = slopes(difference, values)
    except (ArithmeticError, ValueError):
        return {}
    scale = values[unknown] * slope[unknown]
    return {name: 0.0 - values[name] * slope[name] / scale for name in sorted(slope) if name != unknown} if scale else {}
