"""The rows of the tables of the price side: models, disclosures and other prices, and a row of a price file with the book of all rows."""

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from operator import attrgetter
from statistics import median_high
from typing import Any, TypeVar

from derive.errors import shorten, suggest
from derive.immutable import brief, immutable
from derive.tables.cells import read_list
from derive.tables.lines import Problem, Row
from derive.tables.shipped import Fault, RowFault, TableRow, misplaced, more_active, partly_filled, unit_faults

# Tables beside prices. Each record has its rules.

DISCLOSED = {
    "cache_tier": {"storage_tier": ""},
    "fast_mode": {"fast_speed_ratio": "1", "fast_price_ratio": "1"},
    "production": {
        **dict.fromkeys(("input_tokens_per_day", "cached_input_tokens_per_day", "output_tokens_per_day"), "token/day"),
        **dict.fromkeys(("prefill_throughput_per_node", "decode_throughput_per_node"), "token/s"),
        **dict.fromkeys(("nodes", "peak_nodes", "chips_per_node", "cache_hit_share"), "1"),
        **dict.fromkeys(("input_price", "cache_read_price", "output_price"), "USD/mtok"),
        **{"context_length": "token", "chip_price": "USD/h"},
    },
}
"""The quantities that vendors disclose, by topic, with their units. A tier has no unit."""


class ModelRow(TableRow):
    """A row of models.csv: the other names of a priced model and its known size and release, with grades.

    Architecture and parameters describe the weights that it serves before `weights_until`, if that day is known.
    """

    TABLE = "models"

    def faults(self) -> Iterator[Fault]:
        for known in ("architecture", "active_params"):
            yield from partly_filled(self, known, f"{known}_grade")
        yield from partly_filled(self, "release_date", "release_grade")
        yield from more_active(self.active_params, self.total_params)
        if self.weights_until is not None:
            if not self.architecture and self.active_params is None:
                yield "weights_until", "ends the known weights, but architecture and size are unknown"
            elif self.release_date is not None and self.weights_until <= self.release_date:
                yield "weights_until", f"is not after the release, on {self.release_date}"

    @classmethod
    def faults_across(cls, sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
        named: dict[tuple[str, str], Row] = {}
        for row in sound:
            for name in (row["model"], *read_list(row["aliases"])):
                if (other := named.setdefault((row["provider"], name), row)) is not row and row["model"] != other["model"]:
                    yield row, "aliases", f"{shorten(name)} is already a name of row {other.place}, {other['model']}"

    def known_on(self, day: datetime.date) -> "ModelRow":
        """Return the known facts of the model on a day, without its weights from the day on which it serves others."""
        if self.weights_until is None or day < self.weights_until:
            return self
        return self.changed(architecture="", architecture_grade="", active_params=None, active_params_grade="", total_params=None)


_RATES_OF_DAYS_APART = 2
"""The largest ratio of two rates of a currency. Above it, one of them is inverted or has a wrong decimal point."""


class FxRate(TableRow):
    """A row of fx.csv: how much of a currency one US dollar bought on a day."""

    TABLE = "fx"

    def faults(self) -> Iterator[Fault]:
        if not 1e-9 < self.units_per_usd < 1e9:
            yield "units_per_usd", f"{self.units_per_usd:g} is not a rate of exchange"

    @classmethod
    def faults_across(cls, sound: Sequence[Row], present: Sequence[Row]) -> Iterator[RowFault]:
        rates = grouped((row["currency"], float(row["units_per_usd"])) for row in sound)
        for row in sound:
            rate, usual = float(row["units_per_usd"]), median_high(rates[row["currency"]])
            if not 1 / _RATES_OF_DAYS_APART <= rate / usual <= _RATES_OF_DAYS_APART:
                yield row, "units_per_usd", f"{rate:g} is far from {usual:g}, its rate on other days. A rate is in units for one US dollar"


class Disclosure(TableRow):
    """A row of disclosures.csv: a statement of a vendor. Without a model or lifetime it applies to all of them."""

    TABLE = "disclosures"

    def faults(self) -> Iterator[Fault]:
        known = DISCLOSED[self.topic]
        if self.quantity not in known:
            yield "quantity", f"{shorten(self.quantity)} is not a quantity of {self.topic}{suggest(self.quantity, known)}"
            return
        unit = known[self.quantity]
        if self.unit != unit:
            yield "unit", f"{self.quantity} is in {unit or 'no unit'}, not {shorten(self.unit)}"
        elif (self.value is not None) != bool(unit):
            yield "value", "is blank" if unit else f"{self.quantity} is a tier, not a number"
        elif unit:
            yield from unit_faults(self.quantity, self.unit, value=self.value)
        yield from partly_filled(self, "date", "date_kind")
        yield from misplaced(self, "disclosed_tier", self.quantity == "storage_tier", self.quantity)


class CalibrationModel(TableRow):
    """A row of calibration_models.csv: an architecture, and the sheet of several bands that sells it."""

    TABLE = "calibration_models"


class ListPrice(TableRow):
    """A row of list_prices.csv: the maker's price of an open model near release [USD/Mtoken]."""

    TABLE = "list_prices"


class HostPrice(TableRow):
    """A row of host_prices.csv: a host's price of an open model [USD/Mtoken]."""

    TABLE = "host_prices"


class DisclosedSize(TableRow):
    """A row of disclosed_sizes.csv: a published size of a model that no fit has seen, and its price [USD/Mtoken].

    `closed`: only the vendor had the weights when the model was sold. `bound`: the size that is a bound.
    """

    TABLE = "disclosed_sizes"

    def faults(self) -> Iterator[Fault]:
        yield from more_active(self.active_params, self.total_params)

    def exactly(self, params: str) -> float | None:
        """Return its active or total parameters, or None if they are not known or only a bound is."""
        value: float | None = getattr(self, params)
        return None if self.bound.startswith(params.partition("_")[0]) else value


class KnowledgeScore(TableRow):
    """A row of knowledge_scores.csv: the share of a benchmark that a model answered, and the share it refused."""

    TABLE = "knowledge_scores"


class NaturalExperiment(TableRow):
    """A row of natural_experiments.csv: a day from which a model sold at a new price, with the weights of the day before."""

    TABLE = "natural_experiments"


# Price files: a validated row, and the book of all rows with exchange rates and problems.


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
    return bool(re.match(r"(?!.*\.[A-Za-z]+$)(.*;|\s*([A-Z]{3}\s+)?\W?[.,]?[0-9][0-9.,]*(e-?[0-9]+)?\s*\W?\s*/)", text))


Fx = Mapping[str, tuple[FxRate, ...]]
SheetKey = tuple[str, str, str, str]
RowKey = tuple[str, str, str, str, str, int, int | None, str, str]

SHIPPED_PRICES = "prices.csv"
"""The table of shipped prices. Only its rows have this name, so they differ from the rows of a user's file with any name."""
RELEASED_PRICES = "released_prices.csv.gz"
"""The compressed prices.csv of the last release, in the same folder. It is also in a wheel, and needs neither git nor a network."""


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

    @property
    def ships(self) -> bool:
        """Whether it is a row of the shipped prices, present or of the last release."""
        return self.origin.startswith((f"{SHIPPED_PRICES}:", f"{RELEASED_PRICES}:"))

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


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the values of each key, in their order.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def description_of(rows: Sequence[PriceRow]) -> dict[str, Any]:
    """Return the longest context [token] and the earliest release that rows give, by column."""
    return {column: getattr(telling_row(rows, column), column, None) for column in ("max_context", "release_date")}


def telling_row(rows: Sequence[PriceRow], column: str) -> PriceRow | None:
    """Return the row with the longest context, or with the earliest release, or None if no row gives one."""
    told = (row for row in rows if getattr(row, column))
    return (max if column == "max_context" else min)(told, key=attrgetter(column), default=None)


def units_per_usd(fx: Fx, currency: str, day: date) -> float:
    """Return the newest exchange rate known on a day, or else the oldest rate."""
    if currency == "USD":
        return 1.0
    known = [rate for rate in fx[currency] if rate.date <= day]
    return float((known[-1] if known else fx[currency][0]).units_per_usd)


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
    newest_retrieved: date
    far_off: tuple[Problem, ...] = ()
    day_moved: str = ""
    own: tuple[PriceRow, ...] = ()
    overlay: FileText | None = None
    replaced: tuple[PriceRow, ...] = ()

    @property
    def notes_on_day(self) -> tuple[str, ...]:
        """Return what a reader must know of the day that is used without --as-of."""
        return (*([self.day_moved] if self.day_moved else []), *map(str, self.far_off))
