"""Compare the answers of several deployments: a column for each with the best of every row, or a row for each if columns do not fit."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from derive import presets
from derive.answers import BOUGHT, COUNTED, SHORT, Answer, Column, Result, next_whole, same_bound, shown_end
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER
from derive.roles import BETTER
from derive.show.layout import align_columns, label_lines
from derive.show.parts import bound_in_brackets, cite_line, join_sweeps
from derive.show.text import (
    MOST_ASSUMED,
    MOST_TABLE_LINES,
    SCREEN_WIDTH,
    csv_lines,
    height,
    lines,
    most_important_assumptions,
    solution_record,
)
from derive.show.words import brief_regime, text_of
from derive.tables.writing import line_text
from derive.units import show

_ABSENT, _WON = "-", "*"
_BESIDE = {"with_prompts": "with prompts", "deploy": "deploy"}
"""How numbers beside an answer are labelled. The last one that all have is compared."""
_MOST_NAMED = 4
"""Largest number of deployments that one shared line names."""
_REFUSED = "refused"
"""Kind of line for data that the tables lack."""
_Telling = Callable[[Sequence[tuple[str, str, str]], int], list[str]]
"""How remarks on deployments are printed. Arguments are (name, kind, text) of each remark, and the number of deployments."""
_PART_OF_A_REPLICA = "part_of_a_replica"
"""Kind of warning that an answer has a fraction of a replica."""
_OF_SEVERAL_TERMS = "these rents have different terms: a chip on demand costs more than with a contract for years"


def side_lines(columns: Sequence[Column], style: str, full: bool = False) -> Iterator[str]:
    """Yield the answers of all deployments in a style of `text.lines`. JSON is a list of deployments with their documents."""
    if style == "json":
        yield json.dumps([*map(_column_record, columns)], indent=2, allow_nan=False)
    elif style == "csv":
        named = ((f"{line_text([one.name])},", solution) for one in columns for solution in one.solutions)
        yield from csv_lines(named, "deployment,")
    elif style == "table":
        yield from _text(columns, full)
    else:
        for one in columns:
            for solution in one.solutions:
                yield one.name
                yield from lines([solution], style)


def _column_record(one: Column) -> dict[str, Any]:
    record = {"hardware": one.hardware, "model": one.model, "solutions": [*map(solution_record, one.solutions)]}
    return record | ({"refused": one.refused} if one.refused else {})


def _text(columns: Sequence[Column], full: bool) -> Iterator[str]:
    answered = [one for one in columns if one.solutions]
    said, brief = ([*_rent_lines(answered), *_remarks(columns, answered, told)] for told in (_group_by_text, _first_of_each_kind))
    solutions = [solution for one in answered for solution in one.solutions if solution.answers]
    ends = [_closing_lines(solutions, brief) for brief in (False, True)] if solutions else [[], []]
    if any(solution.sweep for one in answered for solution in one.solutions):
        yield from (*_swept_table(answered), *said, *ends[0])
        return
    upright = _table_by_column(answered) if answered else []
    table = upright if max(map(len, upright), default=0) <= SCREEN_WIDTH else _table_by_row(answered)
    # Shortened step by step until it fits a screen.
    ways = [[*table, *remarks, *end] for remarks, end in ((said, ends[0]), (said, ends[1]), (brief, ends[1]))]
    yield from ways[0] if full else next((way for way in ways if height(way) <= MOST_TABLE_LINES), ways[-1])


def _closing_lines(solutions: Sequence[Result], brief: bool) -> list[str]:
    """Return the most important assumptions, and what to cite."""
    kept = [] if brief else most_important_assumptions(solutions)[:MOST_ASSUMED]
    return ["", *label_lines("Assumed", [*kept, "more of each: name one deployment alone"]), *cite_line(solutions)]


def _remarks(columns: Sequence[Column], answered: Sequence[Column], told: _Telling) -> list[str]:
    """Return the warnings of deployments, and the reasons why some have no answer."""
    warned, refused = list[tuple[str, str, str]](), [(one.name, _REFUSED, one.refused) for one in columns if one.refused]
    for one in answered:
        for solution in one.solutions:
            if solution.answers:
                warned += [(one.name, kind, text) for kind, text in zip(solution.kinds, solution.warnings, strict=True)]
            elif not one.refused:
                why, unknown = solution.why_not, solution.unknown
                refused.append((one.name, solution.refusal.code, why if why.startswith(unknown) else f"{unknown}: {why}"))
    return [*label_lines("Warning", told(warned, len(columns))), *label_lines("No answer", told(refused, len(columns)))]


def _group_by_text(said: Sequence[tuple[str, str, str]], many: int) -> list[str]:
    """Return each remark once, after the names of its deployments, or without names if it applies to all."""
    names: dict[str, list[str]] = {}
    for name, _, text in said:
        names.setdefault(text.splitlines()[0], []).append(name)
    return [text if len({*of}) == many else f"{', '.join(dict.fromkeys(of))}: {text}" for text, of in names.items()]


def _first_of_each_kind(said: Sequence[tuple[str, str, str]], many: int) -> list[str]:
    """Return the first remark of each kind, with the number of other deployments that have a similar one."""
    names: dict[str, dict[str, str]] = {}
    for name, kind, text in said:
        names.setdefault(kind, {}).setdefault(name, text.splitlines()[0])
    found = []
    for of in names.values():
        (first, *others), texts = of, [*of.values()]
        listed = ", ".join(others) if len(others) < _MOST_NAMED else f"{len(others)} more"
        alike = f" (and similar for {listed})" if others else ""
        found.append(texts[0] if len(others) + 1 == many and len({*texts}) == 1 else f"{first}{alike}: {texts[0]}")
    return found


def _rent(solution: Result) -> float | None:
    """Return the chip price from the tables that an answer uses, or None."""
    return None if solution.provenance.get("chip_price", "given") == "given" else solution.given.get("chip_price")


def _rent_lines(columns: Sequence[Column]) -> list[str]:
    """Return the rents that answers use, by the chips of their deployments, and a warning if their terms differ."""
    rented = {one.hardware: rent for one in columns for solution in one.solutions if (rent := _rent(solution)) is not None}
    said = [f"{show('chip_price', rent)} of {' '.join(chips)}" for chips, rent in rented.items()]
    terms = {frozenset(map(presets.term_of, presets.rents(chip))) for chips in rented for chip in chips}
    lines = label_lines("Rent", [f"{', '.join(said)}. The rents behind the median: backsolve show CHIP"]) if said else []
    return [*lines, *(label_lines("Warning", [_OF_SEVERAL_TERMS]) if len(terms) > 1 else [])]


def _table_by_column(columns: Sequence[Column]) -> list[str]:
    """Return a column for each deployment, a row for each question, and rows for its regime and for the rent."""
    rows = [["", *(one.name for one in columns), "best"]]
    for place, first in enumerate(columns[0].solutions):
        solutions = [one.solutions[place] for one in columns]
        rows.append([_label(first.unknown, solutions), *(_cell(one) for one in solutions), ", ".join(_winners(columns, place))])
        rows += [[f"  {_BESIDE[name]}", *(_cell_beside(one, name) for one in solutions), ""] for name in _names_beside(solutions)]
        if any(_regime(one) for one in solutions):
            rows.append(["  where", *(_regime(one) or _ABSENT for one in solutions), ""])
    prices = [next((rent for solution in one.solutions if (rent := _rent(solution)) is not None), None) for one in columns]
    if any(prices):
        rows.append(["chip_price", *(show("chip_price", price) if price else _ABSENT for price in prices), ""])
    return align_columns(rows, left=[0])


def _table_by_row(columns: Sequence[Column]) -> list[str]:
    """Return a row for each deployment and a column for each question, with the best of each column marked."""
    places = range(len(columns[0].solutions))
    winners = [_winners(columns, place) for place in places]
    asked = [[one.solutions[place] for one in columns] for place in places]
    beside = [_names_beside(solutions) for solutions in asked]
    head = [
        text for of, names in zip(asked, beside, strict=True) for text in (_label(of[0].unknown, of), *(_BESIDE[name] for name in names))
    ]
    rows = [["", *head, "where"]]
    for one in columns:
        cells: list[str] = []
        for solution, names, best in zip(one.solutions, beside, winners, strict=True):
            cells += [_cell(solution), *(_cell_beside(solution, name) for name in names)]
            cells[-1] += f" {_WON}" if one.name in best else "  "
        rows.append([one.name, *cells, _regime(one.solutions[0])])
    return [*align_columns(rows, left=[0]), f"{_WON} the best of its column"]


def _names_beside(solutions: Sequence[Result]) -> list[str]:
    """Return which numbers beside an answer some of these have: with prompts, and the chips to deploy."""
    return [name for name in _BESIDE if any(name in one.beside for one in solutions)]


def _cell_beside(solution: Result, name: str) -> str:
    if name not in solution.beside:
        return _ABSENT
    return _cell(replace(solution, answers=(Answer(kind="point", value=solution.beside[name]),)))


def _swept_table(columns: Sequence[Column]) -> list[str]:
    """Return a sweep: a row for each point, a column for each deployment and question, and a legend if the names are too long."""
    tables = [(one.name, solution.unknown, solution.sweep) for one in columns for solution in one.solutions if solution.sweep]
    several = len({unknown for _, unknown, _ in tables}) > 1
    labels = [f"{unknown} {name}" if several else name for name, unknown, _ in tables]
    letters = [chr(ord("A") + at % 26) + str(at // 26 or "") for at in range(len(labels))]
    sweeps = [(unknown, table) for _, unknown, table in tables]
    rows = align_columns([*join_sweeps(sweeps, labels)], left=[0])
    if max(map(len, rows)) > SCREEN_WIDTH:
        legend = [f"{letter}: {label}" for letter, label in zip(letters, labels, strict=True)]
        rows = [*align_columns([*join_sweeps(sweeps, letters)], left=[0]), *legend]
    bound = same_bound(table.bound for _, _, table in tables)
    return rows if several else [f"{tables[0][1]}{bound_in_brackets(bound)}", *rows]


def _label(unknown: str, solutions: Sequence[Result]) -> str:
    """Return the quantity, with the common bound of its answers."""
    return unknown + bound_in_brackets(same_bound(answer.bound for one in solutions for answer in one.answers))


def _cell(solution: Result) -> str:
    return " or ".join(text_of(solution.unknown, replace(one, bound=None)) for one in _whole_answers(solution)) or _ABSENT


def _whole_answers(solution: Result) -> Sequence[Answer]:
    """Return the answers with whole numbers of chips or replicas, and with whole bounds of other counts."""
    if solution.unknown not in COUNTED:
        return solution.answers
    return [_round_answer(one) if one.kind == "interval" or solution.unknown in BOUGHT else one for one in solution.answers]


def _round_answer(one: Answer) -> Answer:
    low = None if one.low is None else next_whole(one.low, LOWER)
    high = one.high and (next_whole(one.high, UPPER) or one.high)
    return replace(one, value=one.value if one.bound == UPPER else one.whole_ones, low=low, high=high)


def _regime(solution: Result) -> str:
    return " or ".join(dict.fromkeys(words for one in solution.answers if (words := brief_regime(one, solution.equations))))


def better_side(unknown: str) -> int:
    """Return whether more (1) or less (-1) of a quantity is better, or 0 if neither is.

    >>> better_side("step_time"), better_side("throughput"), better_side("chips"), better_side("batch"), better_side("layers")
    (-1, 1, -1, 1, 0)
    """
    unit = QUANTITIES[unknown].unit
    if unknown in COUNTED or unknown == "compute_utilisation" or unit == "token":
        return -1 if unknown in BOUGHT else 1
    return BETTER.get(unknown, BETTER.get(unit, 0))


def _winners(columns: Sequence[Column], place: int) -> list[str]:
    """Return the deployments that fit and have the best answer, or none if all are equal or cannot be compared.

    Answers with a fraction of a replica cannot be compared, because whole replicas may reverse the order. What is beside all of them is
    compared in place of them.
    """
    if any(_PART_OF_A_REPLICA in one.solutions[place].kinds for one in columns):
        return []
    sign = better_side(columns[0].solutions[place].unknown)
    single = {one.name: one.solutions[place] for one in columns if len(one.solutions[place].answers) == 1}
    fitting = {name: one for name, one in single.items() if not any(text.startswith(SHORT) for text in one.warnings)}
    shown = next((name for name in reversed(_BESIDE) if all(name in one.beside for one in fitting.values())), "")
    ends = {name: one.beside[shown] if shown else shown_end(_whole_answers(one)[0]) for name, one in fitting.items()}
    values = {name: sign * end for name, end in ends.items() if end is not None}
    if not sign or len(values) < 2 or max(values.values()) == min(values.values()):
        return []
    return [name for name, value in values.items() if value == max(values.values())]
