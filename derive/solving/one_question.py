"""One question as it is asked: what the givens lead to, and if they lack something, one attempt after another to supply it.

The first attempt that has an answer is the answer. The answer prints the suppositions of its attempt.
"""

from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import replace
from math import inf, isclose
from typing import Any

from derive.answers import BOUGHT, COUNTED, Answer, values_of_steps
from derive.catalogue import equation
from derive.errors import WrongValue
from derive.layouts import EXCHANGES
from derive.preset_record import LESS_IS_MORE, PARAMETERS
from derive.quantities import quantity
from derive.records import HOLDS, LOWER, UPPER
from derive.roles import BETTER, SIZES, Batch, Memory
from derive.solving.checks.contradicted_defaults import consistent_answer, find_clash
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.checks.targets import batch_is_left_to_a_rate, find_targets
from derive.solving.engine.one_equation import value_inside
from derive.solving.explain.lacking import is_reachable
from derive.solving.explain.refusals import missing_givens
from derive.solving.question.conventions import Switches
from derive.solving.question.defaults import SHARES
from derive.solving.question.givens import is_symbolic, read_limits
from derive.solving.question.questions import (
    Question,
    drop_knowns,
    pose_question,
    results_made_of,
    suppose_dense,
    suppose_not_given,
    suppose_one_sequence,
    suppose_types,
    with_other_stand_ins,
)
from derive.solving.question.rows import find_made_zeros
from derive.solving.result import Solution, known_answer
from derive.suppositions import STOPGAPS, USUAL_TYPES, Stopgap
from derive.units import show

_SHARES, _FOLLOWS = tuple(f"{name} = " for name in SHARES), " follows from the givens ("
"""Parts of the assumption that given results determine a share of a peak. They are no targets then."""
_CHIPS, _BATCH = Memory.bought, Batch.name
STOPGAP = "stopgap"
"""Kind of the warning on an answer that leaves quantities out."""

_MORE = (0.25, 0.5, 0.75, 1.0)
"""Shares of the usual range of what is left out, at which it is seen on which side it bounds the answer."""


def answer_question(unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return the answer to a question."""
    formulas = {name: value for name, value in given.items() if is_symbolic(value)}
    numbers = {name: value for name, value in given.items() if name not in formulas}
    sides = read_limits(numbers)[1]
    if any(row.quantity in sides for row in EXCHANGES):
        switches = replace(switches, exchanged=True)
    asked = pose_question(unknown, numbers, switches)
    if sides:
        from derive.solving.limits.limits import add_limits

        asked = add_limits(suppose_usual(asked), sides)
    if formulas:
        if sides:
            raise WrongValue(f"{min(sides)} is a limit. With symbols, each given must be one number")
        from derive.solving.symbolic import answer_symbolically

        return answer_symbolically(asked, formulas)
    found = _answer_numbers(asked, switches.measured)
    lacks = given if found.is_refused_for("missing_givens") else found.unused
    if not switches.exchanged and any(row.quantity in lacks for row in EXCHANGES):
        again = answer_question(unknown, given, replace(switches, exchanged=True))
        return again if again.answers or again.is_refused_for("no_solution") else found
    return found


def _answer_numbers(asked: Question, measured: bool = False) -> Solution:
    """Return the answer of the first attempt that has one: for all targets, with what is usual, with other stand-ins."""
    targets, usual = find_targets(asked), suppose_usual(asked)
    if asked.limits or len(targets) > 1:
        if sized := _fewest_chips(usual):
            return sized
        limited = replace(usual, limits=targets)
        if sized := _answer_at_best_batch(limited):
            return _round_within_limits(limited, sized)
    question, found = _answer_with_usual(asked)
    found = next(_answers_with_other_stand_ins(question, found), found)
    if found.reason and _BATCH in {*found.refusal.missing} | (question.known.keys() - asked.known.keys()):
        found = _answer_at_best_batch(usual) or found
    if not measured and (met := _answer_to_targets(question, found)):
        question, found = met
    if found.is_refused_for("missing_givens"):
        found = _answer_zero(suppose_usual(asked)) or found
    return _round_within_limits(question, _compare_with_dense(question, found))


def _compare_with_dense(asked: Question, found: Solution) -> Solution:
    """Return the answer with a warning if the givens contradict each other for a dense model, which the answer does not need."""
    dense = asked if asked.silent or asked.limits or not found.answers else suppose_dense(asked, PARAMETERS)
    if dense is asked or not (clash := find_clash(dense)):
        return found
    told = f"with a dense model (give {PARAMETERS[1]} for another one), {clash.message.removeprefix('contradiction: ')}"
    return found.warn("as dense", told)


def _answers_with_other_stand_ins(question: Question, found: Solution) -> Iterator[Solution]:
    """Yield the answers with other stand-ins, after a refusal, or after an answer by a stand-in alone that leaves given results aside."""
    by_stand_in = bool(found.answers) and not question.named and all(equation(id).stand_in for id in found.equations)
    code = found.reason.code if found.reason else "contradiction" if by_stand_in else ""
    for other in with_other_stand_ins(question, code):
        results = results_made_of(other, other.unknown)
        if by_stand_in and not results:
            continue
        there = _answer_once(other)
        # A result that is given against its own equation, or beside a stand-in, must have a part in the answer.
        needed = {*(results if by_stand_in else ()), *(row.defines for row in other.left_out)}
        if there.answers and needed.isdisjoint(there.unused):
            yield there


def _answer_to_targets(question: Question, found: Solution) -> tuple[Question, Solution] | None:
    """Return the question with given results as targets and its answer if they leave another one than the results as equalities, or None.

    The results are targets if as equalities they lead to no answer, leave a given out, or lead to a value at which a target is not met.
    For an unknown that is no size they are exact, unless they only bound it or memory is short.
    """
    bounded = any(one.kind != "point" or one.bound for one in found.answers)
    if question.unknown not in (*SIZES, *COUNTED) and not (bounded or found.is_refused_for(SHORT_OF_MEMORY)):
        return None
    usual = suppose_usual(question)
    asked = replace(usual, limits=find_targets(usual, BETTER))
    idle, more = not asked.limits.keys().isdisjoint(found.unused), asked.limits.keys() - question.limits.keys()
    if not more or (not idle and (len(asked.limits) < 2 or _keeps_targets(asked, found, question.limits.keys() if bounded else set()))):
        return None
    from derive.solving.limits.limits import NotMadeOf

    try:
        met = _answer_once(asked)
    except NotMadeOf:
        return None
    # What is bought meets all targets in whole numbers.
    differs = _ends_of(met) != _ends_of(found) or (asked.unknown in BOUGHT and (idle or _shows_share(found)))
    told = met.is_refused_for("no_solution") or (met.reason and not asked.limits.keys().isdisjoint(met.reason.violated))
    return (asked, met) if (differs if met.answers else idle and bounded and told) else None


def _keeps_targets(asked: Question, found: Solution, limits: Set[str]) -> bool:
    """Return whether results as equalities use all givens, show no share of a peak, and lead to where each target is met or unknown.

    Beside limits, a result is met or exceeded too, unless it has several values of the unknown and a limit says which is meant.
    """
    from derive.solving.limits.limits import split_limits

    if not found.answers or found.unused or _shows_share(found):
        return False
    there = ((one, one.value_at(value_inside(found.answers[0]))) for one in split_limits(asked))
    if not all(value is None or one.allows(value) for one, value in there):
        return False
    return not limits or len(consistent_answer(drop_knowns(asked, limits))[0].answers) > 1


def _shows_share(found: Solution) -> bool:
    """Return whether given results determine a share of a peak in an answer."""
    return any(text.startswith(_SHARES) and _FOLLOWS in text for text in found.assumptions)


def _ends_of(found: Solution) -> list[str]:
    """Return the ends of the answers as text, without 0 and infinity."""
    return [show(found.unknown, end) for one in found.answers for end in one.ends if end]


def _answer_zero(asked: Question) -> Solution | None:
    """Return 0 if a given result is 0 and the unknown is its only factor that can be 0, or None."""
    zeros = [name for name in asked.typed if asked.known[name] == 0]
    result = find_made_zeros(asked.active, zeros, asked.known.keys() - {*zeros}).get(asked.unknown)
    if result is None:
        return None
    found = known_answer(asked.unknown, 0.0, f"with this value {result} is as given")
    return replace(found, given={result: 0.0}, provenance={result: "given"})


def _round_within_limits(asked: Question, found: Solution) -> Solution:
    """Return the answer to limits with counted quantities as whole numbers."""
    if not asked.limits:
        return found
    from derive.solving.limits.answering import round_to_whole

    return round_to_whole(asked, found)


def _answer_with_usual(asked: Question) -> tuple[Question, Solution]:
    """Return the question with the usual values of what it lacks, and its answer, or both without them if they leave no less of it."""
    solution = _answer_once(asked)
    missing = _missing_inputs(asked, solution)
    supposed = _suppose(asked, missing) if missing else asked
    again = solution if supposed is asked else _answer_once(supposed)
    if again.is_refused_for("missing_givens") and (dense := suppose_dense(supposed, PARAMETERS)) is not supposed:
        of_dense = _answer_once(dense)
        supposed, again = (dense, of_dense) if of_dense.answers else (supposed, again)
    kinds, others = ({one.kind for one in found.answers} for found in (solution, again))
    says_more = others == {"point"} != kinds or {*again.unused} < {*solution.unused}
    says_less = kinds and (others != {"point"} or not says_more) and not _exceeds_whole(asked, solution)
    if (says_less and not again.is_refused_for(SHORT_OF_MEMORY)) or (not again.answers and solution.is_refused_for("no_solution")):
        missing, supposed, again = (), asked, solution
    again = again if again.answers else _size_chips(asked, supposed, again)
    if missing and again.is_refused_for("missing_givens") and not asked.limits:
        again = answer_with_stopgap(supposed, again) or again
    return supposed, again


def _size_chips(asked: Question, supposed: Question, refused: Solution) -> Solution:
    """Return the fewest chips with a batch of their own, or the refusal with as many chips as would do."""
    if asked.unknown not in (_CHIPS, _BATCH) and not batch_is_left_to_a_rate(asked):
        return refused
    from derive.solving.limits.sizing import add_enough_chips

    # If memory is short for one target nothing is missing, but what another target needs may be.
    usual = suppose_usual(supposed)
    lacks_batch = refused.is_refused_for("missing_givens") and _BATCH in refused.refusal.missing
    sized = _fewest_chips(usual) if lacks_batch or refused.is_refused_for(SHORT_OF_MEMORY) else None
    return sized or add_enough_chips(usual, refused)


def _fewest_chips(asked: Question) -> Solution | None:
    """Return the fewest chips that meet targets with a batch of their own, with their range over published efficiencies."""
    from derive.solving.limits.sizing import fewest_chips

    found = fewest_chips(asked)
    used = {name: one for name, one in asked.ranges.items() if found and name in found.given}
    if not found or not found.answers or not used or asked.silent:
        return found
    most = {name: one.low if name in LESS_IS_MORE else one.high for name, one in used.items()}
    least = {name: one.high if name in LESS_IS_MORE else one.low for name, one in used.items()}
    ends = [fewest_chips(replace(asked, known={**asked.known, **end})) for end in (most, least)]
    chips = [f"{one.answers[0].ends[0]:.0f}" if one and one.answers else "none" for one in ends]
    told = f"with the rates of published runs: {asked.unknown} = {' to '.join(dict.fromkeys(chips))}"
    rests = f"{', '.join(used)}: the middle of published runs"
    return replace(found, said=(*found.said, told, *filter(None, [asked.record])), assumptions=(rests, *found.assumptions))


def _answer_at_best_batch(asked: Question) -> Solution | None:
    from derive.solving.limits.sizing import answer_at_best_batch

    return answer_at_best_batch(asked)


def _suppose(asked: Question, missing: Collection[str]) -> Question:
    """Return the question with usual values of what it lacks: bf16, one sequence, a dense model."""
    one = suppose_one_sequence(asked, missing)
    return suppose_dense(suppose_types(one, missing) or one, missing)


def suppose_usual(asked: Question) -> Question:
    """Return the question with usual data types, one sequence and a dense model, unless they are known."""
    return _suppose(asked, {*USUAL_TYPES, *PARAMETERS} - asked.known.keys())


def _missing_inputs(asked: Question, solution: Solution) -> Collection[str]:
    """Return the missing inputs of a refusal. If inequalities only bound the unknown, return the inputs that equations would need.

    If equations only bound it, leave a given out, or no value satisfies them, data types that are not known may lead to a point.
    """
    if solution.is_refused_for("missing_givens"):
        return solution.refusal.missing
    if asked.limits:
        return ()
    kinds = {one.kind for one in solution.answers}
    if kinds == {"point"} or is_reachable(asked):
        open_ = solution.is_refused_for("no_solution", "not_identified") or "interval" in kinds or solution.unused
        more = PARAMETERS if _exceeds_whole(asked, solution) else ()
        return {*USUAL_TYPES, *more} - asked.known.keys() if open_ else ()
    return missing_givens(asked).missing


def _exceeds_whole(asked: Question, solution: Solution) -> bool:
    """Return whether an answer rests on a part that is larger than its known whole: more active parameters than there are."""
    there = {**asked.known, **values_of_steps(solution.route)}
    return any(there[name] > there.get(quantity(name).whole, inf) * (1 + HOLDS) for name in there)


def _answer_once(asked: Question) -> Solution:
    """Return the answer to a question, with the way to it if there is one way."""
    if not asked.limits:
        solution, way = consistent_answer(asked)
    else:
        from derive.solving.limits.answering import answer_with_way

        solution, way = answer_with_way(asked)
    return replace(solution, along=(asked, way))


def answer_with_stopgap(asked: Question, refused: Solution) -> Solution | None:
    """Return a bound of the unknown, which leaves out the quantities of a row of `STOPGAPS`, or that not even this fits in memory, or None
    if no row applies. It uses all given results of the unknown. Of several rows it is the first that uses all givens, or most of them.
    """
    kept: Solution | None = None
    results = {*results_made_of(asked, asked.unknown)}
    for row in (row for row in STOPGAPS if _stopgap_fits(row, asked, refused)):
        question = suppose_not_given(asked, {name: value for name, value in row.values.items() if name not in asked.known})
        found = _answer_once(question)
        found = next(_answers_with_other_stand_ins(question, found), found)
        if found.is_refused_for(SHORT_OF_MEMORY) and asked.unknown != _CHIPS:
            return kept or found
        if len(found.answers) == 1 and results.isdisjoint(found.unused):
            (one,) = found.answers
            side = one.bound or _side_of_zeros(asked, row, one)
            found = replace(found, answers=(replace(one, bound=side),)).warn(STOPGAP, row.text)
            kept = found if kept is None or len(found.unused) < len(kept.unused) else kept
            if not kept.unused:
                break
    return kept


def _side_of_zeros(asked: Question, row: Stopgap, found: Answer) -> str | None:
    """Return the side to which a point moves if what a row leaves out is not 0, or None if it does not move."""
    zeros = [name for name, value in row.values.items() if not value and name not in asked.known]
    for share in _MORE if zeros and found.kind == "point" else ():
        more = {name: quantity(name).at(share) for name in zeros}
        there = consistent_answer(replace(asked, known={**row.values, **asked.known, **more}, anyway=True, silent=True))[0].first_value
        if there is not None and not isclose(there, found.point, rel_tol=HOLDS):
            return LOWER if there > found.point else UPPER
    return None


def _stopgap_fits(row: Stopgap, asked: Question, refused: Solution) -> bool:
    """Return whether a row is for the unknown, the question mentions none of `absent`, and it lacks only what the row may leave out."""
    spoken = {*asked.known, *(part for part, _ in asked.conventions.layouts)}
    meant = asked.unknown in row.unknowns and spoken.isdisjoint(row.absent)
    return meant and (not row.lacking or {*refused.refusal.missing} <= {*row.lacking})
