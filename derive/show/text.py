"""Print answers in each style: text, JSON, CSV, LaTeX and Markdown.

Text has the most important parts on one screen, or all parts with `--full`. Answers to the same givens are printed together.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from math import isfinite
from typing import Any

from derive.answers import COUNTED, KEPT_FREE, Answer, Result, Spans, Sweep, next_whole, ways_to
from derive.catalogue import basis_of, equation, rules_among
from derive.records import LOWER, UPPER, right_side_at
from derive.show import parts
from derive.show.layout import align_columns, fold, label_line, label_lines
from derive.tables.writing import line_text
from derive.units import show

FEW_LINES, MOST_LINES, MOST_TABLE_LINES = 15, 20, 25
"""Lines of an answer, most lines of an answer with several warnings, and most lines of a table with what is below it."""
SCREEN_WIDTH = 100
"""Default width."""

UNANSWERED = Answer(kind="none")
"""Placeholder for the answer of a question that has none."""

_ENDS, _LOOSE = ("kind", "value", "low", "high"), ("loose_low", "loose_high")
"""Columns of the values of an answer, and of its ends over ranges."""


def render(solution: Result, style: str) -> str:
    """Return one answer in full as table, json, csv, latex or markdown."""
    return "\n".join(lines([solution], style, full=True))


def lines(solutions: Sequence[Result], style: str, full: bool = False, columns: int = SCREEN_WIDTH) -> Iterator[str]:
    """Yield the answers to one question, or to several with the same givens. Points of CSV and JSON are yielded one by one.

    The style is table, json, csv, latex or markdown. With `full` a table has all parts, otherwise the parts that fit a screen. The JSON of
    several answers is a list.
    """
    if style == "table":
        return full_lines(solutions) if full else screen_lines(solutions, columns)
    if style == "csv":
        return csv_lines(("", one) for one in solutions)
    if style == "json":
        return _json_lines(solutions)
    from derive.show.typeset import latex_lines, markdown_lines

    documents = map({"latex": latex_lines, "markdown": markdown_lines}[style], solutions)
    return next(documents) if len(solutions) == 1 else chain.from_iterable(chain(one, ("",)) for one in documents)


def csv_lines(named: Iterable[tuple[str, Result]], before_header: str = "") -> Iterator[str]:
    """Yield the CSV of answers with one header, each line after the text that begins it.

    The columns are the swept givens, unknown, unit, kind, value, low, high, regime, formula and bound. Bounds over ranges have loose_low
    and loose_high, sizes of deployments have with_prompts and deploy.
    """
    found = [*named]
    swept = [one.sweep for _, one in found if one.sweep]
    others = [answer for table in swept for answers, _ in table.others.values() for answer in answers]
    answers = [*others, *(answer for _, one in found if not one.sweep for answer in one.answers)]
    columns = [
        *dict.fromkeys(name for table in swept for name in table.given),
        *("unknown", "unit", *_ENDS, "regime", "formula", "bound"),
        *(_LOOSE if any(one.loose_low is not None for one in answers) else ()),
        *dict.fromkeys(name for _, one in found for name in (one.sweep or one).beside),
    ]
    yield before_header + line_text(columns)
    for before, one in found:
        yield from (before + row for row in _csv_rows(one, columns))


def solution_record(solution: Result) -> dict[str, Any]:
    """Return the record of `--as json`: SI units, formulas as text, None for unbounded."""
    groups = [[*map(vars, replicas)] for replicas in solution.deployments]
    deployments = [{"chips": sum(one["replicas"] * one["chips_per_replica"] for one in each), "parts": each} for each in groups]
    remarks = [*solution.lead, *(f"{solution.unknown} is {text}" for text in parts.prompts_words(solution)), *solution.said]
    return {
        "unknown": solution.unknown,
        "unit": solution.unit,
        **({"basis": basis_of(solution.equations, solution.answers)} if solution.answers or solution.sweep else {}),
        "answers": [
            {**_answer_record(answer), **_basis_record(answer, parts.equations_of(solution, steps))} for answer, steps in ways_to(solution)
        ],
        "equations": list(solution.equations),
        "given": dict(solution.given),
        "assumptions": [*parts.all_warnings(solution), *solution.assumptions],
        "warnings": [*parts.all_warnings(solution)],
        "provenance": dict(solution.provenance),
        "reason": solution.reason
        and {"code": solution.reason.code, "missing": list(solution.reason.missing), "violated": list(solution.reason.violated)},
        **({"remarks": remarks} if remarks else {}),
        **({"sweep": [*_point_records(solution.sweep)]} if solution.sweep else {}),
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


def _point_records(table: Sweep) -> Iterator[dict[str, Any]]:
    for place, (given, answers, _) in enumerate(table.rows()):
        yield {"given": given, "answers": [*map(_answer_record, answers)], **table.beside_at(place)}


def _json_lines(solutions: Sequence[Result]) -> Iterator[str]:
    """Yield one answer as JSON, of a sweep each point in one line, or several as a list."""
    table = solutions[0].sweep
    if len(solutions) > 1 or not table:
        records = [*map(solution_record, solutions)]
        yield json.dumps(records if records[1:] else records[0], indent=2, allow_nan=False)
        return
    yield json.dumps(solution_record(replace(solutions[0], sweep=None)), indent=2, allow_nan=False).removesuffix("\n}") + ","
    yield '  "sweep": ['
    for place, one in enumerate(_point_records(table), 1):
        yield f"    {json.dumps(one, allow_nan=False)}{',' if place < len(table) else ''}"
    yield "  ]\n}"


def _csv_rows(solution: Result, columns: Sequence[str]) -> Iterator[str]:
    """Yield one line for each answer of one question, and for each point without an answer."""
    table, of_question = solution.sweep, {"unknown": solution.unknown, "unit": solution.unit}
    points = table.rows() if table else [({}, solution.answers, None)]
    for place, (given, answers, _) in enumerate(points):
        same = {**of_question, **given, **(table.beside_at(place) if table else solution.beside)}
        yield from (
            line_text(same[name] if name in same else getattr(one, name, None) for name in columns) for one in answers or (UNANSWERED,)
        )


def spans_record(spans: Spans) -> dict[str, Any]:
    """Return the result over ranges as a JSON record, in SI."""
    return {
        "method": spans.method,
        "low": spans.low,
        "high": spans.high,
        **spans.quantiles,
        "ranges": {name: list(ends) for name, ends in spans.ranges.items()},
        "sides": [{"regime": regime, "low": low, "high": high, "share": share} for regime, low, high, share in spans.sides],
        "tornado": [{"given": name, "at_low": low, "at_high": high} for name, low, high in spans.tornado],
        "answered": spans.answered,
        "samples": spans.samples,
        "seed": spans.seed,
    }


MOST_ASSUMED, _MOST_MOVES = 3, 6
"""Largest number of assumptions, and of elasticities, that are printed."""

_MOVES = 0.05
"""Smallest elasticity of a default that is printed."""

_CAPACITY, _NOTHING_RESERVED = "hbm_capacity", "reserved_share = 0"
"""The quantity on which bounds by memory depend, and the default that all of it is used."""

_SHORT = 44
"""Maximum length of an assumption that is printed with the number of the other assumptions."""

_LEAST_FOR_STEPS = 4
"""Fewest lines in which steps are printed: the last one, the number of the others, and the empty lines around them."""

_STEP = 1e-6
"""Relative step of a quantity, to find its slope."""

_MOST_WARNINGS = 3
"""Largest number of printed warnings. Those that change the answer most come first."""

_FORMS = (
    *((FEW_LINES, _MOST_WARNINGS, False), (FEW_LINES, _MOST_WARNINGS, True)),
    *((MOST_LINES, most, True) for most in range(_MOST_WARNINGS, 0, -1)),
)
"""The forms of an answer, of which the first one that fits is printed: its lines, its warnings, and whether assumptions are counted."""

_SUPPOSED = " unless it is given: "
_OF_THE_QUESTION = (
    *("follows from the givens", " as given, not ", "added by --using", "was named but is not needed", "it bounds nothing"),
    *("of published runs", _SUPPOSED, " is the data type of ", "layout: "),
)
"""Parts of assumptions about this question, which are printed before the assumptions of the equations."""

_OF_THE_WEIGHTS = "weights stored as published"


def screen_lines(solutions: Sequence[Result], columns: int = SCREEN_WIDTH) -> Iterator[str]:
    """Yield answers on a screen of this width: all parts if there is room, otherwise the most important parts."""
    answered = [one for one in solutions if one.answers or one.sweep]
    below = [*_refusal_lines(solutions), *parts.warning_lines(answered, _MOST_WARNINGS)]
    if answered and all(one.sweep for one in answered):
        table = _sweep_table(answered)
        yield from (*table, *below, "", *assumption_lines(answered, brief=len(table) > MOST_LINES))
        return
    whole = [*full_lines(solutions)]
    if not answered or (len(solutions) == 1 and height(whole, columns) <= FEW_LINES):
        yield from whole
        return
    moves = parts.moves_of(answered[0], _MOST_MOVES) if len(answered) == 1 else []
    shows_steps = any(one.route and not one.lead for one in answered)
    for lines, most, brief in _FORMS if shows_steps else _FORMS[-2:]:
        top = [*parts.heads(answered), *_refusal_lines(solutions), *parts.warning_lines(answered, most)]
        end = [*moves, *assumption_lines(answered, brief=brief)]
        room = lines - height([*top, *end], columns)
        if room >= (_LEAST_FOR_STEPS if shows_steps else 0):
            break
    of_steps = room if lines == FEW_LINES else _LEAST_FOR_STEPS
    steps = _steps_that_fit(answered, of_steps - 1, columns) if shows_steps and room >= _LEAST_FOR_STEPS else []
    yield from [*top, *steps, *([""] if steps else ()), *end]


def full_lines(solutions: Sequence[Result]) -> Iterator[str]:
    """Yield all parts of answers, with every equation, the source of each number, and all assumptions."""
    answered = [one for one in solutions if one.answers or one.sweep]
    if not answered:
        yield from (f"{one.unknown}: no answer" for one in solutions)
        return
    alone = answered[0] if len(solutions) == 1 else None
    if all(one.sweep for one in answered):
        yield from _sweep_table(answered)
    else:
        yield from parts.head(alone) if alone else parts.heads(answered)
    yield from (*_refusal_lines(solutions), *parts.warning_lines(answered), "")
    route = parts.route_lines(*answered)
    if route:
        yield from [parts.point_of_route(alone.spans)] if alone and alone.spans else []
        yield from (*route, "")
    yield from parts.moves_of(alone) if alone and alone.answers else ()
    yield from label_lines("Given", list(dict.fromkeys(line for one in answered for line in parts.given_lines(one))))
    yield from label_line("Defaults", dict.fromkeys(text for one in answered for text in parts.defaults_of(one)))
    yield from label_lines("Assumed", list(dict.fromkeys(text for one in answered for text in parts.assumptions_of(one))))
    yield from parts.cite_line(answered)


def _refusal_lines(solutions: Sequence[Result]) -> list[str]:
    """Return a line for each of several questions without an answer."""
    unanswered = [one for one in solutions if not (one.answers or one.sweep)] if len(solutions) > 1 else []
    return [f"{one.unknown}: no answer: {one.why_not.splitlines()[0]}" for one in unanswered]


def height(lines: Iterable[str], width: int = SCREEN_WIDTH) -> int:
    """Return the number of lines on a screen of some width."""
    return sum(fold(line, width).count("\n") + 1 for line in lines)


def _sweep_table(solutions: Sequence[Result]) -> list[str]:
    """Return the table of a sweep, or the tables of several side by side, with a column for each answer."""
    tables = [(one.unknown, one.sweep) for one in solutions if one.sweep]
    if len(tables) == 1:
        rows = [parts.sweep_head(*tables[0]), *parts.sweep_cells(*tables[0])]
        return align_columns(rows, left=[len(rows[0]) - 1])
    labels = [parts.sweep_head(unknown, table)[len(table.given)] for unknown, table in tables]
    return align_columns([*parts.join_sweeps(tables, labels)])


def _steps_that_fit(solutions: Sequence[Result], room: int, columns: int) -> list[str]:
    """Return a blank line and the last steps of each answer, as many as there is room for."""
    sections = parts.numbers_of_steps(solutions)
    wanted = [one.unknown for one in solutions]
    lines: list[str] = []
    for title, steps in sections:
        kept = last_lines(steps, (room - 1) // len(sections) - bool(title), wanted, columns)
        lines += [title, *kept] if title else kept
    return ["", *lines]


def last_lines(lines: list[str], room: int, wanted: Iterable[str] = (), columns: int = SCREEN_WIDTH) -> list[str]:
    """Return the lines that there is room for: first lines of wanted quantities, then the last lines, and the number of the others.

    >>> last_lines(["weight_time = 1 s", "kv_time = 1 s", "step_time = 2 s", "batch = 2"], 3, ["step_time"])
    ['(2 more steps: --full)', 'step_time = 2 s', 'batch = 2']
    >>> last_lines([], -1)
    []
    """
    if not lines or height(lines, columns) <= room:
        return lines
    first = [line for line in lines if line.split(" ")[0] in {*wanted}]
    kept: set[str] = set()
    left = room - 1
    for line in (*first, *(line for line in reversed(lines) if line not in first)):
        left -= height([line], columns)
        if left < 0:
            break
        kept.add(line)
    return [f"({len(lines) - len(kept)} more steps: --full)", *(line for line in lines if line in kept)]


def assumption_lines(solutions: Sequence[Result], brief: bool = False) -> list[str]:
    """Return the most important assumptions and what to cite, or in brief only the number of assumptions."""
    others = dict.fromkeys(text for one in solutions for text in parts.assumptions_of(one))
    defaults = dict.fromkeys(text for one in solutions for text in parts.defaults_of(one))
    moving: dict[str, str] = {}
    for text in () if brief else (text for one in solutions for text in moving_defaults(one)):
        moving.setdefault(text.split(" = ")[0], text)
    kept = [] if brief else most_important_assumptions(solutions)
    left = len(others) - len(kept) + len(defaults) - len(moving)
    more = f"{left} more, and the source of each number: --full" if left else "the source of each number: --full"
    if brief:
        first = next((text for text in most_important_assumptions(solutions) if len(text) <= _SHORT), "")
        more = f"{first}, {left - 1} more with --full" if first and left > 1 else f"{left} assumptions: --full"
    return [*label_line("Defaults", moving.values()), *label_lines("Assumed", [*kept, more]), *parts.cite_line(solutions)]


def moving_defaults(solution: Result) -> list[str]:
    """Return the defaults that an answer depends on. For a sweep these are all its defaults."""
    slopes = solution.answers[0].elasticities if solution.answers and not solution.sweep else {}
    defaults = parts.defaults_of(solution)
    moving = [text for text in defaults if solution.sweep or abs(slopes.get(text.split(" ")[0], 0.0)) >= _MOVES]
    # A given at 0 has no elasticity, so this default is not yet among them.
    return [*moving, *(_reserve_default(solution, slopes.get(_CAPACITY, 0.0)) if _NOTHING_RESERVED in defaults else [])]


def _reserve_default(solution: Result, slope: float) -> list[str]:
    """Return the default that no memory is reserved, and the approximate bound with the tenth that engines reserve.

    A size grows in proportion to the memory. A quantity that needs memory changes in inverse proportion.
    """
    ends = {end for answer in solution.answers for end in answer.ends if end}
    if len(ends) != 1 or abs(slope) < _MOVES or {"memory_nearly_full", "little_room_left"} & {*solution.kinds}:
        return []
    if solution.provenance.get("replicas", "given") != "given":
        return [f"{_NOTHING_RESERVED} (engines hold back about a tenth: then there may be more replicas)"]
    (end,) = ends
    less = end * (1 - KEPT_FREE * slope if slope > 0 else (1 - KEPT_FREE) ** slope)
    whole = next_whole(less, UPPER if slope > 0 else LOWER) if solution.unknown in COUNTED else less
    return [f"{_NOTHING_RESERVED} (engines hold back about a tenth: then {show(solution.unknown, max(whole, 0.0))})"]


def most_important_assumptions(solutions: Sequence[Result]) -> list[str]:
    """Return the assumptions that matter most to one answer, or the most important ones of each of several in turn."""
    ranked = [_ranked(one) for one in solutions]
    if len(solutions) == 1:
        return ranked[0]
    return list(dict.fromkeys(text for texts in zip_longest(*ranked) for text in texts if text))[:MOST_ASSUMED]


def _ranked(solution: Result) -> list[str]:
    """Return the assumptions of this question, then the assumptions of the equations that the answer depends on most.

    A supposed quantity that has no effect on the answer is left out.
    """
    weights = _weights(solution)
    slopes = solution.answers[0].elasticities if solution.answers else {}
    texts = [text for text in parts.assumptions_of(solution) if not slopes or _SUPPOSED not in text or text.split(" = ")[0] in slopes]
    ranked = sorted((text for text in texts if _weight(text, weights) > 0), key=lambda text: -_weight(text, weights))
    of_question = sum(_weight(text, weights) > 1 for text in ranked)
    return ranked[: max(of_question, MOST_ASSUMED)]


def _weight(text: str, weights: Mapping[str, float]) -> float:
    if any(part in text for part in _OF_THE_QUESTION):
        return 3.0
    return 2.0 if text.startswith(_OF_THE_WEIGHTS) else weights.get(text, 0.0)


def _weights(solution: Result) -> dict[str, float]:
    """Return how strongly the answer depends on the equation of each assumption, a little less for earlier equations."""
    values = parts.values_of(solution, solution.answers[0], solution.route) if solution.route else {}
    moves = {solution.unknown: 1.0}
    found: dict[str, float] = {}
    steps = [(step.unknown, step.equations) for step in reversed(solution.route)] or [
        (solution.unknown, (id,)) for id in solution.equations[::-1]
    ]
    for place, (unknown, ids) in enumerate(steps):
        here = moves.get(unknown, 0.0)
        for row in map(equation, ids):
            for name in row.symbols:
                if name != unknown:
                    moves[name] = moves.get(name, 0.0) + here * _slope(row.id, unknown, name, values)
            for rank, text in enumerate(row.assumptions):
                found[text] = max(found.get(text, 0.0), min(abs(here), 1.0) * (1 - 1e-3 * place - 1e-5 * rank))
    return found


def _slope(id: str, unknown: str, name: str, values: Mapping[str, float]) -> float:
    """Return the elasticity of the left side of an equation with respect to one of its quantities, or 1 if that is not known."""
    row = equation(id)
    if row.symbols[0] != unknown or not row.inputs <= values.keys():
        return 1.0
    below, above = (right_side_at(row, {**values, name: values[name] * (1 + sign * _STEP)}) for sign in (-1, 1))
    slope = (above - below) / (above + below) / _STEP if above + below else 1.0
    return slope if isfinite(slope) else 1.0
