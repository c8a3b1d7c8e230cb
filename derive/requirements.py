"""What an equation requires, held against numbers: met as nearly as an answer is to its value."""

from collections.abc import Callable, Mapping
from functools import cache
from math import isclose
from typing import Any

from derive.evaluate import evaluate
from derive.immutable import immutable
from derive.quantities import symbol
from derive.trees import Tree, text
from derive.written import AT_LEAST, AT_MOST, argument_names, tree_of_function

HOLDS = 1e-9
"""Relative difference up to which two sides count as equal."""


@immutable(declared=True)
class Requirement:
    """Where an equation may be used: a comparison of quantities, its parameters their names, and in words what is the matter else."""

    holds: Callable[..., Any]
    otherwise: str = ""


@cache
def named(requirement: Requirement) -> tuple[str, ...]:
    """The quantities it speaks of."""
    return argument_names(requirement.holds)


def compared(requirement: Requirement, values: Mapping[str, Any]) -> Any:
    """The comparison at values of all its quantities: numbers, arrays or symbols.

    >>> compared(Requirement(holds=lambda batch, chips: batch >= chips), {"batch": 256, "chips": 8})
    True
    """
    return requirement.holds(*[values[name] for name in named(requirement)])


def as_relation(requirement: Requirement) -> Any:
    """The comparison as SymPy has it; of one that is true or false of anything, just that."""
    return compared(requirement, {name: symbol(name) for name in named(requirement)})


def met(requirement: Requirement, values: Mapping[str, Any]) -> bool:
    """Whether it is met. One that its own bound meets is also met a billionth beyond it.

    >>> at_least, above = Requirement(holds=lambda batch: batch >= 1), Requirement(holds=lambda batch: batch > 1)
    >>> met(at_least, {"batch": 1 - 1e-12}), met(above, {"batch": 1.0})
    (True, False)
    """
    try:
        return bool(compared(requirement, values)) or at_its_bound(requirement, values)
    except (TypeError, OverflowError):
        # A power of what is below zero is no number that could be compared.
        return False


def at_its_bound(requirement: Requirement, values: Mapping[str, float]) -> bool:
    """Whether its two sides may be equal, and are but for rounding."""
    sides = bounding_sides(requirement) if _within_reach(requirement, values) else None
    return sides is not None and isclose(*(evaluate(side, values) for side in sides), rel_tol=HOLDS)


def _within_reach(requirement: Requirement, values: Mapping[str, float]) -> bool:
    """Whether it is met where one of its quantities is a billionth more or less: without SymPy, as this is asked of many values."""
    beside = ({**values, name: values[name] * (1 + step)} for name in named(requirement) for step in (2 * HOLDS, -2 * HOLDS))
    return any(compared(requirement, at) for at in beside)


@cache
def bounding_sides(requirement: Requirement) -> tuple[Tree, Tree] | None:
    """Its two sides, where they may be equal, or None where they may not, or where it is true or false of anything."""
    relation = tree_of_function(requirement.holds)
    return relation[1:] if isinstance(relation, tuple) and relation[0] in (AT_LEAST, AT_MOST) else None


@cache
def in_words_of_names(requirement: Requirement) -> str:
    """The comparison as it is written, in the names of its quantities.

    >>> in_words_of_names(Requirement(holds=lambda batch, chips: batch >= 2 * chips))
    'batch >= 2*chips'
    """
    relation = tree_of_function(requirement.holds)
    return f"{text(relation[1])} {relation[0]} {text(relation[2])}" if isinstance(relation, tuple) else str(relation)
