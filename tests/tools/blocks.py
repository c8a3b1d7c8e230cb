"""Blocks as SymPy eliminates them, held against what the solver makes of them: what questions about states meet, at their values.

    python -m tests.tools.blocks --count 500 --seed 1

Where the two differ, both are held against the equations of the block themselves. Exit status 1 if these do not bear out the solver.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from math import inf, isclose
from random import Random
from typing import Any
from unittest.mock import patch

from sympy import Expr, Symbol, fraction, together

import derive.expressions.branches as by_algebra
from derive.answers import Answer
from derive.expressions.branches import Branch, Regime
from derive.expressions.roots import negligible
from derive.expressions.sympy_solver import in_words, regimes, solve_smooth
from derive.quantities import quantity, symbol
from derive.quantities.formula import as_expression, as_tree
from derive.records import Equation, right_side_at
from derive.solving import elimination
from derive.solving.blocks import Joint
from derive.solving.chain import _Outcome, solve_leg
from derive.solving.matching import Structure
from derive.solving.one_equation import inside, solve_equation
from derive.solving.route import Leg
from derive.trees import Roots, TreePair, text
from tests.tools import eliminated_by_sympy
from tests.tools.campaign import QUESTIONS, ask
from tests.tools.states import questions, states

Met = tuple[Structure, str, Mapping[str, float]]

ALIKE = 1e-9
"""Relative difference up to which two answers are one: of both the last digits are lost in terms that cancel."""

HELD = 1e-12
"""By what share of themselves numbers may be off for an equation to hold."""
LAST_DIGIT, LEFT = 1e-15, 1e-7
"""Relative size of a last digit, and the move of an answer at which half of its digits are lost."""
PLACES = [place / 40 for place in range(41)]
"""Where in its domain the unknown is tried, where the two differ on more than points."""
BORNE_OUT = "ours borne out by the equations"
SMALLER = (0.5, 0.75, 0.9)
"""Shares of what is left free at which it is looked whether it cancels."""


def met(random: Random) -> Iterator[Met]:
    """Blocks that questions about states meet, each once, with the values of the state."""
    seen: set[tuple[Structure, str]] = set()
    ordinary = elimination.joint
    for state in states(random):
        for asked in questions(random, state, QUESTIONS):
            found: list[tuple[Structure, str]] = []

            with patch.object(elimination, "joint", lambda *block, to=found: to.append(block) or ordinary(*block)):
                ask(asked)
            new = [one for one in dict.fromkeys(found) if one not in seen]
            seen.update(new)
            yield from ((*one, state.values) for one in new)


def branches_by_sympy(row: Equation | Joint, unknown: str) -> tuple[Branch, ...]:
    """The regimes of what follows from several equations, as SymPy has them."""
    if isinstance(row, Equation):
        return by_algebra.branches(row, unknown)
    x, (left, right) = symbol(unknown), (as_expression(text(side)) for side in row.sides)
    solved = []
    for inner in regimes(right):
        said = " and ".join(filter(None, (row.regime, in_words(inner.wins)))) if row.wins else None
        regime = Regime(as_tree(inner.expression), (*row.wins, *((as_tree(a), as_tree(b)) for a, b in inner.wins)), said or None)
        whole = left - inner.expression
        absent = not whole.has(x)
        solved.append(Branch(regime=regime, difference=as_tree(whole), roots=() if absent else trees_of_roots(whole, x), absent=absent))
    return tuple(solved)


def trees_of_roots(height: Expr, x: Symbol) -> Roots:
    """The roots of a smooth expression by SymPy, as trees."""
    roots = solve_smooth(height, x)
    return None if roots is None else tuple(map(as_tree, roots))


def turns_by_sympy(row: Equation | Joint, pair: TreePair, unknown: str) -> Any:
    if isinstance(row, Equation):
        return by_algebra.turns(row, pair, unknown)
    larger, smaller = (as_expression(text(side)) for side in pair)
    x, parts = symbol(unknown), (larger - smaller, fraction(together(larger - smaller))[1])
    return tuple((as_tree(part), trees_of_roots(part, x)) for part in parts if part.has(x))


@contextmanager
def by_sympy() -> Iterator[None]:
    """Everything of a block from SymPy."""
    solver = "derive.solving.one_equation"
    with patch(f"{solver}.branches", branches_by_sympy), patch(f"{solver}.turns", turns_by_sympy):
        yield


def outcome(cases: tuple[Joint, ...], unknown: str, values: Mapping[str, float]) -> _Outcome | None:
    """What the cases of a block come to; None where there are none, or what they need is not known."""
    needed = {name for case in cases for name in case.symbols} - {unknown}
    held = {name: value for name, value in values.items() if name != unknown}
    return solve_leg(Leg(cases, unknown), held) if cases and needed <= held.keys() else None


def alike(one: _Outcome | None, other: _Outcome | None) -> bool:
    """Whether two outcomes are the same."""
    if one is None or other is None:
        return one is other
    (found, reason), (known, why) = one, other
    if len(found) != len(known) or (not found and reason and why and reason.code != why.code):
        return False
    pairs = zip(sorted(found, key=lambda a: a.ends[0]), sorted(known, key=lambda a: a.ends[0]), strict=True)
    return all(a.kind == b.kind and all(map(_near, a.ends, b.ends)) for a, b in pairs)


def _near(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and isclose(one, other, rel_tol=ALIKE))


def hold(rows: Sequence[Equation], values: Mapping[str, float]) -> bool | None:
    """Whether equations hold together, each by itself, what they lack worked out on the way; None where two are needed at once."""
    lacking = {row: [name for name in row.symbols if name not in values] for row in rows}
    row = min(rows, key=lambda one: len(lacking[one]), default=None)
    if row is None:
        return True
    rest = [one for one in rows if one is not row]
    if len(lacking[row]) > 1:
        return None
    if lacking[row]:
        (name,) = lacking[row]
        found = [hold(rest, {**values, name: inside(one)}) for one in solve_equation(row, name, values)[0]]
        return True if True in found else None if None in found else False
    known = {name: values[name] for name in row.symbols}
    if row.violated(known) or not negligible(lambda at: row.left_side(at) - right_side_at(row, at), known, HELD):
        return False
    return hold(rest, values)


def borne_out(block: Structure, unknown: str, values: Mapping[str, float], ours: _Outcome, theirs: _Outcome) -> bool:
    """Whether, wherever the two differ, the equations of the block hold at what we answer and nowhere else."""
    held = {name: value for name, value in values.items() if name not in block.names or name in block.free}
    points = [one.point for answers, _ in (ours, theirs) for one in answers if one.kind == "point"]
    row = quantity(unknown)
    told_apart = [place for place in (*points, *map(row.anywhere, PLACES)) if said(ours[0], place) != said(theirs[0], place)]
    if not told_apart and not ours[0]:
        # Both refuse, for different reasons.
        told_apart = [row.anywhere(place) for place in PLACES]
    return bool(told_apart) and all(hold(block.rows, {**held, unknown: place}) is said(ours[0], place) for place in told_apart)


def by_last_digits(cases: tuple[Joint, ...], unknown: str, values: Mapping[str, float]) -> bool:
    """Whether last digits of what is given decide what the cases of a block come to: half of the digits of an answer, or all."""
    needed = {name for case in cases for name in case.symbols} - {unknown}
    beside = [{**values, name: values[name] * (1 + side * LAST_DIGIT)} for name in sorted(needed) for side in (-1, 1)]
    with by_sympy():
        found = [outcome(cases, unknown, at) for at in (values, *beside)]
    points = [one[0][0].point if one and len(one[0]) == 1 and one[0][0].kind == "point" else inf for one in found]
    return any(not isclose(point, points[0], rel_tol=LEFT) for point in points)


def said(answers: Sequence[Answer], place: float) -> bool:
    """Whether a number is among the answers."""
    return any(
        _near(one.point, place) if one.kind == "point" else one.least <= place <= (inf if one.high is None else one.high) for one in answers
    )


def cancels(block: Structure, unknown: str, values: Mapping[str, float], cases: tuple[Joint, ...]) -> bool:
    """Whether what comes out without what is left free holds whatever that is: here, and where quantities are as in practice."""
    usual = ({name: quantity(name).at(share) for name in values} for share in PLACES[1:-1:8])
    allowed = (at for at in usual if not any(row.violated(at) for row in block.rows))
    return all(_cancels_at(block, unknown, at, cases) for at in (values, *allowed))


def _cancels_at(block: Structure, unknown: str, values: Mapping[str, float], cases: tuple[Joint, ...]) -> bool:
    found = outcome(cases, unknown, values)
    held = {name: value for name, value in values.items() if name not in block.names}
    smaller = [{**held, **{name: share * values[name] for name in block.free}} for share in SMALLER]
    return all(hold(block.rows, {**at, unknown: inside(one)}) for at in smaller for one in (found[0] if found else ()))


def moved(random: Random, values: Mapping[str, float]) -> dict[str, float]:
    """Values near those of a state, at which equations need not hold."""
    return {name: value * random.uniform(0.5, 1.5) if random.random() < 0.3 else value for name, value in values.items()}


def verdicts(random: Random, one: Met) -> Iterator[str]:
    """How a block fares at the values of its state and beside them."""
    structure, unknown, values = one
    made, known = elimination.joint(structure, unknown), eliminated_by_sympy.eliminated(structure, unknown)
    if bool(made) != bool(known):
        right = cancels(structure, unknown, values, made or known) is bool(made)
        yield BORNE_OUT if right else f"worked out {'without' if made else 'by'} SymPy alone"
        return
    if not made:
        yield "does not work out"
    for at in (values, *(moved(random, values) for _ in range(3))) if made else ():
        found = outcome(made, unknown, at)
        with by_sympy():
            expected = outcome(known, unknown, at)
        if alike(found, expected):
            yield "answered alike" if found and found[0] else "refused alike"
        elif (found and found[1] and found[1].code == "not_identified" and by_last_digits(known, unknown, at)) or (
            found and expected and borne_out(structure, unknown, at, found, expected)
        ):
            yield BORNE_OUT
        else:
            yield f"not alike: {found} {expected}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random, told = Random(asked.seed), Counter[str]()
    for place, one in zip(count(1), islice(met(Random(asked.seed)), asked.count), strict=False):
        for verdict in verdicts(random, one):
            told[verdict.partition(":")[0]] += 1
            if verdict.startswith(("not alike", "worked out")):
                print(verdict[:600], one[1], [row.id for row in one[0].rows], one[0].free, flush=True)
        if place % 100 == 0:
            print(place, dict(sorted(told.items())), flush=True)
    print({"seed": asked.seed, "blocks": asked.count, **dict(sorted(told.items()))})
    sys.exit(any(verdict.startswith(("not alike", "worked out")) for verdict in told))


if __name__ == "__main__":
    main()
