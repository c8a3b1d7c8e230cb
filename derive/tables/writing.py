"""Write CSV tables: values as cells, and content with rows added and cells changed. All other lines stay as they are."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from io import StringIO
from itertools import zip_longest

_BLANK = ", \t\r\n\ufeff"
"""The characters of a line without a filled cell."""
_FORMULA_SIGNS = "=+-@"
"""First characters of a cell that a spreadsheet reads as a formula."""


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
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


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
    text = content.decode(errors="surrogateescape")
    # `splitlines` would also split at characters that a cell may hold.
    lines, ends = re.split("\r?\n", text), re.findall("\r?\n", text)
    if not lines[-1]:
        lines.pop()
    place = next((place for place, line in enumerate(lines) if line.strip(_BLANK)), None)
    if place is None:
        header, lines = used, [*lines, line_text(used)]
    else:
        header = [name.strip().lower() for name in next(csv.reader([lines[place].lstrip("\ufeff")]), [])]
        if missing := [column for column in used if column not in header]:
            lines[place] += "," + line_text(missing)
            lines[place + 1 :] = [line + "," * len(missing) if line.strip() else line for line in lines[place + 1 :]]
            header += missing
    for number, cells in changed.items():
        old = dict(zip(header, next(csv.reader([lines[number - 1]])), strict=True))
        lines[number - 1] = line_text((old | {**cells}).values())
    lines += [line_text([row.get(column, "") for column in header]) for row in added]
    usual = ends[0] if ends else "\n"
    return "".join(line + end for line, end in zip_longest(lines, ends, fillvalue=usual)).encode(errors="surrogateescape")


def begins_as_formula(text: str, signs: str = _FORMULA_SIGNS) -> bool:
    """Return whether a spreadsheet may read a cell as a formula. White space in front is ignored, and wide signs count.

    >>> begins_as_formula(" =1+1"), begins_as_formula("a=1"), begins_as_formula("-1", "=@")
    (True, False, False)
    """
    return unicodedata.normalize("NFKC", text.lstrip()[:1]).startswith(tuple(signs))
