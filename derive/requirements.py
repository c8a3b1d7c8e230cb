"""Compare the requirements of an equation with numbers, to the precision of an answer."""

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


@immutable
class Requirement:
    """A condition for using an equation: a comparison of the quantities that its parameters name, and the meaning of a violation."""

    holds: Callable[..., Any]
    otherwise: str = ""


@cache
def named(requirement: Requirement) -> tuple[str, ...]:
    """Return the quantities of the comparison."""
    return argument_names(requirement.holds)


def compared(requirement: Requirement, values: Mapping[str, Any]) -> Any:
    """Return the comparison at values of all its quantities: numbers, arrays or symbols."""
    return requirement.holds(*[values[name] for name in named(requirement)])


def as_relation(requirement: Requirement) -> Any:
    """Return the comparison as a SymPy relation, or true or false if it does not depend on the quantities."""
    return compared(requirement, {name: symbol(name) for name in named(requirement)})


def met(requirement: Requirement, values: Mapping[str, Any]) -> bool:
    """Return whether a requirement is met. If its bound itself is allowed, a value a billionth beyond the bound is allowed too.

    >>> at_least, above = Requirement(holds=lambda batch: batch >= 1), Requirement(holds=lambda batch: batch > 1)
    >>> met(at_least, {"batch": 1 - 1e-12}), met(above, {"batch": 1.0})
    (True, False)
    """
    try:
        return bool(compared(requirement, values)) or at_its_bound(requirement, values)
    except (TypeError, OverflowError):
        # A power of a negative number may be complex and cannot be compared.
        return False


def at_its_bound(requirement: Requirement, values: Mapping[str, float]) -> bool:
    """Return whether its two sides may be equal, and are equal up to rounding."""
    sides = bounding_sides(requirement)
    return sides is not None and isclose(*(evaluate(side, values) for side in sides), rel_tol=HOLDS)


@cache
def bounding_sides(requirement: Requirement) -> tuple[Tree, Tree] | None:
    """Return its two sides if they may be equal, or None if they may not, or if it is always true or always false."""
    relation = tree_of_function(requirement.holds)
    return relation[1:] if isinstance(relation, tuple) and relation[0] in (AT_LEAST, AT_MOST) else None


@cache
def in_words_of_names(requirement: Requirement, simplify: bool = False) -> str:
    """Return the comparison with the names of its quantities: as written, or without factors that are 1 by default.

    >>> in_words_of_names(Requirement(holds=lambda batch, chips: batch >= 2 * chips))
    'batch >= 2*chips'
    """
    relation = tree_of_function(requirement.holds)
    if not isinstance(relation, tuple):
        return str(relation)
    sign, *sides = relation
    if simplify:
        from derive.expressions.in_order import sort_terms

        sides = [*map(sort_terms, sides)]
    return f" {sign} ".join(map(text, sides))
