"""Cells of exported tables: what a spreadsheet would act upon is text, and stays text."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

ACTED_UPON = ("=", "+", "-", "@", "\t", "\r")
"""What a cell that spreadsheets take for a formula begins with."""


def inert(value: object) -> object:
    """A cell as it may stand in a CSV: a text that begins as a formula does has a ' before it, a number stays one.

    >>> inert("=1+1"), inert("gemini"), inert(-1.5), inert(True)
    ("'=1+1", 'gemini', -1.5, 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(ACTED_UPON) else value


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
