"""Counted quantities as whole numbers within limits: a batch is rounded down, chips are rounded up."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from derive.answers import COUNTED, next_whole
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.limits.answering import tell_nearest
from derive.solving.limits.limits import list_in_words, split_limits
from derive.solving.question.questions import Question
from derive.solving.result import Answer, Reason, Solution, Sweep
from derive.units import show


def round_to_whole(asked: Question, solution: Solution) -> Solution:
    """Return the answer to limits with counted quantities as whole numbers within them. A refusal if there is none."""
    if asked.unknown not in COUNTED:
        return solution
    answers = _round_answers(solution.answers)
    if solution.answers and not answers:
        return replace(solution, answers=(), reason=_explain_no_whole(asked, solution.answers), said=())
    return replace(solution, answers=answers)


def _round_answers(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return answers with whole ends, without those that contain no whole number."""
    found = (_round_answer(one) for one in answers)
    return tuple(one for one in found if one)


def _round_answer(one: Answer) -> Answer | None:
    if one.kind == "point":
        value = next_whole(one.point, one.bound)
        return replace(one, value=value, residual=None) if value >= 1 or one.bound is None else None
    if one.kind != "interval":
        return one
    low = None if one.low is None else next_whole(one.low, one.bound or LOWER)
    high = None if one.high is None else next_whole(one.high, one.bound or UPPER)
    loose = None if one.loose_low is None else next_whole(one.loose_low, one.bound or LOWER)
    most = None if one.loose_high is None else next_whole(one.loose_high, one.bound or UPPER)
    return None if high is not None and high < max(low or 0.0, 1.0) else replace(one, low=low, high=high, loose_low=loose, loose_high=most)


def round_table(asked: Question, sweep: Sweep) -> Sweep:
    """Return the table with whole numbers, and the reason for a point without a whole number."""
    import numpy as np

    bounds = np.array([{LOWER: 1, UPPER: -1}.get(bound or "", 0) for bound in sweep.bounds])[sweep.places]
    up, down = np.ceil(sweep.values * (1 - HOLDS)), np.floor(sweep.values * (1 + HOLDS))
    values = np.select([bounds > 0, bounds < 0], [up, down], sweep.values)
    none = (values < 1).any(axis=0) & ~(values >= 1).any(axis=0)
    reason = Reason(code="no_solution", violated=tuple(asked.limits), message=f"there is no whole {asked.unknown} within the limits")
    others = {
        at: (_round_answers(answers), why if _round_answers(answers) or not answers else reason)
        for at, (answers, why) in sweep.others.items()
    }
    others |= dict.fromkeys(np.flatnonzero(none).tolist(), ((), reason))
    return replace(sweep, values=np.where(values < 1, np.nan, values), others=others)


def _explain_no_whole(asked: Question, answers: Sequence[Answer]) -> Reason:
    """Return why a limit leaves no whole number, and the result with the next one."""
    low, high = answers[0].ends
    most = low if high is None else high
    left = show(asked.unknown, most) if low == most else f"{show(asked.unknown, low)} to {show(asked.unknown, most)}"
    limits = split_limits(asked)
    nearest = tell_nearest(next(one for one in limits if one.moves), float(ceil(most)))
    message = f"no whole {asked.unknown} meets {list_in_words(limits)}, which leaves {asked.unknown} = {left}{nearest}"
    return Reason(code="no_solution", violated=tuple(asked.limits), message=message)
