"""A quantity found from a result that equations lead to, by going forwards at many values of it.

Where the equations between the two have more regimes than can be taken apart in symbols, they can still be followed at
numbers. What comes out is held against what was given at every place of a grid, and every crossing is closed in on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from math import exp, isfinite, log
from typing import TYPE_CHECKING

from derive.expressions.branches import branches
from derive.expressions.search import BEYOND
from derive.immutable import immutable
from derive.quantities import quantity
from derive.records import Equation
from derive.requirements import HOLDS
from derive.solving.questions import Question
from derive.solving.refusals import giving, made_of
from derive.solving.route import Leg, route

if TYPE_CHECKING:
    import numpy as np

_PLACES = 600
"""Values of the unknown at which the way is followed first, and again between two of them that are closed in on."""

_ROUNDS = 6
"""How often they are closed in on: to the last digit."""

_WIDE = 1e-3
"""From which share of itself on the values of the unknown that lead to a result are a stretch, and no point."""

_Height = Callable[["np.ndarray"], "np.ndarray"]
"""How far off, as a share, the result is at logarithms of the unknown; NaN where an equation does not apply."""

_Point = tuple[float, float]
"""The logarithm of the unknown, and the height there."""


@immutable
class Backwards:
    """The result that was followed, by the equation that gives it, and the stretches of the unknown that lead to it.

    A stretch is a point where its ends are equal; an end that is as far as was looked is None. `reach` is what the result
    comes to at the least and most, where it is written out; `rises` says whether it grows with the unknown all over, and is
    None where it turns.
    """

    name: str
    by: Equation
    found: tuple[tuple[float | None, float | None], ...]
    reach: tuple[float, float] | None
    rises: bool | None


def backwards(asked: Question, known: Mapping[str, float], names: Iterable[str] | None = None) -> Backwards | None:
    """The unknown from the first given result (of `names`) that equations lead to from it; None where they do not lead there."""
    closing = giving(asked.active)
    for name in (name for name in made_of(asked, asked.unknown) if known[name] and (names is None or name in names)):
        rest = {other: value for other, value in known.items() if other != name}
        legs = _leading(asked, rest, name, closing[name])
        if legs is None:
            continue
        from derive.solving.vectorised_leg import NoClosedForm

        try:
            return _searched(asked.unknown, name, closing[name], known[name], _height(asked.unknown, legs, closing[name], name, known))
        except NoClosedForm:
            # At some values of the unknown a quantity on the way has several answers.
            continue
    return None


def _leading(asked: Question, rest: Mapping[str, float], name: str, last: Equation) -> tuple[Leg, ...] | None:
    """The way from what is known and the unknown to all that an equation makes a result of, it not included; None if there is none."""
    start = {*rest, asked.unknown}
    definitions = {row.defines: row for row in asked.active if row.defines and row.sense == "="}
    left, reached, found = _upstream(definitions, {*start, name}, last), {*start}, list[Leg]()
    while left and (ready := [row for row in left if row.inputs <= reached]):
        found += [Leg((row,), row.symbols[0]) for row in ready]
        reached |= {row.symbols[0] for row in ready}
        left = [row for row in left if row not in ready]
    if {*last.symbols} <= {*reached, name}:
        return tuple(found)
    # What was given may lead to what is made of it: its equations turned round, or several together.
    way = route(name, tuple(row for row in asked.active if row.sense == "="), frozenset(start))
    if way is None or way.cancelled or way.legs[-1].rows != (last,):
        return None
    return way.legs[:-1] if all(map(_always, way.legs[:-1])) else None


def _always(leg: Leg) -> bool:
    """Whether a leg gives its quantity wherever it applies: one that may sit in a term that does not bind would be passed over."""
    first = leg.cases[0]
    if isinstance(first, Equation) and first.symbols[0] == leg.unknown:
        return True
    return not any(case.open or case.idle or branch.absent for case in leg.cases for branch in branches(case, leg.unknown))


def _upstream(definitions: Mapping[str, Equation], known: set[str], last: Equation) -> list[Equation]:
    """The definitions of all that an equation is made of, as far as it is not known."""
    rows: dict[str, Equation] = {}
    queue = [name for name in last.symbols if name not in known]
    while queue:
        one = queue.pop()
        if one in definitions and one not in rows:
            rows[one] = definitions[one]
            queue += [other for other in definitions[one].symbols[1:] if other not in known]
    return [*rows.values()]


def _height(unknown: str, legs: tuple[Leg, ...], last: Equation, name: str, known: Mapping[str, float]) -> _Height:
    """How far the sides of the last equation are apart, over the left; NoClosedForm where a leg has several answers, or is searched for."""
    import numpy as np

    from derive.solving.vectorised_leg import NoClosedForm, at_leg, meets

    def followed(some: Iterable[Leg], world: "dict[str, np.ndarray | float]") -> "dict[str, np.ndarray | float]":
        for leg in some:
            world[leg.unknown], *others = at_leg(leg, world)
            if others:
                raise NoClosedForm(f"{leg.id} has several answers for {leg.unknown}")
        return world

    moved = {unknown}
    for leg in legs:
        moved |= {leg.unknown} if moved & {*leg.symbols} else set()
    left = last.symbols[0]

    def height(ln_x: "np.ndarray") -> "np.ndarray":
        with np.errstate(all="ignore"):
            world = followed((leg for leg in legs if leg.unknown in moved), {**still, unknown: np.exp(ln_x)})
            if left == name:
                found = next(at_leg(Leg((last,), name), world)) / known[name]
            else:
                found = np.where(meets(last, world), last.right_side(world), np.nan) / world[left]
            return np.broadcast_to(np.where(np.isfinite(found), found - 1, np.nan), ln_x.shape)

    with np.errstate(all="ignore"):
        still = followed((leg for leg in legs if leg.unknown not in moved), {**known})
    return height


def _searched(unknown: str, name: str, last: Equation, target: float, height: _Height) -> Backwards | None:
    import numpy as np

    row = quantity(unknown)
    low, high = max((row.low or row.high / BEYOND) / BEYOND, row.floor), min(row.high * BEYOND, row.ceiling)
    grid = np.linspace(log(low), log(high), _PLACES + 1)
    points = [*zip(grid.tolist(), height(grid).tolist(), strict=True)]
    points = sorted([*points, *_edges(points, height)])
    points = sorted([*points, *_turns(points, height)])
    heights = [at for _, at in points if isfinite(at)]
    if len(heights) < 2:
        return None
    ends = (points[0][0], points[-1][0])
    found = tuple((exp(one), exp(other)) if one == other else _open(one, other, ends) for one, other in _level(points, height))
    if last.symbols[0] != name:
        return Backwards(name=name, by=last, found=found, reach=None, rises=None)
    steps = {above > below for below, above in pairwise(heights) if abs(above - below) > HOLDS * (1 + abs(above))}
    reach = (target * (1 + min(heights)), target * (1 + max(heights)))
    return Backwards(name=name, by=last, found=found, reach=reach, rises=steps.pop() if len(steps) == 1 else None)


def _open(one: float, other: float, ends: tuple[float, float]) -> tuple[float | None, float | None]:
    """A stretch, without the ends that are as far as was looked."""
    return None if one == ends[0] else exp(one), None if other == ends[1] else exp(other)


def _edges(points: Sequence[_Point], height: _Height) -> Iterator[_Point]:
    """A point at each edge of where the equations apply: one sequence is the least there is, and no place of the grid."""
    import numpy as np

    for one, other in pairwise(points):
        if isfinite(one[1]) != isfinite(other[1]):
            yield _last(*((one, other) if isfinite(one[1]) else (other, one)), height, np.isfinite)


def _turns(points: Sequence[_Point], height: _Height) -> Iterator[_Point]:
    """A point wherever the result turns back before it is what was given, or just there, and may have been so twice on the way."""
    import numpy as np

    for (before, at_before), (_, at_middle), (after, at_after) in zip(points, points[1:], points[2:], strict=False):
        sign = 1 if at_middle > 0 else -1
        turns = 0 < sign * at_middle <= sign * at_after and sign * at_middle < sign * at_before
        # What rounding makes of a stretch over which nothing moves turns back everywhere.
        if not turns or max(abs(at_before - at_middle), abs(at_after - at_middle)) <= HOLDS * (1 + abs(at_middle)):
            continue
        low, high = before, after
        for _ in range(_ROUNDS):
            places = np.linspace(low, high, _PLACES + 1)
            heights = sign * height(places)
            least = int(np.nanargmin(heights))
            low, high = places[max(least - 1, 0)], places[min(least + 1, _PLACES)]
        yield float(places[least]), sign * float(heights[least])


def _level(points: Sequence[_Point], height: _Height) -> Iterator[tuple[float, float]]:
    """From where to where the result is what was given: points, and stretches over which it does not move."""

    def is_level(place: int) -> bool:
        return abs(points[place][1]) <= HOLDS

    for level, found in ((level, [*places]) for level, places in groupby(range(len(points)), key=is_level)):
        run = [points[place] for place in found]
        if not level:
            yield from (ends for one, other in pairwise(run) if one[1] * other[1] < 0 for ends in _crossing(one, other, height))
            continue
        before, after = points[max(found[0] - 1, 0)], points[min(found[-1] + 1, len(points) - 1)]
        if len(run) == 1 and before[1] * after[1] < 0:
            yield from _crossing(before, after, height)
        else:
            low, high = _widened(run[0], before, height), _widened(run[-1], after, height)
            nearest = min(run, key=lambda point: abs(point[1]))[0]
            yield (low, high) if high - low > _WIDE else (nearest, nearest)


def _crossing(one: _Point, other: _Point, height: _Height) -> Iterator[tuple[float, float]]:
    """Where the result goes through what was given between two points; nothing where it leaps over it."""
    import numpy as np

    root = _last(one, other, height, lambda heights: heights * one[1] > 0)
    if not abs(root[1]) <= HOLDS:
        return
    beside = np.abs(height(np.array([root[0] - _WIDE, root[0] + _WIDE]))) <= HOLDS
    yield (_widened(root, one, height), _widened(root, other, height)) if beside.all() else (root[0], root[0])


def _widened(inside: _Point, outside: _Point, height: _Height) -> float:
    """How far from a point towards another the result does not move."""
    import numpy as np

    return _last(inside, outside, height, lambda heights: np.abs(heights) <= HOLDS)[0] if inside != outside else inside[0]


def _last(inside: _Point, outside: _Point, height: _Height, holds: "Callable[[np.ndarray], np.ndarray]") -> _Point:
    """The last place on the way from one point to another up to which something holds of the height."""
    import numpy as np

    one, other = inside[0], outside[0]
    at = inside
    for _ in range(_ROUNDS):
        places = np.linspace(one, other, _PLACES + 1)
        heights = height(places)
        broken = np.flatnonzero(~holds(heights[1:]))
        first = int(broken[0]) if len(broken) else _PLACES - 1
        one, other = float(places[first]), float(places[first + 1])
        at = (one, float(heights[first])) if first else at
    return at
