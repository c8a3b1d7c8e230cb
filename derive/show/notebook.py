"""Print a solution for a notebook: rendered mathematics, then a table of all numbers."""

from collections.abc import Iterator
from itertools import islice

from derive.answers import Answer, Result
from derive.catalogue import equation
from derive.quantities import QUANTITIES
from derive.show.binding import plain_regime
from derive.show.citation import citation_record, latex_text
from derive.show.parts import decode_alone_words
from derive.show.tables import span_lines, sweep_cells, sweep_head
from derive.show.typeset import AS_LATEX
from derive.show.values import answer_lines
from derive.units import show

_MOST_ROWS = 40
"""Largest number of rows of a sweep that are shown. `sweep` has all of them."""


def notebook_markdown(solution: Result) -> str:
    """Return a solution as Markdown with LaTeX."""
    if not solution.answers and not solution.sweep:
        return f"**{solution.unknown}: no answer.** {_plain(solution.why_not)}"
    together = (f"together: `{step.unknown} = {step.formula}`" for step in solution.route if len(step.equations) > 1 and step.formula)
    said = [*(f"⚠ {_plain(text)}" for text in solution.warnings), *_unused_givens(solution)]
    parts = [*_head(solution), *said, _mathematics(solution), *together, _numbers(solution)]
    parts += ["\n".join(f"- {_plain(text)}" for text in solution.assumptions)]
    return "\n\n".join(part for part in parts if part)


def _head(solution: Result) -> Iterator[str]:
    if solution.sweep:
        rows = list(islice(sweep_cells(solution.unknown, solution.sweep), _MOST_ROWS))
        yield _table(sweep_head(solution.unknown, solution.sweep), rows)
        if len(solution.sweep) > _MOST_ROWS:
            yield f"the first {_MOST_ROWS} of {len(solution.sweep):,} points"
    elif solution.spans:
        first, *rest = span_lines(solution.unknown, solution.spans, solution.answers[0].bound)
        yield from (f"**{_plain(first)}**", *map(_plain, rest))
    else:
        yield from (_answer(solution.unknown, answer, decode_alone_words(solution)) for answer in solution.answers)


def _answer(unknown: str, answer: Answer, after: str) -> str:
    """Return one answer, a number in words or a formula as mathematics."""
    if answer.kind != "symbolic":
        return f"**{_plain(answer_lines(unknown, answer, after=after)[0])}**"
    where = f" where {_plain(plain_regime(answer.regime))}" if answer.regime else ""
    return f"${QUANTITIES[unknown].latex} {AS_LATEX[answer.bound]} {answer.latex}${where}"


def _unused_givens(solution: Result) -> list[str]:
    return [f"given and not used: {', '.join(solution.unused)}"] if solution.unused else []


def _mathematics(solution: Result) -> str:
    """Return every equation once, with its value if it was solved alone."""
    values = {step.equations[0]: step for step in solution.route if len(step.equations) == 1}
    lines = []
    for reference in solution.equations:
        step = values.get(reference)
        value = step and step.value and f"{QUANTITIES[step.unknown].latex} = {_text(step.unknown, step.value)}"
        found = rf" \quad\Rightarrow\quad {value}" if value else ""
        lines.append(citation_record(equation(reference)).equation_latex + found)
    return "$$\n\\begin{gathered}\n" + " \\\\\n".join(lines) + "\n\\end{gathered}\n$$"


def _text(name: str, value: float) -> str:
    return rf"\text{{{latex_text(show(name, value))}}}"


def _numbers(solution: Result) -> str:
    rows = [[name, f"${QUANTITIES[name].latex}$", show(name, value), solution.provenance[name]] for name, value in solution.given.items()]
    solved = ((step, step.value) for step in solution.route if step.value is not None)
    rows += [[step.unknown, f"${QUANTITIES[step.unknown].latex}$", show(step.unknown, value), step.equation] for step, value in solved]
    return _table(["quantity", "symbol", "value", "from"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(map(_plain, row))} |" for row in (head, ["---"] * len(head), *rows))


def _plain(text: str) -> str:
    """Return text that Markdown shows unchanged, with `$` and `|` escaped."""
    return text if text.startswith("$") and text.endswith("$") else text.replace("$", r"\$").replace("|", r"\|").replace("\n", " ")
