"""Compare weights and caches with the memory of the chips before a time is printed, and list changes that would make them fit."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import lru_cache
from math import floor, inf, log10
from typing import Any

from derive.answers import COUNTED, SHORT, next_whole
from derive.catalogue import definitions, equations
from derive.quantities import NEUTRAL_DEFAULTS
from derive.records import HOLDS, LOWER, Equation
from derive.roles import HELD, Batch, Held, Memory
from derive.solving.engine.legs import Way
from derive.solving.engine.plan import definitions_of
from derive.solving.question.propagation import quantities_behind
from derive.solving.question.questions import Question
from derive.solving.result import Reason
from derive.units import show

SHORT_OF_MEMORY = "does_not_fit"
"""The code of a refusal for want of memory."""

MEMORY_BINDS = "memory binds"
"""The regime of as many chips as memory needs, where a speed takes fewer."""

_LEAST = 2.0**-60
"""The share of a quantity that is as good as none of it."""

_MOST_CHIPS = 100_000
"""Up to how many chips it is looked whether what is copied on each of them fits."""

_DIGITS = 4
"""How many digits of a value are shown."""

_Used = tuple[Equation, ...]


def memory_shortfall(asked: Question, values: Mapping[str, float], used: _Used) -> Reason | None:
    """Return why memory is short on a way that reads weights or caches, with what would fit, or None if it suffices."""
    if not (shortage(asked, values, used) or 0) > 0:
        return None
    violated = (f"{Memory.needed} <= {Memory.room}",)
    return Reason(code=SHORT_OF_MEMORY, violated=violated, look_up=lambda: ((), _shortfall_in_words(asked, values, used)))


def shortage(asked: Question, values: Mapping[str, Any], used: _Used) -> Any:
    """Return the bytes that are short, negative if there is room, at numbers or arrays, or None if they are not known."""
    known = _evaluate_memory(asked, values, used)
    return known[Memory.needed] - known[Memory.room] if {Memory.needed, Memory.room} <= known.keys() else None


def memory_is_made_of(asked: Question, values: Mapping[str, float], used: _Used, names: Iterable[str]) -> Set[str]:
    """Return the quantities behind the memory that an answer was compared with."""
    found = {*names} & _behind(Memory.room, asked)
    return found if found and shortage(asked, values, used) is not None else set()


def is_warning(asked: Question, way: Way) -> bool:
    """Return whether short memory is a warning and no refusal: if the question says so, or if no row of the answer needs the room."""
    return asked.anyway or all(row.told for row in rows_held(asked, way.rows))


def rows_held(asked: Question, used: Iterable[Equation]) -> tuple[Held, ...]:
    """Return the rows of quantities that an answer rests on and that need something in memory."""
    spoken = {name for row in used for name in row.symbols}
    counted = not {Memory.bought, Memory.room}.isdisjoint(spoken | asked.known.keys())
    there = ((row, {asked.unknown} if row.itself else {asked.unknown, *spoken}) for row in HELD if counted or not row.itself)
    return tuple(row for row, names in there if not names.isdisjoint(row.names))


def _evaluate_memory(asked: Question, values: Mapping[str, Any], used: _Used) -> dict[str, Any]:
    """Return the values with the memory demand and capacity, if the definitions of the question give them.

    memory_demand <= memory_capacity. The sequences of all microbatches are in flight unless their number is given. An answer without a
    pass is not compared with memory, and an answer for the weights alone is not compared with the cache. An unknown cache needs no room.
    """
    held = rows_held(asked, used)
    known = evaluate_definitions(asked, Memory.defaults, values)
    known = {**{name: NEUTRAL_DEFAULTS[name] for name in Memory.defaults if name != asked.unknown}, **known}
    if not held:
        return known
    of_a_chip = _definitions(asked.active)[Memory.resident]
    if Memory.resident in known and of_a_chip.inputs - known.keys() <= {Memory.weights, Memory.bought} and Memory.weights not in known:
        # They are in proportion, on any number of chips.
        known = {Memory.bought: 1.0, **known}
        known[Memory.weights] = known[Memory.resident] / of_a_chip.right_side({**known, Memory.weights: 1.0})
    if Batch.name in known and Memory.sequences not in asked.known:
        known[Memory.sequences] = known.get(Batch.passes, 1.0) * known[Batch.name]
    cached = evaluate_definitions(asked, (Memory.cache,), known) if any(row.cache for row in held) else {**known, Memory.cache: 0.0}
    return evaluate_definitions(asked, (Memory.needed, Memory.room), {Memory.cache: 0.0, **cached})


@lru_cache(maxsize=256)
def _definitions(active: tuple[Equation, ...]) -> Mapping[str, Equation]:
    """Return the definition of every quantity, or the equation that was named for it. Those of the memory are always among them."""
    return definitions_of((*(row for row in equations("memory") if row.defines), *active))


def _behind(name: str, asked: Question) -> frozenset[str]:
    """Return a quantity and all that its definition leads to."""
    return quantities_behind(name, tuple(_definitions(asked.active).values()))


def evaluate_definitions(asked: Question, names: Iterable[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with these quantities by the definitions of the question, if they can be found, at numbers or arrays."""
    known, made = dict(values), _definitions(asked.active)

    def add(name: str, above: frozenset[str]) -> None:
        """Add a quantity to the known ones, and before it all that its definition rests on."""
        row = made.get(name)
        if name in known or name in above or row is None:
            return
        for other in row.symbols[1:]:
            add(other, above | {name})
        if row.inputs <= known.keys():
            with suppress(ZeroDivisionError):
                known[name] = row.right_side(known)

    for name in names:
        add(name, frozenset())
    return known


def _shortfall_in_words(asked: Question, values: Mapping[str, float], used: _Used) -> str:
    known = _evaluate_memory(asked, values, used)
    parts = [f"{label} {show(name, known[name])}" for name, label in Memory.parts.items() if known.get(name)]
    needed, room = (show(name, known[name]) for name in (Memory.needed, Memory.room))
    if Memory.room not in asked.known and Memory.bought in known:
        chips = known[Memory.bought] * known[Memory.groups]
        room += f" of {chips:.4g} chip{'s' * (chips != 1)}"
    short = show(Memory.needed, known[Memory.needed] - known[Memory.room])
    message = f"{SHORT}: {' and '.join(parts) or needed} in the {room}, {short} short"
    # What is asked for is free: how much of it a limit takes is not to be kept.
    would = "" if asked.limits and asked.unknown in Memory.smaller else ", ".join(_list_changes(asked, values, used, known))
    return f"{message}\nwhat would fit, with everything else unchanged: {would}" if would else message


def _list_changes(asked: Question, values: Mapping[str, float], used: _Used, known: Mapping[str, float]) -> Iterator[str]:
    """Yield a bound on each quantity that one could change."""
    copied = next((row for row in asked.named if row.symbols[0] == Memory.copies and Memory.bought in row.inputs), None)
    chips = _chips_that_hold(known)
    if chips and copied and Memory.copies not in asked.known:
        chips = fewest_with_copies(known, copied) or 0
    if chips:
        yield f"{Memory.bought} at least {chips}"
    for name in Memory.smaller if known.get(Memory.cache) else ():
        if name in values and (most := _round_down(name, _most_that_fits(asked, values, used, name))):
            yield f"{name} at most {show(name, most)}"
    if chips == 0:
        yield f"no number of {Memory.bought}, because the copies of the cache grow with them"


def fewest_with_copies(values: Mapping[str, float], row: Equation, most: float = inf) -> int | None:
    """Return the fewest whole chips with memory for the weights and the copies of the cache by a condition, or None.

    >>> held = {"chips": 9.0, "memory_capacity": 720e9, "weight_bytes": 671e9, "kv_cache_bytes": 18e9}
    >>> from derive.catalogue import equation
    >>> latents = equation("memory.kv_copies_of_latents")
    >>> fewest_with_copies(held, latents, 128), fewest_with_copies({**held, "kv_cache_bytes": 90e9}, latents)
    (11, None)
    """
    import numpy as np

    least = next_whole(values[Memory.bought], LOWER)
    usual = {name: NEUTRAL_DEFAULTS[name] for name in row.inputs if name in NEUTRAL_DEFAULTS}
    at: dict[str, Any] = {**usual, **values, Memory.bought: np.arange(least, min(most, _MOST_CHIPS) + 1.0)}
    at[Memory.cache] = values[Memory.cache] / values.get(Memory.copies, 1.0) * row.right_side(at)
    room = values[Memory.room] / values[Memory.bought] * at[Memory.bought]
    fits = np.flatnonzero(definitions()[Memory.needed].right_side(at) <= room * (1 + HOLDS))
    return int(least + fits[0]) if len(fits) else None


def _round_down(name: str, most: float) -> float:
    """Return the largest printed value up to this value: a whole number of a counted quantity, or 0.

    >>> _round_down("batch", 119.7), _round_down("batch", 0.4), _round_down("kv_bytes_per_token", 5806.6)
    (119.0, 0.0, 5806.0)
    """
    if not most:
        return 0.0
    digits = _DIGITS - 1 - floor(log10(most))
    within = floor(most * 10.0**digits * (1 + HOLDS)) / 10.0**digits
    return float(floor(within)) if name in COUNTED else within


def _chips_that_hold(known: Mapping[str, float]) -> int | None:
    """Return the fewest chips with enough memory, or None if the memory of one chip is not known."""
    at_one, capacity = {**known, Memory.bought: 1.0}, definitions()[Memory.room]
    of_one = capacity.right_side(at_one) if capacity.inputs <= at_one.keys() else 0.0
    return int(next_whole(known[Memory.needed] / of_one, LOWER)) if of_one else None


def _most_that_fits(asked: Question, values: Mapping[str, float], used: _Used, name: str) -> float:
    """Return the largest value of a quantity with which memory suffices, or 0 if none does. The need rises with it."""
    from scipy.optimize import brentq

    rest = {other: value for other, value in values.items() if other in asked.known or name not in _behind(other, asked)}

    def short(value: float) -> float:
        return float(shortage(asked, {**rest, name: value}, used))

    least, most = values[name] * _LEAST, values[name]
    if short(least) > 0:
        return 0.0
    return float(brentq(short, least, most, xtol=least)) if short(most) > 0 else most
