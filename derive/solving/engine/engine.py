"""A way with numbers: every leg solved in turn, and every answer checked against all that was given.

An equation with several roots forks the way. One that leaves its quantity open stops it.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from math import inf, isclose, isfinite
from types import MappingProxyType

from derive.answers import COUNTED, SHORT
from derive.expressions.branches import current_regime
from derive.immutable import immutable
from derive.preset_record import PARAMETERS
from derive.quantities import QUANTITIES
from derive.records import HOLDS, Equation
from derive.roles import Memory
from derive.solving.checks.consistency import contradiction
from derive.solving.checks.fit import is_warning, memory_is_made_of, memory_shortfall
from derive.solving.engine.directions import bound_of, signs
from derive.solving.engine.legs import Composed, Leg, Loop, Step, Way, closed_form_of
from derive.solving.engine.one_equation import broken_requirement, follow_equations, residual, slopes_at, solve_equation, value_inside
from derive.solving.engine.plan import propagate
from derive.solving.explain.answer_with import Solve
from derive.solving.explain.assumptions import list_assumptions
from derive.solving.explain.caveats import left_to_assumptions, list_caveats, warn_below_one
from derive.solving.question.defaults import PLAIN
from derive.solving.question.presets import tell_given
from derive.solving.question.questions import OF_DENSE, Question, known_values
from derive.solving.result import Answer, Reason, RouteStep, Solution, WhenRead, shown_end
from derive.trees import difference
from derive.units import show

LEAVES_OPEN = ("not_identified", "missing_givens")
"""Codes of a leg that may have an answer if more were known."""

_MOST_MAGNIFIED, _ALL_LOST = 1e8, 1e14
"""By how much last digits may be magnified (half of them are left), and from where on nothing is left of a value."""

_WELL_BESIDE, _CLOSED = (1.25, 0.8), 1e-10
"""Factors of a point, and the relative difference of two sides that may be rounding alone."""

_SEVERAL = (1.0, 8.0, 72.0)
"""Numbers of chips at which an answer is compared to see whether it depends on them."""

_Outcome = tuple[tuple[Answer, ...], Reason | None]
_Rounding = Mapping[str, float]


@immutable(kw_only=False)
class Stop:
    """A leg of a way that gave no number to go on with, and why."""

    way: Way
    leg: Leg
    reason: Reason


@immutable
class World:
    """The state on one fork of a way: values, their sensitivities to the givens and to rounding, and the steps."""

    values: Mapping[str, float]
    slopes: Mapping[str, Mapping[str, float]]
    rounding: _Rounding = field(default_factory=dict)
    steps: tuple[RouteStep, ...] = ()


@immutable
class _End:
    """An answer of the last leg, the world before it, the world with it, and a warning that memory is short."""

    before: World
    after: World
    found: Answer
    short: str = ""


def follow_way(asked: Question, known: Mapping[str, float], way: Way, solve: Solve) -> Solution | Stop:
    """Return what a way leads to at numbers: answers with their warnings, a contradiction, or the leg at which it stops."""
    ended = _follow_to_ends(asked, known, way)
    if isinstance(ended, Stop):
        return ended
    if not isinstance(ended, list):
        return refuse_question(asked, *ended)
    return _solution(asked, known, way, [_show_end(asked, way, one) for one in ended], ended[0].short, solve)


def _follow_to_ends(asked: Question, known: Mapping[str, float], way: Way) -> list[_End] | tuple[Reason, tuple[RouteStep, ...]] | Stop:
    """Return the ends of a way, or what they contradict with the steps up to there, or where it stops."""
    worlds = [World(values=known, slopes={name: {name: 1.0} for name in known})]
    *before, last = way.legs
    for leg in before:
        outcomes = [(world, *solve_leg(leg, world.values, world.rounding)) for world in worlds]
        if reason := _reason_left_open(asked, leg, outcomes):
            return Stop(way, leg, reason)
        worlds = [_extend_world(world, leg, one) for world, answers, _ in outcomes for one in answers]
        if not worlds:
            return Stop(way, leg, next(reason for *_, reason in outcomes if reason))
    ends, reasons = list[_End](), list[Reason]()
    for world in worlds:
        found, reason = solve_leg(last, world.values, world.rounding)
        if reason and reason.code in LEAVES_OPEN:
            return Stop(way, last, reason)
        checked = [_check_end(asked, way, world, one) for one in found]
        ends += [one for one in checked if isinstance(one, _End)]
        reasons += [one for one in (reason, *checked) if isinstance(one, Reason)]
    if ends:
        return ends
    clash = next((one for one in reasons if one.code not in ("requirement_violated", "no_solution")), None)
    return (clash, worlds[0].steps) if clash else Stop(way, last, reasons[-1])


def _show_end(asked: Question, way: Way, end: _End) -> tuple[World, Answer]:
    """Return the world that is shown of an end, and its answer of the whole way. An interval is shown at its end, the upper of two."""
    found, world, bound = end.found, end.after, None
    if found.kind == "point":
        bound = bound_of(signs(asked, way, world.values))
    elif (shown := shown_end(found)) is not None:
        world = _complete_world(way, replace(world, values={**world.values, way.unknown: shown}))
    regime, moved = _binding_terms(way, world.values, found), WhenRead(partial(_sum_slopes, found.elasticities, end.before))
    return world, replace(found, elasticities=moved, regime=regime, bound=bound)


def _complete_world(way: Way, world: World) -> World:
    """Return a world with the quantities that were eliminated on its way, as far as they follow."""
    for leg in propagate(way.rows, frozenset(world.values), frozenset()).values():
        found, _ = solve_leg(leg, world.values) if world.values.keys() >= {*leg.needs} else ((), None)
        if len(found) == 1 and found[0].kind == "point":
            world = _extend_world(world, leg, found[0])
    return world


def evaluate_way(way: Way, known: Mapping[str, float]) -> Mapping[str, float] | None:
    """Return all values of a way at numbers, each the first that its leg gives, or None where a leg gives none."""
    world = _follow_first(way.legs, World(values=known, slopes={}))
    return world.values if world else None


def _follow_first(legs: Iterable[Leg], world: World) -> World | None:
    """Return the world after some legs, each with the first point that it gives, or None where a leg gives none."""
    for leg in legs:
        found, _ = solve_leg(leg, world.values)
        point = next((one for one in found if one.kind == "point"), None)
        if point is None:
            return None
        world = _extend_world(world, leg, point)
    return world


def _reason_left_open(asked: Question, leg: Leg, outcomes: Sequence[tuple[World, tuple[Answer, ...], Reason | None]]) -> Reason | None:
    """Return why a way cannot go on after a leg. In one of the worlds its quantity is only bounded or not determined, or it is the count
    of a default and less than one.
    """
    least = 1 - HOLDS if leg.unknown in COUNTED and leg.unknown in asked.defaults else 0.0
    for _, answers, reason in outcomes:
        if reason and reason.code in LEAVES_OPEN:
            return reason
        for one in answers:
            if one.kind != "point":
                return _reason_of_bounds(leg, one)
            if one.point < least:
                return Reason(code="not_identified", message=f"{leg.unknown} = {show(leg.unknown, one.point)} is less than one")
    return None


def _check_end(asked: Question, way: Way, world: World, found: Answer) -> _End | Reason:
    """Return the end that an answer is, or what it contradicts: a requirement on an eliminated quantity, a given, or the memory."""
    after = _extend_world(world, way.legs[-1], found)
    after = _complete_world(way, after) if found.kind == "point" else after
    known = after.values if found.kind == "point" else world.values
    if unmet := _find_unmet(way.rows, way.unknown, known):
        return unmet
    short, told = memory_shortfall(asked, known, way.rows), ""
    if short and is_memory_warning(asked, way):
        told = "; ".join(short.message.split("\n"))
        short = None
    wrong = contradiction(asked, known, way.rows) or short
    return wrong or _End(before=world, after=after, found=found, short=told)


def is_memory_warning(asked: Question, way: Way) -> bool:
    """Return whether short memory is only a warning: by `is_warning`, or if no chips are given and the answer does not depend on them."""
    if is_warning(asked, way) or Memory.bought not in asked.defaults or Memory.bought in way.solved:
        return is_warning(asked, way)
    known = [*known_values(asked)][-1]
    found = [_follow_to_ends(replace(asked, anyway=True), {**known, Memory.bought: chips}, way) for chips in _SEVERAL]
    first, *others = ([one.found for one in each] if isinstance(each, list) else [] for each in found)
    return bool(first) and all(len(each) == len(first) and all(map(are_equal, each, first)) for each in others)


def are_equal(one: Answer, other: Answer) -> bool:
    """Return whether two answers are the same numbers."""
    ends = ((inf if end is None else end for end in answer.ends) for answer in (one, other))
    return one.kind == other.kind and all(isclose(*pair, rel_tol=HOLDS) for pair in zip(*ends, strict=True))


def solve_leg(leg: Leg, values: Mapping[str, float], rounding: _Rounding = MappingProxyType({})) -> _Outcome:
    """Return the answers of a leg, or the reason of a refusal. `rounding` is by how much last digits were magnified before."""
    if isinstance(leg, Loop):
        return _close_loop(leg, values, rounding)
    return _solve_surely(leg.row, leg.unknown, values, rounding)


def _solve_surely(case: Equation | Composed, unknown: str, values: Mapping[str, float], rounding: _Rounding) -> _Outcome:
    """Return the answers of an equation, without a point that may be only the rounding of its inputs."""
    found, reason = solve_equation(case, unknown, values)
    if isinstance(case, Equation) and not any(name in rounding for name in case.symbols):
        return found, reason
    for one in (one for one in found if one.kind == "point"):
        magnified = _magnification(one, rounding)
        if magnified > _ALL_LOST and len(found) == 1 and QUANTITIES[unknown].may_be_zero:
            # Rounding alone is as large: it is zero.
            return (replace(one, value=0.0),), None
        if magnified > _MOST_MAGNIFIED:
            message = f"{unknown} cannot be decided from these inputs, because it depends on their last digits in {case.told}"
            return (), Reason(code="not_identified", message=message)
    return found, reason


def _close_loop(loop: Loop, values: Mapping[str, float], rounding: _Rounding) -> _Outcome:
    """Return the values of a quantity at which the closing equation of its loop holds."""
    unknown = loop.unknown
    if whole := closed_form_of(loop):
        found, reason = _solve_surely(whole, unknown, values, rounding)
        found = tuple(one for one in found if _trace_loop(loop, values, value_inside(one)))
    else:
        found, reason = _search_zeros(loop, values)
    if any(_is_anything(unknown, one) or _closes_beside(loop, values, one) for one in found):
        return (), Reason(code="not_identified", message=f"{unknown} is not determined by {_name_of_loop(loop)}")
    if not found and reason is None:
        reason = Reason(code="no_solution", message=f"no value of {unknown} satisfies {_name_of_loop(loop)}")
    return found, reason


def _name_of_loop(loop: Loop) -> str:
    """Return what a message calls the equations of a loop."""
    return Composed(rows=loop.rows, trees=(0, 0), closing=loop.closing).told


def _search_zeros(loop: Loop, values: Mapping[str, float]) -> _Outcome:
    """Return the zeros of a loop that has no closed form, from its curve."""
    from derive.expressions.curve import find_zeros
    from derive.solving.many.arrays import NoClosedForm, height_of

    unknown, closing = loop.unknown, loop.closing
    try:
        zeros, heights = find_zeros(unknown, height_of(loop, {name: values[name] for name in loop.needs}))
    except NoClosedForm as stop:
        return (), Reason(code="not_identified", message=str(stop))
    found = []
    for low, high in zeros:
        if low is not None and low == high:
            moved = WhenRead(partial(_loop_elasticities, loop, values, low))
            found.append(Answer(kind="point", value=low, residual=0.0, elasticities=moved))
        else:
            row = QUANTITIES[unknown]
            top = row.ceiling if high is None else high
            found.append(Answer(kind="interval", low=row.floor if low is None else low, high=top if isfinite(top) else None, residual=0.0))
    if found:
        return tuple(found), None
    if len(heights) > 1 and heights.max() - heights.min() <= HOLDS:
        return (), Reason(code="not_identified", message=f"{unknown} has no effect in {_name_of_loop(loop)}")
    with suppress(NoClosedForm):
        for at, _ in find_zeros(unknown, height_of(loop, {name: values[name] for name in loop.needs}, required=False))[0]:
            there = follow_equations(loop.rows, {**values, unknown: at}) if at is not None else {}
            if unmet := _find_unmet(loop.rows, unknown, there):
                return (), unmet
    name = closing.symbols[0]
    message = f"no value of {unknown} satisfies {_name_of_loop(loop)}"
    if name in values:
        reach = [show(name, values[name] * (1 + float(end))) for end in (heights.min(), heights.max())] if len(heights) > 1 else []
        runs = f": it runs from {' to '.join(reach)} over all {unknown}" if reach else ""
        message = f"no value of {unknown} leads to {name} = {show(name, values[name])}{runs}"
    return (), Reason(code="no_solution", violated=(name,), message=message)


def _find_unmet(rows: Iterable[Equation], unknown: str, known: Mapping[str, float]) -> Reason | None:
    """Return what the first equation requires that is not met at these values, or None if all apply."""
    unmet = next((row for row in rows if row.unmet(known)), None)
    return broken_requirement(unmet, unknown, [known]) if unmet else None


def _trace_loop(loop: Loop, values: Mapping[str, float], at: float) -> World | None:
    """Return the world inside a loop at a trial value, with slopes by what the loop needs and the trial, or None if a step fails."""
    slopes = {name: {name: 1.0} for name in (*loop.needs, loop.unknown)}
    return _follow_first(loop.steps, World(values={**values, loop.unknown: at}, slopes=slopes))


def _closes_beside(loop: Loop, values: Mapping[str, float], found: Answer) -> bool:
    """Return whether a loop also closes far from a point. Its equations then say the same."""
    if found.kind != "point" or not found.point:
        return False
    beside = (_trace_loop(loop, values, found.point * factor) for factor in _WELL_BESIDE)
    return any(world is not None and residual(loop.closing, world.values) < _CLOSED for world in beside)


def _loop_elasticities(loop: Loop, values: Mapping[str, float], at: float) -> dict[str, float]:
    """Return d ln(trial)/d ln(needed) of a closed loop, by the implicit function theorem."""
    world = _trace_loop(loop, values, at)
    if world is None:
        return {}
    local = slopes_at(difference(*loop.closing.trees), world.values)
    total = _sum_slopes({name: slope * world.values[name] for name, slope in local.items()}, world)
    steep = total.pop(loop.unknown, 0.0)
    return {name: -by / steep for name, by in total.items() if by} if steep else {}


def _is_anything(unknown: str, found: Answer) -> bool:
    """Return whether an answer is the whole domain of the unknown. Two equations then say the same."""
    row = QUANTITIES[unknown]
    return found.kind == "interval" and found.least <= row.floor and found.high in (None, row.ceiling)


def _magnification(found: Answer, rounding: _Rounding) -> float:
    """Return by how much the last digits of the givens are magnified in a point: what a factor makes exactly zero loses none."""
    return sum(abs(by) * rounding.get(name, 1.0) for name, by in found.elasticities.items()) or 1.0


def _reason_of_bounds(leg: Leg, interval: Answer) -> Reason:
    """Return the reason that a quantity does not bind and is known by its bounds alone."""
    low, high = (None if end is None else show(leg.unknown, end) for end in (interval.low or None, interval.high))
    bounds = " and ".join(text for text in (low and f"at least {low}", high and f"at most {high}") if text) or "any value"
    told = leg.row.told if isinstance(leg, Step) else _name_of_loop(leg)
    return Reason(code="not_identified", message=f"{leg.unknown} is not a limit in {told}, so only its bounds are known: {bounds}")


def _extend_world(world: World, leg: Leg, found: Answer) -> World:
    """Return the world with the result of a leg, and for a loop with all that follows at the trial value."""
    place = value_inside(found)
    steps: tuple[RouteStep, ...] = (_route_step(leg, found),)
    values: Mapping[str, float] = {**world.values, leg.unknown: place}
    if isinstance(leg, Loop) and found.kind == "point" and (traced := _trace_loop(leg, world.values, place)):
        # A loop that was closed by search shows where it goes step by step.
        closing = RouteStep(equations=(leg.closing.reference,), unknown=leg.unknown, value=place, forwards=leg.closing.symbols[0])
        steps = (*traced.steps, closing) if found.formula is None else (*steps, *traced.steps)
        values = traced.values
    magnified = _magnification(found, world.rounding) if isinstance(leg, Step) and found.kind == "point" else 1.0
    return World(
        values=values,
        slopes={**world.slopes, leg.unknown: WhenRead(partial(_sum_slopes, found.elasticities, world))},
        rounding={**world.rounding, leg.unknown: magnified},
        steps=(*world.steps, *steps),
    )


def _route_step(leg: Leg, found: Answer) -> RouteStep:
    alternatives = tuple(row.id for row in leg.alternatives) if isinstance(leg, Step) else ()
    references = tuple(row.reference for row in leg.rows)
    return RouteStep(equations=references, unknown=leg.unknown, value=found.value, formula=found.formula, alternatives=alternatives)


def _binding_terms(way: Way, values: Mapping[str, float], found: Answer) -> str | None:
    """Return the terms that bind along a way, in words. A loop and an equation that was composed have the terms of their equations."""
    last = way.legs[-1]
    binding = [current_regime(row, values) for row in way.rows if not (isinstance(last, Step) and row == last.row)]
    itself = found.regime if not any(binding) or (isinstance(last, Step) and isinstance(last.row, Equation)) else None
    return " and ".join(dict.fromkeys(label for label in (*binding, itself) if label)) or None


def _sum_slopes(by_name: Mapping[str, float], world: World) -> dict[str, float]:
    """Return slopes with respect to the givens, by the chain rule along the way."""
    sums: dict[str, float] = {}
    for name, slope in by_name.items():
        for base, inner in world.slopes.get(name, {}).items():
            sums[base] = sums.get(base, 0.0) + slope * inner
    return sums


def list_unused(asked: Question, touched: Set[str]) -> tuple[str, ...]:
    """Return the givens that an answer did not use."""
    of_dense = {*PARAMETERS} if OF_DENSE in asked.provenance.values() else set()
    told = [asked.supposed[one] for one in touched if one in asked.supposed]
    behind = {name for name in asked.known if any(tell_given(name) in text for text in told)}
    return tuple(name for name in asked.typed if name not in touched | of_dense | behind)


def _solution(
    asked: Question, known: Mapping[str, float], way: Way, ends: list[tuple[World, Answer]], short: str, solve: Solve
) -> Solution:
    used = way.rows
    touched = {name for row in used for name in (*row.symbols, *row.put_in) if name in known and (name not in PLAIN or name in asked.known)}
    touched |= {asked.nothing[name] for name in touched if name in asked.nothing}
    spoken = {name for row in used for name in row.symbols}
    touched |= {other for name, other in asked.defaults.items() if isinstance(other, str) and name in spoken}
    answers = tuple(one for _, one in ends)
    doubts = {} if asked.silent else list_caveats(asked, ends[0][0].values, used, solve)
    said = {**({SHORT: short} if short else {}), **warn_below_one(asked.unknown, answers)}
    said |= {name: one.text for name, one in doubts.items()}
    left = list_unused(asked, touched.union(*(one.rests for one in doubts.values())))
    against = memory_is_made_of(asked, ends[0][0].values, used, left)
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=answers,
        equations=tuple(row.reference for row in used),
        given={name: known[name] for name in known if name in touched},
        assumptions=tuple(dict.fromkeys((*list_assumptions(asked, known, way, touched), *left_to_assumptions(asked, touched, doubts)))),
        unused=tuple(name for name in left if name not in against),
        warnings=tuple(said.values()),
        kinds=tuple(said),
        provenance={name: asked.provenance.get(name, "default") for name in known if name in touched},
        route=ends[0][0].steps,
        further=tuple(world.steps for world, _ in ends[1:]),
    )


def refuse_question(asked: Question, reason: Reason, steps: tuple[RouteStep, ...] = ()) -> Solution:
    """Return a solution that has no answer, and why."""
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=(),
        equations=tuple(dict.fromkeys(reference for step in steps for reference in step.equations)),
        given=dict(asked.known),
        assumptions=asked.notes,
        provenance=dict(asked.provenance),
        reason=reason,
        route=steps,
    )
