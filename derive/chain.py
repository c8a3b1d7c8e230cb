"""Several equations, any unknown: the route by propagation, one equation and one unknown at a time.

Defining equations and bounds join by themselves, one variant of a group; conditions, heuristics and empirical
relations join when named. Neutral defaults are taken up only when the givens alone do not reach the unknown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real

from derive import presets
from derive.catalogue import by_id, equation, variants_of
from derive.errors import UnknownName, WrongValue
from derive.presets import Preset
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.records import CHAINED_BY_ITSELF, Answer, Equation, Reason, RouteStep, Solution, WhenRead
from derive.solving import residual, solve_equation
from derive.units import parse, show

AGREES = 1e-6


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, with everything that is known and everything that may be used."""

    unknown: str
    known: Mapping[str, float]
    active: tuple[Equation, ...]
    provenance: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    named: tuple[Equation, ...] = ()


@dataclass(frozen=True, slots=True)
class Leg:
    """One equation to be solved for one quantity on the way; the others would have given it too."""

    equation: Equation
    unknown: str
    alternatives: tuple[Equation, ...] = ()


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


def question(
    unknown: str,
    given: Mapping[str, float | str],
    hardware_name: str | None = None,
    model_name: str | None = None,
    using: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
) -> Question:
    """The question as records: names resolved, presets laid under the givens, variants chosen."""
    name = quantity(unknown).name
    typed = _typed(given)
    if name in typed:
        raise WrongValue(f"{name} is asked for and given ({show(name, typed[name])}): leave one of the two out")
    preset = _presets(hardware_name, model_name)
    known = {n: v for n, v in {**preset.givens, **typed}.items() if n != name}
    provenance = {n: "given" if n in typed else preset.provenance[n] for n in known}
    notes = tuple(
        f"{n} as given, not the {show(n, preset.givens[n])} of {preset.provenance[n]}"
        for n in typed
        if n in preset.givens and preset.givens[n] != typed[n]
    )
    chosen = {**preset.variants, **_checked(variants or {})}
    named = (using,) if isinstance(using, str) else tuple(using)
    active = _active(name, tuple(chosen.items()), named)
    return Question(name, known, active, provenance, notes, tuple(equation(id) for id in named))


def _typed(given: Mapping[str, float | str]) -> dict[str, float]:
    """What was given, in SI by registry name; each quantity once."""
    typed: dict[str, float] = {}
    for spelled, value in given.items():
        row = quantity(spelled)
        if row.name in typed:
            raise WrongValue(f"{row.name} is given twice, once as {spelled}: leave one of the two out")
        if not isinstance(value, str | Real):
            raise WrongValue(f"{row.name} = {value!r}: must be a number [{row.unit}], or text such as '{show(row.name, row.high)}'")
        typed[row.name] = parse(row.name, value) if isinstance(value, str) else row.check(float(value))
    return typed


def _presets(hardware_name: str | None, model_name: str | None) -> Preset:
    found = [lookup(text) for lookup, text in ((presets.hardware, hardware_name), (presets.model, model_name)) if text]
    merged = Preset({}, {}, {})
    for preset in found:
        merged = Preset(
            {**merged.givens, **preset.givens}, {**merged.provenance, **preset.provenance}, {**merged.variants, **preset.variants}
        )
    return merged


def _checked(asked: Mapping[str, str]) -> Mapping[str, str]:
    groups = {row.variant[0] for row in by_id().values() if row.variant}
    for group, name in asked.items():
        if group not in groups:
            raise UnknownName("variant group", group, sorted(groups))
        if name not in variants_of(group):
            raise UnknownName(group, name, variants_of(group))
    return asked


@cache
def _active(unknown: str, variants: tuple[tuple[str, str], ...], using: tuple[str, ...]) -> tuple[Equation, ...]:
    """The equations a route may take: one variant of each group, and what was named."""
    chosen = dict(variants)
    named = [equation(id) for id in using]
    picked: dict[str, Equation] = {}
    for row in named:
        if row.variant and picked.setdefault(row.variant[0], row) is not row:
            raise WrongValue(f"{picked[row.variant[0]].id} and {row.id} are two variants of {row.variant[0]}: name one")

    def takes_part(row: Equation) -> bool:
        if row in named:
            return True
        if row.kind not in CHAINED_BY_ITSELF or (row.sense != "=" and unknown not in row.symbols):
            return False
        if row.variant is None:
            return True
        group, name, default = row.variant
        if group in picked:
            return picked[group] is row
        return chosen[group] == name if group in chosen else default

    return tuple(row for row in by_id().values() if takes_part(row))


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
    return _without_answer(asked, stop.reason if stop else _missing(asked, known))


@cache
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
            broken = _contradiction(asked, _onward(world, last, one) if one.kind == "point" else world, legs)
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


def _contradiction(asked: Question, world: _World, legs: tuple[Leg, ...]) -> Reason | None:
    """An equation that does not hold: between givens, or between a given and what follows from the others.

    What follows is worked out from the givens and the defaults of the route; for equations that were named, from all
    defaults.
    """
    on_route = {name for leg in legs for name in leg.equation.symbols}
    given = {n: v for n, v in world.values.items() if n in asked.known or n in on_route or n not in NEUTRAL_DEFAULTS}
    clash = _broken(asked.active, _followed(asked.active, given))
    unused = tuple(row for row in asked.named if all(row is not leg.equation for leg in legs))
    if clash or not unused:
        return clash
    return _broken(unused, _followed(asked.active, {**NEUTRAL_DEFAULTS, **world.values}))


def _followed(active: tuple[Equation, ...], values: Mapping[str, float]) -> dict[str, float]:
    """All that the values lead to by putting them into right sides."""
    known = dict(values)
    while True:
        new = {
            row.symbols[0]: row.right_side(known)
            for row in reversed(active)
            if row.sense == "=" and row.symbols[0] not in known and all(n in known for n in row.symbols[1:]) and not row.violated(known)
        }
        if not new:
            return known
        known |= new


def _broken(rows: tuple[Equation, ...], values: Mapping[str, float]) -> Reason | None:
    """The first equation whose quantities are all known and that does not hold, with the numbers."""
    for row in rows:
        if row.sense != "=" or not all(name in values for name in row.symbols) or residual(row, values) <= AGREES:
            continue
        left = row.symbols[0]
        others = ", ".join(f"{name} = {show(name, values[name])}" for name in row.symbols[1:])
        made = show(left, row.right_side(values))
        message = f"contradiction: {left} = {show(left, values[left])}; {row.id} makes it {made} from {others}"
        return Reason("contradiction", violated=(f"{left} = {row.sides[1]}",), message=message)
    return None


def _missing(asked: Question, known: Mapping[str, float]) -> Reason:
    """The shortest list of givens that would settle the question, by the equation that defines it if one does."""
    unknown = asked.unknown
    rows = [row for row in asked.active if unknown in row.symbols and row.sense == "="]
    if not rows:
        joinable = ", ".join(row.id for row in by_id().values() if unknown in row.symbols)
        return Reason("missing_givens", message=f"{unknown} is in no equation that joins by itself; name one with --using: {joinable}")
    lists = [(row, _leaves(asked, row, unknown, known, frozenset())) for row in rows]
    lists.sort(key=lambda pair: (pair[0].defines != unknown, len(pair[1])))
    tangled = next((row for row, names in lists if all(_rests_on(asked, name, unknown) for name in names)), None)
    if tangled is not None and lists[0][0].defines != unknown:
        direct = tuple(name for name in tangled.symbols if name != unknown and name not in known)
        message = (
            f"{unknown} sits in several equations at once ({tangled.id} and what defines {_listed(direct)}),"
            f" which this version does not solve together; it would follow from {_listed(direct)}"
        )
        return Reason("simultaneous", missing=direct, message=message)
    missing = lists[0][1]
    others = [(other, names) for other, names in lists[1:2] if names != missing]
    message = "; or ".join(f"{_listed(names)} ({row.id})" for row, names in [lists[0], *others])
    return Reason("missing_givens", missing=missing, message=f"{unknown} needs also {message}")


def _rests_on(asked: Question, name: str, unknown: str) -> bool:
    """Whether the equation that defines a quantity speaks of the unknown."""
    return any(row.defines == name and unknown in row.symbols for row in asked.active)


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _leaves(asked: Question, row: Equation, unknown: str, known: Mapping[str, float], seen: frozenset[str]) -> tuple[str, ...]:
    """What is not known of an equation, each replaced by what defines it where that is in play."""
    leaves: dict[str, None] = {}
    for name in row.symbols:
        if name == unknown or name in known or name in seen:
            continue
        definition = next((other for other in asked.active if other.defines == name and other is not row), None)
        below = _leaves(asked, definition, name, known, seen | {unknown, name}) if definition else ()
        leaves.update(dict.fromkeys(below if definition else (name,)))
    return tuple(leaves)


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
