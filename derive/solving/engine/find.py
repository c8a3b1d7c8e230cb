"""The answer to a question without limits: by equations, by trial values, or by inequalities that bound it.

Defining equations and bounds join by themselves, one variant of a group. Conditions, heuristics and empirical relations join when
named. Neutral defaults are used only if the givens alone do not reach the unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import inf

from derive.answers import SHORT, values_of_steps
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, Equation
from derive.roles import Batch
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
    giving_equations,
)
from derive.solving.explain.refusals import find_result_without_influence, missing_givens, results_made_of
from derive.solving.question.questions import Question, known_values, pose_again, suppose_types
from derive.solving.result import Answer, Reason, Solution
from derive.suppositions import USUAL_TYPES
from derive.units import show

_MOST_LOOPS = 12
"""How many loops are followed one after another."""
NO_CACHE = "no cache is given"
"""Source of a cache of no bytes. A question about the weights alone has no other given."""

_Found = tuple[Solution, Way | None]


class _Search:
    """The ways of a question that were followed: each is followed once.

    `stops` are those without a number: of one equation at a time, and those that show that no value of the unknown is a solution.
    """

    def __init__(self, asked: Question):
        self.asked, self.stops = asked, list[Stop]()
        self._outcomes: dict[tuple[Way, frozenset[tuple[str, float]]], Solution | Stop] = {}

    def follow(self, known: Mapping[str, float], way: Way) -> Solution | Stop:
        """Return what a way leads to."""
        key = way, frozenset(known.items())
        if key not in self._outcomes:
            outcome = self._outcomes[key] = _follow(self.asked, known, way)
            if isinstance(outcome, Stop) and (_is_plain(way) or self.rules_out(outcome)):
                self.stops.append(outcome)
        return self._outcomes[key]

    def rules_out(self, stop: Stop) -> bool:
        """Return whether no value of the unknown leads to what was given. An elimination may need what other equations do not."""
        closed = stop.reason.code == "no_solution" or (isinstance(stop.leg, Loop) and stop.reason.code not in LEAVES_OPEN)
        return closed and stop.leg.unknown == self.asked.unknown


def find_answer(asked: Question, told: bool = True) -> _Found:
    """Return the answer, and the way to it if equations lead there. The missing inputs are looked up only if `told`."""
    search = _Search(asked)
    known = [*known_values(asked)][-1]
    outcome = _answer_by_ways(search, asked.equalities)
    if not outcome and not search.stops:
        outcome = _answer_by_bounds(search)
    if outcome:
        solution, way = outcome
        aside = _result_left_aside(asked, solution, way) if way and _is_open(solution) else None
        return (refuse_question(asked, aside), None) if aside else outcome
    if free := find_result_without_influence(asked, known):
        return refuse_question(asked, free), None
    if search.stops:
        return refuse_question(asked, _reason_of_stops(asked, search.stops)), None
    return refuse_question(asked, _reason_of_missing(asked, told)), None


def _answer_by_ways(search: _Search, rows: tuple[Equation, ...]) -> _Found | None:
    """Return the first answer that is a point, or else the first one that is none, unless a given result that it leaves out says more."""
    kept: tuple[Solution, Way] | None = None
    for known in known_values(search.asked):
        for way in _ways(search, known, rows):
            outcome = search.follow(known, way)
            if isinstance(outcome, Stop):
                continue
            if not _is_open(outcome):
                return kept if kept and _is_plain(kept[1]) and not outcome.answers else (outcome, way)
            kept = kept or (outcome, way)
        if kept and _is_plain(kept[1]):
            break
    return _answer_by_results_aside(search, *kept) if kept else None


def _ways(search: _Search, known: Mapping[str, float], rows: tuple[Equation, ...]) -> Iterator[Way]:
    """Yield the ways to the unknown: one equation at a time, without legs that gave no point, then loops, eliminations and carried bounds.

    Bounds by one equation at a time need no other way. After another quantity only if no elimination rules out all values.
    """
    unknown, names, here = search.asked.unknown, frozenset(known), len(search.stops)
    failed: Failed = frozenset()
    is_bounded = False
    while way := find_plain_way(unknown, rows, names, failed):
        yield way
        outcome = search.follow(known, way)
        leg = outcome.leg if isinstance(outcome, Stop) else way.legs[-1]
        is_bounded = is_bounded or isinstance(outcome, Solution)
        failed |= {(leg.id, leg.unknown)}
    if is_bounded:
        return
    plain = search.stops[here:]
    yield from islice(find_loops(unknown, rows, names), _MOST_LOOPS)
    yield from find_eliminated(unknown, rows, names)
    if all(stop.reason.code in LEAVES_OPEN for stop in search.stops[here:]):
        yield from islice(find_after_another(unknown, rows, names), _MOST_LOOPS)
    for stop in plain:
        if stop.reason.code == "not_identified" and (carried := carry_bounds(stop.way, stop.leg, names)):
            yield carried


def _answer_by_results_aside(search: _Search, bounded: Solution, way: Way) -> _Found:
    """Return the answer by a loop that closes on a given result which a bound does not use, or the bound without one."""
    asked = search.asked
    aside = _results_aside(asked, bounded)
    if not aside or not _is_open(bounded) or find_result_without_influence(asked, [*known_values(asked)][-1]):
        return bounded, way
    for known in known_values(asked):
        for looped in islice(find_loops(asked.unknown, asked.equalities, frozenset(known)), _MOST_LOOPS):
            loop = next(leg for leg in looped.legs if isinstance(leg, Loop))
            if loop.unknown != asked.unknown or {*aside}.isdisjoint(loop.closing.symbols):
                continue
            outcome = search.follow(known, looped)
            if isinstance(outcome, Solution):
                return outcome, looped
            if search.rules_out(outcome):
                # No other loop has a value.
                return refuse_question(asked, outcome.reason), None
    return bounded, way


def _tighter_bound(beside: _Found | None, bounded: _Found) -> _Found:
    """Return the narrower one of two bounds, or the first if none is narrower."""
    ends = [[one.ends for one in outcome[0].answers] if outcome else [] for outcome in (beside, bounded)]
    if len(ends[0]) == len(ends[1]) == 1:
        ((low, high),), ((least, most),) = ends
        more, less = least > low * (1 + HOLDS), (most or inf) * (1 + HOLDS) < (high or inf)
        if (more and (most or inf) <= (high or inf)) or (less and least >= low):
            return bounded
    return beside or bounded


def _is_plain(way: Way) -> bool:
    """Return whether a way is one equation of the catalogue after another."""
    return all(isinstance(leg, Step) and isinstance(leg.row, Equation) for leg in way.legs)


def _is_open(solution: Solution) -> bool:
    """Return whether an answer is not all points."""
    return any(one.kind != "point" for one in solution.answers)


def _results_aside(asked: Question, solution: Solution) -> list[str]:
    """Return the given results that depend on the unknown and that an answer does not use."""
    return [name for name in results_made_of(asked, asked.unknown) if name in list_unused(asked, {*solution.given})]


def answer_forwards(asked: Question, told: bool = True) -> Solution:
    """Return the answer to a question by one equation at a time. The missing inputs are looked up only if `told`."""
    outcome = _answer_by_ways(_Search(asked), asked.equalities)
    return outcome[0] if outcome else refuse_question(asked, _reason_of_missing(asked, told))


def _reason_of_missing(asked: Question, told: bool) -> Reason:
    """Return what a question lacks, which is looked up only if `told`."""
    return missing_givens(asked) if told else Reason(code="missing_givens", message="what is missing was not asked for")


def _reason_of_stops(asked: Question, stops: Sequence[Stop]) -> Reason:
    """Return why there is no answer. If no value is a solution, the reason is about the unknown if one of the ways ends there.

    It names the given results that led there.
    """
    of_unknown = (stop for stop in stops if stop.leg.unknown == asked.unknown)
    stop = next(of_unknown, stops[0]) if stops[0].reason.code == "no_solution" else stops[0]
    legs = stop.way.legs[: stop.way.legs.index(stop.leg) + 1]
    symbols = {name for leg in legs for row in leg.rows for name in row.symbols}
    results = [name for name in giving_equations(asked.active) if name in symbols and name in asked.typed]
    told = " and ".join(f"{name} = {show(name, asked.known[name])}" for name in results)
    if not told or stop.reason.code != "no_solution":
        return stop.reason
    is_named = stop.leg.unknown == asked.unknown and any(name in stop.reason.message for name in asked.typed)
    return stop.reason if is_named else replace(stop.reason, message=f"with {told}, {stop.reason.message}")


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
    outcome = follow_way(asked, known, way, lambda one: find_answer(one, told=False)[0].answers)
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
    reason = find_answer(usual or batch, told=False)[0].reason
    return reason if reason and reason.code == SHORT_OF_MEMORY else None


def _answer_by_bounds(search: _Search) -> _Found | None:
    """Return what inequalities on the unknown leave of it, or those on what is made of it if they leave less or use more of the givens."""
    asked, outcome = search.asked, _answer_by_ways(search, search.asked.active)
    tightest = outcome if outcome and _is_informative(asked, outcome[0]) else None
    if search.stops or (tightest and not list_unused(asked, {*tightest[0].given})):
        return tightest
    for known in known_values(asked):
        for way in _bounding_ways(asked, known):
            found = search.follow(known, way)
            if isinstance(found, Stop):
                search.stops.append(found)
            elif _is_informative(asked, found):
                tightest = _tighter_bound(tightest, (found, way))
        if tightest:
            break
    return tightest


def _bounding_ways(asked: Question, known: Mapping[str, float]) -> Iterator[Way]:
    """Yield the inequalities on quantities that are made of the unknown, those on the unknown itself last."""
    made = definitions_of(asked.active)
    ways = ((bound, definitions_to(bound.symbols, made, {*known, asked.unknown})) for bound in asked.bounds)
    found = [(asked.unknown in bound.symbols, len(steps), bound, steps) for bound, steps in ways if steps is not None]
    for *_, bound, steps in sorted(found, key=lambda one: one[:2]):
        whole = compose(bound, tuple(steps.values()))
        if whole and {asked.unknown} <= {*whole.symbols} <= {*known, asked.unknown}:
            yield Way((Step(whole, asked.unknown),))


def _is_informative(asked: Question, bounded: Solution) -> bool:
    """Return whether bounds are more than the domain of the unknown, and rest on a given if there is one. A refusal says something."""
    ceiling = QUANTITIES[asked.unknown].ceiling
    typed = {*asked.typed, *(name for name, source in asked.provenance.items() if source == NO_CACHE)}
    cut = any(one.kind == "point" or one.least > 0 or one.high not in (None, ceiling) for one in bounded.answers)
    return not bounded.answers or (cut and not {*(typed or asked.known)}.isdisjoint(bounded.given))


def possible_errors(asked: Question, solution: Solution, way: Way | None, found: Answer) -> Causes:
    """Return to which sides an answer may be wrong, as causes for what rests on it."""
    if found.bound:
        return frozenset([(asked.unknown, found.bound)])
    there = {**solution.given, **values_of_steps(solution.route), asked.unknown: found.point}
    exact = way and not signs(asked, way, there)
    return frozenset() if exact else frozenset((asked.unknown, side) for side in ("lower", "upper"))
