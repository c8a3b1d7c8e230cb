"""The legs of a way at arrays of inputs: the same answers for a million questions at once."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.expressions.branches import Branch, branches, regimes_of
from derive.expressions.curve import Height, grid_of
from derive.expressions.digits import LAST_DIGITS, loses_digits
from derive.quantities import quantity
from derive.records import HOLDS, Equation, Requirement
from derive.solving.engine.legs import Composed, Leg, Loop, Way, closed_form_of
from derive.solving.engine.one_equation import solve_equation
from derive.trees import Tree, TreePair, arrays, evaluate_arrays, slopes

Floats = NDArray[np.float64]
Arrays = Mapping[str, "Floats | float"]
Row = Equation | Composed

_ASKED_SINGLY = 200
"""Largest number of doubtful points of an array that are solved one by one."""

_MAGNIFIED = 1e5
"""Largest magnification of rounding in a root that is not doubtful."""

_MOST_TRIALS, _PLACES = 4096, 200
"""Largest number of questions for which a loop is closed at once, and the number of trial values at first."""


class NoClosedForm(Exception):
    """A leg that arrays do not answer. Its unknown is searched for one question at a time."""


def run(way: Way, given: Arrays) -> list[dict[str, "Floats | float"]]:
    """Return all quantities of a way, once for every answer that one question can have, or NaN without an answer.

    The arrays of `given` broadcast. Raises `NoClosedForm` for a leg that arrays do not answer.
    """
    worlds = [dict(given)]
    for leg in way.legs:
        worlds = [_extend_world(leg, {**world, leg.unknown: found}) for world in worlds for found in solve_leg(leg, world)]
    return worlds


def _extend_world(leg: Leg, world: "dict[str, Floats | float]") -> "dict[str, Floats | float]":
    """Return the world, of a closed loop with all that follows at the value that closes it."""
    for inner in leg.steps if isinstance(leg, Loop) else ():
        found = world[inner.unknown] = next(solve_leg(inner, world))
        world[leg.unknown] = np.where(np.isnan(found), np.nan, world[leg.unknown])
    return world


def solve_leg(leg: Leg, world: Arrays, required: bool = True, surely: bool = True) -> Iterator[Floats]:
    """Yield the roots of a leg at arrays. Unless `required`, a left side has roots also where its equation does not apply.

    Unless `surely`, points at which digits were lost are left as they are, as on a curve whose zeros are looked at again.
    """
    if isinstance(leg, Loop):
        yield from _close_loop(leg, world, surely)
        return
    if leg.goes_forwards:
        found = clip_to_domain(leg.unknown, np.asarray(right_side_of(leg.row, world), dtype=float))
        if required and leg.row.requires:
            found = np.where(find_where_applicable(leg.row, {**world, leg.unknown: found}), found, np.nan)
        yield found
        return
    if isinstance(leg.row, Equation) and any(branch.roots is None for branch in branches(leg.row, leg.unknown)):
        yield from _close_loop(Loop(leg.row, leg.unknown, ()), world, surely)
        return
    yield from _distinct_rows(points(leg.row, leg.unknown, world, surely))


def right_side_of(row: Row, world: Arrays) -> Any:
    """Return the right side of an equation at arrays."""
    return row.right_side(world) if isinstance(row, Equation) else evaluate_arrays(row.trees[1], world)


def height_of(loop: Loop, world: Arrays, required: bool = True) -> Height:
    """Return the relative distance of both sides of the closing equation at trial values of a loop.

    It is NaN where an equation does not apply, unless that is not `required`.
    """
    (left, _), closing = loop.closing.trees, loop.closing

    def height(trial: Floats) -> Floats:
        with np.errstate(all="ignore"):
            there = {**world, loop.unknown: trial}
            for leg in loop.steps:
                there[leg.unknown], *others = solve_leg(leg, there, required, surely=False)
                if others:
                    raise NoClosedForm(f"{leg.id} has several answers for {leg.unknown}")
            one, other = np.asarray(evaluate_arrays(left, there), dtype=float), np.asarray(closing.right_side(there), dtype=float)
            # Over the given side, so that a curve that only rises or falls does so in its heights too.
            scale = one if loop.closing.symbols[0] in world else np.maximum(np.abs(one), np.abs(other))
            applies = find_where_applicable(closing, there) if required else True
            found = np.where(applies, (other - one) / scale, np.nan)
            return np.broadcast_to(np.where(np.isfinite(found), found, np.nan), np.shape(trial)).copy()

    return height


def _close_loop(loop: Loop, world: Arrays, surely: bool) -> Iterator[Floats]:
    """Yield the trial values that close a loop: in closed form if there is one, else by SciPy between the points of a grid."""
    if whole := closed_form_of(loop):
        yield from _distinct_rows(points(whole, loop.unknown, world, surely))
        return
    from scipy.optimize import elementwise

    shape = np.broadcast_shapes((1,), *(np.shape(world[name]) for name in loop.needs))
    if len(shape) > 1 or shape[0] > _MOST_TRIALS:
        raise NoClosedForm(f"{loop.id} is solved for at most {_MOST_TRIALS} questions at once")
    columns = {name: np.broadcast_to(world[name], shape) for name in loop.needs}
    grid = grid_of(loop.unknown, _PLACES)
    # A root beside the edge of where the equations apply is seen from both sides, and then has to be on the right one.
    across = height_of(loop, {name: column[None, :] for name, column in columns.items()}, required=False)
    heights = across(np.broadcast_to(grid[:, None], (len(grid), *shape)))
    with np.errstate(invalid="ignore"):
        at, place = np.nonzero((heights[:-1] * heights[1:] <= 0).T)
    # The roots of each question come one after another.
    rank = np.arange(len(at)) - np.searchsorted(at, at)
    found = np.full((rank.max(initial=0) + 1, *shape), np.nan)
    if len(at):

        def height(trial: Floats, *rest: Floats) -> Floats:
            return height_of(loop, dict(zip(columns, rest, strict=True)), required=False)(trial)

        there = tuple(column[at] for column in columns.values())
        roots = np.asarray(elementwise.find_root(height, (grid[place], grid[place + 1]), args=there, maxiter=300).x)
        applied = height_of(loop, dict(zip(columns, there, strict=True)))(roots)
        found[rank, at] = np.where(np.abs(applied) <= HOLDS, roots, np.nan)
    yield from _distinct_rows(found)


def _distinct_rows(found: Floats) -> Iterator[Floats]:
    """Yield rows of distinct roots, the smallest first. A root that several closed forms give counts once."""
    ordered = np.sort(found, axis=0)
    again = np.abs(np.diff(ordered, axis=0)) <= HOLDS * np.abs(ordered[1:])
    ordered[1:][again] = np.nan
    ordered = np.sort(ordered, axis=0)
    yield ordered[0]
    yield from (row for row in ordered[1:] if not np.isnan(row).all())


def clip_to_domain(name: str, found: Floats) -> Floats:
    """Return values where the quantity may have them, NaN elsewhere. One that passes a limit by rounding is put on it."""
    row = quantity(name)
    if row.ceiling < np.inf:
        found = np.where((found > row.ceiling) & (found <= row.ceiling * (1 + HOLDS)), row.ceiling, found)
    if row.floor:
        found = np.where((found < row.floor) & (found >= row.floor * (1 - HOLDS)), row.floor, found)
    inside = ((found != 0) | row.may_be_zero) & (found >= row.floor) & (found <= row.ceiling) & np.isfinite(found)
    return np.where(inside, found, np.nan)


def find_where_applicable(equation: Row, world: Arrays) -> NDArray[np.bool_]:
    """Return where the requirements of an equation hold, as far as their quantities are known."""
    met = [find_where_met(needed, world) for needed in equation.requires if all(name in world for name in needed.names)]
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(True, *met)))


def regime_labels(way: Way, world: Arrays) -> "tuple[NDArray[Any] | int, tuple[str | None, ...]]":
    """Return which terms bind along a way: the place of each point's label, and the labels."""
    places: NDArray[Any] | int = 0
    labels: tuple[tuple[str | None, ...], ...] = ((),)
    for row in way.rows:
        found = regimes_of(row)
        if len(found) == 1 or not all(name in world for name in row.symbols[1:]):
            continue
        won = [_find_larger(regime.wins, world) for regime in found[:-1]]
        places = places * len(found) + np.select(won, range(len(won)), len(won))
        labels = tuple((*before, regime.label) for before in labels for regime in found)
    return places, tuple(" and ".join(dict.fromkeys(part for part in parts if part)) or None for parts in labels)


def _find_larger(pairs: tuple[TreePair, ...], world: Arrays) -> NDArray[np.bool_]:
    """Return where the larger of each pair is indeed the larger one."""
    won = (evaluate_arrays(larger, world) >= evaluate_arrays(smaller, world) for larger, smaller in pairs)
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*won)))


def points(equation: Row, unknown: str, values: Arrays, surely: bool = True) -> Floats:
    """Return the roots in closed form at arrays of inputs, of the shape (closed forms, points), or NaN without a root.

    A point has no root if its unknown does not bind, or if there is no solution. If digits were lost or two terms are nearly equal, the
    points in doubt are solved one by one if that is to be done `surely`, unless they are many.
    """
    others = tuple(name for name in equation.symbols if name != unknown)
    shape = np.broadcast_shapes((1,), *(np.shape(values[name]) for name in others))
    kind = _choose_dtype(equation, unknown)
    given = {name: np.broadcast_to(np.asarray(values[name], dtype=kind), shape) for name in others}
    rows, unsure, free = [np.full(shape, np.nan)], np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    with np.errstate(all="ignore"):
        for branch in branches(equation, unknown):
            if branch.absent:
                height, scale = _evaluate_pair(branch.difference, branch.regime.expression, given)
                free |= np.abs(height) <= HOLDS * np.abs(scale)
            for root in branch.roots or ():
                row, doubtful = _checked_root(equation, branch, unknown, given, evaluate_arrays(root, given))
                rows.append(row.astype(float))
                unsure |= np.logical_or(doubtful, loses_digits(root))
    found = np.where(free, np.nan, np.stack(rows))
    places = np.flatnonzero(unsure | free)
    for at in places if surely and len(places) <= _ASKED_SINGLY else ():
        answers, _ = solve_equation(equation, unknown, {name: float(column[at]) for name, column in given.items()})
        single = [one.value for one in answers if one.kind == "point"]
        if len(single) <= len(found):
            found[:, at] = [*single, *[np.nan] * (len(found) - len(single))]
    return found


def _choose_dtype(equation: Row, unknown: str) -> type[np.floating[Any]]:
    """Return the type of numbers to work with: long ones if a formula can lose digits."""
    roots = (root for branch in branches(equation, unknown) for root in branch.roots or ())
    return np.longdouble if any(map(loses_digits, (*equation.trees, *roots))) else np.float64


def _checked_root(equation: Row, branch: Branch, unknown: str, given: Mapping[str, Floats], root: Floats) -> tuple[Floats, Floats]:
    """Return a root where the whole equation holds in this regime, else NaN, and where that is in doubt."""
    shape = np.broadcast_shapes((1,), *(array.shape for array in given.values()))
    allowed = quantity(unknown)
    least = allowed.floor if allowed.floor or allowed.may_be_zero else None
    row = np.asarray(np.clip(np.broadcast_to(root, shape), least, allowed.ceiling))
    handed_back = row.astype(float)
    inside = np.isfinite(handed_back) & ((handed_back != 0) | allowed.may_be_zero) & (handed_back >= allowed.floor)
    at = {**given, unknown: row}
    error = _residuals(equation, at)
    equal = np.zeros(row.shape, dtype=bool)
    for pair in branch.regime.wins:
        larger, smaller = _evaluate_pair(*pair, at)
        margin = (larger - smaller) / np.maximum(np.abs(larger), np.abs(smaller))
        inside &= ~(margin < -HOLDS)
        equal |= (np.abs(margin) <= HOLDS) & (margin != 0)
    for requirement in equation.requires:
        inside &= find_where_met(requirement, at)
    holds = inside & (error <= HOLDS)
    slope = slopes(branch.difference, at, arrays(), frozenset([unknown]))[1][unknown]
    scale = np.maximum(*map(np.abs, _evaluate_sides(equation, at)))
    loose = ~(np.abs(row * slope) * _MAGNIFIED > scale)
    lost = (row == 0) & ~inside | inside & ~holds
    return np.where(holds, row, np.nan), lost | (holds & (equal | loose | (error > LAST_DIGITS)))


def find_where_met(needed: Requirement, at: Arrays) -> NDArray[np.bool_]:
    """Return where a requirement is met up to rounding."""
    exactly_met: NDArray[np.bool_] = np.asarray(needed.compared(at))
    sides = None if exactly_met.all() else needed.bounding_sides
    return exactly_met if sides is None else np.logical_or(exactly_met, _are_near(*_evaluate_pair(*sides, at)))


def _are_near(one: Floats, other: Floats, share: float = HOLDS) -> NDArray[np.bool_]:
    return np.asarray(np.abs(one - other) <= share * np.maximum(np.abs(one), np.abs(other)))


def _evaluate_sides(equation: Row, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Return both sides, evaluated in the same order as at single numbers."""
    return evaluate_arrays(equation.trees[0], values), right_side_of(equation, values)


def _residuals(equation: Row, values: Mapping[str, Floats]) -> Floats:
    left, right = _evaluate_sides(equation, values)
    scale = np.maximum(np.abs(left), np.abs(right))
    return np.where(scale == 0, 0.0, np.abs(left - right) / scale)


def _evaluate_pair(one: Tree, other: Tree, values: Arrays) -> tuple[Floats, Floats]:
    """Return the values of two formulas."""
    return np.asarray(evaluate_arrays(one, values)), np.asarray(evaluate_arrays(other, values))
