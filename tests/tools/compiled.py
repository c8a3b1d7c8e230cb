"""Expressions of SymPy as functions that SymPy itself compiles: a reading of them that shares no code with ours."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from derive.quantities import symbol

if TYPE_CHECKING:
    from sympy import Expr


@cache
def scalar(expressions: "Expr | tuple[Expr, ...]", names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of numbers, in the order of `names`; raises ArithmeticError or ValueError off its domain."""
    from sympy import lambdify

    return lambdify([symbol(name) for name in names], expressions, modules="math", docstring_limit=0)


@cache
def vectorised(expressions: "Expr | tuple[Expr, ...]", names: tuple[str, ...]) -> Callable[..., Any]:
    """A function of arrays (or numbers) that broadcast, in the order of `names`."""
    from sympy import lambdify

    return lambdify([symbol(name) for name in names], expressions, modules="numpy", docstring_limit=0)
