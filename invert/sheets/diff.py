"""Two states of the price data side by side: which prices were added, closed and changed, also since the last release."""

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from io import BytesIO
from typing import Any, BinaryIO, cast

from derive.errors import WrongData, WrongValue, suggest_for_file
from derive.files import LARGEST, content_of, label
from derive.immutable import immutable
from derive.tables import shipped
from derive.tables.lines import split_line
from derive.units import show
from invert.data import Data, cache_with_data
from invert.sheets.assemble import models
from invert.sheets.read import Prices, book_of, newest_day, own_file, prices_that_ship, sound_rows
from invert.sheets.rows import (
    OWN_COLUMNS,
    PRICE_COLUMNS,
    RELEASED_PRICES,
    SHIPPED_PRICES,
    FileText,
    PriceBook,
    PriceRow,
    SheetKey,
    telling_row,
)
from invert.sheets.rules import rows_by_sheet
from invert.sheets.sheet import money_unit, spelled

SHIPPED = "shipped"
KINDS_OF_CHANGE = ("added", "closed", "changed")
_FACTS = {"max_context": "context", "release_date": "release"}
"""Columns that describe a model, in words."""

PLACE = PRICE_COLUMNS[:10]
"""The columns that identify a price."""


@immutable
class Difference:
    """A price that differs between two states, or a fact about the model of a sheet: a `column` of _FACTS.

    A side is None if that state lacks the price.
    """

    old: PriceRow | None
    new: PriceRow | None
    column: str = "amount"

    @property
    def row(self) -> PriceRow:
        """The row that identifies the price."""
        return self.new or cast("PriceRow", self.old)

    @property
    def sheet_key(self) -> SheetKey:
        """The key of the sheet with this price."""
        return self.row.sheet_key

    @property
    def kind(self) -> str:
        """`added`, `closed` or `changed` for a price, and `described` for a fact."""
        added, closed, changed = KINDS_OF_CHANGE
        return "described" if self.column in _FACTS else changed if self.old and self.new else added if self.new else closed

    @property
    def values(self) -> tuple[Any, Any]:
        """The old and the new value, or None for a value that is not there."""
        old, new = (row and getattr(row, self.column) for row in (self.old, self.new))
        return old, new

    @property
    def where(self) -> Mapping[str, object]:
        """What identifies the price, with its unit, or the sheet and the column of a fact."""
        if self.column in _FACTS:
            return dict(zip(PLACE, (*self.sheet_key, self.column), strict=False))
        return {name: getattr(self.row, name) for name in (*PLACE, "currency", "per")}

    @property
    def times(self) -> float | None:
        """The new amount divided by the old one, or None if there are not two nonzero amounts in one currency."""
        same_unit = self.old and self.new and self.old.currency == self.new.currency and self.column not in _FACTS
        old, new = self.values
        return new / old if same_unit and old and new else None

    def __str__(self) -> str:
        if self.column in _FACTS:
            return f"{_FACTS[self.column]} {' -> '.join(map(_fact_text, self.values))}"
        place = spelled(self.row.place)
        if self.row.utc_hours or self.row.weekdays:
            place += f" ({' '.join(part for part in (self.row.utc_hours, self.row.weekdays) if part)})"
        unit = money_unit(self.row.currency, self.row.per)
        if not self.old or not self.new:
            return f"{place} {self.row.amount:g} {unit} {self.kind}"
        if price_facts(replace(self.old, threshold_inclusive=self.new.threshold_inclusive)) == price_facts(self.new):
            was, now = ("above", "from") if self.new.threshold_inclusive else ("from", "above")
            return f"{place} {self.new.amount:g} {unit}: {was} -> {now} {self.row.threshold_tokens:,} tokens"
        was = "" if self.old.currency == self.new.currency else f" {self.old.currency}"
        return f"{place} {self.old.amount:g}{was} -> {self.new.amount:g} {unit}"


def differences(old: Iterable[PriceRow], new: Iterable[PriceRow]) -> tuple[Difference, ...]:
    """Return the prices that differ between two states, by sheet and then in the order of the files. Each state has one price per key."""
    before, after = ({row.key: row for row in rows} for rows in (old, new))
    found = [
        Difference(old=before.get(key), new=after.get(key))
        for key in {**before, **after}
        if key not in before or key not in after or price_facts(before[key]) != price_facts(after[key])
    ]
    return tuple(sorted(found, key=lambda one: one.sheet_key))


def redescribed(old: Iterable[PriceRow], new: Iterable[PriceRow]) -> Iterator[Difference]:
    """Yield the changed facts about the models of the sheets that are in both states, by sheet."""
    before, after = rows_by_sheet(old), rows_by_sheet(new)
    for key in (key for key in before if key in after):
        for column in _FACTS:
            found = Difference(old=telling_row(before[key], column), new=telling_row(after[key], column), column=column)
            if found.values[0] != found.values[1]:
                yield found


def _fact_text(value: int | date | None) -> str:
    if value is None:
        return "unsaid"
    return value.isoformat() if isinstance(value, date) else show("max_context", value).removesuffix(" tokens")


@immutable
class State:
    """The prices of a book that hold on a day, without models that were released later.

    `own` are the prices in `rows` from a file that replaces shipped prices, or None without a file.
    """

    rows: tuple[PriceRow, ...]
    day: date
    own: tuple[PriceRow, ...] | None = None


def states_of(old: str | BinaryIO | FileText, new: str | BinaryIO | FileText, data: Data, own: Prices | None = None) -> tuple[State, State]:
    """Return two states to compare, two files of user rows only by these. `shipped` is the release, also after an edit of prices.csv."""
    if own is not None and not any(isinstance(one, str) and date_of(one) for one in (old, new)):
        raise WrongValue(
            "--prices replaces rows of the prices of a day, but neither OLD nor NEW is a day: give one such as 2026-11-20, "
            f"or compare with the file itself: `prices diff {SHIPPED} FILE`"
        )
    first, second = (None if one == SHIPPED else state_of(one, data, own) for one in (old, new))
    # The release is of the other day: a scheduled price that began between the two days was changed by nobody.
    days = (None if one is None else one.day for one in (second, first))
    before, after = (one or _state_on_day(shipped_book(data), day, data) for one, day in zip((first, second), days, strict=True))
    if before.own is None or after.own is None:
        return before, after
    return replace(before, rows=before.own), replace(after, rows=after.own)


def state_of(source: str | BinaryIO | FileText, data: Data, own: Prices | None = None) -> State:
    """Return the prices on a day, or the prices of a file or stream on its newest day.

    A copy of prices.csv, with its columns, replaces all prices. Any other file replaces and extends the shipped prices. `own` replaces and
    extends the prices of a day.
    """
    laid_over = False
    if day := date_of(source) if isinstance(source, str) else None:
        book = book_of(data, own)
    else:
        file = file_of(source) if isinstance(source, str) else own_file(source)
        laid_over = not is_whole(file.content)
        book = book_of(data, file) if laid_over else whole_book(file.content, file.place, data)
    return _state_on_day(book, day, data, laid_over)


def _state_on_day(book: PriceBook, day: date | None, data: Data, laid_over: bool = False) -> State:
    day = day or book.newest_retrieved
    released = release_of(data)
    rows, of_file = (tuple(row for row in of if row.valid_on(day) and (released(row) or day) <= day) for of in (book.rows, book.own))
    return State(rows=rows, day=day, own=of_file if laid_over else None)


@cache_with_data
def released_prices(data: Data) -> bytes | None:
    """Return prices.csv of the last release, or None if the present one is the same, or no release can be read."""
    try:
        with gzip.open(os.path.join(shipped.FOLDER, RELEASED_PRICES)) as file:
            content = file.read(LARGEST)
    except (OSError, EOFError, zlib.error):
        return None
    return content if content and content != data.tables.files.get(SHIPPED_PRICES) else None


def shipped_book(data: Data) -> PriceBook:
    """Return the prices of the installed release, also after changes of prices.csv."""
    content = released_prices(data)
    return book_of(data) if content is None else whole_book(content, RELEASED_PRICES, data)


@cache_with_data
def changes_since_release(data: Data, day: date) -> tuple[Difference, ...]:
    """Return the prices of a day that differ from the prices of that day in the last release."""
    if released_prices(data) is None:
        return ()
    return differences(*(_state_on_day(book, day, data).rows for book in (shipped_book(data), book_of(data))))


def release_of(data: Data) -> Callable[[PriceRow], date | None]:
    """Return a function that gives the release day of the model of a row, from the row or from models.csv, or None if neither has it."""
    known = {(row.provider, row.model): row.release_date for row in models(data)}
    return lambda row: row.release_date or known.get((row.provider, row.model))


def new_models(before: State, after: State, data: Data) -> dict[tuple[str, str], date]:
    """Return the release day of each model with prices only in the later state because it was released after the earlier day."""
    there, released = {(row.provider, row.model) for row in before.rows}, release_of(data)
    days = {(row.provider, row.model): day for row in after.rows if (day := released(row)) and day > before.day}
    return {name: day for name, day in days.items() if name not in there}


def file_of(text: str) -> FileText:
    """Return the file of that name. Raise WrongData, with the other allowed values, if it cannot be read."""
    try:
        return FileText(label(text), content_of(text))
    except WrongData as error:
        raise WrongData(f"{error}{suggest_for_file(text, (SHIPPED, 'a day such as 2026-11-20', 'a CSV file'))}") from None


def date_of(text: str) -> date | None:
    """Return the day in a text, or None if the text does not look like a day. Raise WrongValue for a day that does not exist."""
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise WrongValue(f"{text} is not a date of the calendar") from None


def is_whole(content: bytes) -> bool:
    """Return whether a file is a copy of prices.csv, which replaces all prices. It has the columns of prices.csv and no user columns."""
    header, _ = split_line(content.partition(b"\n")[0], first=True)
    return {name.lower() for name in header}.intersection(OWN_COLUMNS) == set(PRICE_COLUMNS)


def whole_book(content: bytes, place: str, data: Data) -> PriceBook:
    """Return a price file that replaces all prices, as a book."""
    fx, _ = prices_that_ship(data)
    rows = sound_rows(BytesIO(content), label(place), fx)
    day, far_off = newest_day(rows)
    return PriceBook(rows=tuple(rows), fx=fx, newest_retrieved=day, far_off=far_off)


def price_facts(row: PriceRow) -> tuple[object, ...]:
    """Return the key of a price and what it asks. The component in the key also decides the unit."""
    return row.key, row.amount, row.currency, row.threshold_inclusive


def record_release(folder: str = shipped.FOLDER) -> None:
    """Write the present prices.csv of a folder as the prices of the release. Equal prices give equal bytes."""
    with open(os.path.join(folder, SHIPPED_PRICES), "rb") as prices, open(os.path.join(folder, RELEASED_PRICES), "wb") as file:
        file.write(gzip.compress(prices.read(), mtime=0))
