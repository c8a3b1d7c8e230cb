"""A question at many points: one way at arrays of givens, with the memory and the direction of every answer."""

from collections.abc import Mapping
from dataclasses import replace
from math import isclose

import numpy as np

from derive.records import LOWER
from derive.requirements import HOLDS
from derive.roles import MEMORY
from derive.solving.arrays import Arrays, Floats, NoClosedForm, regime_labels, run
from derive.solving.directions import bound_of, signs
from derive.solving.engine import is_memory_warning
from derive.solving.fit import MEMORY_BINDS, least_chips, shortage
from derive.solving.plan import Way
from derive.solving.questions import Question, pose_at, standing_beside
from derive.solving.result import Solution, Sweep
from derive.solving.targets import batch_is_left_to_a_rate

AtPoints = Mapping[str, Floats]


def pose_at_point(asked: Question, given: AtPoints, at: int) -> Question:
    """Return the question at one of the points."""
    return pose_at(asked, {name: float(column[at]) for name, column in given.items()})


def sweep_way(asked: Question, given: AtPoints, way: Way) -> Sweep | None:
    """Return the sweep through one way, or None if arrays do not answer it or memory is checked against a batch that it does not hold."""
    if asked.unknown not in MEMORY.counted_by and batch_is_left_to_a_rate(asked):
        return None
    count = len(next(iter(given.values())))
    known = _with_defaults(asked, given)
    with np.errstate(all="ignore"):
        try:
            worlds = run(way, known)
        except NoClosedForm:
            return None
        values = np.stack([np.broadcast_to(_values_that_fit(asked, way, world), count) for world in worlds])
        places, labels = zip(*(regime_labels(way, world) for world in worlds), strict=True)
        needed = np.stack([np.broadcast_to(_chips_of_memory(asked, way, world), count) for world in worlds])
    places = np.stack([np.broadcast_to(place, count) for place in places])
    by_memory = ~np.isnan(needed)
    values, places = np.where(by_memory, needed, values), np.where(by_memory, len(labels[0]), places)
    return _with_directions(
        asked, way, worlds, Sweep(given=given, values=values, places=places, labels=(*labels[0], MEMORY_BINDS), bounds=())
    )


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


def _with_defaults(asked: Question, given: AtPoints) -> dict[str, "Floats | float"]:
    """Return all that may be taken as known at these points."""
    values = {**asked.known, **given}
    return {**values, **standing_beside(asked, values)}


def short_of_memory(asked: Question, given: AtPoints, way: Way) -> Floats:
    """Return where weights and caches do not fit."""
    known = _with_defaults(asked, given)
    with np.errstate(all="ignore"):
        short = shortage(asked, run(way, known)[0], way.rows)
    return np.broadcast_to(short is not None and short > 0, len(next(iter(given.values()))))


def agrees_at(table: Sweep, at: int, solution: Solution) -> bool:
    """Return whether the arrays have at a point what the question asked by itself has."""
    column = table.values[:, at]
    ours = sorted(column[~np.isnan(column)])
    theirs = sorted(one.point for one in solution.answers if one.kind == "point")
    return len(ours) == len(theirs) and all(isclose(a, b, rel_tol=HOLDS) for a, b in zip(ours, theirs, strict=True))


def _values_that_fit(asked: Question, way: Way, world: Arrays) -> "Floats | float":
    """Return the unknown where weights and caches fit, NaN elsewhere, if memory is checked."""
    found = world[asked.unknown]
    short = None if is_memory_warning(asked, way) else shortage(asked, world, way.rows)
    return found if short is None or not np.any(short > 0) else np.where(short > 0, np.nan, found)


def _chips_of_memory(asked: Question, way: Way, world: Arrays) -> "Floats | float":
    """Return the chips that memory needs where a speed needs fewer, NaN elsewhere."""
    short = None if is_memory_warning(asked, way) else shortage(asked, world, way.rows)
    if short is None or not np.any(short > 0):
        return np.nan
    least = least_chips(asked, world, way.rows)
    return np.nan if least is None else np.where(short > 0, least, np.nan)
