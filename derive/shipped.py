"""The tables that ship: read together from beside this code, held to their description, a bad row named and left out."""

import csv
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import inf
from typing import Any, TypeAlias, cast

from derive import preset_rows
from derive.characters import SPACES, hidden, mark_in_words, trimmed
from derive.errors import WrongData, shorten, suggest
from derive.immutable import immutable
from derive.shipped_rows import AnyRecord, Fault, TableRow, figure, iso_date, record_of, truth, whole
from derive.shipped_rules import ACROSS, ROW

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "pricing_data")
"""Beside this package, in a checkout and in a wheel alike: no folder of that name elsewhere takes its place."""
DESCRIPTION = "datapackage.json"
FILES = (
    *("prices.csv", "prices_rivals.csv", "prices_calibration.csv", "fx.csv", "models.csv", "hardware.csv", "efficiencies.csv"),
    "efficiency_fit.csv",
    *("memory_tiers.csv", "architectures.csv", "short_names.csv", "calibration_models.csv", "disclosures.csv", "open_models.csv"),
    *("list_prices.csv", "host_prices.csv", "disclosed_sizes.csv", "price_history.csv", "natural_experiments.csv"),
    "knowledge_scores.csv",
    *("claims.csv", "problems.csv", DESCRIPTION),
)
_SMALLEST, _LARGEST = 1e-20, 1e20
"""No figure of these tables lies beyond, in any unit; further out its powers could not be calculated with."""
_FEW = 4
"""Rows that a message lists; of more, it names the first."""


@immutable
class Problem:
    """One thing wrong with a file, a row or a cell; `str()` gives the plain line that people read.

    >>> print(Problem(origin="prices.csv", row=12, column="amount", message="'abc' is not a number"))
    prices.csv row 12, column amount: 'abc' is not a number
    """

    origin: str
    row: int | None
    column: str | None
    message: str

    def __str__(self) -> str:
        row = "" if self.row is None else f" row {self.row}"
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.origin}{row}{column}: {self.message}"


class BadRow(WrongData):
    """What is asked rests on a row that cannot be used; `problem` names it."""

    def __init__(self, problem: Problem):
        super().__init__(str(problem))
        self.problem = problem


class Row(dict[str, str]):
    """The cells of a row by column, and the line of the file it stands on."""

    __slots__ = ("place",)

    def __init__(self, cells: Mapping[str, str], place: int):
        super().__init__(cells)
        self.place = place


_RawRows: TypeAlias = tuple[tuple[str, ...], tuple[tuple[Row, str], ...]]
"""The columns of a table, and every row with why it cannot be taken apart, or ""."""
_RowsRead: TypeAlias = tuple[tuple[Row, tuple[Fault, ...], TableRow | None], ...]
"""Every row by itself, what is wrong with it, and its record where its cells are sound."""

# Tables.


class Tables:
    """The content of every file as read at one time, or why one could not be read.

    A table is taken apart and checked when it is first asked for.

    >>> from derive.price_rows import FxRate
    >>> read().rows_of(FxRate)[0].units_per_usd
    7.2
    """

    __slots__ = ("_checked", "_each", "_parts", "_raw_rows", "_schemas", "files")

    def __init__(self, files: Mapping[str, bytes | str]):
        self.files = files
        self._schemas: Mapping[str, Mapping[str, Any]] | None = None
        self._checked: dict[str, Checked] = {}
        self._raw_rows: dict[str, _RawRows] = {}
        self._each: dict[str, _RowsRead] = {}
        self._parts: dict[tuple[str, str, str], Tables] = {}

    def edited(self, **contents: str) -> "Tables":
        """These tables with the content of some replaced, by name: `edited(fx="currency,date,...")`."""
        return self.of({**self.files, **{f"{name}.csv": text.encode() for name, text in contents.items()}})

    def of(self, files: Mapping[str, bytes | str]) -> "Tables":
        """Tables of these files, with the rows that were read before where neither their file nor the description differs by a byte."""
        made = Tables(files)
        if files.get(DESCRIPTION) == self.files.get(DESCRIPTION):
            same = {file for file, content in files.items() if self.files.get(file) == content}
            made._raw_rows.update((name, rows) for name, rows in list(self._raw_rows.items()) if f"{name}.csv" in same)
            made._each.update((name, rows) for name, rows in list(self._each.items()) if f"{name}.csv" in same)
        return made

    def content(self, file: str) -> bytes:
        """The bytes of a file; `WrongData` where it is not there or cannot be read."""
        found = self.files.get(file)
        if found is None:
            raise BadRow(Problem(origin=file, row=None, column=None, message="not among the data that ships"))
        if isinstance(found, str):
            raise BadRow(Problem(origin=file, row=None, column=None, message=f"cannot be read: {found}"))
        return found

    def described(self, name: str) -> Mapping[str, Any]:
        """The schema of a table in datapackage.json."""
        self.content(f"{name}.csv")
        if self._schemas is None:
            self._schemas = _schemas(self.content(DESCRIPTION))
        try:
            return self._schemas[f"{name}.csv"]
        except KeyError:
            raise BadRow(Problem(origin=DESCRIPTION, row=None, column=None, message=f"does not describe {name}.csv")) from None

    def raw_rows(self, name: str) -> "_RawRows":
        """The columns, and every row with why it cannot be taken apart, or ""."""
        # setdefault and not an assignment: two threads must share one.
        found = self._raw_rows.get(name)
        return found or self._raw_rows.setdefault(name, _taken_apart(name, self.content(f"{name}.csv"), self.described(name)))

    def each_row(self, name: str) -> "_RowsRead":
        """Every row by itself: with what is wrong with it, and its record where its cells are sound."""
        found = self._each.get(name)
        return found or self._each.setdefault(name, _read_rows(name, self.raw_rows(name), self.described(name)))

    def checked(self, name: str) -> "Checked":
        """A table by its description in datapackage.json, and by the rules of what goes together."""
        return self._checked.get(name) or self._checked.setdefault(name, _held_to(self, name))

    def only(self, name: str, column: str, cell: str) -> "Tables":
        """A table by itself, of the rows alone that have this cell: what rests on a few rows need not wait for the others.

        >>> from derive.preset_rows import AcceleratorFigure
        >>> {row.accelerator for row in read().only("hardware", "accelerator", "H100-SXM").rows_of(AcceleratorFigure)}
        {'H100-SXM'}
        """
        part = self._parts.get((name, column, cell))
        if part is None:
            columns, rows = self.raw_rows(name)
            part = Tables(self.files)
            part._schemas = self._schemas
            part._raw_rows[name] = (columns, tuple((row, why) for row, why in rows if row.get(column) == cell))
        return self._parts.setdefault((name, column, cell), part)

    def rows_of(self, record: type[AnyRecord]) -> tuple[AnyRecord, ...]:
        """The sound rows of the table that a record is a row of; `WrongData` names a file that cannot be used at all."""
        return cast("tuple[AnyRecord, ...]", self.checked(record.TABLE).records)

    def refuse_bad(self, name: str, **cells: str) -> None:
        """Raises `BadRow` where a bad row of a table has these cells, or may have meant to: then what is asked would rest on it."""
        for row, columns, problem in self.checked(name).bad:
            if all((columns is not None and column in columns) or row.get(column, text) == text for column, text in cells.items()):
                raise BadRow(problem)

    def no_row(self, record: type[TableRow], column: str, wanted: str) -> Problem:
        """What to say of a table that should have a row of this name and has none, with the nearest names: which is wrong is not known.

        >>> from derive.preset_rows import AcceleratorFigure
        >>> print(read().no_row(AcceleratorFigure, "accelerator", "H10O-SXM"))
        hardware.csv, column accelerator: there is no 'H10O-SXM'; nearest are 'H100-SXM' (row 13), 'H800-SXM' (row 348), 'H200-SXM' (row 34)
        """
        from difflib import get_close_matches

        first = {getattr(row, column): row.place for row in reversed(self.rows_of(record))}
        near = get_close_matches(wanted, first, n=3, cutoff=0.7)
        hint = f"; nearest {'is' if len(near) == 1 else 'are'} " + ", ".join(f"{shorten(one)} (row {first[one]})" for one in near)
        return Problem(
            origin=f"{record.TABLE}.csv", row=None, column=column, message=f"there is no {shorten(wanted)}{hint if near else ''}"
        )

    def problems(self, *names: str) -> tuple[Problem, ...]:
        """Everything wrong with these tables."""
        found: list[Problem] = []
        for name in names:
            try:
                found += self.checked(name).problems
            except BadRow as error:
                found.append(error.problem)
        return tuple(found)


_last = Tables({})


def read(folder: str | os.PathLike[str] | None = None) -> Tables:
    """All files of a folder, by default those that ship; what was worked out before is kept where no byte differs."""
    place = folder or FOLDER
    return _kept({name: content for name in FILES if (content := _content(os.path.join(place, name))) is not None})


def _kept(files: Mapping[str, bytes | str]) -> Tables:
    """The last tables if they are of these very files, else new ones."""
    global _last  # noqa: PLW0603 (one set of tables is kept: the last)
    last = _last
    if files != last.files:
        last = _last = last.of(files)
    return last


def _content(path: str) -> bytes | str | None:
    """The bytes of a file, why it cannot be read, or None where there is no such file."""
    try:
        # Not to wait for whoever writes into a pipe.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb", buffering=0) as file:
            return file.readall() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except FileNotFoundError:
        return None
    except OSError as fault:
        return fault.strerror or str(fault)


def content(file: str) -> bytes:
    """The bytes of a file that ships; `WrongData` where it is not there or cannot be read."""
    return read().content(file)


def rows_of(record: type[AnyRecord]) -> tuple[AnyRecord, ...]:
    """The sound rows of the table that a record is a row of; `WrongData` names a file that cannot be used at all.

    >>> from derive.price_rows import FxRate
    >>> rows_of(FxRate)[0].units_per_usd
    7.2
    """
    return read().rows_of(record)


def problems(*names: str) -> tuple[Problem, ...]:
    """Everything wrong with these tables.

    >>> problems("hardware", "models")
    ()
    """
    return read().problems(*names)


def _schemas(description: bytes) -> Mapping[str, Mapping[str, Any]]:
    """The schema of every file that a description has; of one that cannot be read, none."""
    try:
        return {one["path"]: one["schema"] for one in json.loads(description)["resources"] if one.keys() >= {"path", "schema"}}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


# Rows.


@immutable(kw_only=False)
class Checked:
    """A table held to its description: its sound rows, the bad ones with the columns at fault (None: all), and every problem.

    The sound rows are those of a table that has a record; of prices, none.
    """

    records: tuple[TableRow, ...]
    bad: tuple[tuple[Mapping[str, str], frozenset[str] | None, Problem], ...]
    problems: tuple[Problem, ...]


def _held_to(tables: Tables, name: str) -> Checked:
    """A table by its description, and by the rules of what goes together."""
    file, (columns, numbered), schema = f"{name}.csv", tables.raw_rows(name), tables.described(name)
    fields, found = _fields(schema), tables.each_row(name)
    alone = [(row, fault) for row, faults, _ in found for fault in faults]
    records = {row.place: record for row, _, record in found if record}
    sound = _without([row for row, _ in numbered], alone)
    present = [row for row, why in numbered if not why]
    rules: tuple[_Across, ...] = (_repeated(schema.get("primaryKey", ())), *ACROSS.get(name, ()), _strangers(tables, schema))
    together = _with_rows([(row, (column, why)) for rule in rules for row, column, why in rule(sound, present)])
    marked: dict[int, set[str | None]] = {}
    for row, (column, _) in (*alone, *together):
        marked.setdefault(row.place, set()).add(column)
    bad = tuple((row, _columns(marked[row.place]), _problem(file, row, *fault)) for row, fault in (*alone, *together))
    unknown = [
        Problem(origin=file, row=1, column=None, message=f"unknown column {shorten(one)}{suggest(one, fields)}")
        for one in columns
        if one not in fields
    ]
    # A fault of many rows together is named once, by the first of them.
    once = {fault: (row, fault) for row, fault in reversed(together)}.values()
    named = sorted((_problem(file, row, *fault) for row, fault in (*alone, *once)), key=lambda problem: problem.row or 0)
    kept = tuple(records[row.place] for row in _without(sound, together) if row.place in records)
    return Checked(kept, bad, (*unknown, *named))


def _problem(file: str, row: Row, column: str | None, message: str) -> Problem:
    return Problem(origin=file, row=row.place, column=column, message=message)


def _with_rows(together: list[tuple[Row, Fault]]) -> list[tuple[Row, Fault]]:
    """A fault that a few rows share, with all of these rows in its message: the first of them need not be the wrong one."""
    places: dict[Fault, list[int]] = {}
    for row, fault in together:
        places.setdefault(fault, []).append(row.place)
    listed = {
        fault: (fault[0], f"{fault[1]} (rows {', '.join(map(str, of_it))})" if 1 < len(of_it) <= _FEW else fault[1])
        for fault, of_it in places.items()
    }
    return [(row, listed[fault]) for row, fault in together]


def _fields(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {field["name"]: field for field in schema["fields"]}


def _read_rows(name: str, raw: _RawRows, schema: Mapping[str, Any]) -> _RowsRead:
    fields = _fields(schema)

    # Most cells of a long table are blank, or like others of their column.
    @cache
    def fault(column: str, text: str) -> str:
        return _cell_fault(fields.get(column), text)

    return tuple((row, *((((None, why),), None) if why else _read_row(name, row, fault))) for row, why in raw[1])


def _read_row(name: str, row: Row, fault: Callable[[str, str], str]) -> tuple[tuple[Fault, ...], TableRow | None]:
    """What is wrong with a row, and its record where its cells are sound: with those, what they do not make together."""
    faults: tuple[Fault, ...] = tuple((column, why) for column, text in row.items() if (why := fault(column, text)))
    of_table = record_type(name)
    if faults or of_table is None:
        return faults, None
    record = record_of(of_table, row, row.place)
    if not isinstance(record, TableRow):
        # The description of the column allows what its record cannot hold.
        return (record,), None
    return tuple(ROW[name](record)) if name in ROW else (), record


@cache
def record_type(name: str) -> type[TableRow] | None:
    """What a row of a table is; None of prices, which are read with the files that people lay over them.

    >>> record_type("hardware").__name__, record_type("prices")
    ('AcceleratorFigure', None)
    """
    if name in preset_rows.PRESET_RECORDS:
        return preset_rows.PRESET_RECORDS[name]
    from derive import price_rows

    return price_rows.PRICE_RECORDS.get(name)


def _without(rows: list[Row], faults: list[tuple[Row, Fault]]) -> list[Row]:
    places = {row.place for row, _ in faults}
    return [row for row in rows if row.place not in places]


def _columns(marked: set[str | None]) -> frozenset[str] | None:
    return None if None in marked else frozenset(filter(None, marked))


def _taken_apart(name: str, content: bytes, schema: Mapping[str, Any]) -> _RawRows:
    """The columns, and every row with why it cannot be taken apart, or "". A row is a line: a quote left open spoils no other."""
    file, wanted = f"{name}.csv", [field["name"] for field in schema["fields"]]
    columns: list[str] = []
    found: list[tuple[Row, str]] = []
    for place, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        cells, why = _split(raw)
        if not why and not any(cells):
            continue
        if columns:
            why = why or ("" if len(cells) == len(columns) else f"has {len(cells)} cells where the header has {len(columns)}")
            # Of a row with too many or too few, the first are likely in their places: they tell what rests on it.
            found.append((Row(dict(zip(columns, cells, strict=False)), place), why))
            continue
        columns = cells
        lacking = [column for column in wanted if column not in columns]
        twice = [column for column, count in Counter(columns).items() if count > 1]
        if why or twice or lacking:
            why = why or (f"column {twice[0]} stands twice" if twice else f"there is no column {', '.join(lacking)}")
            raise BadRow(Problem(origin=file, row=place, column=None, message=why))
    if not found:
        raise BadRow(Problem(origin=file, row=None, column=None, message="has a header and no rows" if columns else "is empty"))
    return tuple(columns), tuple(found)


def _split(raw: bytes) -> tuple[list[str], str]:
    """The cells of a line, without white space at their ends, and what is wrong with it, or ""."""
    try:
        text, why = raw.removesuffix(b"\r").decode(), ""
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        why = f"byte {error.object[error.start]:#04x} at position {error.start + 1} is not UTF-8; save it as UTF-8"
    if "\r" in text:
        text, why = text.partition("\r")[0], "has a line break inside; lines end in LF or CRLF"
    try:
        cells = [cell for record in csv.reader([text], strict=True) for cell in record]
        return [cell.strip(SPACES) for cell in cells] if text.isascii() else [*map(trimmed, cells)], why
    except csv.Error as error:
        return text.split(","), f"is not CSV ({error}); a quote is closed on its line and doubled inside a cell"


_Across = Callable[[list[Row], list[Row]], Iterator[tuple[Row, str | None, str]]]
"""A rule of sound rows together and of all that could be taken apart: which of the sound ones break it, where and why."""


def _repeated(key: str | list[str]) -> _Across:
    """Rows that have the key of another, all of them: which is meant for another key is not known."""
    columns = [key] if isinstance(key, str) else list(key)

    def repeated(rows: list[Row], present: list[Row]) -> Iterator[tuple[Row, str | None, str]]:
        of_key: dict[tuple[str, ...], list[Row]] = {}
        for row in present if columns else ():
            of_key.setdefault(tuple(row[column] for column in columns), []).append(row)
        sound = {row.place for row in rows}
        for same in of_key.values():
            for row in same if len(same) > 1 else ():
                if row.place in sound:
                    other = same[0] if row is not same[0] else same[1]
                    yield row, columns[-1], f"row {other.place} has the same {', '.join(columns)}"

    return repeated


def _strangers(tables: Tables, schema: Mapping[str, Any]) -> _Across:
    """Rows that name what another table, by the description, should have a row of."""

    def strangers(rows: list[Row], present: list[Row]) -> Iterator[tuple[Row, str | None, str]]:
        for link in schema.get("foreignKeys", ()):
            columns, other, theirs = link["fields"], link["reference"]["resource"], link["reference"]["fields"]
            try:
                known = {tuple(row.get(column, "") for column in theirs) for row, _ in tables.raw_rows(other)[1]}
            except BadRow:
                # The fault of the other table: whoever looks there is told.
                continue
            for row in rows:
                asked = tuple(row[column] for column in columns)
                if all(asked) and asked not in known:
                    near = suggest("/".join(asked), ["/".join(one) for one in sorted(known) if all(one)])
                    yield row, columns[-1], f"{shorten('/'.join(asked))} is not in {other}.csv{near}"

    return strangers


# Cells.


def _cell_fault(field: Mapping[str, Any] | None, text: str) -> str:
    """What is wrong with a cell by the description of its column, or "". Numbers are above zero unless their minimum is 0."""
    if found := hidden(text):
        return f"the cell holds the {mark_in_words(found)}, which does not show"
    limits = field.get("constraints", {}) if field else {}
    if not text or field is None:
        return "is blank" if limits.get("required") else ""
    if text not in limits.get("enum", (text,)):
        return f"{shorten(text)} is not known{suggest(text, limits['enum'])}"
    if "pattern" in limits and not re.fullmatch(limits["pattern"], text):
        return f"{shorten(text)} does not have the form of {field.get('example', limits['pattern'])}"
    try:
        value = _READ_AS.get(field["type"], str)(text)
        if field["type"] in ("number", "integer"):
            _within(value, limits)
    except WrongData as error:
        return str(error)
    return ""


_READ_AS: Mapping[str, Callable[[str], Any]] = {"number": figure, "integer": whole, "boolean": truth, "date": iso_date}
"""What makes a value of a cell, by the type that its description gives it."""


def _within(value: float, limits: Mapping[str, Any]) -> None:
    low, high = limits.get("minimum", 0), limits.get("maximum", inf)
    if value < low or value > high or (value == 0 and "minimum" not in limits):
        raise WrongData(f"{value:g} is out of range: it must be {f'{low:g} or more' if 'minimum' in limits else 'above 0'}"
                        + (f", at most {high:g}" if high < inf else ""))  # fmt: skip
    if value and not _SMALLEST < value < _LARGEST:
        raise WrongData(f"{value:g} is absurd: a figure lies between {_SMALLEST:g} and {_LARGEST:g}")
