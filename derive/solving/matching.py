"""Equations that must be solved together: the smallest block that fixes an unknown, found from who speaks of what.

Every equation is matched with one unknown of its own; unknowns that some unmatched one leads to are not determined, and
the others fall into blocks that can be solved one after another, as compilers of equation-based models do it.
"""

from collections.abc import Mapping, Set
from functools import lru_cache

from derive.immutable import immutable
from derive.records import Equation

_Incidence = Mapping[Equation, tuple[str, ...]]
"""The unknowns each equation speaks of."""


@immutable(kw_only=False)
class Structure:
    """Equations to be solved together and their unknowns; `free` are unknowns that no equation is left for."""

    rows: tuple[Equation, ...]
    names: tuple[str, ...]
    free: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def determined(unknown: str, rows: tuple[Equation, ...], reached: frozenset[str]) -> Structure | None:
    """The smallest block on the way to the unknown whose equations determine all its unknowns; None if there is none.

    >>> from derive.catalogue import equation
    >>> rows = tuple(map(equation, ("roofline.step_time", "roofline.memory_time", "roofline.kv_time", "roofline.compute_time")))
    >>> given = {name for row in rows for name in row.symbols} - {"batch", "memory_time", "kv_time", "compute_time"}
    >>> [row.id for row in determined("batch", rows, frozenset(given)).rows] == [row.id for row in rows]
    True
    """
    incidence = _incidence(rows, reached)
    owner = _matching(unknown, incidence)
    if unknown not in owner or unknown in _undetermined(incidence, owner):
        return None
    way = _upstream(unknown, incidence, owner)
    return min((_upstream(name, incidence, owner) for name in way.names), key=lambda block: len(block.names))


@lru_cache(maxsize=1024)
def upstream(unknown: str, rows: tuple[Equation, ...], reached: frozenset[str]) -> Structure:
    """All equations on the way to the unknown, determined or not, with the unknowns that are left free."""
    incidence = _incidence(rows, reached)
    return _upstream(unknown, incidence, _matching(unknown, incidence))


def _incidence(rows: tuple[Equation, ...], reached: Set[str]) -> _Incidence:
    open_ones = (row for row in rows if row.sense == "=" and not row.names <= reached)
    return {row: tuple(name for name in row.symbols if name not in reached) for row in open_ones}


def _matching(unknown: str, incidence: _Incidence) -> dict[str, Equation]:
    """As many unknowns as can be, each with an equation of its own: the one that defines it where that will do.

    Where equations are too few, the unknown has one at the expense of a quantity that no equation defines.
    """
    holder = {row: row.defines for row, names in incidence.items() if row.defines in names}
    speaking = _speaking(incidence)
    inputs = speaking.keys() - set(holder.values())

    def claim(name: str, visited: set[Equation], released: Set[str] = frozenset()) -> bool:
        for row in speaking[name]:
            if row in visited:
                continue
            visited.add(row)
            if row not in holder or holder[row] in released or claim(holder[row], visited, released):
                holder[row] = name
                return True
        return False

    if unknown in inputs and not claim(unknown, set()):
        claim(unknown, set(), inputs)
    for name in sorted(inputs - set(holder.values())):
        claim(name, set())
    return {name: row for row, name in holder.items()}


def _speaking(incidence: _Incidence) -> dict[str, list[Equation]]:
    """The equations that speak of each unknown, in their order."""
    found: dict[str, list[Equation]] = {}
    for row, names in incidence.items():
        for name in names:
            found.setdefault(name, []).append(row)
    return found


def _undetermined(incidence: _Incidence, owner: Mapping[str, Equation]) -> set[str]:
    """The unknowns that could be another if one without an equation were another."""
    speaking = _speaking(incidence)
    loose = speaking.keys() - owner.keys()
    name_of = {row: name for name, row in owner.items()}
    queue = list(loose)
    while queue:
        for row in speaking[queue.pop()]:
            if row in name_of and name_of[row] not in loose:
                loose.add(name_of[row])
                queue.append(name_of[row])
    return loose


def _upstream(unknown: str, incidence: _Incidence, owner: Mapping[str, Equation]) -> Structure:
    """What an unknown rests on: its equation, that of every other unknown in it, and so on."""
    names, queue = {unknown: None}, [unknown]
    while queue:
        row = owner.get(queue.pop())
        new = [name for name in (incidence.get(row, ()) if row else ()) if name not in names]
        names |= dict.fromkeys(new)
        queue += new
    held = [name for name in names if name in owner]
    chosen = {owner[name] for name in held}
    return Structure(tuple(row for row in incidence if row in chosen), tuple(held), tuple(name for name in names if name not in owner))
