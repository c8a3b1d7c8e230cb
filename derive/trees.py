"""Formulas as small trees: read from text or from a function, printed, evaluated at values of any kind, and differentiated.

A tree is the name of a quantity, a number, or a tuple of an operation and its operands. It is data: it can be written to a file, and it is
never executed.
"""

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from math import nan
from operator import add, mul, neg, pow, truediv
from typing import TYPE_CHECKING, Any

from derive.immutable import immutable

if TYPE_CHECKING:
    from mpmath import MPContext, mpf

Tree = str | int | float | tuple[Any, ...]
TreePair = tuple[Tree, Tree]
Roots = tuple[Tree, ...] | None
"""Closed forms, or None if there are none."""

SUM, PRODUCT, RATIO, RAISED, MINUS = "+", "*", "/", "**", "-"
"""A sum and a product of any number of operands, a ratio and a power of two operands, and the minus of one."""
ROOT, LOGARITHM, EXPONENTIAL, LARGEST_OF, SMALLEST_OF = "sqrt", "log", "exp", "Max", "Min"
FUNCTIONS = (ROOT, LOGARITHM, EXPONENTIAL, LARGEST_OF, SMALLEST_OF, "ceiling", "floor")
"""Functions that a formula may contain. A formula that is solved contains no ceiling and no floor."""

Operations = Mapping[str, Callable[..., Any]]
"""A function for each operation on values of one kind, and one for a plain number in a tree."""
PLAIN_NUMBER = "number"

IN_ORDER: Operations = {
    SUM: lambda *terms: reduce(add, terms),
    PRODUCT: lambda *factors: reduce(mul, factors),
    RATIO: truediv,
    RAISED: pow,
    MINUS: neg,
    PLAIN_NUMBER: lambda number: number,
}
"""Operations that are the same for all kinds of values, from left to right as written."""


def _operations(functions: Any, largest: Callable[..., Any] = max, smallest: Callable[..., Any] = min) -> Operations:
    """Return the operations with the functions of a module for roots, logarithms and exponentials."""
    named = {ROOT: functions.sqrt, LOGARITHM: functions.log, EXPONENTIAL: functions.exp}
    return {**IN_ORDER, **named, LARGEST_OF: largest, SMALLEST_OF: smallest}


FLOATS = _operations(math)


def value_of(tree: Tree, values: Mapping[str, Any], by: Operations = FLOATS) -> Any:
    """Return the value of a tree at values by quantity name. Raise ArithmeticError or ValueError off its domain.

    >>> value_of(("/", ("*", 2, "batch"), "chips"), {"batch": 3.0, "chips": 4.0})
    1.5
    """
    if isinstance(tree, tuple):
        # Most parts are names: a call for each would take as long as the arithmetic.
        return by[tree[0]](*[values[part] if isinstance(part, str) else value_of(part, values, by) for part in tree[1:]])
    return values[tree] if isinstance(tree, str) else by[PLAIN_NUMBER](tree)


def slopes(
    tree: Tree, values: Mapping[str, Any], by: Operations = FLOATS, wanted: frozenset[str] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return the value of a tree, and its derivatives with respect to all or some quantities, by the chain rule.

    >>> slopes(("*", "batch", "batch", "chips"), {"batch": 3.0, "chips": 2.0})
    (18.0, {'batch': 12.0, 'chips': 9.0})
    """
    wanted = names(tree) if wanted is None else wanted
    if isinstance(tree, str):
        return values[tree], {tree: 1} if tree in wanted else {}
    if not isinstance(tree, tuple):
        return by[PLAIN_NUMBER](tree), {}
    numbers, inner = zip(*(slopes(part, values, by, wanted) for part in tree[1:]), strict=True)
    value = by[tree[0]](*numbers)
    found: dict[str, Any] = {}
    for place, slopes_of_part in enumerate(inner):
        weight = _slope_of_part(tree[0], place, value, numbers, by) if slopes_of_part else 0
        for name, slope in slopes_of_part.items():
            found[name] = found[name] + weight * slope if name in found else weight * slope
    return value, found


def _slope_of_part(operation: str, place: int, value: Any, parts: Sequence[Any], by: Operations) -> Any:
    """Return the derivative of an operation with respect to one of its operands."""
    part = parts[place]
    match operation:
        case "+":
            return 1
        case "-":
            return -1
        case "*":
            return by[PRODUCT](*parts[:place], *parts[place + 1 :])
        case "/":
            return 1 / parts[1] if place == 0 else -value / part
        case "**":
            base, exponent = parts
            return exponent * base ** (exponent - 1) if place == 0 else value * by[LOGARITHM](base)
        case "sqrt":
            return 1 / (2 * value)
        case "log":
            return 1 / part
        case "exp":
            return value
    # A Max or Min changes only with the term that it equals.
    return (part == value) * 1


@cache
def names(tree: Tree) -> frozenset[str]:
    """Return the quantities in a tree."""
    return frozenset(part for part in all_parts(tree) if isinstance(part, str))


def all_parts(tree: Tree) -> list[Tree]:
    """Return the tree and all of its parts, each before its own parts."""
    found, left = list[Tree](), [tree]
    while left:
        found.append(part := left.pop())
        left += reversed(part[1:]) if isinstance(part, tuple) else ()
    return found


def terms(tree: Tree) -> tuple[Tree, ...]:
    """Return the terms of a sum. Any other tree is its only term."""
    return tree[1:] if isinstance(tree, tuple) and tree[0] == SUM else (tree,)


def factors(tree: Tree) -> Iterator[str]:
    """Yield the quantities that are factors of a term."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, tuple):
        for part in tree[1:] if tree[0] in (PRODUCT, MINUS) else tree[1:2] if tree[0] == RATIO else ():
            yield from factors(part)


def put_into(tree: Tree, values: Mapping[Any, Tree]) -> Tree:
    """Return the tree with other trees in place of some quantities or parts, all at once.

    >>> text(put_into(("/", "batch", "chips"), {"chips": ("*", 8, "replicas")}))
    'batch/(8*replicas)'
    """
    if tree in values:
        return values[tree]
    return (tree[0], *(put_into(part, values) for part in tree[1:])) if isinstance(tree, tuple) else tree


def difference(left: Tree, right: Tree) -> Tree:
    """Return one tree minus another, as one sum."""
    less = (term[1] if isinstance(term, tuple) and term[0] == MINUS else (MINUS, term) for term in terms(right) if term != 0)
    return sum_of((*(() if left == 0 else terms(left)), *less))


def negated(tree: Tree) -> Tree:
    """Return a term with the opposite sign.

    >>> text(negated(tree_of("-2*batch/chips"))), text(negated("batch"))
    ('2*batch/chips', '-batch')
    """
    if isinstance(tree, tuple) and tree[0] == MINUS:
        inner: Tree = tree[1]
        return inner
    if isinstance(tree, tuple) and is_negative(tree):
        return (tree[0], negated(tree[1]), *tree[2:])
    return -tree if isinstance(tree, int | float) else (MINUS, tree)


def sum_of(terms: Sequence[Tree]) -> Tree:
    """Return the sum of terms: a single term unchanged, and 0 for no terms."""
    return (SUM, *terms) if len(terms) > 1 else (*terms, 0)[0]


def is_negative(tree: Tree) -> bool:
    """Return whether a term is written with a minus before it."""
    if isinstance(tree, tuple):
        return tree[0] == MINUS or (tree[0] in (PRODUCT, RATIO) and is_negative(tree[1]))
    return not isinstance(tree, str) and tree < 0


# -- evaluating ---------------------------------------------------------------------------------------------------------

_DIGITS = 50 + 70
"""Digits of a result that floating point leaves in doubt, and 70 spare ones. 1 - x loses 60 of them for an x of 1e-60, the least ratio."""

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
        return nan
    return nan if isinstance(number, complex) else float(number)


def precise(tree: Tree, values: "Mapping[str, float | mpf]") -> "mpf":
    """Return the value of a formula in 50 digits, or NaN off its domain. It is slow.

    >>> from derive.trees import tree_of
    >>> square, tiny = tree_of("(1 + batch)**2 - 1"), {"batch": 1e-20}
    >>> evaluate(square, tiny), float(precise(square, tiny))
    (0.0, 2e-20)
    """
    return precise_slopes(tree, values, frozenset())[0]


def precise_slopes(tree: Tree, values: "Mapping[str, float | mpf]", wanted: frozenset[str] | None = None) -> "tuple[mpf, dict[str, mpf]]":
    """Return the value of a formula and its derivatives with respect to all or some quantities, in 50 digits, or NaN off its domain."""
    context, by = _many_digits()
    try:
        number, found = slopes(tree, {other: context.mpf(values[other]) for other in names(tree)}, by, wanted)
    except _OFF_DOMAIN:
        return nan, {}
    return nan if isinstance(number, context.mpc) else number, found


def evaluate_arrays(tree: Tree, values: Mapping[str, Any]) -> Any:
    """Return the value of a formula at arrays that broadcast. The caller silences warnings of NumPy."""
    return value_of(tree, values, arrays())


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
    context.dps = _DIGITS
    return context, {**_operations(context), PLAIN_NUMBER: context.mpf}


# -- printing -----------------------------------------------------------------------------------------------------------

_TERMS, _FACTORS, _POWER, _WHOLE = range(4)
"""Strength of the outer operation of a printed tree: a sum, a product, a power, one symbol. A weaker operand gets parentheses."""


@immutable
class Alphabet:
    """The signs of one notation, such as Python text, LaTeX or MathML.

    With `ratio`, fractions are stacked and exponents raised. Neither needs parentheses. `root` returns "" for a degree without
    a sign of its own.
    """

    symbol: Callable[[str], str]
    number: Callable[[int | float], str]
    parentheses: Callable[[str], str]
    power: Callable[[str, str], str]
    call: Callable[[str, list[str]], str]
    ratio: Callable[[str, str], str] | None = None
    root: Callable[[str, int], str] | None = None
    first_minus: str = "-"
    minus: str = " - "
    plus: str = " + "
    times: str = "*"
    times_number: str = "*"
    slash_in_exponent: str = ""
    positive_terms_first: bool = False


PYTHON = Alphabet(
    symbol=str,
    number=str,
    parentheses="({})".format,
    power="{}**{}".format,
    call=lambda name, arguments: f"{name}({', '.join(arguments)})",
)


@cache
def text(tree: Tree) -> str:
    """Return a tree as Python text with no more parentheses than it needs, as SymPy prints it.

    >>> text(("/", ("+", "batch", ("-", 1)), ("*", 2, ("**", "chips", 3))))
    '(batch - 1)/(2*chips**3)'
    """
    return print_tree(tree, PYTHON)


def print_tree(tree: Tree, alphabet: Alphabet) -> str:
    """Return a tree in one notation with no more parentheses than it needs."""
    return _printed(tree, alphabet)[0]


def _printed(tree: Tree, alphabet: Alphabet) -> tuple[str, int]:
    """Return a printed tree, and how strongly it binds."""
    if isinstance(tree, str):
        return alphabet.symbol(tree), _WHOLE
    if not isinstance(tree, tuple):
        return alphabet.number(tree), _TERMS if tree < 0 else _WHOLE

    def part(inner: Tree, least: int = _TERMS) -> str:
        printed, strength = _printed(inner, alphabet)
        return printed if strength >= least else alphabet.parentheses(printed)

    operation, *inner = tree
    stacked = alphabet.ratio
    match operation:
        case "+":
            first, *others = sorted(inner, key=is_negative) if alphabet.positive_terms_first else inner
            return part(first) + "".join(_later_term(term, alphabet, part) for term in others), _TERMS
        case "-":
            return alphabet.first_minus + part(inner[0], _FACTORS), _TERMS
        case "*":
            return _first_factor(inner[0], part) + "".join(_later_factor(factor, alphabet, part) for factor in inner[1:]), _FACTORS
        case "/" if stacked and is_negative(inner[0]):
            return _printed((MINUS, (RATIO, negated(inner[0]), inner[1])), alphabet)
        case "/":
            return stacked(*map(part, inner)) if stacked else f"{_first_factor(inner[0], part)}/{part(inner[1], _POWER)}", _FACTORS
        case "sqrt" | "**" if alphabet.root and (root := alphabet.root(part(inner[0]), _degree(*inner[1:]))):
            return root, _FACTORS
        case "**":
            return alphabet.power(part(inner[0], _WHOLE), _exponent(inner[1], alphabet, part)), _FACTORS if stacked else _POWER
    return alphabet.call(operation, list(map(part, inner))), _FACTORS if stacked else _WHOLE


_Part = Callable[..., str]


def _later_term(term: Tree, alphabet: Alphabet, part: _Part) -> str:
    if is_negative(term):
        return alphabet.minus + part(negated(term), _FACTORS)
    return alphabet.plus + part(term, _TERMS if alphabet.ratio else _FACTORS)


def _first_factor(factor: Tree, part: _Part) -> str:
    """Return the first factor of a product, which may begin with a minus."""
    return part(factor, _TERMS if is_negative(factor) else _FACTORS)


def _later_factor(factor: Tree, alphabet: Alphabet, part: _Part) -> str:
    sign = alphabet.times if isinstance(factor, str | tuple) else alphabet.times_number
    return sign + part(factor, _WHOLE if is_negative(factor) else _FACTORS if alphabet.ratio else _POWER)


def _exponent(exponent: Tree, alphabet: Alphabet, part: _Part) -> str:
    if alphabet.slash_in_exponent and isinstance(exponent, tuple) and exponent[0] == RATIO:
        return f"{part(exponent[1], _FACTORS)}{alphabet.slash_in_exponent}{part(exponent[2], _WHOLE)}"
    return part(exponent, _TERMS if alphabet.ratio else _WHOLE)


def _degree(exponent: Tree = (RATIO, 1, 2)) -> int:
    """Return n of an exponent 1/n, and 0 for any other exponent."""
    match exponent:
        case ("/", 1, int() as degree):
            return degree
    return 0


# -- reading ------------------------------------------------------------------------------------------------------------


@cache
def tree_of(written: str) -> Tree:
    """Return the tree of a text with names, numbers, + - * / **, and the functions of formulas. Raise ValueError for anything else.

    >>> tree_of("batch*(chips - 1)/2")
    ('/', ('*', 'batch', ('+', 'chips', ('-', 1))), 2)
    """
    return _parse_node(ast.parse(written, mode="eval").body)


_SIGNS = {ast.Add: SUM, ast.Sub: SUM, ast.Mult: PRODUCT, ast.Div: RATIO, ast.Pow: RAISED}


def _parse_node(node: ast.AST) -> Tree:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id="nan" | "zoo"):
            return nan
        case ast.Name(id=name):
            return name
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return (MINUS, _parse_node(inner))
        case ast.BinOp(left=before, op=sign, right=after) if type(sign) in _SIGNS:
            operation, first, last = _SIGNS[type(sign)], _parse_node(before), _parse_node(after)
            last = (MINUS, last) if isinstance(sign, ast.Sub) else last
            # Terms or factors in a row, without parentheses, are one sum or one product.
            chained = operation in (SUM, PRODUCT) and isinstance(first, tuple) and first[0] == operation
            return (*first, last) if chained and isinstance(first, tuple) else (operation, first, last)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return (name, *map(_parse_node, arguments))
    raise ValueError(f"not a formula of quantities: {ast.unparse(node)}")


AT_LEAST, AT_MOST, _ABOVE, _BELOW = ">=", "<=", ">", "<"


def _operator(operation: str) -> "Callable[[Written, Any], Written]":
    return lambda self, other: written(operation, self, other)


def _reflected(operation: str) -> "Callable[[Written, Any], Written]":
    return lambda self, other: written(operation, other, self)


class Written:
    """A tree that supports arithmetic. The result of an operation is a larger tree."""

    __slots__ = ("tree",)

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    __add__, __radd__ = _operator(SUM), _reflected(SUM)
    __mul__, __rmul__ = _operator(PRODUCT), _reflected(PRODUCT)
    __truediv__, __rtruediv__ = _operator(RATIO), _reflected(RATIO)
    __pow__, __rpow__ = _operator(RAISED), _reflected(RAISED)
    __ge__, __gt__, __le__, __lt__ = map(_operator, (AT_LEAST, _ABOVE, AT_MOST, _BELOW))

    def __sub__(self, other: Any) -> "Written":
        return self + Written((MINUS, tree_of_value(other)))

    def __rsub__(self, other: Any) -> "Written":
        return written(SUM, other, -self)

    def __neg__(self) -> "Written":
        return Written((MINUS, self.tree))


def tree_of_value(value: Any) -> Tree:
    """Return the tree of a written value, or the number itself."""
    tree: Tree = value.tree if isinstance(value, Written) else value
    return tree


def written(operation: str, *parts: Any) -> Written:
    """Return an operation on values, at least one of which is written."""
    return Written((operation, *map(tree_of_value, parts)))
