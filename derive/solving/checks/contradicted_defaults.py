"""An answer that agrees with all that was given: a default that a given result contradicts becomes what the result makes of it.

No answer goes beyond what is possible. Chips that a speed needs are at least those that memory needs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import log

from derive.answers import BOUGHT, DECODE_ALONE, next_whole, values_of_steps, ways_to
from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.quantities.defaults import DEFAULTS
from derive.records import LOWER, UPPER, Equation
from derive.roles import HELD, Memory
from derive.solving.checks.consistency import contradicted_default, exceeded_bound, find_implausible, find_impossible
from derive.solving.checks.fit import MEMORY_BINDS, SHORT_OF_MEMORY
from derive.solving.checks.targets import better_side, is_within, list_speeds, warn_beyond_domain
from derive.solving.engine.engine import list_unused, refuse_question
from derive.solving.engine.find import find_answer, possible_errors
from derive.solving.engine.legs import Way
from derive.solving.engine.one_equation import value_inside
from derive.solving.explain.answer_with import result_with
from derive.solving.explain.lacking import is_reachable
from derive.solving.question.defaults import IDEALS, MEASURED, SHARES, defaults_behind
from derive.solving.question.questions import Instead, Question, drop_knowns, pose_again, results_made_of, suppose_not_given
from derive.solving.result import BY_DEFAULT, Reason, Solution, chain_slopes
from derive.units import show

FASTER_THAN_ASKED = "faster than asked"
"""The kind of the warning on chips that memory needs if a speed needs fewer."""

_ROWS = {row.quantity: row for row in DEFAULTS}

_BY_ROUNDING = 1.1
"""The factor of a default up to which a difference is rounding of the givens, if nobody speaks of it."""


def consistent_answer(asked: Question) -> tuple[Solution, Way | None]:
    """Return the answer that agrees with the givens and is possible, and the way to it."""
    solution, way = _answer_consistently(asked)
    if solution.is_refused_for("contradiction") and not asked.instead:
        solution, way = _answer_from_one_result(asked) or (solution, way)
    solution, clash = _drop_answers(solution, [find_implausible(asked.unknown, one) for one in solution.answers])
    return (refuse_question(asked, clash, solution.route), None) if clash else (solution, way)


def find_clash(asked: Question) -> Reason | None:
    """Return why the givens cannot all be true, whatever is asked for, or None."""
    return find_impossible(asked, asked.known) or _settle_defaults(asked, asked.known)[1]


def _drop_answers(solution: Solution, clashes: Sequence[Reason | None]) -> tuple[Solution, Reason | None]:
    """Return a solution without the answers that have a reason against them. If all have one, return all of them, and the first reason."""
    kept = [one for one, clash in zip(solution.answers, clashes, strict=True) if not clash]
    return (solution.keep(kept), None) if kept else (solution, next(iter(clashes), None))


def _answer_from_one_result(asked: Question) -> tuple[Solution, Way | None] | None:
    """Return the answer from one of several given results, if shares of the peaks or waiting times then explain the others, or None.

    For example, a time to the first token gives the share of the peak rate, and the time of a step the share of the bandwidth.
    """
    results = results_made_of(asked, asked.unknown)
    for name in results if len(results) > 1 else ():
        alone = drop_knowns(asked, {*results} - {name})
        solution, way = find_answer(alone)
        if [one.kind for one in solution.answers] != ["point"]:
            continue
        settled, clash = _settle_defaults(asked, {**asked.known, asked.unknown: solution.answers[0].point})
        if clash or not all(one.name in SHARES or _ROWS[one.name].waits or _ROWS[one.name].found for one in settled.instead):
            continue
        explained = {other for one in settled.instead for other in one.given}
        unused = tuple(other for other in (*solution.unused, *results) if other not in {name, *explained})
        return replace(solution, assumptions=(*(one.text for one in settled.instead), *solution.assumptions), unused=unused), way
    return None


def _answer_consistently(asked: Question) -> tuple[Solution, Way | None]:
    """Return the answer with defaults that agree with the given results.

    A given result that the defaults contradict determines the default that must change least: a measured time determines its
    utilisation. A result that no default can explain is a contradiction.
    """
    solution, way = find_answer(asked)
    if solution.is_refused_for("contradiction", "requirement_violated"):
        return _resolve_refusal(asked, solution, way)
    if not solution.answers:
        return (way and _chips_of_memory(asked, solution, way)) or solution, way
    if solution.answers[0].kind != "point":
        clash = find_impossible(asked, asked.known)
        return (refuse_question(asked, clash, solution.route), None) if clash else (solution, way)
    solution, impossible = _drop_answers(solution, _list_impossible(asked, solution))
    found = {**asked.known, asked.unknown: solution.answers[0].point}
    beside, clash = _settle_defaults(replace(asked, instead=()), found)
    if (clash or beside.instead) and not asked.instead:
        # The answer rests on a default that the givens alone contradict.
        settled, unexplained = _settle_defaults(asked, asked.known)
        if settled.instead and not unexplained:
            return _answer_consistently(settled)
    if clash := clash or impossible:
        return refuse_question(asked, clash, solution.route), None
    instead = (*asked.instead, *beside.instead)
    # The number of chips of a fleet is no supposition of an answer that does not use it.
    doubtful = (one for one in instead if one.name not in BOUGHT or one.name in {*solution.given, *values_of_steps(solution.route)})
    rests = (*(one.text for one in doubtful), *solution.assumptions)
    behind = (text for one in asked.instead if one.name in solution.given for text in one.defaults)
    unused = tuple(name for name in solution.unused if not any(name in one.given for one in instead))
    answers = solution.answers
    # A later default may rest on an earlier one.
    for default in reversed(asked.instead):
        answers = tuple(replace(one, elasticities=chain_slopes(one.elasticities, default.name, default.elasticities)) for one in answers)
    return replace(solution, answers=answers, assumptions=tuple(dict.fromkeys((*rests, *behind))), unused=unused), way


def _resolve_refusal(asked: Question, refused: Solution, way: Way | None) -> tuple[Solution, Way | None]:
    """Return the answer with another value of a default on the route that a measured result contradicts, or why there is none."""
    settled, clash = _settle_defaults(asked, asked.known)
    if not clash:
        return (refused, way) if settled.instead == asked.instead else _answer_consistently(settled)
    if not refused.is_refused_for("contradiction"):
        return refused, way
    if clash.code == "contradiction":
        first, *fewest = refused.refusal.message.splitlines()
        # Two values of the unknown tell more than one contradicted given.
        two_values = refused.refusal.two_values
        head = first if two_values else clash.message
        clash = replace(clash, message="\n".join((head, *fewest)), two_values=two_values)
    return refuse_question(asked, clash, refused.route), None


def _list_impossible(asked: Question, solution: Solution) -> list[Reason | None]:
    """Return for each answer of a solution why no deployment can have it, or None."""
    there = ((one, {**solution.given, **values_of_steps(steps)}) for one, steps in ways_to(solution))
    if asked.unknown in IDEALS:
        # Parts of a step are found with a share of a peak.
        there = ((one, {}) for one in solution.answers)
    return [find_impossible(asked, {**values, **asked.known, asked.unknown: value_inside(one)}) for one, values in there]


def _chips_of_memory(asked: Question, refused: Solution, way: Way) -> Solution | None:
    """Return the chips that memory needs if a speed needs fewer, with their speed, or None for any other refusal."""
    names = list_speeds(asked) if refused.refusal.code == SHORT_OF_MEMORY else ()
    found = answer_where_memory_binds(asked, names, _questions_of_memory(asked, {*names})) if names else None
    if found is None:
        return None
    held, there = found
    (end,) = held.answers
    chips = next_whole(end.point, LOWER)
    told = (f"{name} is {show(name, one.answers[0].point)} where {show(name, asked.known[name])} is enough" for name, one in there.items())
    faster = f"memory needs {chips:.0f} chip{'s' * (chips != 1)}, which is faster than required: {', '.join(told)}"
    beyond = warn_beyond_domain(asked, {**asked.known, asked.unknown: end.point}, way.rows)
    doubts = {kind: text for one in there.values() for kind, text in one.doubts.items() if kind == DECODE_ALONE}
    said = {**({warn_beyond_domain.__name__: beyond} if beyond else {}), FASTER_THAN_ASKED: faster, **doubts, **held.doubts}
    on_the_way = {name for row in way.rows for name in row.symbols}
    return replace(held.with_doubts(said), unused=tuple(name for name in held.unused if name not in on_the_way))


def _questions_of_memory(asked: Question, names: Set[str]) -> Iterator[Question]:
    """Yield the question without these speeds: with the cache, then with the weights alone."""
    if not names <= {name for row in HELD if not row.cache and not row.told for name in row.names}:
        yield drop_knowns(asked, names)
    yield suppose_not_given(drop_knowns(asked, names), {Memory.cache: 0.0})


def answer_where_memory_binds(
    asked: Question, names: Sequence[str], questions: Iterable[Question]
) -> tuple[Solution, Mapping[str, Solution]] | None:
    """Return the limit that memory sets to the unknown, with the targets there, or None if a target is not met.

    The questions are those without the targets. The first complete one is answered.
    """
    for question in questions:
        held, _ = consistent_answer(question)
        if not held.is_refused_for("missing_givens"):
            break
    side, sign = (LOWER, ">=") if asked.unknown in BOUGHT else (UPPER, "<=")
    if [one.kind for one in held.answers] != ["interval"] or not (end := held.answers[0].ends[side == UPPER]):
        return None
    one, known = held.answers[0], {**question.known, asked.unknown: next_whole(end, side) if side == LOWER else end}
    at = replace(question, known=known, anyway=True, limits={}, floors={})
    there = {name: consistent_answer(replace(at, unknown=name))[0] for name in names}
    for name, found in there.items():
        met_side, value = asked.limits.get(name, better_side(name)), found.first_value
        if value is None or not is_within(met_side, value, asked.known[name]):
            return None
    given = {**held.given, **{name: asked.known[name] for name in names}}
    formula = one.formula and one.formula.removeprefix(f"{asked.unknown} {sign} ")
    point = replace(one, kind="point", value=end, low=None, high=None, regime=MEMORY_BINDS, formula=formula, bound=side)
    on_the_way = {symbol for step in held.route for id in step.equations for symbol in equation(id).symbols}
    provenance = {**held.provenance, **{name: asked.provenance[name] for name in names}}
    unused = list_unused(asked, {*given, *on_the_way})
    return replace(held, answers=(point,), given=given, provenance=provenance, unused=unused), there


def _settle_defaults(asked: Question, known: Mapping[str, float]) -> tuple[Question, Reason | None]:
    """Return the question with defaults that agree with the results, and why one is not explained."""
    settled = replace(asked, known=known)
    while beyond := contradicted_default(settled):
        row, reason = beyond
        found = _list_explanations(settled, row, {*known, asked.unknown})
        spoken = {name for one in found if one.name in MEASURED and one.value > _BY_ROUNDING for name in _ROWS[one.name].spoken}
        if len(found) != 1 or (spoken and asked.known.keys().isdisjoint(spoken)):
            return settled, _tell_unexplained(reason, found)
        (one,) = found
        provenance = {**settled.provenance, one.name: "follows from the givens"}
        settled = replace(settled, instead=(*settled.instead, one), provenance=provenance)
        settled = pose_again(settled, asked.unknown, {**settled.known, one.name: one.value})
    return settled, None


def _list_explanations(asked: Question, row: Equation, at_hand: Set[str]) -> list[Instead]:
    """Return the defaults that can explain a result, each with its value: waiting time first, else the one that changes least, else all."""
    if waited := list(_values_of_defaults(asked, row, defaults_behind(row, asked.active, at_hand, waits=True))):
        return waited
    put_in = {name for one in asked.active for name in one.put_in if name not in row.put_in}
    if found := list(_values_of_defaults(asked, row, (name for name in MEASURED if name not in put_in))):
        return [min(found, key=lambda one: abs(log(one.value / NEUTRAL_DEFAULTS[one.name])))]
    result = row.symbols[0]
    made = result_with(asked, result, {}) if better_side(result) else None
    if row in asked.named or (made is not None and not is_within(better_side(result), made, asked.known[result])):
        # A target is not met by less work than the givens say.
        return []
    return list(_values_of_defaults(asked, row, defaults_behind(row, asked.active, at_hand)))


def _tell_unexplained(reason: Reason, found: Sequence[Instead]) -> Reason:
    """Return why defaults do not explain a result: none can, or several can."""
    if not found:
        return replace(reason, message=f"{reason.message}, and no other value of a default makes both true")
    could = " or ".join(f"{one.name} = {show(one.name, one.value)}" for one in found)
    told = reason.message.removeprefix("contradiction: ")
    which = "one of them" if len(found) > 1 else "it if it is so"
    return Reason(
        code="missing_givens", missing=tuple(one.name for one in found), message=f"{told}: {could} would make both true. Give {which}"
    )


def _values_of_defaults(asked: Question, row: Equation, names: Iterable[str]) -> Iterator[Instead]:
    """Yield the values of defaults with which an equation holds. A count of at least one is never below one.

    Another given result may say something else of the default. The result of this equation counts.
    """
    for name in (name for name in names if name not in asked.known):
        without = replace(pose_again(asked, name, asked.known), anyway=True, silent=True)
        results = {*results_made_of(without, name)}
        without = drop_knowns(without, results - {row.symbols[0]}) if row.symbols[0] in results else without
        if not is_reachable(without):
            continue
        solution, way = find_answer(without)
        # A count may exceed its default and a share may be smaller. Half a chip or token is impossible.
        least = 0.0 if QUANTITIES[name].limits()[1] == 1 or QUANTITIES[name].may_be_zero else 1.0
        for one in (one for one in solution.answers if one.kind == "point" and one.point >= least):
            instead = pose_again(asked, asked.unknown, {**asked.known, name: one.point})
            beyond = contradicted_default(instead)
            if not exceeded_bound(name, instead.known) and (beyond is None or beyond[0].id != row.id):
                defaults = tuple(text for text in solution.assumptions if text.endswith(BY_DEFAULT))
                errs, given = possible_errors(without, solution, way, one), frozenset(solution.given)
                yield Instead(
                    name=name, value=one.point, by=row.id, causes=errs, defaults=defaults, given=given, elasticities=one.elasticities
                )
