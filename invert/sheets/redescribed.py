"""Changes between two states of the facts in price files about a model: its longest context and its release."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import TypedDict

from derive.immutable import immutable
from derive.units import show
from invert.sheets.rows import PriceRow, SheetKey
from invert.sheets.rules import rows_by_sheet

_WORDS = {"max_context": "context", "release_date": "release"}
"""Columns that describe a model, in words."""


@immutable
class Redescribed:
    """A sheet with a different value of `column`, a key of _WORDS, than before. None means that no row gives a value."""

    sheet_key: SheetKey
    column: str
    old: int | date | None
    new: int | date | None

    @property
    def kind(self) -> str:
        """`described`, beside the kinds of a price that differs."""
        return "described"

    def __str__(self) -> str:
        return f"{_WORDS[self.column]} {_value_text(self.old)} -> {_value_text(self.new)}"


def redescribed(old: Iterable[PriceRow], new: Iterable[PriceRow]) -> Iterator[Redescribed]:
    """Yield the changed facts of the sheets that are in both states, by sheet."""
    before, after = rows_by_sheet(old), rows_by_sheet(new)
    for key in (key for key in before if key in after):
        was, now = description_of(before[key]), description_of(after[key])
        pairs = {"max_context": (was["max_context"], now["max_context"]), "release_date": (was["release_date"], now["release_date"])}
        yield from (Redescribed(sheet_key=key, column=name, old=one, new=other) for name, (one, other) in pairs.items() if one != other)


class Description(TypedDict):
    """What the rows of a sheet say of its model: the longest context [token] and the first release."""

    max_context: int | None
    release_date: date | None


def description_of(rows: Iterable[PriceRow]) -> Description:
    """Return the longest context and the earliest release that these rows give.

    >>> description_of([])
    {'max_context': None, 'release_date': None}
    """
    rows = list(rows)
    return {
        "max_context": max((row.max_context for row in rows if row.max_context), default=None),
        "release_date": min((row.release_date for row in rows if row.release_date), default=None),
    }


def _value_text(value: int | date | None) -> str:
    if value is None:
        return "unsaid"
    return value.isoformat() if isinstance(value, date) else show("max_context", value).removesuffix(" tokens")
