"""Write CSV tables: values as cells, and content with rows added and cells changed. All other lines stay as they are."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from io import StringIO

_BLANK = ", \t\r\n\ufeff"
"""The characters of a line without a filled cell."""


def cell_text(value: object) -> str:
    """Return a value as a cell: plain decimals, ISO dates.

    >>> from datetime import date
    >>> cell_text(1e-05), cell_text(3.0), cell_text(True), cell_text(None), cell_text(date(2026, 11, 20))
    ('0.00001', '3', 'true', '', '2026-11-20')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}".removesuffix(".0")
    return "" if value is None else str(value)


def line_text(cells: Iterable[object]) -> str:
    """Return cells as a line of CSV, without its end."""
    out = StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def edited_table(
    content: bytes, columns: Sequence[str], added: Sequence[Mapping[str, str]] = (), changed: Mapping[int, Mapping[str, str]] | None = None
) -> bytes:
    """Return the content of a table with rows added at its end and cells changed by row number.

    A column that the table needs and does not have is added at the right, in the order of `columns`.

    >>> edited_table(b"", ("model", "amount"), [{"model": "m", "amount": "2"}])
    b'model,amount\\nm,2\\n'
    >>> edited_table(b"amount\\n2\\n3\\n", ("amount", "valid_to"), changed={2: {"valid_to": "2026-12-01"}})
    b'amount,valid_to\\n2,2026-12-01\\n3,\\n'
    """
    changed = changed or {}
    filled = {column for row in (*added, *changed.values()) for column in row}
    used = [column for column in columns if column in filled]
    # A line ends in LF or CRLF. `splitlines` would also split at characters that a cell may hold.
    lines = content.decode(errors="surrogateescape").split("\n")
    lines = [*(line + "\n" for line in lines[:-1]), *filter(None, lines[-1:])]
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    place = next((place for place, line in enumerate(lines) if line.strip(_BLANK)), None)
    if place is None:
        header, lines = used, [*lines, line_text(used) + end]
    else:
        header = [name.strip().lower() for name in next(csv.reader([lines[place].lstrip("\ufeff")]), [])]
        missing = [column for column in used if column not in header]
        if missing:
            blank = "," * len(missing)
            wider = [_before_end(line, blank) if line.strip() else line for line in lines[place + 1 :]]
            lines, header = [*lines[:place], _before_end(lines[place], "," + line_text(missing)), *wider], [*header, *missing]
    for number, cells in changed.items():
        lines[number - 1] = _with_cells(lines[number - 1], header, cells)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    lines += [line_text([row.get(column, "") for column in header]) + end for row in added]
    return "".join(lines).encode(errors="surrogateescape")


def _before_end(line: str, text: str) -> str:
    bare = line.rstrip("\r\n")
    return bare + text + line[len(bare) :]


def _with_cells(line: str, header: Sequence[str], changed: Mapping[str, str]) -> str:
    bare = line.rstrip("\r\n")
    cells = dict(zip(header, next(csv.reader([bare])), strict=True)) | {**changed}
    return line_text(cells.values()) + line[len(bare) :]
