"""A question at many points: one by one where they are few, through its route as arrays where they are many."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from derive.along import Columns, agrees, as_arrays, at_point
from derive.boxes import spanned
from derive.chain import answer, answered
from derive.errors import WrongValue
from derive.questions import Question
from derive.solutions import Answer, Reason, Solution, Sweep
from derive.spreads import MOST_POINTS, Interval, Series

FEW = 64
"""Up to how many points are answered one by one."""

SINGLY = 1000
"""Up to how many points that arrays leave without a number are asked again one by one."""

PROBES = 5
"""How many points of a long sweep are asked one by one to hold the arrays against."""


def swept(asked: Question, series: Mapping[str, Series], ranges: Mapping[str, Interval]) -> Solution:
    """The answers at every combination of the series, the last one running fastest; over ranges, what each spans."""
    count = prod(len(one) for one in series.values())
    if count > MOST_POINTS:
        raise WrongValue(f"{' times '.join(series)} takes {count:.4g} points; at most {MOST_POINTS:,} in one sweep, all series together")
    first = answer(at_point(asked, {name: one.array()[:1] for name, one in series.items()}, 0))
    if first.reason and first.reason.code == "missing_givens":
        return first
    grid = np.meshgrid(*(one.array() for one in series.values()), indexing="ij")
    given = {name: np.ascontiguousarray(column.ravel()) for name, column in zip(series, grid, strict=True)}
    if ranges:
        return _one_by_one(asked, given, range(count), lambda at: spanned(at, ranges))
    if count <= FEW:
        return _one_by_one(asked, given, range(count), answer)
    probes = np.unique(np.linspace(0, count - 1, PROBES).astype(int))
    outcomes = {int(at): answered(at_point(asked, given, at)) for at in probes}
    way = next((way for _, way in outcomes.values() if way), None)
    table = way and as_arrays(asked, given, way)
    if table is None or not all(agrees(table, at, solution) for at, (solution, _) in outcomes.items()):
        return _one_by_one(asked, given, range(count), answer)
    return _tabled([solution for solution, _ in outcomes.values()], _without_number(asked, table))


def _one_by_one(asked: Question, given: Columns, places: Sequence[int], answered_by: Callable[[Question], Solution]) -> Solution:
    """Every point asked by itself; refused where they are too many for that."""
    if len(places) > 10 * SINGLY:
        raise WrongValue(
            f"{asked.unknown} takes different routes here or has no closed form, so that it is asked point by point:"
            f" at most {10 * SINGLY:,} points, not {len(places):,}"
        )
    solutions = [answered_by(at_point(asked, given, at)) for at in places]
    roots = max(1, *(sum(one.kind == "point" for one in solution.answers) for solution in solutions))
    labels = tuple(dict.fromkeys(one.regime for solution in solutions for one in solution.answers)) or (None,)
    values = np.full((roots, len(places)), np.nan)
    regimes = np.zeros((roots, len(places)), dtype=int)
    others: dict[int, tuple[tuple[Answer, ...], Reason | None]] = {}
    for at, solution in enumerate(solutions):
        found = [one for one in solution.answers if one.kind == "point"]
        for root, one in enumerate(found):
            values[root, at], regimes[root, at] = one.value, labels.index(one.regime)
        if not found:
            others[at] = solution.answers, solution.reason
    return _tabled(solutions, Sweep(given, values, regimes, labels, others))


def _without_number(asked: Question, table: Sweep) -> Sweep:
    """The table with what the points without a number come to, as far as there are not too many of them."""
    empty = np.flatnonzero(np.isnan(table.values).all(axis=0))[:SINGLY]
    solutions = {int(at): answer(at_point(asked, table.given, at)) for at in empty}
    return replace(table, others={at: (solution.answers, solution.reason) for at, solution in solutions.items()})


def _tabled(solutions: list[Solution], table: Sweep) -> Solution:
    """One solution for all points: what it spans, and the table."""
    first = next((solution for solution in solutions if solution.answers), solutions[0])
    ends = [one.ends for answers, _ in table.others.values() for one in answers]
    lows = [*(low for low, _ in ends), *([] if np.isnan(table.values).all() else [float(np.nanmin(table.values))])]
    highs = [*(high for _, high in ends), *([] if np.isnan(table.values).all() else [float(np.nanmax(table.values))])]
    span = (Answer("interval", low=min(lows), high=None if None in highs else max(highs)),) if lows else ()
    kept = {name: value for name, value in first.given.items() if name not in table.given}
    used = dict.fromkeys(id for solution in solutions for id in solution.equations)
    warnings = dict.fromkeys(text for solution in solutions for text in solution.warnings)
    return replace(first, answers=span, given=kept, equations=tuple(used), warnings=tuple(warnings)[:1], route=(), sweep=table)
