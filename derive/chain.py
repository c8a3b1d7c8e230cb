"""Several equations, any unknown: the route by propagation, one equation and one unknown at a time.

Defining equations and bounds join by themselves, one variant of a group; conditions, heuristics and empirical
relations join when named. Neutral defaults are taken up only when the givens alone do not reach the unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.questions import Leg, Question, question
from derive.records import CHAINED_BY_ITSELF, Answer, Equation, Reason, RouteStep, Solution, WhenRead
from derive.refusals import contradiction, missing_givens
from derive.solving import solve_equation
from derive.units import show


@dataclass(frozen=True, slots=True)
class _Stop:
    """A leg that gave no number to go on with, and why."""

    leg: Leg
    reason: Reason


@dataclass(frozen=True, slots=True)
class _World:
    """What is known so far on one way through points: values, and how each moves with what was given."""

    values: Mapping[str, float]
    slopes: Mapping[str, Mapping[str, float]]
    steps: tuple[RouteStep, ...] = ()


def solve(
    unknown: str,
    *,
    hardware: str | None = None,
    model: str | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    **given: float | str,
) -> Solution:
    """Any quantity from what is given, through as many equations as it takes.

    Values are SI numbers or text as typed on the command line; `variants` picks the equation of a group that is not
    the default, as {"overlap": "sum"}; `using` joins conditions, heuristics and variants by id. The answers are
    points, intervals, or none with a reason; raises `UnknownName`, `WrongUnit` or `WrongValue` for what cannot be read.

    >>> solution = solve("balance_batch", machine_balance_ratio=300, sparsity=8)
    >>> solution.answers[0].value, solution.equations
    (2400.0, ('batching.balance_batch@1',))
    >>> solve("kv_bytes_per_token", using=["readings.threshold_is_crossover"], active_params="100B",
    ...       bytes_per_weight=1, machine_balance_ratio=300, long_context_threshold="200k").answers[0].value
    1666.6666666666667
    """
    return answer(question(unknown, given, hardware, model, using, variants))


def answer(asked: Question) -> Solution:
    """The question answered: first from the givens alone, then with neutral defaults."""
    defaults = {n: v for n, v in NEUTRAL_DEFAULTS.items() if n not in asked.known and n != asked.unknown}
    stop: _Stop | None = None
    for known in (dict(asked.known), {**asked.known, **defaults}):
        failed: frozenset[tuple[str, str]] = frozenset()
        while (legs := _route(asked.unknown, asked.active, frozenset(known), failed)) is not None:
            outcome = _follow(asked, known, legs)
            if isinstance(outcome, Solution):
                return outcome
            stop = stop or outcome
            failed |= {(outcome.leg.equation.id, outcome.leg.unknown)}
    return _without_answer(asked, stop.reason if stop else missing_givens(asked, known))


@lru_cache(maxsize=1024)
def _route(unknown: str, active: tuple[Equation, ...], known: frozenset[str], failed: frozenset[tuple[str, str]]) -> tuple[Leg, ...] | None:
    """The legs that lead to the unknown, in order and none to spare; None if propagation does not reach it."""
    reached = set(known)
    legs: dict[str, Leg] = {}
    while unknown not in reached:
        found: dict[str, list[Equation]] = {}
        for row in active:
            missing = [name for name in row.symbols if name not in reached]
            if len(missing) == 1 and (row.id, missing[0]) not in failed and (row.sense == "=" or missing[0] == unknown):
                found.setdefault(missing[0], []).append(row)
        if not found:
            return None
        for name, rows in found.items():
            first, *others = sorted(rows, key=lambda row: row.defines != name)
            legs[name] = Leg(first, name, tuple(others))
        reached |= set(found)
    return _needed(unknown, legs)


def _needed(unknown: str, legs: Mapping[str, Leg]) -> tuple[Leg, ...]:
    """The legs the unknown depends on, in the order they were found."""
    wanted, queue = set(), [unknown]
    while queue:
        name = queue.pop()
        if name in legs and name not in wanted:
            wanted.add(name)
            queue += [other for other in legs[name].equation.symbols if other != name]
    return tuple(leg for name, leg in legs.items() if name in wanted)


def _follow(asked: Question, known: Mapping[str, float], legs: tuple[Leg, ...]) -> Solution | _Stop:
    """The route with numbers: an equation with several points forks it, one with none or an interval stops it."""
    worlds = [_World(known, {name: {name: 1.0} for name in known})]
    *way, last = legs
    for leg in way:
        outcomes = [(world, *solve_equation(leg.equation, leg.unknown, world.values)) for world in worlds]
        worlds = [_onward(world, leg, one) for world, answers, _ in outcomes for one in answers if one.kind == "point"]
        if not worlds:
            _, answers, reason = outcomes[0]
            return _Stop(leg, reason or _within_bounds(leg, answers[0]))
    ends: list[tuple[_World, Answer]] = []
    clash: Reason | None = None
    for world in worlds:
        found, reason = solve_equation(last.equation, last.unknown, world.values)
        for one in found:
            reached = {last.unknown: one.value} if one.kind == "point" else {}
            broken = contradiction(asked, {**world.values, **reached}, legs)
            clash = clash or broken
            ends += [] if broken else [(world, replace(one, elasticities=_chained(one, world)))]
    if ends:
        return _solution(asked, known, legs, ends)
    return _without_answer(asked, clash, worlds[0].steps) if clash else _Stop(last, reason)


def _within_bounds(leg: Leg, interval: Answer) -> Reason:
    low, high = (None if end is None else show(leg.unknown, end) for end in (interval.low or None, interval.high))
    bounds = " and ".join(text for text in (low and f"at least {low}", high and f"at most {high}") if text) or "any value"
    message = f"{leg.unknown} does not bind in {leg.equation.id}, so only its bounds are known: {bounds}"
    return Reason("not_identified", message=message)


def _onward(world: _World, leg: Leg, point: Answer) -> _World:
    return _World(
        {**world.values, leg.unknown: point.value},
        {**world.slopes, leg.unknown: _chained(point, world)},
        (*world.steps, _step(leg, point)),
    )


def _step(leg: Leg, found: Answer) -> RouteStep:
    alternatives = tuple(row.id for row in leg.alternatives)
    return RouteStep(leg.equation.reference, leg.unknown, found.value, found.formula, found.regime, alternatives)


def _chained(found: Answer, world: _World) -> Mapping[str, float]:
    """Elasticities with respect to what was given, by the chain rule along the route."""

    def total() -> dict[str, float]:
        sums: dict[str, float] = {}
        for name, slope in found.elasticities.items():
            for base, inner in world.slopes.get(name, {}).items():
                sums[base] = sums.get(base, 0.0) + slope * inner
        return sums

    return WhenRead(total)


def _solution(asked: Question, known: Mapping[str, float], legs: tuple[Leg, ...], ends: list[tuple[_World, Answer]]) -> Solution:
    used = [leg.equation for leg in legs]
    touched = {name for row in used for name in row.symbols if name in known}
    world, first = ends[0]
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=tuple(one for _, one in ends),
        equations=tuple(row.reference for row in used),
        given={name: known[name] for name in known if name in touched},
        assumptions=_assumptions(asked, known, used, touched),
        provenance={name: asked.provenance.get(name, "default") for name in known if name in touched},
        route=(*world.steps, _step(legs[-1], first)),
    )


def _assumptions(asked: Question, known: Mapping[str, float], used: list[Equation], touched: set[str]) -> tuple[str, ...]:
    """Defaults and variants taken, conditions joined by name, and what each equation idealises."""
    defaults = [f"{name} = {known[name]:g} (default)" for name in known if name in touched and name not in asked.known]
    taken = [f"{row.variant[0]}: {row.variant[1]} ({row.id})" for row in used if row.variant]
    joined = [f"{row.id} is a {row.kind}, joined by name" for row in used if row.kind not in CHAINED_BY_ITSELF]
    idle = [f"{row.id} was named and is not needed" for row in asked.named if row not in used]
    given = [name for name in asked.provenance if asked.provenance[name] == "given"]
    idle += [f"{name} was given and is not needed" for name in given if name not in touched]
    idealised = [text for row in used for text in row.assumptions]
    return tuple(dict.fromkeys((*asked.notes, *defaults, *taken, *joined, *idle, *idealised)))


def _without_answer(asked: Question, reason: Reason, steps: tuple[RouteStep, ...] = ()) -> Solution:
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=(),
        equations=tuple(step.equation for step in steps),
        given=dict(asked.known),
        assumptions=asked.notes,
        provenance=dict(asked.provenance),
        reason=reason,
        route=steps,
    )
