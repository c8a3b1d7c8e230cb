"""Return the smooth regimes of an equation, and the closed forms in each, as trees."""

from collections.abc import Mapping
from functools import cache

from derive.evaluate import evaluate
from derive.expressions.cases import Regime, smooth_cases
from derive.expressions.closed_roots import closed_roots
from derive.expressions.in_order import sort_terms
from derive.expressions.one_line import simplify
from derive.immutable import immutable
from derive.records import Equation, Solvable
from derive.trees import Roots, Tree, TreePair, difference, names, put_into


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
