"""Print answers in each style: text, JSON, CSV, LaTeX and Markdown."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from derive.answers import OR, Answer, Result, ways_to
from derive.catalogue import basis_of, equation, rules_among
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER
from derive.show.binding import plain_regime
from derive.show.citation import FOR_DERIVATIONS, LATEX, MARKDOWN, Markup, key_of, latex_text, markdown_text
from derive.show.parts import all_warnings, equations_of, origin_of, prompts_words, values_of
from derive.show.screen import SCREEN_WIDTH, full_lines, screen_lines
from derive.show.substituted import step_in_latex, value_in_latex
from derive.show.tables import (
    UNANSWERED,
    csv_line,
    csv_points,
    json_points,
    spans_record,
    sweep_cells,
    sweep_head,
    sweep_records,
)
from derive.show.values import text_of

AS_LATEX = {LOWER: r"\geq", UPPER: r"\leq", None: "="}


def render(solution: Result, style: str) -> str:
    """Return one answer in full as table, json, csv, latex or markdown."""
    return "\n".join(lines([solution], style, full=True))


def lines(solutions: Sequence[Result], style: str, full: bool = False, columns: int = SCREEN_WIDTH) -> Iterator[str]:
    """Yield the answers to one question or to several with the same givens, so that a long sweep need not be in memory as text.

    The style is table, json, csv, latex or markdown. A table has all parts with `full`, and otherwise those that fit a screen. The JSON of
    several answers is a list.
    """
    if style == "table":
        return full_lines(solutions) if full else screen_lines(solutions, columns)
    if style == "csv":
        return _csv_of_all(solutions)
    forms = {"json": _json_lines, "latex": _latex_lines, "markdown": _markdown_lines}
    documents = [forms[style](one) for one in solutions]
    if len(documents) == 1:
        return documents[0]
    return _json_list(documents) if style == "json" else chain.from_iterable(chain(one, ("",)) for one in documents)


def _csv_of_all(solutions: Sequence[Result]) -> Iterator[str]:
    """Yield the CSV of each answer. A header that repeats is left out."""
    before = None
    for one in solutions:
        rows = _csv_lines(one)
        header = next(rows, "")
        yield from rows if header == before else chain([header], rows)
        before = header


def solution_record(solution: Result) -> dict[str, Any]:
    """Return the record of `--as json`: SI units, formulas as text, None for unbounded."""
    return {
        "unknown": solution.unknown,
        "unit": solution.unit,
        **({"basis": basis_of(solution.equations, solution.answers)} if solution.answers or solution.sweep else {}),
        "answers": [
            {**_answer_record(answer), **_basis_record(answer, equations_of(solution, steps))} for answer, steps in ways_to(solution)
        ],
        "equations": list(solution.equations),
        "given": dict(solution.given),
        "assumptions": [
            *all_warnings(solution),
            *(f"{solution.unknown} is {text}" for text in prompts_words(solution)),
            *solution.said,
            *solution.assumptions,
        ],
        "warnings": [*all_warnings(solution)],
        "provenance": dict(solution.provenance),
        "reason": solution.reason
        and {"code": solution.reason.code, "missing": list(solution.reason.missing), "violated": list(solution.reason.violated)},
        **({"sweep": list(sweep_records(solution.sweep, _answer_record))} if solution.sweep else {}),
        **({"quantiles": spans_record(solution.spans)} if solution.spans else {}),
        **({"with_prompts": _answer_record(solution.with_prompts)} if solution.with_prompts else {}),
    }


def _basis_record(answer: Answer, ids: Sequence[str]) -> dict[str, Any]:
    """Return the basis of an answer, and the readings, conditions and rules of thumb among its equations."""
    by = [row.reference for row in rules_among(ids)]
    return {"basis": basis_of(ids, [answer]), **({"by": by} if by else {})}


def _answer_record(answer: Answer) -> dict[str, Any]:
    found = {"value": answer.value} if answer.kind == "point" else {"low": answer.low, "high": answer.high}
    if answer.loose_low is not None:
        found |= {"loose_low": answer.loose_low, "loose_high": answer.loose_high}
    rest = {"regime": answer.regime, "formula": answer.formula, "elasticities": dict(answer.elasticities), "residual": answer.residual}
    return {"kind": answer.kind, **found, "bound": answer.bound, **rest}


def _json_lines(solution: Result) -> Iterator[str]:
    if not solution.sweep:
        yield json.dumps(solution_record(solution), indent=2, allow_nan=False)
        return
    yield json.dumps(solution_record(replace(solution, sweep=None)), indent=2, allow_nan=False).removesuffix("\n}") + ","
    yield '  "sweep": ['
    yield from _separated(json_points(solution.sweep, _answer_record, indentation=4))
    yield "  ]\n}"


def _separated(texts: Iterator[str], separator: str = ",", end: str = "") -> Iterator[str]:
    """Yield texts with a separator after each but the last, and an end after the last."""
    text = next(texts, "")
    for following in texts:
        yield f"{text}{separator}"
        text = following
    yield f"{text}{end}"


def _json_list(documents: Sequence[Iterator[str]]) -> Iterator[str]:
    """Yield JSON documents, each in its lines, as one list."""
    yield "["
    for document in documents:
        end = "" if document is documents[-1] else ","
        yield from ("  " + text.replace("\n", "\n  ") for text in _separated(document, "", end))
    yield "]"


def _csv_lines(solution: Result) -> Iterator[str]:
    """Yield one line for each answer: the swept givens, unknown, unit, kind, value, low, high, regime, formula, bound.

    Bounds over ranges have two columns more: loose_low and loose_high.
    """
    answers = solution.sweep.others.values() if solution.sweep else ((solution.answers, None),)
    loose = ["loose_low", "loose_high"] if any(one.loose_low is not None for found, _ in answers for one in found) else []

    def cells(answer: Answer) -> dict[str, Any]:
        own = {name: getattr(answer, name) for name in ("kind", "value", "low", "high", "regime", "formula", "bound", *loose)}
        return {"unknown": solution.unknown, "unit": solution.unit, **own}

    yield csv_line([*(solution.sweep.given if solution.sweep else ()), *cells(UNANSWERED)])
    if solution.sweep:
        yield from csv_points(solution.sweep, cells)
    else:
        yield from (csv_line(cells(one).values()) for one in solution.answers or (UNANSWERED,))


def _markdown_lines(solution: Result) -> Iterator[str]:
    unknown = solution.unknown
    rows: Iterable[list[str]]
    if solution.sweep:
        head = sweep_head(unknown, solution.sweep)
        rows = ([*values, markdown_text(where)] for *values, where in sweep_cells(unknown, solution.sweep))
    else:
        head = ["quantity", "value", "regime", "formula"]
        rows = [
            [unknown, text_of(unknown, one), markdown_text(plain_regime(one.regime or "")), f"`{one.formula or ''}`"]
            for one in solution.answers
        ]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
    for line, reference in _worked_out(solution):
        yield from [f"{markdown_text(equation(reference).title)} (`{reference}`):\n"] if reference else []
        yield f"$${line}$$\n"
    given = _given_in_latex(solution, MARKDOWN)
    yield from [f"{given}\n"] if given else []
    yield "Equations: " + ", ".join(f"`{id}`" for id in solution.equations)


def _latex_lines(solution: Result) -> Iterator[str]:
    r"""Yield the route as a gather block, with the ids of the equations, then numbers and answers. A sweep is a tabular.

    The equations are cited by the keys of `backsolve cite --as bibtex`, and a comment has the command.
    """
    found = [*_worked_out(solution)] or [(equation(id).latex, id) for id in solution.equations]
    lines = [line + (rf" \tag{{{latex_text(reference)}}}" if reference else "") for line, reference in found]
    if not solution.sweep:
        answers = [_answer_latex(solution.unknown, answer) for answer in solution.answers]
        # The last step may have come to just that.
        lines += [
            said for said in answers if not (lines and lines[-1].endswith(said.partition(" ")[2]) and said.split(" ")[0] in lines[-1])
        ]
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
    rows = chain([sweep_head(solution.unknown, solution.sweep)], sweep_cells(solution.unknown, solution.sweep))
    above = next(rows, "")
    for row in rows:
        yield " & ".join(map(latex_text, above)) + r" \\"
        above = row
    yield " & ".join(map(latex_text, above))
    yield r"\end{tabular}"


def _worked_out(solution: Result) -> Iterator[tuple[str, str]]:
    """Yield the lines that lead to the first answer, each once, with the equation that a line states. Sweeps and formulas have no such
    lines.
    """
    answer = solution.answers[0] if solution.answers else None
    if solution.sweep or not answer or answer.kind == "symbolic":
        return
    values = values_of(solution, answer, solution.route)
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
    return f"Given: {', '.join(found)}." if found and (solution.answers or solution.sweep) else ""


def _answer_latex(unknown: str, answer: Answer) -> str:
    """Return an answer as LaTeX: a bound as an inequality, an interval between its ends."""
    where = rf" \quad \text{{({latex_text(plain_regime(answer.regime))})}}" if answer.regime else ""
    if answer.kind == "symbolic":
        return f"{QUANTITIES[unknown].latex} {AS_LATEX[answer.bound]} {answer.latex}"
    if answer.kind == "point":
        return _equal(unknown, answer.point, AS_LATEX[answer.bound]) + where
    if answer.kind == "interval" and answer.loose_low is None and (answer.low or answer.high is not None):
        above = "" if answer.high is None else rf" \leq {value_in_latex(unknown, answer.high)}"
        below = rf"{value_in_latex(unknown, answer.low)} \leq " if answer.low else ""
        errs = rf" \text{{{OR[answer.bound]}}}" if answer.bound else ""
        return f"{below}{QUANTITIES[unknown].latex}{above}{errs}{where}"
    return rf"{QUANTITIES[unknown].latex} \colon \text{{{latex_text(text_of(unknown, answer))}}}{where}"
