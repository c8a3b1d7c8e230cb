"""Formulas over one line: a fraction of polynomials, in which what cancels is gone.

What more than + - * / and whole powers make is taken whole, as one factor. Sums below the line stay a product, as they were
written one after another: a formula put over one line then grows no more than it must.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache, reduce
from itertools import combinations
from math import gcd
from typing import NamedTuple

from derive.expressions.polynomials import (
    Monomial,
    Polynomial,
    TooManyTerms,
    added,
    divided_by,
    multiplied,
    negative,
    number_of,
    parted,
    power_of,
    terms_in_order,
)
from derive.trees import (
    EXPONENTIAL,
    LARGEST_OF,
    MINUS,
    PRODUCT,
    RAISED,
    RATIO,
    ROOT,
    SMALLEST_OF,
    Tree,
    difference,
    sum_of,
    text,
    tree_of,
)

_HIGHEST = 6
"""Up to which power a sum is multiplied out."""

EXTREMES = (LARGEST_OF, SMALLEST_OF)

_Sum = tuple[tuple[Monomial, int], ...]
"""A polynomial of several terms that have nothing in common, its terms in order."""


class Quotient(NamedTuple):
    """A polynomial over a number and sums, each as often as it stands there."""

    above: Polynomial
    number: int = 1
    sums: tuple[_Sum, ...] = ()


@cache
def simplified(tree: Tree) -> Tree:
    """A formula over one line, without what cancels; of a Max or a Min inside it each term.

    >>> text(simplified(tree_of("(batch*chips + chips*replicas)/chips - replicas"))), text(simplified(tree_of("1/batch - 1/chips")))
    ('batch', '(-batch + chips)/(batch*chips)')

    One of too many terms stays as it stands.
    """
    try:
        return put_over_one_line(tree)
    except TooManyTerms:
        return tree


@cache
def put_over_one_line(tree: Tree) -> Tree:
    """The same, but one of too many terms raises TooManyTerms."""
    return tree_of_quotient(over_one_line(tree))


@cache
def is_positive(tree: Tree) -> bool:
    """Whether a formula of positive quantities is positive for its shape alone; one of too many terms is not taken to be.

    >>> is_positive(tree_of("batch + sqrt(chips)/2")), is_positive(tree_of("batch - chips"))
    (True, False)
    """
    try:
        whole = over_one_line(tree)
    except TooManyTerms:
        return False
    terms = [one for part in (whole.above, *map(dict, whole.sums)) for one in part.items()]
    return bool(terms) and all(count > 0 and all(_is_positive_factor(factor_of(name)) for name, _ in term) for term, count in terms)


def _is_positive_factor(factor: Tree) -> bool:
    if not isinstance(factor, tuple):
        return True
    operation, base, *others = factor
    if operation in EXTREMES:
        return all(map(is_positive, (base, *others)))
    return operation == EXPONENTIAL or (operation in (RAISED, ROOT) and is_positive(base))


def terms_by_sign(tree: Tree) -> tuple[Tree, Tree]:
    """What is added, and what is taken away: where a formula is nothing, both are the same.

    >>> [text(side) for side in terms_by_sign(tree_of("2*batch - chips - 1"))]
    ['2*batch', 'chips + 1']
    """
    above = over_one_line(tree).above
    more = {term: count for term, count in above.items() if count > 0}
    less = {term: -count for term, count in above.items() if count < 0}
    return tree_of_quotient(Quotient(more)), tree_of_quotient(Quotient(less))


def below_the_line(tree: Tree) -> Tree:
    """What a formula is divided by; 1 where it has too many terms to be put over one line.

    >>> text(below_the_line(tree_of("batch/(chips*(1 - mfu)) - 1")))
    'chips*(mfu - 1)'
    """
    try:
        whole = over_one_line(tree)
    except TooManyTerms:
        return 1
    under = tuple((name, -power) for name, power in parted(whole.above)[0] if power < 0)
    return tree_of_quotient(Quotient(reduce(multiplied, map(dict, whole.sums), {under: whole.number})))


@cache
def over_one_line(tree: Tree) -> Quotient:
    """A formula as a fraction of polynomials; ZeroDivisionError where it divides by what is nothing for its shape alone."""
    if isinstance(tree, str):
        return Quotient({((tree, 1),): 1})
    if not isinstance(tree, tuple):
        above, below = tree.as_integer_ratio()
        return Quotient({(): above} if above else {}, below)
    operation, *inner = tree
    match operation:
        case "+":
            return reduce(_sum, map(over_one_line, inner))
        case "-":
            one = over_one_line(inner[0])
            return one._replace(above=negative(one.above))
        case "*":
            return reduce(_times, map(over_one_line, inner))
        case "/":
            return _times(over_one_line(inner[0]), _inverse(over_one_line(inner[1])))
        case "**":
            return _power(inner[0], simplified(inner[1]))
    if operation in EXTREMES:
        return _extreme(operation, [*map(simplified, inner)])
    return _whole((operation, *map(simplified, inner)))


def _whole(tree: Tree) -> Quotient:
    """What is more than + - * / make, as a factor."""
    return Quotient({((text(tree), 1),): 1})


def _power(base: Tree, exponent: Tree) -> Quotient:
    if not isinstance(exponent, int) or abs(exponent) > _HIGHEST:
        return _whole((RAISED, simplified(base), exponent))
    factor = over_one_line(base)
    return reduce(_times, [_inverse(factor) if exponent < 0 else factor] * abs(exponent), Quotient({(): 1}))


def _extreme(operation: str, inner: Iterable[Tree]) -> Quotient:
    left = terms_that_count(operation, inner)
    return over_one_line(left[0]) if len(left) == 1 else _whole((operation, *left))


def terms_that_count(operation: str, inner: Iterable[Tree]) -> list[Tree]:
    """Return the terms of a Max or a Min without those that another is beyond, whatever the quantities are.

    >>> [text(one) for one in terms_that_count(LARGEST_OF, map(tree_of, ("batch", "0", "Max(batch, chips)", "chips + 1")))]
    ['batch', 'chips + 1']
    """
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
    number = one.number * other.number // gcd(one.number, other.number)
    lacking, more = Counter(other.sums) - Counter(one.sums), Counter(one.sums) - Counter(other.sums)
    first = reduce(multiplied, map(dict, lacking.elements()), multiplied({(): number // one.number}, one.above))
    second = reduce(multiplied, map(dict, more.elements()), multiplied({(): number // other.number}, other.above))
    return _cancelled(added(first, second), number, (*one.sums, *lacking.elements()))


def _times(one: Quotient, other: Quotient) -> Quotient:
    first, under = _without_shared(one.above, other.sums)
    second, below = _without_shared(other.above, one.sums)
    return _in_lowest_numbers(multiplied(first, second), one.number * other.number, (*under, *below))


def _inverse(one: Quotient) -> Quotient:
    if not one.above:
        raise ZeroDivisionError("divided by what is nothing whatever its quantities are")
    content, rest = parted(one.above)
    number = number_of(rest)
    turned: Polynomial = {power_of(content, -1): one.number if number > 0 else -one.number}
    above = reduce(multiplied, map(dict, one.sums), turned)
    primitive = tuple(sorted((term, count // number) for term, count in rest.items()))
    return _cancelled(above, abs(number), (primitive,) if len(primitive) > 1 else ())


def _cancelled(above: Polynomial, number: int, sums: Iterable[_Sum]) -> Quotient:
    """The fraction without the numbers and sums that are above and below the line."""
    left, kept = _without_shared(above, sums)
    return _in_lowest_numbers(left, number, kept)


def _without_shared(above: Polynomial, sums: Iterable[_Sum]) -> tuple[Polynomial, tuple[_Sum, ...]]:
    """What stands above without the sums below that it is made of, and the other sums."""
    kept = []
    for one in sums if above else ():
        found = divided_by(above, dict(one))
        above = above if found is None else found
        kept += [one] if found is None else []
    return above, tuple(kept)


def _in_lowest_numbers(above: Polynomial, number: int, sums: Iterable[_Sum]) -> Quotient:
    if not above:
        return Quotient({})
    shared = gcd(number, *above.values())
    return Quotient({term: count // shared for term, count in above.items()}, number // shared, tuple(sorted(sums)))


@cache
def factor_of(name: str) -> Tree:
    """The tree of what a monomial has as a factor."""
    return tree_of(name)


def tree_of_quotient(one: Quotient) -> Tree:
    """A fraction as a tree; a minus before it is put into a difference below the line, if there is one."""
    if not one.above:
        return 0
    content, rest = parted(one.above)
    number, less = gcd(*rest.values()), all(count < 0 for count in rest.values())
    primitive = {term: (-count if less else count) // number for term, count in rest.items()}
    sums: list[Polynomial] = [dict(part) for part in one.sums]
    if less and (place := next((place for place, part in enumerate(sums) if min(part.values()) < 0), None)) is not None:
        sums[place], less = negative(sums[place]), False
    over = [(name, power) for name, power in content if power > 0]
    under = [(name, -power) for name, power in content if power < 0]
    above = _written_product(number, over, [_written_sum(primitive)] if len(primitive) > 1 else [])
    below = _written_product(one.number, under, [*map(_written_sum, sums)])
    whole = above if below == 1 else (RATIO, above, below)
    return (MINUS, whole) if less else whole


def _written_sum(above: Polynomial) -> Tree:
    """A sum as a tree; one that a number is the other part of begins with that, if it is less something."""
    parts = terms_in_order(above)
    parts = parts[::-1] if len(parts) == 2 and parts[0][1] < 0 and not parts[1][0] else parts
    terms = ((_written_product(abs(count), term, []), count < 0) for term, count in parts)
    return sum_of([(MINUS, term) if less else term for term, less in terms])


def _written_product(number: int, factors: Iterable[tuple[str, int]], sums: list[Tree]) -> Tree:
    counted = Counter(sums)
    parts: list[Tree] = [number] if number != 1 else []
    parts += [factor_of(name) if power == 1 else (RAISED, factor_of(name), power) for name, power in factors]
    parts += [one if times == 1 else (RAISED, one, times) for one, times in counted.items()]
    return (PRODUCT, *parts) if len(parts) > 1 else (*parts, 1)[0]


def quotient_of(above: Polynomial, below: Polynomial) -> Tree:
    """One polynomial over another."""
    return tree_of_quotient(_times(Quotient(above), _inverse(Quotient(below))))
