"""The records of price files: a validated row, and the book of all rows with exchange rates and problems."""

import gc
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import date
from operator import attrgetter
from typing import TypedDict

from derive.immutable import brief, immutable
from derive.tables.problems import Problem
from invert.sheets.tables import FxRate


@immutable(kw_only=False)
class FileText:
    """The bytes of a file as they were read, and how messages name it.

    `rates` are US dollars for one unit of a currency, for the rows of a price file that have no rate of their own. `typed` has the name
    of a typed sheet at the end of a price file, and the number of its first row: messages name its prices, not their rows.
    """

    place: str
    content: bytes
    rates: tuple[tuple[str, float], ...] = ()
    typed: tuple[str, int] | None = None


def is_typed_sheet(text: str) -> bool:
    """Return whether a text is a sheet and not the name of a file: it has parts or begins with an amount, and has no file type."""
    return bool(re.match(r"(?!.*\.[A-Za-z]+$)(.*;|\s*([A-Z]{3}\s+)?\W?[.,]?[0-9][0-9.,]*\s*/)", text))


Fx = Mapping[str, tuple[FxRate, ...]]
SheetKey = tuple[str, str, str, str]
RowKey = tuple[str, str, str, str, str, int, int | None, str, str]


SHIPPED_PRICES = "prices.csv"
"""The table of shipped prices. Only its rows have this name, so they differ from the rows of a user's file with any name."""


# Not frozen: a file has a million rows, and a frozen row needs three times as long to make.
@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class PriceRow:
    """One validated row of a price file: one component, in one band, of one sheet, over one stretch of time. No function changes a row.

    `amount` is as published, in `currency` per million tokens (per=mtok) or per million tokens and hour (per=mtok_hour). A blank currency
    means US dollars and sets `currency_assumed`. A user's rows may have the longest context and the release of the model, and `usd_rate`,
    the US dollars for one unit of the currency. Rows with equal cells are equal in any file.
    """

    __repr__ = brief

    provider: str
    model: str
    region: str
    service_tier: str
    component: str
    threshold_tokens: int
    threshold_inclusive: bool
    ttl_seconds: int | None
    utc_hours: str
    weekdays: str
    amount: float
    currency: str
    per: str
    effective_date: date | None
    date_kind: str
    valid_to: date | None
    retrieved_date: date | None
    source_url: str
    verification: str
    notes: str
    origin: str = field(compare=False)
    currency_assumed: bool = False
    max_context: int | None = None
    release_date: date | None = None
    usd_rate: float | None = None

    @property
    def sheet_key(self) -> SheetKey:
        """Provider, model, region and service tier: the sheet the row belongs to."""
        return self.provider, self.model, self.region, self.service_tier

    @property
    def place(self) -> tuple[str, int, int | None]:
        """The place of the price in its sheet: component, threshold [token] and lifetime [s]."""
        return self.component, self.threshold_tokens, self.ttl_seconds

    @property
    def key(self) -> RowKey:
        """The key of a price, without its dates. Two rows of one key may not be valid on the same day."""
        return (
            self.provider, self.model, self.region, self.service_tier,
            self.component, self.threshold_tokens, self.ttl_seconds, self.utc_hours, self.weekdays,
        )  # fmt: skip

    @property
    def start(self) -> date:
        """The first day of validity. A verification day is not a first day, so the row has always been valid."""
        return date.min if self.effective_date is None or self.date_kind == "verified" else self.effective_date

    @property
    def end(self) -> date:
        """The first day on which the price no longer holds."""
        return self.valid_to or date.max

    def valid_on(self, day: date) -> bool:
        """Return whether the price is valid on a day: start <= day < end. A blank end is open."""
        return self.start <= day and (self.valid_to is None or day < self.valid_to)

    def problem(self, column: str | None, message: str) -> Problem:
        """Return a problem of this row, with its file and row number."""
        return problem_at(self.origin, column, message)


def problem_at(origin: str, column: str | None, message: str) -> Problem:
    """Return a problem of the row with this origin: a file and a row number, or the name of a typed price."""
    file, _, number = origin.rpartition(":")
    if number.isdecimal():
        return Problem(origin=file, row=int(number), column=column, message=message)
    return Problem(origin=origin, column=None if column == "amount" else column, message=message)


PRICE_COLUMNS = tuple(one.name for one in fields(PriceRow))[:20]
"""The columns of prices.csv."""
OWN_COLUMNS = (*PRICE_COLUMNS, "max_context", "release_date", "usd_rate")
"""The columns of a price file of the user."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Pause the garbage collector while rows are read or checked: they have no reference cycles.

    >>> with without_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class Description(TypedDict):
    """Facts about the model in the rows of a sheet: the longest context [token] and the first release."""

    max_context: int | None
    release_date: date | None


def description_of(rows: Sequence[PriceRow]) -> Description:
    """Return the longest context and the earliest release that rows give."""
    context, release = (getattr(telling_row(rows, column), column, None) for column in ("max_context", "release_date"))
    return {"max_context": context, "release_date": release}


def telling_row(rows: Sequence[PriceRow], column: str) -> PriceRow | None:
    """Return the row with the longest context, or with the earliest release, or None if no row gives one."""
    told = (row for row in rows if getattr(row, column))
    return (max if column == "max_context" else min)(told, key=attrgetter(column), default=None)


def units_per_usd(fx: Fx, currency: str, day: date) -> float:
    """Return the newest exchange rate known on a day, or else the oldest rate."""
    if currency == "USD":
        return 1.0
    known = [rate for rate in fx[currency] if rate.date <= day]
    return (known[-1] if known else fx[currency][0]).units_per_usd


def usd_amount(row: PriceRow, fx: Fx, day: date) -> float:
    """Return the amount of a row in US dollars, at its own exchange rate if it has one, else at the rate of the table on a day."""
    return row.amount * row.usd_rate if row.usd_rate else row.amount / units_per_usd(fx, row.currency, day)


@immutable
class PriceBook:
    """The result of reading prices: rows, exchange rates by currency, and the newest retrieval day.

    `far_off` names rows with an implausibly late retrieval day, and `day_moved` the row of the user that gave the day. `own` are the rows
    that did not ship, and `overlay` is their file. `replaced` are the shipped rows that they replace entirely.
    """

    rows: tuple[PriceRow, ...]
    fx: Fx
    newest_retrieved: date | None
    far_off: tuple[Problem, ...] = ()
    day_moved: str = ""
    own: tuple[PriceRow, ...] = ()
    overlay: FileText | None = None
    replaced: tuple[PriceRow, ...] = ()
