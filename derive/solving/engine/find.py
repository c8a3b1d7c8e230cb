"""The answer to a question without limits: by equations, by trial values, or by inequalities that bound it.

Defining equations and bounds join by themselves, one variant of a group. Conditions, heuristics and empirical relations join when
named. Neutral defaults are used only if the givens alone do not reach the unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from math import inf

from derive.answers import COUNTED, SHORT, values_of_steps
from derive.preset_record import PARAMETERS
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, Equation
from derive.roles import UNDIVIDED, Batch, Memory
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.checks.targets import batch_is_left_to_a_rate, better_side
from derive.solving.engine.directions import Causes, signs
from derive.solving.engine.engine import LEAVES_OPEN, Stop, follow_way, is_memory_warning, list_unused, refuse_question
from derive.solving.engine.legs import Failed, Loop, Step, Way, compose
from derive.solving.engine.plan import (
    carry_bounds,
    definitions_of,
    definitions_to,
    find_after_another,
    find_eliminated,
    find_loops,
    find_plain_way,
    propagate,
)
from derive.solving.explain.refusals import find_result_without_influence, missing_givens
from derive.solving.question.propagation import giving_equations
from derive.solving.question.questions import NOT_GIVEN, Question, known_values, pose_again, results_made_of, suppose_types
from derive.solving.result import Answer, Reason, Solution
from derive.suppositions import USUAL_TYPES
from derive.units import show

_MOST_LOOPS = 12
"""How many loops are followed one after another."""

_Found = tuple[Solution, Way | None]


class _Search:
    """The ways of a question that were followed: each is followed once, and where it stopped is kept.

    `impossible` are eliminations that no value of the unknown satisfies.
    """

    def __init__(self, asked: Question):
        self.asked, self.stops, self.impossible = asked, list[Stop](), list[Stop]()
        self._outcomes: dict[tuple[Way, frozenset[tuple[str, float]]], Solution | Stop] = {}

    def follow(self, known: Mapping[str, float], way: Way) -> Solution | Stop:
        """Return what a way leads to."""
        key = way, frozenset(known.items())
        if key not in self._outcomes:
            self._outcomes[key] = _follow(self.asked, known, way)
        return self._outcomes[key]

    def is_ruled_out(self) -> bool:
        """Return whether one of the ways shows that no value is a solution."""
        return any(isinstance(one, Stop) and one.reason.code not in LEAVES_OPEN for one in self._outcomes.values())


@lru_cache(maxsize=512)
def find_answer(asked: Question) -> _Found:
    """Return the answer, and the way to it if equations lead there."""
    search = _Search(asked)
    outcome = _answer_by_steps(search, asked.equalities)
    if looped := _answer_by_trial(search, outcome):
        return looped
    bounded = outcome is None and all(stop.reason.code in LEAVES_OPEN for stop in search.stops)
    if bounded:
        outcome = _answer_by_steps(search, asked.active)
        if outcome and not _is_informative(asked, outcome[0]):
            outcome = None
        if not search.stops and (not outcome or list_unused(asked, {*outcome[0].given})):
            outcome = _tighter_bound(outcome, _answer_by_bounds(search))
    if outcome and (bounded or _only_bounded(outcome[0])) and (aside := _result_left_aside(asked, *outcome)):
        return refuse_question(asked, aside), None
    if outcome:
        return outcome
    known = [*known_values(asked)][-1]
    if free := find_result_without_influence(asked, known):
        return refuse_question(asked, free), None
    if stops := search.stops or search.impossible:
        return refuse_question(asked, _reason_of_stops(asked, stops)), None
    return refuse_question(asked, missing_givens(asked)), None


def _answer_by_steps(search: _Search, rows: tuple[Equation, ...]) -> tuple[Solution, Way] | None:
    """Return the first answer by one equation at a time, by a loop, or by elimination.

    Bounds are the answer if no other equation gives a point.
    """
    asked, stops = search.asked, search.stops
    for known in known_values(asked):
        failed: Failed = frozenset()
        here, bounded = len(stops), None
        while (way := find_plain_way(asked.unknown, rows, frozenset(known), failed)) is not None:
            outcome = search.follow(known, way)
            if isinstance(outcome, Stop):
                stops.append(outcome)
                failed |= {(outcome.leg.id, outcome.leg.unknown)}
            elif not _only_bounded(outcome):
                return bounded if bounded and not outcome.answers else (outcome, way)
            else:
                bounded = bounded or (outcome, way)
                failed |= {(way.legs[-1].id, asked.unknown)}
        if bounded:
            return bounded
        loops = find_loops(asked.unknown, rows, frozenset(known))
        found = _answer_by_loops(search, known, loops) or _answer_by_elimination(search, rows, known)
        if not found and not search.is_ruled_out():
            found = _answer_by_loops(search, known, find_after_another(asked.unknown, rows, frozenset(known)))
        if found:
            return found
        for stop in stops[here:]:
            carried = carry_bounds(stop.way, stop.leg, frozenset(known)) if stop.reason.code == "not_identified" else None
            if carried and isinstance(outcome := search.follow(known, carried), Solution):
                return outcome, carried
    return None


def _answer_by_trial(search: _Search, bounded: tuple[Solution, Way] | None) -> _Found | None:
    """Return the answer by a loop. If one equation at a time only bounds the unknown, the loop must close on a result that is not used."""
    asked, tightest = search.asked, bounded
    aside = _results_aside(asked, bounded[0]) if bounded else []
    if bounded and not (aside and _only_bounded(bounded[0])):
        return None
    if find_result_without_influence(asked, [*known_values(asked)][-1]):
        return None
    loops = ((known, way) for known in known_values(asked) for way in find_loops(asked.unknown, asked.equalities, frozenset(known)))
    for start, way in islice(loops, _MOST_LOOPS):
        loop = next(leg for leg in way.legs if isinstance(leg, Loop))
        if tightest and (loop.unknown != asked.unknown or {*aside}.isdisjoint(loop.closing.symbols)):
            continue
        outcome = search.follow(start, way)
        if isinstance(outcome, Solution):
            if tightest or not _only_bounded(outcome):
                return outcome, way
            # Another result may say more than that this one does not bind.
            tightest, aside = (outcome, way), _results_aside(asked, outcome)
        elif loop.unknown == asked.unknown and outcome.reason.code not in LEAVES_OPEN:
            # No value of the unknown leads to what was given, so no other loop has one.
            refused = refuse_question(asked, _with_results(asked, outcome)), None
            return refused if tightest or not search.stops else None
    return None if bounded else tightest


def _answer_by_loops(search: _Search, known: Mapping[str, float], loops: Iterator[Way]) -> tuple[Solution, Way] | None:
    """Return the first answer by a loop that is a point."""
    for way in islice(loops, _MOST_LOOPS):
        outcome = search.follow(known, way)
        if isinstance(outcome, Solution) and not _only_bounded(outcome):
            return outcome, way
    return None


def _answer_by_elimination(search: _Search, rows: tuple[Equation, ...], known: Mapping[str, float]) -> tuple[Solution, Way] | None:
    """Return an answer by one equation that is left when all undetermined quantities are eliminated."""
    for way in find_eliminated(search.asked.unknown, rows, frozenset(known)):
        outcome = search.follow(known, way)
        if isinstance(outcome, Stop) and outcome.reason.code == "no_solution":
            search.impossible.append(outcome)
        if isinstance(outcome, Stop) and outcome.reason.code == "not_identified":
            # What these equations leave undecided, no loop of them decides.
            search.stops.append(outcome)
        # A result that is not used may say which one of several answers is right.
        if isinstance(outcome, Solution) and not _only_bounded(outcome) and (len(outcome.answers) == 1 or not outcome.unused):
            return outcome, way
    return None


def _tighter_bound(beside: tuple[Solution, Way] | None, bounded: tuple[Solution, Way] | None) -> tuple[Solution, Way] | None:
    """Return the narrower one of two bounds, or the first if none is narrower."""
    ends = [[one.ends for one in outcome[0].answers] if outcome else [] for outcome in (beside, bounded)]
    if bounded and len(ends[0]) == len(ends[1]) == 1:
        ((low, high),), ((least, most),) = ends
        more, less = least > low * (1 + HOLDS), (most or inf) * (1 + HOLDS) < (high or inf)
        if (more and (most or inf) <= (high or inf)) or (less and least >= low):
            return bounded
    return beside or bounded


def _only_bounded(solution: Solution) -> bool:
    return any(one.kind != "point" for one in solution.answers)


def _results_aside(asked: Question, solution: Solution) -> list[str]:
    """Return the given results that depend on the unknown and that an answer does not use."""
    return [name for name in results_made_of(asked, asked.unknown) if name in list_unused(asked, {*solution.given})]


def answer_forwards(asked: Question) -> Solution:
    """Return the answer to a question by one equation at a time."""
    outcome = _answer_by_steps(_Search(asked), asked.equalities)
    return outcome[0] if outcome else refuse_question(asked, missing_givens(asked))


def _reason_of_stops(asked: Question, stops: Sequence[Stop]) -> Reason:
    """Return why there is no answer. If no value is a solution, the reason is about the unknown if one of the ways ends there."""
    first = stops[0]
    if first.reason.code != "no_solution":
        return first.reason
    plain = (stop.reason for stop in stops if stop.leg.unknown == asked.unknown and not _turns_on_itself(stop))
    return next(plain, _with_results(asked, first))


def _with_results(asked: Question, stop: Stop) -> Reason:
    """Return why a way ends, with the given results that led there if it ends at a quantity that is not asked for."""
    if stop.reason.code != "no_solution" or stop.leg.unknown == asked.unknown:
        return stop.reason
    legs = stop.way.legs[: stop.way.legs.index(stop.leg) + 1]
    symbols = {name for leg in legs for row in leg.rows for name in row.symbols}
    results = [name for name in giving_equations(asked.active) if name in symbols and name in asked.typed]
    told = " and ".join(f"{name} = {show(name, asked.known[name])}" for name in results)
    return stop.reason.reword(lambda message: f"with {told}, {message}") if told else stop.reason


def _turns_on_itself(stop: Stop) -> bool:
    """Return whether the left side of a leg went into what its right side is made of."""
    left = stop.leg.rows[-1].symbols[0]
    return any(left in (*one.needs, one.unknown) and one.unknown in stop.leg.needs for one in stop.way.legs if one is not stop.leg)


def _result_left_aside(asked: Question, bounded: Solution, way: Way) -> Reason | None:
    """Return why bounds are no answer: a given result has its value for every value of the unknown, or for none.

    If it has it for any, bounds that come from equations do not change.
    """
    free = find_result_without_influence(asked, [*known_values(asked)][-1])
    if not free or free.violated[0] not in list_unused(asked, {*bounded.given}):
        return None
    by_equations = all(row.sense == "=" for row in way.rows)
    return None if by_equations and free.code == "not_identified" else free


def _follow(asked: Question, known: Mapping[str, float], way: Way) -> Solution | Stop:
    """Return what a way leads to, checked against the memory of the batch that a given rate needs."""
    outcome = follow_way(asked, known, way, lambda one: find_answer(one)[0].answers)
    if isinstance(outcome, Stop) or outcome.reason or SHORT in outcome.kinds:
        return outcome
    found = any(step.unknown == Batch.name for step in outcome.route)
    rests_on_a_rate = not found and any(better_side(name) == LOWER for name in outcome.given)
    short = _batch_does_not_fit(asked) if rests_on_a_rate or asked.unknown == Batch.name else None
    if short is None:
        return outcome
    if is_memory_warning(asked, way):
        return outcome.warn(SHORT, "; ".join(short.message.split("\n")))
    return refuse_question(asked, short, outcome.route)


def _batch_does_not_fit(asked: Question) -> Reason | None:
    """Return the memory that is short of the batch that a given rate needs, if no given determines the batch."""
    if Batch.name in asked.known or not batch_is_left_to_a_rate(asked):
        return None
    batch = replace(pose_again(asked, Batch.name, asked.known), silent=True)
    usual = suppose_types(batch, USUAL_TYPES.keys() - batch.known.keys())
    if usual is None and asked.unknown == Batch.name:
        return None
    reason = find_answer(usual or batch)[0].reason
    return reason if reason and reason.code == SHORT_OF_MEMORY else None


def _answer_by_bounds(search: _Search) -> tuple[Solution, Way] | None:
    """Return what inequalities on quantities that are made of the unknown leave of it, the one that leaves least."""
    asked = search.asked
    made = definitions_of(asked.active)
    # Beside results of the unknown, what follows from it may be what they contradict.
    start = () if asked.limits or results_made_of(asked, asked.unknown) else (asked.unknown,)
    for known in known_values(asked):
        tightest: tuple[Solution, Way] | None = None
        others = propagate(asked.equalities, frozenset((*known, *start)), frozenset())
        ways = ((bound, definitions_to(bound.symbols, made, {*known, asked.unknown}, others)) for bound in asked.bounds)
        found = [(asked.unknown in bound.symbols, len(steps), bound, steps) for bound, steps in ways if steps is not None]
        for *_, bound, steps in sorted(found, key=lambda one: one[:2]):
            whole = compose(bound, tuple(steps.values()))
            if whole is None or not {asked.unknown} <= {*whole.symbols} <= {*known, asked.unknown}:
                continue
            way = Way((Step(whole, asked.unknown),))
            outcome = search.follow(known, way)
            if isinstance(outcome, Stop):
                search.stops.append(outcome)
            elif _is_informative(asked, outcome):
                tightest = _tighter_bound(tightest, (outcome, way))
        if tightest:
            return tightest
    return None


def _is_informative(asked: Question, bounded: Solution) -> bool:
    """Return whether bounds are more than the domain of the unknown, and rest on a given if there is one. A refusal says something."""
    ceiling = QUANTITIES[asked.unknown].ceiling
    typed = {*asked.typed, *(name for name, source in asked.provenance.items() if source == NOT_GIVEN)}
    # From a chip and a model alone it is no news that a count is one or more.
    floor = 1.0 if asked.unknown in (*COUNTED, *UNDIVIDED) and not typed else 0.0
    # That a model fits in the memory says nothing of its demand.
    is_demand = asked.unknown in Memory.demands and not asked.known.keys().isdisjoint(PARAMETERS)
    ceilings = (None, ceiling, *(one.high for one in bounded.answers if is_demand))
    cut = any(one.kind == "point" or one.least > floor or one.high not in ceilings for one in bounded.answers)
    return not bounded.answers or (cut and not {*(typed or asked.known)}.isdisjoint(bounded.given))


def possible_errors(asked: Question, solution: Solution, way: Way | None, found: Answer) -> Causes:
    """Return to which sides an answer may be wrong, as causes for what rests on it."""
    if found.bound:
        return frozenset([(asked.unknown, found.bound)])
    there = {**solution.given, **values_of_steps(solution.route), asked.unknown: found.point}
    exact = way and not signs(asked, way, there)
    return frozenset() if exact else frozenset((asked.unknown, side) for side in ("lower", "upper"))
