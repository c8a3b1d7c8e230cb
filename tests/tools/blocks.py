"""Blocks as SymPy eliminates them, held against what the solver makes of them: what questions about states meet, at their values.

    python -m tests.tools.blocks --count 500 --seed 1

Exit status 1 if the answers of a block are not the same, in kind, number or value.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count, islice
from math import isclose
from random import Random
from typing import Any
from unittest.mock import patch

import derive.expressions.branches as by_algebra
from derive.expressions.branches import Branch, Regime
from derive.expressions.regimes import as_tree, in_words, regimes, trees_of_roots, turning_points
from derive.formulas import TreePair
from derive.quantities import symbol
from derive.quantities.formula import as_expression
from derive.records import Equation
from derive.solving import elimination
from derive.solving.blocks import Joint
from derive.solving.chain import Outcome, solve_leg
from derive.solving.matching import Structure
from derive.solving.route import Leg
from derive.trees import text
from tests.tools import eliminated_by_sympy
from tests.tools.campaign import QUESTIONS, ask
from tests.tools.states import questions, states

Met = tuple[Structure, str, Mapping[str, float]]

ALIKE = 1e-9
"""Relative difference up to which two answers are one: of both the last digits are lost in terms that cancel."""


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
        solved.append(Branch(regime, as_tree(whole), () if absent else trees_of_roots(whole, x), absent))
    return tuple(solved)


def turns_by_sympy(row: Equation | Joint, pair: TreePair, unknown: str) -> Any:
    if isinstance(row, Equation):
        return by_algebra.turns(row, pair, unknown)
    larger, smaller = (as_expression(text(side)) for side in pair)
    return turning_points(larger - smaller, symbol(unknown))


@contextmanager
def by_sympy() -> Iterator[None]:
    """Everything of a block from SymPy."""
    solver = "derive.solving.one_equation"
    with patch(f"{solver}.branches", branches_by_sympy), patch(f"{solver}.turns", turns_by_sympy):
        yield


def outcome(cases: tuple[Joint, ...], unknown: str, values: Mapping[str, float]) -> Outcome | None:
    """What the cases of a block come to; None where there are none, or what they need is not known."""
    needed = {name for case in cases for name in case.symbols} - {unknown}
    held = {name: value for name, value in values.items() if name != unknown}
    return solve_leg(Leg(cases, unknown), held) if cases and needed <= held.keys() else None


def alike(one: Outcome | None, other: Outcome | None) -> bool:
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


def moved(random: Random, values: Mapping[str, float]) -> dict[str, float]:
    """Values near those of a state, at which equations need not hold."""
    return {name: value * random.uniform(0.5, 1.5) if random.random() < 0.3 else value for name, value in values.items()}


def verdicts(random: Random, one: Met) -> Iterator[str]:
    """How a block fares at the values of its state and beside them."""
    structure, unknown, values = one
    made, known = elimination.joint(structure, unknown), eliminated_by_sympy.eliminated(structure, unknown)
    if bool(made) != bool(known):
        yield f"worked out {'without' if made else 'by'} SymPy alone"
        return
    if not made:
        yield "does not work out"
    for at in (values, *(moved(random, values) for _ in range(3))) if made else ():
        found = outcome(made, unknown, at)
        with by_sympy():
            expected = outcome(known, unknown, at)
        same = alike(found, expected)
        yield ("answered alike" if found and found[0] else "refused alike") if same else f"not alike: {found} {expected}"


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
