"""Does it fit; what would: weights and caches against the memory of the chips, before any time is printed."""

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from derive.catalogue import equation
from derive.questions import Question
from derive.records import Equation
from derive.routes import Route
from derive.solutions import Answer, Reason
from derive.solving import solve_equation
from derive.units import show

READS_MEMORY = ("weight_time", "kv_time")
"""Times that are of no use for weights and caches that are not there to be read."""

PARTS = {"weight_bytes": "weights of", "kv_cache_bytes": "a KV cache of"}
ROOM_FOR = ("sequences_in_flight", "context_length", "kv_bytes_per_token")
"""What can be less where weights fit and caches do not."""


def misfit(asked: Question, values: Mapping[str, float], used: tuple[Equation, ...]) -> Reason | None:
    """The memory that is short on a route that reads weights or caches, and what would fit; None where all is well."""
    known = _memory(values, used)
    if "short" not in known or known["short"] <= 0:
        return None
    return Reason("does_not_fit", violated=("memory_demand <= memory_capacity",), message=_message(asked, known))


def shortage(values: Mapping[str, Any], used: tuple[Equation, ...]) -> Any:
    """Bytes that are short (negative where there is room), at numbers or arrays; None where something is not known."""
    return _memory(values, used).get("short")


def is_warning(asked: Question, way: Route) -> bool:
    """Whether short memory is only said: where it was asked to answer anyway, or where nobody spoke of the chips."""
    return asked.anyway or not ("chips" in asked.known or asked.unknown == "chips" or "chips" in way.solved)


def _memory(values: Mapping[str, Any], used: tuple[Equation, ...]) -> dict[str, Any]:
    """The values with what is needed and what there is, as far as it is known.

    memory_demand <= memory_capacity = chips pipeline_stages hbm_capacity; the sequences of one pass are in flight unless
    more are given, and a route that does not read the cache is not held to it.
    """
    reads = {row.defines for row in used} & {*READS_MEMORY}
    known = dict(values)
    if "kv_time" not in reads:
        known["kv_cache_bytes"] = 0.0
    elif "batch" in known:
        known.setdefault("sequences_in_flight", known["batch"])
    for name in ("weight_bytes", "kv_cache_bytes", "memory_demand", "memory_capacity") if reads else ():
        row = equation(f"memory.{name.removeprefix('memory_')}")
        if name not in known and all(other in known for other in row.symbols[1:]):
            known[name] = row.right_side(known)
    if "memory_demand" in known and "memory_capacity" in known:
        known["short"] = known["memory_demand"] - known["memory_capacity"]
    return known


def _message(asked: Question, known: Mapping[str, float]) -> str:
    parts = [f"{label} {show(name, known[name])}" for name, label in PARTS.items() if known.get(name)]
    needed = " and ".join(parts) or f"{show('memory_demand', known['memory_demand'])}"
    room = show("memory_capacity", known["memory_capacity"])
    if "memory_capacity" not in asked.known and known.keys() >= {"chips", "pipeline_stages"}:
        chips = known["chips"] * known["pipeline_stages"]
        room += f" of {chips:.4g} chip{'s' * (chips != 1)}"
    message = f"does not fit: {needed} in the {room}, {show('memory_demand', known['short'])} short"
    would = ", ".join(_what_would(asked, known))
    return f"{message}\nwhat would fit, all else as it is: {would}" if would else message


def _what_would(asked: Question, known: Mapping[str, float]) -> Iterator[str]:
    """A bound on each quantity that one could change, solved from the equations of what fits."""
    room = {**known, "memory_capacity": known["memory_demand"]}
    for one in _solved("memory.capacity", "chips", room):
        yield f"chips at least {ceil(one.value * (1 - 1e-12))}"
    most = {name: one.high for name in ROOM_FOR for one in _room_for(name, known)}
    for name, high in most.items():
        yield f"{'batch' if name == 'sequences_in_flight' and name not in asked.known else name} at most {show(name, high)}"
    formula = next((row for row in asked.active if row.defines == "kv_bytes_per_token"), None)
    if formula and "kv_bytes_per_token" in most and all(name in known for name in formula.symbols):
        for one in solve_equation(formula, "bytes_per_element", {**known, "kv_bytes_per_token": most["kv_bytes_per_token"]})[0]:
            yield f"bytes_per_element at most {show('bytes_per_element', one.value)}"


def _room_for(name: str, known: Mapping[str, float]) -> tuple[Answer, ...]:
    return _solved("memory.sequences_that_fit", name, known) if known.get("kv_cache_bytes") else ()


def _solved(id: str, name: str, known: Mapping[str, float]) -> tuple[Answer, ...]:
    """What an equation says of a quantity; nothing where not all others are known."""
    row = equation(id)
    return solve_equation(row, name, known)[0] if all(other in known for other in row.symbols if other != name) else ()
