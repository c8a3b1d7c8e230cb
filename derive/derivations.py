"""Derivations: the premises and the conclusion of each step of an equation, as SymPy relations.

These functions prove no step. `tests/derive/test_derivations.py` does, exactly within each regime and at random points.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from derive.catalogue import by_id, equation
from derive.errors import UnknownName
from derive.quantities import QUANTITIES, symbol
from derive.records import DEFINITION, Equation, Premise, in_sympy, symbol_or_number
from derive.written import argument_names

if TYPE_CHECKING:
    from sympy import Expr, Symbol

    Sides = tuple[Expr, Expr]


def conclusion(row: Equation, number: int) -> "Sides":
    """Return the conclusion of step `number` (from 1). The conclusion of the last step is the equation."""
    if not 1 <= number <= len(row.steps):
        raise UnknownName("step", f"{row.id}#{number}", [f"{row.id}#{n + 1}" for n in range(len(row.steps))])
    relation = row.steps[number - 1].relation
    return row.sides if relation is None else in_sympy(relation)


def assumed(row: Equation, number: int, slopes: bool = True) -> "tuple[Sides, ...]":
    """Return the relations that step `number` starts from, each at its point.

    For a stationary step these are the slopes that are zero, or without `slopes` the relation that has these slopes.
    """
    from sympy import Integer, diff

    step = row.steps[number - 1]
    found = tuple(_premise_sides(row, premise) for premise in step.premises)
    if not step.stationary or not slopes:
        return found
    ((_, right),) = found
    return tuple((Integer(0), diff(right, symbol(name))) for name in step.stationary)


def point(premise: Premise) -> "dict[Symbol, Any]":
    """Return what a premise replaces, in SymPy."""
    return {symbol(name): _expression(value) for name, value in premise.point.items()}


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


def _premise_sides(row: Equation, premise: Premise) -> "Sides":
    source, number = owner(row, premise)
    left, right = conclusion(source, number) if number else source.sides
    replaced = point(premise)
    return left.subs(replaced, simultaneous=True), right.subs(replaced, simultaneous=True)


def _expression(value: str | int | Callable[..., Any]) -> Any:
    from sympy import Integer

    if isinstance(value, str):
        return symbol(value)
    if isinstance(value, int):
        return Integer(value)
    return value(*(symbol_or_number(name) for name in argument_names(value)))
