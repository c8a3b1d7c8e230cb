"""Lists and sweeps that have no part in what is asked for: all answers would be the same, and a picture of them a flat line."""

from collections.abc import Iterable, Sequence

from derive.catalogue import by_id
from derive.errors import WrongValue
from derive.quantities import quantity
from derive.records import CHAINED_BY_ITSELF
from derive.solving.result import Solution

_NAMED = 2
"""How many quantities are named in which it has a part."""


def refuse_without_part(solutions: Sequence[Solution], given: Iterable[str]) -> None:
    """Refuses what runs over several values and has no part in any of the answers."""
    sweeps = [one.sweep for one in solutions if one.sweep]
    if len(sweeps) < len(solutions) or any(reason for sweep in sweeps for _, reason in sweep.others.values()):
        return
    for name in sweeps[0].given:
        if all(name in one.unused for one in solutions):
            unknowns = [one.unknown for one in solutions]
            instead = made_of_both(name, unknowns, {quantity(spelled).name for spelled in given})
            told = f"leave it out, or ask for {' or '.join(instead)}, in which it has a part" if instead else "leave it out"
            raise WrongValue(f"{name} runs over several values, and has no part in {' or '.join(unknowns)}: {told}")


def made_of_both(name: str, unknowns: Sequence[str], given: Iterable[str]) -> list[str]:
    """What is made of a quantity and is not given, before all else what is made of one of the unknowns too.

    >>> made_of_both("fleet_utilisation", ["cost_per_token"], [])
    ['fleet_cost_per_token']
    """
    rows = [row for row in by_id().values() if row.kind in CHAINED_BY_ITSELF and not (row.variant and not row.variant.default)]
    made = {row.defines: row for row in rows if row.defines and name in row.symbols[1:] and row.defines not in (*given, *unknowns)}
    nearest = [result for result, row in made.items() if not {*unknowns}.isdisjoint(row.symbols)]
    return (nearest or [*made])[:_NAMED]
