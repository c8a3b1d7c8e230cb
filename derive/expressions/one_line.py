"""Write formulas as a single fraction of polynomials, with common factors cancelled.

A part that is not made of + - * / and whole powers is one factor. Sums in the denominator stay a product of sums, to keep the formula
short.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache, reduce
from itertools import combinations
from math import gcd, lcm
from typing import NamedTuple

from derive.expressions import polynomials
from derive.expressions.polynomials import Monomial, Polynomial, TooManyTerms, multiply, single_factor, split_content
from derive.trees import EXPONENTIAL, LARGEST_OF, RAISED, ROOT, SMALLEST_OF, Tree, difference, text, tree_of

_HIGHEST = 6
"""The highest power up to which a sum is multiplied out."""

EXTREMES = (LARGEST_OF, SMALLEST_OF)

_Sum = tuple[tuple[Monomial, int], ...]
"""A polynomial of several terms without a common factor, with its terms in order."""


class Quotient(NamedTuple):
    """A polynomial over a number and sums. A sum is repeated if its power is above 1."""

    above: Polynomial
    number: int = 1
    sums: tuple[_Sum, ...] = ()


@cache
def simplify(tree: Tree) -> Tree:
    """Return a formula as a single fraction with common factors cancelled, also inside a Max or Min.

    A formula with too many terms is returned unchanged.

    >>> from derive.trees import tree_of
    >>> text(simplify(tree_of("(batch*chips + chips*replicas)/chips - replicas"))), text(simplify(tree_of("1/batch - 1/chips")))
    ('batch', '(-batch + chips)/(batch*chips)')
    """
    try:
        return combine_fractions(tree)
    except TooManyTerms:
        return tree


@cache
def combine_fractions(tree: Tree) -> Tree:
    """Return the same as `simplify`, but raise TooManyTerms for a formula with too many terms."""
    return tree_of_quotient(single_fraction(tree))


@cache
def is_positive(tree: Tree) -> bool:
    """Return whether the shape of a formula proves that it is positive for positive quantities. With too many terms it is False."""
    try:
        whole = single_fraction(tree)
    except TooManyTerms:
        return False
    terms = [one for part in (whole.above, *map(dict, whole.sums)) for one in part.items()]
    return bool(terms) and all(count > 0 and all(_is_positive_factor(tree_of(name)) for name, _ in term) for term, count in terms)


def _is_positive_factor(factor: Tree) -> bool:
    if not isinstance(factor, tuple):
        return True
    operation, base, *others = factor
    if operation in EXTREMES:
        return all(map(is_positive, (base, *others)))
    return operation == EXPONENTIAL or (operation in (RAISED, ROOT) and is_positive(base))


def terms_by_sign(tree: Tree) -> tuple[Tree, Tree]:
    """Return the sum of the added terms and the sum of the subtracted terms, which are equal where the formula is zero.

    >>> from derive.trees import tree_of
    >>> [text(side) for side in terms_by_sign(tree_of("2*batch - chips - 1"))]
    ['2*batch', 'chips + 1']
    """
    above = single_fraction(tree).above
    more = {term: count for term, count in above.items() if count > 0}
    less = {term: -count for term, count in above.items() if count < 0}
    return tree_of_quotient(Quotient(more)), tree_of_quotient(Quotient(less))


@cache
def single_fraction(tree: Tree) -> Quotient:
    """Return a formula as a fraction of polynomials. Raise ZeroDivisionError if a denominator is zero for any values."""
    if isinstance(tree, str):
        return Quotient(single_factor(tree))
    if not isinstance(tree, tuple):
        above, below = tree.as_integer_ratio()
        return Quotient({(): above} if above else {}, below)
    operation, *inner = tree
    match operation:
        case "+":
            return reduce(_sum, map(single_fraction, inner))
        case "-":
            one = single_fraction(inner[0])
            return one._replace(above=polynomials.negate(one.above))
        case "*":
            return reduce(_times, map(single_fraction, inner))
        case "/":
            return _times(single_fraction(inner[0]), _inverse(single_fraction(inner[1])))
        case "**":
            return _power(inner[0], simplify(inner[1]))
    kept = [*map(simplify, inner)]
    if operation in EXTREMES and len(kept := dominant_terms(operation, kept)) == 1:
        return single_fraction(kept[0])
    return Quotient(single_factor((operation, *kept)))


def _power(base: Tree, exponent: Tree) -> Quotient:
    if not isinstance(exponent, int) or abs(exponent) > _HIGHEST:
        return Quotient(single_factor((RAISED, simplify(base), exponent)))
    factor = single_fraction(base)
    return reduce(_times, [_inverse(factor) if exponent < 0 else factor] * abs(exponent), Quotient({(): 1}))


def dominant_terms(operation: str, inner: Iterable[Tree]) -> list[Tree]:
    """Return the terms of a Max or a Min, without terms that another term always exceeds."""
    flat = [part for one in inner for part in (one[1:] if isinstance(one, tuple) and one[0] == operation else (one,))]
    kept = sorted({text(one): one for one in flat}.items())
    beaten = {
        text(less)
        for pair in combinations((one for _, one in kept), 2)
        for less, more in (pair, pair[::-1])
        if is_positive(difference(*((more, less) if operation == LARGEST_OF else (less, more))))
    }
    return [one for name, one in kept if name not in beaten]


def _sum(one: Quotient, other: Quotient) -> Quotient:
    number = lcm(one.number, other.number)
    lacking, more = Counter(other.sums) - Counter(one.sums), Counter(one.sums) - Counter(other.sums)
    first = reduce(multiply, map(dict, lacking.elements()), multiply({(): number // one.number}, one.above))
    second = reduce(multiply, map(dict, more.elements()), multiply({(): number // other.number}, other.above))
    return _cancel(polynomials.add(first, second), number, (*one.sums, *lacking.elements()))


def _times(one: Quotient, other: Quotient) -> Quotient:
    first, under = _divide_by_sums(one.above, other.sums)
    second, below = _divide_by_sums(other.above, one.sums)
    return _divide_numbers(multiply(first, second), one.number * other.number, (*under, *below))


def _inverse(one: Quotient) -> Quotient:
    if not one.above:
        raise ZeroDivisionError("divided by an expression that is always zero")
    content, rest = split_content(one.above)
    number = polynomials.common_divisor(rest)
    turned: Polynomial = {polynomials.power_of(content, -1): one.number if number > 0 else -one.number}
    above = reduce(multiply, map(dict, one.sums), turned)
    primitive = tuple(sorted((term, count // number) for term, count in rest.items()))
    return _cancel(above, abs(number), (primitive,) if len(primitive) > 1 else ())


def _cancel(above: Polynomial, number: int, sums: Iterable[_Sum]) -> Quotient:
    """Return the fraction without common numbers and sums."""
    left, kept = _divide_by_sums(above, sums)
    return _divide_numbers(left, number, kept)


def _divide_by_sums(above: Polynomial, sums: Iterable[_Sum]) -> tuple[Polynomial, tuple[_Sum, ...]]:
    """Return the numerator divided by the sums that divide it, and the other sums."""
    kept = []
    for one in sums if above else ():
        found = polynomials.divide(above, dict(one))
        above = above if found is None else found
        kept += [one] if found is None else []
    return above, tuple(kept)


def _divide_numbers(above: Polynomial, number: int, sums: Iterable[_Sum]) -> Quotient:
    if not above:
        return Quotient({})
    shared = gcd(number, *above.values())
    return Quotient({term: count // shared for term, count in above.items()}, number // shared, tuple(sorted(sums)))


def tree_of_quotient(one: Quotient) -> Tree:
    """Return a fraction as a tree. A leading minus is moved into a difference in the denominator, if there is one."""
    if not one.above:
        return 0
    content, rest = split_content(one.above)
    number, less = gcd(*rest.values()), all(count < 0 for count in rest.values())
    primitive = {term: (-count if less else count) // number for term, count in rest.items()}
    sums: list[Polynomial] = [dict(part) for part in one.sums]
    if less and (place := next((place for place, part in enumerate(sums) if min(part.values()) < 0), None)) is not None:
        sums[place], less = polynomials.negate(sums[place]), False
    powers = Counter(dict(content))
    powers.subtract(text(polynomials.tree_of_sum(part)) for part in sums)
    powers.update([text(polynomials.tree_of_sum(primitive))] if len(primitive) > 1 else ())
    return polynomials.tree_of_term(tuple(powers.items()), -number if less else number, one.number)


def quotient_of(above: Polynomial, below: Polynomial) -> Tree:
    """Return one polynomial divided by another."""
    return tree_of_quotient(_times(Quotient(above), _inverse(Quotient(below))))
