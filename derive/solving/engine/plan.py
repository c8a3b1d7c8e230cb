"""The order in which equations lead from what is known to an unknown.

An equation that lacks one quantity gives it. Where every equation lacks two or more, one quantity is tried: at a trial value the
rest follows, and the equation that is then known on both sides (the closing one) says which value is right.
"""

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from types import MappingProxyType

from derive.catalogue import by_id
from derive.immutable import immutable
from derive.records import CHAINED_BY_ITSELF, Equation
from derive.solving.engine.composed import Composed
from derive.trees import names

Failed = frozenset[tuple[str, str]]
"""Legs that gave no number to go on with: their ids and unknowns."""


@immutable(kw_only=False)
class Step:
    """One equation that gives one quantity. The `alternatives` would have given it too."""

    row: Equation | Composed
    unknown: str
    alternatives: tuple[Equation, ...] = ()

    @property
    def id(self) -> str:
        """Return the id of its equation."""
        return self.row.id

    @property
    def rows(self) -> tuple[Equation, ...]:
        """Return its equations of the catalogue."""
        return (self.row,) if isinstance(self.row, Equation) else self.row.rows

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return its quantities."""
        return self.row.symbols

    @property
    def gives(self) -> frozenset[str]:
        """Return the quantities that it gives."""
        return frozenset([self.unknown])

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the quantities that must be known before it."""
        return tuple(name for name in self.row.symbols if name != self.unknown)

    @property
    def goes_forwards(self) -> bool:
        """Return whether its equation has what it gives on the left side alone."""
        if isinstance(self.row, Equation):
            return self.row.symbols[0] == self.unknown
        left, right = self.row.trees
        return left == self.unknown and self.unknown not in names(right)


@immutable(kw_only=False)
class Loop:
    """A quantity whose value is tried: the steps lead from it to both sides of the closing equation, which must agree."""

    closing: Equation
    unknown: str
    steps: "tuple[Leg, ...]"

    @property
    def id(self) -> str:
        """Return the id of its equation."""
        return f"{self.closing.id} closes a loop"

    @property
    def rows(self) -> tuple[Equation, ...]:
        """Return its equations of the catalogue."""
        return (*dict.fromkeys(row for leg in self.steps for row in leg.rows), self.closing)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return its quantities."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.symbols))

    @property
    def gives(self) -> frozenset[str]:
        """Return the quantities that it gives."""
        return frozenset([self.unknown]).union(*(leg.gives for leg in self.steps))

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the quantities that must be known before it."""
        given = self.gives
        return tuple(name for name in self.symbols if name not in given)


Leg = Step | Loop


@immutable(kw_only=False)
class Way:
    """The legs that lead to an unknown, it last."""

    legs: tuple[Leg, ...]

    @property
    def rows(self) -> tuple[Equation, ...]:
        """Return its equations of the catalogue."""
        return tuple(dict.fromkeys(row for leg in self.legs for row in leg.rows))

    @property
    def unknown(self) -> str:
        """Return the quantity that the last leg gives."""
        return self.legs[-1].unknown

    @property
    def solved(self) -> frozenset[str]:
        """Return the quantities that its legs give."""
        return frozenset(leg.unknown for leg in self.legs)

    def without(self, failed: "Failed") -> bool:
        """Return whether none of its legs has failed before."""
        return failed.isdisjoint((leg.id, leg.unknown) for leg in self.legs)


@lru_cache(maxsize=4096)
def find_plain_way(unknown: str, rows: tuple[Equation, ...], known: frozenset[str], failed: Failed = frozenset()) -> Way | None:
    """Return the legs that lead to the unknown one equation at a time, or None."""
    legs = propagate(rows, known, failed, unknown)
    return Way(needed_legs([unknown], legs)) if unknown in legs else None


def carry_bounds(way: Way, leg: Leg, known: frozenset[str]) -> Way | None:
    """Return a way whose last legs are one loop from the unknown to the equation of a leg that only bounded its quantity."""
    at = way.legs.index(leg)
    before, tail = way.legs[:at], way.legs[at + 1 :]
    rows = [one.row for one in (leg, *tail) if isinstance(one, Step) and isinstance(one.row, Equation) and one.row.sense == "="]
    if not tail or len(rows) <= len(tail):
        return None
    closing, *others = rows
    made = {row.symbols[0]: row for row in others}
    steps = definitions_to(closing.symbols, made, {*known, *(one.unknown for one in before), way.unknown})
    return None if steps is None else Way((*before, Loop(closing, way.unknown, tuple(steps.values()))))


@lru_cache(maxsize=1024)
def giving_equations(active: tuple[Equation, ...]) -> Mapping[str, Equation]:
    """Return the equation that gives each quantity: its definition, or an equation that replaces a variant of its definition."""
    found = {row.defines: row for row in active if row.defines}
    for row, variant in ((row, row.variant) for row in active if row.variant and not row.defines and row.sense == "="):
        of_group = {other.defines for other in by_id().values() if other.variant and other.variant.group == variant.group}
        found |= {name: row for name in row.symbols[1:] if name in of_group and name not in found}
    return MappingProxyType(found)


def _free_inputs(names: Iterable[str], made: Mapping[str, Equation], known: Set[str]) -> dict[str, None]:
    """Return the inputs behind some quantities that no equation gives, in order."""
    seen = {name: None for name in names if name not in known}
    queue = [*seen]
    while queue:
        row = made.get(queue.pop(0))
        new = [name for name in (row.symbols if row else ()) if name not in seen and name not in known]
        seen |= dict.fromkeys(new)
        queue += new
    return {name: None for name in seen if name not in made}


def definitions_to(
    names: Iterable[str], made: Mapping[str, Equation], known: Set[str], others: Mapping[str, Leg] = MappingProxyType({})
) -> dict[str, Leg] | None:
    """Return the definitions that lead from what is known to some quantities, in order, or None if they do not.

    Other legs take the place of definitions that are missing or need what is not known.
    """
    legs: dict[str, Leg] = {}

    def reached(name: str, above: frozenset[str]) -> bool:
        if name in known or name in legs:
            return True
        if name in above:
            return False
        for leg in (*([Step(made[name], name)] if name in made else ()), *([others[name]] if name in others else ())):
            if all(reached(other, above | {name}) for other in leg.needs):
                legs[name] = leg
                return True
        return False

    return legs if all(reached(name, frozenset()) for name in names) else None


def lacking_inputs(unknown: str, rows: tuple[Equation, ...], known: Set[str]) -> list[tuple[str, ...]]:
    """Return the missing inputs: of the unknown, and beside the unknown in each given result."""
    made = definitions_of(rows, known)
    named = [row for row in rows if row.sense == "=" and row.kind not in CHAINED_BY_ITSELF]
    results = [row for row in rows if row.sense == "=" and row.symbols[0] in known and row not in named]
    own = [tuple(_free_inputs([unknown], made, known))] if unknown in made else []
    return [*_inputs_beside(unknown, named, made, known), *sorted([*own, *_inputs_beside(unknown, results, made, known)], key=len)]


def _inputs_beside(unknown: str, rows: list[Equation], made: Mapping[str, Equation], known: Set[str]) -> list[tuple[str, ...]]:
    """Return the missing inputs of each equation that rests on the unknown, without the unknown."""
    found = [_free_inputs(row.symbols, made, known) for row in rows]
    return [tuple(name for name in free if name != unknown) for free in found if unknown in free]


def definitions_of(rows: tuple[Equation, ...], known: Set[str]) -> dict[str, Equation]:
    """Return the equation that gives each quantity that is not known: its definition, or one that was named for it."""
    named = {row.symbols[0]: row for row in rows if row.sense == "=" and row.kind not in CHAINED_BY_ITSELF}
    defined = {row.symbols[0]: row for row in rows if row.sense == "=" and row.defines == row.symbols[0]}
    return {name: row for name, row in {**defined, **named}.items() if name not in known}


@lru_cache(maxsize=4096)
def propagate(rows: tuple[Equation, ...], known: frozenset[str], failed: Failed, goal: str = "") -> Mapping[str, Leg]:
    """Return the step to every quantity that one equation after another gives, in order, up to the goal."""
    places, legs = _places_of(rows), dict[str, Leg]()
    open_in = [{*row.symbols} - known for row in rows]
    ready = [at for at, names in enumerate(open_in) if len(names) == 1]
    while ready and goal not in legs and goal not in known:
        found: dict[str, list[Equation]] = {}
        for row, (name,) in ((rows[at], open_in[at]) for at in ready if len(open_in[at]) == 1):
            if (row.sense == "=" or name == goal) and (row.id, name) not in failed:
                found.setdefault(name, []).append(row)
        for name, some in found.items():
            first, *others = sorted(some, key=lambda row: (row.defines != name, row.defines is None))
            legs[name] = Step(first, name, tuple(others))
        ready = sorted({at for name in found for at in places[name]})
        for at in ready:
            open_in[at].difference_update(found)
    return legs


@lru_cache(maxsize=256)
def _places_of(rows: tuple[Equation, ...]) -> Mapping[str, list[int]]:
    """Return the places of the equations that contain each quantity."""
    found: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        for name in {*row.symbols}:
            found.setdefault(name, []).append(at)
    return found


def needed_legs(wanted: "tuple[str, ...] | list[str]", legs: Mapping[str, Leg]) -> tuple[Leg, ...]:
    """Return the legs that some quantities depend on, in the order in which they were found."""
    found, queue = set(), list(wanted)
    while queue:
        name = queue.pop()
        if name in legs and name not in found:
            found.add(name)
            leg = legs[name]
            queue += leg.needs
    return tuple(leg for name, leg in legs.items() if name in found)
