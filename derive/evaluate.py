"""Evaluate formulas: at numbers, at arrays, as exact fractions, and in fifty digits where floating point is not enough."""

from collections.abc import Mapping
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from derive.trees import (
    EXPONENTIAL,
    FLOATS,
    IN_ORDER,
    LARGEST_OF,
    LOGARITHM,
    PLAIN_NUMBER,
    ROOT,
    SMALLEST_OF,
    Operations,
    Tree,
    names,
    slopes,
    value_of,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from mpmath import MPContext, mpf

_DIGITS = 50
"""Digits of a result that floating point leaves in doubt."""

_SPARE = 70
"""Further digits of the calculation. 1 - x loses as many for an x of 1e-60, the smallest ratio of accepted inputs."""

_NAN = float("nan")


def evaluate(tree: Tree, values: "Mapping[str, float | Fraction]") -> float:
    """Return the value of a formula, or NaN off its domain.

    >>> evaluate(("/", 1, "batch"), {"batch": 4.0}), evaluate(("/", 1, "batch"), {"batch": 0.0})
    (0.25, nan)
    """
    try:
        number = value_of(tree, values)
    except (ArithmeticError, ValueError, TypeError):
        # A TypeError comes from comparing complex numbers, inside a Max that is off its domain.
        return _NAN
    return _NAN if isinstance(number, complex) else float(number)


def exact(tree: Tree, values: "Mapping[str, Fraction | float]") -> "Fraction | float":
    """Return the value of a formula as a fraction, a float where it is irrational, or NaN off its domain."""
    from fractions import Fraction

    fractions = {name: Fraction(values[name]) for name in names(tree)}
    try:
        number: Fraction | float = value_of(tree, fractions, {**FLOATS, PLAIN_NUMBER: Fraction})
    except (ArithmeticError, ValueError, TypeError):
        return _NAN
    return _NAN if isinstance(number, complex) else number


def exact_slope(tree: Tree, name: str, values: "Mapping[str, Fraction | float]") -> "Fraction | float":
    """Return the derivative of a rational formula with respect to a quantity, as a fraction, or NaN off its domain."""
    from fractions import Fraction

    fractions = {other: Fraction(values[other]) for other in names(tree)}
    try:
        _, found = slopes(tree, fractions, {**FLOATS, PLAIN_NUMBER: Fraction}, frozenset([name]))
    except ZeroDivisionError:
        return _NAN
    slope: Fraction | float = found.get(name, 0.0)
    return slope


def evaluate_arrays(tree: Tree, values: Mapping[str, Any]) -> Any:
    """Return the value of a formula at arrays that broadcast. The caller silences warnings of NumPy."""
    return value_of(tree, values, arrays())


def slope_at_arrays(tree: Tree, name: str, values: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the value of a formula at arrays, and its derivative with respect to a quantity."""
    value, found = slopes(tree, values, arrays(), frozenset([name]))
    return value, found[name]


def precise(tree: Tree, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the value of a formula in 50 digits, or NaN off its domain. It is slow.

    >>> from derive.trees import tree_of
    >>> square, tiny = tree_of("(1 + batch)**2 - 1"), {"batch": 1e-20}
    >>> evaluate(square, tiny), float(precise(square, tiny))
    (0.0, 2e-20)
    """
    context, operations = _digits()
    try:
        number = value_of(tree, {name: context.mpf(values[name]) for name in names(tree)}, operations)
    except (ArithmeticError, ValueError, TypeError):
        return context.nan
    return context.nan if isinstance(number, context.mpc) else context.mpf(number)


def precise_slope(tree: Tree, name: str, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the derivative with respect to a quantity in 50 digits, NaN off the domain, 0 if the formula does not contain it."""
    context, operations = _digits()
    try:
        _, found = slopes(tree, {name: context.mpf(values[name]) for name in names(tree)}, operations, frozenset([name]))
    except (ArithmeticError, ValueError, TypeError):
        return context.nan
    slope = found.get(name, 0)
    return context.nan if isinstance(slope, context.mpc) else context.mpf(slope)


@cache
def arrays() -> Operations:
    """Return the operations for arrays."""
    import numpy as np

    def largest(*terms: Any) -> Any:
        return reduce(np.maximum, terms)

    def smallest(*terms: Any) -> Any:
        return reduce(np.minimum, terms)

    return {**IN_ORDER, ROOT: np.sqrt, LOGARITHM: np.log, EXPONENTIAL: np.exp, LARGEST_OF: largest, SMALLEST_OF: smallest}


@cache
def _digits() -> "tuple[MPContext, Operations]":
    """Return the operations in 50 digits, in a separate context, as another thread may change the digits of mpmath."""
    from mpmath import MPContext

    context = MPContext()
    context.dps = _DIGITS + _SPARE
    functions = {ROOT: context.sqrt, LOGARITHM: context.log, EXPONENTIAL: context.exp, LARGEST_OF: max, SMALLEST_OF: min}
    return context, {**IN_ORDER, **functions, PLAIN_NUMBER: context.mpf}
