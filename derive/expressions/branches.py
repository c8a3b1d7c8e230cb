"""The smooth regimes of an equation and the closed forms in each, as trees."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from derive.evaluate import evaluate
from derive.expressions.cases import smooth_cases
from derive.expressions.closed_roots import closed_roots
from derive.expressions.in_order import in_order
from derive.expressions.one_line import below_the_line, simplified
from derive.immutable import immutable
from derive.records import Equation
from derive.requirements import Requirement
from derive.trees import Roots, Tree, TreePair, difference, names, put_into, text
from derive.written import as_it_is_written


class Solvable(Protocol):
    """What can be solved: an equation of the catalogue, or one that follows from several."""

    @property
    def sides(self) -> Any: ...
    @property
    def requires(self) -> tuple[Requirement, ...]: ...
    def __hash__(self) -> int: ...


@immutable(kw_only=False)
class Regime:
    """A smooth formula, and the (larger, smaller) pairs that make it the value of the whole; with these in words."""

    expression: Tree
    wins: tuple[TreePair, ...] = ()

    @property
    def label(self) -> str | None:
        """The inequalities in words of the registry, or None where the whole is smooth.

        >>> from derive.catalogue import equation
        >>> [regime.label for regime in regimes_of(equation("experts.scale_out_slowdown"))][0]
        '1/racks >= scale_out_bandwidth_ratio*(racks - 1)/racks'
        """
        return " and ".join(dict.fromkeys(f"{text(larger)} >= {text(smaller)}" for larger, smaller in self.wins)) or None


@immutable
class Branch:
    """One regime, with the closed forms of the unknown in it; `roots` is None where there are none to be had."""

    regime: Regime
    difference: Tree
    roots: Roots
    absent: bool


def comparisons(equation: "Equation | Solvable") -> tuple[tuple[str, Tree, Tree], ...]:
    """What an equation requires: a sign and both sides; without what is so of anything."""
    return tuple(one for needed in equation.requires if isinstance(one := as_it_is_written(needed.holds), tuple))


def sides_of(row: "Equation | Solvable") -> tuple[Tree, Tree]:
    """Return the left and right side as trees."""
    left, right = row.trees if isinstance(row, Equation) else row.sides
    return left, right


@cache
def regimes_of(row: "Equation | Solvable") -> tuple[Regime, ...]:
    """Return all smooth regimes of the right side. Those of an equation of the catalogue keep the shape in which it is written."""
    shaped = in_order if isinstance(row, Equation) else simplified
    return tuple(Regime(*case) for case in smooth_cases(sides_of(row)[1], shaped))


def in_force(equation: Equation, values: Mapping[str, float]) -> str | None:
    """The regime of an equation that these values are in, in words; None where there is only one, or too little is known.

    >>> from derive.catalogue import equation
    >>> times = {"compute_time": 0.01, "attention_time": 0.0, "plain_weight_time": 0.01, "kv_time": 0.01}
    >>> in_force(equation("serving.plain_step_time"), times)
    'kv_time + plain_weight_time >= attention_time + compute_time'
    """
    for regime in regimes_of(equation) if all(name in values for name in equation.symbols[1:]) else ():
        if all(evaluate(larger, values) >= evaluate(smaller, values) for larger, smaller in regime.wins):
            return regime.label
    return None


@cache
def branches(row: "Equation | Solvable", unknown: str) -> tuple[Branch, ...]:
    """Every regime of an equation, solved for one of its quantities.

    >>> from derive.catalogue import equation
    >>> for branch in branches(equation("serving.plain_step_time"), "kv_time"):
    ...     print(branch.regime.label, branch.roots, branch.absent)
    attention_time + compute_time >= kv_time + plain_weight_time () True
    kv_time + plain_weight_time >= attention_time + compute_time (('+', 'plain_step_time', ('-', 'plain_weight_time')),) False
    """
    left, solved = sides_of(row)[0], []
    for inner in regimes_of(row):
        rest = difference(left, inner.expression)
        if unknown not in names(whole := simplified(rest)):
            solved.append(Branch(regime=inner, difference=whole, roots=(), absent=True))
        elif left == unknown and unknown not in names(inner.expression):
            solved.append(Branch(regime=inner, difference=rest, roots=(inner.expression,), absent=False))
        else:
            roots = closed_roots(rest, unknown)
            ordered = None if roots is None else tuple(map(in_order, roots))
            solved.append(Branch(regime=inner, difference=rest, roots=ordered, absent=False))
    return tuple(solved)


@cache
def turns(row: "Equation | Solvable", pair: TreePair, unknown: str) -> tuple[tuple[Tree, Roots], ...]:
    """What is zero where the larger of a pair turns into the smaller, with the closed forms of where that is."""
    if unknown not in names(pair[0]) | names(pair[1]):
        return ()
    rest = difference(*pair)
    parts = (simplified(rest), below_the_line(rest))
    return tuple((part, closed_roots(part, unknown)) for part in parts if unknown in names(part))


@cache
def at_nothing_of(smooth: Tree, nothing: frozenset[str], unknown: str) -> tuple[Tree, Roots]:
    """What is left of a formula where these quantities are 0, and its closed forms."""
    rest = simplified(put_into(smooth, dict.fromkeys(nothing, 0)))
    return rest, closed_roots(rest, unknown)
