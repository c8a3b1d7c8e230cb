"""Lists, sweeps and named equations that have no part in the answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from derive.catalogue import equation
from derive.errors import WrongValue
from derive.records import Equation
from derive.solving.explain.assumptions import NOT_NEEDED
from derive.solving.question.givens import is_limit
from derive.solving.result import Solution


def refuse_without_part(solutions: Sequence[Solution], using: Iterable[str], given: Mapping[str, Any]) -> None:
    """Raise WrongValue for a list, a sweep or a named equation that has no part in any of the answers."""
    _refuse_idle_lists(solutions)
    _refuse_idle_equations(solutions, using, given)


def _refuse_idle_lists(solutions: Sequence[Solution]) -> None:
    """Raise WrongValue for a list or sweep that has no part in any of the answers."""
    sweeps = [one.sweep for one in solutions if one.sweep]
    if len(sweeps) < len(solutions) or any(reason for sweep in sweeps for _, reason in sweep.others.values()):
        return
    for name in sweeps[0].given:
        if all(name in one.unused for one in solutions):
            unknowns = [one.unknown for one in solutions]
            raise WrongValue(f"{name} runs over several values, and has no part in {' or '.join(unknowns)}: leave it out")


def _refuse_idle_equations(solutions: Sequence[Solution], using: Iterable[str], given: Mapping[str, Any]) -> None:
    """Raise WrongValue for an equation that was named and has no part in any of the answers.

    An equation of a variant has a part if another one of the variant has, and in limits that may be met without it.
    """
    answered = [one for one in solutions if one.answers or one.sweep]
    limited = any(map(is_limit, given.values()))
    for row in map(equation, using) if answered else ():
        idle = all(f"{row.id}{NOT_NEEDED}" in one.assumptions and not _takes_part(row, one) for one in answered)
        if idle and not (limited and row.variant):
            unknowns = " or ".join(one.unknown for one in answered)
            raise WrongValue(f"{row.id} is not part of {unknowns}: it is about {', '.join(row.symbols)}; leave --using {row.id} out")


def _takes_part(row: Equation, solution: Solution) -> bool:
    used = [equation(reference) for reference in solution.equations]
    variants = [other.variant for other in used if other.variant]
    return row in used or (row.variant is not None and row.variant in variants)
