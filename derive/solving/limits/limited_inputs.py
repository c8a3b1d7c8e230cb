"""Limits on inputs: the question is answered at the limits, and at values within them, which show to which side they bound the answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from derive.errors import WrongValue
from derive.records import LOWER, UPPER
from derive.roles import Memory
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.limits.best_size import Ask, best_end
from derive.solving.limits.limits import SIZED, WITHIN, NotMadeOf, note_of_limit
from derive.solving.limits.within_limits import bound_to_one_side
from derive.solving.question.givens import read_limits
from derive.solving.result import Solution
from derive.spreads import Interval
from derive.units import show

_CLOSER = 6
"""How often the step to a value that is not possible is halved."""

_CLAIMS = ("contradiction", "no_solution", "requirement_violated")
"""Codes of refusals that say that the givens cannot all be true."""

_AskWith = Callable[[Mapping[str, Any]], Solution]
_Read = Callable[[str, Any], float]
_Sides = Mapping[str, Mapping[str, str]]


def answer_within_inputs(ask_for: Ask, unknown: str, given: Mapping[str, Any], read: _Read) -> Solution:
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
    if sides and sides.keys() <= {*SIZED}:
        with suppress(NotMadeOf):
            found = _answer_at_limits(ask, given, sides, read)
            if not found.reason:
                return found
    inputs: dict[str, Mapping[str, str]] = {}
    while True:
        try:
            found = _answer_at_limits(ask, given, inputs, read)
            break
        except NotMadeOf as error:
            if error.limit in inputs or error.limit not in sides:
                raise
            inputs[error.limit] = sides[error.limit]
    if len(inputs) == len(sides) or not found.is_refused_for("missing_givens"):
        return found
    try:
        at_all_limits = _answer_at_limits(ask, given, sides, read)
    except NotMadeOf:
        return found
    return found if at_all_limits.is_refused_for("missing_givens") else at_all_limits


def _answer_at_limits(ask: _AskWith, given: Mapping[str, Any], inputs: _Sides, read: _Read) -> Solution:
    """Return the answer at the limits of inputs, with the side on which it lies within these limits.

    A limit from both sides is a range. A limit that the answer does not use is listed as not used. Raises `NotMadeOf` for a limit at which
    the givens contradict each other.
    """
    at: dict[str, Any] = {name: next(iter(texts.values())) for name, texts in inputs.items() if len(texts) == 1}
    between = {name: Interval(read(name, texts[LOWER]), read(name, texts[UPPER])) for name, texts in inputs.items() if len(texts) > 1}
    found = _answer_between(ask, {**given, **at}, between) if between else ask({**given, **at})
    # At the limit the givens may contradict each other, and agree within it.
    if inputs and found.is_refused_for(*_CLAIMS):
        raise NotMadeOf(next(iter(inputs)), found.unknown)
    inputs = {name: texts for name, texts in inputs.items() if name not in found.unused}
    if not inputs or found.reason:
        return found
    ends = {name: (side, read(name, text)) for name, texts in inputs.items() if len(texts) == 1 for side, text in texts.items()}
    at |= {name: one.shown for name, one in between.items()}
    moved = [one for name, (side, end) in ends.items() for one in _answers_within(ask, {**given, **at}, name, end, WITHIN[side])]
    noted = replace(found, assumptions=(*map(note_of_limit, inputs, inputs.values()), *found.assumptions))
    return bound_to_one_side(noted, moved, [*ends])


def _answer_between(ask: _AskWith, given: Mapping[str, Any], between: Mapping[str, Interval]) -> Solution:
    """Return the answer over ranges of inputs that have a limit on both sides."""
    from derive.solving.many.intervals import answer_box

    (found,) = answer_box(lambda at, silent: (ask({**given, **at}),), between)
    return found


def _answers_within(ask: _AskWith, given: Mapping[str, Any], name: str, end: float, factors: Sequence[float]) -> Iterator[Solution]:
    """Yield the answers at values of an input within its limit, also close to the last value that is possible."""
    last, halvings = 1.0, _CLOSER
    for share in factors:
        factor = share
        found = _ask_or_none(ask, {**given, name: end * factor})
        if found and found.answers:
            last = factor
            yield found
            continue
        for _ in range(halvings):
            middle = (last + factor) / 2
            there = _ask_or_none(ask, {**given, name: end * middle})
            if there and there.answers:
                last = middle
                yield there
            else:
                factor = middle
        halvings = 0


def _ask_or_none(ask: _AskWith, given: Mapping[str, Any]) -> Solution | None:
    """Return the answer, or None beyond the domain of a quantity."""
    try:
        return ask(given)
    except WrongValue:
        return None
