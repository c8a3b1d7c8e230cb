"""SymPy expressions as numerical functions, compiled once: the only numerics anyone else may use."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from derive.quantities import symbol

if TYPE_CHECKING:
    from fractions import Fraction

    from mpmath import MPContext, mpf
    from sympy import Expr

DIGITS = 50
"""What a doubtful number is worked out with, from the very numbers that were given."""


@cache
def scalar(expressions: "Expr | tuple[Expr, ...]", names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of numbers, in the order of `names`; raises ArithmeticError or ValueError off its domain.

    >>> scalar(symbol("batch") / 2, ("batch",))(3.0)
    1.5
    """
    from sympy import lambdify

    function: Callable[..., Any] = lambdify([symbol(name) for name in names], expressions, modules="math", docstring_limit=0)
    return function


@cache
def vectorised(expressions: "Expr | tuple[Expr, ...]", names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of arrays (or numbers) that broadcast, in the order of `names`."""
    from sympy import lambdify
    from sympy.printing.numpy import NumPyPrinter

    # With the printer given, only the functions printed are imported: modules="numpy" loads all of numpy, numpy.f2py included.
    printer = NumPyPrinter({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    function: Callable[..., Any] = lambdify([symbol(name) for name in names], expressions, modules=[{}], printer=printer, docstring_limit=0)
    return function


def evaluate(expression: "Expr", values: "Mapping[str, float | Fraction]") -> float:
    """The number an expression takes; NaN off its domain.

    >>> evaluate(1 / symbol("batch"), {"batch": 4.0}), evaluate(1 / symbol("batch"), {"batch": 0.0})
    (0.25, nan)
    """
    names, function = _function(expression)
    try:
        number = function(*(values[name] for name in names))
    except (ArithmeticError, ValueError, TypeError):
        # A TypeError is the comparison of complex numbers, inside a Max that is off its domain.
        return float("nan")
    return float("nan") if isinstance(number, complex) else float(number)


def precise(expression: "Expr", values: "Mapping[str, float | mpf]") -> "mpf":
    """The number an expression takes, in 50 digits; NaN off its domain. Slow: for the last digits of what is in doubt.

    >>> square, tiny = (1 + symbol("batch")) ** 2 - 1, {"batch": 1e-20}
    >>> evaluate(square, tiny), float(precise(square, tiny))
    (0.0, 2e-20)
    """
    context = _context()
    names, function = _in_digits(expression)
    try:
        number = function(*(context.mpf(values[name]) for name in names))
    except (ArithmeticError, ValueError, TypeError):
        return context.nan
    return context.nan if isinstance(number, context.mpc) else context.mpf(number)


@cache
def _context() -> "MPContext":
    """An own one: that of mpmath may be set to other digits by another thread."""
    from mpmath import MPContext

    context = MPContext()
    context.dps = DIGITS
    return context


@cache
def _in_digits(expression: "Expr") -> "tuple[tuple[str, ...], Callable[..., Any]]":
    from sympy import lambdify
    from sympy.printing.pycode import MpmathPrinter

    printer = MpmathPrinter({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    names = tuple(sorted(part.name for part in expression.free_symbols))
    context = _context()
    functions = {name: getattr(context, name) for name in ("mpf", "sqrt", "exp", "log")}
    return names, lambdify([symbol(name) for name in names], expression, modules=[functions], printer=printer, docstring_limit=0)


@cache
def _function(expression: "Expr") -> tuple[tuple[str, ...], Callable[..., float]]:
    names = tuple(sorted(part.name for part in expression.free_symbols))
    if names:
        return names, scalar(expression, names)
    number = float(expression)
    return names, lambda: number
