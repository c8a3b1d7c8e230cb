"""The limits of speed: the results of any number of chips, and of one scale-up domain."""

from collections.abc import Mapping, Sequence

from derive.answers import next_whole
from derive.records import LOWER, Equation
from derive.roles import Batch, Memory, Replica
from derive.solving.checks.fit import rows_held, shortage
from derive.solving.checks.targets import is_fast_enough, list_targets
from derive.solving.explain.answer_with import result_with
from derive.solving.question.questions import Question, copies_condition, default_values, dividing_chips
from derive.solving.result import Reason
from derive.units import show

ENDLESS = 1e12
"""More chips than there can be."""


def out_of_reach(asked: Question, chips: float) -> Reason | None:
    """Return why no number of chips reaches a target, because each chip reads at least one KV head of one sequence.

    A latent is one head for all. Copies of the cache that are given do not change.
    """
    copied = Memory.copies in asked.known or any(row.symbols[0] == Memory.copies for row in asked.named)
    if asked.unknown != Memory.bought or asked.anyway or copied or Batch.name not in asked.known:
        return None
    parts = asked.known[Batch.name] * (dividing_chips(copies_condition(dict(asked.variants)), asked.known) or ENDLESS)
    for name in list_targets(asked) if chips > parts else ():
        least = result_with(asked, name, {Memory.bought: ENDLESS, Memory.copies: max(1.0, ENDLESS / parts)})
        beside = result_with(asked, name, {Memory.bought: parts, Memory.copies: 1.0})
        is_best = least and beside and is_fast_enough(name, least, beside)
        if least and is_best and not is_fast_enough(name, least, asked.known[name]):
            nearest = f"nearest is {name} = {show(name, least)} on an infinite number, if each reads one KV head of one sequence"
            told = f"no {Memory.bought} reach {name} = {show(name, asked.known[name])}"
            message = f"{told}: {nearest}. A shorter context or a smaller cache is faster"
            return Reason(code="no_solution", violated=(name,), message=message)
    return None


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
