"""SymPy expressions as numerical functions, compiled once: the only numerics anyone else may use."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from derive.quantities import symbol
from derive.records import Equation

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

    return lambdify([symbol(name) for name in names], expressions, modules="numpy")


def right_side(equation: Equation, values: Mapping[str, Any]) -> Any:
    """The right side of an equation at arrays or numbers given by quantity name; the left side is not needed.

    Numbers go through the relation itself, so that a few of them cost no compilation.

    >>> from derive.catalogue import equation
    >>> right_side(equation("scheduling.sweep_time"), {"hbm_capacity": 288e9, "hbm_bandwidth": 20e12})
    0.0144
    """
    names = equation.symbols[1:]
    if all(isinstance(values[name], int | float) for name in names):
        return equation.right_side(values)
    return vectorised(equation.sides[1], names)(*(values[name] for name in names))


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
