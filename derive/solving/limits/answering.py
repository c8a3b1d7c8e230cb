"""The answer to a question, within all limits on its results: the stretches of the unknown on which all limits hold.

Each limit alone is solved as an equality, which gives the ends of its stretches. If all else determines a limited result, it is only
compared with the limit. Of what is counted, whole numbers are left: a batch is rounded down, chips are rounded up.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import NamedTuple

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, OR, Answer, next_whole
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, UPPER
from derive.roles import SIZES, Memory, Replica, Tokens
from derive.solving.checks.contradicted_defaults import FASTER_THAN_ASKED, answer_where_memory_binds, consistent_answer
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.engine.engine import refuse_question
from derive.solving.engine.legs import Way
from derive.solving.engine.one_equation import value_inside
from derive.solving.engine.plan import has_way
from derive.solving.limits.limits import FREE, LimitByEquations, NotMadeOf, list_in_words, split_limits
from derive.solving.limits.stretches import NEAREST, Fact, join_facts, stretches_of, stretches_within, tell_nearest
from derive.solving.question.propagation import giving_equations, quantities_behind
from derive.solving.question.questions import Question, drop_knowns, known_values
from derive.solving.result import Reason, Solution, Sweep
from derive.units import show

_CHIPS = Memory.bought
_SHARES = (0.0, 0.5, 1.0)
"""Shares of the usual range of a quantity at which a limit is compared."""

_Outcome = tuple[Solution, Way | None]


class _Result(NamedTuple):
    """A limited result, or why it cannot be within its limit."""

    limit: LimitByEquations
    solution: Solution

    @property
    def is_met(self) -> bool:
        """Return whether the result is within its limit."""
        return self.limit.allows(self.solution.first_value)

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


def answer_with_way(asked: Question) -> _Outcome:
    """Return the answer, and the way to it if there is one way.

    It uses what the limited results rest on, and warns that a rate is for decode alone also if any value meets the rate.
    """
    if not asked.limits:
        return consistent_answer(asked)
    solution, way = _answer_within_limits(asked)
    place = value_inside(solution.answers[0]) if solution.answers else None
    silent = asked.silent or place is None or Tokens.prompt not in (*asked.known, asked.unknown) or DECODE_ALONE in solution.kinds
    if silent and not solution.unused:
        return solution, way
    limits = split_limits(replace(asked, silent=silent))
    there = [one.evaluate(place or None, silent) for one in limits]
    told = {} if silent else dict(pair for one in there for pair in one.doubts.items() if pair[0] == DECODE_ALONE)
    used = {name for one in there if one.answers for name in one.given}
    unused = tuple(name for name in solution.unused if name not in used)
    return replace(solution.with_doubts({**solution.doubts, **told}), unused=unused), way


def _answer_within_limits(asked: Question) -> _Outcome:
    """Return what the limits leave of the unknown."""
    if determined := _answer_by_all_else(asked):
        return determined
    if unrelated := next((one for one in split_limits(asked) if not one.moves and _is_unrelated(asked, one)), None):
        solution, way = answer_with_way(drop_knowns(asked, {unrelated.name}))
        unchecked = f"{unrelated.name} does not depend on {asked.unknown}, and its limit cannot be checked"
        return replace(solution, unused=(*solution.unused, unrelated.name)).warn("not used", unchecked), way
    found = [_solve_limit(asked, one) if one.moves else _compare_beside(asked, one) for one in split_limits(asked)]
    facts, beside = [one for one in found if isinstance(one, Fact)], [one for one in found if isinstance(one, _Result)]
    if refused := next((one for one in beside if not one.solution.answers), None):
        unused = {name: None for one in beside if not one.solution.answers for name in one.solution.unused}
        return replace(_add_nearest(asked, *refused), unused=tuple(unused)), None
    told = tuple(f"{one.limit.words} is met with any {asked.unknown}: it is {one.told}" for one in beside)
    if not facts:
        return _answer_within_memory(asked, beside, told)
    joined = join_facts(asked.unknown, [*facts, *_add_memory(asked, facts)])
    if isinstance(joined, Reason):
        return refuse_question(asked, joined), None
    # At another point another limit may leave least, so that one way is the way of all points only for one limit.
    way = facts[0].way if len(found) == 1 and joined.equations == facts[0].solution.equations else None
    return replace(_add_warnings(joined, [*facts, *beside]), said=(*joined.said, *told)), way


def _add_memory(asked: Question, facts: Sequence[Fact]) -> Iterator[Fact]:
    """Yield what memory leaves of a size that limits bound only from below."""
    if asked.unknown in SIZES and not asked.anyway and all(one.stretches[-1][1] == inf for one in facts):
        held, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
        if len(held.answers) == 1:
            yield Fact(None, held, stretches_of(held.answers), way)


def _solve_limit(asked: Question, limit: LimitByEquations) -> Fact | _Result | None:
    """Return the stretches of the unknown within one limit, or why there are none, or None if any value is within it.

    Memory may fill up before a limit on a larger cache is met. Then memory binds. A result that other givens determine is only compared.
    """
    alone = limit.alone
    solution, way = consistent_answer(alone)
    if solution.answers and limit.name in solution.unused:
        found = _compare(asked, limit, limit.evaluate(value_inside(solution.answers[0])), "with what is given")
        return Fact(limit, solution, stretches_of(solution.answers), way) if found.is_met else found
    if solution.is_refused_for(SHORT_OF_MEMORY):
        full = answer_where_memory_binds(replace(alone, silent=True), (limit.name,), (drop_knowns(alone, {*alone.limits}),))
        solution = full[0] if full else solution
    if solution.answers:
        stretches = stretches_within(limit, solution.answers)
        return Fact(limit, solution, stretches, way) if stretches != [(0.0, inf)] else None
    if solution.is_refused_for(SHORT_OF_MEMORY):
        return _Result(limit, solution)
    if _is_met_everywhere(asked, limit):
        return None
    whole = solution.is_refused_for("requirement_violated") and asked.unknown in COUNTED
    if whole and (nearest := tell_nearest(limit, asked.unknown, [1.0])):
        message = f"no whole value of {asked.unknown} meets {limit.words}{nearest}"
        solution = refuse_question(asked, Reason(code="no_solution", violated=(limit.name,), message=message))
    return _Result(limit, solution)


def _answer_by_all_else(asked: Question) -> _Outcome | None:
    """Return what the givens without the limits determine, or a refusal if that is beyond a limit, or None if they leave it open.

    If their number is not given, replicas are as many as a limit leaves.
    """
    unlimited = drop_knowns(asked, {*asked.limits})
    if not any(has_way(unlimited.unknown, unlimited.equalities, frozenset(known)) for known in known_values(unlimited)):
        return None
    solution, _ = consistent_answer(replace(unlimited, silent=True))
    by_default = {name for name in solution.given if solution.provenance.get(name) == "default"}
    is_point = {one.kind for one in solution.answers} == {"point"}
    if not is_point or Replica.number in by_default or by_default == solution.given.keys():
        return None
    there = [(one, [_Result(limit, limit.evaluate(one.point)) for limit in split_limits(asked)]) for one in solution.answers]
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
    notes = dict.fromkeys((*asked.notes, *solution.assumptions))
    unused = (*solution.unused, *dict.fromkeys(one.limit.name for one in results if not one.solution.answers))
    said = (*(f"{one.limit.words} is met: it is {one.told}" for one in met), *solution.said)
    return replace(_add_warnings(solution, met), assumptions=tuple(notes), said=said, unused=unused), None


def _compare_beside(asked: Question, limit: LimitByEquations) -> _Result:
    """Return a limited result that does not move with the unknown, or why its limit is not met or cannot be compared."""
    there = limit.evaluate()
    rests = ", ".join(name for name, source in there.provenance.items() if source == "given")
    return _compare(asked, limit, there, f"with any {asked.unknown}. It follows from {rests}")


def _compare(asked: Question, limit: LimitByEquations, there: Solution, how: str) -> _Result:
    """Return a limited result, or why its limit is not met or cannot be compared. Another size than the unknown may lead to it."""
    if there.answers:
        found = _Result(limit, there)
        return found if found.is_met else found.refuse(asked, how)
    if asked.unknown not in SIZES:
        raise NotMadeOf(limit.name, asked.unknown)
    reason = there.refusal.reword(lambda message: f"{limit.words} cannot be compared: {message}")
    return _Result(limit, replace(refuse_question(asked, reason), unused=(limit.name,)))


def _is_unrelated(asked: Question, limit: LimitByEquations) -> bool:
    """Return whether a limit that cannot be compared says nothing of the unknown, which is no size and not made of the limited result."""
    rows = tuple(giving_equations(asked.active).values())
    sized = FREE not in asked.known and FREE in quantities_behind(limit.name, rows)
    related = asked.unknown in SIZES or sized or limit.name in quantities_behind(asked.unknown, rows)
    return not related and not limit.evaluate().answers


def _answer_within_memory(asked: Question, beside: Sequence[_Result], told: tuple[str, ...]) -> _Outcome:
    """Return what memory leaves of the unknown if every limit is met with any value: any value if no equation has it otherwise."""
    solution, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
    moved = [one for one in split_limits(asked) if one.moves]
    always = tuple(f"{one.words} holds with any {asked.unknown}" for one in moved)
    if solution.is_refused_for("missing_givens") and moved:
        row = QUANTITIES[asked.unknown]
        places = (moved[0].evaluate(row.at(share)) for share in _SHARES)
        there = next((one for one in places if one.answers), solution)
        whole = Answer(kind="interval", low=row.floor, high=None if row.ceiling == inf else row.ceiling)
        solution = replace(there, unknown=row.name, unit=row.unit, answers=(whole,), route=(), said=(), reason=None)
        told, always = (*told, *always), ()
    if solution.reason and told:
        return replace(solution, reason=solution.reason.reword(lambda message: f"{told[0]}; {message}")), way
    assumptions = (*always, *solution.assumptions)
    return replace(_add_warnings(solution, beside), assumptions=assumptions, said=(*told, *solution.said)), way


def _add_warnings(solution: Solution, facts: Iterable[Fact | _Result]) -> Solution:
    """Return an answer with the warnings of other limits too, its own first.

    The speed of the fewest chips of one limit does not apply if another limit needs more chips.
    """
    others = {kind: text for one in facts for kind, text in one.solution.doubts.items() if kind != FASTER_THAN_ASKED}
    return solution.with_doubts({**solution.doubts, **{kind: text for kind, text in others.items() if kind not in solution.kinds}})


def _add_nearest(asked: Question, limit: LimitByEquations, refused: Solution) -> Solution:
    """Return the refusal of a limit that cannot be met, with the nearest value that the other limits and memory leave."""
    counted = asked.unknown in COUNTED
    others = drop_knowns(asked, {limit.name})
    fits = counted and asked.unknown not in BOUGHT
    if not refused.is_refused_for("no_solution") or NEAREST in refused.why_not or not (others.limits or fits) or not limit.moves:
        return refused
    found, _ = answer_with_way(replace(others, silent=True))
    if len(found.answers) != 1:
        return refused
    sides = zip(found.answers[0].ends, (LOWER, UPPER), strict=True)
    ends = [(end, found.answers[0].bound or side) for end, side in sides if end]
    whole = [max(1.0, next_whole(end, side)) if counted else end for end, side in ends]
    kept = list_in_words(split_limits(others))
    told = tell_nearest(limit, asked.unknown, whole if others.limits else [1.0, *whole], f" with {kept}" if kept else "")
    return replace(refused, reason=replace(refused.refusal, message=f"{refused.why_not}{told}"))


def _is_met_everywhere(asked: Question, limit: LimitByEquations) -> bool:
    """Return whether a limit is met at the ends of what the givens leave of the unknown."""
    row = QUANTITIES[asked.unknown]
    held, _ = consistent_answer(replace(drop_knowns(asked, {*asked.limits}), silent=True))
    ends = {end for one in held.answers for end in (one.ends[0] or row.at(0.0), one.ends[1] or row.at(1.0))}
    places = ends or {row.at(share) for share in _SHARES}
    found = [one for one in map(limit.value_at, places) if one is not None]
    return bool(found) and all(map(limit.allows, found))


def round_to_whole(asked: Question, solution: Solution) -> Solution:
    """Return the answer to limits with counted quantities as whole numbers within them. A refusal if there is none."""
    if asked.unknown not in COUNTED:
        return solution
    answers = tuple(one for one in map(round_answer, solution.answers) if one)
    if solution.answers and not answers:
        return replace(solution, answers=(), reason=_explain_no_whole(asked, solution.answers), said=())
    return replace(solution, answers=answers)


def round_answer(one: Answer) -> Answer | None:
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

    # Without a number at any point there are no bounds.
    bounds = np.array([{LOWER: 1, UPPER: -1}.get(bound or "", 0) for bound in sweep.bounds or (None,)])[sweep.places]
    up, down = np.ceil(sweep.values * (1 - HOLDS)), np.floor(sweep.values * (1 + HOLDS))
    values = np.select([bounds > 0, bounds < 0], [up, down], sweep.values)
    none = (values < 1).any(axis=0) & ~(values >= 1).any(axis=0)
    message = f"there is no whole value of {asked.unknown} within the limits"
    reason = Reason(code="no_solution", violated=tuple(asked.limits), message=message)
    others = dict.fromkeys(np.flatnonzero(none).tolist(), ((), reason))
    return replace(sweep, values=np.where(values < 1, np.nan, values), others={**sweep.others, **others})


def _explain_no_whole(asked: Question, answers: Sequence[Answer]) -> Reason:
    """Return why a limit leaves no whole number, and the result with the next one."""
    low, high = answers[0].ends
    most = low if high is None else high
    left = " to ".join(dict.fromkeys((show(asked.unknown, low), show(asked.unknown, most))))
    limits = split_limits(asked)
    nearest = tell_nearest(next(one for one in limits if one.moves), asked.unknown, [float(ceil(most))])
    message = f"no whole value of {asked.unknown} meets {list_in_words(limits)}, which leaves {asked.unknown} = {left}{nearest}"
    return Reason(code="no_solution", violated=tuple(asked.limits), message=message)
