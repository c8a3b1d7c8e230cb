"""Several equations, any unknown: a route with numbers, every answer held against all that was given.

Defining equations and bounds join by themselves, one variant of a group; conditions, heuristics and empirical
relations join when named. Neutral defaults are taken up only when the givens alone do not reach the unknown.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, isclose, isfinite, log
from types import MappingProxyType

from derive.evaluate import evaluate
from derive.expressions.regimes import in_force, regimes
from derive.presets import ARCHITECTURES
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.records import CHAINED_BY_ITSELF, ESTIMATE, LOWER, UPPER, Equation
from derive.requirements import HOLDS
from derive.solving.backwards import Backwards, backwards
from derive.solving.caveats import caveats, less_than_one
from derive.solving.consistency import against_defaults, contradiction, impossible
from derive.solving.defaults import FOLLOWS, MAY_DIFFER, following, leads
from derive.solving.directions import direction_at, taken_for_granted
from derive.solving.elimination import Joint
from derive.solving.fit import SHORT, is_warning, misfit
from derive.solving.one_equation import inside, right_side_at, solve_equation
from derive.solving.questions import Question
from derive.solving.refusals import indifferent, missing_givens
from derive.solving.result import Answer, Reason, RouteStep, Solution, WhenRead
from derive.solving.route import Failed, Leg, Route, bounding, checks, route
from derive.units import show

Outcome = tuple[tuple[Answer, ...], Reason | None]
Rounding = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Stop:
    """A leg that gave no number to go on with, and why."""

    leg: Leg
    reason: Reason


@dataclass(frozen=True, slots=True)
class _World:
    """What is known so far on one way through points: values, how each moves with what was given, and with its last digits."""

    values: Mapping[str, float]
    slopes: Mapping[str, Mapping[str, float]]
    rounding: Rounding = field(default_factory=dict)
    steps: tuple[RouteStep, ...] = ()
    warnings: Mapping[str, str] = field(default_factory=dict)


SIZES = (0.5, 0.0, 1.0, 0.25, 0.75)
"""Where, from the smallest to the largest that is not absurd, values of what cancels are tried."""

NUDGE, LOST, LAST_DIGIT = 1e-6, 1e8, 1e-15
"""Relative change of a quantity to see what it moves; by how much last digits may be magnified (half of all are left), and these."""

OPEN = ("not_identified", "missing_givens")
"""Reasons of a leg that may have an answer all the same, if more were known."""


def answer(asked: Question) -> Solution:
    """The question answered: first from the givens alone, then with neutral defaults."""
    return answered(asked)[0]


def answered(asked: Question) -> tuple[Solution, Route | None]:
    """The answer, and the route it took if there is one.

    A given that the defaults would make another says what one of them is, the one that has to give least: a measured
    time its utilisation. One that none of them could bring about is a contradiction.
    """
    solution, way = _answered(asked)
    notes: tuple[str, ...] = ()
    if solution.reason and solution.reason.code == "contradiction":
        # A measured result against a default that the route rests on: what the default is instead may resolve it.
        settled, notes, clash = _settled(asked, asked.known)
        if clash:
            first, *fewest = solution.reason.message.splitlines()
            # Two values of what is asked for say more than that a given is another.
            told = first if first.startswith(f"contradiction: {asked.unknown} = ") else clash.message
            return _without_answer(asked, replace(clash, message="\n".join((told, *fewest))), solution.route), None
        instead = {name: "follows from the givens" for name in settled if name not in asked.known}
        if not instead:
            return solution, way
        asked = replace(asked, known=settled, provenance={**asked.provenance, **instead})
        solution, way = _answered(asked)
    if not solution.answers:
        return solution, way
    if solution.answers[0].kind != "point":
        clash = impossible(asked, asked.known)
        return (_without_answer(asked, clash, solution.route), None) if clash else (solution, way)
    found = {**asked.known, asked.unknown: solution.answers[0].value}
    _, more, clash = _settled(asked, found)
    clash = clash or impossible(asked, found)
    if clash:
        return _without_answer(asked, clash, solution.route), None
    return replace(solution, assumptions=(*notes, *more, *solution.assumptions)), way


def _settled(asked: Question, known: Mapping[str, float]) -> tuple[dict[str, float], tuple[str, ...], Reason | None]:
    """What is known with the defaults that results contradict put right, how, and what no default explains."""
    settled, notes = dict(known), []
    while beyond := against_defaults(asked, settled):
        row, reason = beyond
        found = list(_instead_of_a_default(asked, settled, row))
        if not found:
            message = f"{reason.message}, and no default could be anything that makes it so"
            return settled, (*notes,), replace(reason, message=message)
        name, value = min(found, key=lambda one: abs(log(one[1] / NEUTRAL_DEFAULTS[one[0]])))
        settled[name] = value
        notes.append(f"{name} = {show(name, value)} follows from the givens ({row.id})")
    return settled, (*notes,), None


def _instead_of_a_default(asked: Question, known: Mapping[str, float], row: Equation) -> Iterator[tuple[str, float]]:
    """What a quantity with a default would have to be for an equation to hold; of what is one at least, nothing below one."""
    for name in (name for name in MAY_DIFFER if name not in known):
        solution, _ = _answered(replace(asked, unknown=name, known=known, anyway=True))
        least = (1 - HOLDS) if QUANTITIES[name].low >= 1 else 0.0
        for value in (one.value for one in solution.answers if one.kind == "point" and one.value >= least):
            beyond = against_defaults(asked, {**known, name: value})
            # A count may be more than its default and a share less; half a chip or token is no way out.
            possible = value >= 1 or QUANTITIES[name].limits()[1] == 1
            if possible and (beyond is None or beyond[0] is not row):
                yield name, value


def _answered(asked: Question) -> tuple[Solution, Route | None]:
    """By equations alone where they lead to the unknown; else inequalities say what bounds it."""
    equalities = tuple(row for row in asked.active if row.sense == "=")
    for rows in (equalities, asked.active):
        stops: list[tuple[_Stop, Route]] = []
        outcome = _by(asked, rows, stops)
        if not outcome and not stops and rows is equalities and (behind := _behind(asked)):
            return behind, None
        if outcome and rows is asked.active and not _says_something(asked, outcome[0]):
            outcome = None
        if outcome or stops:
            break
    if not outcome and not stops:
        outcome = _bounded(asked, stops)
    if outcome and rows is asked.active and (aside := _left_aside(asked, outcome[0])):
        return _without_answer(asked, aside), None
    if outcome:
        return outcome
    known = [*_known(asked)][-1]
    if free := indifferent(asked, known):
        return _without_answer(asked, free), None
    return _without_answer(asked, _told(asked, stops) if stops else missing_givens(asked, known)), None


def _behind(asked: Question) -> Solution | None:
    """What was asked for from a given result, found by going forwards; None where nothing that was given rests on it."""
    known = [*_known(asked)][-1]
    found = None if indifferent(asked, known) else backwards(asked, known)
    return _turned_round(asked, found) if found else None


def _turned_round(asked: Question, found: Backwards) -> Solution:
    """What a result comes to at every value that leads to it, as answers of the quantity that was asked for."""
    name, unknown = found.name, asked.unknown
    target = asked.known[name]
    if found.flat:
        ends = " to ".join(show(unknown, end) for end in found.flat)
        message = f"{name} is {show(name, target)} with any {unknown} from about {ends}"
        return _without_answer(asked, Reason("not_identified", violated=(name,), message=message))
    if not found.roots:
        least, most = (show(name, end) for end in found.reach)
        message = f"no {unknown} leads to {name} = {show(name, target)}: it runs from {least} to {most} over all {unknown}"
        return _without_answer(asked, Reason("no_solution", violated=(name,), message=message))
    worlds = [_there(asked, name, root) for root in found.roots]
    ends = [(root, one) for root, one in zip(found.roots, worlds, strict=True) if one.answers]
    if not ends:
        return _without_answer(asked, worlds[0].reason)
    answers = tuple(_answer_behind(one.answers[0], name, target, unknown, root, found) for root, one in ends)
    first = ends[0][1]
    given = {other: value for other, value in first.given.items() if other != unknown} | {name: target}
    said = {**dict(zip(first.kinds, first.warnings, strict=True)), **less_than_one(unknown, answers)}
    return replace(
        first,
        unknown=unknown,
        unit=QUANTITIES[unknown].unit,
        answers=answers,
        given=given,
        provenance={other: asked.provenance.get(other, "default") for other in given},
        unused=_unused(asked, {*given}),
        warnings=tuple(said.values()),
        kinds=tuple(said),
        route=(),
    )


def _there(asked: Question, name: str, root: float) -> Solution:
    """The result asked for at a value of what was asked."""
    known = {**{other: value for other, value in asked.known.items() if other != name}, asked.unknown: root}
    forwards = replace(asked, unknown=name, known=known)
    outcome = _by(forwards, tuple(row for row in asked.active if row.sense == "="), [])
    return outcome[0] if outcome else _without_answer(forwards, missing_givens(forwards, known))


def _answer_behind(result: Answer, name: str, target: float, unknown: str, root: float, found: Backwards) -> Answer:
    """The value of the unknown behind a result, which moves as the result does turned round, and errs the other way where that rises."""
    bound = {True: {LOWER: UPPER, UPPER: LOWER}.get(result.bound), False: result.bound}.get(found.rises)

    def slopes() -> Mapping[str, float]:
        steep = result.elasticities.get(unknown, 0.0)
        moved = {other: -slope / steep for other, slope in result.elasticities.items() if other != unknown} if steep else {}
        return {**moved, name: 1 / steep} if steep else {}

    apart = abs(inside(result) / target - 1) if target else abs(inside(result))
    return Answer("point", value=root, regime=result.regime, elasticities=WhenRead(slopes), residual=apart, bound=bound)


def _told(asked: Question, stops: Sequence[tuple[_Stop, Route]]) -> Reason:
    """Why there is no answer: where nothing will do on the first way, in terms of what is asked if another way says so.

    What can be reached is not said of a quantity that others on the way were worked out from.
    """
    first = stops[0][0].reason
    if first.code != "no_solution":
        return first
    plain = (stop.reason for stop, way in stops if stop.leg.unknown == asked.unknown and not _turns_on_itself(way, stop.leg))
    return next((reason for reason in plain if reason.code == first.code), first)


def _turns_on_itself(way: Route, leg: Leg) -> bool:
    """Whether the left side of a leg went into what its right side is made of."""
    left = leg.cases[0].symbols[0]
    return any(left in one.symbols and one.unknown in leg.symbols for one in way.legs if one is not leg)


def _left_aside(asked: Question, bounded: Solution) -> Reason | None:
    """A result that was given, rests on the unknown and has no part in its bounds: these are not what was asked for."""
    free = indifferent(asked, [*_known(asked)][-1])
    if free and free.violated[0] in _unused(asked, {*bounded.given}):
        return free
    definitions = {row.defines: row for row in (*asked.left_out, *asked.active) if row.defines}
    for name in (name for name in _unused(asked, {*bounded.given}) if name in definitions):
        rests, queue = {name: definitions[name]}, [name]
        while queue:
            row = definitions.get(queue.pop())
            new = [other for other in (row.symbols if row else ()) if other not in asked.known and other not in rests]
            rests |= dict.fromkeys(new, row)
            queue += new
        if asked.unknown in rests:
            told = f"{name} = {show(name, asked.known[name])} says something of {asked.unknown}"
            untrue = [row.id for row in asked.left_out if row in rests.values()]
            if untrue:
                why = f"by {', '.join(untrue)}, which is left out, as not all that this model reads grows with its context"
                return Reason("not_identified", violated=tuple(untrue), message=f"{told} {why}")
            rest = missing_givens(asked, [*_known(asked)][-1])
            return replace(rest, message=f"{told}, but not what with these givens alone: {rest.message}")
    return None


def _unused(asked: Question, touched: Set[str]) -> tuple[str, ...]:
    """What somebody gave and an answer did not take."""
    return tuple(name for name, source in asked.provenance.items() if source == "given" and name not in touched)


def _by(asked: Question, rows: tuple[Equation, ...], stops: list[tuple[_Stop, Route]]) -> tuple[Solution, Route] | None:
    """The first answer that a route through these equations gives; `stops` collects where routes ended."""
    for known in _known(asked):
        failed: Failed = frozenset()
        here = len(stops)
        while (way := route(asked.unknown, rows, frozenset(known), failed)) is not None:
            outcome = _follow(asked, known, way)
            if isinstance(outcome, Solution):
                return outcome, way
            stops.append((outcome, way))
            failed |= {(outcome.leg.id, outcome.leg.unknown)}
        for stop, way in stops[here:]:
            carried = way.carried(stop.leg) if stop.reason.code == "not_identified" else None
            outcome = _follow(asked, known, carried) if carried else None
            if isinstance(outcome, Solution) and outcome.answers:
                return outcome, carried
    return None


def _bounded(asked: Question, stops: list[tuple[_Stop, Route]]) -> tuple[Solution, Route] | None:
    """What inequalities on quantities that are made of the unknown leave of it."""
    for known in _known(asked):
        for way in bounding(asked.unknown, asked.bounds, asked.active, frozenset(known)):
            outcome = _follow(asked, known, way)
            if isinstance(outcome, _Stop):
                stops.append((outcome, way))
            elif _says_something(asked, outcome):
                return outcome, way
    return None


def _says_something(asked: Question, bounded: Solution) -> bool:
    """Whether bounds are more than the domain of the unknown and rest on more than defaults; a refusal always does."""
    cut = any(one.low > 0 or one.high not in (None, QUANTITIES[asked.unknown].ceiling) for one in bounded.answers)
    return not bounded.answers or (cut and not asked.known.keys().isdisjoint(bounded.given))


def _known(asked: Question) -> Iterator[dict[str, float]]:
    """What may be taken as known: the givens; defaults too, the number of chips last, as results may say what it is."""
    defaults = {name: value for name, value in asked.defaults.items() if name not in asked.known and name != asked.unknown}
    defaults |= following(asked.unknown, defaults, asked.known)
    put_in = {name for row in (*asked.active, *asked.named) for name in row.put_in}
    yield {**asked.known, **{name: value for name, value in defaults.items() if name in put_in}}
    if "chips" in defaults:
        yield {**asked.known, **{name: value for name, value in defaults.items() if name != "chips"}}
    yield {**asked.known, **defaults}


def _follow(asked: Question, known: Mapping[str, float], way: Route) -> Solution | _Stop:
    """The route with numbers: an equation with several points forks it, one with none or an interval stops it.

    So does one that leaves the quantity open in any of the worlds: what the others come to would not be all there is.
    """
    worlds = [_World(known, {name: {name: 1.0} for name in known})]
    *before, last = way.legs
    for leg in before:
        outcomes = [(world, *solve_leg(leg, world.values, world.rounding)) for world in worlds]
        if reason := _left_open(leg, outcomes):
            return _Stop(leg, reason)
        worlds = [_onward(world, leg, one) for world, answers, _ in outcomes for one in answers]
        if not worlds:
            return _Stop(leg, outcomes[0][2])
    ends: list[tuple[_World, Answer]] = []
    clash: Reason | None = None
    for world in worlds:
        found, reason = solve_leg(last, world.values, world.rounding)
        if reason and reason.code in OPEN:
            return _Stop(last, reason)
        roots = [one.value for one in found if one.kind == "point"]
        for one in found:
            end, broken = _checked(asked, way, world, one)
            clash = clash or broken
            ends += [] if broken else [(end, _answer(asked, way, world, end, one, roots))]
    if ends:
        return _solution(asked, known, way, ends)
    return _without_answer(asked, clash, worlds[0].steps) if clash else _Stop(last, reason)


def _answer(asked: Question, way: Route, world: _World, end: _World, found: Answer, roots: Sequence[float]) -> Answer:
    """What the last leg found, as an answer of the whole route; `roots` are all the points that it found here."""
    causes = taken_for_granted(asked, way, end.values)
    bound = direction_at(way, causes, end.values, roots) if found.kind == "point" else None
    return replace(found, elasticities=_chained(found, world), regime=_regime(way, end.values, found), bound=bound)


def _left_open(leg: Leg, outcomes: Sequence[tuple[_World, tuple[Answer, ...], Reason | None]]) -> Reason | None:
    """Why a leg is no way on: in one of the worlds its quantity is only bounded, or turns on what nothing determines."""
    for _, answers, reason in outcomes:
        if reason and reason.code in OPEN:
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
        if short and is_warning(asked, way):
            end, short = replace(end, warnings={SHORT: short.message.replace("\n", "; ")}), None
        wrong = contradiction(asked, known, way.rows) or short
        if not wrong:
            return end, None
        clash = clash or wrong
    return start, clash or reason


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
    sizes = {name: [_sized(name, share) for share in SIZES] for name in names}
    return (dict(zip(names, values, strict=True)) for values in product(*sizes.values()))


def _sized(name: str, share: float) -> float:
    """A value from far below (share 0) to far above (share 1) what is met in practice."""
    row = quantity(name)
    low, high = row.limits()
    return low + share * (high - low) if row.low == 0 or row.ceiling == 1 else low * (high / low) ** share


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
                stop = _Stop(leg, reason or _within_bounds(leg, found[0]))
                break
        if stop is None or stop.reason.code != "not_identified":
            break
        failed |= {(stop.leg.id, stop.leg.unknown)}
    # A case of a block is only a candidate: every equation of the block has to be held against it.
    cases = {row for leg in way.legs if len(leg.cases) > 1 for row in leg.rows}
    sure = [world for world in worlds if all(name in world.values for row in cases for name in row.symbols)]
    open_case = Reason("not_identified", message=f"{way.legs[-1].unknown} has candidates that not all equations can be held against")
    return sure, stop.reason if stop else open_case


def solve_leg(leg: Leg, values: Mapping[str, float], rounding: Rounding = MappingProxyType({})) -> Outcome:
    """The answers of all cases of a leg, each point once; where it takes cases, one that only bounds it leaves it open.

    A case whose regime turns on what nothing determines is not passed over: nothing is answered while it may hold.
    `rounding` says by how much last digits were magnified in what was worked out before.
    """
    if isinstance(leg.cases[0], Equation):
        return _sure(leg.cases[0], leg.unknown, values, rounding)
    if open_case := next((case for case in leg.cases if _may_hold(case, leg.unknown, values)), None):
        return (), _undecided(leg.unknown, open_case)
    cases = [case for case in leg.cases if not case.open and not case.idle]
    possible = [case for case in cases if not case.ruled_out(values)]
    outcomes = [_sure(case, leg.unknown, values, rounding) for case in possible or cases]
    if len(outcomes) == 1:
        return outcomes[0]
    if left_open := next((reason for _, reason in outcomes if reason and reason.code in OPEN), None):
        return (), left_open
    found: list[Answer] = []
    for one in (one for answers, _ in outcomes for one in answers):
        if one.kind != "point":
            return (), _within_bounds(leg, one)
        found += [] if any(isclose(one.value, other.value, rel_tol=HOLDS) for other in found) else [one]
    undetermined = Reason("not_identified", message=f"{leg.unknown} is not determined by {leg.cases[0].told}")
    reasons = [reason or undetermined for _, reason in outcomes]
    return tuple(found), None if found else reasons[0]


def _sure(case: "Equation | Joint", unknown: str, values: Mapping[str, float], rounding: Rounding) -> Outcome:
    """The answers of a case; none where a point may be made of nothing but the rounding of what it was worked out from."""
    found, reason = solve_equation(case, unknown, values)
    if isinstance(case, Equation) and not any(name in rounding for name in case.symbols):
        return found, reason
    if isinstance(case, Joint) and all(row.sense == "=" for row in case.rows) and any(_is_anything(unknown, one) for one in found):
        return (), Reason("not_identified", message=f"{unknown} is not determined by {case.told}")
    for one in (one for one in found if one.kind == "point"):
        at = {**values, unknown: one.value}
        magnified = _rounding(case, unknown, at, rounding)
        if magnified > LOST or _at_an_edge(case, unknown, at, magnified * LAST_DIGIT):
            message = f"{unknown} cannot be told from these givens: what their last digits do not say decides it in {case.told}"
            return (), Reason("not_identified", message=message)
    return found, reason


def _is_anything(unknown: str, found: Answer) -> bool:
    """Whether an answer is all that the unknown can be: of several equations that say the same thing twice."""
    row = QUANTITIES[unknown]
    return found.kind == "interval" and found.low <= row.floor and found.high in (None, row.ceiling)


def _at_an_edge(case: "Equation | Joint", unknown: str, at: Mapping[str, float], error: float) -> bool:
    """Whether a relative error of the unknown decides which of two terms is the larger: beyond, the unknown would not bind."""
    beside = [{**at, unknown: at[unknown] * (1 + sign * error)} for sign in (1, -1)]
    pairs = (pair for regime in regimes(case.sides[1]) for pair in regime.wins)
    held = (pair for pair in pairs if any(part.name == unknown for side in pair for part in side.free_symbols))
    return any(len({evaluate(larger, one) > evaluate(smaller, one) for one in beside}) > 1 for larger, smaller in held)


def _rounding(case: "Equation | Joint", unknown: str, values: Mapping[str, float], rounding: Rounding) -> float:
    """By how much the last digits of what was given are magnified in the unknown."""

    def height(at: Mapping[str, float]) -> float:
        return case.left_side(at) - right_side_at(case, at)

    def moves(name: str) -> float:
        """How far the sides come apart; at the edge of where they are defined, to the one side that there is."""
        beside = (height({**values, name: values[name] * (1 + sign * NUDGE)}) for sign in (1, -1))
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
        return Reason("not_identified", message=f"{unknown} can be anything{regime}, and that may be so here")
    names = " and ".join(case.open)
    return Reason("missing_givens", missing=case.open, message=f"{unknown} needs also {names}: without, it may be{regime or ' anything'}")


def _within_bounds(leg: Leg, interval: Answer) -> Reason:
    low, high = (None if end is None else show(leg.unknown, end) for end in (interval.low or None, interval.high))
    bounds = " and ".join(text for text in (low and f"at least {low}", high and f"at most {high}") if text) or "any value"
    message = f"{leg.unknown} does not bind in {leg.cases[0].told}, so only its bounds are known: {bounds}"
    return Reason("not_identified", message=message)


def _onward(world: _World, leg: Leg, point: Answer) -> _World:
    values = {**world.values, leg.unknown: point.value}
    known = [case for case in leg.cases if values.keys() >= {*case.symbols}]
    return _World(
        values,
        {**world.slopes, leg.unknown: _chained(point, world)},
        {**world.rounding, leg.unknown: max((_rounding(case, leg.unknown, values, world.rounding) for case in known), default=1.0)},
        (*world.steps, _step(leg, point)),
    )


def _step(leg: Leg, found: Answer) -> RouteStep:
    references, alternatives = (row.reference for row in leg.rows), (row.id for row in leg.alternatives)
    return RouteStep(tuple(references), leg.unknown, found.value, found.formula, tuple(alternatives))


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
    doubts = caveats(asked, _at_most(asked, *ends[0]), used)
    said = {**ends[0][0].warnings, **less_than_one(asked.unknown, answers), **{name: one.text for name, one in doubts.items()}}
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=answers,
        equations=tuple(row.reference for row in used),
        given={name: known[name] for name in known if name in touched},
        assumptions=_assumptions(asked, known, way, touched),
        unused=_unused(asked, touched.union(*(one.rests for one in doubts.values()))),
        warnings=tuple(said.values()),
        kinds=tuple(said),
        provenance={name: asked.provenance.get(name, "default") for name in known if name in touched},
        route=ends[0][0].steps,
    )


def _at_most(asked: Question, end: _World, found: Answer) -> Mapping[str, float]:
    """All values on the way to an answer; where it is an interval, those at its upper end, which is what is printed, if it has one."""
    return end.values if found.high is None else {**end.values, asked.unknown: found.high}


def _assumptions(asked: Question, known: Mapping[str, float], way: Route, touched: set[str]) -> tuple[str, ...]:
    """Defaults and variants taken, conditions joined by name, what cancels, and what each equation idealises."""
    used = way.rows
    cancelled = [f"{name} cancels: it may be anything that the rest allows" for name in way.cancelled]
    default = {name: "default" for name in known if name in touched and name not in asked.known}
    led = {name: leads(name, {*asked.known, asked.unknown}) for name in default.keys() & FOLLOWS.keys()}
    default |= {name: f"default: {other}" for name, other in led.items() if other in asked.known and known[name] != 1}
    told = {name: other for name, other in led.items() if other == asked.unknown}
    defaults = [f"{name} = {told.get(name, f'{known[name]:g}')} ({why})" for name, why in default.items()]
    taken = [f"{row.variant[0]}: {row.variant[1]} ({row.id})" for row in used if row.variant]
    joined = [f"{row.id} is a {row.kind}, joined by name" for row in used if row.kind not in CHAINED_BY_ITSELF]
    joined += [f"{row.id} is an estimate: it bounds nothing" for row in used if row.kind == ESTIMATE]
    idle = [f"{row.id} was named and is not needed" for row in asked.named if row not in used]
    idealised = [text for row in used for text in row.assumptions]
    of_presets = [name for name in touched if asked.provenance.get(name, "given") != "given"]
    switches = asked.conventions.stated((name for row in used for name in row.symbols), of_presets)
    weights = _weights(asked) if "bytes_per_weight" in touched else ()
    return tuple(dict.fromkeys((*asked.notes, *defaults, *cancelled, *switches, *weights, *taken, *joined, *idle, *idealised)))


def _weights(asked: Question) -> tuple[str, ...]:
    """What the weights are stored as where it is the model that says so, and not the chip."""
    place, _, said = asked.provenance.get("bytes_per_weight", "").partition(": ")
    return (f"{said} ({place}): give bytes_per_weight for another type",) if place.startswith(ARCHITECTURES) else ()


def _without_answer(asked: Question, reason: Reason, steps: tuple[RouteStep, ...] = ()) -> Solution:
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
