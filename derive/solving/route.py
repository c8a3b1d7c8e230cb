"""The way from what is known to an unknown: equations one at a time, and blocks of them where one at a time gets stuck."""

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import TYPE_CHECKING

from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS
from derive.records import CHAINED_BY_ITSELF, Equation
from derive.solving.elimination import joint, with_definitions
from derive.solving.matching import Structure, determined, upstream

if TYPE_CHECKING:
    from derive.solving.blocks import Joint

_MAY_CANCEL = 2
"""Up to how many quantities that nothing determines are looked at, whether they cancel; none that has a default."""

Failed = frozenset[tuple[str, str]]
"""Legs that gave no number to go on with: the ids of their equations, and the unknown."""


@immutable(kw_only=False)
class Leg:
    """One equation to be solved for one quantity on the way, or the cases of a block; the others would have given it too."""

    cases: "tuple[Equation | Joint, ...]"
    unknown: str
    alternatives: tuple[Equation, ...] = ()

    @property
    def id(self) -> str:
        """The ids of its equations."""
        return self.cases[0].id

    @property
    def rows(self) -> tuple[Equation, ...]:
        """The equations of the catalogue it rests on."""
        return (self.cases[0],) if isinstance(self.cases[0], Equation) else self.cases[0].rows

    @property
    def symbols(self) -> tuple[str, ...]:
        """The quantities it speaks of."""
        return tuple(dict.fromkeys(name for case in self.cases for name in case.symbols))


@immutable(kw_only=False)
class Route:
    """The legs that lead to an unknown, it last, and all that they and their blocks give a value to."""

    legs: tuple[Leg, ...]
    solved: frozenset[str]

    @property
    def rows(self) -> tuple[Equation, ...]:
        """The equations of the catalogue it goes through, each once."""
        return tuple(dict.fromkeys(row for leg in self.legs for row in leg.rows))

    @property
    def cancelled(self) -> tuple[str, ...]:
        """Quantities of its equations that drop out, whatever they are."""
        return tuple(dict.fromkeys(name for leg in self.legs for name in getattr(leg.cases[0], "cancelled", ())))

    def carried(self, leg: Leg) -> "Route | None":
        """The same with a leg, of which only bounds came out, and all that rests on it in one: the bounds carry through."""
        resting = {leg.unknown}
        for later in self.legs:
            if later is not leg and resting & {*later.symbols}:
                resting.add(later.unknown)
        tail = [one for one in self.legs if one.unknown in resting]
        rows = tuple(dict.fromkeys(row for one in tail for row in one.rows))
        if any(row.sense != "=" for row in rows):
            # What is bounded by a bound of something else has no bound of its own.
            return None
        unknown = self.legs[-1].unknown
        cases = joint(Structure(rows, tuple(one.unknown for one in tail)), unknown) if len(tail) > 1 else ()
        return Route((*(one for one in self.legs if one not in tail), Leg(cases, unknown)), self.solved) if len(cases) == 1 else None


@lru_cache(maxsize=4096)
def route(unknown: str, active: tuple[Equation, ...], known: frozenset[str], failed: Failed = frozenset()) -> Route | None:
    """The way to the unknown, with no leg to spare; None if there is none.

    One equation at a time where that will do, forwards where what defines each takes all the same; else through blocks of
    defining equations, which the others may help; else all that defines it as one block, in which more cancels than in parts
    of it.
    """
    defining = square(active)
    for rows, blocks in ((active, ()), (defining, defining), (active, defining)):
        legs = _reach(unknown, rows, blocks, known, failed)
        if legs is not None:
            needed = _needed(unknown, legs)
            return _through(_forwards_instead(needed, unknown, active, known, failed) or needed, known)
    whole = upstream(unknown, defining, known)
    found = _of_block(whole, unknown, failed) if unknown in whole.names else []
    return _through(tuple(found), known) if found else None


def _forwards_instead(
    legs: tuple[Leg, ...], unknown: str, active: tuple[Equation, ...], known: frozenset[str], failed: Failed
) -> tuple[Leg, ...]:
    """The legs by definitions alone in place of some that turn one round, where they take all of what is known that these take."""
    turned = [leg for leg in legs if isinstance(leg.cases[0], Equation) and leg.cases[0].defines != leg.unknown]
    forwards = _by_definitions(unknown, active, known, legs) if turned and len(legs) > 1 else ()
    taken = {name for leg in legs for name in leg.symbols} & known
    if not forwards or not taken <= {name for leg in forwards for name in leg.symbols}:
        return ()
    return forwards if failed.isdisjoint((leg.id, leg.unknown) for leg in forwards) else ()


def _by_definitions(unknown: str, active: tuple[Equation, ...], known: frozenset[str], found: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """The legs to an unknown of which each quantity is what defines it, or what was found of one that nothing defines by what is known;
    none where that does not lead to what is known.
    """
    made = {row.defines: row for row in active if row.defines and row.sense == "=" and row.symbols[0] == row.defines}
    others = {leg.unknown: leg for leg in found if leg.unknown != unknown}
    legs: dict[str, Leg] = {}

    def reached(name: str, above: frozenset[str]) -> bool:
        if name in known or name in legs:
            return True
        if name in above:
            return False
        ways = [Leg((made[name],), name)] if name in made else []
        for leg in (*ways, *([others[name]] if name in others else [])):
            if all(reached(other, above | {name}) for other in leg.symbols if other != name):
                legs[name] = leg
                return True
        return False

    return _needed(unknown, legs) if reached(unknown, frozenset()) else ()


@lru_cache(maxsize=4096)
def without_blocks(unknown: str, active: tuple[Equation, ...], known: frozenset[str], failed: Failed = frozenset()) -> Route | None:
    """The way to the unknown that takes one equation at a time, with no leg to spare; None if there is none."""
    legs = _reach(unknown, active, (), known, failed)
    return None if legs is None else _through(_needed(unknown, legs), known)


@lru_cache(maxsize=4096)
def bounding(unknown: str, bounds: tuple[Equation, ...], active: tuple[Equation, ...], known: frozenset[str]) -> tuple[Route, ...]:
    """Inequalities on what is made of the unknown, as inequalities in it: definitions put in, all else known; the shortest first."""
    made = {row.defines: row for row in active if row.defines}
    found = []
    for bound in bounds:
        rows = _made_of(bound, made, {*known, unknown})
        if any(unknown in row.symbols for row in rows):
            whole = with_definitions(bound, rows)
            found += [_through((Leg((whole,), unknown),), known)] if {unknown} <= {*whole.symbols} <= {*known, unknown} else []
    return tuple(sorted(found, key=lambda way: len(way.rows)))


def _made_of(bound: Equation, made: Mapping[str, Equation], known: Set[str]) -> tuple[Equation, ...]:
    """The definitions that bring an inequality down to what is known; none where they do not."""
    rows: dict[str, Equation] = {}
    queue = [name for name in bound.symbols if name not in known]
    while queue:
        name = queue.pop()
        if name not in made:
            return ()
        if name not in rows:
            rows[name] = made[name]
            queue += [other for other in made[name].symbols[1:] if other not in known]
    return tuple(rows.values())


def _through(legs: tuple[Leg, ...], known: frozenset[str]) -> Route:
    return Route(legs, frozenset(name for leg in legs for row in leg.rows for name in row.symbols) - known)


def _reach(
    unknown: str, rows: tuple[Equation, ...], blocks: tuple[Equation, ...], known: frozenset[str], failed: Failed
) -> dict[str, Leg] | None:
    reached = set(known)
    legs: dict[str, Leg] = {}
    while unknown not in reached:
        found = _one_at_a_time(unknown, rows, reached, failed) or _together(unknown, blocks, reached, failed)
        if not found:
            return None
        legs |= {leg.unknown: leg for leg in found}
        reached |= {leg.unknown for leg in found}
        # What an equation gave that follows from definitions would be counted twice with its own definition.
        by_others = {leg.unknown for leg in found if not any(row in blocks for row in leg.rows)}
        blocks = tuple(row for row in blocks if row.defines not in by_others)
    return legs


def square(active: tuple[Equation, ...]) -> tuple[Equation, ...]:
    """The equations whose structure determines blocks: definitions, and what was named."""
    return tuple(row for row in active if row.defines or row.kind not in CHAINED_BY_ITSELF)


@lru_cache(maxsize=4096)
def reaches(unknown: str, active: tuple[Equation, ...], known: frozenset[str]) -> bool:
    """Whether the structure of the equations leads from what is known to the unknown.

    Blocks are looked for among defining equations alone: beside one that follows from them they would count twice.
    """
    defining = square(active)
    return any(_spread(unknown, rows, blocks, set(known)) for rows, blocks in ((active, ()), (defining, defining)))


def _spread(unknown: str, rows: tuple[Equation, ...], blocks: tuple[Equation, ...], reached: set[str]) -> bool:
    """Whether the unknown is reached, by one equation at a time as far as that leads, and by blocks; grows `reached`."""
    while not _propagated(unknown, rows, reached):
        block = determined(unknown, blocks, frozenset(reached))
        if not block:
            return False
        reached |= set(block.names)
    return True


def _propagated(unknown: str, rows: tuple[Equation, ...], reached: set[str]) -> bool:
    """Whether equations that each lack one quantity lead to the unknown; grows `reached` by what they give on the way."""
    waiting: dict[str, list[set[str]]] = {}
    ready: list[str] = []
    for row in rows:
        lacking = {*row.names.difference(reached)}
        # What is only bounded is no way to anything else.
        if row.sense != "=" and unknown not in lacking:
            continue
        if len(lacking) == 1:
            ready += lacking
        for name in lacking:
            waiting.setdefault(name, []).append(lacking)
    while ready and unknown not in reached:
        name = ready.pop()
        reached.add(name)
        for lacking in waiting.pop(name, ()):
            lacking.discard(name)
            if len(lacking) == 1:
                ready += lacking
    return unknown in reached


def _one_at_a_time(unknown: str, active: tuple[Equation, ...], reached: Set[str], failed: Failed) -> list[Leg]:
    """Every quantity that one equation gives from what is reached."""
    found: dict[str, list[Equation]] = {}
    for row in active:
        missing = row.names.difference(reached)
        if len(missing) != 1:
            continue
        (name,) = missing
        if (row.id, name) not in failed and (row.sense == "=" or name == unknown):
            found.setdefault(name, []).append(row)
    legs = []
    for name, rows in found.items():
        first, *others = sorted(rows, key=lambda row: (row.defines != name, row.defines is None))
        legs.append(Leg((first,), name, tuple(others)))
    return legs


def _together(unknown: str, rows: tuple[Equation, ...], reached: Set[str], failed: Failed) -> list[Leg]:
    """A quantity that only several equations together give: the unknown itself, or one that leads to it."""
    while rows:
        block = determined(unknown, rows, frozenset(reached)) or upstream(unknown, rows, frozenset(reached))
        if leg := _of_block(block, unknown, failed):
            return leg
        # Equations that say the same of the same quantities do not determine them: one is too many.
        spare = [row for row in block.rows if row.defines in reached]
        rows = () if block.free or not spare else tuple(row for row in rows if row is not spare[-1])
    return []


def _of_block(block: Structure, unknown: str, failed: Failed) -> list[Leg]:
    """A quantity that a block gives: the unknown if it is in it, else what is not defined in it, else any."""
    if not block.rows or len(block.free) > _MAY_CANCEL or not NEUTRAL_DEFAULTS.keys().isdisjoint(block.free):
        return []
    if len(block.rows) == 1 and not block.free:
        # That is one equation, which has been asked as it stands.
        return []
    defined = {row.defines for row in block.rows}
    for name in (unknown,) if unknown in block.names else sorted(block.names, key=lambda name: name in defined):
        cases = joint(block, name)
        if cases and (cases[0].id, name) not in failed:
            return [Leg(cases, name)]
    return []


def _needed(unknown: str, legs: Mapping[str, Leg]) -> tuple[Leg, ...]:
    """The legs the unknown depends on, in the order they were found."""
    wanted, queue = set(), [unknown]
    while queue:
        name = queue.pop()
        if name in legs and name not in wanted:
            wanted.add(name)
            queue += [other for other in legs[name].symbols if other != name]
    return tuple(leg for name, leg in legs.items() if name in wanted)


@lru_cache(maxsize=4096)
def checks(way: Route, known: frozenset[str], failed: Failed = frozenset()) -> tuple[Leg, ...]:
    """What the equations of a route's blocks say of their other unknowns, once the route is through.

    Nothing where a quantity cancelled and has no value: the others can then be anything.
    """
    blocks = (leg.rows for leg in way.legs if len(leg.rows) > 1 and known.issuperset(way.cancelled))
    rows = tuple(dict.fromkeys(row for block in blocks for row in block))
    reached = set(known)
    found: list[Leg] = []
    while left := [name for name in dict.fromkeys(name for row in rows for name in row.symbols) if name not in reached]:
        legs = _one_at_a_time("", rows, reached, failed)
        legs = legs or next((legs for name in left if (legs := _together(name, rows, reached, failed))), [])
        if not legs:
            break
        found += legs
        reached |= {leg.unknown for leg in legs}
    return tuple(found)
