"""SymPy expressions as numerical functions, compiled once: the only numerics anyone else may use."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from derive.quantities import symbol

if TYPE_CHECKING:
    from sympy import Expr


@cache
def scalar(expressions: "Expr | tuple[Expr, ...]", names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of numbers, in the order of `names`; raises ArithmeticError or ValueError off its domain.

    >>> scalar(symbol("batch") / 2, ("batch",))(3.0)
    1.5
    """
    from sympy import lambdify

    return lambdify([symbol(name) for name in names], expressions, modules="math")


@cache
def vectorised(expressions: "Expr | tuple[Expr, ...]", names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of arrays (or numbers) that broadcast, in the order of `names`."""
    from sympy import lambdify
    from sympy.printing.numpy import NumPyPrinter

    # With the printer given, only the functions printed are imported: modules="numpy" loads all of numpy, numpy.f2py included.
    printer = NumPyPrinter({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    return lambdify([symbol(name) for name in names], expressions, modules=[{}], printer=printer)


def evaluate(expression: "Expr", values: Mapping[str, float]) -> float:
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


@cache
def _function(expression: "Expr") -> tuple[tuple[str, ...], Callable[..., float]]:
    names = tuple(sorted(part.name for part in expression.free_symbols))
    if names:
        return names, scalar(expression, names)
    number = float(expression)
    return names, lambda: number
