"""The direction of an answer, found by relaxing every bound and every ideal value on which it rests.

A bound that is written as an equality leaves its left side more (or less) than its right side. An ideal default, such as a share of a
peak of 1, can only be worse. The way is followed again with one of them relaxed. If all of them move the answer up, it is a lower
bound. If some move it up and others down, it has no direction.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isclose, log, nan
from typing import Any

from derive.expressions.roots import is_in_domain
from derive.immutable import immutable
from derive.preset_record import PARAMETERS
from derive.quantities import NEUTRAL_DEFAULTS, quantity
from derive.records import ESTIMATE, LOWER, UPPER, Equation, right_side_at
from derive.roles import EXPERTS, DecodeStep, Memory
from derive.solving.engine.legs import Composed, Leg, Loop, Step, Way, change_equation, closed_form_of
from derive.solving.engine.one_equation import solve_equation
from derive.solving.question.defaults import IDEALS, restore_default
from derive.solving.question.questions import Question
from derive.trees import PRODUCT

Signs = frozenset[int]
"""+1 if the truth may be more, -1 if it may be less; both, or neither."""

Causes = frozenset[tuple[str, str]]
"""What may be worse than it was assumed: a quantity, or an equation by its id, with the bound that its value is."""

_SIGNS = {LOWER: (1,), UPPER: (-1,), "": (1, -1)}
_NAMED = {frozenset((1,)): LOWER, frozenset((-1,)): UPPER}

_LITTLE = 1 + 1e-6
_FARTHER = (4.0, 1.01)
"""By how much a bound is relaxed: a little, and so much that another term may bind, or less if the equations do not apply there."""

_SHARES = (0.0, 0.5)
"""Where between the least and the most met in practice a quantity is put that is nothing by default."""

_SAME = 1e-11
"""Relative difference up to which an answer has not moved but for rounding."""

_REACHES = (1 + 1e-5, 1.02, 4.0, 64.0)
"""How far from its present value the value that closes a loop is looked for after a change."""


@immutable(kw_only=False)
class _Relaxed:
    """A change of one thing: the right side of an equation by a factor, or a quantity to another value."""

    name: str
    factor: float = 1.0
    value: float | None = None


def bound_of(signs: Signs) -> str | None:
    """Return "lower" for a lower bound and "upper" for an upper bound, if the truth may be to these sides of an answer, else None."""
    return _NAMED.get(signs)


def signs(asked: Question, way: Way, values: Mapping[str, float]) -> Signs:
    """Return to which sides an answer may be wrong at the values that its way led to."""
    found: set[int] = set()
    for little, *farther in _relaxations(asked, way, values):
        near = _follow_again(way, values, little)
        if near is None and little.value is None:
            # The change is so small that a missing answer has no direction.
            return frozenset((1, -1))
        far = next((moved for one in farther if (moved := _follow_again(way, values, one)) is not None), None)
        for moved in (near, far):
            if moved is not None and not isclose(moved, values[way.unknown], rel_tol=_SAME, abs_tol=0.0):
                found.add(1 if moved > values[way.unknown] else -1)
        if len(found) > 1:
            break
    return frozenset(found)


def taken_for_granted(asked: Question, way: Way, values: Mapping[str, Any]) -> Causes:
    """Return the quantities and equations that are at best, or at worst, as the answer assumes.

    A value that a table has as rated may be worse and better.
    """
    ideals = (IDEALS.keys() & asked.defaults.keys()) - {*asked.known, *asked.follows, *way.solved}
    chips = values.get(Memory.bought, asked.known.get(Memory.bought, asked.defaults.get(Memory.bought)))
    if Memory.bought not in way.solved and chips == 1:
        # memory.most_kv_copies: one chip holds one copy.
        ideals.discard(Memory.copies)
    total, active = PARAMETERS
    sparse = values.keys() >= {total, active} and not values.keys() >= {*EXPERTS}
    read = DecodeStep.all_weights if sparse and values[total] > values[active] else ()
    found = (cause for one in asked.instead for cause in one.causes)
    either = ((name, bound) for name in rated_quantities(asked.provenance) for bound in (LOWER, UPPER) if not asked.limits)
    return frozenset([*((name, IDEALS[name]) for name in ideals), *((id, UPPER) for id in read), *asked.limits.items(), *either, *found])


def rated_quantities(provenance: Mapping[str, str]) -> list[str]:
    """Return the quantities whose value a table has as rated.

    >>> rated_quantities({"chip_power": "hardware.csv H100-SXM", "hbm_bandwidth": "hardware.csv H100-SXM"})
    ['chip_power']
    """
    return [name for name, source in provenance.items() if source != "given" and quantity(name).rated]


def _relaxations(asked: Question, way: Way, values: Mapping[str, float]) -> Iterator[list[_Relaxed]]:
    """Yield the changes of every bound, ideal, or other cause that the way rests on, the least first."""
    factors = (_LITTLE, *_FARTHER)
    spoken = {name for row in way.rows for name in (*row.symbols, *row.put_in)}
    for row in way.rows:
        sides = _SIGNS[""] if row.kind == ESTIMATE else _SIGNS[row.direction] if row.direction else ()
        yield from ([_Relaxed(row.id, factor=factor**sign) for factor in factors] for sign in sides)
    for cause, bound in sorted(taken_for_granted(asked, way, values)):
        (sign,) = _SIGNS[bound]
        if any(row.id == cause for row in way.rows):
            yield [_Relaxed(cause, factor=factor**sign) for factor in factors]
        elif cause in spoken:
            here = values.get(cause, NEUTRAL_DEFAULTS.get(cause, 0))
            some = [here * factor**sign for factor in factors] if here else [quantity(cause).at(share) for share in _SHARES]
            yield [_Relaxed(cause, value=min(value, quantity(cause).ceiling)) for value in some]


def _follow_again(way: Way, values: Mapping[str, float], change: _Relaxed) -> float | None:
    """Return what a way leads to after a change, near its present answer, or None if an equation does not apply then."""
    solved = way.solved
    here = {name: value for name, value in values.items() if name not in solved}
    if change.value is not None:
        here[change.name] = change.value
    moved = {change.name}
    for leg in way.legs:
        found = values[leg.unknown] if moved.isdisjoint(_names_in(leg)) else _solve_leg(leg, here, values, change)
        if found is None:
            return None
        if found != values[leg.unknown]:
            moved.add(leg.unknown)
        here[leg.unknown] = found
    return here[way.unknown]


@lru_cache(maxsize=1024)
def _names_in(leg: Leg) -> frozenset[str]:
    """Return the ids of the equations of a leg, and their quantities."""
    return frozenset(name for row in leg.rows for name in (row.id, *row.symbols, *row.put_in))


def _solve_leg(leg: Leg, here: Mapping[str, float], before: Mapping[str, float], change: _Relaxed) -> float | None:
    """Return the value of a leg after a change, the one nearest to its present value."""
    if isinstance(leg, Loop):
        whole = closed_form_of(leg)
        return _solve_leg(Step(whole, leg.unknown), here, before, change) if whole else _close_loop(leg, here, before, change)
    row, known = _change_row(leg.row, here, change)
    factor = change.factor if row.id == change.name else 1.0
    if Step(row, leg.unknown).goes_forwards:
        found = right_side_at(row, known) * factor
        applies = not isinstance(row, Equation) or row.applies({**known, leg.unknown: found})
        return found if applies and is_in_domain(leg.unknown, found) else None
    turned = known if factor == 1 else {**known, row.symbols[0]: known[row.symbols[0]] / factor}
    found_of, _ = solve_equation(row, leg.unknown, turned)
    points = [one.point for one in found_of if one.kind == "point"]
    near = before[leg.unknown]
    return min(points, key=lambda one: abs(log(one / near)) if one > 0 and near > 0 else abs(one - near), default=None)


def _close_loop(loop: Loop, here: Mapping[str, float], before: Mapping[str, float], change: _Relaxed) -> float | None:
    """Return the value that closes a loop after a change, near the present one."""
    from scipy.optimize import brentq

    def height(trial: float) -> float:
        there = {**here, loop.unknown: trial}
        for leg in loop.steps:
            found = _solve_leg(leg, there, before, change)
            if found is None:
                return nan
            there[leg.unknown] = found
        row, known = _change_row(loop.closing, there, change)
        right = right_side_at(row, known) * (change.factor if row.id == change.name else 1.0)
        return right / known[row.symbols[0]] - 1 if known[row.symbols[0]] else nan

    start = before[loop.unknown]
    here_is = height(start)
    places = (start * factor**side for factor in _REACHES for side in (1, -1))
    place = next((place for place in places if here_is * height(place) <= 0), None)
    try:
        return None if place is None else float(brentq(height, start, place, xtol=1e-300, rtol=_SAME / 10))
    except ValueError:
        # Between the two places the equations do not apply.
        return None


def _change_row(row: Equation | Composed, here: Mapping[str, float], change: _Relaxed) -> tuple[Equation | Composed, Mapping[str, float]]:
    """Return an equation with a changed default as a quantity, and the values with the quantities that reappear with it.

    The right side of an equation inside a composed one changes by its factor here. The caller multiplies any other.
    """

    def changed_part(part: Equation) -> Equation | Composed:
        if part.id == change.name and isinstance(row, Composed):
            left, right = part.trees
            return Composed(rows=(part,), trees=(left, (PRODUCT, change.factor, right)), closing=part)
        return restore_default(part, change.name)

    changed = change_equation(row, changed_part)
    if changed is row:
        return row, here
    missing = {name: NEUTRAL_DEFAULTS.get(name, quantity(name).at(0.5)) for name in changed.symbols if name not in here}
    return changed, {**missing, **here}
