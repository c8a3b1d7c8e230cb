"""The values of a quantity at which a smooth formula is nothing, in closed form: SymPy is not asked."""

from functools import cache
from math import isqrt

from derive.expressions.one_line import Quotient, factor_of, over_one_line, quotient_of, simplified, tree_of_quotient
from derive.expressions.polynomials import (
    Polynomial,
    TooManyTerms,
    added,
    by_power,
    multiplied,
    negative,
    number_of,
    parted,
    product_of,
)
from derive.trees import EXPONENTIAL, LOGARITHM, PRODUCT, RAISED, RATIO, ROOT, SUM, Roots, Tree, difference, names, negated

_MOST_SQUARED = 100
"""The largest number that is taken out of a square root."""


@cache
def closed_roots(height: Tree, x: str) -> Roots:
    """Where a smooth formula is nothing: the values of a quantity, as formulas of the others; None where it has to be searched for.

    >>> from derive.trees import text, tree_of
    >>> [text(root) for root in closed_roots(tree_of("batch*chips - chips - replicas"), "chips")]
    ['replicas/(batch - 1)']
    """
    try:
        return _roots(over_one_line(height).above, x)
    except TooManyTerms:
        return None


@cache
def single_root(height: Tree, x: str) -> Roots:
    """The same where there is one at most; None where there may be more, or it has to be searched for."""
    above = over_one_line(height).above
    return None if len(by_power(above, x)) > 2 else _roots(above, x)


def _roots(above: Polynomial, x: str) -> Roots:
    holding = sorted({name for one in above for name, _ in one if x in names(factor_of(name))})
    if not holding:
        return ()
    if len(holding) > 1:
        return None
    (name,) = holding
    powers = by_power(above, name)
    least = min(powers)
    parts = {power - least: part for power, part in powers.items()}
    nothing: tuple[Tree, ...] = (0,) if name == x and least > 0 else ()
    if len(parts) == 1:
        return nothing
    if parts.keys() == {0, 1, 2} and name == x:
        return (*nothing, *_of_square(parts[2], parts[1], parts[0]))
    highest = max(parts)
    if parts.keys() != {0, highest}:
        return None
    value = _raised(quotient_of(negative(parts[0]), parts[highest]), (RATIO, 1, highest))
    return (*nothing, value) if name == x else _unwrapped(factor_of(name), value, x)


def _unwrapped(factor: Tree, value: Tree, x: str) -> Roots:
    """The roots where a factor that holds the quantity is so much."""
    assert isinstance(factor, tuple), "a quantity is had as it is"
    operation, inner, *exponent = factor
    if operation == ROOT:
        return closed_roots(difference(inner, (RAISED, value, 2)), x)
    if operation == LOGARITHM:
        return closed_roots(difference(inner, (EXPONENTIAL, value)), x)
    if operation == EXPONENTIAL:
        return closed_roots(difference(inner, (LOGARITHM, value)), x)
    if operation != RAISED or (x in names(inner) and x in names(exponent[0])):
        return None
    if x in names(inner):
        return closed_roots(difference(inner, _raised(value, (RATIO, 1, exponent[0]))), x)
    return closed_roots(difference(exponent[0], (RATIO, (LOGARITHM, value), (LOGARITHM, inner))), x)


def _raised(value: Tree, exponent: Tree) -> Tree:
    exponent = simplified(exponent)
    if exponent == 1:
        return value
    return (ROOT, value) if exponent == (RATIO, 1, 2) else (RAISED, value, exponent)


def _of_square(square: Polynomial, line: Polynomial, height: Polynomial) -> tuple[Tree, ...]:
    """The roots of a x**2 + b x + c; equal ones once."""
    if number_of(square) < 0:
        square, line, height = negative(square), negative(line), negative(height)
    twice, middle = multiplied({(): 2}, square), negative(line)
    under = added(multiplied(line, line), multiplied(multiplied({(): -4}, square), height))
    if not under:
        return (quotient_of(middle, twice),)
    beside = _root_of(under)
    less, below = tree_of_quotient(Quotient(middle)), tree_of_quotient(Quotient(twice))
    return tuple(simplified((RATIO, (SUM, less, one), below)) for one in (negated(beside), beside))


def _root_of(under: Polynomial) -> Tree:
    """The square root, with what is square in every term taken out of it."""
    content, rest = parted(under)
    shared = abs(number_of(rest))
    number = next(one for one in range(min(isqrt(shared), _MOST_SQUARED), 0, -1) if shared % (one * one) == 0)
    odd = tuple((name, power % 2) for name, power in content)
    inside = {product_of(term, odd): count // (number * number) for term, count in rest.items()}
    outside = tree_of_quotient(Quotient({tuple((name, power // 2) for name, power in content if power // 2): number}))
    left = tree_of_quotient(Quotient(inside))
    return outside if left == 1 else (PRODUCT, outside, (ROOT, left))
