"""A question with limits in its givens: on the unknown itself, on results of the unknown, and on its inputs.

A limit on an input does not depend on the unknown. The question is answered at the limit, and at values within it, which show to which side
it bounds the answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf, isclose
from typing import Any

from derive.answers import BOUGHT, COUNTED, LIMITS_BIND, OR, Answer, Interval, bound_side, next_whole
from derive.errors import WrongValue
from derive.records import HOLDS, LOWER, UPPER
from derive.roles import SIZES, Memory, Tokens
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.checks.targets import better_side
from derive.solving.limits.answering import round_answer
from derive.solving.limits.best_size import Ask, answer_at_end, best_end, drop_results, refuse_in_place
from derive.solving.limits.limits import FREE, NotMadeOf, note_of_limit
from derive.solving.limits.stretches import stretches_of
from derive.solving.question.givens import IN_WORDS, is_limit, read_limits
from derive.solving.result import Reason, Solution
from derive.units import show

_CLAIMS = ("contradiction", "no_solution", "requirement_violated")
"""Codes of refusals that say that the givens cannot all be true."""

_WITHIN = {UPPER: (0.999, 0.75, 0.5, 0.1), LOWER: (1.001, 1.33, 2.0, 10.0)}
"""Factors of a limit that lie within it, by its side."""

_Read = Callable[[str, str | float], float]
"""A reader of texts: the quantity and its text give the number."""
_AskWith = Callable[..., Solution]
"""A question about the unknown: the givens, and whether it needs no warnings."""


def answer_within_limits(ask: Ask, name: str, given: Mapping[str, Any], read: _Read) -> Solution:
    """Return the answer within all limits. If limits on the unknown itself leave none of it, why."""
    if not is_limit(given.get(name)):
        return _answer_at_free_size(ask, name, given)
    solution = _answer_at_free_size(ask, name, {other: value for other, value in given.items() if other != name})
    sides = {side: read(name, text) for side, text in read_limits({name: given[name]})[1][name].items()}
    limit = " and ".join(f"{IN_WORDS[side]} {show(name, value)}" for side, value in sides.items())
    kept = (_cut_answer(name, one, sides.get(LOWER, 0.0), sides.get(UPPER, inf)) for one in solution.answers)
    answers = tuple(one for one in kept if one)
    if answers == solution.answers:
        return replace(solution, said=(*solution.said, f"{name} {limit} is met"))
    if answers:
        return replace(solution, answers=answers, said=(*solution.said, f"{name} is limited: {limit}"))
    one = solution.answers[0]
    bound = bound_side(one) if None in one.ends else one.bound
    ends = [show(name, next_whole(end, bound) if name in COUNTED else end) for end in one.ends if end is not None]
    message = f"{name} {limit} is not met: with what is given it is {' to '.join(dict.fromkeys(ends))}{OR[bound]}"
    return refuse_in_place(name, Reason(code="no_solution", violated=(name,), message=message), solution)


def _answer_at_free_size(ask: Ask, name: str, given: Mapping[str, Any]) -> Solution:
    """Return the answer. If the limits are not on results of the unknown and the batch is free, it is for the best batch within them."""
    try:
        return ask(name, given)
    except NotMadeOf as error:
        refused = error
    if name in SIZES or FREE in given:
        raise refused
    try:
        sized = ask(FREE, drop_results(given, [name]))
    except NotMadeOf:
        raise refused from None
    if end := best_end(sized):
        found = answer_at_end(partial(_answer_at_free_size, ask), name, given, end)
        return _bound_by_size(ask, name, given, sized, found) if found.answers else found
    if sized.answers:
        raise refused
    message = f"{name} at the best {FREE} that the limits allow: {sized.why_not}"
    return refuse_in_place(name, replace(sized.refusal, message=message), sized)


def _bound_by_size(ask: Ask, name: str, given: Mapping[str, Any], sized: Solution, found: Solution) -> Solution:
    """Return an answer at the largest size, bounded to the side to which a smaller size within the other limits moves it.

    If it is a bound to the other side itself, the answer is what all sizes leave.
    """
    fewest, most = sized.answers[0].ends
    smaller = max(1.0, (most or 0.0) / 2, fewest if fewest != most else 0.0)
    bounded = bound_to_one_side(found, [ask(name, {**given, FREE: smaller})], [FREE])
    if bounded.answers:
        return bounded
    least = max(1.0, stretches_of(sized.answers)[0][0])
    other = ask(name, {**given, FREE: least})
    if other.first_value is None:
        return bounded
    both = found.answers[0], other.answers[0]
    # If all sizes limit the answer from above, every smaller value is one too.
    low = 0.0 if {one.bound for one in both} == {UPPER} else min(one.point for one in both)
    _, *said = found.said
    told = f"at {FREE} = {show(FREE, least)} to {show(FREE, found.given[FREE])}"
    return replace(found, answers=(Answer(kind="interval", low=low, high=max(one.point for one in both)),), said=(told, *said))


def _cut_answer(name: str, one: Answer, least: float, most: float) -> Answer | None:
    """Return the part of an answer within limits, or None if no part is. A point that is no size must lie between them."""
    if one.kind not in ("point", "interval"):
        return one
    if one.kind == "point" and (name not in SIZES or one.bound is None):
        return one if least * (1 - HOLDS) <= one.point <= most * (1 + HOLDS) else None
    ((low, high),) = stretches_of([one])
    bottom, top = max(low, least), min(high, most)
    if (bottom, top) == (low, high):
        return one
    if bottom > top * (1 + HOLDS):
        return None
    is_at_limit = bottom > low if name in BOUGHT else top < high
    regime = f"{LIMITS_BIND}{name}" if is_at_limit else one.regime
    part = Answer(kind="interval", low=bottom, high=None if top == inf else top, regime=regime)
    left = round_answer(part) if name in COUNTED else part
    return Answer(kind="point", value=left.high) if left and left.low == left.high else left


def bound_to_one_side(found: Solution, moved: Sequence[Solution], names: Sequence[str], of_worst: bool = False) -> Solution:
    """Return an answer with the side to which it moves within the limits, or a refusal if it may be to either side.

    An answer `of_worst` keeps its bound if it moves to the other side: it is for the worst case, at the limit.
    """
    sides = {side for one in moved for pair in zip(found.answers, one.answers, strict=False) for side in _moved_side(*pair)}
    if not sides or not (found.spans or all(one.kind == "point" for one in found.answers)):
        return found
    if len({*sides, *(one.bound for one in found.answers)} - {None}) > 1:
        where = f"where {' and '.join(names)} {'is' if len(names) == 1 else 'are'} at the limit"
        if of_worst and len(sides) == 1:
            return replace(found, said=(*found.said, where.removeprefix("where ")))
        at = f"{found.unknown} = {show(found.unknown, found.answers[0].point)}"
        message = f"{at} {where}. Within it, more and less are possible"
        return refuse_in_place(found.unknown, Reason(code="not_identified", violated=tuple(names), message=message), found)
    (side,) = sides
    together = found.with_prompts and replace(found.with_prompts, bound=side)
    return replace(found, answers=tuple(replace(one, bound=side) for one in found.answers), with_prompts=together)


def _moved_side(found: Answer, moved: Answer) -> Iterator[str]:
    """Yield the bound that each end of an answer is if it moves to that of this one within a limit."""
    for end, other in zip(found.ends, moved.ends, strict=True):
        if found.kind == moved.kind and end is not None and other is not None and not isclose(end, other, rel_tol=HOLDS):
            yield LOWER if other > end else UPPER


def answer_within_inputs(ask_for: Callable[..., Solution], unknown: str, given: Mapping[str, Any], read: _Read) -> Solution:
    """Return the answer. A limit on an input bounds it on one side, because the input does not depend on the unknown.

    Limits on sizes are used first, and no better end of the size is searched. Memory may limit a size more than its own limit.
    """
    found = _answer_within_sides(partial(ask_for, unknown), unknown, given, read)
    if not found.is_refused_for(SHORT_OF_MEMORY):
        return found
    for name, texts in read_limits(given)[1].items():
        others = {other: value for other, value in given.items() if other != name}
        end = best_end(ask_for(name, others)) if name in Memory.smaller and texts.keys() == {UPPER} else None
        if end and end.memory_binds and end.value < read(name, texts[UPPER]):
            held = _answer_within_sides(partial(ask_for, unknown), unknown, {**others, name: f"<={end.value}"}, read)
            return replace(held, said=(f"{name} at most {show(name, end.value)}: memory holds no more", *held.said))
    return found


def _answer_within_sides(ask: _AskWith, unknown: str, given: Mapping[str, Any], read: _Read) -> Solution:
    """Return the answer with the limits on inputs as they are given."""
    sides = {name: texts for name, texts in read_limits(given)[1].items() if name != unknown}
    inputs: dict[str, Mapping[str, str]] = {}
    while True:
        try:
            found = _answer_at_limits(ask, given, inputs, read)
            break
        except NotMadeOf as error:
            if error.limit not in sides:
                raise
            if error.limit in inputs:
                # At the limit the givens contradict each other: it may be met by what they make of it.
                fewer = _answer_within_sides(ask, unknown, {name: value for name, value in given.items() if name != error.limit}, read)
                return replace(fewer, unused=(*fewer.unused, error.limit))
            inputs[error.limit] = sides[error.limit]
    if len(inputs) < len(sides) and found.is_refused_for("missing_givens"):
        with suppress(NotMadeOf):
            at_all_limits = _answer_at_limits(ask, given, sides, read)
            # Only a definition may leave out a limit. A bound must use all of them.
            bounded = any(one.kind != "point" for one in at_all_limits.answers) and not sides.keys().isdisjoint(at_all_limits.unused)
            return found if bounded or at_all_limits.is_refused_for("missing_givens") else at_all_limits
    return found


def _answer_at_limits(ask: _AskWith, given: Mapping[str, Any], inputs: Mapping[str, Mapping[str, str]], read: _Read) -> Solution:
    """Return the answer at the limits of inputs, with the side on which it lies within these limits.

    A limit from both sides is a range. A limit that the answer does not use is listed as not used. Raises `NotMadeOf` for a limit at which
    the givens contradict each other.
    """
    at: dict[str, Any] = {name: next(iter(texts.values())) for name, texts in inputs.items() if len(texts) == 1}
    between = {name: Interval(read(name, texts[LOWER]), read(name, texts[UPPER])) for name, texts in inputs.items() if len(texts) > 1}
    if between:
        from derive.solving.many.intervals import answer_box

        (found,) = answer_box(lambda middle, silent: (ask({**given, **at, **middle}, silent=silent),), between)
    else:
        found = ask({**given, **at})
    inputs = {name: texts for name, texts in inputs.items() if name not in found.unused}
    if not inputs or (found.reason and not found.is_refused_for(*_CLAIMS)):
        return found
    ends = {name: (side, read(name, text)) for name, texts in inputs.items() if len(texts) == 1 for side, text in texts.items()}
    at |= {name: one.shown for name, one in between.items()}
    within = ({**given, **at, name: end * factor} for name, (side, end) in ends.items() for factor in _WITHIN[side])
    # At the limit the givens may contradict each other, and agree within it.
    if found.reason and len(read_limits(given)[1]) > 1:
        raise NotMadeOf(next(iter(inputs)), found.unknown)
    moved = [one for values in within for one in _try_answer(ask, values)]
    if found.reason and moved:
        raise NotMadeOf(next(iter(inputs)), found.unknown)
    noted = replace(found, assumptions=(*map(note_of_limit, inputs, inputs.values()), *found.assumptions))
    of_worst = found.unknown in SIZES or better_side(found.unknown) is not None
    of_most = all(side == UPPER and name in (Tokens.prompt, Tokens.output, *Memory.smaller) for name, (side, _) in ends.items())
    return bound_to_one_side(noted, moved, [*ends], of_worst and of_most)


def _try_answer(ask: _AskWith, given: Mapping[str, Any]) -> Iterator[Solution]:
    """Yield the answer if there is one. Beyond the domain of an input there is none."""
    with suppress(WrongValue):
        found = ask(given, silent=True)
        if found.answers:
            yield found
