"""Inputs that are symbols: the answer is a formula of them, composed along the way.

A result of an equation keeps its Max and Min. A quantity inside a Max or Min is solved for in each regime, and its answer names the regime.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from derive.answers import Answer, Reason, RouteStep
from derive.errors import WrongValue
from derive.expressions.branches import branches
from derive.immutable import immutable
from derive.quantities import QUANTITIES, quantity, symbol
from derive.quantities.formula import as_expression
from derive.records import Equation
from derive.solving.engine.directions import Signs, bound_of, signs
from derive.solving.engine.engine import evaluate_way, refuse_question
from derive.solving.engine.legs import Composed, Leg, Loop, Way, compose
from derive.solving.engine.plan import find_eliminated, find_loops, find_plain_way
from derive.solving.explain.assumptions import list_assumptions
from derive.solving.explain.refusals import missing_givens
from derive.solving.question.questions import Question, known_values, pose_again
from derive.solving.result import Solution
from derive.trees import Tree, text

if TYPE_CHECKING:
    from sympy import Expr

_MOST_WAYS = 8
"""Largest number of regimes of an answer. More formulas would not be read."""

_SHARES = (0.2, 0.5, 0.8)
"""Places between the least and the greatest usual value of the symbols, at which the direction of an answer is computed."""

_NOT_SAID = "whether it is a lower or an upper bound depends on the symbols"

_SQUARE = 2
"""Highest power in an expression whose sign SymPy is asked for."""

_LARGE = 60
"""Most operations in an expression whose sign SymPy is asked for. It may need minutes for more."""

_LONG = 10**30
"""Size above which a fraction is written as a decimal number."""

_EXACT = 2.0**53
"""Size up to which a whole number is written without a decimal point."""

_Pairs = tuple[tuple["Expr", "Expr"], ...]
_Solved = tuple["Expr", _Pairs, str | None]
"""A formula, the pairs of a larger and a smaller expression where it holds, and these in words."""


@immutable(kw_only=False)
class _Way:
    """The state on one way through regimes: every quantity as an expression of the givens, the regimes, and the steps."""

    values: "Mapping[str, Expr]"
    regimes: tuple[str, ...] = ()
    steps: tuple[RouteStep, ...] = ()


class _NoFormula(Exception):
    """A leg that only numbers can answer. The text says why."""


def answer_symbolically(asked: Question, given: "Mapping[str, Expr]") -> Solution:
    """Return the answer to a question as a formula. `given` are the inputs that are symbols, by registry name.

    >>> from derive.solving.question.questions import question
    >>> asked = question("balance_batch", {"sparsity": 8})
    >>> answer_symbolically(asked, {"machine_balance_ratio": symbol("machine_balance_ratio")}).answers[0].expr
    8*machine_balance_ratio
    """
    if asked.unknown in given:
        raise WrongValue(f"{asked.unknown} is asked for and given ({given[asked.unknown]}): remove one of them")
    numbers = {name: value for name, value in asked.known.items() if name not in given}
    # The equations depend on which inputs are given and not on their values, so any value will do here.
    known = {**numbers, **{name: quantity(name).at(0.5) for name in given}}
    provenance = {**asked.provenance, **dict.fromkeys(given, "given")}
    asked = pose_again(replace(asked, known=known, provenance=provenance), asked.unknown, known)
    for values in known_values(asked):
        start = frozenset(values)
        ways = (find_plain_way(asked.unknown, asked.equalities, start), *islice(find_loops(asked.unknown, asked.equalities, start), 1))
        if way := next(chain(filter(None, ways), find_eliminated(asked.unknown, asked.equalities, start)), None):
            return _follow_way(asked, values, way, given)
    reason = missing_givens(asked)
    # With numbers an inequality may bound what no equation gives.
    told = f"{reason.message}\nsymbols work only with equations. With numbers for all of them there may be a bound"
    return _refuse(asked, replace(reason, message=told), given)


def _follow_way(asked: Question, known: Mapping[str, float], way: Way, given: "Mapping[str, Expr]") -> Solution:
    ways = [_Way({name: given[name] if name in given else _number(value) for name, value in known.items()})]
    for leg in way.legs:
        try:
            ways = list(islice((onward for one in ways for onward in _solve_leg(leg, one)), _MOST_WAYS + 1))
        except _NoFormula as stop:
            return _refuse(asked, Reason(code="not_identified", message=str(stop)), given)
        if not ways:
            told = f"{leg.unknown} is not a limit in {leg.id}, or has no positive value there"
            return _refuse(asked, Reason(code="no_solution", message=told), given)
        if len(ways) > _MOST_WAYS:
            told = f"{asked.unknown} has more than {_MOST_WAYS} formulas, one for each regime: give numbers for some of the symbols"
            return _refuse(asked, Reason(code="not_identified", message=told), given)
    if broken := _broken_requirements(way, ways):
        return _refuse(
            asked, Reason(code="requirement_violated", violated=broken, message=f"{way.rows[-1].id} requires {broken[0]}"), given
        )
    touched = {name for row in way.rows for name in (*row.symbols, *row.put_in) if name in known}
    open_to = {name for one in ways for name, value in one.values.items() if value.free_symbols}
    relations = ((row, needed) for row in way.rows for needed in row.requirements())
    needed = (f"{row.id} requires {needed}" for row, needed in relations if any(part.name in open_to for part in needed.free_symbols))
    bound, open_side = _bound_side(asked, known, way, given)
    symbols = (f"{name} is given as {value}" for name, value in given.items() if name in touched and value != symbol(name))
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=tuple({(one.formula, one.regime): one for one in (_answer(asked.unknown, end, bound) for end in ways)}.values()),
        equations=tuple(row.reference for row in way.rows),
        given={name: value for name, value in known.items() if name in touched and name not in given},
        assumptions=(*symbols, *list_assumptions(asked, known, way, touched - {*given}), *needed, *open_side),
        provenance={name: asked.provenance.get(name, "default") for name in known if name in touched and name not in given},
        unused=tuple(name for name in asked.typed if name not in touched),
        route=ways[0].steps,
    )


def _bound_side(asked: Question, known: Mapping[str, float], way: Way, given: "Mapping[str, Expr]") -> tuple[str | None, tuple[str, ...]]:
    """Return the direction of the answer if it is the same at several values of the symbols, and else that it is not said."""
    seen = set[Signs]()
    for share in _SHARES:
        values = evaluate_way(way, {**known, **{name: quantity(name).at(share) for name in given}})
        seen |= {signs(asked, way, values)} if values else set()
    found = next(iter(seen)) if len(seen) == 1 else frozenset((1, -1))
    return bound_of(found), () if len(found) < 2 else (_NOT_SAID,)


def _broken_requirements(way: Way, ways: list[_Way]) -> tuple[str, ...]:
    """Return the requirements that numbers alone break, on every way."""
    numbers = [{name: float(value) for name, value in one.values.items() if not value.free_symbols} for one in ways]
    broken = [{text for row in way.rows for text in row.violated(known)} for known in numbers]
    return tuple(sorted(set.intersection(*broken)))


def _answer(unknown: str, way: _Way, bound: str | None) -> Answer:
    from sympy import sstr

    found = way.values[unknown]
    regime = " and ".join(dict.fromkeys(way.regimes)) or None
    return Answer(kind="symbolic", formula=sstr(found, full_prec=False), symbolic=found, regime=regime, bound=bound)


def _solve_leg(leg: Leg, way: _Way) -> Iterator[_Way]:
    """Yield the quantity of a leg as an expression of the givens, for each of its regimes."""
    for formula, wins, regime in _formulas(leg):
        value = _rounded(_substitute(formula, way.values))
        known = {**way.values, leg.unknown: value}
        margins = [_substitute(larger, known) - _substitute(smaller, known) for larger, smaller in wins]
        nothing = not QUANTITIES[leg.unknown].may_be_zero and _is_small(value) and value.is_nonpositive
        if nothing or any(_is_small(margin) and margin.is_negative for margin in margins):
            continue
        step = RouteStep(
            equations=tuple(row.reference for row in leg.rows), unknown=leg.unknown, value=None, formula=f"{leg.unknown} = {formula}"
        )
        label = regime if any(margin.free_symbols for margin in margins) else None
        yield _Way(known, (*way.regimes, *([label] if label else [])), (*way.steps, step))


def _rounded(expression: "Expr") -> "Expr":
    """Return an expression with long fractions as decimal numbers. Powers of exact numbers have thousands of digits."""
    from sympy import Float, Rational

    return expression.xreplace({one: Float(one) for one in expression.atoms(Rational) if max(abs(one.p), one.q) > _LONG})


def _is_small(expression: "Expr") -> bool:
    """Return whether SymPy finds the sign quickly. High powers and a Max or Min take long."""
    from sympy import Max, Min, Pow

    if not expression.free_symbols:
        return True
    low = all(power.exp.is_number and abs(power.exp) <= _SQUARE for power in expression.atoms(Pow))
    return low and expression.count_ops() <= _LARGE and not expression.has(Max, Min)


def _substitute(expression: "Expr", values: "Mapping[str, Expr]") -> "Expr":
    """Return an expression with other expressions in place of its quantities."""
    from sympy import Max, Min

    if expression.is_Symbol:
        return values[expression.name]
    if not expression.free_symbols:
        return expression
    parts = [_substitute(part, values) for part in expression.args]
    if isinstance(expression, (Max, Min)) and any(part.free_symbols for part in parts):
        return expression.func(*parts, evaluate=False)
    return expression.func(*parts)


def _formulas(leg: Leg) -> "Iterator[_Solved]":
    """Yield every closed form of the quantity of a leg, with its regime."""
    x = symbol(leg.unknown)
    row = compose(leg.closing, leg.steps) if isinstance(leg, Loop) else leg.row
    if row is None:
        raise _NoFormula(f"{leg.unknown} has no formula in {' and '.join(one.id for one in leg.rows)}: give numbers for the symbols")
    if isinstance(row, Equation) and row.sides[0] == x and not row.sides[1].has(x):
        yield row.sides[1], (), None
        return
    for solutions, wins, label in _solve_regimes(row, leg.unknown):
        if solutions is None:
            raise _NoFormula(f"{leg.unknown} has no closed form in {row.told}: give numbers for the symbols")
        yield from ((one, wins, label) for one in solutions)


def _solve_regimes(row: Equation | Composed, unknown: str) -> "Iterator[tuple[tuple[Expr, ...] | None, _Pairs, str | None]]":
    """Yield the solutions of each regime, by SymPy for one equation, by their own branches for several."""
    if isinstance(row, Equation):
        yield from ((one.solutions, one.regime.wins, one.regime.label) for one in row.solve_for(unknown))
        return
    for branch in branches(row, unknown):
        wins = tuple((_to_sympy(larger), _to_sympy(smaller)) for larger, smaller in branch.regime.wins)
        yield None if branch.roots is None else tuple(map(_to_sympy, branch.roots)), wins, branch.regime.label


def _to_sympy(tree: Tree) -> Any:
    """Return the expression that a tree was printed from."""
    return as_expression(text(tree))


def _number(value: float) -> "Expr":
    """Return a number of SymPy, an Integer for a whole number."""
    from sympy import Float, Integer

    return Integer(int(value)) if value == int(value) and abs(value) < _EXACT else Float(value)


def _refuse(asked: Question, reason: Reason, given: "Mapping[str, Expr]") -> Solution:
    known = {name: value for name, value in asked.known.items() if name not in given}
    provenance = {name: source for name, source in asked.provenance.items() if name in known}
    return refuse_question(replace(asked, known=known, provenance=provenance, notes=()), reason)
