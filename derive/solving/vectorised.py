"""A question at many points: one way at arrays of givens, with the memory and the direction of every answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.records import LOWER
from derive.requirements import HOLDS
from derive.roles import MEMORY
from derive.solving.arrays import Arrays, Floats, NoClosedForm, regime_labels, run
from derive.solving.directions import bound_of, signs
from derive.solving.engine import is_memory_warning
from derive.solving.fit import MEMORY_BINDS, least_chips, shortage
from derive.solving.plan import Way
from derive.solving.questions import Question, pose_at, standing_beside
from derive.solving.result import Answer, Reason, Solution, Sweep
from derive.solving.targets import batch_is_left_to_a_rate

AtPoints = Mapping[str, Floats]


def pose_at_point(asked: Question, given: AtPoints, at: int) -> Question:
    """Return the question at one of the points."""
    return pose_at(asked, {name: float(column[at]) for name, column in given.items()})


def sweep_way(asked: Question, given: AtPoints, way: Way) -> tuple[Sweep, NDArray[np.bool_]] | None:
    """Return the sweep through one way, and where memory is short if that only warns.

    None if arrays do not answer it, or if memory is checked against a batch that the way does not contain.
    """
    if asked.unknown not in MEMORY.counted_by and batch_is_left_to_a_rate(asked):
        return None
    count = len(next(iter(given.values())))
    known: dict[str, Floats | float] = {**asked.known, **given}
    with np.errstate(all="ignore"):
        try:
            worlds = run(way, {**known, **standing_beside(asked, known)})
        except NoClosedForm:
            return None
        values = _stack(count, (world[asked.unknown] for world in worlds))
        places, labels = zip(*(regime_labels(way, world) for world in worlds), strict=True)
        places = _stack(count, places)
        short = _stack(count, (_find_short(asked, way, world) for world in worlds))
        if short.any() and not is_memory_warning(asked, way):
            needed = [least_chips(asked, world, way.rows) for world in worlds]
            values = np.where(short, _stack(count, (np.nan if chips is None else chips for chips in needed)), values)
            places = np.where(short & ~np.isnan(values), len(labels[0]), places)
            short[:] = False
    table = Sweep(given=given, values=values, places=places, labels=(*labels[0], MEMORY_BINDS), bounds=())
    return _with_directions(asked, way, worlds, table), short[0]


def _stack(count: int, rows: Iterable[Any]) -> NDArray[Any]:
    """Return one row of `count` values for each of the rows, which may be single values."""
    return np.stack([np.broadcast_to(row, count) for row in rows])


def _find_short(asked: Question, way: Way, world: Arrays) -> Any:
    """Return where weights and caches do not fit in memory."""
    short = shortage(asked, world, way.rows)
    return False if short is None else np.asarray(short > 0)


def tabulate(given: AtPoints, solutions: Sequence[Solution]) -> Sweep:
    """Return the table of points that were asked one by one."""
    roots = max(1, *(sum(one.kind == "point" for one in solution.answers) for solution in solutions))
    kinds = tuple(dict.fromkeys((one.regime, one.bound) for solution in solutions for one in solution.answers)) or ((None, None),)
    values = np.full((roots, len(solutions)), np.nan)
    places = np.zeros((roots, len(solutions)), dtype=np.int16)
    others: dict[int, tuple[tuple[Answer, ...], Reason | None]] = {}
    for at, solution in enumerate(solutions):
        found = [one for one in solution.answers if one.kind == "point"]
        for root, one in enumerate(found):
            values[root, at], places[root, at] = one.point, kinds.index((one.regime, one.bound))
        if not found:
            others[at] = solution.answers, solution.reason
    labels, bounds = zip(*kinds, strict=True)
    return Sweep(given=given, values=values, places=places, labels=labels, bounds=bounds, others=others)


def _with_directions(asked: Question, way: Way, worlds: list[dict[str, "Floats | float"]], table: Sweep) -> Sweep:
    """Return the sweep with the direction of the answers of each root in each regime, as it is at some of them."""
    kinds: dict[tuple[str | None, str | None], int] = {}
    places = np.zeros_like(table.places)
    for root, world in enumerate(worlds):
        there = ~np.isnan(table.values[root])
        for place in np.unique(table.places[root][there]).tolist():
            at = np.flatnonzero(there & (table.places[root] == place))
            label = table.labels[place]
            bound = (
                LOWER if label == MEMORY_BINDS else _direction(asked, way, table, world, [int(at[0]), int(at[len(at) // 2]), int(at[-1])])
            )
            places[root][at] = kinds.setdefault((label, bound), len(kinds))
    pairs = [*kinds] or [(None, None)]
    return replace(table, places=places, labels=tuple(label for label, _ in pairs), bounds=tuple(bound for _, bound in pairs))


def _direction(asked: Question, way: Way, table: Sweep, world: Arrays, some: list[int]) -> str | None:
    """Return the direction that the answers have together: an exact one is at least, and at most, what it is."""
    found: frozenset[int] = frozenset()
    for at in dict.fromkeys(some):
        point = {name: float(np.broadcast_to(column, len(table))[at]) for name, column in world.items()}
        found |= signs(pose_at_point(asked, table.given, at), way, point)
    return bound_of(found)


def agrees_at(table: Sweep, at: int, solution: Solution) -> bool:
    """Return whether the arrays have at a point what the question asked by itself has."""
    column = table.values[:, at]
    ours = sorted(column[~np.isnan(column)])
    theirs = sorted(one.point for one in solution.answers if one.kind == "point")
    return len(ours) == len(theirs) and all(isclose(a, b, rel_tol=HOLDS) for a, b in zip(ours, theirs, strict=True))
