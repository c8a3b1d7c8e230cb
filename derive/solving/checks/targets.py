"""Given times and rates as targets, which a size that is asked for meets or exceeds."""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from derive.answers import COUNTED, next_whole
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, UPPER, Equation
from derive.roles import BETTER, FASTER, Batch, Memory, Replica
from derive.solving.checks.consistency import AGREES
from derive.solving.checks.fit import rows_held, shortage
from derive.solving.explain.answer_with import result_with
from derive.solving.question.questions import Question, default_values, drop_knowns, results_made_of
from derive.units import show


def better_side(name: str, signs: Mapping[str, int] = FASTER) -> str | None:
    """Return the side to which a time or a rate is faster, or None for another quantity. Other signs say what else is better.

    >>> better_side("step_time"), better_side("throughput"), better_side("batch")
    ('upper', 'lower', None)
    """
    return {-1: UPPER, 1: LOWER}.get(signs.get(name, signs.get(QUANTITIES[name].unit, 0)))


def is_within(side: str | None, found: Any, limit: Any) -> Any:
    """Return whether a result is at most its upper limit, or at least its lower one, up to rounding, at numbers or arrays.

    >>> is_within("upper", 0.02, 0.03), is_within("lower", 2000, 2500)
    (True, False)
    """
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
    return any(better_side(name) == LOWER for name in asked.typed)


def find_targets(asked: Question, signs: Mapping[str, int] = FASTER) -> dict[str, str]:
    """Return the limits, and every given result beside them that is better to one side, each with the side on which it is met."""
    given = {name: side for name in asked.typed if name not in Memory.rooms and (side := better_side(name, signs))}
    # A result that is given hides what another is made of. What all else determines is over-determined as an equality.
    results = [name for name in given if name in results_made_of(drop_knowns(asked, given.keys() - {name}), asked.unknown)]
    if signs is BETTER and asked.unknown in COUNTED:
        made = {name: value for name in given if name not in results and (value := result_with(asked, name, {})) is not None}
        results += [name for name, value in made.items() if not isclose(value, asked.known[name], rel_tol=AGREES)]
    sides = {name: given[name] for name in results} | {**asked.limits}
    return {name: sides[name] for name in asked.provenance if name in sides}


def warn_beyond_domain(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Return the warning that the chips exceed one scale-up domain, with the result of one domain, or None if they do not."""
    names, chips = list_targets(asked), values.get(Memory.bought, 0.0)
    known = Replica.domain in values
    size, what = (values[Replica.domain], "one scale-up domain") if known else (Replica.largest_domain, "any rack of GPUs")
    of_a_pass = any(row.cache or not row.told for row in rows_held(asked, used))
    if not names or not of_a_pass or next_whole(chips, LOWER) <= size:
        return None
    at = {Memory.bought: size}
    reached = {name: value for name in names if (value := result_with(asked, name, at))}
    held = {name: value for name, value in asked.known.items() if name not in names} | at
    short = (shortage(asked, {**held, **default_values(asked, held)}, tuple(used)) or 0.0) > 0
    reach = f" reach {', '.join(f'{name} = {show(name, value)}' for name, value in reached.items())}" if reached else ""
    does = " do not have enough memory" if short else reach
    said = f": {size:.0f}{does}" if does else ""
    return f"more than {what} of {size:.0f} chips{said}. Network time between them is not included"
