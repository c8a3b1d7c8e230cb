"""The algebra of formulas: polynomials, one fraction of polynomials, sorted sums, and smooth regimes.

A polynomial has a whole coefficient for every monomial, and a monomial has the power of each of its factors, by the text of the factor.
Powers may be negative, because no quantity in a denominator is zero where a formula is defined. A part that is not made of + - * / and
whole powers is one factor.

`simplify` gives one fraction with common factors cancelled. Sums in its denominator stay a product of sums, to keep the formula short.
`sort_terms` collects like terms and like factors. It expands neither products of sums nor fractions.
`smooth_cases` splits a Max or a Min into its regimes, each with the pairs of terms that select it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, reduce
from itertools import combinations
from math import gcd, lcm
from typing import Any, NamedTuple

from derive.immutable import immutable
from derive.trees import (
    EXPONENTIAL,
    LARGEST_OF,
    MINUS,
    PRODUCT,
    RAISED,
    RATIO,
    ROOT,
    SMALLEST_OF,
    SUM,
    Tree,
    TreePair,
    all_parts,
    difference,
    put_into,
    sum_of,
    text,
    tree_of,
)

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
    """Return the greatest common divisor of all coefficients, with the sign of the first term."""
    number = gcd(*above.values())
    return -number if above[_highest_term(above)] < 0 else number


def _highest_term(above: Polynomial) -> Monomial:
    """Return the term with the highest powers, compared factor by factor in alphabetical order."""
    every = sorted({name for term in above for name, _ in term})
    return max(above, key=lambda term: [dict(term).get(name, 0) for name in every])


def divide(above: Polynomial, below: Polynomial) -> Polynomial | None:
    """Return a polynomial divided by another, or None if there is a remainder."""
    content, left = split_content(above)
    first = _highest_term(below)
    found: dict[Monomial, int] = {}
    while left:
        highest = _highest_term(left)
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
    if power == 1:
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
            return reduce(_add_fractions, map(single_fraction, inner))
        case "-":
            one = single_fraction(inner[0])
            return one._replace(above=negate(one.above))
        case "*":
            return reduce(_multiply_fractions, map(single_fraction, inner))
        case "/":
            return _multiply_fractions(single_fraction(inner[0]), _invert(single_fraction(inner[1])))
        case "**":
            return _raise_fraction(inner[0], simplify(inner[1]))
    kept = [*map(simplify, inner)]
    if operation in EXTREMES and len(kept := dominant_terms(operation, kept)) == 1:
        return single_fraction(kept[0])
    return Quotient(single_factor((operation, *kept)))


def _raise_fraction(base: Tree, exponent: Tree) -> Quotient:
    if not isinstance(exponent, int):
        return Quotient(single_factor((RAISED, simplify(base), exponent)))
    factor = single_fraction(base)
    return reduce(_multiply_fractions, [_invert(factor) if exponent < 0 else factor] * abs(exponent), Quotient({(): 1}))


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


def _add_fractions(one: Quotient, other: Quotient) -> Quotient:
    number = lcm(one.number, other.number)
    lacking, more = Counter(other.sums) - Counter(one.sums), Counter(one.sums) - Counter(other.sums)
    first = reduce(multiply, map(dict, lacking.elements()), multiply({(): number // one.number}, one.above))
    second = reduce(multiply, map(dict, more.elements()), multiply({(): number // other.number}, other.above))
    return _cancel(add(first, second), number, (*one.sums, *lacking.elements()))


def _multiply_fractions(one: Quotient, other: Quotient) -> Quotient:
    first, under = _divide_by_sums(one.above, other.sums)
    second, below = _divide_by_sums(other.above, one.sums)
    return _divide_numbers(multiply(first, second), one.number * other.number, (*under, *below))


def _invert(one: Quotient) -> Quotient:
    if not one.above:
        raise ZeroDivisionError("divided by an expression that is always zero")
    content, rest = split_content(one.above)
    number = common_divisor(rest)
    turned: Polynomial = {power_of(content, -1): one.number if number > 0 else -one.number}
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
        found = divide(above, dict(one))
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
        sums[place], less = negate(sums[place]), False
    powers = Counter(dict(content))
    powers.subtract(text(tree_of_sum(part)) for part in sums)
    powers.update([text(tree_of_sum(primitive))] if len(primitive) > 1 else ())
    return tree_of_term(tuple(powers.items()), -number if less else number, one.number)


def quotient_of(above: Polynomial, below: Mapping[Monomial, int] = {(): 1}) -> Tree:
    """Return one polynomial divided by another, by default by 1."""
    return tree_of_quotient(_multiply_fractions(Quotient(above), _invert(Quotient(below))))


_Terms = Mapping[tuple[tuple[str, Any], ...], Any]
"""A polynomial whose coefficients and powers may be fractions."""


@cache
def sort_terms(tree: Tree) -> Tree:
    """Return a formula with like terms added, like factors multiplied, and both in alphabetical order.

    >>> from derive.trees import tree_of
    >>> [text(sort_terms(tree_of(one))) for one in ("0 + 1*chips*batch", "(mfu + batch)*2/chips*mfu", "2*(batch - chips) + chips")]
    ['batch*chips', 'mfu*(2*batch + 2*mfu)/chips', '2*batch - chips']
    """
    return tree_of_sum(_expand_to_sum(tree))


def _expand_to_sum(tree: Tree) -> _Terms:
    if isinstance(tree, str):
        return single_factor(tree)
    if not isinstance(tree, tuple):
        return {(): tree if isinstance(tree, int) else _fraction(tree)} if tree else {}
    operation, *inner = tree
    match operation:
        case "+":
            return reduce(add, map(_expand_to_sum, inner))
        case "-":
            return negate(_expand_to_sum(inner[0]))
        case "*":
            return reduce(_multiply_terms, map(_expand_to_sum, inner))
        case "/":
            return _multiply_terms(_expand_to_sum(inner[0]), _raise_to_number(_expand_to_sum(inner[1]), -1))
        case "sqrt":
            return _raise_to_number(_expand_to_sum(inner[0]), _fraction(0.5))
        case "**":
            return _raise_to_sum(_expand_to_sum(inner[0]), _expand_to_sum(inner[1]))
    ordered = [*map(sort_terms, inner)]
    if operation in EXTREMES and len(ordered := sorted(dominant_terms(operation, ordered), key=sort_key)) == 1:
        return _expand_to_sum(ordered[0])
    return single_factor((operation, *ordered))


def _fraction(value: Any) -> Any:
    """Return a number as an exact fraction. Most questions have none, and the import takes a twentieth of an answer."""
    from fractions import Fraction

    return Fraction(value)


def _multiply_terms(one: _Terms, other: _Terms) -> _Terms:
    """Return the product. A number is multiplied into a sum. Any other sum stays a factor."""
    if not (one and other):
        return {}
    if {()} not in (one.keys(), other.keys()):
        one, other = _single_term(one), _single_term(other)
    return multiply(one, other)


def _raise_to_sum(base: _Terms, exponent: _Terms) -> _Terms:
    if exponent.keys() <= {()}:
        return _raise_to_number(base, exponent.get((), 0))
    match tree_of_sum(exponent):
        case ("-", above):
            # A power with a minus sign in its exponent comes below the line.
            return _raise_to_number(single_factor((RAISED, tree_of_sum(base), above)), -1)
        case above:
            return single_factor((RAISED, tree_of_sum(base), above))


def _raise_to_number(base: _Terms, power: Any) -> _Terms:
    if power == 1 or (not base and power > 0):
        return base
    ((term, count),) = _single_term(base).items()
    raised = tuple((name, times * power) for name, times in term)
    if count == 1 or power == int(power):
        times = count ** abs(int(power))
        return {raised: times if power > 0 or times in (1, -1) else 1 / _fraction(times)}
    return _multiply_terms({raised: 1}, {((text(tree_of_term((), count)), power),): 1})


def _single_term(total: _Terms) -> _Terms:
    return total if len(total) == 1 else single_factor(tree_of_sum(total))


@immutable(kw_only=False)
class Regime:
    """A smooth formula, and the (larger, smaller) pairs under which it is the value of the whole."""

    expression: Tree
    wins: tuple[TreePair, ...] = ()

    @property
    def label(self) -> str | None:
        """Return the inequalities in words of the registry, or None if there is a single regime."""
        return " and ".join(dict.fromkeys(f"{text(larger)} >= {text(smaller)}" for larger, smaller in self.wins)) or None


@cache
def smooth_cases(tree: Tree, shaped: Callable[[Tree], Tree] = simplify) -> tuple[Regime, ...]:
    """Return all smooth regimes of a formula.

    `shaped` brings each regime into its final form, by default a single fraction. A Max and a Min of the same terms are decided together.
    So no regime contradicts itself.

    >>> from derive.trees import tree_of
    >>> [(text(one.expression), one.wins) for one in smooth_cases(tree_of("2*Max(batch, chips)"))]
    [('2*batch', (('batch', 'chips'),)), ('2*chips', (('chips', 'batch'),))]
    """
    return tuple(dict.fromkeys(_split(shaped(tree), (), shaped)))


def _split(tree: Tree, wins: tuple[TreePair, ...], shaped: Callable[[Tree], Tree]) -> Iterator[Regime]:
    node = next((part for part in all_parts(tree) if _is_extreme(part) and sum(map(_is_extreme, all_parts(part))) == 1), None)
    if not isinstance(node, tuple):
        yield Regime(tree, wins)
        return
    for chosen in sorted(node[1:], key=text):
        others = [other for other in node[1:] if other != chosen]
        pairs = tuple((chosen, other) if node[0] == LARGEST_OF else (other, chosen) for other in others)
        if not any((smaller, larger) in wins for larger, smaller in pairs):
            yield from _split(shaped(put_into(tree, {node: chosen})), tuple(dict.fromkeys(wins + pairs)), shaped)


def _is_extreme(part: Tree) -> bool:
    return isinstance(part, tuple) and part[0] in EXTREMES
