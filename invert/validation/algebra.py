"""Compare the solver's closed forms with those of SymPy for every equation, unknown and regime at random points."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from math import isclose, isfinite
from random import Random

from derive.catalogue import equations
from derive.errors import WrongData
from derive.expressions.branches import branches
from derive.quantities import QUANTITIES
from derive.quantities.formula import as_tree
from derive.records import Equation, right_side_at
from derive.tables.lines import Problem
from derive.trees import Tree, evaluate, precise

_POINTS = 6
"""Number of points at which each regime is compared. The equation is satisfied at every second point."""
_TRIES = 10_000
"""Maximum number of draws to find values that meet the requirements."""
_ALIKE = 1e-7
"""Relative difference of two equal roots."""
_VERDICTS = ("both", "ours alone", "SymPy alone", "none", "differ")

_Point = Mapping[str, float]


def algebra_rows(rows: Iterable[Equation] | None = None, seed: int = 1) -> list[dict[str, object]]:
    """Return for each chapter how many regimes are solved by both, by one or by none, and where they differ."""
    random, found = Random(seed), []
    for chapter, some in groupby(equations() if rows is None else rows, lambda row: row.chapter):
        verdicts = [(f"{row.id} for {name}", one) for row in some for name in row.symbols for one in _compare(row, name, random)]
        count = Counter(one for _, one in verdicts)
        differ = dict.fromkeys(where for where, one in verdicts if one == "differ")
        counted = {one: count[one] for one in _VERDICTS}
        found.append({"chapter": chapter, "regimes": len(verdicts), **counted, "where they differ": "; ".join(differ)})
    total = {name: sum(int(str(row[name])) for row in found) for name in ("regimes", *_VERDICTS)}
    return [*found, {"chapter": "all", **total, "where they differ": ""}]


def algebra_problems(rows: Iterable[Mapping[str, object]]) -> list[Problem]:
    """Return a problem for each chapter in which the two differ."""
    differ = [row for row in rows if row["where they differ"]]
    return [Problem(origin=f"algebra, {row['chapter']}", message=f"{row['where they differ']}") for row in differ]


def _compare(row: Equation, unknown: str, random: Random) -> Iterator[str]:
    """Yield the comparison of both solutions for each regime of an equation."""
    points = [_draw_values(row, random, holds=bool(place % 2)) for place in range(_POINTS)]
    # Both have the same regimes in the same order. The SymPy splitter of the tests is the referee of that.
    for ours, theirs in zip(branches(row, unknown), row.solve_for(unknown), strict=True):
        own, other = ours.roots, theirs.solutions and tuple(map(as_tree, theirs.solutions))
        if own is None or other is None:
            yield "none" if own is other else "ours alone" if other is None else "SymPy alone"
        else:
            yield "both" if all(_have_one_value(own, other, at) for at in points) else "differ"


def _draw_values(row: Equation, random: Random, holds: bool) -> _Point:
    """Draw random values that meet the requirements. If the equation must hold, its left side is computed from the right side."""
    for _ in range(_TRIES):
        values = {name: QUANTITIES[name].at(random.uniform(0.1, 0.9)) for name in row.symbols}
        values = {**values, row.symbols[0]: right_side_at(row, values)} if holds else values
        if all(map(isfinite, values.values())) and row.applies(values):
            return values
    raise WrongData(f"{row.id}: no random values meet its requirements")


def _have_one_value(ours: tuple[Tree, ...], theirs: tuple[Tree, ...], at: _Point) -> bool:
    """Return whether the positive roots of both are equal, with many digits if a few are not enough."""
    for height in (evaluate, precise):
        found, known = ([float(value) for root in roots if isfinite(value := height(root, at)) and value > 0] for roots in (ours, theirs))
        if len(found) == len(known) and all(isclose(*pair, rel_tol=_ALIKE) for pair in zip(sorted(found), sorted(known), strict=True)):
            return True
    return False
