"""Add, multiply, divide and write polynomials of many quantities.

A polynomial has a whole coefficient for every monomial, and a monomial has the power of each of its factors, by the text of the factor.
Powers may be negative, because no quantity in a denominator is zero where a formula is defined.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from math import gcd
from typing import Any

from derive.trees import MINUS, PRODUCT, RAISED, RATIO, ROOT, SUM, Tree, all_parts, sum_of, text, tree_of

Monomial = tuple[tuple[str, int], ...]
Polynomial = Mapping[Monomial, int]


def add(one: Polynomial, other: Polynomial) -> Polynomial:
    found = dict(one)
    for term, count in other.items():
        found[term] = found.get(term, 0) + count
    return {term: count for term, count in found.items() if count}


def negate(one: Polynomial) -> Polynomial:
    """Return a polynomial with the other sign."""
    return {term: -count for term, count in one.items()}


_MOST_TERMS = 400
"""Largest number of terms of a product. With ten times as many, a random question took minutes."""


class TooManyTerms(ArithmeticError):
    """A product that has too many terms to be read or to be computed in time."""


def multiply(one: Polynomial, other: Polynomial) -> Polynomial:
    """Return the product of two polynomials. Raise TooManyTerms above `_MOST_TERMS` terms."""
    if len(one) * len(other) > _MOST_TERMS:
        raise TooManyTerms(f"{len(one)} terms times {len(other)}")
    found: dict[Monomial, int] = {}
    for first, count in one.items():
        for second, times in other.items():
            term = product_of(first, second)
            found[term] = found.get(term, 0) + count * times
    return {term: count for term, count in found.items() if count}


def product_of(one: Monomial, other: Monomial) -> Monomial:
    """Return one monomial times another."""
    powers = dict(one)
    for name, power in other:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def power_of(one: Monomial, power: int) -> Monomial:
    """Return a monomial to a power, which may be negative."""
    return tuple((name, power * times) for name, times in one)


def coefficients_by_power(above: Polynomial, name: str) -> Mapping[int, Polynomial]:
    """Return the coefficient of each power of a factor."""
    found: dict[int, dict[Monomial, int]] = {}
    for term, count in above.items():
        rest = tuple(part for part in term if part[0] != name)
        found.setdefault(dict(term).get(name, 0), {})[rest] = count
    return found


def split_content(above: Polynomial) -> tuple[Monomial, Polynomial]:
    """Return the monomial that all terms have in common, which may have negative powers, and the rest."""
    every = {name for term in above for name, _ in term}
    powers = [dict(term) for term in above]
    content = tuple(sorted((name, least) for name in every if (least := min(one.get(name, 0) for one in powers))))
    return content, {product_of(term, power_of(content, -1)): count for term, count in above.items()}


def common_divisor(above: Polynomial) -> int:
    """Return the greatest common divisor of all coefficients, with the sign of the first term, or 0 without terms."""
    number, every = gcd(*above.values()), sorted({name for term in above for name, _ in term})
    first = max(above, key=lambda term: [dict(term).get(name, 0) for name in every], default=())
    return -number if above.get(first, 0) < 0 else number


def divide(above: Polynomial, below: Polynomial) -> Polynomial | None:
    """Return a polynomial divided by another, or None if there is a remainder."""
    content, left = split_content(above)
    every = sorted({name for term in (*left, *below) for name, _ in term})

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
        left = add(left, multiply({term: -count // below[first]}, below))
    return found


def single_factor(tree: Tree) -> Polynomial:
    """Return a polynomial of one factor: a quantity, or a part that is not rational."""
    return {((text(tree), 1),): 1}


def tree_of_sum(total: Polynomial) -> Tree:
    """Return a polynomial as a tree. A difference of two terms begins with its number, if it has one."""
    if len(total) == 1:
        return tree_of_term(*next(iter(total.items())))
    every = sorted({name for term in total for name, _ in term}, key=lambda name: (sort_key(tree_of(name)), name))
    parts = sorted(total.items(), key=lambda part: [-dict(part[0]).get(name, 0) for name in every])
    if len(parts) == 2 and len(parts[0][0]) == 1 and parts[0][1] < 0 < parts[1][1] and not parts[1][0]:
        parts.reverse()
    return sum_of([tree_of_term(term, count) for term, count in parts])


def tree_of_term(term: Monomial, count: Any, below: int = 1) -> Tree:
    """Return a term as a tree: factors with negative powers are below the line, and a minus is before it."""
    over = _product(abs(count.numerator), ((name, power) for name, power in term if power > 0))
    under = _product(count.denominator * below, ((name, -power) for name, power in term if power < 0))
    whole = over if under == 1 else (RATIO, over, under)
    return whole if count > 0 else (MINUS, whole)


def _product(number: int, powers: Iterable[tuple[str, Any]]) -> Tree:
    factors = sorted(((tree_of(name), power) for name, power in powers), key=lambda one: sort_key(one[0]))
    found = [*([number] if number != 1 else ()), *(_factor(base, power) for base, power in factors)]
    return (PRODUCT, *found) if len(found) > 1 else (*found, 1)[0]


def _factor(base: Tree, power: Any) -> Tree:
    if power == 1 or (not base and power > 0):
        return base
    if power == 0.5:
        return (ROOT, base)
    return (RAISED, base, tree_of_term((), power))


@cache
def sort_key(tree: Tree) -> tuple[int, int, str]:
    """Return the sort key of a factor: numbers, then quantities, sums and functions, and shorter ones first."""
    if isinstance(tree, tuple) and tree[0] == RAISED:
        return sort_key(tree[1])
    if isinstance(tree, tuple):
        return 2 if tree[0] in (PRODUCT, RATIO) else 3 if tree[0] == SUM else 4, len(all_parts(tree)), text(tree)
    return int(isinstance(tree, str)), 0, str(tree)
