"""Formulas in SymPy and in LaTeX: the expression of a text, and the symbols of the registry.

The reader of texts accepts only the elements of formulas: names of the registry, numbers, + - * / **, comparisons and a few functions.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from derive.errors import UnknownName
from derive.quantities import QUANTITIES, quantity, symbol
from derive.trees import FUNCTIONS, IN_ORDER, PLAIN_NUMBER, Alphabet, Operations, Tree, names, print_tree, tree_of, value_of

if TYPE_CHECKING:
    from sympy import Basic, Symbol

_COMPARISONS: Mapping[str, Callable[..., Any]] = {"<=": operator.le, ">=": operator.ge}
_THIN_SPACE = r" \, "
"""Space between factors, so that letters and words of a product stay separate."""
_SPACED_BY_TEX = r"(?<=\\right\)) \\, | \\, (?=\\(?:left\(|max|min|ln))"
"""Thin spaces that TeX adds itself: around brackets, and before the name of a function."""
NOTHING: Mapping[str, str] = MappingProxyType({})
_SIGNS = {"=": "=", "<=": r"\leq", ">=": r"\geq"}
_SQUARE = 2


@cache
def as_expression(text: str) -> "Basic":
    """Return the SymPy expression of a printed formula: a relation for an inequality, a conjunction for several.

    >>> as_expression("2*active_params*batch/(chips*mfu*peak_flops)").free_symbols == {
    ...     symbol(name) for name in ("active_params", "batch", "chips", "mfu", "peak_flops")}
    True
    >>> as_expression("batch >= 8 and batch <= 64")
    (batch >= 8) & (batch <= 64)
    """
    import sympy

    named = {name: getattr(sympy, name) for name in FUNCTIONS}
    parts = [_relation(part, {**IN_ORDER, **named, PLAIN_NUMBER: _whole_number}) for part in text.split(" and ")]
    return sympy.And(*parts) if len(parts) > 1 else parts[0]


def _latex_of(name: str) -> str:
    """Return the symbol of a quantity, or the name itself if only a retired equation still has it."""
    return QUANTITIES[name].latex if name in QUANTITIES else rf"\mathrm{{{name}}}".replace("_", r"\_")


def _relation(text: str, operations: Operations) -> "Basic":
    """Return the expression of a formula, or of two with a sign between them."""
    left, *rest = re.split(" ([<>]=) ", text.strip())
    trees = [tree_of(one) for one in (left, *rest[1:])]
    sides = [value_of(tree, {name: symbol(name) for name in names(tree)}, operations) for tree in trees]
    relation: Basic = (_COMPARISONS[rest[0]](*sides)) if rest else sides[0]
    return relation


def _whole_number(number: float) -> "Basic":
    from sympy import Integer

    if not isinstance(number, int):
        raise ValueError(f"not a formula of quantities: {number}")
    return Integer(number)


def as_tree(expression: "Basic") -> Tree:
    """Return the tree of a SymPy expression of quantities.

    >>> as_tree(symbol("batch") / symbol("chips") - 1)
    ('+', ('/', 'batch', 'chips'), ('-', 1))
    """
    return tree_of(str(expression))


def symbolic_in_latex(expression: "Basic") -> str:
    """Return the LaTeX of an expression that may hold symbols of a reader's own, as SymPy prints them."""
    from sympy import latex

    names = {symbol(row.name): row.latex for row in QUANTITIES.values()}
    return re.sub(_SPACED_BY_TEX, " ", latex(expression, symbol_names=names, mul_symbol=_THIN_SPACE, ln_notation=True))


def formula_in_latex(formula: str, put_in: Mapping[str, str] = NOTHING, times: str = _THIN_SPACE) -> str:
    r"""Return the LaTeX of a formula or of inequalities, in the symbols of the registry or with other LaTeX for some quantities.

    >>> print(formula_in_latex("machine_balance_ratio*mfu/mbu"))
    \frac{\rho \, \mathrm{mfu}}{\mathrm{mbu}}
    >>> print(formula_in_latex("batch >= 8 and batch <= 64"))
    B \geq 8 \wedge B \leq 64
    """
    return r" \wedge ".join(_relation_in_latex(part, put_in, times) for part in formula.split(" and "))


def _relation_in_latex(part: str, put_in: Mapping[str, str], times: str) -> str:
    return " ".join(
        _SIGNS[one] if one in _SIGNS else tree_in_latex(tree_of(one), put_in, times) for one in re.split(" ([<>]?=) ", part.strip())
    )


def equation_in_latex(left: Tree, sign: str, right: Tree) -> str:
    r"""Return the LaTeX of two sides with a sign between them.

    >>> print(equation_in_latex("ridge_point", "=", ("/", "peak_flops", "hbm_bandwidth")))
    \beta = \frac{F}{W}
    """
    return f"{tree_in_latex(left)} {_SIGNS[sign]} {tree_in_latex(right)}"


def tree_in_latex(tree: Tree, put_in: Mapping[str, str] = NOTHING, times: str = _THIN_SPACE) -> str:
    r"""Return the LaTeX of a tree. Negative terms come after positive ones.

    >>> print(tree_in_latex(tree_of("-drafting_time + step_time")))
    t - t_{\mathrm{draft}}
    """
    alphabet = replace(_LATEX, symbol=lambda name: put_in.get(name) or _latex_of(name), times=times, times_number=times)
    return re.sub(_SPACED_BY_TEX, " ", print_tree(tree, alphabet))


def _power_in_latex(base: str, exponent: str) -> str:
    """Return a power. A symbol with an exponent of its own and a number with a unit get parentheses."""
    is_bare = base.startswith(_LEFT) or not ("^" in base or r"\," in base)
    return f"{base if is_bare else _LATEX.parentheses(base)}^{{{exponent}}}"


def _call_in_latex(name: str, arguments: list[str]) -> str:
    all_arguments = ", ".join(arguments)
    match name:
        case "exp":
            return f"e^{{{all_arguments}}}"
        case "log":
            return rf"\ln{{{_LEFT}{all_arguments} \right)}}"
        case "ceiling" | "floor":
            edge = name.removesuffix("ing")
            return rf"\left\l{edge}{{{all_arguments}}}\right\r{edge}"
    return rf"\{name.lower()}{_LATEX.parentheses(all_arguments)}"


_LEFT = r"\left("
_LATEX = Alphabet(
    symbol=str,
    number=str,
    parentheses=lambda inner: rf"{_LEFT}{inner}\right)",
    power=_power_in_latex,
    call=_call_in_latex,
    ratio=r"\frac{{{}}}{{{}}}".format,
    root=lambda inner, degree: rf"\sqrt{f'[{degree}]' if degree > _SQUARE else ''}{{{inner}}}" if degree else "",
    first_minus="- ",
    positive_terms_first=True,
)
"""The signs of LaTeX. The symbols and the sign of multiplication are put in at each call."""


class Symbols(Mapping[str, "Symbol"]):
    """Every quantity as the SymPy symbol in the equations, by its name or its short symbol.

    >>> symbols.batch, symbols["batch"] is symbols.B, symbols.batch.is_positive
    (batch, True, True)
    """

    def __getitem__(self, name: str) -> "Symbol":
        return symbol(quantity(name).name)

    def __getattr__(self, name: str) -> "Symbol":
        if name.startswith("_"):
            # Attributes that tools look up on any object are not quantities, and need no suggestion.
            raise AttributeError(name)
        try:
            return self[name]
        except UnknownName as mistake:
            raise AttributeError(str(mistake)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(QUANTITIES)

    def __len__(self) -> int:
        return len(QUANTITIES)

    def __contains__(self, name: object) -> bool:
        return name in QUANTITIES

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *QUANTITIES]

    def __repr__(self) -> str:
        return f"<the symbols of {len(self)} quantities>"


symbols = Symbols()
