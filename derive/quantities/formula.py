"""The text of a formula as the SymPy expression it was printed from, and that expression as LaTeX.

Only what formulas are made of is read: names of the registry, numbers, + - * / **, comparisons and a few functions.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from derive.quantities import QUANTITIES, symbol

if TYPE_CHECKING:
    from sympy import Basic
    from sympy.printing.latex import LatexPrinter

_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow},
    **{ast.USub: operator.neg, ast.LtE: operator.le, ast.GtE: operator.ge},
}
_THIN_SPACE = r" \, "
"""Between factors: without it letters and words of a product run together."""
_SPACED_BY_TEX = re.compile(r"(?<=\\right\)) \\, | \\, (?=\\(?:left\(|max|min|ln))")
"""Thin spaces that TeX sets by itself, before and behind what is in brackets and before the name of a function."""
NOTHING: Mapping[str, str] = MappingProxyType({})
_FUNCTIONS = frozenset({"Max", "Min", "sqrt", "exp", "log", "Abs", "ceiling", "floor"})


@cache
def as_expression(text: str) -> "Basic":
    """The expression a formula was printed from; of an inequality the relation, of several all of them.

    >>> as_expression("2*active_params*batch/(chips*mfu*peak_flops)").free_symbols == {
    ...     symbol(name) for name in ("active_params", "batch", "chips", "mfu", "peak_flops")}
    True
    >>> as_expression("batch >= 8 and batch <= 64")
    (batch >= 8) & (batch <= 64)
    """
    return _read(ast.parse(text.strip(), mode="eval").body)


def _read(node: ast.AST) -> Any:
    from sympy import And, Integer

    match node:
        case ast.Constant(value=int() as number):
            return Integer(number)
        case ast.Name(id=name):
            return symbol(name)
        case ast.UnaryOp(op=sign, operand=inner) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_read(inner))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_read(left), _read(right))
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_read(left), _read(right))
        case ast.BoolOp(op=ast.And(), values=parts):
            return And(*map(_read, parts))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _function(name)(*map(_read, arguments))
    raise ValueError(f"not a formula of quantities: {ast.unparse(node)}")


def _function(name: str) -> Callable[..., Any]:
    import sympy

    function: Callable[..., Any] = getattr(sympy, name)
    return function


def formula_in_latex(expression: "Basic", put_in: Mapping[str, str] = NOTHING, times: str = _THIN_SPACE) -> str:
    r"""An expression as LaTeX, in the symbols of the registry, or with other LaTeX in place of some quantities.

    >>> print(formula_in_latex(symbol("machine_balance_ratio") * symbol("mfu") / symbol("mbu")))
    \frac{\rho \, \mathrm{mfu}}{\mathrm{mbu}}
    >>> print(formula_in_latex(as_expression("-drafting_time + step_time")))
    t - t_{\mathrm{draft}}
    """
    symbols = {symbol(row.name): put_in.get(row.name, row.latex) for row in QUANTITIES.values()}
    return _SPACED_BY_TEX.sub(" ", _printer({"symbol_names": symbols, "mul_symbol": times, "ln_notation": True}).doprint(expression))


def _printer(settings: dict[str, Any]) -> "LatexPrinter":
    """SymPy's printer, but what is taken away stands behind what it is taken from."""
    from sympy.core.function import _coeff_isneg
    from sympy.printing.latex import LatexPrinter

    printer = LatexPrinter(settings)
    in_order = printer._as_ordered_terms
    printer._as_ordered_terms = lambda sum_, order=None: sorted(in_order(sum_, order), key=_coeff_isneg)
    return printer
