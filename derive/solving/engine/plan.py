"""The ways that lead from what is known to an unknown.

An equation that lacks one quantity gives it. Where every equation lacks two or more, quantities are eliminated, or one quantity is tried:
at a trial value the rest follows, and the equation that is then known on both sides (the closing one) says which value is right.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import TypeVar

from derive.records import CHAINED_BY_ITSELF, Equation
from derive.solving.engine.legs import Composed, Failed, Leg, Loop, Step, Way, compose, formula_of
from derive.solving.question.propagation import list_reached

_MOST_EQUATIONS = 24
"""The largest system that is eliminated. A larger one would take seconds."""

_Row = TypeVar("_Row", bound=Equation | Composed)


@lru_cache(maxsize=4096)
def find_plain_way(unknown: str, rows: tuple[Equation, ...], known: frozenset[str], failed: Failed = frozenset()) -> Way | None:
    """Return the legs that lead to the unknown one equation at a time, or None."""
    legs = propagate(rows, known, failed, unknown)
    return Way(needed_legs(unknown, legs)) if unknown in legs else None


def carry_bounds(way: Way, leg: Leg, known: frozenset[str]) -> Way | None:
    """Return a way whose last legs are one loop from the unknown to the equation of a leg that only bounded its quantity."""
    at = way.legs.index(leg)
    before, tail = way.legs[:at], way.legs[at + 1 :]
    *others, closing = (row for one in (*tail, leg) for row in one.rows)
    if not others or any(isinstance(one, Loop) for one in (leg, *tail)) or any(row.sense != "=" for row in (closing, *others)):
        return None
    made = {row.symbols[0]: row for row in others}
    steps = definitions_to(closing.symbols, made, {*known, *(one.unknown for one in before), way.unknown})
    return None if steps is None else Way((*before, Loop(closing, way.unknown, tuple(steps.values()))))


def definitions_to(
    names: Iterable[str], made: Mapping[str, Equation], known: Set[str], others: Mapping[str, Step] = MappingProxyType({})
) -> dict[str, Step] | None:
    """Return the definitions that lead from what is known to some quantities, in order, or None if they do not.

    Other legs take the place of definitions that are missing or need what is not known.
    """
    legs: dict[str, Step] = {}

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


def definitions_of(rows: tuple[Equation, ...], known: Set[str] = frozenset()) -> dict[str, Equation]:
    """Return the equation that gives each quantity that is not known: its definition, or one that was named for it."""
    named = {row.symbols[0]: row for row in rows if row.sense == "=" and row.kind not in CHAINED_BY_ITSELF}
    defined = {row.defines: row for row in rows if row.defines}
    return {name: row for name, row in {**defined, **named}.items() if name not in known}


@lru_cache(maxsize=4096)
def propagate(rows: tuple[Equation, ...], known: frozenset[str], failed: Failed, goal: str = "") -> Mapping[str, Step]:
    """Return the step to every quantity that one equation after another gives, in order, up to the goal."""
    places, legs, reached = _places_of(rows), dict[str, Step](), {*known}
    still_open = [len(row.names) for row in rows]
    for at in (at for name in known for at in places.get(name, ())):
        still_open[at] -= 1
    ready: Iterable[int] = range(len(rows))
    while goal not in legs:
        found: dict[str, list[Equation]] = {}
        for row in (rows[at] for at in ready if still_open[at] == 1):
            (name,) = row.names - reached
            if (row.sense == "=" or name == goal) and (row.id, name) not in failed:
                found.setdefault(name, []).append(row)
        if not found:
            break
        for name, some in found.items():
            first, *others = sorted(some, key=lambda row: (row.defines != name, row.defines is None))
            legs[name] = Step(first, name, tuple(others))
        reached |= found.keys()
        ready = sorted({at for name in found for at in places[name]})
        for at in (at for name in found for at in places[name]):
            still_open[at] -= 1
    return legs


@lru_cache(maxsize=256)
def _places_of(rows: tuple[Equation, ...]) -> Mapping[str, list[int]]:
    """Return the places of the equations that contain each quantity."""
    found: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        for name in row.names:
            found.setdefault(name, []).append(at)
    return found


def needed_legs(wanted: str, legs: Mapping[str, Leg]) -> tuple[Leg, ...]:
    """Return the legs that a quantity depends on, in the order in which they were found."""
    found = list_reached([wanted], lambda name: legs[name].needs if name in legs else ())
    return tuple(leg for name, leg in legs.items() if name in found)


def find_eliminated(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> Iterator[Way]:
    """Yield ways by one equation that is left when all undetermined quantities are eliminated from others."""
    legs, reached, system, _ = _open_system(unknown, rows, known)
    for solved in _solve_for(unknown, system, reached):
        yield Way(needed_legs(unknown, {**legs, unknown: Step(solved, unknown)}))


def find_loops(unknown: str, rows: tuple[Equation, ...], known: frozenset[str], alone: bool = False) -> Iterator[Way]:
    """Yield ways by a trial value of one quantity, which leads to the unknown and to both sides of an equation.

    The unknown itself is tried first, and nothing else if it is to be tried `alone`.
    """
    legs, reached, _, system = _open_system(unknown, rows, known)
    needed = tuple(_drop_loose_ends(unknown, system, reached))
    defined = {name for name, leg in legs.items() if leg.rows[-1].symbols[0] == name}
    # A second definition of what is worked out already says nothing new.
    closings = sorted((row for row in needed if row.defines not in defined), key=lambda row: row.symbols[0] not in known)
    others = () if alone else (name for row in needed for name in row.symbols if name not in reached)
    for tried in dict.fromkeys((unknown, *others)):
        start = reached | {tried}
        made, inner = definitions_of(needed, start), propagate(needed, start, frozenset())
        after = definitions_to([unknown], made, start, inner)
        if after is not None:
            loops = _close_loops(tried, closings, made, inner, start, reached - defined)
            yield from (Way(needed_legs(unknown, {**legs, tried: loop, **after})) for loop in loops)


def _close_loops(
    tried: str, closings: list[Equation], made: Mapping[str, Equation], inner: Mapping[str, Step], start: Set[str], claimed: Set[str]
) -> Iterator[Loop]:
    """Yield the loops of a trial value, by definitions where they suffice, else by the `inner` legs. Each set of equations makes one.

    An equation closes a loop if no leg needs it, or if its left side is given or follows from what is. Definitions alone say nothing of
    the trial value: one equation of a loop is of a given result, or was named.
    """
    seen, used = set[frozenset[Equation]](), {leg.rows[-1] for leg in inner.values()}
    for closing in (row for row in closings if row not in used or row.symbols[0] in claimed):
        others = {name: row for name, row in made.items() if row is not closing}
        steps = definitions_to(closing.symbols, others, start, inner)
        loop = Loop(closing, tried, tuple(steps.values())) if steps is not None else None
        says = loop and any(row.symbols[0] in claimed or row.kind not in CHAINED_BY_ITSELF for row in loop.rows)
        if loop and says and closing not in loop.rows[:-1] and frozenset(loop.rows) not in seen:
            seen.add(frozenset(loop.rows))
            yield loop


@lru_cache(maxsize=4096)
def reaches(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> bool:
    """Return whether the structure of the equations leads from what is known to the unknown."""
    return bool(find_plain_way(unknown, rows, known)) or any(find_loops(unknown, rows, known, alone=True))


def has_way(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> bool:
    """Return whether there is a way to the unknown, also through coupled equations."""
    return reaches(unknown, rows, known) or any(
        any(find(unknown, rows, known)) for find in (find_eliminated, find_loops, find_after_another)
    )


def find_after_another(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> Iterator[Way]:
    """Yield ways by another quantity that elimination gives, and from there one equation at a time or by a trial value."""
    legs, reached, _, system = _open_system(unknown, rows, known)
    for other in dict.fromkeys(name for row in system for name in row.symbols if name not in reached and name != unknown):
        for solved in _solve_for(other, system, reached):
            before = needed_legs(other, {**legs, other: Step(solved, other)})
            plain = find_plain_way(unknown, rows, known | {other})
            for way in (plain,) if plain else find_loops(unknown, rows, known | {other}):
                yield Way((*before, *(leg for leg in way.legs if leg not in before)))


@lru_cache(maxsize=1024)
def _open_system(
    unknown: str, rows: tuple[Equation, ...], known: frozenset[str]
) -> tuple[Mapping[str, Step], frozenset[str], list[Equation], list[Equation]]:
    """Return the steps one equation at a time, what they reach, and the equations behind the unknown that they leave open, all of them
    and those that can determine all their quantities.
    """
    equalities = tuple(row for row in rows if row.sense == "=")
    legs = propagate(equalities, known, frozenset())
    reached = known.union(legs)
    system = [] if unknown in legs else _rows_behind(unknown, equalities, reached)
    return legs, reached, system, _determined_part(system, reached)


def _determined_part(system: list[Equation], reached: frozenset[str]) -> list[Equation]:
    """Return the equations that can determine all their quantities, by their number: the others have too many that are open.

    Each equation is assigned to one of its open quantities, as many as possible (a maximum matching). A quantity that is left over, and
    all that could take its place, is not determined (the decomposition of Dulmage and Mendelsohn).

    >>> from derive.catalogue import equation
    >>> rows = [equation("scheduling.fleet_chips"), equation("scheduling.fleet_throughput")]
    >>> known = frozenset(["fleet_chips", "chips", "pipeline_stages"])
    >>> [row.id for row in _determined_part(rows, known)], _determined_part(rows, known - {"chips"})
    (['scheduling.fleet_chips'], [])
    """
    open_in, giver = {row: {*row.symbols} - reached for row in system}, dict[str, Equation]()

    def assign(row: Equation, tried: set[str]) -> bool:
        for name in open_in[row] - tried:
            if name in tried:
                continue
            tried.add(name)
            if name not in giver or assign(giver[name], tried):
                giver[name] = row
                return True
        return False

    for row in system:
        assign(row, set())
    left = set[str]().union(*open_in.values()) - giver.keys()
    while new := {name for name, row in giver.items() if not left.isdisjoint(open_in[row])} - left:
        left |= new
    return [row for row in system if left.isdisjoint(open_in[row])]


def _solve_for(unknown: str, system: list[Equation], reached: frozenset[str]) -> Iterator[Composed]:
    """Yield the equations that are left of a system with one quantity alone, solved for it if it has a closed form.

    A variant that is only the default and a stand-in count if anything in them is known or asked for. Two of them alone would make every
    model dense.
    """
    usual = (row for row in system if row.stand_in or (row.variant and row.variant.default))
    left_out = {row for row in usual if (reached | {unknown}).isdisjoint(row.symbols)}
    needed = _drop_loose_ends(unknown, [row for row in system if row not in left_out], reached)
    for left in _eliminate(unknown, needed, reached) if len(needed) <= _MOST_EQUATIONS else ():
        if solved := compose(left.closing, left.steps, unknown):
            yield solved


def _rows_behind(unknown: str, rows: tuple[Equation, ...], reached: frozenset[str]) -> list[Equation]:
    """Return the definition of the unknown, the equations of given results, and all definitions on which these rest."""
    made = definitions_of(rows, reached)
    wanted = [row for row in rows if row.symbols[0] in {*reached, unknown} or row.kind not in CHAINED_BY_ITSELF]
    open_ = (row for row in wanted if not reached.issuperset(row.symbols))
    return [*list_reached(open_, lambda row: (made[name] for name in row.symbols if name in made), last_first=True)]


def _drop_loose_ends(unknown: str, system: Sequence[_Row], reached: frozenset[str]) -> list[_Row]:
    """Return the equations without those that only say what a quantity is that is in no other one."""
    counts = Counter(chain.from_iterable({*row.symbols} - reached - {unknown} for row in system))
    once = {name for name, count in counts.items() if count == 1}
    kept = [row for row in system if once.isdisjoint(row.symbols)]
    return kept if len(kept) == len(system) else _drop_loose_ends(unknown, kept, reached)


def _eliminate(unknown: str, system: Sequence[Equation | Composed], reached: frozenset[str]) -> Iterator[Composed]:
    """Yield the equations in which the unknown alone is left, as quantities are eliminated one after another."""
    while system := _drop_loose_ends(unknown, system, reached):
        free = [{*row.symbols} - reached - {unknown} for row in system]
        counts = Counter(chain.from_iterable(free))
        order = sorted((counts[name], len(names), name, place) for place, names in enumerate(free) for name in names)
        pivot = next((step for *_, name, place in order if formula_of(step := Step(system[place], name)) not in (None, 0)), None)
        if pivot is None:
            return
        put = (compose(row, (pivot,)) if pivot.unknown in row.symbols else row for row in system if row is not pivot.row)
        system = []
        for row in put:
            if isinstance(row, Composed) and unknown in row.symbols and reached.issuperset({*row.symbols} - {unknown}):
                yield row
            elif row is not None:
                system.append(row)
