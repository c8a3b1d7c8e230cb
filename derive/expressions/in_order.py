"""Bring formulas into one order: collect like terms and like factors, both sorted. Products of sums and fractions are not expanded."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import Any

from derive.expressions import polynomials
from derive.expressions.one_line import EXTREMES, dominant_terms
from derive.expressions.polynomials import single_factor, sort_key, tree_of_sum, tree_of_term
from derive.trees import RAISED, Tree, text

_Number = Any
"""A whole number or a fraction."""
_Powers = tuple[tuple[str, _Number], ...]
"""The power of each factor of a term. A factor is identified by its text."""
_Sum = Mapping[_Powers, _Number]
"""The coefficient of each term: a polynomial that may have fractions."""


@cache
def sort_terms(tree: Tree) -> Tree:
    """Return a formula with like terms added, like factors multiplied, and both in alphabetical order.

    >>> from derive.trees import tree_of
    >>> [text(sort_terms(tree_of(one))) for one in ("0 + 1*chips*batch", "(mfu + batch)*2/chips*mfu", "2*(batch - chips) + chips")]
    ['batch*chips', 'mfu*(2*batch + 2*mfu)/chips', '2*batch - chips']
    """
    return tree_of_sum(_expand_to_sum(tree))


def _expand_to_sum(tree: Tree) -> _Sum:
    if isinstance(tree, str):
        return single_factor(tree)
    if not isinstance(tree, tuple):
        return {(): tree if isinstance(tree, int) else Fraction(tree)} if tree else {}
    operation, *inner = tree
    match operation:
        case "+":
            return reduce(polynomials.add, map(_expand_to_sum, inner))
        case "-":
            return polynomials.negate(_expand_to_sum(inner[0]))
        case "*":
            return reduce(_multiply, map(_expand_to_sum, inner))
        case "/":
            return _multiply(_expand_to_sum(inner[0]), _raise_to(_expand_to_sum(inner[1]), -1))
        case "sqrt":
            return _raise_to(_expand_to_sum(inner[0]), Fraction(0.5))
        case "**":
            return _power(_expand_to_sum(inner[0]), _expand_to_sum(inner[1]))
    ordered = [sort_terms(one) for one in inner]
    if operation in EXTREMES:
        ordered = sorted(dominant_terms(operation, ordered), key=sort_key)
        if len(ordered) == 1:
            return _expand_to_sum(ordered[0])
    return single_factor((operation, *ordered))


def _multiply(one: _Sum, other: _Sum) -> _Sum:
    """Return the product. A number is multiplied into a sum. Any other sum stays a factor."""
    if not (one and other):
        return {}
    if {()} not in (one.keys(), other.keys()):
        one, other = _single_term(one), _single_term(other)
    return polynomials.multiply(one, other)


def _power(base: _Sum, exponent: _Sum) -> _Sum:
    if exponent.keys() <= {()}:
        return _raise_to(base, exponent.get((), 0))
    match tree_of_sum(exponent):
        case ("-", above):
            # A power with a minus sign in its exponent comes below the line.
            return _raise_to(single_factor((RAISED, tree_of_sum(base), above)), -1)
        case above:
            return single_factor((RAISED, tree_of_sum(base), above))


def _raise_to(base: _Sum, power: _Number) -> _Sum:
    if power == 1 or (not base and power > 0):
        return base
    ((term, count),) = _single_term(base).items()
    raised = tuple((name, times * power) for name, times in term)
    if count == 1 or power == int(power):
        times = count ** abs(int(power))
        return {raised: times if power > 0 or times in (1, -1) else 1 / Fraction(times)}
    return _multiply({raised: 1}, {((text(tree_of_term((), count)), power),): 1})


def _single_term(total: _Sum) -> _Sum:
    return total if len(total) == 1 else single_factor(tree_of_sum(total))
