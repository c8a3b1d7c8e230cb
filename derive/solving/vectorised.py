"""A route at arrays of givens: the same legs that answer one question, for a million of them at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose

import numpy as np

from derive.evaluate import at_arrays
from derive.expressions.branches import regimes_of
from derive.records import LOWER, UPPER, Equation
from derive.requirements import HOLDS
from derive.solving.chain import only_said
from derive.solving.directions import EDGE, NEAR, direction, left_to_values, places, taken_for_granted
from derive.solving.fit import IN_FLIGHT, MEMORY_BINDS, batch_is_left_to_a_rate, least_chips, shortage
from derive.solving.questions import Question, at_values, standing_beside
from derive.solving.result import Solution, Sweep
from derive.solving.route import Route, checks
from derive.solving.vectorised_leg import Arrays, NoClosedForm, at_leg, meets, within_domain
from derive.trees import TreePair

AtPoints = Mapping[str, np.ndarray]


def along(way: Route, given: Arrays) -> list[dict[str, "np.ndarray | float"]]:
    """All quantities of a route, once for every answer the unknown can have at one point; NaN where it has none.

    The arrays of `given` broadcast. Raises `NoClosedForm` for a leg without one, which has to be searched for one point at
    a time.
    """
    if way.cancelled:
        raise NoClosedForm(f"{way.cancelled[0]} may only be what the rest allows, which is looked for point by point")
    worlds = [dict(given)]
    for leg in way.legs:
        worlds = [{**world, leg.unknown: found} for world in worlds for found in at_leg(leg, world)]
    unknown = way.legs[-1].unknown
    for leg in checks(way, frozenset(worlds[0])):
        for world in worlds:
            found = next(at_leg(leg, world))
            world[leg.unknown] = found
            world[unknown] = np.where(np.isnan(found), np.nan, world[unknown])
    # A case of a block is only a candidate: every equation of the block has to be held against it.
    if any(name not in worlds[0] for leg in way.legs if len(leg.cases) > 1 for row in leg.rows for name in row.symbols):
        return [{**worlds[0], unknown: np.full_like(worlds[0][unknown], np.nan)}]
    return worlds


def regime_labels(way: Route, world: Arrays) -> "tuple[np.ndarray | int, tuple[str | None, ...]]":
    """Which terms bind along a route: the place of each point's label, and the labels."""
    places: np.ndarray | int = 0
    labels: tuple[tuple[str | None, ...], ...] = ((),)
    for row in way.rows:
        found = regimes_of(row)
        if len(found) == 1 or not all(name in world for name in row.symbols[1:]):
            continue
        won = [_wins(regime.wins, world) for regime in found[:-1]]
        places = places * len(found) + np.select(won, range(len(won)), len(won))
        labels = tuple((*before, regime.label) for before in labels for regime in found)
    return places, tuple(" and ".join(dict.fromkeys(part for part in parts if part)) or None for parts in labels)


def _wins(pairs: tuple[TreePair, ...], world: Arrays) -> "np.ndarray":
    """Where the larger of each pair is the larger."""
    won = (at_arrays(larger, world) >= at_arrays(smaller, world) for larger, smaller in pairs)
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*won)))


def at_point(asked: Question, given: AtPoints, at: int) -> Question:
    """The question at one of the points."""
    return at_values(asked, {name: float(column[at]) for name, column in given.items()})


def _with_defaults(asked: Question, given: AtPoints) -> dict[str, "np.ndarray | float"]:
    """All that may be taken as known at these points."""
    values = {**asked.known, **given}
    return {**values, **standing_beside(asked, values)}


def as_arrays(asked: Question, given: AtPoints, way: Route) -> Sweep | None:
    """The sweep through one route; None where a leg of it has no closed form, or memory is held against a batch it does not speak of."""
    if asked.unknown not in IN_FLIGHT and batch_is_left_to_a_rate(asked):
        return None
    count = len(next(iter(given.values())))
    known = _with_defaults(asked, given)
    with np.errstate(all="ignore"):
        try:
            worlds = along(way, known)
        except NoClosedForm:
            return None
        values = np.stack([np.broadcast_to(_what_fits(asked, way, world), count) for world in worlds])
        places, labels = zip(*(regime_labels(way, world) for world in worlds), strict=True)
        needed = np.stack([np.broadcast_to(_as_memory_needs(asked, way, world), count) for world in worlds])
    bounds = (direction(way, taken_for_granted(asked, way, {**known, asked.unknown: values})),) * len(labels[0])
    places = np.stack([np.broadcast_to(place, count) for place in places])
    by_memory = ~np.isnan(needed)
    if not by_memory.any():
        return Sweep(given=given, values=values, places=places, labels=labels[0], bounds=bounds)
    values, places = np.where(by_memory, needed, values), np.where(by_memory, len(bounds), places)
    return Sweep(given=given, values=values, places=places, labels=(*labels[0], MEMORY_BINDS), bounds=(*bounds, LOWER))


def with_bounds(asked: Question, given: AtPoints, way: Route, table: Sweep) -> Sweep:
    """The sweep with what its answers bound point by point, where values alone say that."""
    known = _with_defaults(asked, given)
    rows, lift = left_to_values(way, taken_for_granted(asked, way, {**known, asked.unknown: table.values}))
    if not rows:
        return table
    count = len(next(iter(given.values())))
    with np.errstate(all="ignore"):
        worlds = [{name: np.broadcast_to(column, count) for name, column in world.items()} for world in along(way, known)]
        forked = _forked(rows, asked.unknown, worlds)
        sides = np.zeros(table.places.shape, dtype=int) if forked else _crossing(rows, asked.unknown, worlds)
    kinds = (None, UPPER, LOWER)
    labels = tuple(label for label in table.labels for _ in kinds)
    sides = np.where(_of_memory(table), kinds.index(LOWER), sides * lift % len(kinds))
    return replace(table, places=table.places * len(kinds) + sides, labels=labels, bounds=kinds * len(table.labels))


def _of_memory(table: Sweep) -> np.ndarray:
    """Which answers are what memory needs."""
    return np.isin(table.places, [place for place, label in enumerate(table.labels) if label == MEMORY_BINDS])


def _forked(rows: tuple[Equation, ...], unknown: str, worlds: Sequence[AtPoints]) -> bool:
    """Whether worlds differ in more than the unknown and what the equations make of it."""
    made = {row.symbols[0] for row in rows[:-1]}
    names = {name for row in rows for name in row.symbols} - made - {unknown}
    return any(not np.array_equal(world[name], worlds[0][name], equal_nan=True) for world in worlds[1:] for name in names)


def _crossing(rows: tuple[Equation, ...], unknown: str, worlds: Sequence[AtPoints]) -> np.ndarray:
    """For every root 1 where left less right of the last equation rises through 0 there, -1 where it falls, 0 where neither is seen.

    As `directions.direction_at` has it, at arrays: between two roots there is one sign.
    """
    roots = np.stack([world[unknown] for world in worlds])
    signs = np.zeros((2, len(roots) + 1, roots.shape[1]), dtype=bool)
    columns = np.arange(roots.shape[1])
    for place in (*places(unknown), *(root * (1 + step) for root in roots for step in NEAR)):
        at = {**worlds[0], unknown: np.broadcast_to(place, columns.shape)}
        between = (roots < at[unknown]).sum(axis=0)
        sign = np.where(_close_to(roots, at[unknown]), 0, _sign(rows, at))
        for row, one in zip(signs, (1, -1), strict=True):
            row[between, columns] |= sign == one
    mixed = (signs[0] & signs[1]).any(axis=0)
    seen = signs[0].astype(int) - signs[1]
    found = []
    for root in roots:
        below = (roots < root).sum(axis=0)
        left, right = seen[below, columns], seen[below + 1, columns]
        found.append(np.where(mixed | np.isnan(root) | (left == right), 0, np.where(right, right, -left)))
    return np.stack(found)


def _close_to(roots: np.ndarray, place: np.ndarray) -> np.ndarray:
    return np.asarray((np.abs(roots - place) <= EDGE * place).any(axis=0))


def _sign(rows: tuple[Equation, ...], values: AtPoints) -> np.ndarray:
    """The sign of left less right of the last equation where all of them apply, else 0."""
    known, applies = dict(values), np.ones(1, dtype=bool)
    for row in rows:
        left, right = known[row.symbols[0]], np.asarray(row.right_side(known), dtype=float)
        if row is not rows[-1]:
            known[row.symbols[0]] = right
        applies = applies & ~np.isnan(within_domain(row.symbols[0], right)) & meets(row, known)
    differ = np.abs(left - right) > HOLDS * np.maximum(np.abs(left), np.abs(right))
    return np.where(applies & differ, np.sign(left - right), 0)


def short_of_memory(asked: Question, given: AtPoints, way: Route) -> np.ndarray:
    """Where weights and caches do not fit."""
    known = _with_defaults(asked, given)
    with np.errstate(all="ignore"):
        short = shortage(asked, along(way, known)[0], way.rows)
    return np.broadcast_to(short is not None and short > 0, len(next(iter(given.values()))))


def agrees_at(table: Sweep, at: int, solution: Solution) -> bool:
    """Whether the arrays have at a point what the question asked by itself has."""
    column = table.values[:, at]
    ours = sorted(column[~np.isnan(column)])
    theirs = sorted(one.point for one in solution.answers if one.kind == "point")
    return len(ours) == len(theirs) and all(isclose(a, b, rel_tol=HOLDS) for a, b in zip(ours, theirs, strict=True))


def _what_fits(asked: Question, way: Route, world: Arrays) -> "np.ndarray | float":
    """The unknown where weights and caches fit, if that is asked for."""
    found = world[asked.unknown]
    short = None if only_said(asked, way) else shortage(asked, world, way.rows)
    return found if short is None or not np.any(short > 0) else np.where(short > 0, np.nan, found)


def _as_memory_needs(asked: Question, way: Route, world: Arrays) -> "np.ndarray | float":
    """Where chips are asked from a speed and do not hold what they have to: as many as do; NaN elsewhere."""
    short = None if only_said(asked, way) else shortage(asked, world, way.rows)
    if short is None or not np.any(short > 0):
        return np.nan
    least = least_chips(asked, world, way.rows)
    return np.nan if least is None else np.where(short > 0, least, np.nan)
