"""Evaluate formulas with numbers, with arrays, and in fifty digits if floating point is not enough."""

from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from derive import trees
from derive.trees import IN_ORDER, Operations, Tree, names, slopes, value_of

if TYPE_CHECKING:
    from mpmath import MPContext, mpf

_DIGITS = 50
"""Digits of a result that floating point leaves in doubt."""

_SPARE = 70
"""Further digits of the calculation. 1 - x loses as many for an x of 1e-60, the smallest ratio of accepted inputs."""

_NAN = float("nan")
_OFF_DOMAIN = (ArithmeticError, ValueError, TypeError)
"""Errors of a formula off its domain. A TypeError comes from comparing complex numbers, inside a Max."""


def evaluate(tree: Tree, values: "Mapping[str, float | mpf]") -> float:
    """Return the value of a formula, or NaN off its domain.

    >>> evaluate(("/", 1, "batch"), {"batch": 4.0}), evaluate(("/", 1, "batch"), {"batch": 0.0})
    (0.25, nan)
    """
    try:
        number = value_of(tree, values)
    except _OFF_DOMAIN:
        return _NAN
    return _NAN if isinstance(number, complex) else float(number)


def precise(tree: Tree, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the value of a formula in 50 digits, or NaN off its domain. It is slow.

    >>> from derive.trees import tree_of
    >>> square, tiny = tree_of("(1 + batch)**2 - 1"), {"batch": 1e-20}
    >>> evaluate(square, tiny), float(precise(square, tiny))
    (0.0, 2e-20)
    """
    context, by = _many_digits()
    try:
        number = value_of(tree, {name: context.mpf(values[name]) for name in names(tree)}, by)
    except _OFF_DOMAIN:
        return _NAN
    return _NAN if isinstance(number, context.mpc) else number


def precise_slope(tree: Tree, name: str, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the derivative with respect to a quantity in 50 digits, NaN off the domain, 0 if the formula does not contain it."""
    context, by = _many_digits()
    try:
        _, found = slopes(tree, {other: context.mpf(values[other]) for other in names(tree)}, by, frozenset([name]))
    except _OFF_DOMAIN:
        return _NAN
    return _NAN if isinstance(found.get(name), context.mpc) else context.mpf(found.get(name, 0))


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
def _many_digits() -> "tuple[MPContext, Operations]":
    """Return numbers of 50 digits and their operations, in a separate context: another thread may change the digits of mpmath."""
    from mpmath import MPContext

    context = MPContext()
    context.dps = _DIGITS + _SPARE
    return context, {**_operations(context), trees.PLAIN_NUMBER: context.mpf}
