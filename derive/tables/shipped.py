"""The shipped tables: a row as a record with its figures in SI units, and all tables read together.

They are checked against datapackage.json. A table with a wrong cell stops with all its faults.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from types import SimpleNamespace
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast

from derive.errors import BacksolveError, WrongData, WrongUnit, shorten, suggest
from derive.files import content_of
from derive.immutable import refuse_change
from derive.quantities import QUANTITIES, quantity
from derive.tables.cells import Column, column_of
from derive.tables.lines import BadRow, CsvTable, Problem, Row
from derive.tables.writing import cell_text
from derive.units import parse

AnyRecord = TypeVar("AnyRecord", bound="TableRow")
Fault = tuple[str | None, str]
"""A column, or None for the whole row, and what is wrong with it."""
RowFault = tuple[Row, str | None, str]
"""A row, a column of it or None, and what is wrong."""


class TableRow(SimpleNamespace):
    """A sound row of a shipped table. Its attributes are the columns that datapackage.json describes, and `place`, its line in the file.

    A blank number, count or date is None, a blank text is "". A row that no file has is at place 0.
    """

    TABLE: ClassVar[str]
    place: int = 0
    __setattr__ = __delattr__ = refuse_change

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.TABLE, self.place))

    def changed(self, **cells: Any) -> Self:
        """Return the row with other values in some columns."""
        return type(self)(**{**self.__dict__, **cells})

    def problem_in(self, column: str, message: str) -> Problem:
        """Return a problem of a cell of this row."""
        return Problem(origin=f"{self.TABLE}.csv", row=self.place, column=column, message=message)

    def faults(self) -> Iterator[Fault]:
        """Yield the faults of cells that are valid alone but contradict each other."""
        yield from ()

    @classmethod
    def faults_across(cls, sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
        """Yield the faults of valid rows in combination. `present` are all rows that could be split, also invalid ones."""
        yield from ()


def in_si(name: str, value: float, unit: str) -> float:
    """Return a figure of a table [unit] as the quantity of that name [SI]. Raise as `parse` does.

    >>> in_si("chip_price", 36.0, "USD/h"), in_si("scale_up_size", 8.0, "1")
    (0.01, 8.0)
    """
    # `parse` would read a bare number in the own unit of its quantity, whatever that is.
    bare = unit == "1" and quantity(name).unit == "1"
    return parse(name, cell_text(value) if bare else f"{cell_text(value)} {unit}".replace("/mtok", "/MTok"))


def is_known(row: TableRow, column: str) -> bool:
    """Return whether a cell is filled. Zero is a value."""
    return getattr(row, column) not in (None, "", ())


def partly_filled(row: TableRow, *columns: str) -> Iterator[Fault]:
    """Yield the first blank one of columns of which all are filled, or none."""
    filled = [column for column in columns if is_known(row, column)]
    if filled and len(filled) < len(columns):
        yield next(column for column in columns if column not in filled), f"is blank, and {filled[0]} is not"


def misplaced(row: TableRow, column: str, needed: bool, owner: str) -> Iterator[Fault]:
    """Yield a cell that is blank although its owner needs it, or filled although its owner has none."""
    if is_known(row, column) != needed:
        yield column, f"is blank, and {owner} needs one" if needed else f"{owner} has no {column}: leave it blank"


def more_active(active: float | None, total: float | None) -> Iterator[Fault]:
    """Yield active_params that are more than the total_params."""
    if active and total and active > total:
        yield "active_params", f"{active:g} is more than {total:g}, the total_params. Are the two exchanged?"


def unit_faults(quantity: str, unit: str, wanted: str = "", **figures: float | None) -> Iterator[Fault]:
    """Yield the columns of figures that lie outside the domain of their quantity, and a unit that is not the `wanted` one."""
    if wanted and unit != wanted:
        yield "unit", f"{quantity} is in {wanted}, not {shorten(unit)}"
    for column, value in figures.items():
        if value is not None and quantity in QUANTITIES:
            try:
                in_si(quantity, value, unit)
            except BacksolveError as fault:
                yield ("unit" if isinstance(fault, WrongUnit) else column), str(fault)
                return


FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "pricing_data")
"""The folder beside this package, in a checkout and in a wheel. Other folders of the same name have no effect."""
DESCRIPTION = "datapackage.json"
_CACHED = 256
"""Results of reading that are kept, so that a process with many tables does not grow."""
_FEW = 4
"""Maximum number of rows that a message lists. For more rows it names the first."""

Table: TypeAlias = type[TableRow] | str
"""The record of a table, or the name of a table of prices without a record."""

_CheckedTable: TypeAlias = tuple[tuple[TableRow, ...], tuple[Problem, ...]]
"""The records of the rows with valid cells, and all problems of a table."""
_CheckedRow: TypeAlias = tuple[Row, tuple[Fault, ...], TableRow | None]
"""A row, what is wrong with it, and its record if its cells are sound."""


class Tables:
    """The content of every file at one time, or why it cannot be read. A table is read when it is first needed.

    >>> from derive.preset_rows import ShortName
    >>> read().rows_of(ShortName)[0].text
    'A100'
    """

    __slots__ = ("files",)

    def __init__(self, files: Mapping[str, bytes | str]):
        self.files = files

    def edited(self, **contents: str) -> "Tables":
        """Return the tables with new content for some of them, by name: `edited(fx="currency,date,...")`."""
        return Tables({**self.files, **{f"{name}.csv": text.encode() for name, text in contents.items()}})

    def content(self, file: str) -> bytes:
        """Return the bytes of a file. Raise BadRow for a file that is missing or cannot be read."""
        found = self.files.get(file)
        if isinstance(found, bytes):
            return found
        raise BadRow(Problem(origin=file, message=found or "not among the shipped data"))

    def schema(self, name: str) -> Mapping[str, Any]:
        """Return the schema of a table in datapackage.json."""
        self.content(f"{name}.csv")
        if f"{name}.csv" not in (found := _schemas(self.content(DESCRIPTION))):
            raise BadRow(Problem(origin=DESCRIPTION, message=f"has no description of {name}.csv"))
        return found[f"{name}.csv"]

    def columns(self, name: str) -> Mapping[str, Column]:
        """Return the columns of a table by name, as described."""
        self.schema(name)
        return _columns(self.content(DESCRIPTION), name)

    def raw_rows(self, name: str) -> tuple[Row, ...]:
        """Return every row of a table as cells, the rows that cannot be split included."""
        self.schema(name)
        return _raw_table(self.content(f"{name}.csv"), self.content(DESCRIPTION), name)[1]

    def checked(self, table: Table, column: str = "", cell: str = "") -> _CheckedTable:
        """Return the records and problems of a table by its description and its rules: of all rows, or of the rows with a cell."""
        return _check_table(self, table, column, cell)  # type: ignore[arg-type]  # mypy reads the hash of a row as the hash of its class

    def rows_of(self, record: type[AnyRecord], column: str = "", cell: str = "") -> tuple[AnyRecord, ...]:
        """Return the rows of the table of a record. Raise BadRow with everything that is wrong with the table, or with its file.

        If only the rows with this cell are wanted, what is wrong with other rows does not matter, and they are not checked.

        >>> from derive.preset_rows import AcceleratorFigure
        >>> {row.accelerator for row in read().rows_of(AcceleratorFigure, "accelerator", "H100-SXM")}
        {'H100-SXM'}
        """
        records, problems = self.checked(record, column, cell)
        if problems:
            raise BadRow(*problems)
        return cast("tuple[AnyRecord, ...]", records)

    def own_row(self, record: type[AnyRecord], **cells: Any) -> AnyRecord:
        """Return a row that no file has. All columns without a value here are blank."""
        blank = {name: column.read("")[0] for name, column in self.columns(record.TABLE).items()}
        return record(**{**blank, **cells})

    def problems(self, *tables: Table) -> tuple[Problem, ...]:
        """Return everything that is wrong with these tables."""
        found: list[Problem] = []
        for table in tables:
            try:
                found += self.checked(table)[1]
            except BadRow as error:
                found += error.problems
        return tuple(found)


# Every result depends on the bytes of files, so tables with one changed file share the rows of all others.


@lru_cache(_CACHED)
def _schemas(description: bytes) -> Mapping[str, Mapping[str, Any]]:
    """Return the schema of every file of the description. Return no schemas if the description cannot be read."""
    try:
        return {one["path"]: one["schema"] for one in json.loads(description)["resources"] if one.keys() >= {"path", "schema"}}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


@lru_cache(_CACHED)
def _columns(description: bytes, name: str) -> Mapping[str, Column]:
    return {field["name"]: column_of(field) for field in _schemas(description)[f"{name}.csv"]["fields"]}


@lru_cache(_CACHED)
def _raw_table(content: bytes, description: bytes, name: str) -> tuple[CsvTable, tuple[Row, ...]]:
    table = CsvTable(BytesIO(content), f"{name}.csv", _columns(description, name))
    return table, tuple(table)


@lru_cache(_CACHED)
def _checked_rows(content: bytes, description: bytes, table: Table, column: str, cell: str) -> tuple[_CheckedRow, ...]:
    """Return rows by themselves, all or the ones with this cell: the cells, the faults, and the record of valid cells."""
    columns, record = _columns(description, _name(table)), None if isinstance(table, str) else table
    rows = _raw_table(content, description, _name(table))[1]
    return tuple((row, *_check_row(row, columns, record)) for row in rows if not column or row.get(column) == cell)


def read(folder: str | os.PathLike[str] | None = None) -> Tables:
    """Return the tables of a folder, by default the shipped ones. Unchanged tables are not read again."""
    place = folder or FOLDER
    names = sorted(name for name in os.listdir(place) if name.endswith((".csv", DESCRIPTION))) if os.path.isdir(place) else []
    return _tables(tuple((name, _content(os.path.join(place, name))) for name in names))


@lru_cache(1)
def _tables(files: tuple[tuple[str, bytes | str], ...]) -> Tables:
    return Tables(dict(files))


def _content(path: str) -> bytes | str:
    """Return the bytes of a file, or the reason why it cannot be read."""
    try:
        return content_of(path)
    except WrongData as fault:
        return str(fault)


def rows_of(record: type[AnyRecord]) -> tuple[AnyRecord, ...]:
    """Return the rows of the shipped table of a record. Raise BadRow with everything that is wrong with the table."""
    return read().rows_of(record)


def _name(table: Table) -> str:
    return table if isinstance(table, str) else table.TABLE


def _check_row(row: Row, columns: Mapping[str, Column], record: type[TableRow] | None) -> tuple[tuple[Fault, ...], TableRow | None]:
    """Return the faults of a row, and its record if its cells are valid."""
    if row.fault:
        return ((None, row.fault),), None
    values, faults = read_cells(row, columns.values())
    if faults or record is None:
        return tuple(faults), None
    made = record(place=row.place, **values)
    return tuple(made.faults()), made


def read_cells(row: Row, columns: Iterable[Column]) -> tuple[dict[str, Any], list[Fault]]:
    """Return the values of the described cells of a row, and a fault for each cell that cannot be read."""
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for column in columns:
        values[column.name], fault = column.read(row[column.name])
        if fault:
            faults.append((column.name, fault))
    return values, faults


@lru_cache(_CACHED)
def _check_table(tables: Tables, table: Table, column: str, cell: str) -> _CheckedTable:
    name = _name(table)
    schema, files = tables.schema(name), (tables.content(f"{name}.csv"), tables.content(DESCRIPTION))
    checked, unknown = _checked_rows(*files, table, column, cell), _raw_table(*files, name)[0].unknown  # type: ignore[arg-type]
    rows = [row for row, _, _ in checked]
    alone = [(row, fault) for row, faults, _ in checked for fault in faults]
    faulty = {row.place for row, _ in alone}
    sound, present = [row for row in rows if row.place not in faulty], [row for row in rows if not row.fault]
    across = (
        *_repeated_keys(schema.get("primaryKey", ()), sound, present),
        *(() if isinstance(table, str) else table.faults_across(sound, present)),
        *_missing_references(tables, schema, sound),
    )
    shared: dict[Fault, list[Row]] = {}
    for row, of_column, why in across:
        shared.setdefault((of_column, why), []).append(row)
    # A fault that several rows share is named once, at the first of them, with the numbers of all, because the first may be right.
    once = [
        (alike[0], (of_column, f"{why} (rows {', '.join(str(row.place) for row in alike)})" if 1 < len(alike) <= _FEW else why))
        for (of_column, why), alike in shared.items()
    ]
    named = sorted((*alone, *once), key=lambda one: one[0].place)
    problems = (Problem(origin=f"{name}.csv", row=row.place, column=of_column, message=message) for row, (of_column, message) in named)
    return tuple(record for _, _, record in checked if record), tuple(filter(None, (unknown, *problems)))


def _repeated_keys(columns: Sequence[str], sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
    """Yield all rows with the same primary key as another row. Any of them may be wrong."""
    keys = {row.place: tuple(row[column] for column in columns) for row in present}
    first, last = {keys[row.place]: row for row in reversed(present)}, {keys[row.place]: row for row in present}
    for row in sound if columns else ():
        same = keys[row.place]
        other = last[same] if row is first[same] else first[same]
        if other is not row:
            yield row, columns[-1], f"row {other.place} has the same {', '.join(columns)}"


def _missing_references(tables: Tables, schema: Mapping[str, Any], sound: Sequence[Row]) -> Iterator[RowFault]:
    """Yield the rows with a foreign key that is missing in the other table."""
    for link in schema.get("foreignKeys", ()):
        columns, other, theirs = link["fields"], link["reference"]["resource"], link["reference"]["fields"]
        try:
            known = {tuple(row.get(column, "") for column in theirs) for row in tables.raw_rows(other)}
        except WrongData:
            # A problem of the other table, which is named there.
            continue
        for row in sound:
            key = tuple(row[column] for column in columns)
            if all(key) and key not in known:
                near = suggest("/".join(key), ["/".join(one) for one in sorted(known) if all(one)])
                yield row, columns[-1], f"{shorten('/'.join(key))} is not in {other}.csv{near}"
