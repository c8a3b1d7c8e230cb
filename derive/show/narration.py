"""Print a derivation in words: the premises of each step, the quantities it eliminates, and its conclusion."""

from collections.abc import Iterator

from derive.derivations import conclusion, names_before, owner, point, sides_at_point
from derive.expressions.algebra import sort_terms
from derive.immutable import immutable
from derive.quantities import QUANTITIES
from derive.quantities.formula import equation_in_latex, tree_in_latex
from derive.records import Equation, Premise
from derive.show.citation import FOR_DERIVATIONS, latex_text
from derive.trees import Tree, TreePair, difference, names, text


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
    lines += [r"\begin{equation*}", row.latex, r"\end{equation*}"]
    for step in narrated_steps(row, latex=True):
        lines.append(rf"  \item {latex_text(step.operation)}")
        lines += [rf"    \[ {_in_latex(one.sides)} \qquad \text{{{latex_text(one.origin)}{one.where}}} \]" for one in step.premises]
        lines += [f"    {step.change}:"] if step.change else []
        lines.append(rf"    \[ {_in_latex(step.sides, step.sense)} \]")
    if row.steps:
        lines.insert(lines.index(r"\end{equation*}") + 1, r"\begin{enumerate}")
        lines.append(r"\end{enumerate}")
    return "\n".join(lines)


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
