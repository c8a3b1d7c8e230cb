"""The answer to a question, within all limits on its results.

Each limit alone is solved as an equality, which gives an end of what it leaves of the unknown. If all else determines a limited result,
it is only compared with the limit.
"""

from collections.abc import Sequence
from dataclasses import replace

from derive.answers import BOUGHT, COUNTED, next_whole
from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.roles import MEMORY, REPLICA
from derive.solving.checks.contradicted_defaults import FASTER_THAN_ASKED, answer_where_memory_binds, consistent_answer
from derive.solving.checks.fit import MEMORY_BINDS, SHORT_OF_MEMORY
from derive.solving.checks.targets import is_within
from derive.solving.engine.engine import refuse_question
from derive.solving.engine.find import answer_forwards, evaluate_result
from derive.solving.engine.one_equation import value_inside
from derive.solving.engine.plan import Way
from derive.solving.explain.refusals import is_reachable, results_made_of
from derive.solving.limits.limits import (
    FREE,
    SIZED,
    explain_open_side,
    is_part_of_unknown,
    limit_in_words,
    limited_name,
    refuse_limit,
    rests_on_unknown,
    split_limits,
)
from derive.solving.question.questions import Question, drop_knowns
from derive.solving.result import OR, Answer, Reason, Solution
from derive.suppositions import MOST, STOPGAPS, USUAL_TYPES, Stopgap
from derive.units import show

_CHIPS = MEMORY.bought

_ASIDE = 1e-3
"""Relative distance to either side of an end at which it is seen on which side a limit is met."""

_NEAREST = " nearest is "
"""How the text on the nearest value to a limit that is not met begins."""

_Outcome = tuple[Solution, Way | None]
_Limits = Sequence[tuple[Question, Solution]]
"""The question with one limit alone, and what the limit leaves or the result that does not move with the unknown."""


def answer(asked: Question) -> Solution:
    """Return the answer to a question."""
    return answer_with_way(asked)[0]


def answer_with_way(asked: Question) -> _Outcome:
    """Return the answer, and the way to it if there is one way."""
    if not asked.limits:
        return consistent_answer(asked)
    solution, way = _answer_within_limits(asked)
    if not solution.unused:
        return solution, way
    place = value_inside(solution.answers[0]) if solution.answers else None
    there = (
        _result_at(alone, place) if place and rests_on_unknown(alone) else _result_beside(alone)
        for alone in split_limits(replace(asked, silent=True))
    )
    used = {name for one in there if one.answers for name in one.given}
    return replace(solution, unused=tuple(name for name in solution.unused if name not in used)), way


def _answer_within_limits(asked: Question) -> _Outcome:
    """Return what the limits leave of the unknown."""
    if determined := _answer_by_all_else(asked):
        return determined
    pairs = [(alone, None if rests_on_unknown(alone) else _result_beside(alone)) for alone in split_limits(asked)]
    beside = [(alone, there) for alone, there in pairs if there]
    outcomes = [(alone, _refuse_beside(alone, there) if there else _solve_limit(asked, alone)) for alone, there in pairs]
    if refused := next(((alone, one[0]) for alone, one in outcomes if one and not one[0].answers), None):
        return _add_nearest(asked, *refused), None
    binding = [(alone, *one) for alone, one in outcomes if one]
    if not binding:
        return _answer_within_memory(asked, beside)
    found = [(alone, solution) for alone, solution, _ in binding]
    sides = {one.answers[0].bound for _, one in found}
    if sides == {LOWER, UPPER}:
        return _intersect_limits(asked, found, beside), None
    if reason := explain_open_side(asked, [one for _, one in found]):
        return refuse_question(asked, reason), None
    sign = -1 if sides == {UPPER} else 1
    alone, solution, way = max(binding, key=lambda one: sign * value_inside(one[1].answers[0]))
    told = (*_tell_end(alone, solution), *_tell_met_by_memory(asked, solution, found), *_tell_beside(asked.unknown, beside))
    # At another point another limit may leave least, so that one way is the way of all points only for one limit.
    return replace(_add_warnings(solution, [*found, *beside]), said=told), way if len(outcomes) == 1 else None


def _answer_by_all_else(asked: Question) -> _Outcome | None:
    """Return what the givens without the limits determine, or a refusal if that is beyond a limit, or None if they leave it open."""
    unlimited = drop_knowns(asked, {*asked.limits})
    if not is_reachable(unlimited):
        return None
    solution, _ = consistent_answer(replace(unlimited, silent=True))
    if solution.reason and solution.reason.code == SHORT_OF_MEMORY and asked.unknown in {row.defines for row in asked.active}:
        return solution, None
    by_default = {name for name in solution.given if solution.provenance.get(name) == "default"}
    # Copies that nobody counts are as many as a limit leaves.
    if [one.kind for one in solution.answers] != ["point"] or REPLICA.number in by_default or by_default == solution.given.keys():
        return None
    met, beside, undecided = [], [], []
    for alone in split_limits(asked):
        there = _result_beside(alone)
        if not there.answers and rests_on_unknown(alone):
            there = _result_at(alone, solution.answers[0].point)
        if not there.answers and asked.unknown in SIZED:
            return None
        if not there.answers:
            undecided.append(limited_name(alone))
            continue
        if not _is_within(alone, there):
            more = f"; ask for {_CHIPS},{asked.unknown}: {_CHIPS} = 1 by default" if there.provenance.get(_CHIPS) == "default" else ""
            message = f"{limit_in_words(alone)} is not met: it is {_value_in_words(alone, there.answers[0])} with what is given{more}"
            return refuse_question(asked, Reason(code="no_solution", violated=(limited_name(alone),), message=message)), None
        met.append(_tell_met(alone, there.answers[0]))
        beside.append((alone, there))
    # Its warnings are looked up once it is the answer.
    solution = solution if asked.silent else consistent_answer(unlimited)[0]
    notes = (*asked.notes, *(text for text in solution.assumptions if text not in asked.notes))
    told = _add_warnings(solution, beside)
    return replace(told, assumptions=notes, said=(*met, *solution.said), unused=(*solution.unused, *dict.fromkeys(undecided))), None


def _solve_limit(asked: Question, alone: Question) -> _Outcome | None:
    """Return what one limit leaves of the unknown, or None if it is met with any value.

    Memory may fill up before a limit on a larger cache is met. Then memory binds. A result that other givens determine is only compared.
    """
    outcome = consistent_answer(alone)
    reason = outcome[0].reason
    if reason is None:
        return _add_side(alone, outcome[0], both=limited_name(alone) in asked.floors), outcome[1]
    if reason.code == SHORT_OF_MEMORY and asked.unknown in MEMORY.smaller:
        full = answer_where_memory_binds(replace(alone, silent=True), (limited_name(alone),), (drop_knowns(alone, {*alone.limits}),))
        return (full[0], None) if full else outcome
    if reason.code in ("no_solution", "not_identified", "requirement_violated") and _is_met_everywhere(alone):
        return None
    if reason.code in ("contradiction", "missing_givens") and _is_within(alone, _result_beside(alone)):
        return None
    if reason.code == "requirement_violated" and asked.unknown in COUNTED and (nearest := nearest_reached(alone, 1.0)):
        message = f"no whole {asked.unknown} meets {limit_in_words(alone)}{nearest}"
        return refuse_question(alone, Reason(code="no_solution", violated=(limited_name(alone),), message=message)), None
    return outcome


def _refuse_beside(alone: Question, there: Solution) -> _Outcome | None:
    """Return why a limit on a result that does not move with the unknown is not met, or cannot be compared, or None if it is met."""
    name, unknown = limited_name(alone), alone.unknown
    lacking = there.reason.missing if there.reason else ()
    # Bytes that nobody gives are supposed later, and may lead to it.
    supposed = lacking and {*lacking} <= {*USUAL_TYPES, *NEUTRAL_DEFAULTS}
    by_its_size = FREE in lacking and unknown not in SIZED
    if not there.answers and (is_part_of_unknown(alone) or by_its_size) and not supposed:
        raise refuse_limit(alone)
    if not there.answers:
        told = f"{name} is not made of {unknown}, and the program cannot decide whether it is within its limit: {there.why_not}"
        return replace(there, unknown=unknown, unit=QUANTITIES[unknown].unit, reason=replace(there.refusal, message=told)), None
    if _is_within(alone, there):
        return None
    rests = [one for one, source in there.provenance.items() if source == "given" and one != unknown]
    comes_to = f"it comes to {show(name, value_inside(there.answers[0]))} with any, and {limit_in_words(alone)} is asked of it"
    message = f"{name} does not move with {unknown}: {comes_to}; it is made of {', '.join(rests)}"
    return refuse_question(alone, Reason(code="no_solution", violated=(name,), message=message)), None


def _add_side(alone: Question, solution: Solution, both: bool) -> Solution:
    """Return a point at which a limit is met, with the side on which it is met.

    A cost that is limited from above and falls with the batch bounds the batch from below.
    A result that is limited from both sides must lie between the limits even at its best.
    """
    value = solution.first_value
    if len(solution.answers) != 1 or value is None or solution.answers[0].bound:
        return solution
    (found,) = _result_at(alone, value).answers[:1] or (None,)
    if found is None or (found.bound == alone.limits[limited_name(alone)] and not both):
        return solution
    below, above = (_is_met_at(alone, value * factor) for factor in (1 - _ASIDE, 1 + _ASIDE))
    if below == above:
        return solution
    return replace(solution, answers=(replace(solution.answers[0], bound=LOWER if above else UPPER),))


def _answer_within_memory(asked: Question, beside: _Limits) -> _Outcome:
    """Return what memory leaves of the unknown if every limit is met with any value."""
    solution, way = consistent_answer(drop_knowns(asked, {*asked.limits}))
    always = tuple(f"{limit_in_words(one)} holds with any {asked.unknown}" for one in split_limits(asked) if rests_on_unknown(one))
    told = _tell_beside(asked.unknown, beside)
    if solution.reason and told:
        return replace(solution, reason=replace(solution.reason, message=f"{told[0]}; {solution.reason.message}")), way
    assumptions = (*always, *solution.assumptions)
    return replace(_add_warnings(solution, beside), assumptions=assumptions, said=(*told, *solution.said)), way


def _intersect_limits(asked: Question, found: _Limits, beside: _Limits) -> Solution:
    """Return what limits from both sides leave: a range with its better end, or a contradiction."""
    lower, upper = ([one for one in found if one[1].answers[0].bound == side] for side in (LOWER, UPPER))
    least = max(lower, key=lambda one: one[1].answers[0].point)
    most = min(upper, key=lambda one: one[1].answers[0].point)
    low, high = least[1].answers[0].point, most[1].answers[0].point
    unknown, (takes, leaves) = asked.unknown, (_name_end(*one) for one in (least, most))
    if low > high * (1 + HOLDS):
        ends = f"{takes} takes {unknown} >= {show(unknown, low)} and {leaves} leaves {unknown} <= {show(unknown, high)}"
        message = f"contradiction: {ends}{nearest_reached(least[0], high)}"
        violated = tuple(dict.fromkeys(limited_name(alone) for alone, _ in (least, most)))
        return refuse_question(asked, Reason(code="contradiction", violated=violated, message=message))
    first = (least if unknown in BOUGHT else most)[1]
    told = (
        f"from {show(unknown, low)}, where {takes} binds, to {show(unknown, high)}, where {leaves} does",
        *_tell_beside(unknown, beside),
    )
    between = replace(
        first.answers[0], kind="interval", value=None, low=low, high=high, regime=None, formula=None, bound=None, residual=None
    )
    given = {name: asked.known.get(name, value) for _, one in found for name, value in one.given.items()}
    return replace(
        _add_warnings(first, [*found, *beside]),
        answers=(between,),
        equations=tuple(dict.fromkeys(id for _, one in (least, most) for id in one.equations)),
        given=given,
        provenance={name: source for _, one in found for name, source in one.provenance.items()},
        unused=tuple(name for name in first.unused if name not in given),
        said=told,
    )


def _add_warnings(solution: Solution, beside: _Limits) -> Solution:
    """Return an answer with the warnings of other limits too, its own first.

    The speed of the fewest chips of one limit does not apply if another limit needs more chips.
    """
    others = {kind: text for _, one in beside for kind, text in one.doubts.items() if kind != FASTER_THAN_ASKED}
    return solution.with_doubts({**solution.doubts, **{kind: text for kind, text in others.items() if kind not in solution.kinds}})


def _add_nearest(asked: Question, alone: Question, refused: Solution) -> Solution:
    """Return the refusal of a limit that cannot be met, with the nearest value that the other limits and memory leave."""
    name, reason = limited_name(alone), refused.refusal
    others = drop_knowns(asked, {name})
    fits = asked.unknown in COUNTED and asked.unknown not in BOUGHT
    if reason.code != "no_solution" or _NEAREST in reason.message or not (others.limits or fits) or not rests_on_unknown(alone):
        return refused
    found, _ = answer_with_way(replace(others, silent=True))
    if len(found.answers) != 1 or found.answers[0].kind not in ("point", "interval"):
        return refused
    ends = zip(found.answers[0].ends, (LOWER, UPPER), strict=True)
    sides = [(end, found.answers[0].bound or side) for end, side in ends if end is not None]
    whole = [max(1.0, next_whole(end, side)) if asked.unknown in COUNTED else end for end, side in sides]
    fewest = [] if others.limits else [1.0]
    there = {end: _result_at(alone, end).first_value for end in (*fewest, *whole) if end > 0}
    reached = {value: end for end, value in there.items() if value is not None}
    if not reached:
        return refused
    nearest = min(reached) if alone.limits[name] == UPPER else max(reached)
    kept = " and ".join(map(limit_in_words, split_limits(others)))
    told = f"{_NEAREST}{name} = {show(name, nearest)} at {asked.unknown} = {show(asked.unknown, reached[nearest])}"
    return replace(refused, reason=replace(reason, message=f"{reason.message};{f' with {kept}' if kept else ''}{told}"))


def answer_with_stopgap(asked: Question, refused: Solution) -> Solution | None:
    """Return the answer without what a row of `STOPGAPS` leaves out, None if no row fits: it bounds the unknown from below."""
    for row in STOPGAPS:
        if not asked.limits and _stopgap_fits(row, asked, refused):
            value = QUANTITIES[row.quantity].limits()[1] if row.value == MOST else float(row.value)
            known, provenance = {row.quantity: value, **asked.known}, {row.quantity: "it is not given", **asked.provenance}
            found, _ = consistent_answer(replace(asked, known=known, provenance=provenance, silent=row.hidden))
            if len(found.answers) == 1 and (found.answers[0].bound == LOWER or found.answers[0].low):
                hidden = {row.quantity} if row.hidden else set[str]()
                return replace(
                    found.warn("stopgap", row.text),
                    given={name: one for name, one in found.given.items() if name not in hidden},
                    route=tuple(step for step in found.route if not any(hidden & equation(id).names for id in step.equations)),
                )
    return None


def _stopgap_fits(row: Stopgap, asked: Question, refused: Solution) -> bool:
    """Return whether a row fits: the question mentions none of the quantities that it leaves out."""
    if asked.unknown not in row.unknowns or not asked.known.keys().isdisjoint(row.absent):
        return False
    lacks_it_alone = refused.reason is not None and {*refused.reason.missing} == {row.quantity}
    return (lacks_it_alone or not row.lacking) and not (row.no_results and results_made_of(asked, asked.unknown))


def _result_at(alone: Question, value: float) -> Solution:
    """Return a limited result at a value of the unknown, whether memory suffices there or not."""
    return evaluate_result(replace(alone, anyway=True, limits={}, silent=True), limited_name(alone), value)


def _result_beside(alone: Question) -> Solution:
    """Return a limited result that does not move with the unknown."""
    return answer_forwards(drop_knowns(replace(alone, unknown=limited_name(alone), anyway=True), {limited_name(alone)}))


def _is_met_everywhere(alone: Question) -> bool:
    """Return whether a limit is met at the ends and in the middle of the domain of the unknown, as far as there is a result."""
    row = QUANTITIES[alone.unknown]
    there = [found for share in (0.0, 0.5, 1.0) if (found := _result_at(alone, row.at(share))).answers]
    return bool(there) and all(_is_within(alone, found) for found in there)


def _is_met_at(alone: Question, value: float) -> bool:
    return _is_within(alone, _result_at(alone, value))


def _is_within(alone: Question, there: Solution) -> bool:
    """Return whether a result is a point within its limit."""
    name, found = limited_name(alone), there.first_value
    return found is not None and bool(is_within(alone.limits[name], found, alone.known[name]))


def nearest_reached(alone: Question, value: float) -> str:
    """Return the end of a sentence: the result at the end that another limit leaves."""
    name = limited_name(alone)
    found = _result_at(alone, value).first_value
    return "" if found is None else f";{_NEAREST}{name} = {show(name, found)} at {alone.unknown} = {show(alone.unknown, value)}"


def _tell_beside(unknown: str, beside: _Limits) -> tuple[str, ...]:
    """Return a line for each limit that is met with any value of the unknown."""
    return tuple(
        f"{limit_in_words(alone)} is met with any {unknown}: it comes to {_value_in_words(alone, there.answers[0])}"
        for alone, there in beside
    )


def _tell_end(alone: Question, solution: Solution) -> tuple[str, ...]:
    """Return a line on the end of the unknown that a limit leaves."""
    (one, *more) = solution.answers
    if more or one.kind != "point":
        return ()
    return (f"{'from' if one.bound == LOWER else 'to'} {show(alone.unknown, one.point)}, where {_name_end(alone, solution)} binds",)


def _tell_met_by_memory(asked: Question, solution: Solution, found: _Limits) -> tuple[str, ...]:
    """Return a line for each limit that is met where memory binds first."""
    (one, *more) = solution.answers
    if more or one.kind != "point" or one.regime != MEMORY_BINDS:
        return ()
    most = next_whole(one.point, UPPER) if asked.unknown in COUNTED else one.point
    there = ((alone, _result_at(alone, most).answers[:1]) for alone, _ in found if most)
    return tuple(_tell_met(alone, one) for alone, answers in there for one in answers)


def _tell_met(alone: Question, found: Answer) -> str:
    return f"{limit_in_words(alone)} is met: it is {_value_in_words(alone, found)}"


def _value_in_words(alone: Question, found: Answer) -> str:
    """Return the value of a limited result in words, with "at best" if it is within its limit only then."""
    at_best = found.bound is not None and found.bound != alone.limits[limited_name(alone)]
    return f"{show(limited_name(alone), value_inside(found))}{' at best' if at_best else OR[found.bound]}"


def _name_end(alone: Question, solution: Solution) -> str:
    return "memory" if solution.answers[0].regime == MEMORY_BINDS else limit_in_words(alone)
