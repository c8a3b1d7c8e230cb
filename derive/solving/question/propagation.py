"""All that values lead to by putting them into right sides: no solving, no SymPy."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from math import isfinite
from types import MappingProxyType
from typing import TypeVar

from derive.catalogue import by_id
from derive.records import CHAINED_BY_ITSELF, Equation, right_side_at

_Node = TypeVar("_Node")


def list_reached(starts: Iterable[_Node], following: Callable[[_Node], Iterable[_Node]], last_first: bool = False) -> dict[_Node, None]:
    """Return the starts and all that follow from them in a graph, each once, the nearest first, or first what follows the last one."""
    found = dict.fromkeys(starts)
    queue = [*found]
    while queue:
        new = [other for other in dict.fromkeys(following(queue.pop(-1 if last_first else 0))) if other not in found]
        found |= dict.fromkeys(new)
        queue += new
    return found


def follow_values(active: tuple[Equation, ...], values: Mapping[str, float]) -> dict[str, float]:
    """Return all that the values lead to when they are put into right sides."""
    known, waiting = dict(values), [row for row in reversed(active) if row.sense == "=" and row.symbols[0] not in values]
    while ready := [row for row in waiting if row.symbols[0] not in known and row.inputs <= known.keys()]:
        new = {row.symbols[0]: right_side_at(row, known) for row in ready if row.applies(known)}
        known |= {name: value for name, value in new.items() if isfinite(value)}
        tried = {*ready}
        waiting = [row for row in waiting if row not in tried]
    return known


@lru_cache(maxsize=1024)
def rows_behind(wanted: tuple[str, ...], active: tuple[Equation, ...]) -> tuple[Equation, ...]:
    """Return the equations on whose right sides quantities can rest, in order: these are enough to follow values to them."""
    of_left: dict[str, list[Equation]] = {}
    for row in active:
        of_left.setdefault(row.symbols[0], []).append(row)
    needed = list_reached(wanted, lambda name: (other for row in of_left.get(name, ()) for other in row.inputs))
    return tuple(row for row in active if row.symbols[0] in needed)


@lru_cache(maxsize=4096)
def quantities_behind(name: str, active: tuple[Equation, ...]) -> frozenset[str]:
    """Return a quantity and all that its definitions lead to."""
    return frozenset((name, *(symbol for row in rows_behind((name,), active) for symbol in row.symbols)))


@cache
def usual_definitions() -> tuple[Equation, ...]:
    """Return the definitions and bounds that join by themselves, of variants the default."""
    rows = (row for row in by_id().values() if row.defines and row.kind in CHAINED_BY_ITSELF)
    return tuple(row for row in rows if not (row.variant and not row.variant.default))


@cache
def results_of(name: str, rows: tuple[Equation, ...] = ()) -> frozenset[str]:
    """Return the quantities that equations compute from this one: by default the usual definitions.

    >>> {"fleet_cost", "fleet_throughput"} <= results_of("replicas")
    True
    """
    used = [row for row in rows or usual_definitions() if row.sense == "="]
    return frozenset(list_reached([name], lambda one: (row.symbols[0] for row in used if one in row.inputs))) - {name}


@lru_cache(maxsize=1024)
def giving_equations(active: tuple[Equation, ...]) -> Mapping[str, Equation]:
    """Return the equation that gives each quantity: its definition, or an equation that replaces a variant of its definition."""
    found = {row.defines: row for row in active if row.defines}
    for row, variant in ((row, row.variant) for row in active if row.variant and not row.defines and row.sense == "="):
        of_group = {other.defines for other in by_id().values() if other.variant and other.variant.group == variant.group}
        found |= {name: row for name in row.symbols[1:] if name in of_group and name not in found}
    return MappingProxyType(found)


@lru_cache(maxsize=256)
def list_made_of(active: tuple[Equation, ...]) -> Mapping[str, list[str]]:
    """Return the quantities that are computed from each quantity."""
    found: dict[str, list[str]] = {}
    for name, row in giving_equations(active).items():
        for other in (*row.symbols, *row.put_in):
            found.setdefault(other, []).append(name)
    return found
