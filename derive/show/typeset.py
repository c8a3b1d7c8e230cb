"""Print answers as LaTeX and Markdown: each step with its equation, its form for the unknown, the form with numbers, and the value."""

from collections.abc import Iterator, Mapping
from itertools import islice

from derive.answers import OR, Answer, Result, RouteStep
from derive.catalogue import equation
from derive.quantities import QUANTITIES
from derive.quantities.formula import formula_in_latex
from derive.records import LOWER, UPPER
from derive.show.citation import FOR_DERIVATIONS, LATEX, MARKDOWN, Markup, key_of, latex_text, markdown_text
from derive.show.parts import all_warnings, head, origin_of, sweep_cells, sweep_head, values_of
from derive.show.words import plain_regime, text_of
from derive.units import figure_and_unit

_AS_LATEX = {LOWER: r"\geq", UPPER: r"\leq", None: "="}
"""The sign of a point by its bound."""

_POWERS = {"": 0, "k": 3, "M": 6, "B": 9, "T": 12}
"""Powers of ten of the suffixes of counts. A B behind a number would read as bytes."""
_TIMES = r" \cdot "
_MOST_ROWS = 40
"""Largest number of rows of a sweep in a notebook. `sweep` has all of them."""


def value_in_latex(name: str, value: float) -> str:
    r"""Return a value of a quantity as LaTeX, in the unit that people use.

    >>> for name, value in {"hbm_bandwidth": 3.35e12, "active_params": 37e9, "chip_price": 2 / 3600, "step_time": 2e-5}.items():
    ...     print(value_in_latex(name, value))
    3.35\,\text{TB/s}
    37 \cdot 10^{9}
    2\,\text{USD/h}
    20\,\mu\text{s}
    """
    number, words = figure_and_unit(name, value)
    (figure, _, power), (count, _, unit) = number.partition("e"), words.partition(" ")
    exponent = int(power or 0) + _POWERS[count]
    micro = r"\mu" if unit.startswith("µ") else ""
    raised = rf"{_TIMES}10^{{{exponent}}}" if exponent else ""
    return figure + raised + (rf"\,{micro}\text{{{latex_text(unit.lstrip('µ'))}}}" if unit else "")


def substitute_in_latex(formula: str, values: Mapping[str, float], keep: str = "") -> str:
    """Return a formula as LaTeX with every known quantity replaced by its value."""
    known = {name: value_in_latex(name, values[name]) for name in QUANTITIES if name in values and name != keep}
    return formula_in_latex(formula, known, _TIMES)


def step_in_latex(step: RouteStep, values: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    r"""Yield the lines of a step in LaTeX. A line that is an equation of the catalogue has its `id@version`, any other "".

    >>> step = RouteStep(equations=("batching.sparsity@1",), unknown="total_params", value=370e9, formula="active_params*sparsity")
    >>> for line in step_in_latex(step, {"active_params": 37e9, "sparsity": 10.0, "total_params": 370e9}):
    ...     print(line)
    ('s = \\frac{N_t}{N_a}', 'batching.sparsity@1')
    ('N_t = N_a \\, s', '')
    ('N_t = 37 \\cdot 10^{9} \\cdot 10 = 370 \\cdot 10^{9}', '')
    """
    rows = [equation(id) for id in step.equations]
    stated = {row.latex: row.reference for row in rows}
    yield from stated.items()
    unknown = QUANTITIES[step.unknown].latex
    value = "" if step.value is None else value_in_latex(step.unknown, step.value)
    if step.formula:
        solved = formula_in_latex(step.formula)
        numbers = substitute_in_latex(step.formula, values, keep="" if value else step.unknown)
        same = "" if numbers == value else f" = {value}"
        lines = [f"{unknown} = {solved}", f"{unknown} = {numbers}{same}"] if value else [solved, numbers]
        yield from ((line, "") for line in lines if line not in stated)
    elif value:
        yield f"{unknown} = {value}", ""


def notebook_markdown(solution: Result) -> str:
    """Return an answer for a notebook: its first lines and warnings, the text of `--as markdown`, and the assumptions."""
    if not (solution.answers or solution.sweep):
        return next(markdown_lines(solution))
    first = [] if solution.sweep else [f"**{markdown_text(line.strip())}**" for line in head(solution)]
    warnings = [f"⚠ {markdown_text(text)}" for text in all_warnings(solution)]
    assumed = [f"- {markdown_text(text)}" for text in solution.assumptions]
    return "\n".join([*(f"{line}\n" for line in (*first, *warnings)), *markdown_lines(solution, _MOST_ROWS), "", *assumed])


def markdown_lines(solution: Result, most: int | None = None) -> Iterator[str]:
    """Yield an answer as Markdown with LaTeX: a table of the answers, every step, the givens and the equations.

    A sweep has at most `most` rows.
    """
    unknown = solution.unknown
    if not (solution.answers or solution.sweep):
        yield f"**{unknown}: no answer.** {markdown_text(solution.why_not)}"
        return
    if solution.sweep:
        titles = sweep_head(unknown, solution.sweep)
        rows = ([*map(markdown_text, cells)] for cells in islice(sweep_cells(unknown, solution.sweep), most))
    else:
        titles = ["quantity", "value", "regime", "formula"]
        rows = (
            [unknown, *map(markdown_text, (text_of(unknown, one), plain_regime(one.regime or ""))), f"`{one.formula or ''}`"]
            for one in solution.answers
        )
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
    if solution.sweep and most is not None and len(solution.sweep) > most:
        yield f"the first {most} of {len(solution.sweep):,} points\n"
    for line, reference in _worked_out(solution):
        yield from [f"{markdown_text(equation(reference).title)} (`{reference}`):\n"] if reference else []
        yield f"$${line}$$\n"
    given = _given_in_latex(solution, MARKDOWN)
    yield from [f"{given}\n"] if given else []
    yield "Equations: " + ", ".join(f"`{id}`" for id in solution.equations)


def latex_lines(solution: Result) -> Iterator[str]:
    r"""Yield the route as a gather block, with the ids of the equations, then numbers and answers. A sweep is a tabular.

    The equations are cited by the keys of `backsolve cite --as bibtex`, and a comment has the command.
    """
    if not (solution.answers or solution.sweep):
        yield latex_text(f"{solution.unknown}: no answer. {solution.why_not}")
        return
    found = [*_worked_out(solution)] or [(equation(id).latex, id) for id in solution.equations]
    lines = [line + (rf" \tag{{{latex_text(reference)}}}" if reference else "") for line, reference in found]
    if not solution.sweep:
        answers = [_answer_latex(solution.unknown, answer) for answer in solution.answers]
        # The last step may have come to just that.
        lines += [said for said in answers if not "".join(lines[-1:]).endswith(said.partition(" ")[2])]
    yield FOR_DERIVATIONS
    if used := [equation(id) for id in solution.equations]:
        yield rf"% the entries that \cite names: backsolve cite {' '.join(row.id for row in used)} --as bibtex"
    yield r"\begin{gather*}"
    yield " \\\\\n".join(lines)
    yield r"\end{gather*}"
    given = _given_in_latex(solution, LATEX)
    yield from [given] if given else []
    if used:
        yield rf"Equations: \cite{{{','.join(map(key_of, used))}}}."
    if not solution.sweep:
        return
    yield rf"\begin{{tabular}}{{{'r' * (len(solution.sweep.given) + 1)}l}}"
    rows = (sweep_head(solution.unknown, solution.sweep), *sweep_cells(solution.unknown, solution.sweep))
    yield " \\\\\n".join(" & ".join(map(latex_text, row)) for row in rows)
    yield r"\end{tabular}"


def _worked_out(solution: Result) -> Iterator[tuple[str, str]]:
    """Yield the lines that lead to the first answer, each once, with the equation that a line states. Sweeps and formulas have none."""
    if solution.sweep or not solution.answers or solution.answers[0].kind == "symbolic":
        return
    values = values_of(solution, solution.answers[0], solution.route)
    shown = solution.spans.shown if solution.spans else {}
    lines = {rf"\text{{at}} \quad {', '.join(_equal(name, value) for name, value in shown.items())}": ""} if shown else {}
    for step in solution.route:
        lines |= {line: lines.get(line, reference) for line, reference in step_in_latex(step, values)}
        if step.value is None and solution.unknown in values and step is not solution.route[-1]:
            lines[rf"\text{{at}} \quad {_equal(solution.unknown, values[solution.unknown])}"] = ""
    yield from lines.items()


def _equal(name: str, value: float, sign: str = "=") -> str:
    return f"{QUANTITIES[name].latex} {sign} {value_in_latex(name, value)}"


def _given_in_latex(solution: Result, markup: Markup) -> str:
    """Return the givens in a sentence. A default is marked as one."""
    ranges = solution.spans.ranges.items() if solution.spans else ()
    spread = {name: rf"{_equal(name, low)} \text{{ to }} {value_in_latex(name, high)}" for name, (low, high) in ranges}
    points = {name: _equal(name, value) for name, value in solution.given.items()}
    found = [f"${said}${markup.text(origin_of(solution, name, ' ({})'))}" for name, said in (spread | points).items()]
    return f"Given: {', '.join(found)}." if found else ""


def _answer_latex(unknown: str, answer: Answer) -> str:
    """Return an answer as LaTeX: a bound as an inequality, an interval between its ends."""
    where = rf" \quad \text{{({latex_text(plain_regime(answer.regime))})}}" if answer.regime else ""
    if answer.kind == "symbolic":
        return f"{QUANTITIES[unknown].latex} {_AS_LATEX[answer.bound]} {answer.latex}"
    if answer.kind == "point":
        return _equal(unknown, answer.point, _AS_LATEX[answer.bound]) + where
    if answer.kind == "interval" and answer.loose_low is None and (answer.low or answer.high is not None):
        above = "" if answer.high is None else rf" \leq {value_in_latex(unknown, answer.high)}"
        below = rf"{value_in_latex(unknown, answer.low)} \leq " if answer.low else ""
        errs = rf" \text{{{OR[answer.bound]}}}" if answer.bound else ""
        return f"{below}{QUANTITIES[unknown].latex}{above}{errs}{where}"
    return rf"{QUANTITIES[unknown].latex} \colon \text{{{latex_text(text_of(unknown, answer))}}}{where}"
