"""Lists, sweeps and named equations that have no part in the answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from derive.catalogue import equation
from derive.errors import WrongValue
from derive.solving.explain.assumptions import NOT_NEEDED
from derive.solving.question.givens import is_limit
from derive.solving.question.propagation import usual_definitions
from derive.solving.result import Solution

_NAMED = 2
"""How many quantities are named in which it has a part."""


def refuse_without_part(solutions: Sequence[Solution], using: Iterable[str], given: Mapping[str, Any]) -> None:
    """Raise WrongValue for a list, a sweep or a named equation that has no part in any of the answers."""
    _refuse_idle_lists(solutions, given)
    _refuse_idle_equations(solutions, using, given)


def _refuse_idle_lists(solutions: Sequence[Solution], given: Iterable[str]) -> None:
    """Raise WrongValue for a list or sweep that has no part in any of the answers."""
    sweeps = [one.sweep for one in solutions if one.sweep]
    if len(sweeps) < len(solutions) or any(reason for sweep in sweeps for _, reason in sweep.others.values()):
        return
    for name in sweeps[0].given:
        if all(name in one.unused for one in solutions):
            unknowns = [one.unknown for one in solutions]
            instead = results_of_both(name, unknowns, given)
            told = f"remove it, or ask for {' or '.join(instead)}, which depends on it" if instead else "remove it"
            raise WrongValue(f"{name} has several values, but {' or '.join(unknowns)} does not depend on it: {told}")


def _refuse_idle_equations(solutions: Sequence[Solution], using: Iterable[str], given: Mapping[str, Any]) -> None:
    """Raise WrongValue for an equation that was named and has no part in any of the answers.

    An equation of a variant has a part in limits, which may be met without it.
    """
    answered = [one for one in solutions if one.answers or one.sweep]
    limited = any(map(is_limit, given.values()))
    for row in map(equation, using) if answered else ():
        idle = all(f"{row.id}{NOT_NEEDED}" in one.assumptions and row.reference not in one.equations for one in answered)
        if idle and not (limited and row.variant):
            unknowns = " or ".join(one.unknown for one in answered)
            raise WrongValue(f"{row.id} is not part of {unknowns}: it is about {', '.join(row.symbols)}. Remove --using {row.id}")


def results_of_both(name: str, unknowns: Sequence[str], given: Iterable[str]) -> list[str]:
    """Return results of a quantity that are not given. Results that also depend on an unknown come first.

    >>> results_of_both("fleet_utilisation", ["cost_per_token"], [])
    ['fleet_cost_per_token']
    """
    rows = (row for row in usual_definitions() if name in row.symbols[1:] and row.symbols[0] not in (*given, *unknowns))
    made = {row.symbols[0]: row for row in rows}
    nearest = [result for result, row in made.items() if not {*unknowns}.isdisjoint(row.symbols)]
    return (nearest or [*made])[:_NAMED]
