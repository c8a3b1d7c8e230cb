"""The limits of speed: the results of any number of chips, and of one scale-up domain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from derive.answers import next_whole
from derive.catalogue import equation
from derive.quantities import QUANTITIES
from derive.records import LOWER, Equation
from derive.requirements import HOLDS
from derive.solving.fit import FASTER, OF_A_PASS, fast_enough, shortage
from derive.solving.propagation import follow_values, rows_behind
from derive.solving.questions import Question, copies_of, posed, shards_of, standing_beside
from derive.solving.refusals import results_made_of
from derive.solving.result import Reason
from derive.units import show

_RACK = 72.0
"""Chips of the largest racks of GPUs, of which none reaches another as it does its own: the domain where nobody says which."""
ENDLESS = 1e12
"""More chips than there can be."""
_MOST_CHIPS = 2**14
"""Up to how many chips it is looked whether they hold all copies."""
_OF_PREFILL = ("prefill_time", "time_to_first_token")


def targets(asked: Question) -> tuple[str, ...]:
    """Return the times and rates from which a number of chips was found."""
    names = results_made_of(asked, "chips") if asked.unknown == "chips" else []
    return tuple(name for name in names if FASTER.get(QUANTITIES[name].unit))


def result_with(asked: Question, name: str, more: Mapping[str, float]) -> float | None:
    """Return the value of a given result by the equations beside other values, without the results that were given."""
    given = {*results_made_of(asked, asked.unknown)}
    known = {**{other: value for other, value in asked.known.items() if other not in given}, **more}
    question = replace(posed(asked, name, known), limits={}, floors={})
    return follow_values(rows_behind((name,), question.active), {**known, **standing_beside(question, known)}).get(name)


def out_of_reach(asked: Question, chips: float) -> Reason | None:
    """Return why a target is out of reach of any number of chips: each reads at least one KV head of one sequence.

    A latent is one head for all. Copies of the cache that are given do not change.
    """
    if asked.unknown != "chips" or asked.anyway or "kv_replication" in asked.known or "batch" not in asked.known:
        return None
    if any(row.symbols[0] == "kv_replication" for row in asked.named):
        return None
    parts = asked.known["batch"] * (shards_of(copies_of(dict(asked.variants)), asked.known) or ENDLESS)
    for name in targets(asked) if chips > parts else ():
        least = result_with(asked, name, {"chips": ENDLESS, "kv_replication": max(1.0, ENDLESS / parts)})
        if least and not fast_enough(name, least, asked.known[name]):
            nearest = f"nearest is {name} = {show(name, least)} on infinitely many, if each reads one KV head of one sequence"
            message = f"no chips reach {name} = {show(name, asked.known[name])}: {nearest}; a shorter context or a smaller cache is faster"
            return Reason(code="no_solution", violated=(name,), message=message)
    return None


def warn_beyond_domain(asked: Question, values: Mapping[str, float], used: Sequence[Equation]) -> str | None:
    """Return the warning that the chips exceed one scale-up domain, with the result of one domain, or None if they do not."""
    if not targets(asked) or {*OF_A_PASS, *_OF_PREFILL}.isdisjoint(name for row in used for name in row.symbols):
        return None
    size = values.get("scale_up_size", _RACK)
    if "chips" not in values or next_whole(values["chips"], LOWER) <= size:
        return None
    what = "one scale-up domain" if "scale_up_size" in values else "any rack of GPUs"
    reached = {name: result_with(asked, name, {"chips": size}) for name in targets(asked)}
    one = ", ".join(f"{name} = {show(name, value)}" for name, value in reached.items() if value)
    held = {name: value for name, value in asked.known.items() if name not in reached} | {"chips": size}
    short = (shortage(asked, {**held, **standing_beside(asked, held)}, tuple(used)) or 0.0) > 0
    reaches = f"{size:.0f} do not hold it" if short else f"{size:.0f} reach {one}"
    said = f": {reaches}" if one or short else ""
    return f"more than {what} of {size:.0f} chips{said}. Network time between them is not included"


def chips_for_copies(values: Mapping[str, float], row: Equation, at_most: float) -> int | None:
    """Return the fewest whole chips that hold the weights and the copies of the cache by a condition, or None if none do.

    They are no more than `at_most`, as attention can be cut into single query heads.

    >>> held = {"chips": 9.0, "memory_capacity": 720e9, "weight_bytes": 671e9, "kv_cache_bytes": 18e9}
    >>> latents = equation("memory.kv_copies_of_latents")
    >>> chips_for_copies(held, latents, 128.0), chips_for_copies({**held, "kv_cache_bytes": 90e9}, latents, 1e6)
    (11, None)
    """
    of_one = values["memory_capacity"] / values["chips"]
    least = int(next_whole(values["chips"], LOWER))

    def fits(chips: int) -> bool:
        copies = row.right_side({**values, "chips": float(chips)})
        held = {**values, "kv_cache_bytes": values["kv_cache_bytes"] * copies}
        return float(equation("memory.demand").right_side(held)) <= chips * of_one * (1 + HOLDS)

    return next((chips for chips in range(least, int(min(at_most, _MOST_CHIPS)) + 1) if fits(chips)), None)
