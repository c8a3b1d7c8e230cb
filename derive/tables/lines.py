"""CSV text as rows of cells, and the problems of a file, a row or a cell. A row is one line, so an open quote spoils only its own row."""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from derive.errors import WrongData, plain_word, shorten, suggest, trimmed, unseen
from derive.immutable import immutable

ROW_LIMIT, LINE_LIMIT = 1_000_000, 64_000
"""The most rows of a file, blank lines included, and the most characters of a line.

A reader keeps all rows in memory, about 0.9 kB each, and checks about 25,000 rows a second. The limit keeps a file below one minute and
0.9 GB.
"""
_OTHERS_NAMED = 4
"""Maximum number of missing or further unknown columns in a message."""

Source: TypeAlias = Iterable[str | bytes]
"""Lines of text or bytes, such as a stream."""


@immutable
class Problem:
    """One thing wrong with a file, a row or a cell. `str()` gives the line that people read.

    >>> print(Problem(origin="prices.csv", row=12, column="amount", message="'abc' is not a number"))
    prices.csv row 12, column amount: 'abc' is not a number
    """

    origin: str
    message: str
    row: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        row = "" if self.row is None else f" row {self.row}"
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.origin}{row}{column}: {self.message}"


def first_of_each_place(problems: Iterable[Problem]) -> list[Problem]:
    """Return the first problem of each cell, row or file."""
    found: dict[tuple[str, int | None, str | None], Problem] = {}
    for one in problems:
        found.setdefault((one.origin, one.row, one.column), one)
    return list(found.values())


class BadRow(WrongData):
    """A question needs a table that cannot be used. `problems` name its wrong rows, and the message has a line for each."""

    def __init__(self, *problems: Problem):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class Row(dict[str, str]):
    """The cells of a row by column, its line number in the file, and why it cannot be split into cells, or ""."""

    # No `__init__`: a file has a million rows.
    __slots__ = ("fault", "place")
    place: int
    fault: str


class CsvTable:
    """The rows of a CSV file under its header. Raise BadRow for a file without a usable header, and in the loop for a file without rows.

    `columns` are the described columns, and `needed` the required ones. `other_names` are common names of described
    columns. `unknown` is the advice for columns without a description, or blank. Case and outer spaces of a header do not matter.

    >>> [(row.place, row) for row in CsvTable(["a,b", "", "1,2"], "my.csv", ("a", "b"))]
    [(3, {'a': '1', 'b': '2'})]
    """

    def __init__(
        self,
        source: Source,
        origin: str,
        columns: Collection[str],
        needed: Collection[str] | None = None,
        other_names: Mapping[str, str] = {},
    ):
        self.origin = origin
        self._lines = self._split_lines(source)
        place, cells, fault = next(self._lines, (0, [], "is empty. Its first line must name the columns"))
        if fault:
            raise BadRow(self._problem(fault, place or None))
        described = {name.lower(): name for name in columns}
        self.header = [described.get(name.lower(), name) for name in cells]
        unknown = _unknown_columns(self.header, columns, other_names)
        self._refuse_header(place, columns if needed is None else needed, unknown)
        self.unknown = self._problem(_all_unknown(unknown), place) if unknown else None

    def _split_lines(self, source: Source) -> Iterator[tuple[int, list[str], str]]:
        """Yield the number, the cells and the fault of each line that is not blank."""
        for place, raw in enumerate(source, start=1):
            if place > ROW_LIMIT + 1:
                raise WrongData(f"{self.origin} has more than {ROW_LIMIT:,} rows, which is the limit. Split it, or leave out rows")
            cells, fault = split_line(raw, first=place == 1)
            if fault or any(cells):
                yield place, cells, fault

    def __iter__(self) -> Iterator[Row]:
        header, width, is_empty = self.header, len(self.header), True
        for place, cells, fault in self._lines:
            is_empty = False
            # The first cells of a bad row are probably in the right columns. They tell which answers need the row.
            row = Row(zip(header, cells, strict=False))
            row.place, row.fault = place, fault
            if not fault and len(cells) != width:
                advice = "A comma inside a cell needs quotes around the cell" if len(cells) > width else "A blank cell also needs its comma"
                row.fault = f"the header has {width} cells, and the row has {len(cells)}. {advice}"
            yield row
        if is_empty:
            raise BadRow(self.unknown or self._problem("has a header and no rows. Write a row below it"))

    def _problem(self, message: str, place: int | None = None, column: str | None = None) -> Problem:
        return Problem(origin=self.origin, row=place, column=column, message=message)

    def _refuse_header(self, place: int, needed: Collection[str], unknown: list[str]) -> None:
        """Raise BadRow if a column occurs twice or a needed column is missing."""
        twice = next((name for name in self.header if name and self.header.count(name) > 1), None)
        if twice:
            raise BadRow(self._problem("is twice in the header. Name it once", place, twice))
        missing = [name for name in needed if name not in self.header]
        if not missing:
            return
        first = self.header[0]
        if first.lower().startswith("sep="):
            raise BadRow(self._problem(f"{shorten(first)} is a line for spreadsheets. Remove it", place))
        mark = next((mark for mark in (";", "\t", "|") if mark in first), None)
        hint = f"cells are separated by commas, not {mark!r}" if mark else "; ".join(unknown[:2])
        if not mark and len(missing) == len(needed):
            hint = "write the names of the columns in the first line, and remove a title or a comment"
        named = f"{', '.join(missing[:_OTHERS_NAMED])}{_count_more(missing)}"
        raise BadRow(self._problem(f"there is no column {named}{f'; {hint}' if hint else '. Add it to the header'}", place))


def split_line(raw: str | bytes, first: bool = False) -> tuple[list[str], str]:
    """Return the cells of a line without outer white space, and why the line cannot be read, or "".

    >>> split_line("a, b "), split_line(b'"a,b')[1].partition(".")[0]
    ((['a', 'b'], ''), 'is not CSV (unexpected end of data)')
    """
    text, fault = _decode(raw, first)
    text = text.removesuffix("\n").removesuffix("\r")
    if "\n" in text or "\r" in text:
        text, fault = re.split("[\r\n]", text)[0], fault or "has a line break inside. Lines end in LF or CRLF"
    if len(text) > LINE_LIMIT:
        return [], fault or "the line is longer than 64 kB"
    try:
        cells = next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        cells, fault = text.split(","), fault or f"is not CSV ({error}). Close a quote on its line, and double it inside a cell"
    return [*map(trimmed, cells)], fault


def _decode(raw: str | bytes, first: bool) -> tuple[str, str]:
    """Return the text of a line and why it is not UTF-8, or "". The first line may begin with a byte order mark."""
    if isinstance(raw, str):
        return (raw.removeprefix("\ufeff") if first else raw), ""
    if first:
        if raw.startswith(b"PK\x03\x04"):
            return "", "this is a spreadsheet file (xlsx, ods) or another archive, not text. Save it as CSV in UTF-8"
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw:
            return "", "this is UTF-16 or not text. Save it as CSV in UTF-8"
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode(), ""
    except UnicodeDecodeError as error:
        fault = f"byte {error.object[error.start]:#04x} at position {error.start + 1} is not UTF-8. Save it as UTF-8"
        return raw.decode(errors="replace"), fault


def _unknown_columns(header: list[str], columns: Collection[str], other_names: Mapping[str, str]) -> list[str]:
    """Return a message on each column without a description. Columns that resemble a described one come first."""
    found = {
        f"unknown column {shorten(name)}{unseen(name)}{_intended_column(name, header, columns, other_names)}"
        if name
        else "a column without a name (each line has one comma too many)"
        for name in header
        if name not in columns
    }
    return sorted(found, key=lambda message: "did you mean" not in message)


def _intended_column(name: str, header: list[str], columns: Collection[str], other_names: Mapping[str, str]) -> str:
    """Return a hint on the column that an unknown name means, or "". The hint names no column of the header."""
    ours = other_names.get(plain_word(name))
    missing = [column for column in columns if column not in header]
    return f"; did you mean {ours!r}?" if ours in missing else suggest(name, missing, lists=False)


def _all_unknown(messages: list[str]) -> str:
    """Return the message on all unknown columns. An unread column may hold the currency or the dates of the others."""
    first, *others = messages
    if not others:
        return f"{first}{'' if first.endswith('?') else '.'} Rename the column or remove it"
    return f"{first}\nand {', '.join(others[:_OTHERS_NAMED])}{_count_more(others)}. Rename these columns or remove them"


def _count_more(names: Collection[str]) -> str:
    """Return the number of names beyond those that a message has."""
    return f" and {len(names) - _OTHERS_NAMED} more" if len(names) > _OTHERS_NAMED else ""
