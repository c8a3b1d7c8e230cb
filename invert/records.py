"""The records of the price side: rows as published, the sheets made of them, and what is wrong with a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from derive.records import Solution

if TYPE_CHECKING:
    from pandas import DataFrame

Fx = Mapping[str, tuple["FxRate", ...]]
SheetKey = tuple[str, str, str, str]
RowKey = tuple[str, str, str, str, str, int, int | None, str]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file, a row or a cell; `str()` gives the plain line that people read.

    >>> print(Problem("prices.csv", 12, "amount", "'abc' is not a number"))
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


@dataclass(frozen=True, slots=True)
class PriceRow:
    """One validated row of a price file: one component, in one band, of one sheet, over one stretch of time.

    `amount` is as published, in `currency` per million tokens (per=mtok) or per million tokens and hour (per=mtok_hour).
    """

    provider: str
    model: str
    region: str
    service_tier: str
    component: str
    threshold_tokens: int
    threshold_inclusive: bool
    ttl_seconds: int | None
    utc_hours: str
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
    origin: str

    @property
    def sheet_key(self) -> SheetKey:
        """Provider, model, region and service tier: the sheet the row belongs to."""
        return self.provider, self.model, self.region, self.service_tier

    @property
    def key(self) -> RowKey:
        """What the row prices, whatever the date: two rows of one key may not be valid on the same day."""
        return *self.sheet_key, self.component, self.threshold_tokens, self.ttl_seconds, self.utc_hours

    @property
    def start(self) -> date:
        """The first day of validity; a verification day is not a beginning, so such a row has always been valid."""
        return date.min if self.effective_date is None or self.date_kind == "verified" else self.effective_date

    @property
    def end(self) -> date:
        """The first day on which the price no longer holds."""
        return self.valid_to or date.max

    def valid_on(self, day: date) -> bool:
        """Whether the price holds on that day: start <= day < end, a blank end being open."""
        return self.start <= day and (self.valid_to is None or day < self.valid_to)

    def problem(self, column: str | None, message: str) -> Problem:
        """A problem of this row, under the file and row it was read from."""
        origin, _, number = self.origin.rpartition(":")
        return Problem(origin, int(number), column, message) if number.isdecimal() else Problem(self.origin, None, column, message)


@dataclass(frozen=True, slots=True)
class FxRate:
    """How much of a currency one US dollar bought on a day; a blank day holds always."""

    currency: str
    day: date | None
    units_per_usd: float
    source: str
    verification: str
    notes: str


def units_per_usd(fx: Fx, currency: str, day: date) -> float:
    """The newest rate of exchange known on that day, else the oldest there is.

    >>> units_per_usd({"CNY": (FxRate("CNY", None, 7.0, "assumed", "quoted", ""),)}, "CNY", date(2026, 11, 20))
    7.0
    """
    if currency == "USD":
        return 1.0
    known = [rate for rate in fx[currency] if (rate.day or date.min) <= day]
    return (known[-1] if known else fx[currency][0]).units_per_usd


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Everything that was read: good rows, exchange rates by currency, what was wrong, and the newest retrieval day."""

    rows: tuple[PriceRow, ...]
    fx: Fx
    problems: tuple[Problem, ...]
    newest_retrieved: date | None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One row of models.csv: the other names of a priced model and what is known of its size, with grades."""

    provider: str
    model: str
    aliases: tuple[str, ...]
    first_party: bool
    architecture: str
    architecture_grade: str
    max_context: int | None
    active_params: float | None
    active_params_grade: str
    total_params: float | None
    source: str
    notes: str


@dataclass(frozen=True, slots=True)
class Price:
    """One price: `amount` in `currency` as published, `usd_per_token` in SI (USD/token, or USD/token/s for per=mtok_hour)."""

    amount: float
    currency: str
    per: str
    usd_per_token: float
    verification: str
    source_url: str
    notes: str
    origin: str


@dataclass(frozen=True, slots=True)
class PriceBand:
    """What a whole request pays per token once its prompt is longer than the threshold (at or above it, if inclusive)."""

    threshold_tokens: int
    threshold_inclusive: bool
    input: Price
    output: Price
    cache_read: Price | None


@dataclass(frozen=True, slots=True)
class CacheOffer:
    """Cache writes of one lifetime, or cache storage: prices as published, by the threshold of their band."""

    component: str
    ttl_seconds: int | None
    prices: tuple[tuple[int, Price], ...]


@dataclass(frozen=True, slots=True)
class PriceSheet:
    """The prices of (provider, model, region, service tier) on one day; bands ascend from threshold 0, writes by lifetime.

    `start_known` is false where a price is taken for a day before it was read, and nobody noted when it began.
    """

    provider: str
    model: str
    region: str
    service_tier: str
    as_of: date
    bands: tuple[PriceBand, ...]
    writes: tuple[CacheOffer, ...]
    storage: CacheOffer | None
    utc_hours: str
    start_known: bool = True


@dataclass(frozen=True, slots=True)
class Observable:
    """A number read off a sheet, with the cell [low, high] of values that would have been published as the same number."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BandPair:
    """Two adjacent bands: the threshold between them, their mean contexts [token] and the ratios of their prices."""

    long_context_threshold: int
    threshold_inclusive: bool
    short_context: float
    long_context: float
    output_input_ratio: Observable
    premium_in: Observable
    premium_out: Observable


@dataclass(frozen=True, slots=True)
class Observables:
    """All ratios of a sheet; write premiums by lifetime [s], the storage price in USD/token/s."""

    output_input_ratio: Observable
    pairs: tuple[BandPair, ...]
    contexts: tuple[float, ...]
    cache_read_ratio: Observable | None
    cache_write_premiums: tuple[tuple[int | None, float], ...]
    storage_price: Observable | None


@dataclass(frozen=True, slots=True)
class Anchors:
    """The outside facts every reading of one output is made with, and where each comes from."""

    values: Mapping[str, float]
    origin: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of one band pair: every quantity it gives, the solution it rests on, or why it gives none."""

    name: str
    values: Mapping[str, float]
    solution: Solution | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One component of the sheet against what a reading predicts; a bound is met when predicted <= published."""

    component: str
    published: float
    predicted: float
    used_by_reading: bool
    inside_rounding_cell: bool
    bound: bool = False


@dataclass(frozen=True, slots=True)
class TierReading:
    """The storage tier a lifetime points to, by the lecture's drain times and by those of real devices."""

    ttl_seconds: int
    lecture: str
    devices: str
    disclosed: str | None


@dataclass(frozen=True, slots=True)
class KnownCache:
    """KV bytes per token of a model of known architecture, stored and read, in bf16 [byte/token]."""

    architecture: str
    grade: str
    stored: float
    read: float


@dataclass(frozen=True, slots=True)
class PairInference:
    """Everything read off one pair of bands."""

    pair: BandPair
    lecture: Reading
    joint: Reading
    lecture_checks: tuple[Check, ...]
    joint_checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Inference:
    """What one sheet implies: readings on one set of anchors, side by side."""

    sheet: PriceSheet
    model: ModelRow | None
    observables: Observables
    anchors: Anchors
    bandwidth_bound: Reading
    pairs: tuple[PairInference, ...]
    tiers: tuple[TierReading, ...]
    implied_drain_time: Reading | None
    known: KnownCache | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InferenceTable:
    """All inferences of one run, the date and anchors they share, and what was wrong with the input."""

    inferences: tuple[Inference, ...]
    as_of: date
    anchors: Anchors
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    changes: Mapping[str, str] = field(default_factory=dict)

    def to_frame(self) -> "DataFrame":
        """One row a sheet, as a pandas table."""
        from invert.frames import inference_frame

        return inference_frame(self)
