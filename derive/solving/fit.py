"""Weights and caches are compared with the memory of the chips before a time is printed, with changes that would make them
fit."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import lru_cache
from math import floor, log10
from typing import Any

from derive.answers import COUNTED, SHORT, next_whole
from derive.catalogue import equation, equations
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.records import LOWER, UPPER, Equation
from derive.requirements import HOLDS
from derive.solving.one_equation import solve_equation
from derive.solving.plan import Way
from derive.solving.questions import Question, without
from derive.solving.refusals import results_made_of
from derive.solving.result import Reason
from derive.units import show

_WEIGHTS_ALONE = ("weight_time", "plain_weight_time", "latency_floor", "prefill_weight_time", "prefill_time", "prefill_throughput")
"""Times and rates of a pass that the weights alone make: a cache that does not fit takes nothing from them."""

_ARITHMETIC_ALONE = ("compute_time", "attention_time", "prefill_compute_time")
"""Times of a pass in which nothing is read: true of the chips as such, so that what they do not hold is only said."""

_OVER_LINKS = ("kv_transfer_time",)
"""Times over the links of chips that hold the weights: true of so many links, so that what their chips do not hold is only said."""

OF_A_PASS = (
    *(*_WEIGHTS_ALONE, *_ARITHMETIC_ALONE),
    *("kv_time", "memory_time", "step_time", "plain_step_time", "mixed_step_time", "token_latency"),
    *("weight_compute_ratio", "kv_compute_ratio", "compute_utilisation", "throughput", "decode_rate_per_chip"),
)
"""What there is only where chips pass sequences through weights that they hold."""

_ROOM = ("hbm_capacity", "memory_capacity")

_HELD = ("memory_demand", "memory_per_chip")
"""What is held itself, of which a number stands whether it fits or not: that it does not is only said."""

_PARTS = {"weight_bytes": "weights of", "kv_cache_bytes": "a KV cache of"}
CAN_BE_LESS = ("sequences_in_flight", "batch", "context_length", "kv_bytes_per_sequence", "kv_bytes_per_token", "bytes_per_element")
"""What makes a smaller cache; weights stay."""

_OF_MEMORY = ("pipeline_stages", "kv_replication")
"""Defaults that what is held and where rests on, also where the route to an answer does not."""

_HELD_BACK = "reserved_share"
"""A default of the same kind, that may follow from bytes."""

SHORT_OF_MEMORY = "does_not_fit"
"""The code of a refusal for want of memory."""

MEMORY_BINDS = "memory binds"
"""The regime of as many chips as memory needs, where a speed takes fewer."""

FASTER = {"s": -1, "s/token": -1, "token/s": 1, "1/s": 1}
"""Units of times and rates, and which way they go where it is faster."""

_NO_CACHE = {"kv_cache_bytes": 0.0}
IN_FLIGHT = ("batch", "microbatches", "sequences_in_flight")
"""What a cache is of: left out where the weights alone are held against memory."""

_HALVINGS, _NEGLIGIBLE = 60, 1e-9
"""How often a stretch is halved; and share of what is short at first that is as good as none."""

_COPIES = "kv_replication"
_MOST_CHIPS = 100_000
"""Up to how many chips it is looked whether what is copied on each of them fits."""

_DIGITS = 4
"""How many digits of a value are shown."""


def misfit(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...]) -> Reason | None:
    """Return why memory is short on a way that reads weights or caches, with what would fit, or None if it suffices."""
    known = _memory(asked, values, used)
    if "short" not in known or known["short"] <= 0:
        return None
    return Reason(code=SHORT_OF_MEMORY, violated=("memory_demand <= memory_capacity",), message=_message(asked, values, used, known))


def shortage(asked: Question, values: Mapping[str, Any], used: tuple[Equation, ...]) -> Any:
    """Return the bytes that are short, negative if there is room, at numbers or arrays, or None if they are not known."""
    return _memory(asked, values, used).get("short")


def memory_is_made_of(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...], names: Iterable[str]) -> Set[str]:
    """Return the quantities behind the memory that an answer was compared with."""
    made = _definitions(asked.active)
    found = {name for name in names if _rests("memory_capacity", name, made, frozenset())}
    return found if found and shortage(asked, values, used) is not None else set()


def is_warning(asked: Question, way: Way) -> bool:
    """Return whether short memory is only said: where it was asked to answer anyway, and of arithmetic alone or of what is held itself."""
    return asked.anyway or _supposed(asked, way.rows) <= {*_ARITHMETIC_ALONE, *_OVER_LINKS, *_HELD}


def speeds(asked: Question) -> tuple[str, ...]:
    """Return the given times and rates from which the chips follow, or none if another given determines the chips too."""
    found = results_made_of(asked, "chips") if asked.unknown == "chips" else ()
    signs = {name: FASTER.get(QUANTITIES[name].unit, 0) for name in found}
    slow = any(side == (UPPER if signs.get(name, 0) > 0 else LOWER) for name, side in asked.limits.items())
    return tuple(found) if all(signs.values()) and not slow else ()


def batch_is_left_to_a_rate(asked: Question) -> bool:
    """Return whether the sequences in memory follow from a given rate, on chips whose memory is known."""
    if asked.limits or asked.unknown == "chips" or not asked.known.keys().isdisjoint((*IN_FLIGHT, "microbatch_size")):
        return False
    given = (name for name, source in asked.provenance.items() if source == "given")
    return any(FASTER.get(QUANTITIES[name].unit, 0) > 0 for name in given) and not asked.known.keys().isdisjoint(_ROOM)


def fast_enough(name: str, found: Any, given: Any) -> Any:
    """Return whether a time is no longer, or a rate no less, than given, at numbers or arrays.

    >>> fast_enough("step_time", 0.02, 0.03), fast_enough("throughput", 2000, 2500)
    (True, False)
    """
    sign = FASTER[QUANTITIES[name].unit]
    return sign * found >= sign * given * (1 - sign * HOLDS)


def held_by_memory(asked: Question) -> Iterator[Question]:
    """Yield the question without its speeds: with the cache, then with the weights alone."""
    names = {*speeds(asked)}
    if not names <= {*_WEIGHTS_ALONE}:
        yield without(asked, names)
    bare = without(asked, {*names, *IN_FLIGHT})
    said = dict.fromkeys(_NO_CACHE, "no cache is given")
    yield replace(bare, known={**_NO_CACHE, **bare.known}, provenance={**said, **bare.provenance})


def least_chips(asked: Question, values: Mapping[str, Any], used: tuple[Equation, ...]) -> Any:
    """Return the chips that hold weights and cache, as an array, NaN if they are slower than asked, or None without a speed."""
    import numpy as np

    names, made, known = speeds(asked), _definitions(asked.active), _memory(asked, values, used)
    if not names or "short" not in known or "memory_capacity" in asked.known or _rests("memory_demand", "chips", made, frozenset()):
        return None
    least = known["chips"] * (known["memory_demand"] / known["memory_capacity"])
    there = {name: value for name, value in values.items() if not _rests(name, "chips", made, frozenset())} | {"chips": least}
    for name in names:
        _work_out(name, made, there, frozenset())
        least = np.where(fast_enough(name, there[name], values[name]), least, np.nan) if name in there else np.nan * least
    return least


def _supposed(asked: Question, used: tuple[Equation, ...]) -> Set[str]:
    """Return the quantities of an answer that only a pass has, and the bytes in memory if these are the unknown."""
    spoken = {name for row in used for name in row.symbols}
    held = {asked.unknown} & {*_HELD} if {"chips", "memory_capacity"} & (spoken | asked.known.keys()) else set()
    return ({asked.unknown, *spoken} & {*OF_A_PASS, *_OVER_LINKS}) | held


def _memory(asked: Question, values: Mapping[str, Any], used: tuple[Equation, ...]) -> dict[str, Any]:
    """Return the values with the memory that is needed and that there is, as far as the definitions of the question give them.

    memory_demand <= memory_capacity. The sequences of all microbatches are in flight unless others are given. Without microbatches they
    are those of one pass. An answer without a pass is not compared with memory, and an answer of the weights alone not with the cache.
    An unknown cache needs no room.
    """
    supposed, made = _supposed(asked, used), _definitions(asked.active)
    known = {**{name: NEUTRAL_DEFAULTS[name] for name in _OF_MEMORY}, **values}
    _work_out(_HELD_BACK, made, known, frozenset())
    known.setdefault(_HELD_BACK, NEUTRAL_DEFAULTS[_HELD_BACK])
    if not supposed:
        return known
    if "batch" in known and "sequences_in_flight" not in asked.known:
        passes = {"microbatches": known.get("microbatches", 1.0), "microbatch_size": known["batch"]}
        known["sequences_in_flight"] = equation("pipeline.sequences_in_flight").right_side(passes)
    if not supposed <= {*_WEIGHTS_ALONE, *_OVER_LINKS}:
        _work_out("kv_cache_bytes", made, known, frozenset())
        known.setdefault("kv_cache_bytes", 0.0)
    else:
        known["kv_cache_bytes"] = 0.0
    for name in ("memory_demand", "memory_capacity"):
        _work_out(name, made, known, frozenset())
    if "memory_demand" in known and "memory_capacity" in known:
        known["short"] = known["memory_demand"] - known["memory_capacity"]
    return known


@lru_cache(maxsize=256)
def _definitions(active: tuple[Equation, ...]) -> dict[str, Equation]:
    """Return the definition of every quantity, with those of the memory even if a question is about a few equations only."""
    return {row.defines: row for row in (*equations("memory"), *active) if row.defines}


def _work_out(name: str, made: Mapping[str, Equation], known: dict[str, Any], above: frozenset[str]) -> None:
    """Add a quantity to the known ones, and before it all that its definition rests on, if they can be found."""
    row = made.get(name)
    if name in known or name in above or row is None:
        return
    for other in row.symbols[1:]:
        _work_out(other, made, known, above | {name})
    if row.inputs <= known.keys():
        known[name] = row.right_side(known)


def worked_out(asked: Question, names: Iterable[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with these quantities by the definitions of the question, if they can be found, at numbers or arrays."""
    known = dict(values)
    for name in names:
        _work_out(name, _definitions(asked.active), known, frozenset())
    return known


def _message(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...], known: Mapping[str, float]) -> str:
    parts = [f"{label} {show(name, known[name])}" for name, label in _PARTS.items() if known.get(name)]
    needed = " and ".join(parts) or f"{show('memory_demand', known['memory_demand'])}"
    room = show("memory_capacity", known["memory_capacity"])
    if "memory_capacity" not in asked.known and "chips" in known:
        chips = known["chips"] * known["pipeline_stages"]
        room += f" of {chips:.4g} chip{'s' * (chips != 1)}"
    message = f"{SHORT}: {needed} in the {room}, {show('memory_demand', known['short'])} short"
    # What is asked for is free: how much of it a limit takes is not to be kept.
    would = "" if asked.limits and asked.unknown in CAN_BE_LESS else ", ".join(_list_changes(asked, values, used, known))
    return f"{message}\nwhat would fit, all else as it is: {would}" if would else message


def _list_changes(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...], known: Mapping[str, float]) -> Iterator[str]:
    """Yield a bound on each quantity that one could change."""
    copied = _with_copies(asked)
    chips = _chips_that_hold(known)
    if chips and copied:
        chips = _fewest(asked, values, used, chips, copied)
    if chips:
        yield f"chips at least {chips}"
    for name in CAN_BE_LESS if known.get("kv_cache_bytes") else ():
        if name in values and (most := _round_down(name, _most(asked, values, used, name))):
            yield f"{name} at most {show(name, most)}"
    if chips == 0:
        yield "no number of chips, as copies of the cache grow with them"


def _with_copies(asked: Question) -> Mapping[str, Equation]:
    """Return the definitions with the named equation for the copies of a cache, or none if no such equation is named."""
    named = {row.symbols[0]: row for row in asked.named if row.sense == "=" and row.symbols[0] == _COPIES and "chips" in row.inputs}
    return {**_definitions(asked.active), **named} if named and _COPIES not in asked.known else {}


def _fewest(asked: Question, values: Mapping[str, Any], used: tuple[Equation, ...], least: int, made: Mapping[str, Equation]) -> int:
    """Return the fewest whole chips that suffice if the copies of the cache grow with them, or 0 if no number does."""
    import numpy as np

    kept = {name: value for name, value in values.items() if name in asked.known or not _rests(name, "chips", made, frozenset())}
    there = {**kept, "chips": np.arange(float(least), float(_MOST_CHIPS))}
    _work_out(_COPIES, made, there, frozenset())
    fits = shortage(asked, there, used) <= 0
    return least + int(np.argmax(fits)) if fits.any() else 0


def _round_down(name: str, most: float) -> float:
    """Return the largest printed value that is no more than this: a whole one of what is counted, 0 if there is none.

    >>> _round_down("batch", 119.7), _round_down("batch", 0.4), _round_down("kv_bytes_per_token", 5806.6)
    (119.0, 0.0, 5806.0)
    """
    if not most:
        return 0.0
    digits = _DIGITS - 1 - floor(log10(most))
    within = floor(most * 10.0**digits * (1 + HOLDS)) / 10.0**digits
    return float(floor(within)) if name in COUNTED else within


def _chips_that_hold(known: Mapping[str, float]) -> int | None:
    """Return the fewest chips that hold what is needed, or None if the memory of one chip is not known."""
    room, capacity = {**known, "memory_capacity": known["memory_demand"]}, equation("memory.capacity")
    found = solve_equation(capacity, "chips", room)[0] if room.keys() >= capacity.inputs - {"chips"} else ()
    return next((int(next_whole(one.point, LOWER)) for one in found), None)


def chips_of_links(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...]) -> int | None:
    """Return the fewest chips that hold the weights behind a time over links, or None for any other answer."""
    return _chips_that_hold(_memory(asked, values, used)) if asked.unknown in _OVER_LINKS else None


def _most(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...], name: str) -> float:
    """Return the largest value of a quantity with which memory suffices, or 0 if none does. The need rises with it."""
    made = _definitions(asked.active)
    rest = {other: value for other, value in values.items() if other in asked.known or not _rests(other, name, made, frozenset())}
    low, high = 0.0, values[name]

    def short(value: float) -> float:
        return float(shortage(asked, {**rest, name: value}, used))

    # Most of what is needed rises in proportion: then a straight line ends at once where there is none short.
    whole, half = short(high), short(high / 2)
    straight = high - whole * (high / 2) / (whole - half) if whole > half else low
    if low < straight < high and abs(short(straight)) <= _NEGLIGIBLE * whole:
        return straight
    if straight <= low and short(high * 0.5**_HALVINGS) > 0:
        # What it is beside takes all the room by itself.
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if short(middle) <= 0 else (low, middle)
    return low


def _rests(name: str, on: str, made: Mapping[str, Equation], above: Set[str]) -> bool:
    """Return whether the definition of a quantity leads to another one."""
    row = made.get(name)
    if row is None or name in above or name == on:
        return name == on
    return any(_rests(other, on, made, {*above, name}) for other in row.symbols[1:])
