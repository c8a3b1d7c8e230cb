"""Print answers in each style: text, JSON, CSV, LaTeX and Markdown."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from derive.answers import Answer, Result, ways_to
from derive.catalogue import basis_of, rules_among
from derive.show.parts import all_warnings, equations_of, prompts_words
from derive.show.screen import SCREEN_WIDTH, full_lines, screen_lines
from derive.show.tables import UNANSWERED, csv_points, json_points, spans_record
from derive.tables.writing import line_text


def render(solution: Result, style: str) -> str:
    """Return one answer in full as table, json, csv, latex or markdown."""
    return "\n".join(lines([solution], style, full=True))


def lines(solutions: Sequence[Result], style: str, full: bool = False, columns: int = SCREEN_WIDTH) -> Iterator[str]:
    """Yield the answers to one question, or to several with the same givens. The text of a long sweep is never all in memory.

    The style is table, json, csv, latex or markdown. With `full` a table has all parts, otherwise the parts that fit a screen. The JSON of
    several answers is a list.
    """
    if style == "table":
        return full_lines(solutions) if full else screen_lines(solutions, columns)
    if style == "csv":
        return csv_lines(("", one) for one in solutions)
    documents = [*map(_printer_of(style), solutions)]
    if len(documents) == 1:
        return documents[0]
    return _json_list(documents) if style == "json" else chain.from_iterable(chain(one, ("",)) for one in documents)


def _printer_of(style: str) -> Callable[[Result], Iterator[str]]:
    """Return the printer of one answer in a style. LaTeX is loaded only if it is needed."""
    if style == "json":
        return _json_lines
    from derive.show.typeset import latex_lines, markdown_lines

    return {"latex": latex_lines, "markdown": markdown_lines}[style]


def csv_lines(named: Iterable[tuple[str, Result]], before_header: str = "") -> Iterator[str]:
    """Yield the CSV of answers, each after the text that begins its lines. A header that repeats is left out."""
    last = None
    for before, one in named:
        rows = _csv_lines(one)
        header = next(rows)
        yield from [before_header + header] if header != last else []
        yield from (before + row for row in rows)
        last = header


def solution_record(solution: Result) -> dict[str, Any]:
    """Return the record of `--as json`: SI units, formulas as text, None for unbounded."""
    swept = solution.sweep.rows() if solution.sweep else ()
    groups = [[*map(vars, parts)] for parts in solution.deployments]
    deployments = [{"chips": sum(one["replicas"] * one["chips_per_replica"] for one in each), "parts": each} for each in groups]
    remarks = [*solution.lead, *(f"{solution.unknown} is {text}" for text in prompts_words(solution)), *solution.said]
    return {
        "unknown": solution.unknown,
        "unit": solution.unit,
        **({"basis": basis_of(solution.equations, solution.answers)} if solution.answers or solution.sweep else {}),
        "answers": [
            {**_answer_record(answer), **_basis_record(answer, equations_of(solution, steps))} for answer, steps in ways_to(solution)
        ],
        "equations": list(solution.equations),
        "given": dict(solution.given),
        "assumptions": [*all_warnings(solution), *solution.assumptions],
        "warnings": [*all_warnings(solution)],
        "provenance": dict(solution.provenance),
        "reason": solution.reason
        and {"code": solution.reason.code, "missing": list(solution.reason.missing), "violated": list(solution.reason.violated)},
        **({"remarks": remarks} if remarks else {}),
        **({"sweep": [{"given": given, "answers": [*map(_answer_record, found)]} for given, found, _ in swept]} if solution.sweep else {}),
        **({"quantiles": spans_record(solution.spans)} if solution.spans else {}),
        **({"with_prompts": _answer_record(solution.with_prompts)} if solution.with_prompts else {}),
        **({"deployments": deployments} if deployments else {}),
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

    yield line_text([*(solution.sweep.given if solution.sweep else ()), *cells(UNANSWERED)])
    if solution.sweep:
        yield from csv_points(solution.sweep, cells)
    else:
        yield from (line_text(cells(one).values()) for one in solution.answers or (UNANSWERED,))
