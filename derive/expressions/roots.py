"""Roots of smooth expressions inside a quantity's domain, and how they move with what was given."""

from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from derive.evaluate import evaluate, precise, scalar
from derive.expressions.digits import LAST_DIGITS, clamped, loses_digits
from derive.expressions.regimes import closed_forms
from derive.quantities import quantity, symbol

if TYPE_CHECKING:
    from sympy import Expr


@cache
def text(expression: "Expr") -> str:
    """The expression as text, printed once."""
    return str(expression)


def real_roots(
    difference: "Expr", closed: "tuple[Expr, ...] | None", unknown: str, values: Mapping[str, float]
) -> "list[tuple[float, Expr | None]]":
    """Every root of a smooth expression in the domain of the unknown, with its closed form if it has one."""
    if closed is None:
        from derive.expressions.search import bracketed

        return [(root, None) for root in bracketed(difference, unknown, values)]
    numbers = [_number(root, values) for root in closed]
    nothing = frozenset(name for name, value in values.items() if value == 0)
    rest = difference if all(map(isfinite, numbers)) else _without(difference, nothing)
    if rest != difference and rest.has(symbol(unknown)):
        # A square without its coefficient is a line, which the roots of squares divide by nothing to come to.
        return real_roots(rest, closed_forms(rest, symbol(unknown)), unknown, values)
    found = [(clamped(unknown, number), root) for number, root in zip(numbers, closed, strict=True)]
    return [(value, root) for value, root in found if in_domain(unknown, value)]


@cache
def _without(difference: "Expr", nothing: frozenset[str]) -> "Expr":
    """What is left of an expression where these quantities are 0."""
    return difference.subs({symbol(name): 0 for name in nothing})


def _number(root: "Expr", values: Mapping[str, float]) -> float:
    """A closed form at numbers, with all the digits that they determine."""
    value = float("nan") if loses_digits(root) else evaluate(root, values)
    return value if value and isfinite(value) else float(precise(root, values))


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
    row = quantity(unknown)
    return isfinite(value) and (value > 0 or (value == 0 and row.may_be_zero)) and row.floor <= value <= row.ceiling


def drops_out(difference: "Expr", unknown: str, values: Mapping[str, float]) -> bool:
    """Whether the unknown has no effect at these numbers: its coefficient is zero, or all that is left is rounding anywhere."""
    return is_rounding(difference, unknown, values) or moves_nothing(difference, unknown, values)


def is_rounding(difference: "Expr", unknown: str, values: Mapping[str, float]) -> bool:
    """Whether all that is left is rounding, wherever the unknown is in practice."""
    low = quantity(unknown).low
    places = [{**values, unknown: low}, *_places(unknown, values)] if low else []
    return bool(places) and all(negligible(lambda moved: evaluate(difference, moved), place, LAST_DIGITS) for place in places)


def moves_nothing(difference: "Expr", unknown: str, values: Mapping[str, float]) -> bool:
    """Whether the coefficient of the unknown is zero at these numbers."""
    places = _places(unknown, values)
    heights = {evaluate(difference, place) for place in places}
    if len(heights) > 1 or not all(isfinite(height) for height in heights):
        return False
    # Its effect may be too small for the digits of the rest: that is no zero.
    return all(precise(_slope(difference, unknown), place) == 0 for place in places)


@cache
def _slope(difference: "Expr", unknown: str) -> "Expr":
    from sympy import diff

    return diff(difference, symbol(unknown))


def _places(unknown: str, values: Mapping[str, float]) -> list[dict[str, float]]:
    row = quantity(unknown)
    return [{**values, unknown: row.low + share * (row.high - row.low)} for share in (0.125, 0.5, 1.0)]


def elasticities(difference: "Expr", unknown: str, values: Mapping[str, float]) -> dict[str, float]:
    """d ln(unknown)/d ln(given) for each given where difference = 0, by the implicit function theorem.

    Empty where the unknown is 0 and has no logarithm, and where a slope has no end, as that of a square root or a logarithm at 0.
    """
    names, slopes_at = _gradient(difference)
    try:
        slope = dict(zip(names, slopes_at(*(values[name] for name in names)), strict=True))
    except (ZeroDivisionError, ValueError):
        return {}
    scale = values[unknown] * slope[unknown]
    return {name: 0.0 - values[name] * slope[name] / scale for name in names if name != unknown} if scale else {}


@cache
def _gradient(difference: "Expr") -> "tuple[tuple[str, ...], Callable[..., tuple[float, ...]]]":
    from sympy import diff

    names = tuple(sorted(part.name for part in difference.free_symbols))
    return names, scalar(tuple(diff(difference, symbol(name)) for name in names), names)
