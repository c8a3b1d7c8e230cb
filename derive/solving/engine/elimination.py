"""Eliminate undetermined quantities from equations, by putting the closed form of one equation into the others."""

from collections import Counter
from collections.abc import Iterator, Mapping

from derive.records import CHAINED_BY_ITSELF, Equation
from derive.solving.engine.composed import Composed
from derive.solving.engine.plan import Leg, Loop, Step, Way, definitions_of, find_plain_way, needed_legs, propagate
from derive.solving.engine.substitution import compose, formula_of

_MOST_EQUATIONS = 24
"""The largest system that is eliminated. A larger one would take seconds."""

_Row = Equation | Composed


def find_eliminated(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> Iterator[Way]:
    """Yield ways by one equation that is left when all undetermined quantities are eliminated from others."""
    legs, reached, system = _open_system(unknown, rows, known)
    for solved in _solve_for(unknown, system, reached):
        yield Way(needed_legs([unknown], {**legs, unknown: Step(solved, unknown)}))


def find_torn(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> Iterator[Way]:
    """Yield ways by a trial value of one quantity, from which one equation at a time leads to both sides of another one."""
    legs, reached, system = _open_system(unknown, rows, known)
    needed = tuple(row for row in _drop_loose_ends(unknown, system, reached) if isinstance(row, Equation))
    for tried in dict.fromkeys((unknown, *(name for row in needed for name in row.symbols if name not in reached))):
        inner = propagate(needed, reached | {tried}, frozenset())
        there = reached.union(inner, {tried})
        used = {leg.rows[-1] for leg in inner.values()}
        for closing in (row for row in needed if row not in used and there.issuperset({*row.symbols, unknown})):
            loop = Loop(closing, tried, needed_legs(closing.symbols, inner))
            yield Way(needed_legs([unknown], {**legs, tried: loop, **inner}))


def find_after_another(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> Iterator[Way]:
    """Yield ways by another quantity that elimination gives, and from there one equation at a time or by a trial value."""
    legs, reached, system = _open_system(unknown, rows, known)
    for other in dict.fromkeys(name for row in system for name in row.symbols if name not in reached and name != unknown):
        for solved in _solve_for(other, system, reached):
            before = needed_legs([other], {**legs, other: Step(solved, other)})
            plain = find_plain_way(unknown, rows, known | {other})
            for way in (plain,) if plain else find_torn(unknown, rows, known | {other}):
                yield Way((*before, *(leg for leg in way.legs if leg not in before)))


def _open_system(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> tuple[Mapping[str, Leg], frozenset[str], list[_Row]]:
    """Return the steps one equation at a time, what they reach, and the equations behind the unknown that they leave open."""
    equalities = tuple(row for row in rows if row.sense == "=")
    legs = propagate(equalities, known, frozenset())
    reached = known.union(legs)
    used = {leg.rows[-1] for leg in legs.values()}
    behind = [] if unknown in legs else [row for row in _rows_behind(unknown, equalities, reached) if row not in used]
    return legs, reached, behind


def _solve_for(unknown: str, system: list[_Row], reached: frozenset[str]) -> Iterator[Composed]:
    """Yield the equations that are left of a system with one quantity alone, solved for it if it has a closed form."""
    needed = _drop_loose_ends(unknown, system, reached)
    for left in _eliminate(unknown, needed, reached) if len(needed) <= _MOST_EQUATIONS else ():
        solved = compose(left.closing, left.steps, unknown) if left.closing else None
        if solved and len(solved.symbols) > 1:
            yield solved


def _rows_behind(unknown: str, rows: tuple[Equation, ...], reached: frozenset[str]) -> list[_Row]:
    """Return the definition of the unknown, the equations of given results, and all definitions on which these rest.

    A variant that is only the default counts if anything in it is known. Two such variants alone would make every model dense.
    """
    rows = tuple(row for row in rows if not (row.variant and row.variant.default and reached.isdisjoint(row.symbols)))
    made = definitions_of(rows, reached)
    wanted = [row for row in rows if row.symbols[0] in {*reached, unknown} or row.kind not in CHAINED_BY_ITSELF]
    found = dict.fromkeys(row for row in wanted if not reached.issuperset(row.symbols))
    queue = [*found]
    while queue:
        new = [made[name] for name in queue.pop().symbols if name in made and made[name] not in found]
        found |= dict.fromkeys(new)
        queue += new
    return [*found]


def _drop_loose_ends(unknown: str, system: list[_Row], reached: frozenset[str]) -> list[_Row]:
    """Return the equations without those that only say what a quantity is that is in no other one."""
    counts = Counter(name for row in system for name in {*row.symbols} - reached - {unknown})
    kept = [row for row in system if all(counts[name] != 1 for name in row.symbols)]
    return kept if len(kept) == len(system) else _drop_loose_ends(unknown, kept, reached)


def _eliminate(unknown: str, system: list[_Row], reached: frozenset[str]) -> Iterator[Composed]:
    """Yield the equations in which the unknown alone is left, as quantities are eliminated one after another."""
    while system := _drop_loose_ends(unknown, system, reached):
        free = [{*row.symbols} - reached - {unknown} for row in system]
        counts = Counter(name for names in free for name in names)
        order = sorted((counts[name], len(names), name, place) for place, names in enumerate(free) for name in names)
        pivot = next((step for *_, name, place in order if formula_of(step := Step(system[place], name)) is not None), None)
        if pivot is None:
            return
        put = (compose(row, (pivot,)) if pivot.unknown in row.symbols else row for row in system if row is not pivot.row)
        system = []
        for row in put:
            if isinstance(row, Composed) and unknown in row.symbols and reached.issuperset({*row.symbols} - {unknown}):
                yield row
            elif row is not None:
                system.append(row)
