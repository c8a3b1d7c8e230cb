"""A row of a shipped table as a record, and figures of rows in SI units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Self, TypeVar

from derive.errors import BacksolveError, WrongUnit, shorten
from derive.immutable import immutable
from derive.quantities import QUANTITIES, quantity
from derive.tables.lines import Row
from derive.tables.writing import cell_text
from derive.units import parse

AnyRecord = TypeVar("AnyRecord", bound="TableRow")
Fault = tuple[str | None, str]
"""A column, or None for the whole row, and what is wrong with it."""
RowFault = tuple[Row, str | None, str]
"""A row, a column of it or None, and what is wrong."""


@immutable
class TableRow:
    """A sound row of a shipped table. `place` is its line in the file.

    A field is a column, in the order of the file. A blank number, count or date is None, a blank text is "". A column that is only read by
    a name from data, as a dimension of a formula, needs no field.
    """

    TABLE: ClassVar[str]
    place: int = field(default=0, compare=False, repr=False)

    @classmethod
    def of(cls, cells: Mapping[str, Any], place: int = 0) -> Self:
        """Return the row with the values of all its columns."""
        row = cls.__new__(cls)
        row.__dict__.update(cells, place=place)
        return row

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
