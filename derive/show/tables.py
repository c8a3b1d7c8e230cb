"""Print answers over ranges and sweeps: their spans, tables, and their points in CSV and JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import isclose
from typing import Any

from derive.answers import OR, Answer, Spans, Sweep
from derive.show.binding import plain_regime
from derive.show.values import text_of
from derive.tables.writing import line_text
from derive.units import show

_Fields = Callable[[Answer], dict[str, Any]]

_METHODS = {
    "bounds": "exact ends: the answer is monotonic in each range, at {samples:,} points",
    "sampled": "seen at {samples:,} points: the answer rises and falls, moves in steps, has gaps or has no closed form",
}
UNANSWERED = Answer(kind="none")
"""Placeholder for the answer of a question that has none."""
_NUMBER = "<number>"
"""Placeholder in a text for the number of each point."""


def span_lines(unknown: str, spans: Spans, bound: str | None) -> list[str]:
    """Return the ends, the quantiles, both ends in every regime, and the ranges that change the answer most."""
    how = _METHODS[spans.method].format(samples=spans.samples)
    ends = f"{show(unknown, spans.low)} and {show(unknown, spans.high)}"
    lines = [f"{unknown}: between {ends}{OR[bound]}   ({how})"]
    known = {name: value for name, value in spans.quantiles.items() if value is not None}
    quantiles = ", ".join(f"{show(unknown, value)} at {name.removeprefix('p').lstrip('0')} %" for name, value in known.items())
    lines += [f"  {quantiles}   (each range uniform and independent)"] if known else []
    for regime, low, high, share in spans.sides:
        if regime:
            lines.append(
                f"  where {plain_regime(regime)}: {show(unknown, low)} to {show(unknown, high)}, {100 * share:.3g} % of the ranges"
            )
    moving = [(name, show(unknown, low), show(unknown, high)) for name, low, high in spans.tornado if not isclose(low, high)]
    lines += [
        f"{'matters most' if not place else '':<14}{name} {show(name, spans.ranges[name][0])} to {show(name, spans.ranges[name][1])}:"
        f" {unknown} {low} to {high}"
        for place, (name, low, high) in enumerate(moving)
    ]
    idle = [name for name, low, high in spans.tornado if isclose(low, high)]
    return [*lines, *([f"{'no effect':<14}{', '.join(idle)}, the others are at their middle"] if idle else [])]


def sweep_lines(unknown: str, table: Sweep) -> Iterator[str]:
    """Yield a line for each point, with aligned columns. The rows are computed twice instead of kept in memory."""
    widths = [len(cell) for cell in sweep_head(unknown, table)]
    for row in sweep_cells(unknown, table):
        widths = [max(width, len(cell)) for width, cell in zip(widths, row, strict=True)]
    for row in chain([sweep_head(unknown, table)], sweep_cells(unknown, table)):
        yield "   ".join([*map(str.rjust, row[:-1], widths), row[-1]]).rstrip()


def sweep_head(unknown: str, table: Sweep) -> list[str]:
    """Return the names of the columns. If all answers are bounds, the column says so."""
    return [*table.given, unknown + (f" ({OR[table.bound].strip()})" if table.bound else ""), "where"]


def sweep_cells(unknown: str, table: Sweep) -> Iterator[list[str]]:
    """Return an iterator of the rows: the givens, the answers, and their regime or why there is no answer."""
    said = table.bound is not None
    return (_texts(unknown, said, *row) for row in table.rows())


def _texts(unknown: str, said: bool, given: dict[str, float], answers: tuple[Answer, ...], reason: Any) -> list[str]:
    values = " or ".join(text_of(unknown, one, bound=not said) for one in answers) or "-"
    where = " or ".join(dict.fromkeys(plain_regime(one.regime) for one in answers if one.regime))
    return [*(show(name, value) for name, value in given.items()), values, where or (reason.message.splitlines()[0] if reason else "")]


def csv_points(table: Sweep, answer_cells: _Fields) -> Iterator[str]:
    """Yield the points of a sweep as lines of CSV, a line for each answer, or one line for a point without an answer."""
    for part in table.alike():
        answers = part.answers or (UNANSWERED,)
        numbers = [[column] for column in part.values] or [[]] * len(answers)
        texts = (line_text([*[_NUMBER] * len(part.given), *_template_fields(one, answer_cells).values()]) for one in answers)
        rows = (_fill_template(text, _NUMBER, [*part.given, *own]) for text, own in zip(texts, numbers, strict=True))
        yield from chain.from_iterable(zip(*rows, strict=True))


def json_points(table: Sweep, answer_record: _Fields, indentation: int) -> Iterator[str]:
    """Yield the points of a sweep as JSON, each as a text of several lines."""
    for part in table.alike():
        record = {"given": dict.fromkeys(table.given, _NUMBER), "answers": [_template_fields(one, answer_record) for one in part.answers]}
        margin = " " * indentation
        text = margin + json.dumps(record, indent=2, allow_nan=False).replace("\n", f"\n{margin}")
        yield from _fill_template(text, json.dumps(_NUMBER), [*part.given, *part.values])


def _template_fields(answer: Answer, fields: _Fields) -> dict[str, Any]:
    """Return the fields of an answer, with a placeholder for the number of a point."""
    return fields(answer) | ({"value": _NUMBER} if answer.kind == "point" else {})


def _fill_template(text: str, hole: str, columns: Sequence[Sequence[float]]) -> Iterator[str]:
    """Return an iterator of the text with the numbers of each row in its placeholders. The rest of the text is formatted once."""
    frame = text.replace("%", "%%").replace(hole, "%r")
    return map(frame.__mod__, zip(*columns, strict=True))


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
