"""The records of a price sheet as published: its bands, cache writes and storage. Reading these records imports no solver."""

import re
from datetime import date

from derive.briefly import cut
from derive.immutable import immutable


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
    """Return whether a text is a sheet and not the name of a file: it begins with two amounts, with or without a currency.

    >>> is_typed_sheet("2/12; cache .2"), is_typed_sheet("EUR 2/12 >200k"), is_typed_sheet("2026/prices.csv"), is_typed_sheet("mine.csv")
    (True, True, False, False)
    """
    return bool(re.match(r"\s*(?:[A-Z]{3}\s+)?[$]?[0-9.,]+\s*/\s*[$]?[0-9.,]+(?:\s|;|$)", text))


@immutable
class Price:
    """One price: `amount` in `currency` as published, `usd_per_token` in SI (USD/token, or USD/token/s for per=mtok_hour).

    `ends` is the day on which it was announced to end when it was read.
    """

    amount: float
    currency: str
    per: str
    usd_per_token: float
    verification: str
    source_url: str
    notes: str
    origin: str
    ends: date | None = None


@immutable
class PriceBand:
    """The prices per token of a whole request whose prompt is longer than the threshold (or at least as long, if inclusive)."""

    threshold_tokens: int
    threshold_inclusive: bool
    input: Price
    output: Price
    cache_read: Price | None


@immutable
class CachePrice:
    """The price of a cache write or storage in the band above a threshold."""

    threshold_tokens: int
    price: Price


@immutable
class CacheOffer:
    """Cache writes of one lifetime, or cache storage: prices as published, thresholds ascend."""

    component: str
    ttl_seconds: int | None
    prices: tuple[CachePrice, ...]

    @property
    def base(self) -> Price:
        """The price in the lowest band that has one."""
        return self.prices[0].price


@immutable
class PriceSheet:
    """The prices of (provider, model, region, service tier) on one day. Bands ascend from threshold 0, and writes by lifetime.

    `utc_hours` and `weekdays` (1 is Monday) are the times of a peak price, and blank for any time. The caller chooses the tier.
    `start_known` is false if a price is used for a day before it was read and its first day is unknown. `max_context` is the longest
    context [token] in its rows, and `release_date` the first release. For a shipped sheet, models.csv has both.
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
    weekdays: str = ""
    max_context: int | None = None
    release_date: date | None = None

    def __str__(self) -> str:
        place = f", {self.region}" if self.region else ""
        return cut(f"{self.provider}/{self.model} ({self.service_tier}{place}) on {self.as_of}: {self.base_prices}")

    @property
    def model_and_region(self) -> str:
        """`gpt-6-sol`, or `gpt-6-sol [us]` for a regional sheet."""
        return self.model + (f" [{self.region}]" if self.region else "")

    @property
    def base_prices(self) -> str:
        """`2 in, 12 out USD/MTok, 2 bands`."""
        base, bands = self.bands[0], f", {len(self.bands)} bands" if len(self.bands) > 1 else ""
        currency = "" if base.input.currency == base.output.currency else f" {base.input.currency}"
        return f"{base.input.amount:g}{currency} in, {base.output.amount:g} out {base.output.currency}/MTok{bands}"


def money_unit(currency: str, per: str) -> str:
    """Return the unit of a price: `USD/MTok`, or `USD/MTok/h` for storage."""
    return f"{currency}/MTok{'/h' if per == 'mtok_hour' else ''}"
