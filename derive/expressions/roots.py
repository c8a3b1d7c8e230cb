"""Find the roots of smooth formulas in the domain of a quantity, and their elasticities."""

from collections.abc import Callable, Mapping
from math import inf, isfinite
from typing import Any

from derive.expressions.branches import roots_at_zero
from derive.expressions.digits import LAST_DIGITS, clamp, loses_digits
from derive.quantities import quantity
from derive.trees import Tree, evaluate, names, precise, precise_slopes, slopes


def real_roots(
    difference: Tree, closed: tuple[Tree, ...] | None, unknown: str, values: Mapping[str, float]
) -> list[tuple[float, Tree | None]]:
    """Return every root of a smooth formula in the domain of the unknown, with its closed form if it has one."""
    if closed is None:
        from derive.expressions.curve import search_roots

        givens = tuple((name, values[name]) for name in sorted(names(difference)) if name != unknown)
        return [(root, None) for root in search_roots(difference, unknown, givens)]
    numbers = [_number(root, values) for root in closed]
    nothing = frozenset(name for name in names(difference) if values.get(name) == 0)
    if nothing and not all(map(isfinite, numbers)):
        # A square without its coefficient is a line, which the roots of squares divide by nothing to come to.
        rest, roots = roots_at_zero(difference, nothing, unknown)
        if unknown in names(rest):
            return real_roots(rest, roots, unknown, values)
    found = [(clamp(unknown, number), root) for number, root in zip(numbers, closed, strict=True)]
    return [(value, root) for value, root in found if is_in_domain(unknown, value)]


def _number(root: Tree, values: Mapping[str, float]) -> float:
    """Return the value of a closed form, in many digits if floating point would lose some."""
    value = float("nan") if loses_digits(root) else evaluate(root, values)
    if value and isfinite(value):
        return value
    try:
        return float(precise(root, values))
    except OverflowError:
        return inf


def is_negligible(height: "Callable[[Mapping[str, Any]], Any]", values: Mapping[str, Any], share: float) -> bool:
    """Return whether a height is at most the change that this relative change of each value causes."""
    here = height(values)
    moves = (abs(height({**values, name: value * (1 + sign * share)}) - here) for name, value in values.items() for sign in (1, -1))
    return bool(abs(here) <= sum(move for move in moves if isfinite(move)) / 2)


def is_zero(tree: Tree, values: Mapping[str, Any]) -> bool:
    """Return whether a formula in 50 digits is at most the change that the last digits of its quantities cause."""
    number, found = precise_slopes(tree, values)
    moves = (abs(values[name] * slope) for name, slope in found.items())
    return bool(abs(number) <= LAST_DIGITS * sum(move for move in moves if isfinite(move)))


def is_in_domain(unknown: str, value: float) -> bool:
    """Return whether a value may be an answer: finite and inside the domain of the quantity."""
    row = quantity(unknown)
    return isfinite(value) and (value != 0 or row.may_be_zero) and row.floor <= value <= row.ceiling


def is_rounding(difference: Tree, unknown: str, values: Mapping[str, float]) -> bool:
    """Return whether the formula is only rounding for all usual values of the unknown."""
    low = quantity(unknown).low
    places = [{**values, unknown: low}, *_places(unknown, values)] if low else []
    return bool(places) and all(is_zero(difference, place) for place in places)


def has_no_effect(difference: Tree, unknown: str, values: Mapping[str, float]) -> bool:
    """Return whether the coefficient of the unknown is zero at these numbers."""
    places = _places(unknown, values)
    heights = {evaluate(difference, place) for place in places}
    if len(heights) > 1 or not all(isfinite(height) for height in heights):
        return False
    # Its effect may be too small for the digits of the rest: that is not a zero.
    exact = (precise_slopes(difference, place, frozenset([unknown])) for place in places)
    return all(number == number and found.get(unknown, 0) == 0 for number, found in exact)


def _places(unknown: str, values: Mapping[str, float]) -> list[dict[str, float]]:
    row = quantity(unknown)
    return [{**values, unknown: row.low + share * (row.high - row.low)} for share in (0.125, 0.5, 1.0)]


def elasticities(difference: Tree, unknown: str, values: Mapping[str, float]) -> dict[str, float]:
    """Return d ln(unknown)/d ln(given) for each given at difference = 0, by the implicit function theorem.

    Return an empty result if the unknown is 0, or if a slope is infinite, such as the slope of a square root at 0.
    """
    try:
        _, slope = slopes(difference, values)
    except (ArithmeticError, ValueError):
        return {}
    scale = values[unknown] * slope[unknown]
    return {name: 0.0 - values[name] * slope[name] / scale for name in sorted(slope) if name != unknown} if scale else {}
