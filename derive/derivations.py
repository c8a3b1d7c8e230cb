"""Derivations: the premises and the conclusion of each step of an equation, as trees.

These functions prove no step. `tests/derive/test_derivations.py` does, exactly within each regime and at random points.
"""

from collections.abc import Mapping
from functools import partial

from derive.catalogue import by_id, equation
from derive.errors import UnknownName
from derive.expressions.algebra import sort_terms
from derive.quantities import QUANTITIES, quantity
from derive.records import DEFINITION, Equation, Premise, tree_of_function, trees_of_relation
from derive.trees import FUNCTIONS, IN_ORDER, Operations, Tree, TreePair, Written, names, put_into, slopes, tree_of_value, written

_WRITTEN: Operations = {**IN_ORDER, **{name: partial(written, name) for name in FUNCTIONS}}
"""Operations on names in place of numbers."""


def conclusion(row: Equation, number: int) -> TreePair:
    """Return the conclusion of step `number` (from 1). The conclusion of the last step is the equation."""
    if not 1 <= number <= len(row.steps):
        raise UnknownName("step", f"{row.id}#{number}", [f"{row.id}#{n + 1}" for n in range(len(row.steps))])
    relation = row.steps[number - 1].relation
    return row.trees if relation is None else trees_of_relation(relation)


def sides_at_point(row: Equation, premise: Premise) -> TreePair:
    """Return the relation of a premise at its point."""
    source, number = owner(row, premise)
    left, right = conclusion(source, number) if number else source.trees
    replaced = point(premise)
    return sort_terms(put_into(left, replaced)), sort_terms(put_into(right, replaced))


def names_before(row: Equation, number: int) -> frozenset[str]:
    """Return the quantities in the premises of a step, or in the slopes that are zero in a stationary step."""
    step = row.steps[number - 1]
    sides = [sides_at_point(row, premise) for premise in step.premises]
    if not step.stationary:
        return frozenset().union(*(names(side) for pair in sides for side in pair))
    ((_, right),) = sides
    _, found = slopes(right, {name: Written(name) for name in names(right)}, _WRITTEN, frozenset(step.stationary))
    return frozenset().union(*(names(sort_terms(tree_of_value(slope))) for slope in found.values()))


def point(premise: Premise) -> Mapping[str, Tree]:
    """Return the replacements of a premise, by the name of the replaced quantity."""
    return {quantity(name).name: sort_terms(tree_of_function(value)) if callable(value) else value for name, value in premise.point.items()}


def owner(row: Equation, premise: Premise) -> tuple[Equation, int]:
    """Return the equation of a premise, and the number of the step of its derivation, or 0 for the equation."""
    id, _, number = premise.id.partition("#")
    return (equation(id) if id else row), int(number or 0)


def parents(row: Equation) -> tuple[str, ...]:
    """Return the ids of the equations that a derivation starts from, each once, in order."""
    found = (owner(row, premise)[0].id for step in row.steps for premise in step.premises)
    return tuple(dict.fromkeys(id for id in found if id != row.id))


def referenced_by(id: str) -> tuple[str, ...]:
    """Return the ids of the equations with derivations that start from this one."""
    return tuple(row.id for row in by_id().values() if id in parents(row))


def reason_not_derived(row: Equation) -> str:
    """Return why an equation has no derivation: it is the meaning of a word, a claim, or an idealisation.

    >>> from derive.catalogue import equation
    >>> reason_not_derived(equation("batching.sparsity"))
    'says what sparsity is: total parameters over active parameters'
    """
    if row.kind == DEFINITION:
        return f"says what {row.symbols[0]} is: {QUANTITIES[row.symbols[0]].meaning}"
    return f"{'an' if row.described[0] in 'aeiou' else 'a'} {row.described}. It assumes: {'; '.join(row.assumptions)}"
