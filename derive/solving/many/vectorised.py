"""A question at many points: one way at arrays of givens, with the memory and the direction of every answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from derive.answers import COUNTED
from derive.records import HOLDS
from derive.roles import Memory
from derive.solving.checks.fit import shortage
from derive.solving.checks.targets import batch_is_left_to_a_rate
from derive.solving.engine.directions import bound_of, signs
from derive.solving.engine.engine import is_memory_warning
from derive.solving.engine.legs import Way
from derive.solving.limits.answering import round_table
from derive.solving.many.arrays import Floats, NoClosedForm, regime_labels, run
from derive.solving.question.questions import Question, default_values, pose_at
from derive.solving.result import Answer, Reason, Solution, Sweep
from derive.units import show

AtPoints = Mapping[str, Floats]
_Labels = tuple[str | None, ...]

_AT_ONCE = 2**16
"""Points that are computed together, to use little memory."""


def point_at(given: AtPoints, at: int) -> dict[str, float]:
    """Return the values of one of the points."""
    return {name: float(column[at]) for name, column in given.items()}


def tell_point(given: AtPoints, at: int) -> str:
    """Return a point in words."""
    return "at " + ", ".join(f"{name} = {show(name, value)}" for name, value in point_at(given, at).items())


class Along(NamedTuple):
    """A table of points through the way of a question, with where memory is short if that only warns."""

    asked: Question
    way: Way
    table: Sweep
    short: NDArray[np.bool_]


_Fits = Callable[[int], None]


def evaluate_along(given: AtPoints, looks: Mapping[int, Solution], fits: _Fits = lambda roots: None, sides: bool = False) -> Along | None:
    """Return the table through the first way that agrees with all points that were asked one by one, or None.

    Ways of points with an answer come first. `fits` is called as `evaluate_points` does. With `sides` each answer says if it is a bound.
    """
    found = (one.along for one in sorted(looks.values(), key=lambda look: not look.answers) if one.along)
    ways = {id(way): (posed, way) for posed, way in found if way and given.keys() <= posed.known.keys()}
    for posed, way in ways.values():
        asked = replace(posed, silent=True)
        if there := evaluate_points(asked, given, way, fits):
            table = add_directions(asked, way, there[0]) if sides or is_rounded(asked) else there[0]
            if all(agrees_at(table, at, solution, sides) for at, solution in looks.items()):
                return Along(asked, way, table, there[1])
    return None


def evaluate_points(asked: Question, given: AtPoints, way: Way, fits: _Fits = lambda roots: None) -> tuple[Sweep, NDArray[np.bool_]] | None:
    """Return the sweep through one way without directions, and where memory is short if that only warns.

    None if arrays do not answer it, or if memory is checked against a batch that the way lacks.
    `fits` is called with the number of roots and raises if they take too much memory.
    """
    if asked.unknown not in Memory.counted_by and batch_is_left_to_a_rate(asked):
        return None
    count, only_warns = len(next(iter(given.values()))), is_memory_warning(asked, way)
    values, places = np.empty((0, count)), np.empty((0, count), dtype=np.int16)
    short = np.zeros(count, dtype=bool)
    labels: _Labels = (None,)
    for start in range(0, count, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        here = {name: column[part] for name, column in given.items()}
        try:
            found, their_places, is_short, labels = _sweep_part(asked, here, way, only_warns)
        except NoClosedForm:
            return None
        if more := max(0, len(found) - len(values)):
            fits(len(found))
            values = np.concatenate([values, np.full((more, count), np.nan)])
            places = np.concatenate([places, np.zeros((more, count), dtype=np.int16)])
        values[: len(found), part] = found
        places[: len(found), part] = their_places
        short[part] = is_short[0] & only_warns
    return Sweep(given=given, values=values, places=places, labels=labels, bounds=(None,) * len(labels)), short


def _sweep_part(asked: Question, given: AtPoints, way: Way, only_warns: bool) -> tuple[Floats, NDArray[Any], NDArray[np.bool_], _Labels]:
    """Return the answers of a part of the points, the places of their labels, where memory is short, and the labels."""
    count = len(next(iter(given.values())))
    with np.errstate(all="ignore"):
        worlds = _run_at(asked, given, way)
        places, labels = zip(*(regime_labels(way, world) for world in worlds), strict=True)
        values, places = _stack(count, (world[asked.unknown] for world in worlds)), _stack(count, places)
        lacking = (shortage(asked, world, way.rows) for world in worlds)
        short = _stack(count, (False if one is None else np.asarray(one > 0) for one in lacking))
    return values if only_warns else np.where(short, np.nan, values), places, short, labels[0]


def _run_at(asked: Question, given: AtPoints, way: Way) -> "list[dict[str, Floats | float]]":
    known: dict[str, Floats | float] = {**asked.known, **given}
    return run(way, {**known, **default_values(asked, known)})


def _stack(count: int, rows: Iterable[Any]) -> NDArray[Any]:
    """Return one row of `count` values for each of the rows, which may be single values."""
    return np.stack([np.broadcast_to(row, count) for row in rows])


def tabulate(given: AtPoints, solutions: Sequence[Solution]) -> Sweep:
    """Return the table of points that were asked one by one."""
    roots = max(1, *(sum(one.kind == "point" for one in solution.answers) for solution in solutions))
    kinds: dict[tuple[str | None, str | None], int] = {}
    values = np.full((roots, len(solutions)), np.nan)
    places = np.zeros((roots, len(solutions)), dtype=np.int16)
    others: dict[int, tuple[tuple[Answer, ...], Reason | None]] = {}
    for at, solution in enumerate(solutions):
        found = [one for one in solution.answers if one.kind == "point"]
        for root, one in enumerate(found):
            values[root, at], places[root, at] = one.point, kinds.setdefault((one.regime, one.bound), len(kinds))
        if not found:
            others[at] = solution.answers, solution.reason
    labels, bounds = tuple(label for label, _ in kinds), tuple(bound for _, bound in kinds)
    return Sweep(given=given, values=values, places=places, labels=labels, bounds=bounds, others=others)


def add_directions(asked: Question, way: Way, table: Sweep) -> Sweep:
    """Return the sweep with the direction of the answers of each root in each regime, as it is at the first, a middle and the last.

    Counted quantities within limits are whole numbers.
    """
    kinds: dict[tuple[str | None, str | None], int] = {}
    places = np.zeros_like(table.places)
    for root, row in enumerate(table.places):
        known = ~np.isnan(table.values[root])
        for place, label in enumerate(table.labels):
            inside = known & (row == place)
            at = np.flatnonzero(inside)
            if not len(at):
                continue
            bound = _direction(asked, way, table, root, at[[0, len(at) // 2, -1]])
            np.putmask(places[root], inside, kinds.setdefault((label, bound), len(kinds)))
    found = replace(table, places=places, labels=tuple(label for label, _ in kinds), bounds=tuple(bound for _, bound in kinds))
    return round_table(asked, found) if is_rounded(asked) else found


def is_rounded(asked: Question) -> bool:
    """Return whether the answers to a question are whole numbers within limits."""
    return bool(asked.limits) and asked.unknown in COUNTED


def _direction(asked: Question, way: Way, table: Sweep, root: int, some: NDArray[np.intp]) -> str | None:
    """Return the direction that the answers have together: an exact one is at least, and at most, what it is."""
    with np.errstate(all="ignore"):
        worlds = _run_at(asked, {name: column[some] for name, column in table.given.items()}, way)
    found = _stack(len(some), (world[way.unknown] for world in worlds))
    nearest = np.nanargmin(np.abs(found - table.values[root, some]), axis=0)
    signs_there: frozenset[int] = frozenset()
    for place, at in enumerate(some.tolist()):
        world = worlds[nearest[place]]
        point = {name: float(np.broadcast_to(column, len(some))[place]) for name, column in world.items()}
        signs_there |= signs(pose_at(asked, point_at(table.given, at)), way, point)
    return bound_of(signs_there)


def agrees_at(table: Sweep, at: int, solution: Solution, sides: bool = False) -> bool:
    """Return whether the arrays have at a point the values that the question asked alone has, and with `sides` also its bounds."""
    numbers = zip(table.values[:, at].tolist(), table.places[:, at].tolist(), strict=True)
    ours = sorted((value, table.bounds[place] or "") for value, place in numbers if value == value)
    theirs = sorted((one.point, one.bound or "") for one in solution.answers if one.kind == "point")
    same = (isclose(a, b, rel_tol=HOLDS) and (one == other or not sides) for (a, one), (b, other) in zip(ours, theirs, strict=False))
    return len(ours) == len(theirs) and all(same)
