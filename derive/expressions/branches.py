"""Return the smooth regimes of an equation, and the closed forms of a quantity in each of them, without SymPy."""

from collections.abc import Mapping
from functools import cache
from math import isqrt

from derive.expressions.algebra import (
    Polynomial,
    Regime,
    TooManyTerms,
    add,
    coefficients_by_power,
    common_divisor,
    multiply,
    negate,
    product_of,
    quotient_of,
    simplify,
    single_fraction,
    smooth_cases,
    sort_terms,
    split_content,
)
from derive.immutable import immutable
from derive.records import Equation, Solvable
from derive.trees import (
    EXPONENTIAL,
    LOGARITHM,
    PRODUCT,
    RAISED,
    RATIO,
    ROOT,
    SUM,
    Roots,
    Tree,
    TreePair,
    difference,
    evaluate,
    names,
    negated,
    put_into,
    tree_of,
)

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
    if len(holding) != 1:
        return None if holding else ()
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
    if x in names(inner) and x in names(exponent[0]):
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
    if common_divisor(square) < 0:
        square, line, height = negate(square), negate(line), negate(height)
    twice, middle = multiply({(): 2}, square), negate(line)
    under = add(multiply(line, line), multiply(multiply({(): -4}, square), height))
    if not under:
        return (quotient_of(middle, twice),)
    beside = _root_of(under)
    less, below = quotient_of(middle), quotient_of(twice)
    return tuple(simplify((RATIO, (SUM, less, one), below)) for one in (negated(beside), beside))


def _root_of(under: Polynomial) -> Tree:
    """Return the square root, with square factors moved out of it."""
    content, rest = split_content(under)
    shared = abs(common_divisor(rest))
    number = next(one for one in range(min(isqrt(shared), _MOST_SQUARED), 0, -1) if shared % (one * one) == 0)
    odd = tuple((name, power % 2) for name, power in content)
    inside = {product_of(term, odd): count // (number * number) for term, count in rest.items()}
    outside = quotient_of({tuple((name, power // 2) for name, power in content if power // 2): number})
    left = quotient_of(inside)
    return outside if left == 1 else (PRODUCT, outside, (ROOT, left))


@immutable
class Branch:
    """One regime with the closed forms of the unknown in it. `roots` is None if there are no closed forms."""

    regime: Regime
    difference: Tree
    roots: Roots
    absent: bool


@cache
def regimes_of(row: Solvable) -> tuple[Regime, ...]:
    """Return all smooth regimes of the right side. Regimes of an equation of the catalogue keep its written form."""
    return smooth_cases(row.trees[1], sort_terms if isinstance(row, Equation) else simplify)


def current_regime(equation: Equation, values: Mapping[str, float]) -> str | None:
    """Return the regime at these values in words, or None if there is only one regime or a value is missing.

    >>> from derive.catalogue import equation
    >>> times = {"compute_time": 0.01, "attention_time": 0.0, "plain_weight_time": 0.01, "kv_time": 0.01, "overhead_time": 0.0}
    >>> current_regime(equation("serving.plain_step_time"), times)
    'kv_time + plain_weight_time >= attention_time + compute_time'
    """
    regimes = regimes_of(equation) if equation.inputs <= values.keys() else ()
    valid = (one for one in regimes if all(evaluate(larger, values) >= evaluate(smaller, values) for larger, smaller in one.wins))
    return next((one.label for one in valid), None)


@cache
def branches(row: Solvable, unknown: str) -> tuple[Branch, ...]:
    """Return every regime of an equation, solved for one of its quantities.

    >>> from derive.catalogue import equation
    >>> for branch in branches(equation("serving.plain_step_time"), "kv_time"):
    ...     print(branch.regime.label, branch.absent)
    attention_time + compute_time >= kv_time + plain_weight_time True
    kv_time + plain_weight_time >= attention_time + compute_time False
    """
    left, solved = row.trees[0], []
    for inner in regimes_of(row):
        roots: Roots = None
        rest = difference(left, inner.expression)
        if absent := unknown not in names(whole := simplify(rest)):
            rest, roots = whole, ()
        elif left == unknown and unknown not in names(inner.expression):
            roots = (inner.expression,)
        elif (closed := closed_roots(rest, unknown)) is not None:
            roots = tuple(map(sort_terms, closed))
        solved.append(Branch(regime=inner, difference=rest, roots=roots, absent=absent))
    return tuple(solved)


@cache
def turning_points(pair: TreePair, unknown: str) -> tuple[tuple[Tree, Roots], ...]:
    """Return the formulas that are zero where a pair changes its order, with their closed forms."""
    parts = [simplify(difference(*pair))]
    match parts[0]:
        case ("/", _, under) | ("-", ("/", _, under)):
            parts.append(under)
    return tuple((part, closed_roots(part, unknown)) for part in parts if unknown in names(part))


@cache
def roots_at_zero(smooth: Tree, nothing: frozenset[str], unknown: str) -> tuple[Tree, Roots]:
    """Return a formula with these quantities set to 0, and its closed forms: none if it divides by 0 there."""
    try:
        rest = simplify(put_into(smooth, dict.fromkeys(nothing, 0)))
    except ZeroDivisionError:
        return 1, ()
    return rest, closed_roots(rest, unknown)
