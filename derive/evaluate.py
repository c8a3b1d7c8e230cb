"""Evaluate formulas with numbers, with arrays, as exact fractions, and in fifty digits if floating point is not enough."""

from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from derive import trees
from derive.trees import FLOATS, IN_ORDER, Operations, Tree, names, slopes, value_of

if TYPE_CHECKING:
    from fractions import Fraction

    from mpmath import mpf

_DIGITS = 50
"""Digits of a result that floating point leaves in doubt."""

_SPARE = 70
"""Further digits of the calculation. 1 - x loses as many for an x of 1e-60, the smallest ratio of accepted inputs."""

_NAN = float("nan")
_OFF_DOMAIN = (ArithmeticError, ValueError, TypeError)
"""Errors of a formula off its domain. A TypeError comes from comparing complex numbers, inside a Max."""


class _Kind(NamedTuple):
    """A kind of numbers: its constructor, its operations, and its complex type, whose values are outside every domain."""

    number: Callable[[Any], Any]
    by: Operations
    complex: type = complex


def evaluate(tree: Tree, values: "Mapping[str, float | Fraction]") -> float:
    """Return the value of a formula, or NaN off its domain.

    >>> evaluate(("/", 1, "batch"), {"batch": 4.0}), evaluate(("/", 1, "batch"), {"batch": 0.0})
    (0.25, nan)
    """
    try:
        number = value_of(tree, values)
    except _OFF_DOMAIN:
        return _NAN
    return _NAN if isinstance(number, complex) else float(number)


def exact(tree: Tree, values: "Mapping[str, Fraction | float]") -> "Fraction | float":
    """Return the value of a formula as a fraction (a float if it is irrational), or NaN off its domain."""
    found: Fraction | float = _value(tree, values, _fractions())
    return found


def exact_slope(tree: Tree, name: str, values: "Mapping[str, Fraction | float]") -> "Fraction | float":
    """Return the derivative of a rational formula with respect to a quantity, as a fraction, or NaN off its domain."""
    found: Fraction | float = _slope(tree, name, values, _fractions())
    return found


def precise(tree: Tree, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the value of a formula in 50 digits, or NaN off its domain. It is slow.

    >>> from derive.trees import tree_of
    >>> square, tiny = tree_of("(1 + batch)**2 - 1"), {"batch": 1e-20}
    >>> evaluate(square, tiny), float(precise(square, tiny))
    (0.0, 2e-20)
    """
    return _value(tree, values, _many_digits())


def precise_slope(tree: Tree, name: str, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the derivative with respect to a quantity in 50 digits, NaN off the domain, 0 if the formula does not contain it."""
    return _slope(tree, name, values, _many_digits())


def _value(tree: Tree, values: Mapping[str, Any], kind: _Kind) -> Any:
    try:
        number = value_of(tree, {name: kind.number(values[name]) for name in names(tree)}, kind.by)
    except _OFF_DOMAIN:
        return _NAN
    return _NAN if isinstance(number, kind.complex) else number


def _slope(tree: Tree, name: str, values: Mapping[str, Any], kind: _Kind) -> Any:
    try:
        _, found = slopes(tree, {other: kind.number(values[other]) for other in names(tree)}, kind.by, frozenset([name]))
    except _OFF_DOMAIN:
        return _NAN
    return _NAN if isinstance(found.get(name), kind.complex) else kind.number(found.get(name, 0))


def evaluate_arrays(tree: Tree, values: Mapping[str, Any]) -> Any:
    """Return the value of a formula at arrays that broadcast. The caller silences warnings of NumPy."""
    return value_of(tree, values, arrays())


def slope_at_arrays(tree: Tree, name: str, values: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the value of a formula at arrays, and its derivative with respect to a quantity."""
    value, found = slopes(tree, values, arrays(), frozenset([name]))
    return value, found[name]


def _operations(functions: Any, largest: Callable[..., Any] = max, smallest: Callable[..., Any] = min) -> Operations:
    """Return the operations with the functions of a module for roots, logarithms and exponentials."""
    named = {trees.ROOT: functions.sqrt, trees.LOGARITHM: functions.log, trees.EXPONENTIAL: functions.exp}
    return {**IN_ORDER, **named, trees.LARGEST_OF: largest, trees.SMALLEST_OF: smallest}


@cache
def arrays() -> Operations:
    """Return the operations for arrays."""
    import numpy as np

    return _operations(np, lambda *terms: reduce(np.maximum, terms), lambda *terms: reduce(np.minimum, terms))


@cache
def _fractions() -> _Kind:
    from fractions import Fraction

    return _Kind(Fraction, {**FLOATS, trees.PLAIN_NUMBER: Fraction})


@cache
def _many_digits() -> _Kind:
    """Return numbers of 50 digits, in a separate context, because another thread may change the digits of mpmath."""
    from mpmath import MPContext

    context = MPContext()
    context.dps = _DIGITS + _SPARE
    return _Kind(context.mpf, {**_operations(context), trees.PLAIN_NUMBER: context.mpf}, context.mpc)
