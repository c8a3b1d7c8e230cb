"""A quantity found from a result that its definitions lead to, by going forwards at many values of it.

Where the equations between the two have more regimes than can be taken apart in symbols, they can still be followed at
numbers. What comes out is held against what was given at every place of a grid, and every crossing is closed in on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import exp, isfinite, log, nan

from derive.quantities import quantity
from derive.records import Equation
from derive.requirements import HOLDS
from derive.solving.one_equation import right_side_at
from derive.solving.questions import Question
from derive.solving.refusals import made_of

PLACES = 600
"""Values of the unknown at which the way is followed first."""

HALVINGS = 60
"""Steps to the edge of where the equations apply: to the last digit."""

Height = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Backwards:
    """The result that was followed, the values of the unknown that lead to it, and what it comes to at the least and most.

    `flat` is a stretch of the unknown over which the result is as given; `rises` says whether it grows with the unknown all
    over, and is None where it turns.
    """

    name: str
    roots: tuple[float, ...]
    reach: tuple[float, float]
    flat: tuple[float, float] | None = None
    rises: bool | None = None


def backwards(asked: Question, known: Mapping[str, float]) -> Backwards | None:
    """The unknown from the first given result that definitions lead to from it; None where they do not lead there."""
    for name in (name for name in made_of(asked, asked.unknown) if known[name]):
        rest = {other: value for other, value in known.items() if other != name}
        rows = _leading(asked, rest, name)
        if rows:
            return _searched(asked.unknown, name, known[name], lambda x, rows=rows, rest=rest: _at(rows, {**rest, asked.unknown: x}))
    return None


def _leading(asked: Question, rest: Mapping[str, float], name: str) -> tuple[Equation, ...]:
    """The definitions from what is known and the unknown to a result, in the order in which they are worked out; none if they stop."""
    definitions = {row.defines: row for row in asked.active if row.defines and row.sense == "=" and row.symbols[0] == row.defines}
    left, reached, found = _upstream(definitions, {*rest, asked.unknown}, name), {*rest, asked.unknown}, []
    while left and (ready := [row for row in left if row.inputs <= reached]):
        found += ready
        reached |= {row.symbols[0] for row in ready}
        left = [row for row in left if row not in ready]
    return () if left or name not in reached else tuple(found)


def _upstream(definitions: Mapping[str, Equation], known: set[str], name: str) -> list[Equation]:
    rows: dict[str, Equation] = {}
    queue = [name]
    while queue:
        one = queue.pop()
        if one in definitions and one not in rows:
            rows[one] = definitions[one]
            queue += [other for other in definitions[one].symbols[1:] if other not in known]
    return [*rows.values()]


def _at(rows: tuple[Equation, ...], values: dict[str, float]) -> float:
    """What the last equation comes to; NaN where one of them does not apply."""
    for row in rows:
        values[row.symbols[0]] = right_side_at(row, values)
        if not isfinite(values[row.symbols[0]]) or not row.applies(values):
            return nan
    return values[rows[-1].symbols[0]]


def _searched(unknown: str, name: str, target: float, result: Height) -> Backwards | None:
    from scipy.optimize import brentq

    from derive.expressions.search import BEYOND

    row = quantity(unknown)
    low, high = max((row.low or row.high / BEYOND) / BEYOND, row.floor), min(row.high * BEYOND, row.ceiling)

    def height(ln_x: float) -> float:
        return result(exp(ln_x)) / target - 1

    places = (log(low) + log(high / low) * place / PLACES for place in range(PLACES + 1))
    points = [(ln_x, height(ln_x)) for ln_x in places]
    points = sorted([*points, *_edges(points, height)])
    points = [(ln_x, 0.0 if abs(at) <= HOLDS else at) for ln_x, at in points if isfinite(at)]
    if len(points) < 2:
        return None
    points = sorted([*points, *_turns(points, height)])
    heights = [at for _, at in points]
    reach = (target * (1 + min(heights)), target * (1 + max(heights)))
    level = [exp(ln_x) for ln_x, at in points if at == 0]
    if len(level) > 1:
        return Backwards(name, (), reach, (level[0], level[-1]))
    around = [(one, other) for (one, below), (other, above) in pairwise(points) if below * above < 0]
    found = [exp(brentq(height, *ends, xtol=1e-15, rtol=1e-15)) for ends in around]
    steps = {above > below for below, above in pairwise(heights) if abs(above - below) > HOLDS * (1 + abs(above))}
    return Backwards(name, tuple(sorted({*found, *level})), reach, None, steps.pop() if len(steps) == 1 else None)


def _edges(points: list[tuple[float, float]], height: Height) -> list[tuple[float, float]]:
    """A point at each edge of where the equations apply: one sequence is the least there is, and no place of the grid."""
    found = []
    for (one, at_one), (other, at_other) in pairwise(points):
        if isfinite(at_one) == isfinite(at_other):
            continue
        inside, outside = (one, other) if isfinite(at_one) else (other, one)
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if isfinite(height(middle)) else (inside, middle)
        found.append((inside, height(inside)))
    return found


def _turns(points: list[tuple[float, float]], height: Height) -> list[tuple[float, float]]:
    """A point wherever the result turns back before it is what was given, and may have been so twice on the way."""
    from scipy.optimize import minimize_scalar

    found = []
    for (before, at_before), (_, at_middle), (after, at_after) in zip(points, points[1:], points[2:], strict=False):
        sign = 1 if at_middle > 0 else -1
        if 0 < sign * at_middle <= sign * at_after and sign * at_middle < sign * at_before:
            nearest = minimize_scalar(lambda ln_x, sign=sign: sign * height(ln_x), bounds=(before, after), method="bounded")
            if nearest.fun < 0:
                found.append((float(nearest.x), height(float(nearest.x))))
    return found
