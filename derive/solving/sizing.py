"""Fewest chips for targets of speed or cost where the batch is free: whole numbers of chips, at each the batches that meet all targets."""

from dataclasses import replace
from math import ceil, floor

from derive.answers import Answer
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.chain import answered
from derive.solving.fit import FASTER, SHORT_OF_MEMORY
from derive.solving.limits import limit_in_words, one_by_one
from derive.solving.questions import Question, posed, without
from derive.solving.refusals import made_of
from derive.solving.result import Reason, Solution

MOST_CHIPS = 2**17
"""Up to how many chips are looked at."""

FREE = "batch"


def fewest_chips(asked: Question, refused: Reason) -> Solution | None:
    """The fewest whole chips on which some batch meets every target; None for a question that is no such.

    Results of speed that were given as met count as targets, where no batch that fits meets them all exactly.
    """
    if asked.unknown != "chips" or FREE in asked.known or not {*asked.known}.isdisjoint(("sequences_in_flight", "microbatch_size")):
        return None
    if refused.code not in (SHORT_OF_MEMORY, "missing_givens") or (refused.code == "missing_givens" and FREE not in refused.missing):
        return None
    targets = _targets(asked)
    if len(targets) < 2 or not targets.keys() >= asked.limits.keys():
        return None
    asked = replace(asked, limits=targets)
    if any(FREE not in _made_at(asked, name) for name in targets):
        return None
    high = 1
    while (found := _at(asked, high)) is None and high < MOST_CHIPS:
        high *= 2
    if found is None:
        return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if (one := _at(asked, middle)) is not None:
            high, found = middle, one
        else:
            low = middle
    return _sized(asked, high, *found)


def _targets(asked: Question) -> dict[str, str]:
    """Every limit, and which way a given time or rate is one."""
    given = {name for name, source in asked.provenance.items() if source == "given" and QUANTITIES[name].unit in FASTER}
    # A result that is given hides what another is made of.
    speeds = [name for name in given if name in made_of(without(asked, given - {name}), "chips")]
    sides = {name: LOWER if FASTER[QUANTITIES[name].unit] > 0 else UPPER for name in speeds} | {**asked.limits}
    return {name: sides[name] for name in asked.provenance if name in sides}


def _made_at(asked: Question, name: str) -> list[str]:
    """What of the batch a target rests on."""
    alone = one_by_one(asked)[name]
    return [FREE] if name in made_of(alone, FREE) else []


def _at(asked: Question, chips: int) -> tuple[Solution, float, float] | None:
    """The batches that meet every target with so many chips; None where no whole one does."""
    known = {**asked.known, "chips": float(chips)}
    question = replace(posed(asked, FREE, known), provenance={**asked.provenance, "chips": "given"})
    solution, _ = answered(question)
    if len(solution.answers) != 1:
        return None
    (one,) = solution.answers
    least, most = one.ends
    if one.kind == "point":
        least, most = (least, None) if one.bound == LOWER else (0.0, most)
    if most is None or max(ceil(least * (1 - HOLDS)), 1) > floor(most * (1 + HOLDS)):
        return None
    return solution, max(least, 1.0), most


def _sized(asked: Question, chips: int, there: Solution, least: float, most: float) -> Solution:
    """So many chips, with the batches that there are and what they come to."""
    low, high = ceil(least * (1 - HOLDS)), floor(most * (1 + HOLDS))
    batches = f"a batch of {low} to {high}" if low < high else f"a batch of {high}"
    targets = " and ".join(limit_in_words(asked, name) for name in asked.limits)
    given = {name: value for name, value in there.given.items() if name != "chips"}
    return replace(
        there,
        unknown="chips",
        unit=QUANTITIES["chips"].unit,
        answers=(Answer("point", value=float(chips), bound=LOWER),),
        given=given,
        provenance={name: source for name, source in there.provenance.items() if name != "chips"},
        said=(f"with {batches}, for {targets}", f"best: chips = {chips}, the fewest: with one chip less no whole batch meets them all"),
        further=(),
    )
