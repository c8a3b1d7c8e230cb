"""Quantities that several equations give together: by elimination, or by a trial value of one of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache

from derive.records import CHAINED_BY_ITSELF, Equation
from derive.solving.engine.composed import Composed
from derive.solving.engine.plan import Failed, Leg, Loop, Step, Way, definitions_of, definitions_to, find_plain_way, needed_legs, propagate
from derive.solving.engine.substitution import compose, formula_of

_MOST_EQUATIONS = 24
"""The largest system that is eliminated. A larger one would take seconds."""

_Row = Equation | Composed


def find_eliminated(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> Iterator[Way]:
    """Yield ways by one equation that is left when all undetermined quantities are eliminated from others."""
    legs, reached, system = _open_system(unknown, rows, known)
    for solved in _solve_for(unknown, system, reached):
        yield Way(needed_legs([unknown], {**legs, unknown: Step(solved, unknown)}))


def find_loops(
    unknown: str, rows: tuple[Equation, ...], known: frozenset[str], failed: Failed = frozenset(), alone: bool = False
) -> Iterator[Way]:
    """Yield ways by a trial value of one quantity, which leads to the unknown and to both sides of an equation.

    The unknown itself is tried first, and nothing else if it is to be tried `alone`.
    """
    legs, reached, system = _open_system(unknown, rows, known)
    system = _determined_part(system, reached)
    needed = tuple(row for row in _drop_loose_ends(unknown, system, reached) if isinstance(row, Equation))
    defined = {name for name, leg in legs.items() if leg.rows[-1].symbols[0] == name}
    # A second definition of what is worked out already says nothing new.
    closings = sorted((row for row in needed if row.defines not in defined), key=lambda row: row.symbols[0] not in known)
    others = () if alone else (name for row in needed for name in row.symbols if name not in reached)
    for tried in dict.fromkeys((unknown, *others)):
        start = reached | {tried}
        made, inner = definitions_of(needed, start), propagate(needed, start, frozenset())
        after = definitions_to([unknown], made, start, inner)
        loops = _close_loops(tried, closings, made, inner, start, reached - defined) if after is not None else ()
        yield from (Way(needed_legs([unknown], {**legs, tried: loop, **(after or {})})) for loop in loops if (loop.id, tried) not in failed)


def _close_loops(
    tried: str, closings: list[Equation], made: Mapping[str, Equation], inner: Mapping[str, Leg], start: Set[str], claimed: Set[str]
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
    legs, reached, system = _open_system(unknown, rows, known)
    system = _determined_part(system, reached)
    for other in dict.fromkeys(name for row in system for name in row.symbols if name not in reached and name != unknown):
        for solved in _solve_for(other, system, reached):
            before = needed_legs([other], {**legs, other: Step(solved, other)})
            plain = find_plain_way(unknown, rows, known | {other})
            for way in (plain,) if plain else find_loops(unknown, rows, known | {other}):
                yield Way((*before, *(leg for leg in way.legs if leg not in before)))


def _open_system(unknown: str, rows: tuple[Equation, ...], known: frozenset[str]) -> tuple[Mapping[str, Leg], frozenset[str], list[_Row]]:
    """Return the steps one equation at a time, what they reach, and the equations behind the unknown that they leave open."""
    equalities = tuple(row for row in rows if row.sense == "=")
    legs = propagate(equalities, known, frozenset())
    reached = known.union(legs)
    used = {leg.rows[-1] for leg in legs.values()}
    behind = [] if unknown in legs else [row for row in _rows_behind(unknown, equalities, reached) if row not in used]
    return legs, reached, behind


def _determined_part(system: list[_Row], reached: frozenset[str]) -> list[_Row]:
    """Return the equations that can determine all their quantities, by their number: the others have too many that are open.

    Each equation is assigned to one of its open quantities, as many as possible (a maximum matching). A quantity that is left over, and
    all that could take its place, is not determined (the decomposition of Dulmage and Mendelsohn).

    >>> from derive.catalogue import equation
    >>> rows = [equation("scheduling.fleet_chips"), equation("scheduling.fleet_throughput")]
    >>> known = frozenset(["fleet_chips", "chips", "pipeline_stages"])
    >>> [row.id for row in _determined_part(rows, known)], _determined_part(rows, known - {"chips"})
    (['scheduling.fleet_chips'], [])
    """
    open_in, giver = {row: {*row.symbols} - reached for row in system}, dict[str, _Row]()

    def assign(row: _Row, tried: set[str]) -> bool:
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


def _solve_for(unknown: str, system: list[_Row], reached: frozenset[str]) -> Iterator[Composed]:
    """Yield the equations that are left of a system with one quantity alone, solved for it if it has a closed form.

    A variant that is only the default and a stand-in count if anything in them is known or asked for. Two of them alone would make every
    model dense.
    """
    system = [row for row in system if not (_is_usual(row) and (reached | {unknown}).isdisjoint(row.symbols))]
    needed = _drop_loose_ends(unknown, system, reached)
    for left in _eliminate(unknown, needed, reached) if len(needed) <= _MOST_EQUATIONS else ():
        solved = compose(left.closing, left.steps, unknown) if left.closing else None
        if solved and len(solved.symbols) > 1:
            yield solved


def _is_usual(row: _Row) -> bool:
    return isinstance(row, Equation) and (row.stand_in or (row.variant is not None and row.variant.default))


def _rows_behind(unknown: str, rows: tuple[Equation, ...], reached: frozenset[str]) -> list[_Row]:
    """Return the definition of the unknown, the equations of given results, and all definitions on which these rest."""
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
