"""An equation for readers and programs: its record, its example in one line, and its derivation in words, formulas and LaTeX.

A derivation is read here, not proved. `tests/derive/test_derivations.py` proves each step, exactly within each regime and at random points.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from derive.catalogue import by_id, equation, equations
from derive.errors import UnknownName
from derive.expressions.algebra import sort_terms
from derive.immutable import immutable
from derive.quantities import CONSTANTS, QUANTITIES, aliases, quantity
from derive.quantities.data_types import ROWS
from derive.quantities.formula import equation_in_latex, tree_in_latex
from derive.quantities.row import Quantity
from derive.records import DEFINITION, Equation, Premise, Requirement, tree_of_function, trees_of_relation
from derive.show.citation import FOR_DERIVATIONS, latex_text
from derive.show.layout import label_lines
from derive.trees import (
    FUNCTIONS,
    IN_ORDER,
    Operations,
    Tree,
    TreePair,
    Written,
    difference,
    names,
    put_into,
    slopes,
    text,
    tree_of_value,
    written,
)
from derive.units import parse

_OF_SOURCES = ("kind", "title", "author", "year", "url", "place", "said", "encoded")


def worked_example(row: Equation) -> str:
    """Return the example of an equation in one line, the givens and the result.

    >>> from derive.catalogue import equation
    >>> worked_example(equation("scheduling.sweep_time"))
    'hbm_capacity=288 GB, hbm_bandwidth=20 TB/s -> sweep_time = 14.4 ms'
    """
    given = ", ".join(f"{name}={text}" for name, text in row.example.items())
    return f"{given} -> {row.symbols[0]} {row.sense} {row.result}"


def quantity_lines(name: str) -> list[str]:
    """Return a quantity with its allowed values, its other names and its equations."""
    row = quantity(name)
    also = {"Called": ", ".join(aliases(row.name)), "Unlike": row.unlike}
    return [
        f"{row.name}   {row.symbol}   [{row.unit}]   {row.meaning}",
        f"Allowed      {row.domain}; {row.low:g} to {row.high:g} in practice",
        *(f"{head:<13}{text}" for head, text in also.items() if text),
        *label_lines("In", [f"{one.id}   {one.title}" for one in equations(symbol=row.name)]),
    ]


def data_type_lines(name: str) -> list[str]:
    """Return the bytes of an element in a data type, and the type of its arithmetic. Return an empty list for any other name."""
    row = ROWS.get(name.strip().lower())
    computed = f", computed in {row.computed_in}" if row and row.computed_in else ""
    return [f"{name}: a data type with {row.size:g} B per element{computed}, for dtype={name} or kv_dtype={name}"] if row else []


def entry_as_json(row: Equation) -> str:
    """Return `entry_as_record` as strict JSON."""
    return json.dumps(entry_as_record(row), indent=2, allow_nan=False)


def list_as_json(
    equations: Iterable[Equation] | None = None,
    quantities: Iterable[Quantity] | None = None,
    hardware: Sequence[Mapping[str, Any]] | None = None,
    models: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """Return the strict JSON of `list --as json`, in SI, always with the same keys. A kind that was not requested is null."""
    names = ("name", "symbol", "unit", "meaning")
    of_equation = {"id": "id", "version": "version", "kind": "described", "title": "title", "defines": "defines"}
    kinds = {
        "equations": None if equations is None else [{key: getattr(row, name) for key, name in of_equation.items()} for row in equations],
        "quantities": None if quantities is None else [{name: getattr(row, name) for name in names} for row in quantities],
        "hardware": hardware,
        "models": models,
    }
    return json.dumps(kinds, indent=2, allow_nan=False)


def entry_as_record(row: Equation) -> dict[str, Any]:
    """Return the record that `show --as json` prints. A field without content is null or an empty list."""
    left, right = map(text, row.trees)
    names = ("name", "symbol", "latex", "unit", "meaning")
    return {
        "id": row.id,
        "version": row.version,
        "title": row.title,
        "kind": row.described,
        "statement": row.statement,
        "defines": row.defines,
        "variant": {name: getattr(row.variant, name) for name in ("group", "name", "default")} if row.variant else None,
        "equation": f"{left} {row.sense} {right}",
        "latex": row.latex,
        "quantities": [{name: getattr(QUANTITIES[one], name) for name in names} for one in row.symbols],
        "constants": [asdict(CONSTANTS[name]) for name in row.parameters if name in CONSTANTS],
        "requires": [*map(Requirement.text, row.requires)],
        "assumptions": list(row.assumptions),
        "example": _example(row),
        "derivation": [_step(row, number) for number in range(1, len(row.steps) + 1)],
        "follows_from": list(parents(row)),
        "leads_to": list(referenced_by(row.id)),
        "sources": [{name: getattr(source, name) for name in _OF_SOURCES} for source in row.sources],
        "changes": list(row.changes),
    }


def _example(row: Equation) -> dict[str, Any]:
    """Return the example as typed and in SI. The value of the left side is not rounded in SI."""
    given = {name: parse(name, text) for name, text in row.example.items()}
    values = {**given, row.symbols[0]: float(row.right_side(given))}
    return {"given": dict(row.example), "result": row.result, "values": values}


def _step(row: Equation, number: int) -> dict[str, Any]:
    """Return the record of one step: its operation, its premises and its conclusion."""
    step = row.steps[number - 1]
    left, right = map(text, conclusion(row, number))
    return {
        "operation": step.operation,
        "premises": [premise.id for premise in step.premises],
        "eliminated": list(step.eliminated),
        "stationary": list(step.stationary),
        "conclusion": f"{left} {row.sense if number == len(row.steps) else '='} {right}",
    }


def card(row: Equation) -> str:
    """Return an equation as `backsolve show` prints it: formula, quantities, derivation, equations that follow from it, and sources."""
    left, right = map(text, row.trees)
    lines = [f"{row.reference}   {row.title}   ({row.described})", "", f"    {left} {row.sense} {right}", "", row.statement, ""]
    width = max(len(name) for name in row.symbols)
    for name in row.symbols:
        quantity = QUANTITIES[name]
        lines.append(f"  {name:<{width}}  {quantity.symbol:<10} [{quantity.unit}]  {quantity.meaning}")
    lines.append("")
    if row.variant:
        names = " and ".join((row.variant.name, *row.variant.holds_for))
        lines.append(f"Variant      {names} of {row.variant.group}{' (default)' if row.variant.default else ''}")
    lines += label_lines("Example", [worked_example(row)])
    lines += label_lines("Requires", [*map(Requirement.text, row.requires)])
    lines += label_lines("Assumed", list(row.assumptions))
    if row.steps:
        lines += ["", "Derivation", *derivation_lines(row), ""]
    lines += label_lines("Changed", [f"version {at}: {said}" for at, said in enumerate(row.changes, 2)])
    lines += label_lines("Leads to", list(referenced_by(row.id)))
    for source in row.sources:
        lines.append(f"Source       {source.author}: {source.title}, {source.place}. {source.said}")
        lines += [f"             here: {source.encoded}"] if source.encoded else []
        lines += [f"             {source.address}"] if source.address else []
    return "\n".join(lines)


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


@immutable
class NarratedPremise:
    """A premise of a step: a relation, its owner (an equation, and the number of a step or 0), and the point at which it is evaluated."""

    sides: TreePair
    owner: tuple[Equation, int]
    origin: str
    where: str


@immutable
class NarratedStep:
    """One step of a derivation: its operation, its premises, the quantities that disappear, and its conclusion."""

    operation: str
    premises: tuple[NarratedPremise, ...]
    change: str
    sides: TreePair
    sense: str


def derivation_lines(row: Equation) -> list[str]:
    """Return the lines of a derivation for the terminal, and none for an equation without a derivation.

    >>> from derive.catalogue import equation
    >>> print("\\n".join(derivation_lines(equation("training.equal_cost_rl"))))
    1. Equal FLOPs.
           rl_flops = 6*active_params*pretrain_tokens
               training.pretrain_cost, with rl_flops for pretrain_flops
           rl_flops = active_params*rl_multiplier*rl_tokens/decode_efficiency
               training.rl_cost
       rl_flops eliminated; active_params cancels:
           pretrain_tokens = rl_multiplier*rl_tokens/(6*decode_efficiency)
    """
    lines = []
    for number, step in enumerate(narrated_steps(row), 1):
        lines.append(f"{number}. {step.operation}")
        for premise in step.premises:
            left, right = map(text, premise.sides)
            lines += [f"       {left} = {right}", f"           {premise.origin}{premise.where}"]
        left, right = map(text, step.sides)
        lines += [f"   {step.change}:"] if step.change else []
        lines.append(f"       {left} {step.sense} {right}")
    return lines


def narrated_steps(row: Equation, latex: bool = False) -> Iterator[NarratedStep]:
    """Yield the steps of a derivation, in words and formulas. With `latex` quantities in the words are symbols."""

    def printed(part: Tree) -> str:
        return f"${tree_in_latex(part)}$" if latex else text(part)

    for number, step in enumerate(row.steps, 1):
        yield NarratedStep(
            operation=step.operation[0].upper() + step.operation[1:] + ".",
            premises=tuple(
                NarratedPremise(
                    sides=sides_at_point(row, premise),
                    owner=owner(row, premise),
                    origin=_origin(row, premise),
                    where=", with " * bool(premise.point)
                    + ", ".join(f"{printed(value)} for {printed(name)}" for name, value in point(premise).items()),
                )
                for premise in step.premises
            ),
            change=_change(row, number, latex),
            sides=conclusion(row, number),
            sense=row.sense if number == len(row.steps) else "=",
        )


def derivation_in_latex(row: Equation) -> str:
    """Return the equation and its derivation as LaTeX, with an item for each step, and with kind and versions as comments."""
    lines = [FOR_DERIVATIONS, f"% {row.reference}, {row.described}", *(f"% version {at}: {said}" for at, said in enumerate(row.changes, 2))]
    lines += [r"\begin{equation*}", row.latex, r"\end{equation*}", *([r"\begin{enumerate}"] if row.steps else [])]
    for step in narrated_steps(row, latex=True):
        lines.append(rf"  \item {latex_text(step.operation)}")
        lines += [rf"    \[ {_in_latex(one.sides)} \qquad \text{{{latex_text(one.origin)}{one.where}}} \]" for one in step.premises]
        lines += [f"    {step.change}:"] if step.change else []
        lines.append(rf"    \[ {_in_latex(step.sides, step.sense)} \]")
    return "\n".join([*lines, *([r"\end{enumerate}"] if row.steps else [])])


def _origin(row: Equation, premise: Premise) -> str:
    source, number = owner(row, premise)
    if source is row:
        return f"step {number}"
    return f"step {number} of {source.id}" if number else source.id


def _change(row: Equation, number: int, latex: bool) -> str:
    """Return what a step does with its premises: slopes set to zero, quantities eliminated, quantities that cancel."""
    step = row.steps[number - 1]
    concluded = names(sort_terms(difference(*conclusion(row, number))))
    cancelled = sorted(names_before(row, number) - concluded - {*step.eliminated, *step.stationary})

    def listed(which: "tuple[str, ...] | list[str]") -> str:
        shown = [f"${QUANTITIES[name].latex}$" if latex else name for name in which]
        return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)

    parts = [f"no slope in {listed(step.stationary)}"] if step.stationary else []
    parts += [f"{listed(step.eliminated)} eliminated"] if step.eliminated else []
    parts += [f"{listed(cancelled)} cancel{'s' if len(cancelled) == 1 else ''}"] if cancelled else []
    return "; ".join(parts)


def _in_latex(sides: TreePair, sense: str = "=") -> str:
    left, right = sides
    return equation_in_latex(left, sense, right)
