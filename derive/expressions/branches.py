"""The smooth regimes of an equation and the closed forms in each, as trees: out of the table of formulas, else from SymPy."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import unwrap
from typing import TYPE_CHECKING, Any, Protocol

from derive.evaluate import evaluate
from derive.expressions.cases import smooth_cases
from derive.expressions.closed_roots import closed_roots
from derive.expressions.one_line import below_the_line, simplified
from derive.expressions.regimes import as_tree, regimes, trees_of_roots
from derive.formulas import Formulas, Roots, TreePair, found, key
from derive.quantities import symbol
from derive.records import Equation, key_of_claim
from derive.requirements import Requirement
from derive.trees import Tree, difference, names, put_into, text
from derive.written import as_it_is_written

if TYPE_CHECKING:
    from sympy import Expr


class Solvable(Protocol):
    """What can be solved: an equation of the catalogue, or one that follows from several in a regime of theirs."""

    @property
    def sides(self) -> Any: ...
    @property
    def requires(self) -> tuple[Requirement, ...]: ...
    @property
    def wins(self) -> tuple[TreePair, ...]: ...
    @property
    def regime(self) -> str | None: ...
    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Regime:
    """A smooth formula, and the (larger, smaller) pairs that make it the value of the whole; `said` is them in words."""

    expression: Tree
    wins: tuple[TreePair, ...] = ()
    said: str | None = None

    @property
    def label(self) -> str | None:
        """The inequalities in words of the registry, or None where the whole is smooth.

        >>> from derive.catalogue import equation
        >>> [regime.label for regime in regimes_of(equation("experts.scale_out_slowdown"))][0]
        '1/racks >= scale_out_bandwidth_ratio*(racks - 1)/racks'
        """
        return self.said or " and ".join(dict.fromkeys(f"{text(larger)} >= {text(smaller)}" for larger, smaller in self.wins)) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One regime, with the closed forms of the unknown in it; `roots` is None where there are none to be had."""

    regime: Regime
    difference: Tree
    roots: Roots
    absent: bool


@cache
def formulas(equation: Equation) -> Formulas | None:
    """The line of the table that was made from the very relation of this equation; None where there is none."""
    line = found(key(equation.id, equation.put_in))
    if line and line.stated() != as_stated(equation):
        _tell_of_change(equation.id)
        return None
    return line


@cache
def _tell_of_change(id: str) -> None:
    """Says once that an equation is worked out anew, which takes a while."""
    from logging import getLogger

    getLogger(__name__).warning("%s is not what the table of formulas was made from: python -m derive.make_formulas makes it", id)


def in_latex(equation: Equation) -> str:
    r"""The relation as LaTeX, in the symbols of the lecture.

    >>> from derive.catalogue import equation
    >>> print(in_latex(equation("batching.ridge_point")))
    \beta = \frac{F}{W}
    """
    line = formulas(equation)
    return line.latex.decode() if line else equation.latex


def as_stated(equation: Equation) -> str:
    """An equation as the catalogue writes it, with what it requires, in one line.

    >>> from derive.catalogue import equation
    >>> as_stated(equation("batching.sparsity"))
    'sparsity = total_params/active_params where total_params >= active_params'
    """
    needed = [f"{text(larger)} {sign} {text(smaller)}" for sign, larger, smaller in comparisons(equation)]
    return _relation_as_stated(equation) + (f" where {' and '.join(needed)}" if needed else "")


def _relation_as_stated(equation: Equation) -> str:
    """The relation, of one that is a solved claim the claim."""
    if claimed := getattr(unwrap(equation.relation), "claim", None):
        claim, solved_for = claimed
        return key_of_claim(claim, solved_for[0])
    return " = ".join(map(text, as_it_is_written(equation.relation)))


def comparisons(equation: "Equation | Solvable") -> tuple[tuple[str, Tree, Tree], ...]:
    """What an equation requires: a sign and both sides; without what is so of anything."""
    return tuple(one for needed in equation.requires if isinstance(one := as_it_is_written(needed.holds), tuple))


@cache
def sides_of(row: "Equation | Solvable") -> tuple[Tree, Tree]:
    """Left and right side as trees."""
    if not isinstance(row, Equation):
        left, right = row.sides
        return left, right
    if line := formulas(row):
        return row.symbols[0], line.right_side()
    return row.symbols[0], as_tree(row.sides[1])


@cache
def regimes_of(row: "Equation | Solvable") -> tuple[Regime, ...]:
    """All smooth regimes of the right side of an equation."""
    if not isinstance(row, Equation):
        return tuple(Regime(*case) for case in smooth_cases(row.sides[1]))
    if line := formulas(row):
        return tuple(Regime(expression, wins) for expression, wins in line.smooth())
    return tuple(Regime(as_tree(one.expression), _as_pairs(one.wins)) for one in regimes(row.sides[1]))


def _as_pairs(wins: "tuple[tuple[Expr, Expr], ...]") -> tuple[TreePair, ...]:
    return tuple((as_tree(larger), as_tree(smaller)) for larger, smaller in wins)


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
    if not isinstance(row, Equation):
        return _of_block(row, unknown)
    if line := formulas(row):
        left = sides_of(row)[0]
        solved = zip(regimes_of(row), line.roots_of(unknown), strict=True)
        return tuple(_branch(regime, left, unknown, roots) for regime, roots in solved)
    return _by_sympy(row, unknown)


def _branch(regime: Regime, left: Tree, unknown: str, roots: Roots) -> Branch:
    rest = difference(left, regime.expression)
    return Branch(regime=regime, difference=rest, roots=roots, absent=unknown not in names(rest))


def _of_block(row: Solvable, unknown: str) -> tuple[Branch, ...]:
    """The regimes of what follows from several equations: it holds in those that were put in for it, whatever its own come to."""
    left, right = row.sides
    solved = []
    for expression, wins in smooth_cases(right):
        inner = Regime(expression, wins)
        said = " and ".join(filter(None, (row.regime, inner.label))) if row.wins else None
        regime = Regime(expression, (*row.wins, *wins), said or None)
        rest = difference(left, expression)
        if unknown not in names(whole := simplified(rest)):
            solved.append(Branch(regime=regime, difference=whole, roots=(), absent=True))
        elif left == unknown and unknown not in names(expression):
            solved.append(Branch(regime=regime, difference=rest, roots=(expression,), absent=False))
        else:
            solved.append(Branch(regime=regime, difference=rest, roots=closed_roots(rest, unknown), absent=False))
    return tuple(solved)


def _by_sympy(row: Equation, unknown: str) -> tuple[Branch, ...]:
    x, (left, right) = symbol(unknown), row.sides
    solved = []
    for inner in regimes(right):
        regime = Regime(as_tree(inner.expression), _as_pairs(inner.wins))
        whole = left - inner.expression
        if not whole.has(x):
            solved.append(Branch(regime=regime, difference=as_tree(whole), roots=(), absent=True))
        elif left == x and not inner.expression.has(x):
            solved.append(Branch(regime=regime, difference=as_tree(whole), roots=(as_tree(inner.expression),), absent=False))
        else:
            solved.append(Branch(regime=regime, difference=as_tree(whole), roots=trees_of_roots(whole, x), absent=False))
    return tuple(solved)


@cache
def turns(row: "Equation | Solvable", pair: TreePair, unknown: str) -> tuple[tuple[Tree, Roots], ...]:
    """What is zero where the larger of a pair turns into the smaller, with the closed forms of where that is."""
    if unknown not in names(pair[0]) | names(pair[1]):
        return ()
    line = formulas(row) if isinstance(row, Equation) else None
    stored = line.turns_of(unknown, pair) if line else None
    if stored is not None:
        return stored
    rest = difference(*pair)
    parts = (simplified(rest), below_the_line(rest))
    return tuple((part, closed_roots(part, unknown)) for part in parts if unknown in names(part))


@cache
def at_nothing_of(smooth: Tree, nothing: frozenset[str], unknown: str) -> tuple[Tree, Roots]:
    """What is left of a formula where these quantities are 0, and its closed forms."""
    rest = simplified(put_into(smooth, dict.fromkeys(nothing, 0)))
    return rest, closed_roots(rest, unknown)
