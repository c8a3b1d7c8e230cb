"""What a row of a table that ships is, and how its cells become values: `preset_rows` and `price_rows` have the records."""

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import cache, lru_cache
from math import inf
from sys import float_info
from typing import Any, ClassVar, TypeVar, get_type_hints

from derive.errors import WrongData, shorten, unseen
from derive.immutable import immutable
from derive.quantities import quantity
from derive.units import parse

NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
AnyRecord = TypeVar("AnyRecord", bound="TableRow")
Fault = tuple[str | None, str]
"""A column, None for the whole row, and what is wrong with it."""


@immutable
class TableRow:
    """A sound row of a table that ships; `place` is the line of the file it stands on."""

    TABLE: ClassVar[str]
    place: int = field(default=0, compare=False, repr=False)

    @classmethod
    @cache
    def readers(cls) -> Mapping[str, Callable[[str], Any]]:
        """By column of the table, what makes a value of its cell."""
        hints = get_type_hints(cls)
        return {one.name: _READERS[hints[one.name]] for one in fields(cls) if one.name != "place"}


def record_of(record: type[AnyRecord], cells: Mapping[str, str], place: int) -> AnyRecord | Fault:
    """The record that the cells of a row make, or the first column that does not hold what it should, and what is wrong with it."""
    values: dict[str, Any] = {}
    for column, read in record.readers().items():
        if column not in cells:
            return column, "there is no such column"
        try:
            values[column] = read(cells[column])
        except WrongData as error:
            return column, str(error)
    return record(**values, place=place)


def in_si(name: str, value: float, unit: str) -> float:
    """A figure of a table [unit] as the quantity of that name [its unit of the registry]. Raises as `parse` does.

    >>> in_si("chip_price", 36.0, "USD/h"), in_si("scale_up_size", 8.0, "1")
    (0.01, 8.0)
    """
    # A bare number would be taken for one in the unit of its quantity, whatever that is.
    bare = unit == "1" and quantity(name).unit == "1"
    return parse(name, written(value) if bare else f"{written(value)} {unit}".replace("/mtok", "/MTok"))


def written(value: float) -> str:
    """A figure as a cell has it, to the last digit.

    >>> written(80.0), written(0.794)
    ('80', '0.794')
    """
    return repr(float(value)).removesuffix(".0")


def is_known(row: TableRow, column: str) -> bool:
    """Whether a cell is not blank; zero is known."""
    return getattr(row, column) not in (None, "", ())


# Cells.


@lru_cache(4096)
def figure(text: str) -> float:
    """A plain decimal, or one with an exponent; `WrongData` for anything else, nan and infinity included.

    >>> figure("1.25"), figure("5e-1")
    (1.25, 0.5)
    """
    if not NUMBER.fullmatch(text.removeprefix("-")):
        dated = ": a spreadsheet took it for a date" if re.fullmatch(_SHORT_DATE, text) else ""
        plain = figure_meant(text) or "a plain 1.25 or 1e-3, without unit, sign or separator"
        raise WrongData(f"{shorten(text)} is not a number{unseen(text)}{dated}; write {plain}")
    if text.startswith("-"):
        raise WrongData(f"{shorten(text)} is negative")
    value = float(text)
    if value == inf or (value < float_info.min and re.match("[0.]*[1-9]", text)):
        raise WrongData(f"{shorten(text)} is {'absurdly large' if value > 1 else 'so small that it would be read as zero'}")
    return value


_QUOTES = "'\"`´“”„‘’‚«» "
_DECIMAL_COMMA = "0,[0-9]+|[1-9][0-9]*,(?![0-9]{3}$)[0-9]+"
_GROUPED = "[0-9]{1,3}(?P<mark>[., '’])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?P<rest>(?!(?P=mark))[.,][0-9]+)?"


def figure_meant(text: str) -> str:
    """The plain figure that a text in quotes, or one as other languages write it, stands for, or nothing where it may be one of two.

    >>> figure_meant("'10"), figure_meant("2,5"), figure_meant("1.000,50"), figure_meant("1,234.5"), figure_meant("1,000")
    ('10', '2.5', '1000.50', '1234.5', '')
    """
    bare = text.strip(_QUOTES)
    if NUMBER.fullmatch(bare):
        return bare
    if re.fullmatch(_DECIMAL_COMMA, bare):
        return bare.replace(",", ".")
    form = re.fullmatch(_GROUPED, bare)
    if not form or (form["mark"] == "," and bare.count(",") == 1 and not form["rest"]):
        return ""
    rest = form["rest"] or ""
    return bare.removesuffix(rest).replace(form["mark"], "") + rest.replace(",", ".")


def whole(text: str) -> int:
    """A whole number, however it is written: `1e6` and `8.0` are some; `WrongData` for anything else.

    >>> whole("61"), whole("1e6")
    (61, 1000000)
    """
    value = figure(text)
    if not value.is_integer():
        raise WrongData(f"{value:g} is not a whole number")
    return int(value)


def truth(text: str) -> bool:
    """`true` or `false`, in any case: a spreadsheet writes them in capitals. `WrongData` for anything else.

    >>> truth("true"), truth("FALSE")
    (True, False)
    """
    if text.lower() not in ("true", "false"):
        raise WrongData(f"{shorten(text)} is no truth value; allowed: true, false" if text else "is blank; write true or false")
    return text.lower() == "true"


@lru_cache(4096)
def iso_date(text: str) -> datetime.date:
    """An ISO date; `WrongData` for anything else.

    >>> iso_date("2026-11-20")
    datetime.date(2026, 11, 20)
    """
    try:
        # `fromisoformat` alone would also take 20261120 and 2026-W47-5.
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise WrongData(f"{shorten(text)} is not an ISO date such as 2026-11-20{_of_a_spreadsheet(text)}")


_FIRST_OF_SPREADSHEETS = datetime.date(1899, 12, 30)
"""The day that spreadsheets count from."""
_SHORT_DATE = (
    "[0-9]{1,2}[-. ](?![A-Z]{3}$)[A-Za-z]{3,4}(?:[-. ][0-9]{2,4})?|[A-Za-z]{3,4}[- ][0-9]{2,4}|[0-9]{1,4}[/.][0-9]{1,2}[/.][0-9]{1,4}"
    "|[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+Z?"
)
"""What spreadsheets write for a date, or for what they take to be one; no amount with its currency, as 8 USD."""


def _of_a_spreadsheet(text: str) -> str:
    """What became of a date in a spreadsheet, and how it stays one, or nothing where nothing speaks for that.

    >>> _of_a_spreadsheet("45992")
    ': a spreadsheet counts 2025-12-01 so; give its column the format yyyy-mm-dd'
    """
    if re.fullmatch("[2-6][0-9]{4}", text):
        day = _FIRST_OF_SPREADSHEETS + datetime.timedelta(days=int(text))
        return f": a spreadsheet counts {day} so; give its column the format yyyy-mm-dd"
    return ": a spreadsheet writes dates so; give its column the format yyyy-mm-dd" if re.fullmatch(_SHORT_DATE, text) else ""


def listed(text: str) -> tuple[str, ...]:
    """The items of a cell that separates them by ";".

    >>> listed("Llama3; L3;")
    ('Llama3', 'L3')
    """
    return tuple(item.strip() for item in text.split(";") if item.strip())


def _or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if text else None


_READERS: Mapping[Any, Callable[[str], Any]] = {
    **{str: str, tuple[str, ...]: listed, bool: truth},
    **{float: figure, int: whole, datetime.date: iso_date},
    **{float | None: _or_none(figure), int | None: _or_none(whole), datetime.date | None: _or_none(iso_date)},
    bool | None: _or_none(truth),
}
"""By the type of a column, what makes a value of its cell."""
