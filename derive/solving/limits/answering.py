"""The answer to a question, within all limits on its results: the stretches of the unknown on which all limits hold.

Each limit alone is solved as an equality, which gives the ends of its stretches. If all else determines a limited result, it is only
compared with the limit. Of what is counted, whole numbers are left: a batch is rounded down, chips are rounded up.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import ceil, inf
from typing import NamedTuple

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, OR, Answer, next_whole
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
from derive.solving.limits.limits import SIZED, Limit, NotMadeOf, list_in_words, split_limits
from derive.solving.question.questions import Question, drop_knowns, known_values, suppose_types
from derive.solving.result import Reason, Solution, Sweep
from derive.suppositions import USUAL_TYPES
from derive.units import show

_CHIPS = Memory.bought

_ASIDE = 1e-3
"""Relative distance to either side of an end at which it is seen on which side a limit is met."""

_NEAREST = " nearest is "
"""How the text on the nearest value to a limit that is not met begins."""

_Outcome = tuple[Solution, Way | None]
_Stretch = tuple[float, float]


class _Result(NamedTuple):
    """A limited result, or why it cannot be within its limit."""

    limit: Limit
    solution: Solution

    @property
    def is_met(self) -> bool:
        """Return whether the result is within its limit."""
        return self.limit.is_met(self.solution)

    @property
    def told(self) -> str:
        """Return the value in words, with "at best" if it is within its limit only then."""
        found = self.solution.answers[0]
        at_best = found.bound is not None and found.bound != self.limit.side
        return f"{show(self.limit.name, value_inside(found))}{' at best' if at_best else OR[found.bound]}"

    def refuse(self, asked: Question, how: str) -> "_Result":
        """Return the refusal of a question because the result is beyond its limit."""
        message = f"{self.limit.words} is not met: it is {self.told} {how}"
        reason = Reason(code="no_solution", violated=(self.limit.name,), message=message)
        return _Result(self.limit, refuse_question(asked, reason))


class _Fact(NamedTuple):
    """What a limit leaves of the unknown: its stretches, and the limit solved as an equality. Or what memory leaves, without a limit."""

    limit: Limit | None
    solution: Solution
    stretches: Sequence[_Stretch]
    way: Way | None = None

    @property
    def name(self) -> str:
        """Return what binds, in words."""
        return self.limit.words if self.limit and self.solution.answers[0].regime != MEMORY_BINDS else "memory"


class _End(NamedTuple):
    """An end of what facts leave of the unknown, and the fact that binds there."""

    side: str
    value: float
    fact: _Fact

    def tell(self, unknown: str) -> str:
        """Return the place of the end in words."""
        return f"{'from' if self.side == LOWER else 'to'} {show(unknown, self.value)}"


def answer_with_way(asked: Question) -> _Outcome:
    """Return the answer, and the way to it if there is one way.

    It uses what the limited results rest on, and warns that a rate is for decode alone also if any value meets the rate.
    """
    if not asked.limits:
        return consistent_answer(asked)
    solution, way = _answer_within_limits(asked)
    place = value_inside(solution.answers[0]) if solution.answers else None
    silent = asked.silent or place is None or Tokens.prompt not in asked.known or DECODE_ALONE in solution.kinds
    if silent and not solution.unused:
        return solution, way
    limits = split_limits(replace(asked, silent=silent))
    there = [one.evaluate_at(place, silent) if place and one.moves else one.evaluate_beside() for one in limits]
    told = {} if silent else dict(pair for one in there for pair in one.doubts.items() if pair[0] == DECODE_ALONE)
    used = {name for one in there if one.answers for name in one.given}
    unused = tuple(name for name in solution.unused if name not in used)
    return replace(solution.with_doubts({**solution.doubts, **told}), unused=unused), way


def _answer_within_limits(asked: Question) -> _Outcome:
    """Return what the limits leave of the unknown."""
    if determined := _answer_by_all_else(asked):
        return determined
    found = [_solve_limit(asked, one) if one.moves else _compare_beside(asked, one) for one in split_limits(asked)]
    facts, beside = [one for one in found if isinstance(one, _Fact)], [one for one in found if isinstance(one, _Result)]
    if refused := next((one for one in beside if not one.solution.answers), None):
        return _add_nearest(asked, *refused), None
    told = tuple(f"{one.limit.words} is met with any {asked.unknown}: it is {one.told}" for one in beside)
    if not facts:
        return _answer_within_memory(asked, beside, told)
    solution, way = _join_facts(asked, [*facts, *_add_memory(asked, facts)])
    # At another point another limit may leave least, so that one way is the way of all points only for one limit.
    return replace(_add_warnings(solution, [*facts, *beside]), said=(*solution.said, *told)), way if len(found) == 1 else None


def _join_facts(asked: Question, facts: Sequence[_Fact]) -> _Outcome:
    """Return the stretches that all facts leave, with the fact that binds at each end, or a contradiction if they leave none."""
    kept = [(0.0, inf)]
    for one in facts:
        # Of two ends that differ by rounding the first one binds.
        both = ((c if c > a * (1 + HOLDS) else a, d if d < b * (1 - HOLDS) else b) for (a, b), (c, d) in product(kept, one.stretches))
        kept = [(low, high) for low, high in both if low <= high * (1 + HOLDS)]
    if not kept:
        return _refuse_apart(asked, facts), None
    at = {end: one for one in reversed(facts) for pair in one.stretches for end in pair}
    parts = [[_End(side, end, at[end]) for side, end in zip((LOWER, UPPER), pair, strict=True) if 0 < end < inf] for pair in kept]
    first = parts[0][0].fact
    if all(one.fact is first and (one.value == last.value or not last.fact.limit) for one, last in ((part[0], part[-1]) for part in parts)):
        return _show_points(asked.unknown, first.solution, parts), first.way
    binding = [end.fact.solution for part in parts for end in part]
    best = binding[0 if asked.unknown in BOUGHT else -1]
    given = {name: asked.known.get(name, value) for one in facts for name, value in one.solution.given.items()}
    moves = best.answers[0].elasticities if len(kept) == 1 else {}
    joined = replace(
        best,
        answers=tuple(Answer(kind="interval", low=low, high=None if high == inf else high, elasticities=moves) for low, high in kept),
        equations=tuple(dict.fromkeys(id for one in binding for id in one.equations)),
        given=given,
        provenance={name: source for one in facts for name, source in one.solution.provenance.items()},
        unused=tuple(name for name in best.unused if name not in given),
        said=(" and ".join(" ".join(f"{end.tell(asked.unknown)} ({end.fact.name})" for end in part) for part in parts),),
    )
    return joined, None


def _show_points(unknown: str, solution: Solution, parts: Sequence[Sequence[_End]]) -> Solution:
    """Return a limit as an equality, with the sides on which it is met, and where memory ends that."""
    if any(one.kind != "point" for one in solution.answers):
        return solution
    bounds = {one.value: None if others and others[0].value == one.value else one.side for one, *others in parts}
    ends = [end for part in parts[: len(parts) == 1] for end in part if bounds.get(end.value, end.side)]
    told = tuple(f"{end.tell(unknown)}, where {end.fact.name} binds" for end in ends)
    kept = solution.keep([one for one in solution.answers if one.point in bounds])
    return replace(kept, answers=tuple(replace(one, bound=bounds[one.point]) for one in kept.answers), said=told)


def _refuse_apart(asked: Question, facts: Sequence[_Fact]) -> Solution:
    """Return that facts leave no value in common."""
    unknown, violated = asked.unknown, tuple(dict.fromkeys(one.limit.name for one in facts if one.limit))
    least, most = max(facts, key=lambda one: one.stretches[0][0]), min(facts, key=lambda one: one.stretches[-1][1])
    low, high = least.stretches[0][0], most.stretches[-1][1]
    message = f"no value of {unknown} meets {list_in_words(split_limits(asked))}"
    if low > high and least.limit:
        needs = f"{least.name} needs {unknown} >= {show(unknown, low)} and {most.name} allows {unknown} <= {show(unknown, high)}"
        message = f"contradiction: {needs}{_tell_nearest(least.limit, [high])}"
        violated = tuple(dict.fromkeys(one.limit.name for one in (least, most) if one.limit))
    return refuse_question(asked, Reason(code="contradiction", violated=violated, message=message))


def _add_memory(asked: Question, facts: Sequence[_Fact]) -> Iterator[_Fact]:
    """Yield what memory leaves of a size that limits bound only from below."""
    if asked.unknown in SIZED and not asked.anyway and all(one.stretches[-1][1] == inf for one in facts):
        held, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
        if len(held.answers) == 1:
            low, high = held.answers[0].ends
            yield _Fact(None, held, [(low, high or inf)], way)


def _solve_limit(asked: Question, limit: Limit) -> _Fact | _Result | None:
    """Return the stretches of the unknown within one limit, or why there are none, or None if any value is within it.

    Memory may fill up before a limit on a larger cache is met. Then memory binds. A result that other givens determine is only compared.
    """
    alone = limit.alone
    solution, way = consistent_answer(alone)
    if solution.answers and limit.name in solution.unused:
        return _refuse_uncompared(asked, limit, limit.evaluate_at(value_inside(solution.answers[0])))
    if solution.is_refused_for(SHORT_OF_MEMORY):
        full = answer_where_memory_binds(replace(alone, silent=True), (limit.name,), (drop_knowns(alone, {*alone.limits}),))
        solution = full[0] if full else solution
    if solution.answers:
        stretches = _list_stretches(limit, solution.answers)
        return _Fact(limit, solution, stretches, way) if stretches != [(0.0, inf)] else None
    if solution.is_refused_for(SHORT_OF_MEMORY):
        return _Result(limit, solution)
    if _is_met_everywhere(asked, limit) or limit.is_met(limit.evaluate_beside()):
        return None
    whole = solution.is_refused_for("requirement_violated") and asked.unknown in COUNTED
    if whole and (nearest := _tell_nearest(limit, [1.0])):
        message = f"no whole value of {asked.unknown} meets {limit.words}{nearest}"
        solution = refuse_question(asked, Reason(code="no_solution", violated=(limit.name,), message=message))
    return _Result(limit, solution)


def _list_stretches(limit: Limit, answers: Sequence[Answer]) -> list[_Stretch]:
    """Return where a limit is met between its answers as an equality, or these answers if it is met on no side of them."""
    if any(one.kind != "point" for one in answers):
        return [(one.least, inf if one.high is None else one.high) for one in answers]
    if len(answers) == 1 and answers[0].bound:
        return [(0.0, answers[0].point) if answers[0].bound == UPPER else (answers[0].point, inf)]
    points, found = sorted(one.point for one in answers), list[_Stretch]()
    for low, high in pairwise((0.0, *points, inf)):
        place = low * (1 + _ASIDE) if high == inf else (low + high) / 2 if low else high * (1 - _ASIDE)
        if limit.is_met(limit.evaluate_at(place)):
            before = found.pop()[0] if found and found[-1][1] == low else low
            found.append((before, high))
    return found or [(point, point) for point in points]


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
    there = [(one, [_Result(limit, _evaluate_there(limit, one.point)) for limit in split_limits(asked)]) for one in solution.answers]
    missed = [next((one for one in results if one.solution.answers and not one.is_met), None) for _, results in there]
    if all(missed):
        beyond = next(filter(None, missed))
        by_chips = beyond.solution.provenance.get(_CHIPS) == "default"
        more = f"; ask for {_CHIPS},{asked.unknown}: {_CHIPS} = 1 by default" if by_chips else ""
        return beyond.refuse(asked, f"with what is given{more}").solution, None
    (first, results), *others = (pair for pair, beyond in zip(there, missed, strict=True) if beyond is None)
    # Its warnings are looked up once it is the answer.
    solution = consistent_answer(unlimited)[0].keep([first, *(one for one, _ in others)])
    met = [one for one in results if one.solution.answers]
    notes = (*asked.notes, *(text for text in solution.assumptions if text not in asked.notes))
    unused = (*solution.unused, *dict.fromkeys(one.limit.name for one in results if not one.solution.answers))
    said = (*(f"{one.limit.words} is met: it is {one.told}" for one in met), *solution.said)
    return replace(_add_warnings(solution, met), assumptions=notes, said=said, unused=unused), None


def _evaluate_there(limit: Limit, value: float) -> Solution:
    """Return a limited result at a value of the unknown, whether it moves with it or not."""
    there = limit.evaluate_beside()
    return there if len(there.answers) == 1 or not limit.moves else limit.evaluate_at(value)


def _compare_beside(asked: Question, limit: Limit) -> _Result:
    """Return a limited result that does not move with the unknown, or why its limit is not met or cannot be compared."""
    there = limit.evaluate_beside()
    if not there.answers:
        return _refuse_uncompared(asked, limit, there)
    rests = ", ".join(name for name, source in there.provenance.items() if source == "given")
    found = _Result(limit, there)
    return found if found.is_met else found.refuse(asked, f"with any {asked.unknown}. It follows from {rests}")


def _refuse_uncompared(asked: Question, limit: Limit, there: Solution) -> _Result:
    """Return why a limit cannot be compared. Another size than the unknown may lead to it, unless suppositions do."""
    result = drop_knowns(replace(limit.alone, unknown=limit.name), {limit.name})
    usual = suppose_types(result, USUAL_TYPES.keys() - result.known.keys())
    # Bytes that nobody gives are supposed later, and may lead to it.
    supposed = usual is not None and is_reachable(usual)
    if not supposed and asked.unknown not in SIZED:
        raise NotMadeOf(limit.name, asked.unknown)
    reason = replace(there.refusal, message=f"{limit.words} cannot be compared: {there.why_not}")
    return _Result(limit, replace(refuse_question(asked, reason), unused=(limit.name,)))


def _answer_within_memory(asked: Question, beside: Sequence[_Result], told: tuple[str, ...]) -> _Outcome:
    """Return what memory leaves of the unknown if every limit is met with any value."""
    solution, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
    always = tuple(f"{one.words} holds with any {asked.unknown}" for one in split_limits(asked) if one.moves)
    if solution.reason and told:
        return replace(solution, reason=replace(solution.reason, message=f"{told[0]}; {solution.reason.message}")), way
    assumptions = (*always, *solution.assumptions)
    return replace(_add_warnings(solution, beside), assumptions=assumptions, said=(*told, *solution.said)), way


def _add_warnings(solution: Solution, facts: Iterable[_Fact | _Result]) -> Solution:
    """Return an answer with the warnings of other limits too, its own first.

    The speed of the fewest chips of one limit does not apply if another limit needs more chips.
    """
    others = {kind: text for one in facts for kind, text in one.solution.doubts.items() if kind != FASTER_THAN_ASKED}
    return solution.with_doubts({**solution.doubts, **{kind: text for kind, text in others.items() if kind not in solution.kinds}})


def _add_nearest(asked: Question, limit: Limit, refused: Solution) -> Solution:
    """Return the refusal of a limit that cannot be met, with the nearest value that the other limits and memory leave."""
    counted = asked.unknown in COUNTED
    others = drop_knowns(asked, {limit.name})
    fits = counted and asked.unknown not in BOUGHT
    if not refused.is_refused_for("no_solution") or _NEAREST in refused.why_not or not (others.limits or fits) or not limit.moves:
        return refused
    found, _ = answer_with_way(replace(others, silent=True))
    if len(found.answers) != 1:
        return refused
    sides = zip(found.answers[0].ends, (LOWER, UPPER), strict=True)
    ends = [(end, found.answers[0].bound or side) for end, side in sides if end]
    whole = [max(1.0, next_whole(end, side)) if counted else end for end, side in ends]
    kept = list_in_words(split_limits(others))
    told = _tell_nearest(limit, whole if others.limits else [1.0, *whole], f" with {kept}" if kept else "")
    return replace(refused, reason=replace(refused.refusal, message=f"{refused.why_not}{told}"))


def _tell_nearest(limit: Limit, places: Iterable[float], kept: str = "") -> str:
    """Return the end of a sentence: the result that is nearest to its limit at some values of the unknown."""
    there = {place: limit.evaluate_at(place).first_value for place in places}
    reached = {value: place for place, value in there.items() if value is not None}
    if not reached:
        return ""
    nearest, unknown = (min if limit.side == UPPER else max)(reached), limit.alone.unknown
    return f";{kept}{_NEAREST}{limit.name} = {show(limit.name, nearest)} at {unknown} = {show(unknown, reached[nearest])}"


def _is_met_everywhere(asked: Question, limit: Limit) -> bool:
    """Return whether a limit is met at the ends of what the givens leave of the unknown, beside other given results or without."""
    row = QUANTITIES[asked.unknown]
    held, _ = consistent_answer(replace(drop_knowns(asked, {*asked.limits}), silent=True))
    ends = {end for one in held.answers for end in (one.ends[0] or row.at(0.0), one.ends[1] or row.at(1.0))}
    places = ends or {row.at(share) for share in (0.0, 0.5, 1.0)}
    beside = [limit.evaluate_at(place).first_value for place in places]
    without = [result_with(limit.alone, limit.name, {row.name: place}) for place in places]
    found = [[one for one in values if one is not None] for values in (beside, without)]
    return any(values and all(is_within(limit.side, one, limit.value) for one in values) for values in found)


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
    left = " to ".join(dict.fromkeys((show(asked.unknown, low), show(asked.unknown, most))))
    limits = split_limits(asked)
    nearest = _tell_nearest(next(one for one in limits if one.moves), [float(ceil(most))])
    message = f"no whole value of {asked.unknown} meets {list_in_words(limits)}, which leaves {asked.unknown} = {left}{nearest}"
    return Reason(code="no_solution", violated=tuple(asked.limits), message=message)
