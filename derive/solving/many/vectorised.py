"""A question at many points: one way at arrays of givens, with the memory and the direction of every answer."""

from collections.abc import Iterable, Mapping, Sequence
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
from derive.solving.question.questions import Question, default_values
from derive.solving.result import Solution, Sweep
from derive.units import show

AtPoints = Mapping[str, Floats]

_AT_ONCE = 2**16
"""Points that are computed together, to use little memory."""


def count_points(given: AtPoints) -> int:
    """Return the number of points."""
    return len(next(iter(given.values())))


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


def evaluate_along(given: AtPoints, looks: Mapping[int, Solution], sides: bool = False) -> Along | None:
    """Return the table through the first way that agrees with all points that were asked one by one, or None.

    Ways of points with an answer come first. With `sides` each answer says if it is a bound.
    """
    found = (one.along for one in sorted(looks.values(), key=lambda look: not look.answers) if one.along)
    ways = {id(way): (posed, way) for posed, way in found if way and given.keys() <= posed.known.keys()}
    for posed, way in ways.values():
        if along := run_along(replace(posed, silent=True), way, given):
            table = _add_directions(along) if sides or is_rounded(posed) else along.table
            if all(agrees_at(table, at, solution, sides) for at, solution in looks.items()):
                return along._replace(table=table)
    return None


def run_along(asked: Question, way: Way, given: AtPoints) -> Along | None:
    """Return the table through one way without directions.

    None if arrays do not answer it, or if memory is checked against a batch that the way lacks.
    """
    if asked.unknown not in Memory.counted_by and batch_is_left_to_a_rate(asked):
        return None
    only_warns, parts, short = is_memory_warning(asked, way), list[Sweep](), list[NDArray[np.bool_]]()
    for start in range(0, count_points(given), _AT_ONCE):
        here = {name: column[start : start + _AT_ONCE] for name, column in given.items()}
        try:
            table, is_short = _sweep_part(asked, here, way, only_warns)
        except NoClosedForm:
            return None
        parts, short = [*parts, table], [*short, is_short]
    return Along(asked, way, join_tables(given, parts), np.concatenate(short))


def join_tables(given: AtPoints, tables: Sequence[Sweep]) -> Sweep:
    """Return tables of successive points with the same regimes as one."""
    roots = max(len(one.values) for one in tables)
    values = np.hstack([_pad_rows(one.values, roots, np.nan) for one in tables])
    return replace(tables[0], given=given, values=values, places=np.hstack([_pad_rows(one.places, roots, 0) for one in tables]))


def _pad_rows(rows: NDArray[Any], count: int, empty: float) -> NDArray[Any]:
    """Return so many rows, the last ones empty."""
    return np.pad(rows, ((0, count - len(rows)), (0, 0)), constant_values=empty) if len(rows) < count else rows


def _sweep_part(asked: Question, given: AtPoints, way: Way, only_warns: bool) -> tuple[Sweep, NDArray[np.bool_]]:
    """Return the table of a part of the points, and where memory is short if that only warns."""
    count = count_points(given)
    with np.errstate(all="ignore"):
        worlds = _run_at(asked, given, way)
        places, (labels, *_) = zip(*(regime_labels(way, world) for world in worlds), strict=True)
        values = _stack(count, (world[asked.unknown] for world in worlds))
        lacking = (shortage(asked, world, way.rows) for world in worlds)
        short = _stack(count, (False if one is None else np.asarray(one > 0) for one in lacking))
    found = values if only_warns else np.where(short, np.nan, values)
    places = _stack(count, places).astype(np.int16)
    return Sweep(given=given, values=found, places=places, labels=labels, bounds=(None,) * len(labels)), short[0] & only_warns


def _run_at(asked: Question, given: AtPoints, way: Way) -> "list[dict[str, Floats | float]]":
    known: dict[str, Floats | float] = {**asked.known, **given}
    return run(way, {**known, **default_values(asked, known)})


def _stack(count: int, rows: Iterable[Any]) -> NDArray[Any]:
    """Return one row of `count` values for each of the rows, which may be single values."""
    return np.stack([np.broadcast_to(row, count) for row in rows])


def tabulate(given: AtPoints, solutions: Sequence[Solution]) -> Sweep:
    """Return the table of points that were asked one by one."""
    shape = (1, len(solutions))
    empty = Sweep(given=given, values=np.full(shape, np.nan), places=np.zeros(shape, dtype=np.int16), labels=(), bounds=())
    return put_in(empty, dict(enumerate(solutions)))


def put_in(table: Sweep, looks: Mapping[int, Solution]) -> Sweep:
    """Return the table with the answers of points that were asked one by one and have no number in it."""
    kinds = {kind: place for place, kind in enumerate(zip(table.labels, table.bounds, strict=True))}
    found = {at: [one for one in solution.answers if one.kind == "point"] for at, solution in looks.items()}
    roots = max(len(table.values), *map(len, found.values()))
    values, places = _pad_rows(table.values, roots, np.nan).copy(), _pad_rows(table.places, roots, 0).copy()
    for at, some in found.items():
        for root, one in enumerate(some):
            values[root, at], places[root, at] = one.point, kinds.setdefault((one.regime, one.bound), len(kinds))
    others = {at: (looks[at].answers, looks[at].reason) for at, some in found.items() if not some}
    return _with_kinds(replace(table, values=values, others={**table.others, **others}), places, kinds)


def _with_kinds(table: Sweep, places: NDArray[Any], kinds: Iterable[tuple[str | None, str | None]]) -> Sweep:
    """Return the table with these regimes and bounds of its answers."""
    kinds = [*kinds]
    return replace(table, places=places, labels=tuple(label for label, _ in kinds), bounds=tuple(bound for _, bound in kinds))


def _add_directions(along: Along) -> Sweep:
    """Return the table with the direction of the answers of each root in each regime, as it is at the first, a middle and the last.

    Counted quantities within limits are whole numbers.
    """
    kinds: dict[tuple[str | None, str | None], int] = {}
    table = along.table
    places = np.zeros_like(table.places)
    for root, row in enumerate(table.places):
        known = ~np.isnan(table.values[root])
        for place, label in enumerate(table.labels):
            inside = known & (row == place)
            if len(at := np.flatnonzero(inside)):
                bound = _direction(along, root, at[[0, len(at) // 2, -1]])
                np.putmask(places[root], inside, kinds.setdefault((label, bound), len(kinds)))
    found = _with_kinds(table, places, kinds)
    return round_table(along.asked, found) if is_rounded(along.asked) else found


def is_rounded(asked: Question) -> bool:
    """Return whether the answers to a question are whole numbers within limits."""
    return bool(asked.limits) and asked.unknown in COUNTED


def _direction(along: Along, root: int, some: NDArray[np.intp]) -> str | None:
    """Return the direction that the answers have together: an exact one is at least, and at most, what it is."""
    asked, way, table, _ = along
    with np.errstate(all="ignore"):
        worlds = _run_at(asked, {name: column[some] for name, column in table.given.items()}, way)
    found = _stack(len(some), (world[way.unknown] for world in worlds))
    nearest = np.nanargmin(np.abs(found - table.values[root, some]), axis=0)
    signs_there: frozenset[int] = frozenset()
    for place, at in enumerate(some.tolist()):
        world = worlds[nearest[place]]
        point = {name: float(np.broadcast_to(column, len(some))[place]) for name, column in world.items()}
        signs_there |= signs(replace(asked, known={**asked.known, **point_at(table.given, at)}), way, point)
    return bound_of(signs_there)


def agrees_at(table: Sweep, at: int, solution: Solution, sides: bool = False) -> bool:
    """Return whether the arrays have at a point the values that the question asked alone has, and with `sides` also its bounds."""
    numbers = zip(table.values[:, at].tolist(), table.places[:, at].tolist(), strict=True)
    ours = sorted((value, table.bounds[place] or "") for value, place in numbers if value == value)
    theirs = sorted((one.point, one.bound or "") for one in solution.answers if one.kind == "point")
    same = (isclose(a, b, rel_tol=HOLDS) and (one == other or not sides) for (a, one), (b, other) in zip(ours, theirs, strict=False))
    return len(ours) == len(theirs) and all(same)
