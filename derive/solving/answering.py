"""A question answered, within all the limits that are given on its results."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from derive.answers import BOUGHT, COUNTED, next_whole
from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.contradicted_defaults import FASTER_THAN_ASKED, consistent_answer
from derive.solving.directions import bound_of, signs
from derive.solving.engine import list_unused, refuse_question
from derive.solving.find import evaluate_result, forwards, values_there
from derive.solving.fit import CAN_BE_LESS, IN_FLIGHT, MEMORY_BINDS, NO_CACHE, SHORT_OF_MEMORY
from derive.solving.limits import (
    FREE,
    SIZED,
    is_part_of_unknown,
    limit_in_words,
    limited_by,
    not_made_of,
    one_by_one,
    open_to_limits,
    rests_on_unknown,
)
from derive.solving.one_equation import inside
from derive.solving.plan import Way
from derive.solving.questions import IN_BF16, Question, without
from derive.solving.refusals import made_of
from derive.solving.result import OR, Answer, Reason, Solution
from derive.units import show

_PEAK = "peak_flops"
_ASIDE = 1e-3

"""How far to either side of where a limit is met it is looked on which it holds."""


_NEAREST = " nearest is "

"""How what comes nearest to a limit that is not met begins."""


def answer(asked: Question) -> Solution:
    """The question answered: first from the givens alone, then with neutral defaults."""
    return answered(asked)[0]


def answered(asked: Question) -> tuple[Solution, Way | None]:
    """The answer, and the route it took if there is one.

    Of several limits the one that leaves least is answered. Where all else determines the unknown, they are held against it.
    """
    if not asked.limits:
        solution, way = consistent_answer(asked)
        return (solution, way) if not asked.bounded else (_bounded_one_way(asked, solution, way), way)
    solution, way = _within_limits(asked)
    if not solution.unused:
        return solution, way
    place = inside(solution.answers[0]) if solution.answers else None
    there = (_result_at(alone, place) if place and rests_on_unknown(alone) else _result_beside(alone) for alone in one_by_one(asked))
    taken = {name for one in there if one.answers for name in one.given}
    return replace(solution, unused=tuple(name for name in solution.unused if name not in taken)), way


def _bounded_one_way(asked: Question, solution: Solution, way: Way | None) -> Solution:
    """Return an answer with the side to which limits on inputs bound it; a refusal if the truth may be to either side of it.

    An estimate, which may itself be to either side, has the side of the limits.
    """
    answers = []
    for one in solution.answers:
        if one.kind != "point" or one.bound or way is None:
            answers.append(one)
            continue
        values = values_there(asked, solution, one)
        both, own, by_limits = (
            signs(question, way, values, only)
            for question, only in ((asked, None), (replace(asked, bounded={}), None), (asked, asked.bounded))
        )
        if both and (len(own) == 1 or len(by_limits) != 1):
            names = " and ".join(asked.bounded)
            message = f"{asked.unknown} may be more and less than {show(asked.unknown, one.point)} within the limits on {names}"
            return refuse_question(asked, Reason(code="not_identified", violated=tuple(asked.bounded), message=message))
        answers.append(replace(one, bound=bound_of(by_limits)))
    return replace(solution, answers=tuple(answers))


def _within_limits(asked: Question) -> tuple[Solution, Way | None]:
    """The answer to limits, as `answered` has it, and all that was given for nothing by the route to it."""
    if determined := _determined(asked):
        return determined
    outcomes = [(alone, _as_limit(asked, alone)) for alone in one_by_one(asked)]
    if refused := next(((alone, one[0]) for alone, one in outcomes if one and not one[0].answers), None):
        return _with_nearest(asked, *refused), None
    bounding_ones = [(alone, *one) for alone, one in outcomes if one]
    if not bounding_ones:
        return _idle(asked)
    found = [(alone, solution) for alone, solution, _ in bounding_ones]
    sides = {one.answers[0].bound for _, one in found}
    if sides == {LOWER, UPPER}:
        return _between(asked, found), None
    if reason := open_to_limits(asked, [one for _, one in found]):
        return refuse_question(asked, reason), None
    sign = -1 if sides == {UPPER} else 1
    alone, solution, way = max(bounding_ones, key=lambda one: sign * inside(one[1].answers[0]))
    held = _held_beside(asked)
    met = _met_by_memory(asked, solution, [one for one, _ in found])
    solution = replace(_doubted(solution, [*found, *held]), said=(*_bound_by(alone, solution), *met, *_held_in_words(asked.unknown, held)))
    # Another point may be left least by another of them: there is no one way for all.
    return solution, way if len(outcomes) == 1 else None


def _doubted(solution: Solution, beside: Iterable[tuple[Question, Solution]]) -> Solution:
    """An answer to several limits with the doubts of each: those of its own kind say it of the answer itself.

    How fast the fewest chips are that memory takes is said of no answer that another limit makes more of.
    """
    said = {kind: text for _, one in beside for kind, text in zip(one.kinds, one.warnings, strict=True) if kind != FASTER_THAN_ASKED}
    own = dict(zip(solution.kinds, solution.warnings, strict=True))
    said = {**own, **{kind: text for kind, text in said.items() if kind not in own}}
    return replace(solution, warnings=tuple(said.values()), kinds=tuple(said))


def _with_nearest(asked: Question, alone: Question, refused: Solution) -> Solution:
    """A limit that nothing meets, with what comes nearest to it where the others are kept, or in as many as there is room for."""
    name, reason = limited_by(alone), refused.refusal
    others = without(asked, {name})
    fits = asked.unknown in COUNTED and asked.unknown not in BOUGHT
    if reason.code != "no_solution" or _NEAREST in reason.message or not (others.limits or fits) or not rests_on_unknown(alone):
        return refused
    found, _ = answered(others)
    if len(found.answers) != 1 or found.answers[0].kind not in ("point", "interval"):
        return refused
    ends = zip(found.answers[0].ends, (LOWER, UPPER), strict=True)
    sides = [(end, found.answers[0].bound or side) for end, side in ends if end is not None]
    whole = [max(1.0, next_whole(end, side)) if asked.unknown in COUNTED else end for end, side in sides]
    fewest = [] if others.limits else [1.0]
    there = {end: _result_at(alone, end).answers[:1] for end in (*fewest, *whole) if end > 0}
    reached = {one.point: end for end, (*points,) in there.items() for one in points if one.kind == "point"}
    if not reached:
        return refused
    nearest = min(reached) if alone.limits[name] == UPPER else max(reached)
    kept = " and ".join(map(limit_in_words, one_by_one(others)))
    told = f"{_NEAREST}{name} = {show(name, nearest)} at {asked.unknown} = {show(asked.unknown, reached[nearest])}"
    return replace(refused, reason=replace(reason, message=f"{reason.message};{f' with {kept}' if kept else ''}{told}"))


def _determined(asked: Question) -> tuple[Solution, Way | None] | None:
    """What all but the limits determine, if they do, with what is limited there; refused where that is beyond one of its limits."""
    solution, _ = consistent_answer(without(asked, {*asked.limits}))
    if solution.reason and solution.reason.code == SHORT_OF_MEMORY:
        return solution, None
    by_default = {name for name in solution.given if solution.provenance.get(name) == "default"}
    # Copies that nobody counts are as many as a limit leaves.
    if [one.kind for one in solution.answers] != ["point"] or "replicas" in by_default or by_default == solution.given.keys():
        return None
    met, beside = [], []
    for alone in one_by_one(asked):
        there = _result_beside(alone)
        if not there.answers and rests_on_unknown(alone):
            there = _result_at(alone, solution.answers[0].point)
        if not there.answers:
            return None
        if not _is_within(alone, there):
            more = f"; ask for chips,{asked.unknown}: chips = 1 by default" if there.provenance.get("chips") == "default" else ""
            message = f"{limit_in_words(alone)} is not met: it comes to {_value(alone, there.answers[0])} with what is given{more}"
            return refuse_question(asked, Reason(code="no_solution", violated=(limited_by(alone),), message=message)), None
        met.append(_as_met(alone, there.answers[0]))
        beside.append((alone, there))
    notes = (*asked.notes, *(text for text in solution.assumptions if text not in asked.notes))
    return replace(_doubted(solution, beside), assumptions=notes, said=(*met, *solution.said)), None


def _as_limit(asked: Question, alone: Question) -> tuple[Solution, Way | None] | None:
    """What one limit leaves of the unknown; None where it is met whatever that is.

    Of what makes a cache larger, memory leaves no more than fits: where that is met before the limit, it binds.
    """
    if not rests_on_unknown(alone):
        refused = _beyond_reach(alone)
        return (refused, None) if refused else None
    outcome = consistent_answer(alone)
    reason = outcome[0].reason
    if reason is None:
        return _one_way(alone, outcome[0], both=limited_by(alone) in asked.floors), outcome[1]
    if reason.code == SHORT_OF_MEMORY and asked.unknown in CAN_BE_LESS:
        held = _by_memory(alone)
        return (held, None) if held else outcome
    if reason.code in ("no_solution", "not_identified", "requirement_violated") and _met_everywhere(alone):
        return None
    if reason.code == "requirement_violated" and asked.unknown in COUNTED and (nearest := nearest_reached(alone, 1.0)):
        message = f"no whole {asked.unknown} meets {limit_in_words(alone)}{nearest}"
        return refuse_question(alone, Reason(code="no_solution", violated=(limited_by(alone),), message=message)), None
    return outcome


def _beyond_reach(alone: Question) -> Solution | None:
    """Why a limit on what does not move with the unknown is not met, or is not known to be; None where it is met."""
    name, unknown = limited_by(alone), alone.unknown
    there = _result_beside(alone)
    lacking = there.reason.missing if there.reason else ()
    # What is supposed of bytes that nobody gives may lead to it.
    supposed = lacking and {*lacking} <= {*IN_BF16, *NEUTRAL_DEFAULTS}
    by_its_size = FREE in lacking and unknown not in SIZED
    if not there.answers and (is_part_of_unknown(alone) or by_its_size) and not supposed:
        raise not_made_of(alone)
    if not there.answers:
        told = f"{name} is not made of {unknown}, and whether it is within its limit cannot be told: {there.why_not}"
        return replace(there, unknown=unknown, unit=QUANTITIES[unknown].unit, reason=replace(there.refusal, message=told))
    if _is_within(alone, there):
        return None
    rests = [one for one, source in there.provenance.items() if source == "given" and one != unknown]
    comes_to = f"it comes to {show(name, inside(there.answers[0]))} with any, and {limit_in_words(alone)} is asked of it"
    message = f"{name} does not move with {unknown}: {comes_to}; it is made of {', '.join(rests)}"
    return refuse_question(alone, Reason(code="no_solution", violated=(name,), message=message))


def _held_beside(asked: Question) -> list[tuple[Question, Solution]]:
    """The limits on what does not move with the unknown, which are met, and what that comes to."""
    return [(alone, _result_beside(alone)) for alone in one_by_one(asked) if not rests_on_unknown(alone)]


def _held_in_words(unknown: str, held: Iterable[tuple[Question, Solution]]) -> tuple[str, ...]:
    """Limits that are met whatever the unknown is, with what they come to."""
    said = []
    for alone, there in held:
        (found, *_) = there.answers
        said.append(f"{limit_in_words(alone)} is met with any {unknown}: it comes to {_value(alone, found)}")
    return tuple(said)


def _bound_by(alone: Question, solution: Solution) -> tuple[str, ...]:
    """Where the unknown ends that a limit leaves, and what makes it end there."""
    (one, *more) = solution.answers
    if more or one.kind != "point":
        return ()
    return (f"{'from' if one.bound == LOWER else 'to'} {show(alone.unknown, one.point)}, where {_binding(alone, solution)} binds",)


def _met_by_memory(asked: Question, solution: Solution, alone: Iterable[Question]) -> tuple[str, ...]:
    """Limits that are met where memory binds before them, with what they come to in as many whole ones as it holds."""
    (one, *more) = solution.answers
    if more or one.kind != "point" or one.regime != MEMORY_BINDS:
        return ()
    most = next_whole(one.point, UPPER) if asked.unknown in COUNTED else one.point
    there = ((one, _result_at(one, most).answers[:1]) for one in alone if most)
    return tuple(_as_met(one, found) for one, answers in there for found in answers)


def _as_met(alone: Question, found: Answer) -> str:
    """A limit that is met, and what it comes to."""
    return f"{limit_in_words(alone)} is met: it comes to {_value(alone, found)}"


def _value(alone: Question, found: Answer) -> str:
    """What the result that is limited comes to, in words; of one that is within its limit at best, that it is so."""
    at_best = found.bound is not None and found.bound != alone.limits[limited_by(alone)]
    return f"{show(limited_by(alone), inside(found))}{' at best' if at_best else OR[found.bound]}"


def _one_way(alone: Question, solution: Solution, both: bool) -> Solution:
    """A point at which a limit is met, and on which side: what is at best within its limit is so on that side alone.

    A cost that is so much or more, and at most so much by its limit, falls with the batch: the batch is so many or more.
    Of one that is limited from both sides, what it is at best has to lie between.
    """
    points = [one for one in solution.answers if one.kind == "point"]
    if len(solution.answers) != 1 or len(points) != 1 or points[0].bound:
        return solution
    (found,) = _result_at(alone, points[0].point).answers[:1] or (None,)
    if found is None or (found.bound == alone.limits[limited_by(alone)] and not both):
        return solution
    below, above = (_meets_limit(alone, points[0].point * factor) for factor in (1 - _ASIDE, 1 + _ASIDE))
    if below == above:
        return solution
    return replace(solution, answers=(replace(points[0], bound=LOWER if above else UPPER),))


def _by_memory(alone: Question) -> Solution | None:
    """As much as memory holds, where the limit is met there; None where it is not."""
    name = limited_by(alone)
    held, _ = consistent_answer(without(alone, {name}))
    if [one.kind for one in held.answers] != ["interval"] or held.answers[0].high is None:
        return None
    (one,) = held.answers
    if not _meets_limit(alone, one.ends[1] or 0.0):
        return None
    formula = one.formula and one.formula.removeprefix(f"{alone.unknown} <= ")
    answer = replace(one, kind="point", value=one.high, low=None, high=None, regime=MEMORY_BINDS, formula=formula, bound=UPPER)
    given = {**held.given, name: alone.known[name]}
    provenance = {**held.provenance, name: alone.provenance[name]}
    return replace(held, answers=(answer,), given=given, provenance=provenance, unused=list_unused(alone, {*given, *made_up_of(held)}))


def weights_alone(asked: Question) -> Solution | None:
    """The chips or stages that the weights take, where nothing is said of caches or speeds; None for any other question."""
    if (
        asked.unknown not in ("chips", "pipeline_stages")
        or asked.limits
        or made_of(asked, asked.unknown)
        or not asked.known.keys().isdisjoint(IN_FLIGHT)
    ):
        return None
    given = {**dict.fromkeys(NO_CACHE, 0.0), **asked.known}
    held, _ = consistent_answer(
        replace(asked, known=given, provenance={**dict.fromkeys(NO_CACHE, "no cache is spoken of"), **asked.provenance})
    )
    if [one.kind for one in held.answers] != ["interval"] or not held.answers[0].low:
        return None
    told = "the weights alone: without batch and context_length no cache is held"
    return replace(held, warnings=(told, *held.warnings), kinds=("weights_alone", *held.kinds))


def reads_alone(asked: Question, refused: Solution) -> Solution | None:
    """The bandwidth that the reads of a step take, where nothing is said of the rate of arithmetic; None for any other question.

    A step lasts as long as its reads at least, whatever its arithmetic takes: so much bandwidth or more.
    """
    if asked.unknown != "hbm_bandwidth" or asked.limits or not refused.reason or {*refused.reason.missing} != {_PEAK}:
        return None
    there, _ = consistent_answer(replace(asked, known={**asked.known, _PEAK: QUANTITIES[_PEAK].limits()[1]}, silent=True))
    if [(one.kind, one.bound) for one in there.answers] != [("point", LOWER)]:
        return None
    told = f"the reads alone: without {_PEAK} no arithmetic is counted"
    given = {name: value for name, value in there.given.items() if name != _PEAK}
    # What takes the rate of arithmetic has no part in it.
    route = tuple(step for step in there.route if not any(_PEAK in equation(id).symbols for id in step.equations))
    return replace(there, given=given, warnings=(told, *there.warnings), kinds=(reads_alone.__name__, *there.kinds), route=route)


def made_up_of(solution: Solution) -> set[str]:
    """The quantities on the way to an answer."""
    return {name for step in solution.route for id in step.equations for name in equation(id).symbols}


def _met_everywhere(alone: Question) -> bool:
    """Whether a limit is met at the ends and in the middle of all that the unknown can be."""
    row = QUANTITIES[alone.unknown]
    return all(_meets_limit(alone, row.at(share)) for share in (0.0, 0.5, 1.0))


def _meets_limit(alone: Question, value: float) -> bool:
    """Whether the result is within its limit at a value of the unknown."""
    return _is_within(alone, _result_at(alone, value))


def _result_at(alone: Question, value: float) -> Solution:
    """What the result that is limited comes to at a value of the unknown, whether it fits there or not."""
    return evaluate_result(replace(alone, anyway=True, limits={}, silent=True), limited_by(alone), value)


def _result_beside(alone: Question) -> Solution:
    """What a result that is limited and does not move with the unknown comes to."""
    beside = without(replace(alone, unknown=limited_by(alone), anyway=True), {limited_by(alone)})
    return forwards(beside)


def _is_within(alone: Question, there: Solution) -> bool:
    (found,) = there.answers[:1] or (None,)
    if found is None or found.kind != "point":
        return False
    name = limited_by(alone)
    target = alone.known[name]
    return found.point <= target * (1 + HOLDS) if alone.limits[name] == UPPER else found.point >= target * (1 - HOLDS)


def _idle(asked: Question) -> tuple[Solution, Way | None]:
    """What memory leaves where every limit is met whatever the unknown is."""
    solution, way = consistent_answer(without(asked, {*asked.limits}))
    always = (limit_in_words(alone) for alone in one_by_one(asked) if rests_on_unknown(alone))
    told = tuple(f"{limit} holds with any {asked.unknown}" for limit in always)
    held = _held_beside(asked)
    beside = _held_in_words(asked.unknown, held)
    if solution.reason and beside:
        message = f"{beside[0]}; {solution.reason.message}"
        return replace(solution, reason=replace(solution.reason, message=message)), way
    return replace(_doubted(solution, held), assumptions=(*told, *solution.assumptions), said=(*beside, *solution.said)), way


def _between(asked: Question, found: Sequence[tuple[Question, Solution]]) -> Solution:
    """What limits from both sides leave: a range with its best end, or that they contradict each other."""
    lower, upper = ([one for one in found if one[1].answers[0].bound == side] for side in (LOWER, UPPER))
    least = max(lower, key=lambda one: one[1].answers[0].point)
    most = min(upper, key=lambda one: one[1].answers[0].point)
    low, high = least[1].answers[0].point, most[1].answers[0].point
    unknown, (takes, leaves) = asked.unknown, (_binding(*one) for one in (least, most))
    if low > high * (1 + HOLDS):
        ends = f"{takes} takes {unknown} >= {show(unknown, low)} and {leaves} leaves {unknown} <= {show(unknown, high)}"
        message = f"contradiction: {ends}{nearest_reached(least[0], high)}"
        violated = tuple(dict.fromkeys(limited_by(alone) for alone, _ in (least, most)))
        return refuse_question(asked, Reason(code="contradiction", violated=violated, message=message))
    best, end = (least, low) if unknown in BOUGHT else (most, high)
    which = "fewest" if unknown in BOUGHT else "largest"
    whole = next_whole(end, LOWER if unknown in BOUGHT else UPPER)
    best_end = f"{whole:.0f}" if unknown in COUNTED else show(unknown, end)
    held = _held_beside(asked)
    told = (
        f"from {show(unknown, low)}, where {takes} binds, to {show(unknown, high)}, where {leaves} does",
        f"best: {unknown} = {best_end}, the {which}",
        *_held_in_words(unknown, held),
    )
    (_, first) = best
    answer = replace(
        first.answers[0], kind="interval", value=None, low=low, high=high, regime=None, formula=None, bound=None, residual=None
    )
    given = {name: asked.known.get(name, value) for _, one in found for name, value in one.given.items()}
    return replace(
        _doubted(first, [*found, *held]),
        answers=(answer,),
        equations=tuple(dict.fromkeys(id for _, one in (least, most) for id in one.equations)),
        given=given,
        provenance={name: source for _, one in found for name, source in one.provenance.items()},
        unused=tuple(name for name in first.unused if name not in given),
        said=told,
    )


def _binding(alone: Question, solution: Solution) -> str:
    """What makes an end of what limits leave."""
    return "memory" if solution.answers[0].regime == MEMORY_BINDS else limit_in_words(alone)


def nearest_reached(alone: Question, value: float) -> str:
    """What a result comes to at the end that another limit leaves, as the end of a sentence."""
    name = limited_by(alone)
    (found,) = _result_at(alone, value).answers[:1] or (None,)
    if found is None or found.kind != "point":
        return ""
    return f";{_NEAREST}{name} = {show(name, found.point)} at {alone.unknown} = {show(alone.unknown, value)}"
