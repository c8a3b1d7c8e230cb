"""The answer to a question, within all limits on its results.

Each limit alone is solved as an equality, which gives an end of what it leaves of the unknown. If all else determines a limited result,
it is only compared with the limit. Of what is counted, whole numbers are left: a batch is rounded down, chips are rounded up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import ceil, inf, isclose
from typing import NamedTuple

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, next_whole
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, UPPER
from derive.roles import Memory, Replica, Tokens
from derive.solving.checks.contradicted_defaults import FASTER_THAN_ASKED, answer_where_memory_binds, consistent_answer
from derive.solving.checks.fit import MEMORY_BINDS, SHORT_OF_MEMORY
from derive.solving.checks.targets import is_within
from derive.solving.engine.engine import refuse_question
from derive.solving.engine.legs import Way
from derive.solving.engine.one_equation import value_inside
from derive.solving.engine.plan import has_way
from derive.solving.explain.answer_with import result_with
from derive.solving.explain.refusals import is_reachable
from derive.solving.limits.limits import FREE, SIZED, WITHIN, Limit, NotMadeOf, explain_open_side, list_in_words, split_limits
from derive.solving.question.questions import Question, drop_knowns, known_values, suppose_types
from derive.solving.result import OR, Answer, Reason, Solution, Sweep
from derive.suppositions import USUAL_TYPES
from derive.units import show

_CHIPS = Memory.bought

_ASIDE = 1e-3
"""Relative distance to either side of an end at which it is seen on which side a limit is met."""

_NEAREST = " nearest is "
"""How the text on the nearest value to a limit that is not met begins."""

_Outcome = tuple[Solution, Way | None]


class _End(NamedTuple):
    """The part of the unknown within one limit, or the limited result if it does not move with the unknown."""

    limit: Limit
    solution: Solution
    way: Way | None = None

    @property
    def answer(self) -> Answer:
        return self.solution.answers[0]

    @property
    def name(self) -> str:
        return "memory" if self.answer.regime == MEMORY_BINDS else self.limit.words


def answer_with_way(asked: Question) -> _Outcome:
    """Return the answer, and the way to it if there is one way."""
    if not asked.limits:
        return consistent_answer(asked)
    solution, way = _answer_within_limits(asked)
    solution = _warn_of_prompts(asked, solution)
    if not solution.unused:
        return solution, way
    place = value_inside(solution.answers[0]) if solution.answers else None
    limits = split_limits(replace(asked, silent=True))
    there = (one.evaluate_at(place) if place and one.moves else one.evaluate_beside() for one in limits)
    used = {name for one in there if one.answers for name in one.given}
    return replace(solution, unused=tuple(name for name in solution.unused if name not in used)), way


def _warn_of_prompts(asked: Question, solution: Solution) -> Solution:
    """Return an answer with the warning that a rate is for decode alone, also if decode alone meets the rate with any value."""
    if asked.silent or not solution.answers or Tokens.prompt not in asked.known or DECODE_ALONE in solution.kinds:
        return solution
    place = value_inside(solution.answers[0])
    there = (one.evaluate_at(place, silent=False).doubts.get(DECODE_ALONE) for one in split_limits(asked) if one.moves)
    told = next(filter(None, there), None)
    return solution.with_doubts({**solution.doubts, DECODE_ALONE: told}) if told else solution


def _answer_within_limits(asked: Question) -> _Outcome:
    """Return what the limits leave of the unknown."""
    if determined := _answer_by_all_else(asked):
        return determined
    limits, beside, ends = split_limits(asked), list[_End](), list[_End]()
    for one in limits:
        there = None if one.moves else one.evaluate_beside()
        if there and not there.answers:
            return _answer_unchecked(asked, one, there)
        outcome = _refuse_beside(one, there) if there else _solve_limit(asked, one)
        if outcome and outcome[0].answers and one.name in outcome[0].unused:
            return _leave_out(asked, one, f"{one.words} cannot be compared")
        beside += [_End(one, there)] if there else []
        ends += [_End(one, *outcome)] if outcome else []
    if refused := next((end for end in ends if not end.solution.answers), None):
        return _add_nearest(asked, refused.limit, refused.solution), None
    told = tuple(f"{one.words} is met with any {asked.unknown}: it is {_result_in_words(one, at.answers[0])}" for one, at, _ in beside)
    if not ends:
        return _answer_within_memory(asked, beside, told)
    if any(len(end.solution.answers) > 1 for end in ends) and (parts := _intersect_parts(asked, ends)):
        return parts, None
    sides = {end.answer.bound for end in ends}
    if sides == {LOWER, UPPER}:
        return _intersect_limits(asked, ends, beside, told), None
    if reason := explain_open_side(asked, [end.solution for end in ends]):
        still = next((end.solution for end in ends if _is_still(end, ends)), None)
        return still or refuse_question(asked, reason), None
    sign = -1 if sides == {UPPER} else 1
    tightest = max(ends, key=lambda end: sign * value_inside(end.answer))
    if within := _answer_of_memory(asked, tightest):
        return within
    said = (*_tell_end(tightest), *told)
    # At another point another limit may leave least, so that one way is the way of all points only for one limit.
    return replace(_add_warnings(tightest.solution, [*ends, *beside]), said=said), tightest.way if len(limits) == 1 else None


def _answer_of_memory(asked: Question, end: _End) -> _Outcome | None:
    """Return the answer or the refusal of memory, if it leaves less of a size than a limit from below, or None."""
    if asked.unknown not in SIZED or asked.anyway or end.answer.bound != LOWER or end.answer.kind != "point":
        return None
    held, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
    if len(held.answers) != 1:
        return None
    unknown, needed, (low, high) = asked.unknown, end.answer.point, held.answers[0].ends
    if high and needed > high * (1 + HOLDS):
        most = f"memory allows {unknown} <= {show(unknown, high)}"
        return _refuse(end.limit, f"{end.name} needs {unknown} >= {show(unknown, needed)} and {most}", asked)
    return (held, way) if low and needed < low * (1 - HOLDS) and not high else None


def _answer_by_all_else(asked: Question) -> _Outcome | None:
    """Return what the givens without the limits determine, or a refusal if that is beyond a limit, or None if they leave it open.

    If their number is not given, replicas are as many as a limit leaves.
    """
    unlimited = drop_knowns(asked, {*asked.limits})
    if not any(has_way(unlimited.unknown, unlimited.equalities, frozenset(known)) for known in known_values(unlimited)):
        return None
    solution, _ = consistent_answer(replace(unlimited, silent=True))
    if solution.is_refused_for(SHORT_OF_MEMORY) and asked.unknown in {row.defines for row in asked.active}:
        return solution, None
    by_default = {name for name in solution.given if solution.provenance.get(name) == "default"}
    if {one.kind for one in solution.answers} != {"point"} or Replica.number in by_default or by_default == solution.given.keys():
        return None
    there = [(one, [_End(limit, _evaluate_there(limit, one.point)) for limit in split_limits(asked)]) for one in solution.answers]
    missed = [next((end for end in ends if end.solution.answers and not end.limit.is_met(end.solution)), None) for _, ends in there]
    if all(missed):
        return _refuse_beyond(asked, next(filter(None, missed)))
    (first, ends), *others = (pair for pair, beyond in zip(there, missed, strict=True) if beyond is None)
    # Its warnings are looked up once it is the answer.
    solution = consistent_answer(unlimited)[0].keep([first, *(one for one, _ in others)])
    met = [end for end in ends if end.solution.answers]
    notes = (*asked.notes, *(text for text in solution.assumptions if text not in asked.notes))
    said = (*(f"{end.limit.words} is met: it is {_result_in_words(end.limit, end.answer)}" for end in met), *solution.said)
    unused = (*solution.unused, *dict.fromkeys(end.limit.name for end in ends if not end.solution.answers))
    return replace(_add_warnings(solution, met), assumptions=notes, said=said, unused=unused), None


def _refuse_beyond(asked: Question, end: _End) -> _Outcome:
    """Return the refusal of a question in which the other givens determine a result beyond its limit."""
    more = f"; ask for {_CHIPS},{asked.unknown}: {_CHIPS} = 1 by default" if end.solution.provenance.get(_CHIPS) == "default" else ""
    found = _result_in_words(end.limit, end.answer)
    return _refuse(end.limit, f"{end.limit.words} is not met: it is {found} with what is given{more}", asked)


def _evaluate_there(limit: Limit, value: float) -> Solution:
    """Return a limited result at a value of the unknown, whether it moves with it or not."""
    there = limit.evaluate_beside()
    return there if len(there.answers) == 1 or not limit.moves else limit.evaluate_at(value)


def _refuse(limit: Limit, message: str, asked: Question | None = None) -> _Outcome:
    """Return the refusal of a question because a limit is not met."""
    return refuse_question(asked or limit.alone, Reason(code="no_solution", violated=(limit.name,), message=message)), None


def _solve_limit(asked: Question, limit: Limit) -> _Outcome | None:
    """Return the values of the unknown within one limit, or None if any value is within it.

    Memory may fill up before a limit on a larger cache is met. Then memory binds. A result that other givens determine is only compared.
    """
    alone = limit.alone
    outcome = consistent_answer(alone)
    reason = outcome[0].reason
    if reason is None:
        return _add_side(limit, outcome[0]), outcome[1]
    if reason.code == SHORT_OF_MEMORY and asked.unknown in Memory.smaller:
        full = answer_where_memory_binds(replace(alone, silent=True), (limit.name,), (drop_knowns(alone, {*alone.limits}),))
        return (full[0], None) if full else outcome
    if reason.code in ("no_solution", "not_identified", "requirement_violated") and _is_met_everywhere(limit):
        return None
    if reason.code in ("contradiction", "missing_givens") and limit.is_met(limit.evaluate_beside()):
        return None
    if reason.code == "contradiction" and _is_met_within_bounds(asked, limit):
        return None
    if reason.code == "requirement_violated" and asked.unknown in COUNTED and (nearest := tell_nearest(limit, 1.0)):
        return _refuse(limit, f"no whole value of {asked.unknown} meets {limit.words}{nearest}")
    return outcome


def _is_still(end: _End, ends: Sequence[_End]) -> bool:
    """Return whether any value within a limit leads to the same point, and the point is within the other limits."""
    if len(end.solution.answers) > 1 or end.answer.kind != "point" or end.answer.bound:
        return False
    limit, point = end.limit, end.answer.point
    within = ({**limit.alone.known, limit.name: limit.value * factor} for factor in WITHIN[limit.side])
    there = (consistent_answer(replace(limit.alone, known=known, silent=True))[0].first_value for known in within)
    same = all(value is not None and isclose(value, point, rel_tol=HOLDS) for value in there)
    return same and all(other is end or other.limit.is_met(other.limit.evaluate_at(point)) for other in ends)


def _answer_unchecked(asked: Question, limit: Limit, there: Solution) -> _Outcome:
    """Return the answer without a limit that cannot be compared, or why it cannot if a size needs it or suppositions may lead to it."""
    result = drop_knowns(replace(limit.alone, unknown=limit.name), {limit.name})
    usual = suppose_types(result, USUAL_TYPES.keys() - result.known.keys())
    # Bytes that nobody gives are supposed later, and may lead to it.
    supposed = usual is not None and is_reachable(usual)
    if not supposed and (limit.is_part or (FREE in there.refusal.missing and asked.unknown not in SIZED)):
        raise NotMadeOf(limit.name, asked.unknown)
    told = f"{limit.name} does not depend on {asked.unknown}, and its limit cannot be checked: {there.why_not}"
    if supposed or asked.unknown in SIZED:
        return refuse_question(asked, replace(there.refusal, message=told)), None
    return _leave_out(asked, limit, told)


def _leave_out(asked: Question, limit: Limit, told: str) -> _Outcome:
    """Return the answer without a limit, which is not used."""
    solution, way = answer_with_way(drop_knowns(asked, {limit.name}))
    return replace(solution, unused=(*solution.unused, limit.name)).warn("not used", told), way


def _refuse_beside(limit: Limit, there: Solution) -> _Outcome | None:
    """Return why a limit on a result that does not move with the unknown is not met, or None if it is met."""
    if limit.is_met(there):
        return None
    unknown = limit.alone.unknown
    rests = ", ".join(one for one, source in there.provenance.items() if source == "given")
    found = show(limit.name, value_inside(there.answers[0]))
    return _refuse(limit, f"{limit.name} is {found} with any {unknown}, and the limit is {limit.words}. It follows from {rests}")


def _add_side(limit: Limit, solution: Solution) -> Solution:
    """Return a point at which a limit is met, with the side on which it is met.

    A cost that is limited from above and falls with the batch bounds the batch from below.
    """
    value = solution.first_value
    if len(solution.answers) != 1 or value is None or solution.answers[0].bound:
        return solution
    below, above = (limit.is_met(limit.evaluate_at(value * factor)) for factor in (1 - _ASIDE, 1 + _ASIDE))
    if below == above:
        return solution
    return replace(solution, answers=(replace(solution.answers[0], bound=LOWER if above else UPPER),))


def _answer_within_memory(asked: Question, beside: Sequence[_End], told: tuple[str, ...]) -> _Outcome:
    """Return what memory leaves of the unknown if every limit is met with any value."""
    solution, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
    always = tuple(f"{one.words} holds with any {asked.unknown}" for one in split_limits(asked) if one.moves)
    if solution.reason and told:
        return replace(solution, reason=replace(solution.reason, message=f"{told[0]}; {solution.reason.message}")), way
    assumptions = (*always, *solution.assumptions)
    return replace(_add_warnings(solution, beside), assumptions=assumptions, said=(*told, *solution.said)), way


def _intersect_limits(asked: Question, found: Sequence[_End], beside: Sequence[_End], told: tuple[str, ...]) -> Solution:
    """Return what limits from both sides leave: a range, or a contradiction."""
    unknown = asked.unknown
    least = max((end for end in found if end.answer.bound == LOWER), key=lambda end: end.answer.point)
    most = min((end for end in found if end.answer.bound == UPPER), key=lambda end: end.answer.point)
    low, high = least.answer.point, most.answer.point
    if low > high * (1 + HOLDS):
        ends = f"{least.name} needs {unknown} >= {show(unknown, low)} and {most.name} allows {unknown} <= {show(unknown, high)}"
        violated = tuple(dict.fromkeys(end.limit.name for end in (least, most)))
        message = f"contradiction: {ends}{tell_nearest(least.limit, high)}"
        return refuse_question(asked, Reason(code="contradiction", violated=violated, message=message))
    first = (least if unknown in BOUGHT else most).solution
    where = f"from {show(unknown, low)} ({least.name}) to {show(unknown, high)} ({most.name})"
    return replace(
        _add_warnings(_join_ends(asked, first, found), [*found, *beside]),
        answers=(Answer(kind="interval", low=low, high=high, elasticities=first.answers[0].elasticities),),
        equations=tuple(dict.fromkeys(id for end in (least, most) for id in end.solution.equations)),
        said=(where, *told),
    )


def _intersect_parts(asked: Question, ends: Sequence[_End]) -> Solution | None:
    """Return the parts of the unknown that all limits leave if one of them is met at several places, or None if its points say as much."""
    kept = [(0.0, inf)]
    for end in ends:
        points = sorted(one.point for one in end.solution.answers if one.kind == "point")
        if len(points) < len(end.solution.answers):
            return None
        inside = (pair for pair in pairwise((0.0, *points, inf)) if end.limit.is_met(end.limit.evaluate_at(_place_between(*pair))))
        both = ((max(a, c), min(b, d)) for (a, b), (c, d) in product(kept, [*inside]))
        kept = [(low, high) for low, high in both if low < high]
    if len(kept) == len(ends[0].solution.answers) and len(ends) == 1:
        return None
    first, words = ends[0].solution, list_in_words(split_limits(asked))
    if not kept:
        message = f"no value of {asked.unknown} meets {words}"
        return refuse_question(asked, Reason(code="contradiction", violated=tuple(asked.limits), message=message))
    return replace(
        _join_ends(asked, first, ends),
        answers=tuple(Answer(kind="interval", low=low, high=None if high == inf else high) for low, high in kept),
        equations=tuple(dict.fromkeys(id for end in ends for id in end.solution.equations)),
        said=(f"{words} is met" if len(ends) == 1 else f"{words} are met",),
    )


def _join_ends(asked: Question, first: Solution, ends: Sequence[_End]) -> Solution:
    """Return the first answer with all that the ends rest on."""
    given = {name: asked.known.get(name, value) for end in ends for name, value in end.solution.given.items()}
    provenance = {name: source for end in ends for name, source in end.solution.provenance.items()}
    return replace(first, given=given, provenance=provenance, unused=tuple(name for name in first.unused if name not in given))


def _place_between(low: float, high: float) -> float:
    """Return a value between two ends. Beside the last end it is close, because the unknown may have no values far beyond."""
    return (low + high) / 2 if high < inf else low * (1 + _ASIDE)


def _add_warnings(solution: Solution, beside: Iterable[_End]) -> Solution:
    """Return an answer with the warnings of other limits too, its own first.

    The speed of the fewest chips of one limit does not apply if another limit needs more chips.
    """
    others = {kind: text for end in beside for kind, text in end.solution.doubts.items() if kind != FASTER_THAN_ASKED}
    return solution.with_doubts({**solution.doubts, **{kind: text for kind, text in others.items() if kind not in solution.kinds}})


def _add_nearest(asked: Question, limit: Limit, refused: Solution) -> Solution:
    """Return the refusal of a limit that cannot be met, with the nearest value that the other limits and memory leave."""
    reason, counted = refused.refusal, asked.unknown in COUNTED
    others = drop_knowns(asked, {limit.name})
    fits = counted and asked.unknown not in BOUGHT
    if reason.code != "no_solution" or _NEAREST in reason.message or not (others.limits or fits) or not limit.moves:
        return refused
    found, _ = answer_with_way(replace(others, silent=True))
    if len(found.answers) != 1:
        return refused
    sides = zip(found.answers[0].ends, (LOWER, UPPER), strict=True)
    ends = [(end, found.answers[0].bound or side) for end, side in sides if end is not None]
    whole = [max(1.0, next_whole(end, side)) if counted else end for end, side in ends]
    there = {end: limit.evaluate_at(end).first_value for end in (*(() if others.limits else (1.0,)), *whole) if end > 0}
    reached = {value: end for end, value in there.items() if value is not None}
    if not reached:
        return refused
    nearest = (min if limit.side == UPPER else max)(reached)
    kept = list_in_words(split_limits(others))
    told = f"{_NEAREST}{limit.name} = {show(limit.name, nearest)} at {asked.unknown} = {show(asked.unknown, reached[nearest])}"
    return replace(refused, reason=replace(reason, message=f"{reason.message};{f' with {kept}' if kept else ''}{told}"))


def tell_nearest(limit: Limit, value: float) -> str:
    """Return the end of a sentence: the result at the end that another limit leaves."""
    found, unknown = limit.evaluate_at(value).first_value, limit.alone.unknown
    return "" if found is None else f";{_NEAREST}{limit.name} = {show(limit.name, found)} at {unknown} = {show(unknown, value)}"


def _is_met_everywhere(limit: Limit) -> bool:
    """Return whether a limit is met at the ends and in the middle of the domain of the unknown, beside other given results or without."""
    unknown = QUANTITIES[limit.alone.unknown]
    places = [unknown.at(share) for share in (0.0, 0.5, 1.0)]
    beside = [limit.evaluate_at(place).first_value for place in places]
    without = [result_with(limit.alone, limit.name, {unknown.name: place}) for place in places]
    found = [[one for one in values if one is not None] for values in (beside, without)]
    return any(values and all(is_within(limit.side, one, limit.value) for one in values) for values in found)


def _is_met_within_bounds(asked: Question, limit: Limit) -> bool:
    """Return whether a limit is met at both ends of what the givens leave of the unknown without any limit."""
    row = QUANTITIES[asked.unknown]
    without, _ = consistent_answer(replace(drop_knowns(asked, {*asked.limits}), silent=True))
    ends = {end for one in without.answers for end in (one.ends[0] or row.at(0.0), one.ends[1] or row.at(1.0))}
    return bool(ends) and all(limit.is_met(limit.evaluate_at(end)) for end in ends)


def _tell_end(end: _End) -> tuple[str, ...]:
    """Return a line on the end of the unknown that a limit leaves."""
    if len(end.solution.answers) > 1 or end.answer.kind != "point":
        return ()
    unknown, side = end.limit.alone.unknown, "from" if end.answer.bound == LOWER else "to"
    return (f"{side} {show(unknown, end.answer.point)}, where {end.name} binds",)


def _result_in_words(limit: Limit, found: Answer) -> str:
    """Return the value of a limited result in words, with "at best" if it is within its limit only then."""
    at_best = found.bound is not None and found.bound != limit.side
    return f"{show(limit.name, value_inside(found))}{' at best' if at_best else OR[found.bound]}"


def round_to_whole(asked: Question, solution: Solution) -> Solution:
    """Return the answer to limits with counted quantities as whole numbers within them. A refusal if there is none."""
    if asked.unknown not in COUNTED:
        return solution
    answers = tuple(one for one in map(_round_answer, solution.answers) if one)
    if solution.answers and not answers:
        return replace(solution, answers=(), reason=_explain_no_whole(asked, solution.answers), said=())
    return replace(solution, answers=answers)


def _round_answer(one: Answer) -> Answer | None:
    """Return an answer with whole ends, or None if it contains no whole number."""
    if one.kind == "point":
        value = next_whole(one.point, one.bound)
        return replace(one, value=value, residual=None) if value >= 1 or one.bound is None else None
    low = next_whole(one.least, LOWER)
    high = None if one.high is None else next_whole(one.high, UPPER)
    return None if high is not None and high < max(low, 1.0) else replace(one, low=low, high=high)


def round_table(asked: Question, sweep: Sweep) -> Sweep:
    """Return the table with whole numbers, and the reason for a point without a whole number."""
    import numpy as np

    bounds = np.array([{LOWER: 1, UPPER: -1}.get(bound or "", 0) for bound in sweep.bounds])[sweep.places]
    up, down = np.ceil(sweep.values * (1 - HOLDS)), np.floor(sweep.values * (1 + HOLDS))
    values = np.select([bounds > 0, bounds < 0], [up, down], sweep.values)
    none = (values < 1).any(axis=0) & ~(values >= 1).any(axis=0)
    message = f"there is no whole value of {asked.unknown} within the limits"
    reason = Reason(code="no_solution", violated=tuple(asked.limits), message=message)
    others = dict.fromkeys(np.flatnonzero(none).tolist(), ((), reason))
    return replace(sweep, values=np.where(values < 1, np.nan, values), others=others)


def _explain_no_whole(asked: Question, answers: Sequence[Answer]) -> Reason:
    """Return why a limit leaves no whole number, and the result with the next one."""
    low, high = answers[0].ends
    most = low if high is None else high
    left = show(asked.unknown, most) if low == most else f"{show(asked.unknown, low)} to {show(asked.unknown, most)}"
    limits = split_limits(asked)
    nearest = tell_nearest(next(one for one in limits if one.moves), float(ceil(most)))
    message = f"no whole value of {asked.unknown} meets {list_in_words(limits)}, which leaves {asked.unknown} = {left}{nearest}"
    return Reason(code="no_solution", violated=tuple(asked.limits), message=message)
