"""Several equations, any unknown: a route with numbers, every answer held against all that was given.

Defining equations and bounds join by themselves, one variant of a group; conditions, heuristics and empirical
relations join when named. Neutral defaults are taken up only when the givens alone do not reach the unknown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from math import ceil, floor, inf, isclose, isfinite, log
from types import MappingProxyType

from derive.answers import BOUGHT, COUNTED, DECODE_ALONE, SHORT
from derive.catalogue import equation
from derive.evaluate import evaluate
from derive.expressions.branches import in_force, regimes_of, sides_of
from derive.presets import ARCHITECTURES, PARAMETERS
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.records import CHAINED_BY_ITSELF, ESTIMATE, LOWER, UPPER, Equation, right_side_at
from derive.requirements import HOLDS
from derive.solving.backwards import Backwards, backwards
from derive.solving.blocks import Joint
from derive.solving.caveats import caveats, left_to_assumptions, less_than_one
from derive.solving.chip_links import as_assumption, as_given
from derive.solving.consistency import absurd, against_defaults, beyond_what_can_be, contradiction, greatest, impossible
from derive.solving.defaults import DRAFTS, IDEALS, MAY_DIFFER, WAITED, in_numbers, put_in_before
from derive.solving.directions import EITHER, NEITHER, Causes, carried, direction_at, taken_for_granted
from derive.solving.fit import (
    CAN_BE_LESS,
    IN_FLIGHT,
    MEMORY_BINDS,
    NO_CACHE,
    SHORT_OF_MEMORY,
    batch_is_left_to_a_rate,
    chips_of_links,
    fast_enough,
    held_by_memory,
    is_warning,
    memory_is_made_of,
    misfit,
    speeds,
)
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
from derive.solving.one_equation import inside, solve_equation
from derive.solving.propagation import followed, leading_to
from derive.solving.questions import IN_BF16, OF_DENSE, Instead, Question, in_usual_types, posed, taken_as_known, without
from derive.solving.refusals import giving, indifferent, made_of, missing_givens
from derive.solving.result import BY_DEFAULT, OR, Answer, Reason, RouteStep, Solution, WhenRead, shown_end
from derive.solving.route import Failed, Leg, Route, bounding, checks, route, without_blocks
from derive.solving.speed_limits import beyond_one_domain, out_of_reach, result_with
from derive.trees import names, text
from derive.units import show

_Outcome = tuple[tuple[Answer, ...], Reason | None]
_Ends = tuple[float, float | None]
_Rounding = Mapping[str, float]


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
    rounding: _Rounding = field(default_factory=dict)
    steps: tuple[RouteStep, ...] = ()
    warnings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _End:
    """What the last leg of a route found in a world, the world that it leads to, and all the points that were found with it."""

    world: _World
    end: _World
    found: Answer
    roots: Sequence[float]


_SOMEWHERE = (0.5, 0.0, 1.0, 0.25, 0.75)
"""Where, from the smallest to the largest that is not absurd, values of what cancels are tried."""

_ASIDE = 1e-3
"""How far to either side of where a limit is met it is looked on which it holds."""

_NUDGE, _LOST, _LAST_DIGIT = 1e-6, 1e8, 1e-15
"""Relative change of a quantity to see what it moves; by how much last digits may be magnified (half of all are left), and these."""

_NEAREST = " nearest is "
"""How what comes nearest to a limit that is not met begins."""

_FASTER_THAN_ASKED = "faster than asked"
"""What is said of chips that memory needs, where a speed takes fewer."""

_SHARES_OF_ONE = (1e-6, 1e-3, 0.03, 0.1, 0.3, 0.6, 1.0)
"""Shares at which it is looked whether the sides of an equation change places."""

_SEVERAL = (1.0, 8.0, 72.0)
"""Numbers of chips at which it is looked whether they cancel."""

_DRAFTED = "tokens_per_step"
"""A default that nobody is taken to mean otherwise where the chips cannot keep up without: who drafts says so."""

_BY_ROUNDING = 1.1
"""Up to how many tokens a step are taken for digits that were left out, where nobody speaks of drafts."""

_OPEN = ("not_identified", "missing_givens")
"""Reasons of a leg that may have an answer all the same, if more were known."""


def answer(asked: Question) -> Solution:
    """The question answered: first from the givens alone, then with neutral defaults."""
    return answered(asked)[0]


def answered(asked: Question) -> tuple[Solution, Route | None]:
    """The answer, and the route it took if there is one.

    Of several limits the one that leaves least is answered. Where all else determines the unknown, they are held against it.
    """
    if not asked.limits:
        return _found(asked)
    solution, way = _within_limits(asked)
    if not solution.unused:
        return solution, way
    place = inside(solution.answers[0]) if solution.answers else None
    there = (_result_at(alone, place) if place and rests_on_unknown(alone) else _result_beside(alone) for alone in one_by_one(asked))
    taken = {name for one in there if one.answers for name in one.given}
    return replace(solution, unused=tuple(name for name in solution.unused if name not in taken)), way


def _within_limits(asked: Question) -> tuple[Solution, Route | None]:
    """The answer to limits, as `answered` has it, and all that was given for nothing by the route to it."""
    if asked.unknown in giving(asked.active) and (determined := _determined(asked)):
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
        return _without_answer(asked, reason), None
    sign = -1 if sides == {UPPER} else 1
    alone, solution, way = max(bounding_ones, key=lambda one: sign * inside(one[1].answers[0]))
    held = _held_beside(asked)
    solution = replace(_doubted(solution, [*found, *held]), said=(*_bound_by(alone, solution), *_held_in_words(asked.unknown, held)))
    # Another point may be left least by another of them: there is no one way for all.
    return solution, way if len(outcomes) == 1 else None


def _doubted(solution: Solution, beside: Iterable[tuple[Question, Solution]]) -> Solution:
    """An answer to several limits with the doubts of each: those of its own kind say it of the answer itself.

    How fast the fewest chips are that memory takes is said of no answer that another limit makes more of.
    """
    said = {kind: text for _, one in beside for kind, text in zip(one.kinds, one.warnings, strict=True) if kind != _FASTER_THAN_ASKED}
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
    rounded = {LOWER: ceil, UPPER: floor}
    ends = zip(found.answers[0].ends, (LOWER, UPPER), strict=True)
    sides = [(end, found.answers[0].bound or side) for end, side in ends if end is not None]
    whole = [max(1.0, float(rounded[side](end))) if asked.unknown in COUNTED else end for end, side in sides]
    fewest = [] if others.limits else [1.0]
    there = {end: _result_at(alone, end).answers[:1] for end in (*fewest, *whole) if end > 0}
    reached = {one.point: end for end, (*points,) in there.items() for one in points if one.kind == "point"}
    if not reached:
        return refused
    nearest = min(reached) if alone.limits[name] == UPPER else max(reached)
    kept = " and ".join(map(limit_in_words, one_by_one(others)))
    told = f"{_NEAREST}{name} = {show(name, nearest)} at {asked.unknown} = {show(asked.unknown, reached[nearest])}"
    return replace(refused, reason=replace(reason, message=f"{reason.message};{f' with {kept}' if kept else ''}{told}"))


def _determined(asked: Question) -> tuple[Solution, Route | None] | None:
    """What all but the limits determine, if they do, with what is limited there; refused where that is beyond one of its limits."""
    solution, _ = _found(without(asked, {*asked.limits}))
    if solution.reason and solution.reason.code == SHORT_OF_MEMORY:
        return solution, None
    by_default = {name for name in solution.given if solution.provenance.get(name) == "default"}
    # Copies that nobody counts are as many as a limit leaves.
    if [one.kind for one in solution.answers] != ["point"] or "replicas" in by_default or by_default == solution.given.keys():
        return None
    met, beside = [], []
    for alone in one_by_one(asked):
        there = _result_beside(alone)
        if not there.answers:
            return None
        value = f"{show(limited_by(alone), inside(there.answers[0]))}{OR[there.answers[0].bound]}"
        if not _is_within(alone, there):
            more = f"; ask for chips,{asked.unknown}: chips = 1 by default" if there.provenance.get("chips") == "default" else ""
            message = f"{limit_in_words(alone)} is not met: it comes to {value} with what is given{more}"
            return _without_answer(asked, Reason("no_solution", violated=(limited_by(alone),), message=message)), None
        met.append(f"{limit_in_words(alone)} is met: it comes to {value}")
        beside.append((alone, there))
    notes = (*asked.notes, *(text for text in solution.assumptions if text not in asked.notes))
    return replace(_doubted(solution, beside), assumptions=notes, said=(*met, *solution.said)), None


def _as_limit(asked: Question, alone: Question) -> tuple[Solution, Route | None] | None:
    """What one limit leaves of the unknown; None where it is met whatever that is.

    Of what makes a cache larger, memory leaves no more than fits: where that is met before the limit, it binds.
    """
    if not rests_on_unknown(alone):
        refused = _beyond_reach(alone)
        return (refused, None) if refused else None
    outcome = _found(alone)
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
        return _without_answer(alone, Reason("no_solution", violated=(limited_by(alone),), message=message)), None
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
    return _without_answer(alone, Reason("no_solution", violated=(name,), message=message))


def _held_beside(asked: Question) -> list[tuple[Question, Solution]]:
    """The limits on what does not move with the unknown, which are met, and what that comes to."""
    return [(alone, _result_beside(alone)) for alone in one_by_one(asked) if not rests_on_unknown(alone)]


def _held_in_words(unknown: str, held: Iterable[tuple[Question, Solution]]) -> tuple[str, ...]:
    """Limits that are met whatever the unknown is, with what they come to."""
    said = []
    for alone, there in held:
        (found, *_) = there.answers
        value = f"{show(limited_by(alone), inside(found))}{OR[found.bound]}"
        said.append(f"{limit_in_words(alone)} is met with any {unknown}: it comes to {value}")
    return tuple(said)


def _bound_by(alone: Question, solution: Solution) -> tuple[str, ...]:
    """Where the unknown ends that a limit leaves, and what makes it end there."""
    (one, *more) = solution.answers
    if more or one.kind != "point":
        return ()
    return (f"{'from' if one.bound == LOWER else 'to'} {show(alone.unknown, one.point)}, where {_binding(alone, solution)} binds",)


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
    held, _ = _found(without(alone, {name}))
    if [one.kind for one in held.answers] != ["interval"] or held.answers[0].high is None:
        return None
    (one,) = held.answers
    if not _meets_limit(alone, one.ends[1] or 0.0):
        return None
    formula = one.formula and one.formula.removeprefix(f"{alone.unknown} <= ")
    answer = replace(one, kind="point", value=one.high, low=None, high=None, regime=MEMORY_BINDS, formula=formula, bound=UPPER)
    given = {**held.given, name: alone.known[name]}
    provenance = {**held.provenance, name: alone.provenance[name]}
    return replace(held, answers=(answer,), given=given, provenance=provenance, unused=_unused(alone, {*given, *made_up_of(held)}))


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
    held, _ = _found(replace(asked, known=given, provenance={**dict.fromkeys(NO_CACHE, "no cache is spoken of"), **asked.provenance}))
    if [one.kind for one in held.answers] != ["interval"] or not held.answers[0].low:
        return None
    told = "the weights alone: without batch and context_length no cache is held"
    return replace(held, warnings=(told, *held.warnings), kinds=("weights_alone", *held.kinds))


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
    return _there(replace(alone, anyway=True, limits={}, silent=True), limited_by(alone), value)


def _result_beside(alone: Question) -> Solution:
    """What a result that is limited and does not move with the unknown comes to."""
    beside = without(replace(alone, unknown=limited_by(alone), anyway=True), {limited_by(alone)})
    return _forwards(beside)


def _is_within(alone: Question, there: Solution) -> bool:
    (found,) = there.answers[:1] or (None,)
    if found is None or found.kind != "point":
        return False
    name = limited_by(alone)
    target = alone.known[name]
    return found.point <= target * (1 + HOLDS) if alone.limits[name] == UPPER else found.point >= target * (1 - HOLDS)


def _idle(asked: Question) -> tuple[Solution, Route | None]:
    """What memory leaves where every limit is met whatever the unknown is."""
    solution, way = _found(without(asked, {*asked.limits}))
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
        return _without_answer(asked, Reason("contradiction", violated=violated, message=message))
    best, end = (least, low) if unknown in BOUGHT else (most, high)
    which = "fewest" if unknown in BOUGHT else "largest"
    whole = ceil(end * (1 - HOLDS)) if unknown in BOUGHT else floor(end * (1 + HOLDS))
    best_end = f"{whole}" if unknown in COUNTED else show(unknown, end)
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


def _found(asked: Question) -> tuple[Solution, Route | None]:
    """The answer to what was given as met, as far as it can be: no more of it than there is room for, and nothing absurd."""
    solution, way = _consistent(asked)
    solution = _within_reach(asked, solution)
    possible = tuple(one for one in solution.answers if not absurd(asked.unknown, (one,)))
    if solution.answers and not possible and (clash := absurd(asked.unknown, solution.answers)):
        return _without_answer(asked, clash, solution.route), None
    if len(possible) == 1 and (beyond := out_of_reach(asked, inside(possible[0]))):
        return _without_answer(asked, beyond, solution.route), None
    if len(solution.further) == len(solution.answers) - 1 > len(possible) - 1:
        routes = zip(solution.answers, (solution.route, *solution.further), strict=True)
        left, *further = (steps for one, steps in routes if one in possible)
        solution = replace(solution, route=left, further=tuple(further))
    return replace(solution, answers=possible), way


def _within_reach(asked: Question, solution: Solution) -> Solution:
    """Intervals that end where there can be no more of the unknown; one of which a single value is left is that."""
    most = greatest(asked.unknown, asked.known) if any(one.kind == "interval" for one in solution.answers) else None
    if not most or not any(one.kind == "interval" and (one.high is None or one.high > most[1]) for one in solution.answers):
        return solution
    row, high = most
    formula = f"{asked.unknown} <= {text(sides_of(row)[1])}"
    answers = tuple(_cut_off(one, high, formula) for one in solution.answers if one.kind == "point" or one.least <= high * (1 + HOLDS))
    if not answers:
        clash = impossible(asked, {**asked.known, asked.unknown: inside(solution.answers[0])})
        return _without_answer(asked, clash, solution.route) if clash else solution
    inputs = {name: asked.known[name] for name in row.inputs}
    given = {**solution.given, **inputs}
    return replace(
        solution,
        answers=answers,
        equations=tuple(dict.fromkeys((*solution.equations, row.reference))),
        given=given,
        provenance={**solution.provenance, **{name: asked.provenance.get(name, "default") for name in inputs}},
        unused=_unused(asked, {*asked.known} - {*solution.unused} | {*inputs}),
        route=(*solution.route, RouteStep((row.reference,), asked.unknown, None, formula)),
    )


def _cut_off(one: Answer, high: float, formula: str) -> Answer:
    if one.kind == "point" or (one.high is not None and one.high <= high):
        return one
    if one.least >= high * (1 - HOLDS):
        return Answer("point", value=high, regime=one.regime, formula=formula, residual=0.0)
    return replace(one, high=high, formula=formula, elasticities={})


def _consistent(asked: Question) -> tuple[Solution, Route | None]:
    """The answer as far as it goes with all that was given.

    A given that the defaults would make another says what one of them is, the one that has to give least: a measured
    time its utilisation. One that none of them could bring about is a contradiction.
    """
    solution, way = _answered(asked)
    if solution.reason and solution.reason.code == "contradiction":
        # A measured result against a default that the route rests on: what the default is instead may resolve it.
        settled, clash, kept = _settled(asked, asked.known)
        if clash and clash.code != "contradiction":
            return _without_answer(asked, clash, solution.route), None
        if clash:
            first, *fewest = solution.reason.message.splitlines()
            if kept:
                # They can: a bound is no equality.
                fewest = []
            # Two values of what is asked for say more than that a given is another.
            told = first if solution.reason.two_values else clash.message
            clash = replace(clash, message="\n".join((told, *fewest)), two_values=solution.reason.two_values)
            return _without_answer(asked, clash, solution.route), None
        if settled.instead == asked.instead:
            return solution, way
        asked = _put_right(asked, settled)
        solution, way = _answered(asked)
    if not solution.answers:
        return (way and _as_memory_needs(asked, solution, way)) or solution, way
    if solution.answers[0].kind != "point":
        clash = impossible(asked, asked.known)
        return (_without_answer(asked, clash, solution.route), None) if clash else (solution, way)
    found = {**asked.known, asked.unknown: solution.answers[0].point}
    beside, clash, _ = _settled(replace(asked, instead=()), found)
    if (clash or beside.instead) and not asked.instead:
        # The answer rests on a default that the givens alone contradict; or on no wait, where they say that there was one.
        settled, unexplained, _ = _settled(asked, asked.known)
        if settled.instead and not unexplained and (clash or any(one.name in WAITED for one in settled.instead)):
            return _consistent(_put_right(asked, settled))
    clash = clash or impossible(asked, {**_on_the_way(asked, solution), **found})
    if clash:
        return _without_answer(asked, clash, solution.route), None
    instead = (*asked.instead, *beside.instead)
    # How many chips a fleet comes to is no doubt of an answer that takes none of it.
    doubtful = (one for one in instead if one.name not in BOUGHT or one.name in _on_the_way(asked, solution))
    rests = (*(one.text for one in doubtful), *solution.assumptions)
    behind = (text for one in asked.instead if one.name in solution.given for text in one.defaults)
    unused = tuple(name for name in solution.unused if not any(name in one.given for one in instead))
    answers = tuple(replace(one, elasticities=_through(asked.instead, one.elasticities)) for one in solution.answers)
    return replace(solution, answers=answers, assumptions=tuple(dict.fromkeys((*rests, *behind))), unused=unused), way


def _through(instead: Sequence[Instead], elasticities: Mapping[str, float]) -> Mapping[str, float]:
    """How an answer moves with what was given, of a default that was found from results with these; a later one may rest on a former."""

    def total() -> dict[str, float]:
        sums = dict(elasticities)
        for one in reversed(instead):
            steep = sums.pop(one.name, 0.0)
            for name, slope in one.elasticities.items() if steep else ():
                sums[name] = sums.get(name, 0.0) + steep * slope
        return sums

    return WhenRead(total) if instead else elasticities


def _as_memory_needs(asked: Question, refused: Solution, way: Route) -> Solution | None:
    """Chips of which a speed takes fewer than memory: as many as memory needs, and how fast they are; None for any other refusal."""
    names = speeds(asked) if refused.refusal.code == SHORT_OF_MEMORY else ()
    for question in held_by_memory(asked) if names else ():
        held, _ = _answered(question)
        if held.reason is None or held.reason.code != "missing_givens":
            break
    if not names or [one.kind for one in held.answers] != ["interval"] or not held.answers[0].low:
        return None
    (bound,) = held.answers
    whole = ceil(bound.least * (1 - HOLDS))
    told, doubts = [], dict[str, str]()
    for name in names:
        result = _there(replace(question, unknown="chips"), name, whole)
        doubts |= {kind: text for kind, text in zip(result.kinds, result.warnings, strict=True) if kind == DECODE_ALONE}
        (there,) = result.answers[:1] or (None,)
        if there is None or there.kind != "point" or not fast_enough(name, there.point, asked.known[name]):
            return None
        told.append(f"{name} is {show(name, there.point)} where {show(name, asked.known[name])} would do")
    chips = f"{whole} chip{'s' * (whole != 1)}"
    said = {_FASTER_THAN_ASKED: f"memory takes {chips}, and these are faster than asked: {', '.join(told)}", **doubts}
    if beyond := beyond_one_domain(asked, {**asked.known, "chips": bound.least}, way.rows):
        said = {beyond_one_domain.__name__: beyond, **said}
    said |= dict(zip(held.kinds, held.warnings, strict=True))
    formula = bound.formula and bound.formula.removeprefix("chips >= ")
    answer = replace(bound, kind="point", value=bound.low, low=None, regime=MEMORY_BINDS, formula=formula, bound=LOWER)
    given = {**held.given, **{name: asked.known[name] for name in names}}
    return replace(
        held,
        answers=(answer,),
        given=given,
        provenance={**held.provenance, **{name: asked.provenance[name] for name in names}},
        unused=_unused(asked, {*given, *(name for row in way.rows for name in row.symbols)}),
        warnings=tuple(said.values()),
        kinds=tuple(said),
    )


def _on_the_way(asked: Question, solution: Solution) -> dict[str, float]:
    """What an answer rests on and was worked out on the way; nothing of a share of a peak, with which parts of a step are worked out."""
    if asked.unknown in IDEALS:
        return {}
    return {**solution.given, **{step.unknown: step.value for step in solution.route if step.value is not None}}


def _settled(asked: Question, known: Mapping[str, float]) -> tuple[Question, Reason | None, bool]:
    """The question with the defaults that results contradict put right, what no default explains, or more than one, and whether
    that keeps to a bound.
    """
    settled = replace(asked, known=known)
    while beyond := against_defaults(settled, settled.known):
        row, reason, kept = beyond
        found = _explaining(settled, row, {*known, asked.unknown})
        if len(found) != 1:
            return settled, _unexplained(row, reason, kept, found), kept
        (one,) = found
        if one.name == _DRAFTED and (clash := impossible(settled, settled.known)):
            return settled, clash, False
        if one.name == _DRAFTED and one.value > _BY_ROUNDING and asked.known.keys().isdisjoint(DRAFTS):
            return settled, _unexplained(row, reason, kept, found), False
        at = {**settled.known, one.name: one.value}
        settled = replace(settled, known=at) if one.name in MAY_DIFFER else posed(settled, asked.unknown, at)
        settled = replace(settled, instead=(*settled.instead, replace(one, by=row.id)))
    return settled, None, False


def _explaining(asked: Question, row: Equation, at_hand: Set[str]) -> list[Instead]:
    """What a default may be instead for an equation to hold: the wait where it is that, else what has to give least, else all there are."""
    if waited := list(_instead_of_a_default(asked, row, put_in_before(row, asked.active, at_hand, WAITED))):
        return waited
    if found := list(_instead_of_a_default(asked, row, MAY_DIFFER)):
        return [min(found, key=lambda one: abs(log(one.value / NEUTRAL_DEFAULTS[one.name])))]
    return [] if row in asked.named else list(_instead_of_a_default(asked, row, put_in_before(row, asked.active, at_hand)))


def _put_right(asked: Question, settled: Question) -> Question:
    """The question with defaults that results contradict known to be something else, and others as they then stand."""
    provenance = {name: "follows from the givens" for name in settled.known if name not in asked.known}
    # What stands beside a default may follow it: positions the tokens of a step.
    after = posed(settled, asked.unknown, settled.known)
    return replace(settled if against_defaults(after, after.known) else after, provenance={**asked.provenance, **provenance})


def _unexplained(row: Equation, reason: Reason, kept: bool, found: Sequence[Instead]) -> Reason:
    """Why results cannot be put down to a default: none of them could be it, or it may be any of several."""
    if not found:
        why = "no other value of a default makes both true"
        if kept:
            side = "more than this lower" if row.direction == LOWER else "less than this upper"
            why = f"it is {side} bound, as a real one may be: by what is not among the givens, as no default accounts for it"
        return replace(reason, message=f"{reason.message}{': ' if kept else ', and '}{why}")
    could = " or ".join(f"{one.name} = {show(one.name, one.value)}" for one in found)
    told = reason.message.removeprefix("contradiction: ")
    which = "one of them" if len(found) > 1 else "it if it is so"
    return Reason("missing_givens", missing=tuple(one.name for one in found), message=f"{told}: {could} would make it so; give {which}")


def _instead_of_a_default(asked: Question, row: Equation, names: Iterable[str]) -> Iterator[Instead]:
    """What a quantity with a default would have to be for an equation to hold; of what is one at least, nothing below one."""
    for name in (name for name in names if name not in asked.known and _may_make(asked, row, name)):
        # What is written in the equations may differ with all else as it stands; what was put into them needs others.
        def at(unknown: str, known: Mapping[str, float], name: str = name) -> Question:
            return replace(asked, unknown=unknown, known=known) if name in MAY_DIFFER else posed(asked, unknown, known)

        without = replace(at(name, asked.known), anyway=True, silent=True)
        solution, way = _answered(without, told=False)
        least = (1 - HOLDS) if QUANTITIES[name].low >= 1 else 0.0
        for one in (one for one in solution.answers if one.kind == "point" and one.point >= least):
            instead = at(asked.unknown, {**asked.known, name: one.point})
            beyond = against_defaults(instead, instead.known)
            # A count may be more than its default and a share less; half a chip or token is no way out.
            possible = one.point >= 1 or QUANTITIES[name].limits()[1] == 1 or QUANTITIES[name].may_be_zero
            possible = possible and not beyond_what_can_be(name, instead.known)
            if possible and (beyond is None or beyond[0].id != row.id):
                defaults = tuple(text for text in solution.assumptions if text.endswith(BY_DEFAULT))
                errs, given = _errs(without, solution, way, one), frozenset(solution.given)
                yield Instead(name, one.point, errs, defaults, given, elasticities=one.elasticities)


def _may_make(asked: Question, row: Equation, name: str) -> bool:
    """Whether an equation may hold with a share as something else: of one side that is the larger with any share, it does not.

    What was put into the equations would have to be written in them again.
    """
    if name not in MAY_DIFFER or QUANTITIES[name].ceiling > 1:
        return True
    start, rows = {**in_numbers(asked.defaults, asked.known), **asked.known}, leading_to(row.symbols, asked.active)
    larger = set()
    for share in _SHARES_OF_ONE:
        there = followed(rows, {**start, name: share})
        if not row.names <= there.keys():
            return True
        larger.add(row.left_side(there) > right_side_at(row, there))
    return len(larger) > 1


def _errs(asked: Question, solution: Solution, way: Route | None, found: Answer) -> Causes:
    """Which way an answer errs, as what rests on it takes it: neither where it is exact, either where that is not known."""
    if found.bound:
        return frozenset([(asked.unknown, found.bound)])
    exact = way and carried(way, taken_for_granted(asked, way, {**solution.given, asked.unknown: found.point})) == NEITHER
    return frozenset() if exact else frozenset((asked.unknown, side) for side in (LOWER, UPPER))


def _answered(asked: Question, told: bool = True) -> tuple[Solution, Route | None]:
    """By equations alone where they lead to the unknown; else inequalities say what bounds it.

    What a question lacks takes long to find, and is left out unless it is `told`.
    """
    equalities = tuple(row for row in asked.active if row.sense == "=")
    for rows in (equalities, asked.active):
        stops: list[tuple[_Stop, Route]] = []
        outcome = _by(asked, rows, stops)
        if rows is equalities and (behind := _behind(asked, outcome and outcome[0], bool(stops))):
            return behind, None
        if outcome and rows is asked.active and not _says_something(asked, outcome[0]):
            outcome = None
        if outcome or stops:
            break
    if not stops and (not outcome or (rows is asked.active and _unused(asked, {*outcome[0].given}))):
        outcome = _tighter(outcome, _bounded(asked, stops))
    if outcome and (rows is asked.active or _only_bounded(outcome[0])) and (aside := _left_aside(asked, *outcome)):
        return _without_answer(asked, aside), None
    if outcome and rows is asked.active and (lacking := _more_is_said(asked, outcome[0])):
        return _without_answer(asked, lacking), None
    if outcome:
        return _sided(asked, *outcome)
    known = [*taken_as_known(asked)][-1]
    if free := indifferent(asked, known):
        return _without_answer(asked, free), None
    lacking = missing_givens(asked, known) if told and not stops else Reason("missing_givens", message="what is missing was not asked for")
    return _without_answer(asked, _told(asked, stops) if stops else lacking), None


def _tighter(beside: tuple[Solution, Route] | None, bounded: tuple[Solution, Route] | None) -> tuple[Solution, Route] | None:
    """Of what inequalities say of the unknown itself, and of what is made of it, the one that leaves less of it; else the first."""
    ends = [[one.ends for one in outcome[0].answers] if outcome else [] for outcome in (beside, bounded)]
    if bounded and len(ends[0]) == len(ends[1]) == 1:
        ((low, high),), ((least, most),) = ends
        more, less = least > low * (1 + HOLDS), (most or inf) * (1 + HOLDS) < (high or inf)
        if (more and (most or inf) <= (high or inf)) or (less and least >= low):
            return bounded
    return beside or bounded


def _sided(asked: Question, solution: Solution, way: Route) -> tuple[Solution, Route]:
    """An answer of which its route does not say which way it errs, with what another one says, or the result that it was found from."""
    points = [one for one in solution.answers if one.kind == "point" and not one.bound]
    if len(points) != 1 or len(solution.answers) != 1:
        return solution, way
    if carried(way, taken_for_granted(asked, way, {**solution.given, asked.unknown: points[0].point})) != EITHER:
        return solution, way
    bound = _by_another_way(asked, solution, way) or _seen_forwards(asked, points[0].point)
    return replace(solution, answers=(replace(points[0], bound=bound),)), way


def _by_another_way(asked: Question, solution: Solution, way: Route) -> str | None:
    """How the same value errs on the way that does not end with the same leg, if there is one and it says."""
    known = next((known for known in taken_as_known(asked) if solution.given.keys() <= known.keys()), {})
    rows = tuple(row for row in asked.active if row.sense == "=")
    # Blocks may take minutes to bring to one equation, which is too long for a word.
    other = without_blocks(asked.unknown, rows, frozenset(known), frozenset([(way.legs[-1].id, asked.unknown)]))
    outcome = _follow(asked, known, other) if other else None
    found = outcome.answers if isinstance(outcome, Solution) else ()
    same = len(found) == 1 and found[0].kind == "point" and isclose(found[0].point, solution.answers[0].point, rel_tol=HOLDS)
    return found[0].bound if same else None


def _seen_forwards(asked: Question, value: float) -> str | None:
    """How a value errs by the one result that it was found from, where that rises or falls with it all over."""
    (name, *more) = made_of(asked, asked.unknown) or [""]
    if not name or more or asked.limits:
        return None
    found = next(filter(None, (backwards(asked, known, [name]) for known in taken_as_known(asked))), None)
    if found is None or found.rises is None:
        return None
    bounds = {one.bound for one in _there(replace(asked, silent=True), name, value).answers}
    return _turned(bounds.pop(), found.rises) if len(bounds) == 1 else None


def _turned(bound: str | None, rises: bool | None) -> str | None:
    """How what is behind a result errs, where the result errs so and rises, falls, or does either with it."""
    if bound is None or rises is None:
        return None
    return {LOWER: UPPER, UPPER: LOWER}[bound] if rises else bound


def _behind(asked: Question, bounded: Solution | None, stopped: bool) -> Solution | None:
    """What was asked for from a given result, found by going forwards; None where nothing that was given rests on it.

    So it is looked for where no route leads to it, where one did and stopped, which then says itself why, and where one only
    bounds it and leaves a result aside.
    """
    names = _aside(asked, bounded) if bounded else None
    if bounded and not (names and _only_bounded(bounded)):
        return None
    free = indifferent(asked, [*taken_as_known(asked)][-1])
    if free and (names is None or free.code != "not_identified" or not {*free.violated}.isdisjoint(names)):
        return None
    found = next(filter(None, (backwards(asked, known, names) for known in taken_as_known(asked))), None)
    if found is None:
        return None
    solution = _turned_round(asked, found)
    if solution.answers:
        return _within(asked, solution, found, bounded) if bounded else solution
    said = solution.refusal.code not in _OPEN if bounded else not stopped
    return solution if said else None


def _within(asked: Question, solution: Solution, found: Backwards, bounded: Solution) -> Solution:
    """What leads to one result, as far as another leaves it possible."""
    answers = tuple(left for one in solution.answers for left in _left_of(one, bounded))
    if not answers:
        place, ids = show(asked.unknown, inside(solution.answers[0])), ", ".join(bounded.equations)
        message = f"contradiction: {asked.unknown} = {place} by {found.by.id} from {found.name}, which is ruled out by {ids}"
        return _without_answer(asked, Reason("contradiction", violated=(found.name,), message=message))
    return replace(solution, answers=answers, unused=tuple(name for name in solution.unused if name not in bounded.given))


def _only_bounded(solution: Solution) -> bool:
    return any(one.kind != "point" for one in solution.answers)


def _aside(asked: Question, solution: Solution) -> list[str]:
    """Results that were given, are made of the unknown, and had no part in an answer."""
    return [name for name in made_of(asked, asked.unknown) if name in _unused(asked, {*solution.given})]


def _left_of(one: Answer, bounded: Solution) -> Iterator[Answer]:
    """What an answer and bounds have in common."""
    low, high = one.ends
    for least, most in (other.ends for other in bounded.answers):
        lowest, highest = max(low, least), min((end for end in (high, most) if end is not None), default=None)
        if highest is None or lowest <= highest * (1 + HOLDS):
            yield one if one.kind == "point" else replace(one, low=lowest, high=highest)


def _turned_round(asked: Question, found: Backwards) -> Solution:
    """What a result comes to at every value that leads to it, as answers of the quantity that was asked for."""
    name, unknown = found.name, asked.unknown
    target = show(name, asked.known[name])
    if (None, None) in found.found:
        message = f"{name} does not depend on {unknown}: it is {target} with any {unknown}"
        return _without_answer(asked, Reason("not_identified", violated=(name,), message=message))
    if not found.found:
        reach = [show(name, end) for end in found.reach or ()]
        runs = f": it runs from {' to '.join(reach)} over all {unknown}" if reach else ""
        message = f"no {unknown} leads to {name} = {target}{runs}"
        return _without_answer(asked, Reason("no_solution", violated=(name,), message=message))
    candidates = [_span(unknown, *ends) for ends in found.found]
    worlds = [_there(asked, name, inside(one)) for one in candidates]
    ends = [(candidate, one) for candidate, one in zip(candidates, worlds, strict=True) if one.answers]
    if not ends:
        return _without_answer(asked, worlds[0].refusal)
    answers = tuple(_answer_behind(_nearest(one, asked.known[name]), asked, candidate, found) for candidate, one in ends)
    first = ends[0][1]
    given = {other: value for other, value in first.given.items() if other != unknown} | {name: asked.known[name]}
    said = {**dict(zip(first.kinds, first.warnings, strict=True)), **less_than_one(unknown, answers)}
    value = answers[0].value
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
        route=(*first.route, RouteStep((found.by.reference,), unknown, value, forwards=name)),
        further=tuple((*one.route, RouteStep((found.by.reference,), unknown, at.value, forwards=name)) for at, one in ends[1:]),
    )


def _span(unknown: str, low: float | None, high: float | None) -> Answer:
    """A point, or a stretch, whose ends are those of the domain where they are as far as was looked."""
    if low == high:
        return Answer("point", value=low)
    row = QUANTITIES[unknown]
    top = row.ceiling if high is None else high
    return Answer("interval", low=row.floor if low is None else low, high=top if isfinite(top) else None)


def _nearest(solution: Solution, target: float) -> Answer:
    """Of several answers the one that was followed."""
    return min(solution.answers, key=lambda one: abs(inside(one) - target))


def _there(asked: Question, name: str, root: float) -> Solution:
    """The result asked for at a value of what was asked."""
    known = {**{other: value for other, value in asked.known.items() if other != name}, asked.unknown: root}
    return _forwards(replace(asked, unknown=name, known=known))


def _forwards(asked: Question) -> Solution:
    """What a question comes to by equalities alone."""
    outcome = _by(asked, tuple(row for row in asked.active if row.sense == "="), [])
    return outcome[0] if outcome else _without_answer(asked, missing_givens(asked, asked.known))


def _answer_behind(result: Answer, asked: Question, candidate: Answer, found: Backwards) -> Answer:
    """The value of the unknown behind a result, which moves as the result does turned round, and errs the other way where that rises."""
    if candidate.kind != "point":
        return replace(candidate, regime=result.regime, residual=0.0)
    name, unknown = found.name, asked.unknown
    bound = _turned(result.bound, found.rises)

    def slopes() -> Mapping[str, float]:
        steep = result.elasticities.get(unknown, 0.0)
        moved = {other: -slope / steep for other, slope in result.elasticities.items() if other != unknown} if steep else {}
        return {**moved, name: 1 / steep} if steep else {}

    apart = abs(inside(result) / asked.known[name] - 1)
    return replace(candidate, regime=result.regime, elasticities=WhenRead(slopes), residual=apart, bound=bound)


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


def _left_aside(asked: Question, bounded: Solution, way: Route) -> Reason | None:
    """A result that was given, rests on the unknown and has no part in its bounds: these are not what was asked for.

    One that comes to what was given whatever the unknown is takes nothing from bounds that equations lead to.
    """
    free = indifferent(asked, [*taken_as_known(asked)][-1])
    if free and free.violated[0] in _unused(asked, {*bounded.given}):
        by_equations = all(row.sense == "=" for row in way.rows)
        return None if by_equations and free.code == "not_identified" else free
    definitions = {**{row.defines: row for row in asked.left_out if row.defines}, **giving(asked.active)}
    for name in (name for name in _unused(asked, {*bounded.given}) if name in definitions):
        rests, queue = {name: definitions[name]}, [name]
        while queue:
            row = definitions.get(queue.pop())
            if row is None:
                continue
            new = [other for other in row.symbols if other not in asked.known and other not in rests]
            rests |= dict.fromkeys(new, row)
            queue += new
        if asked.unknown in rests:
            told = f"{name} = {show(name, asked.known[name])} says something of {asked.unknown}"
            untrue = [row.id for row in asked.left_out if row in rests.values()]
            if untrue:
                why = f"by {', '.join(untrue)}, which is left out, as not all that this model reads grows with its context"
                return Reason("not_identified", violated=tuple(untrue), message=f"{told} {why}")
            rest = missing_givens(asked, [*taken_as_known(asked)][-1])
            return replace(rest, message=f"{told}, but not what with these givens alone: {rest.message}")
    return None


def _more_is_said(asked: Question, bounded: Solution) -> Reason | None:
    """What the definition of the unknown still needs, where it is made of more that was given than its bounds are, or of a model that
    is named and of which they say nothing.
    """
    definitions = giving(asked.active)
    if asked.unknown not in definitions:
        return None
    made, queue = set[str](), [asked.unknown]
    while queue:
        row = definitions.get(queue.pop())
        new = {*row.symbols} - {*made, asked.unknown} if row else set[str]()
        made |= new
        queue += [name for name in new if name not in asked.known]
    of_model = {*PARAMETERS} if asked.published and bounded.given.keys().isdisjoint(PARAMETERS) else set()
    if made.isdisjoint({*_unused(asked, {*bounded.given}), *of_model}):
        return None
    reason = missing_givens(asked, [*taken_as_known(asked)][-1])
    (low, high), ids = bounded.answers[0].ends if bounded.answers else (None, None), ", ".join(bounded.equations)
    ends = [f"at {word} {show(asked.unknown, end)}" for word, end in (("least", low), ("most", high)) if end]
    if not reason.missing or not ends:
        return None
    return replace(reason, message=f"{reason.message}\nall that is known of it is that it is {' and '.join(ends)} ({ids})")


def _unused(asked: Question, touched: Set[str]) -> tuple[str, ...]:
    """What somebody gave and an answer did not take."""
    of_dense = {*PARAMETERS} if OF_DENSE in asked.provenance.values() else set()
    behind = {name for name in asked.known if any(as_given(name) in asked.supposed.get(one, "") for one in touched)}
    return tuple(name for name, source in asked.provenance.items() if source == "given" and name not in touched | of_dense | behind)


def _by(asked: Question, rows: tuple[Equation, ...], stops: list[tuple[_Stop, Route]]) -> tuple[Solution, Route] | None:
    """The first answer that a route through these equations gives; `stops` collects where routes ended."""
    for known in taken_as_known(asked):
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
            further = _follow(asked, known, carried) if carried else None
            if carried and isinstance(further, Solution) and further.answers:
                return further, carried
    return None


def _bounded(asked: Question, stops: list[tuple[_Stop, Route]]) -> tuple[Solution, Route] | None:
    """What inequalities on quantities that are made of the unknown leave of it."""
    for known in taken_as_known(asked):
        for way in bounding(asked.unknown, asked.bounds, asked.active, frozenset(known)):
            outcome = _follow(asked, known, way)
            if isinstance(outcome, _Stop):
                stops.append((outcome, way))
            elif _says_something(asked, outcome):
                return outcome, way
    return None


def _says_something(asked: Question, bounded: Solution) -> bool:
    """Whether bounds are more than the domain of the unknown and rest on more than defaults; a refusal always does."""
    cut = any(one.least > 0 or one.high not in (None, QUANTITIES[asked.unknown].ceiling) for one in bounded.answers)
    return not bounded.answers or (cut and not asked.known.keys().isdisjoint(bounded.given))


def _follow(asked: Question, known: Mapping[str, float], way: Route) -> Solution | _Stop:
    """The route with numbers: an equation with several points forks it, one with none or an interval stops it.

    So does one that leaves the quantity open in any of the worlds: what the others come to would not be all there is.
    """
    ended = _ended(asked, known, way)
    if isinstance(ended, _Stop):
        return ended
    if not isinstance(ended, list):
        return _without_answer(asked, *ended)
    answers = ((_shown(way, one.world, one.end, one.found), _answer(asked, way, one)) for one in ended)
    return _solution(asked, known, way, [*answers])


def _ended(asked: Question, known: Mapping[str, float], way: Route) -> list[_End] | tuple[Reason, tuple[RouteStep, ...]] | _Stop:
    """Where a route comes to with numbers: its ends; or what they contradict, with the steps up to there; or where it stops."""
    worlds = [_World(known, {name: {name: 1.0} for name in known})]
    *before, last = way.legs
    for leg in before:
        outcomes = [(world, *solve_leg(leg, world.values, world.rounding)) for world in worlds]
        if reason := _left_open(leg, outcomes):
            return _Stop(leg, reason)
        worlds = [_onward(world, leg, one) for world, answers, _ in outcomes for one in answers]
        if not worlds:
            return _Stop(leg, next(reason for *_, reason in outcomes if reason))
    ends: list[_End] = []
    clash: Reason | None = None
    nothing: Reason | None = None
    for world in worlds:
        found, reason = solve_leg(last, world.values, world.rounding)
        if reason and reason.code in _OPEN:
            return _Stop(last, reason)
        nothing = reason
        roots = [one.point for one in found if one.kind == "point"]
        for one in found:
            end, broken = _checked(asked, way, world, one)
            clash = clash or broken
            ends += [] if broken else [_End(world, end, one, roots)]
    if ends:
        return ends
    if clash:
        return clash, worlds[0].steps
    # Where the last world has no answer there is a reason; where it has one that does not hold, a clash.
    assert nothing is not None, "no answer and no reason"
    return _Stop(last, nothing)


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
        if reason and reason.code in _OPEN:
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
        short = misfit(asked, known, way.rows) or _batch_does_not_fit(asked, known)
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


def _batch_does_not_fit(asked: Question, known: Mapping[str, float]) -> Reason | None:
    """The memory that is short of the batch that makes a given rate, where the way to the answer speaks of none; None where all is well."""
    if asked.unknown == FREE or FREE in known or not batch_is_left_to_a_rate(asked):
        return None
    batch = replace(posed(asked, FREE, asked.known), silent=True)
    reason = _answered(batch, told=False)[0].reason
    if reason and (usual := in_usual_types(batch, reason.missing)):
        reason = _answered(usual, told=False)[0].reason
    return reason if reason and reason.code == SHORT_OF_MEMORY else None


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
    if left_open := next((reason for _, reason in outcomes if reason and reason.code in _OPEN), None):
        return (), left_open
    found: list[Answer] = []
    for one in (one for answers, _ in outcomes for one in answers):
        if one.kind != "point":
            return (), _within_bounds(leg, one)
        found += [] if any(isclose(one.point, other.point, rel_tol=HOLDS) for other in found) else [one]
    undetermined = Reason("not_identified", message=f"{leg.unknown} is not determined by {leg.cases[0].told}")
    reasons = [reason or undetermined for _, reason in outcomes]
    return tuple(found), None if found else reasons[0]


def _sure(case: Equation | Joint, unknown: str, values: Mapping[str, float], rounding: _Rounding) -> _Outcome:
    """The answers of a case; none where a point may be made of nothing but the rounding of what it was worked out from."""
    found, reason = solve_equation(case, unknown, values)
    if isinstance(case, Equation) and not any(name in rounding for name in case.symbols):
        return found, reason
    if isinstance(case, Joint) and all(row.sense == "=" for row in case.rows) and any(_is_anything(unknown, one) for one in found):
        return (), Reason("not_identified", message=f"{unknown} is not determined by {case.told}")
    for one in (one for one in found if one.kind == "point"):
        at = {**values, unknown: one.point}
        magnified = _rounding(case, unknown, at, rounding)
        if magnified > _LOST or _at_an_edge(case, unknown, at, magnified * _LAST_DIGIT):
            message = f"{unknown} cannot be told from these givens: what their last digits do not say decides it in {case.told}"
            return (), Reason("not_identified", message=message)
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
        return Reason("not_identified", message=f"{unknown} can be anything{regime}, and that may be so here")
    names = " and ".join(case.open)
    return Reason("missing_givens", missing=case.open, message=f"{unknown} needs also {names}: without, it may be{regime or ' anything'}")


def _within_bounds(leg: Leg, interval: Answer) -> Reason:
    low, high = (None if end is None else show(leg.unknown, end) for end in (interval.low or None, interval.high))
    bounds = " and ".join(text for text in (low and f"at least {low}", high and f"at most {high}") if text) or "any value"
    message = f"{leg.unknown} does not bind in {leg.cases[0].told}, so only its bounds are known: {bounds}"
    return Reason("not_identified", message=message)


def _onward(world: _World, leg: Leg, point: Answer) -> _World:
    values = {**world.values, leg.unknown: point.point}
    known = [case for case in leg.cases if values.keys() >= {*case.symbols}]
    return _World(
        values,
        {**world.slopes, leg.unknown: _chained(point, world)},
        {**world.rounding, leg.unknown: max((_rounding(case, leg.unknown, values, world.rounding) for case in known), default=1.0)},
        (*world.steps, _step(leg, point)),
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
    left = _unused(asked, touched.union(*(one.rests for one in doubts.values())))
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
    idle = [f"{row.id} was named and is not needed" for row in asked.named if row not in {*needed}]
    idealised = [text for row in used for text in row.assumptions]
    of_presets = [name for name in touched if asked.provenance.get(name, "given") != "given"]
    switches = asked.conventions.stated((name for row in used for name in row.symbols), of_presets)
    weights = _weights(asked) if "bytes_per_weight" in touched else ()
    supposed = [as_assumption(name, asked.known[name], why) for name, why in asked.supposed.items() if name in touched & asked.known.keys()]
    return tuple(dict.fromkeys((*asked.notes, *supposed, *defaults, *cancelled, *switches, *weights, *taken, *joined, *idle, *idealised)))


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
