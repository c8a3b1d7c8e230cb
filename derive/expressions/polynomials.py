"""Polynomials of many quantities, and what is done with them: they are added, multiplied, and divided by one another.

A polynomial has a whole coefficient for every monomial, and a monomial the power of each of its factors, by the text of it.
Powers may be below nothing, as no quantity is divided by that is nothing wherever a formula says anything.
"""

from collections.abc import Mapping
from math import gcd

Monomial = tuple[tuple[str, int], ...]
Polynomial = Mapping[Monomial, int]


def added(one: Polynomial, other: Polynomial) -> Polynomial:
    found = dict(one)
    for term, count in other.items():
        found[term] = found.get(term, 0) + count
    return {term: count for term, count in found.items() if count}


def negative(one: Polynomial) -> Polynomial:
    """The same with the other sign."""
    return {term: -count for term, count in one.items()}


_MOST_TERMS = 400
"""Into how many terms a product is multiplied out at most: with ten times as many a random question took minutes."""


class TooManyTerms(ArithmeticError):
    """A product that nobody would read, and that no answer waits behind."""


def multiplied(one: Polynomial, other: Polynomial) -> Polynomial:
    """The product of two, multiplied out; raises TooManyTerms for one of more than `_MOST_TERMS`."""
    if len(one) * len(other) > _MOST_TERMS:
        raise TooManyTerms(f"{len(one)} terms times {len(other)}")
    found: dict[Monomial, int] = {}
    for first, count in one.items():
        for second, times in other.items():
            term = product_of(first, second)
            found[term] = found.get(term, 0) + count * times
    return {term: count for term, count in found.items() if count}


def product_of(one: Monomial, other: Monomial) -> Monomial:
    """One monomial times another.

    >>> product_of((("batch", 1), ("chips", -1)), (("chips", 1),))
    (('batch', 1),)
    """
    powers = dict(one)
    for name, power in other:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def power_of(one: Monomial, power: int) -> Monomial:
    """A monomial so many times; below nothing it is divided by."""
    return tuple((name, power * times) for name, times in one)


def by_power(above: Polynomial, name: str) -> Mapping[int, Polynomial]:
    """The coefficients of the powers of a factor."""
    found: dict[int, dict[Monomial, int]] = {}
    for term, count in above.items():
        rest = tuple(part for part in term if part[0] != name)
        found.setdefault(dict(term).get(name, 0), {})[rest] = count
    return found


def parted(above: Polynomial) -> tuple[Monomial, Polynomial]:
    """The monomial that all terms have in common, with powers below nothing where one of them has, and the rest."""
    every = {name for term in above for name, _ in term}
    powers = [dict(term) for term in above]
    content = tuple(sorted((name, least) for name in every if (least := min(one.get(name, 0) for one in powers))))
    return content, {product_of(term, power_of(content, -1)): count for term, count in above.items()}


def number_of(above: Polynomial) -> int:
    """The number that all coefficients have in common, with the sign of the first term; 0 for no terms."""
    number = gcd(*above.values())
    return -number if above and terms_in_order(above)[0][1] < 0 else number


def divided_by(above: Polynomial, below: Polynomial) -> Polynomial | None:
    """Return what is left of a polynomial when another is divided out, or None if that leaves a rest."""
    content, left = parted(above)
    every = sorted({name for term in (*left, *below) for name, _ in term})
    if any(_degree(left, name) < _degree(below, name) for name in every):
        return None

    def place(term: Monomial) -> tuple[int, ...]:
        powers = dict(term)
        return tuple(powers.get(name, 0) for name in every)

    first = max(below, key=place)
    found: dict[Monomial, int] = {}
    while left:
        highest = max(left, key=place)
        term, count = product_of(highest, power_of(first, -1)), left[highest]
        if count % below[first] or any(power < 0 for _, power in term):
            return None
        found[product_of(term, content)] = count // below[first]
        left = added(left, multiplied({term: -count // below[first]}, below))
    return found


def _degree(above: Polynomial, name: str) -> int:
    return max(dict(term).get(name, 0) for term in above)


def terms_in_order(above: Polynomial) -> list[tuple[Monomial, int]]:
    """The terms in the order in which they are written: as in a dictionary, high powers first."""
    every = sorted({name for term in above for name, _ in term})
    return sorted(above.items(), key=lambda one: [-dict(one[0]).get(name, 0) for name in every])
