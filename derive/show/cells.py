"""Cells of tables: side by side in columns, and exported, where what a spreadsheet would act upon is text and stays text."""

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence

from derive.characters import begins_as_formula

_LAID_OUT = "\n\t"
"""What is not printed and lays a text out. A carriage return does not: it is not quoted, and ends the row for a reader."""


def in_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (), gap: str = "   ") -> list[str]:
    """Rows of as many cells each with their columns below each other, to the right but for those of these places.

    >>> in_columns([["chip", "batch"], ["H100-SXM", "64"]], left=[0])
    ['chip       batch', 'H100-SXM      64']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust if place in left else str.rjust for place in range(len(widths))]
    return [gap.join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True)).rstrip() for row in rows]


def inert(value: object) -> object:
    """A cell as it may stand in a CSV: a text that begins as a formula does has a ' before it, a number stays one.

    What a terminal acts upon is spelled out.

    >>> inert("=1+1"), inert("gemini"), inert(-1.5), inert(True)
    ("'=1+1", 'gemini', -1.5, 'true')
    >>> inert("\\x1b[31mred"), inert("acme/\\r=1")
    ('\\\\x1b[31mred', 'acme/\\\\r=1')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    told = (
        value if value.isprintable() else "".join(mark if mark.isprintable() or mark in _LAID_OUT else repr(mark)[1:-1] for mark in value)
    )
    return f"'{told}" if begins_as_formula(value) else told


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A CSV of these rows under a header, no line break at its end.

    >>> print(csv_text(("model", "amount"), [{"model": "@m", "amount": 2.0}]))
    model,amount
    '@m,2.0
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: inert(row[column]) for column in columns} for row in rows)
    return out.getvalue().rstrip("\n")
