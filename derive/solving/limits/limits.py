"""Givens with a limit: at most a value, at least a value, or both.

A limit on a result of the unknown is solved as an equality. The answer is bounded on the side on which the limit is met: a step of at
most 30 ms needs 6 chips or more. A limit on an input bounds the answer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from derive.errors import WrongValue
from derive.records import LOWER, UPPER
from derive.roles import BATCH, SIZES
from derive.solving.engine.plan import giving_equations
from derive.solving.explain.refusals import results_made_of
from derive.solving.question.givens import IN_WORDS
from derive.solving.question.propagation import quantities_behind
from derive.solving.question.questions import Question, drop_knowns
from derive.solving.result import Reason, Solution
from derive.units import show

_SIGN_OF = {UPPER: "<=", LOWER: ">=", None: "="}

FREE = BATCH.name
"""The size that is found without being asked for, if limits bound it and not the unknown."""

SIZED = SIZES
"""Sizes in the order in which they are found. Other questions are answered at their better end."""


class NotMadeOf(WrongValue):
    """Raised for a limit that the unknown has no part in, with the name of the limited quantity."""

    def __init__(self, limit: str, message: str):
        super().__init__(message)
        self.limit = limit


def add_limits(asked: Question, given: Mapping[str, Mapping[str, str]]) -> Question:
    """Return the question with its limits.

    Raises WrongValue for two that contradict each other, and `NotMadeOf` for one that does not limit a result.
    """
    read = asked.conventions.read
    sides = {name: UPPER if UPPER in texts else LOWER for name, texts in given.items()}
    floors = {name: read(name, texts[LOWER]) for name, texts in given.items() if len(texts) > 1}
    for name, least in floors.items():
        if least > asked.known[name]:
            raise WrongValue(f"{name} is at least {show(name, least)} and at most {show(name, asked.known[name])}: none is both")
    told = tuple(map(note_of_limit, given, given.values()))
    asked = replace(asked, limits=sides, floors=floors, notes=(*asked.notes, *told)) if sides else asked
    for alone in split_limits(asked):
        name = limited_name(alone)
        if not rests_on_unknown(alone) and name not in giving_equations(asked.active):
            raise refuse_limit(alone)
    return asked


def note_of_limit(name: str, sides: Iterable[str]) -> str:
    """Return the assumption that a given is a limit.

    >>> note_of_limit("step_time", ["upper"])
    'step_time is a limit: at most so much'
    """
    return f"{name} is a limit: {' and '.join(IN_WORDS[side] for side in sides)} so much"


def split_limits(asked: Question) -> tuple[Question, ...]:
    """Return the question with each of its limits alone."""
    alone = {name: replace(drop_knowns(asked, {*asked.limits} - {name}), floors={}) for name in asked.limits}
    least = (replace(alone[name], known={**alone[name].known, name: value}, limits={name: LOWER}) for name, value in asked.floors.items())
    return (*alone.values(), *least)


def limited_name(alone: Question) -> str:
    """Return the name of the one limited result."""
    (name,) = alone.limits
    return name


def rests_on_unknown(alone: Question) -> bool:
    """Return whether the limited result is made of the unknown."""
    return limited_name(alone) in results_made_of(alone, alone.unknown)


def refuse_limit(alone: Question) -> NotMadeOf:
    """Return the error for a limited result that is not made of the unknown."""
    name = limited_name(alone)
    return NotMadeOf(name, f"{name} is given as a limit, and is not made of {alone.unknown}: give {name}=...")


def is_part_of_unknown(alone: Question) -> bool:
    """Return whether the unknown is made of the limited quantity."""
    return limited_name(alone) in quantities_behind(alone.unknown, tuple(giving_equations(alone.active).values()))


def explain_open_side(asked: Question, found: list[Solution]) -> Reason | None:
    """Return why limits have no answer: they bound the unknown to no one side."""
    points = [one for solution in found for one in solution.answers if one.kind == "point"]
    bounds = {one.bound for one in points}
    if None not in bounds and (len(found) == 1 or len(bounds) == 1):
        return None
    said = [limit_in_words(alone) for alone in split_limits(asked)]
    at = [f"{asked.unknown} {_SIGN_OF[one.bound]} {show(asked.unknown, one.point)}" for one in points]
    message = f"{' and '.join(said)} leaves {asked.unknown} open on either side: {', '.join(at)} is where it is met as an equality"
    return Reason(code="not_identified", violated=tuple(asked.limits), message=message)


def limit_in_words(alone: Question) -> str:
    """Return a limit in words.

    >>> from derive.solving.question.questions import question
    >>> asked = question("compute_time", {"step_time": 0.03, "memory_time": 0.01})
    >>> limit_in_words(add_limits(asked, {"step_time": {"upper": "30ms"}}))
    'step_time at most 30 ms'
    """
    name = limited_name(alone)
    return f"{name} {IN_WORDS[alone.limits[name]]} {show(name, alone.known[name])}"
