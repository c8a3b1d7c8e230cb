"""A route with numbers: every equation of it solved in turn, and every answer held against all that was given.

An equation with several points forks it, and one that leaves its quantity open stops it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from itertools import product
from math import inf, isclose, isfinite
from types import MappingProxyType

from derive.answers import SHORT
from derive.catalogue.assumed import OF_MIXTURES
from derive.evaluate import evaluate
from derive.expressions.branches import in_force, regimes_of
from derive.immutable import immutable
from derive.presets import ARCHITECTURES, PARAMETERS
from derive.quantities import QUANTITIES, quantity
from derive.records import CHAINED_BY_ITSELF, ESTIMATE, Equation, right_side_at
from derive.requirements import HOLDS
from derive.solving.blocks import Joint
from derive.solving.caveats import caveats, left_to_assumptions, less_than_one
from derive.solving.chip_links import as_assumption, as_given
from derive.solving.consistency import contradiction
from derive.solving.directions import direction_at, taken_for_granted
from derive.solving.fit import chips_of_links, is_warning, memory_is_made_of, misfit
from derive.solving.one_equation import inside, solve_equation
from derive.solving.questions import OF_DENSE, Question, taken_as_known
from derive.solving.result import Answer, Reason, RouteStep, Solution, WhenRead, shown_end
from derive.solving.route import Failed, Leg, Route, checks
from derive.solving.speed_limits import result_with
from derive.trees import names
from derive.units import show

_Outcome = tuple[tuple[Answer, ...], Reason | None]

_Ends = tuple[float, float | None]

_Rounding = Mapping[str, float]


@immutable(kw_only=False)
class Stop:
    """A leg that gave no number to go on with, and why."""

    leg: Leg
    reason: Reason


@immutable
class _World:
    """What is known so far on one way through points: values, how each moves with what was given, and with its last digits."""

    values: Mapping[str, float]
    slopes: Mapping[str, Mapping[str, float]]
    rounding: _Rounding = field(default_factory=dict)
    steps: tuple[RouteStep, ...] = ()
    warnings: Mapping[str, str] = field(default_factory=dict)


@immutable
class _End:
    """What the last leg of a route found in a world, the world that it leads to, and all the points that were found with it."""

    world: _World
    end: _World
    found: Answer
    roots: Sequence[float]


_SOMEWHERE = (0.5, 0.0, 1.0, 0.25, 0.75)

"""Where, from the smallest to the largest that is not absurd, values of what cancels are tried."""


_NUDGE, _LOST, _LAST_DIGIT = 1e-6, 1e8, 1e-15

"""Relative change of a quantity to see what it moves; by how much last digits may be magnified (half of all are left), and these."""


_SEVERAL = (1.0, 8.0, 72.0)

"""Numbers of chips at which it is looked whether they cancel."""


NOT_NEEDED = " was named and is not needed"
"""How what is said of an equation ends that was named for nothing."""


LEAVES_OPEN = ("not_identified", "missing_givens")

"""Reasons of a leg that may have an answer all the same, if more were known."""


def left_unused(asked: Question, touched: Set[str]) -> tuple[str, ...]:
    """What somebody gave and an answer did not take."""
    of_dense = {*PARAMETERS} if OF_DENSE in asked.provenance.values() else set()
    told = [asked.supposed[one] for one in touched if one in asked.supposed]
    behind = {name for name in asked.known if any(as_given(name) in text for text in told)}
    return tuple(name for name, source in asked.provenance.items() if source == "given" and name not in touched | of_dense | behind)


def follow(asked: Question, known: Mapping[str, float], way: Route) -> Solution | Stop:
    """The route with numbers: an equation with several points forks it, one with none or an interval stops it.

    So does one that leaves the quantity open in any of the worlds: what the others come to would not be all there is.
    """
    ended = _ended(asked, known, way)
    if isinstance(ended, Stop):
        return ended
    if not isinstance(ended, list):
        return without_answer(asked, *ended)
    answers = ((_shown(way, one.world, one.end, one.found), _answer(asked, way, one)) for one in ended)
    return _solution(asked, known, way, [*answers])


def _ended(asked: Question, known: Mapping[str, float], way: Route) -> list[_End] | tuple[Reason, tuple[RouteStep, ...]] | Stop:
    """Where a route comes to with numbers: its ends; or what they contradict, with the steps up to there; or where it stops."""
    worlds = [_World(values=known, slopes={name: {name: 1.0} for name in known})]
    *before, last = way.legs
    for leg in before:
        outcomes = [(world, *solve_leg(leg, world.values, world.rounding)) for world in worlds]
        if reason := _left_open(leg, outcomes):
            return Stop(leg, reason)
        worlds = [_onward(world, leg, one) for world, answers, _ in outcomes for one in answers]
        if not worlds:
            return Stop(leg, next(reason for *_, reason in outcomes if reason))
    ends: list[_End] = []
    clash: Reason | None = None
    nothing: Reason | None = None
    for world in worlds:
        found, reason = solve_leg(last, world.values, world.rounding)
        if reason and reason.code in LEAVES_OPEN:
            return Stop(last, reason)
        nothing = reason
        roots = [one.point for one in found if one.kind == "point"]
        for one in found:
            end, broken = _checked(asked, way, world, one)
            clash = clash or broken
            ends += [] if broken else [_End(world=world, end=end, found=one, roots=roots)]
    if ends:
        return ends
    if clash:
        return clash, worlds[0].steps
    # Where the last world has no answer there is a reason; where it has one that does not hold, a clash.
    assert nothing is not None, "no answer and no reason"
    return Stop(last, nothing)


def _answer(asked: Question, way: Route, one: _End) -> Answer:
    """What the last leg found, as an answer of the whole route."""
    found, values = one.found, one.end.values
    causes = taken_for_granted(asked, way, values)
    bound = direction_at(way, causes, values, one.roots) if found.kind == "point" else None
    return replace(found, elasticities=_chained(found, one.world), regime=_regime(way, values, found), bound=bound)


def _shown(way: Route, world: _World, end: _World, found: Answer) -> _World:
    """The world that is shown of an answer: of an interval the one at its end, the upper of two, as far as it can be worked out there."""
    if found.kind == "point":
        return end
    bound, steps = shown_end(found), (*world.steps, _step(way.legs[-1], found))
    if bound is None or way.cancelled:
        return replace(end, steps=steps)
    at = {way.legs[-1].unknown: bound}
    worlds, _ = _completed(way, replace(world, values={**world.values, **at}, steps=steps))
    return replace(worlds[0], warnings=end.warnings) if worlds else replace(end, values={**end.values, **at}, steps=steps)


def _left_open(leg: Leg, outcomes: Sequence[tuple[_World, tuple[Answer, ...], Reason | None]]) -> Reason | None:
    """Why a leg is no way on: in one of the worlds its quantity is only bounded, or turns on what nothing determines."""
    for _, answers, reason in outcomes:
        if reason and reason.code in LEAVES_OPEN:
            return reason
        if loose := next((one for one in answers if one.kind != "point"), None):
            return _within_bounds(leg, loose)
    return None


def _checked(asked: Question, way: Route, world: _World, found: Answer) -> tuple[_World, Reason | None]:
    """The world an answer leads to, with all else that its blocks determine, and what contradicts it."""
    start = replace(world, values={**world.values, asked.unknown: inside(found)}, steps=(*world.steps, _step(way.legs[-1], found)))
    if way.cancelled:
        possible, reason = _witnessed(way, start)
        ends = [start] if possible else []
    else:
        ends, reason = _completed(way, start)
    clash: Reason | None = None
    for end in ends:
        known = end.values if found.kind == "point" else world.values
        short = misfit(asked, known, way.rows)
        answered = end
        if short and only_said(asked, way):
            told = "; ".join((*short.message.split("\n"), *_over_more_links(asked, known, way)))
            answered, short = replace(end, warnings={SHORT: told}), None
        wrong = contradiction(asked, known, way.rows) or short
        if not wrong:
            return answered, None
        clash = clash or wrong
    return start, clash or reason


def _over_more_links(asked: Question, known: Mapping[str, float], way: Route) -> Iterator[str]:
    """What a time over the links of chips comes to with as many as hold the weights."""
    chips = chips_of_links(asked, known, way.rows)
    if chips and (found := result_with(asked, asked.unknown, {"chips": float(chips)})):
        yield f"with chips={chips} {asked.unknown} = {show(asked.unknown, found)}"


def only_said(asked: Question, way: Route) -> bool:
    """Whether short memory is only said: as `is_warning` has it, and where nobody spoke of chips and their number cancels.

    What is the same on any number of chips is the same on as many as hold it.
    """
    if is_warning(asked, way) or "chips" not in asked.defaults or "chips" in way.solved:
        return is_warning(asked, way)
    known = [*taken_as_known(asked)][-1]
    found = (_ended(replace(asked, anyway=True), {**known, "chips": chips}, way) for chips in _SEVERAL)
    ends = ([one.found.ends for one in each] if isinstance(each, list) else [] for each in found)
    first = next(ends)
    return bool(first) and all(_are_alike(each, first) for each in ends)


def _are_alike(some: Sequence[_Ends], others: Sequence[_Ends]) -> bool:
    """Whether answers are the same but for rounding."""
    pairs = [pair for one, other in zip(some, others, strict=False) for pair in zip(one, other, strict=True)]
    same = (one == other or (one is not None and other is not None and isclose(one, other, rel_tol=HOLDS)) for one, other in pairs)
    return len(some) == len(others) and all(same)


def _witnessed(way: Route, start: _World) -> tuple[bool, Reason | None]:
    """Whether what cancelled can have values at which all equations of the blocks hold too, and if not, what fails at the last."""
    free = [name for name in way.cancelled if name not in start.values]
    reason = None
    for values in _anywhere(free):
        ends, reason = _completed(way, replace(start, values={**start.values, **values}))
        if ends:
            return True, None
    return False, reason


def _anywhere(names: Sequence[str]) -> Iterator[dict[str, float]]:
    """Values of quantities that can be anything: all of them small, all large, then every mixture of some sizes."""
    sizes = {name: [quantity(name).anywhere(share) for share in _SOMEWHERE] for name in names}
    return (dict(zip(names, values, strict=True)) for values in product(*sizes.values()))


def _completed(way: Route, start: _World) -> tuple[list[_World], Reason | None]:
    """The world with what else its blocks determine: one for every way that is consistent, or why there is none."""
    failed: Failed = frozenset()
    while True:
        worlds, stop = [start], None
        for leg in checks(way, frozenset(start.values), failed):
            outcomes = [(world, *solve_leg(leg, world.values, world.rounding)) for world in worlds]
            worlds = [_onward(world, leg, one) for world, found, _ in outcomes for one in found if one.kind == "point"]
            if not worlds:
                found, reason = outcomes[0][1:]
                stop = Stop(leg, reason or _within_bounds(leg, found[0]))
                break
        if stop is None or stop.reason.code != "not_identified":
            break
        failed |= {(stop.leg.id, stop.leg.unknown)}
    # A case of a block is only a candidate: every equation of the block has to be held against it.
    cases = {row for leg in way.legs if len(leg.cases) > 1 for row in leg.rows}
    sure = [world for world in worlds if all(name in world.values for row in cases for name in row.symbols)]
    open_case = Reason(code="not_identified", message=f"{way.legs[-1].unknown} has candidates that not all equations can be held against")
    return sure, stop.reason if stop else open_case


def solve_leg(leg: Leg, values: Mapping[str, float], rounding: _Rounding = MappingProxyType({})) -> _Outcome:
    """The answers of all cases of a leg, each point once; where it takes cases, one that only bounds it leaves it open.

    A case whose regime turns on what nothing determines is not passed over: nothing is answered while it may hold.
    `rounding` says by how much last digits were magnified in what was worked out before.
    """
    if isinstance(leg.cases[0], Equation):
        return _sure(leg.cases[0], leg.unknown, values, rounding)
    joints = [case for case in leg.cases if isinstance(case, Joint)]
    if open_case := next((case for case in joints if _may_hold(case, leg.unknown, values)), None):
        return (), _undecided(leg.unknown, open_case)
    cases = [case for case in joints if not case.open and not case.idle]
    possible = [case for case in cases if not case.ruled_out(values)]
    outcomes = [_sure(case, leg.unknown, values, rounding) for case in possible or cases]
    if len(outcomes) == 1:
        return outcomes[0]
    if left_open := next((reason for _, reason in outcomes if reason and reason.code in LEAVES_OPEN), None):
        return (), left_open
    found: list[Answer] = []
    for one in (one for answers, _ in outcomes for one in answers):
        if one.kind != "point":
            return (), _within_bounds(leg, one)
        found += [] if any(isclose(one.point, other.point, rel_tol=HOLDS) for other in found) else [one]
    undetermined = Reason(code="not_identified", message=f"{leg.unknown} is not determined by {leg.cases[0].told}")
    reasons = [reason or undetermined for _, reason in outcomes]
    return tuple(found), None if found else reasons[0]


def _sure(case: Equation | Joint, unknown: str, values: Mapping[str, float], rounding: _Rounding) -> _Outcome:
    """The answers of a case; none where a point may be made of nothing but the rounding of what it was worked out from."""
    found, reason = solve_equation(case, unknown, values)
    if isinstance(case, Equation) and not any(name in rounding for name in case.symbols):
        return found, reason
    if isinstance(case, Joint) and all(row.sense == "=" for row in case.rows) and any(_is_anything(unknown, one) for one in found):
        return (), Reason(code="not_identified", message=f"{unknown} is not determined by {case.told}")
    for one in (one for one in found if one.kind == "point"):
        at = {**values, unknown: one.point}
        magnified = _rounding(case, unknown, at, rounding)
        if magnified > _LOST or _at_an_edge(case, unknown, at, magnified * _LAST_DIGIT):
            message = f"{unknown} cannot be told from these givens: what their last digits do not say decides it in {case.told}"
            return (), Reason(code="not_identified", message=message)
    return found, reason


def _is_anything(unknown: str, found: Answer) -> bool:
    """Whether an answer is all that the unknown can be: of several equations that say the same thing twice."""
    row = QUANTITIES[unknown]
    return found.kind == "interval" and found.least <= row.floor and found.high in (None, row.ceiling)


def _at_an_edge(case: Equation | Joint, unknown: str, at: Mapping[str, float], error: float) -> bool:
    """Whether a relative error of the unknown decides which of two terms is the larger: beyond, the unknown would not bind."""
    beside = [{**at, unknown: at[unknown] * (1 + sign * error)} for sign in (1, -1)]
    pairs = (pair for regime in regimes_of(case) for pair in regime.wins)
    held = (pair for pair in pairs if any(unknown in names(side) for side in pair))
    return any(len({evaluate(larger, one) > evaluate(smaller, one) for one in beside}) > 1 for larger, smaller in held)


def _rounding(case: Equation | Joint, unknown: str, values: Mapping[str, float], rounding: _Rounding) -> float:
    """By how much the last digits of what was given are magnified in the unknown."""

    def height(at: Mapping[str, float]) -> float:
        return case.left_side(at) - right_side_at(case, at)

    def moves(name: str) -> float:
        """How far the sides come apart; at the edge of where they are defined, to the one side that there is."""
        beside = (height({**values, name: values[name] * (1 + sign * _NUDGE)}) for sign in (1, -1))
        return max((abs(one - here) for one in beside if isfinite(one)), default=0.0)

    if values[unknown] == 0:
        # Made of a factor that is nothing at all: there is no last digit to be lost.
        return 1.0
    here = height(values)
    slope = moves(unknown)
    total = sum(rounding.get(name, 1.0) * move for name in case.symbols if name != unknown and (move := moves(name)))
    return total / slope if slope else inf


def _may_hold(case: Joint, unknown: str, values: Mapping[str, float]) -> bool:
    """Whether a case that does not give the unknown, or turns on what nothing determines, can be in force all the same."""
    if case.ruled_out(values):
        return False
    return case.idle or case.breaks_down(values, unknown) or bool(case.open and solve_equation(case, unknown, values)[0])


def _undecided(unknown: str, case: Joint) -> Reason:
    """Which regime may be in force without giving an answer, and what would decide it."""
    regime = f" where {case.regime}" if case.regime else ""
    if not case.open:
        return Reason(code="not_identified", message=f"{unknown} can be anything{regime}, and that may be so here")
    names = " and ".join(case.open)
    return Reason(
        code="missing_givens", missing=case.open, message=f"{unknown} needs also {names}: without, it may be{regime or ' anything'}"
    )


def _within_bounds(leg: Leg, interval: Answer) -> Reason:
    low, high = (None if end is None else show(leg.unknown, end) for end in (interval.low or None, interval.high))
    bounds = " and ".join(text for text in (low and f"at least {low}", high and f"at most {high}") if text) or "any value"
    message = f"{leg.unknown} does not bind in {leg.cases[0].told}, so only its bounds are known: {bounds}"
    return Reason(code="not_identified", message=message)


def _onward(world: _World, leg: Leg, point: Answer) -> _World:
    values = {**world.values, leg.unknown: point.point}
    known = [case for case in leg.cases if values.keys() >= {*case.symbols}]
    return _World(
        values=values,
        slopes={**world.slopes, leg.unknown: _chained(point, world)},
        rounding={
            **world.rounding,
            leg.unknown: max((_rounding(case, leg.unknown, values, world.rounding) for case in known), default=1.0),
        },
        steps=(*world.steps, _step(leg, point)),
    )


def _step(leg: Leg, found: Answer) -> RouteStep:
    references, alternatives = (row.reference for row in leg.rows), (row.id for row in leg.alternatives)
    return RouteStep(
        equations=tuple(references), unknown=leg.unknown, value=found.value, formula=found.formula, alternatives=tuple(alternatives)
    )


def _regime(way: Route, values: Mapping[str, float], found: Answer) -> str | None:
    """The terms that bind along a route, in words; the equation that gave the answer says so itself."""
    last = way.legs[-1].rows
    binding = [in_force(row, values) for row in way.rows if (row,) != last]
    itself = found.regime if len(last) == 1 or way.cancelled else None
    return " and ".join(dict.fromkeys(label for label in (*binding, itself) if label)) or None


def _chained(found: Answer, world: _World) -> Mapping[str, float]:
    """Elasticities with respect to what was given, by the chain rule along the route."""

    def total() -> dict[str, float]:
        sums: dict[str, float] = {}
        for name, slope in found.elasticities.items():
            for base, inner in world.slopes.get(name, {}).items():
                sums[base] = sums.get(base, 0.0) + slope * inner
        return sums

    return WhenRead(total)


def _solution(asked: Question, known: Mapping[str, float], way: Route, ends: list[tuple[_World, Answer]]) -> Solution:
    used = way.rows
    touched = {name for row in used for name in (*row.symbols, *row.put_in) if name in known}
    touched |= {asked.nothing[name] for name in touched if name in asked.nothing}
    answers = tuple(one for _, one in ends)
    doubts = {} if asked.silent else caveats(asked, ends[0][0].values, used)
    said = {**ends[0][0].warnings, **less_than_one(asked.unknown, answers), **{name: one.text for name, one in doubts.items()}}
    left = left_unused(asked, touched.union(*(one.rests for one in doubts.values())))
    against = memory_is_made_of(asked, ends[0][0].values, used, left)
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=answers,
        equations=tuple(row.reference for row in used),
        given={name: known[name] for name in known if name in touched},
        assumptions=tuple(dict.fromkeys((*rests_on(asked, known, way, touched), *left_to_assumptions(asked, touched, doubts)))),
        unused=tuple(name for name in left if name not in against),
        warnings=tuple(said.values()),
        kinds=tuple(said),
        provenance={name: asked.provenance.get(name, "default") for name in known if name in touched},
        route=ends[0][0].steps,
        further=tuple(world.steps for world, _ in ends[1:]),
    )


def rests_on(asked: Question, known: Mapping[str, float], way: Route, touched: set[str]) -> tuple[str, ...]:
    """Defaults and variants taken, conditions joined by name, what cancels, and what each equation idealises."""
    used = way.rows
    cancelled = [f"{name} cancels: it may be anything that the rest allows" for name in way.cancelled]
    led = {name: other for name, other in asked.defaults.items() if isinstance(other, str)}
    taken_up = {name: f"{value:g}" for name, value in known.items() if name in touched and name not in asked.known}
    # What follows a quantity that is asked for or worked out has no number beforehand.
    put_in = dict.fromkeys(name for row in used for name in row.put_in)
    taken_up |= {name: led[name] for name in put_in if name in led and name not in known}
    why = {name: f"default: {led[name]}" for name in taken_up if name in led and known.get(name, 1) != 1}
    defaults = [f"{name} = {value} ({why.get(name, 'default')})" for name, value in taken_up.items()]
    taken = [f"{row.variant.group}: {row.variant.name} ({row.id})" for row in used if row.variant]
    joined = [f"{row.id} is a {row.kind}, joined by name" for row in used if row.kind not in CHAINED_BY_ITSELF]
    joined += [f"{row.id} is an estimate: it bounds nothing" for row in used if row.kind == ESTIMATE]
    chosen = {(row.variant.group, row.variant.name) for row in used if row.variant}
    # A variant that was named chooses those of its group and name, whichever of them is needed.
    needed = (row for row in asked.named if row in used or (row.variant and (row.variant.group, row.variant.name) in chosen))
    idle = [f"{row.id}{NOT_NEEDED}" for row in asked.named if row not in {*needed}]
    dense = "total_params" in known and known["total_params"] == known.get("active_params")
    idealised = [text for row in used for text in row.assumptions if not (dense and text in OF_MIXTURES)]
    of_presets = [name for name in touched if asked.provenance.get(name, "given") != "given"]
    switches = asked.conventions.stated((name for row in used for name in row.symbols), of_presets)
    weights = _weights(asked) if "bytes_per_weight" in touched else ()
    supposed = [as_assumption(name, asked.known[name], why) for name, why in asked.supposed.items() if name in touched & asked.known.keys()]
    return tuple(dict.fromkeys((*asked.notes, *supposed, *defaults, *cancelled, *switches, *weights, *taken, *joined, *idle, *idealised)))


def _weights(asked: Question) -> tuple[str, ...]:
    """What the weights are stored as where it is the model that says so, and not the chip."""
    place, _, said = asked.provenance.get("bytes_per_weight", "").partition(": ")
    return (f"{said} ({place}): give bytes_per_weight for another type",) if place.startswith(ARCHITECTURES) else ()


def without_answer(asked: Question, reason: Reason, steps: tuple[RouteStep, ...] = ()) -> Solution:
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
