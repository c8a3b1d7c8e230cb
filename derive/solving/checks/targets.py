"""Given times and rates as targets: a size that is asked for meets them or exceeds them."""

from typing import Any

from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.roles import FASTER, Batch, Memory
from derive.solving.explain.refusals import results_made_of
from derive.solving.question.questions import Question, drop_knowns


def better_side(name: str) -> str | None:
    """Return the side to which a time or a rate is faster, or None for another quantity.

    >>> better_side("step_time"), better_side("throughput"), better_side("batch")
    ('upper', 'lower', None)
    """
    return {-1: UPPER, 1: LOWER}.get(FASTER.get(QUANTITIES[name].unit, 0))


def is_fast_enough(name: str, found: Any, given: Any) -> Any:
    """Return whether a time is at most as long as given, or a rate at least as high, at numbers or arrays.

    >>> is_fast_enough("step_time", 0.02, 0.03), is_fast_enough("throughput", 2000, 2500)
    (True, False)
    """
    return is_within(better_side(name), found, given)


def is_within(side: str | None, found: Any, limit: Any) -> Any:
    """Return whether a result is at most its upper limit, or at least its lower one, up to rounding, at numbers or arrays."""
    return found <= limit * (1 + HOLDS) if side == UPPER else found >= limit * (1 - HOLDS)


def list_targets(asked: Question) -> tuple[str, ...]:
    """Return the given times and rates from which a number of chips follows."""
    names = results_made_of(asked, Memory.bought) if asked.unknown == Memory.bought else []
    return tuple(name for name in names if better_side(name))


def list_speeds(asked: Question) -> tuple[str, ...]:
    """Return the targets, or none if another given determines the chips too or if a limit asks for something slow."""
    names = list_targets(asked)
    alone = len(names) == len(results_made_of(asked, asked.unknown))
    return names if alone and all(better_side(name) in (None, side) for name, side in asked.limits.items()) else ()


def batch_is_left_to_a_rate(asked: Question) -> bool:
    """Return whether the sequences in memory follow from a given rate, on chips whose memory is known."""
    counted = not asked.known.keys().isdisjoint((*Memory.counted_by, *Batch.also))
    if asked.limits or asked.unknown == Memory.bought or counted or asked.known.keys().isdisjoint((Memory.of_a_chip, Memory.room)):
        return False
    return any(source == "given" and better_side(name) == LOWER for name, source in asked.provenance.items())


def find_targets(asked: Question) -> dict[str, str]:
    """Return the limits, and for chips every given time or rate beside them, each with the side on which it is met."""
    if asked.unknown != Memory.bought:
        return {**asked.limits}
    given = {name for name, source in asked.provenance.items() if source == "given" and better_side(name)}
    # A result that is given hides what another is made of.
    speeds = [name for name in given if name in results_made_of(drop_knowns(asked, given - {name}), asked.unknown)]
    sides = {name: side for name in speeds if (side := better_side(name))} | {**asked.limits}
    return {name: sides[name] for name in asked.provenance if name in sides}
