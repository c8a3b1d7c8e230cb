"""All that values lead to by putting them into right sides: no solving, no SymPy."""

from collections.abc import Mapping
from functools import lru_cache
from math import isfinite

from derive.records import Equation
from derive.solving.one_equation import right_side_at


def followed(active: tuple[Equation, ...], values: Mapping[str, float]) -> dict[str, float]:
    """All that the values lead to by putting them into right sides."""
    known, waiting = dict(values), _within_reach(active, frozenset(values))
    while True:
        names = {*known}
        waiting = tuple(row for row in waiting if row.symbols[0] not in names)
        new = {row.symbols[0]: right_side_at(row, known) for row in waiting if row.inputs <= names and row.applies(known)}
        new = {name: value for name, value in new.items() if isfinite(value)}
        if not new:
            return known
        known |= new


@lru_cache(maxsize=4096)
def _within_reach(active: tuple[Equation, ...], names: frozenset[str]) -> tuple[Equation, ...]:
    """The equations whose right sides values of these names may lead to, the last first."""
    waiting, reached, found = [row for row in active if row.sense == "=" and row.symbols[0] not in names], set(names), set[str]()
    while ready := [row for row in waiting if row.id not in found and row.inputs <= reached]:
        found |= {row.id for row in ready}
        reached |= {row.symbols[0] for row in ready}
    return tuple(row for row in reversed(waiting) if row.id in found)
