"""Find the zeros of a smooth formula in closed form, without SymPy."""

from functools import cache
from math import isqrt

from derive.expressions import polynomials
from derive.expressions.one_line import Quotient, quotient_of, simplify, single_fraction, tree_of_quotient
from derive.expressions.polynomials import Polynomial, TooManyTerms, coefficients_by_power, multiply, negate
from derive.trees import EXPONENTIAL, LOGARITHM, PRODUCT, RAISED, RATIO, ROOT, SUM, Roots, Tree, difference, names, negated, tree_of

_MOST_SQUARED = 100
"""The largest number whose square is moved out of a square root."""


@cache
def closed_roots(height: Tree, x: str) -> Roots:
    """Return the values of `x` at which a smooth formula is zero, as formulas, or None if they have no closed form.

    >>> from derive.trees import text, tree_of
    >>> [text(root) for root in closed_roots(tree_of("batch*chips - chips - replicas"), "chips")]
    ['replicas/(batch - 1)']
    """
    try:
        return _roots(single_fraction(height).above, x)
    except TooManyTerms:
        return None


def _roots(above: Polynomial, x: str) -> Roots:
    holding = sorted({name for one in above for name, _ in one if x in names(tree_of(name))})
    if not holding:
        return ()
    if len(holding) > 1:
        return None
    (name,) = holding
    powers = coefficients_by_power(above, name)
    least = min(powers)
    parts = {power - least: part for power, part in powers.items()}
    nothing: tuple[Tree, ...] = (0,) if name == x and least > 0 else ()
    if len(parts) == 1:
        return nothing
    if parts.keys() == {0, 1, 2} and name == x:
        return (*nothing, *_quadratic_roots(parts[2], parts[1], parts[0]))
    highest = max(parts)
    if parts.keys() != {0, highest}:
        return None
    value = _raise_to(quotient_of(negate(parts[0]), parts[highest]), (RATIO, 1, highest))
    return (*nothing, value) if name == x else _roots_inside(tree_of(name), value, x)


def _roots_inside(factor: Tree, value: Tree, x: str) -> Roots:
    """Return the roots of x at which a factor that contains x has this value."""
    assert isinstance(factor, tuple), "a quantity needs no solution"
    operation, inner, *exponent = factor
    inverse = {ROOT: (RAISED, value, 2), LOGARITHM: (EXPONENTIAL, value), EXPONENTIAL: (LOGARITHM, value)}
    if operation in inverse:
        return closed_roots(difference(inner, inverse[operation]), x)
    if operation != RAISED or (x in names(inner) and x in names(exponent[0])):
        return None
    if x in names(inner):
        return closed_roots(difference(inner, _raise_to(value, (RATIO, 1, exponent[0]))), x)
    return closed_roots(difference(exponent[0], (RATIO, (LOGARITHM, value), (LOGARITHM, inner))), x)


def _raise_to(value: Tree, exponent: Tree) -> Tree:
    exponent = simplify(exponent)
    if exponent == 1:
        return value
    return (ROOT, value) if exponent == (RATIO, 1, 2) else (RAISED, value, exponent)


def _quadratic_roots(square: Polynomial, line: Polynomial, height: Polynomial) -> tuple[Tree, ...]:
    """Return the roots of a x**2 + b x + c, a double root once."""
    if polynomials.common_divisor(square) < 0:
        square, line, height = negate(square), negate(line), negate(height)
    twice, middle = multiply({(): 2}, square), negate(line)
    under = polynomials.add(multiply(line, line), multiply(multiply({(): -4}, square), height))
    if not under:
        return (quotient_of(middle, twice),)
    beside = _root_of(under)
    less, below = tree_of_quotient(Quotient(middle)), tree_of_quotient(Quotient(twice))
    return tuple(simplify((RATIO, (SUM, less, one), below)) for one in (negated(beside), beside))


def _root_of(under: Polynomial) -> Tree:
    """Return the square root, with square factors moved out of it."""
    content, rest = polynomials.split_content(under)
    shared = abs(polynomials.common_divisor(rest))
    number = next(one for one in range(min(isqrt(shared), _MOST_SQUARED), 0, -1) if shared % (one * one) == 0)
    odd = tuple((name, power % 2) for name, power in content)
    inside = {polynomials.product_of(term, odd): count // (number * number) for term, count in rest.items()}
    outside = tree_of_quotient(Quotient({tuple((name, power // 2) for name, power in content if power // 2): number}))
    left = tree_of_quotient(Quotient(inside))
    return outside if left == 1 else (PRODUCT, outside, (ROOT, left))
