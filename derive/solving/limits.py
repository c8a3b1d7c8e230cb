"""Results given as limits: at most so much, or at least.

What leads to a limit is found as from a result that is met, and errs as the limit does: chips of a step of 30 ms at most
are so many or more. Where it errs neither way, a limit leaves the question open.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from derive.errors import WrongValue
from derive.quantities import quantity
from derive.records import LOWER, UPPER
from derive.solving.questions import Question, without
from derive.solving.refusals import made_of
from derive.solving.result import Reason, Solution
from derive.units import show

SIGNS = {"<=": UPPER, ">=": LOWER}
SIGN_OF = {UPPER: "<=", LOWER: ">=", None: "="}
IN_WORDS = {UPPER: "at most", LOWER: "at least"}


def limits(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """What was given without the signs of limits, and which way each limit goes, by registry name.

    >>> limits({"t": "<= 30ms", "batch": 8})
    ({'t': '30ms', 'batch': 8}, {'step_time': 'upper'})
    """
    texts = {spelled: value.strip() for spelled, value in given.items() if isinstance(value, str)}
    found = {spelled: SIGNS[text[:2]] for spelled, text in texts.items() if text[:2] in SIGNS}
    plain = {spelled: texts[spelled][2:].strip() if spelled in found else value for spelled, value in given.items()}
    return plain, {quantity(spelled).name: side for spelled, side in found.items()}


def limited(asked: Question, sides: Mapping[str, str]) -> Question:
    """The question with its limits; refuses one on what does not rest on the unknown, of which it says nothing."""
    told = tuple(f"{name} is a limit: {IN_WORDS[side]} so much" for name, side in sides.items())
    asked = replace(asked, limits=sides, notes=(*asked.notes, *told)) if sides else asked
    for name, alone in one_by_one(asked).items():
        if name not in made_of(alone, asked.unknown):
            raise WrongValue(f"{name} is given as a limit, and is not made of {asked.unknown}: give {name}=...")
    return asked


def one_by_one(asked: Question) -> dict[str, Question]:
    """The question with each of its limits alone."""
    return {name: without(asked, {*asked.limits} - {name}) for name in asked.limits}


def open_to_limits(asked: Question, found: list[Solution]) -> Reason | None:
    """Why limits have no answer where what leads to them errs no one way."""
    points = [one for solution in found for one in solution.answers if one.kind == "point"]
    bounds = {one.bound for one in points}
    if None not in bounds and (len(found) == 1 or len(bounds) == 1):
        return None
    said = [limit_in_words(asked, name) for name in asked.limits]
    at = [f"{asked.unknown} {SIGN_OF[one.bound]} {show(asked.unknown, one.point)}" for one in points]
    message = f"{' and '.join(said)} leaves {asked.unknown} open on either side: {', '.join(at)} is where it is met as an equality"
    return Reason("not_identified", violated=tuple(asked.limits), message=message)


def limit_in_words(asked: Question, name: str) -> str:
    """A limit as it was meant.

    >>> from derive.solving.questions import question
    >>> limit_in_words(limited(question("compute_time", {"step_time": 0.03, "memory_time": 0.01}), {"step_time": "upper"}), "step_time")
    'step_time at most 30 ms'
    """
    return f"{name} {IN_WORDS[asked.limits[name]]} {show(name, asked.known[name])}"
