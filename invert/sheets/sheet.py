"""A price sheet as published: its prices by place, by band and cache offer. Reading these records imports no solver.

People type a place as `component[@threshold][:lifetime]`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise

from derive.briefly import brief, cut
from derive.errors import UnknownName, WrongValue, shorten
from derive.immutable import immutable
from derive.tables.cells import token_count
from invert.sheets.rows import PriceRow, SheetKey
from invert.sheets.rules import COMPONENTS

_TOKENS = {"": 1, "k": 1_000, "M": 1_000_000}
_SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600}
Place = tuple[str, int, int | None]
"""Component, threshold [token] and lifetime [s] of a price in its sheet."""


def typed_place(spec: str) -> Place:
    """Return the place of `component[@threshold][:lifetime]`, even if no sheet has it."""
    form = re.fullmatch(r"([^@:]*)(?:@([^@:]+))?(?::([0-9]{1,9})(s|min|h|))?", spec.strip())
    threshold = token_count(form[2] or "0") if form else None
    if not form or threshold is None:
        raise WrongValue(f"{shorten(spec)} is not component[@threshold][:lifetime], such as input@200k or cache_write:5min")
    component, _, lifetime, unit = form.groups()
    if component not in COMPONENTS:
        raise UnknownName("component", component, COMPONENTS)
    return component, threshold, int(lifetime) * _SECONDS[unit] if lifetime else None


def spelled(place: Place) -> str:
    """Return a place as it is typed."""
    component, threshold, lifetime = place
    return (
        component
        + (f"@{_in_largest_unit(threshold, _TOKENS)}" if threshold else "")
        + (f":{_in_largest_unit(lifetime, _SECONDS)}" if lifetime else "")
    )


def _in_largest_unit(count: int, units: Mapping[str, int]) -> str:
    """Return a count in the largest unit that divides it."""
    unit = max((unit for unit, size in units.items() if count % size == 0), key=units.__getitem__)
    return f"{count // units[unit]}{unit}"


def name_price(sheet: str, cells: Mapping[str, str]) -> str:
    """Return the name of a typed price in messages, from the cells of its row."""
    threshold, lifetime = (int(cells.get(column) or 0) for column in ("threshold_tokens", "ttl_seconds"))
    return f"{shorten(sheet)} {spelled((cells['component'], threshold, lifetime or None))}"


Asked = tuple[float, str, str]
"""A price as published: amount, currency and unit."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Price(PriceRow):
    """A row on the day of its sheet. `usd_per_token` is its price in SI (USD/token, or USD/token/s for per=mtok_hour)."""

    __repr__ = brief

    usd_per_token: float

    @property
    def ends(self) -> date | None:
        """The day on which the price was announced to end when it was read."""
        return self.valid_to if self.valid_to and self.retrieved_date and self.valid_to > self.retrieved_date else None


@immutable
class PriceBand:
    """The prices per token of a request with a prompt above the threshold (or equal to it, if inclusive)."""

    threshold_tokens: int
    threshold_inclusive: bool
    input: Price
    output: Price
    cache_read: Price | None


@immutable
class PriceSheet:
    """The prices of (provider, model, region, service tier) on one day, in any order. The caller chooses the tier.

    `start_known` is false if a price is used for a day before it was read and its first day is unknown. `max_context` is the longest
    context [token] in its rows, and `release_date` the first release. For a shipped sheet, models.csv has both.
    """

    provider: str
    model: str
    region: str
    service_tier: str
    as_of: date
    rows: tuple[Price, ...]
    start_known: bool = True
    max_context: int | None = None
    release_date: date | None = None

    def __str__(self) -> str:
        place = f", {self.region}" if self.region else ""
        return cut(f"{self.provider}/{self.model} ({self.service_tier}{place}) on {self.as_of}: {self.base_prices}")

    @property
    def key(self) -> SheetKey:
        """Provider, model, region and service tier, which identify a sheet on two days."""
        return self.provider, self.model, self.region, self.service_tier

    @cached_property
    def prices(self) -> dict[Place, Price]:
        """All prices by place: band by band, then cache writes by lifetime, then storage."""
        return {row.place: row for row in sorted(self.rows, key=_order)}

    @property
    def asked(self) -> dict[Place, Asked]:
        """All prices as published, by place."""
        return {place: (price.amount, price.currency, price.per) for place, price in self.prices.items()}

    @cached_property
    def bands(self) -> tuple[PriceBand, ...]:
        """The prices of prompts by length. They ascend from threshold 0."""
        return tuple(
            PriceBand(
                threshold_tokens=at,
                threshold_inclusive=price.threshold_inclusive,
                input=price,
                output=self.prices["output", at, None],
                cache_read=self.prices.get(("cache_read", at, None)),
            )
            for (component, at, _), price in self.prices.items()
            if component == "input"
        )

    @property
    def has_premium(self) -> bool:
        """Whether an output token costs more in some band than in the one below it."""
        return any(above.output.usd_per_token > below.output.usd_per_token for below, above in pairwise(self.bands))

    @cached_property
    def writes(self) -> tuple[Price, ...]:
        """The cache writes below any threshold, by lifetime."""
        return tuple(price for (component, at, _), price in self.prices.items() if component == "cache_write" and not at)

    @property
    def storage(self) -> Price | None:
        """The cache storage below any threshold."""
        return self.prices.get(("cache_storage", 0, None))

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


def _order(price: Price) -> tuple[float, ...]:
    """Return the sort key of a price in its sheet."""
    component, threshold, lifetime = price.place
    kind = COMPONENTS.index(component)
    return (kind, lifetime or 0, threshold) if component in ("cache_write", "cache_storage") else (0, threshold, kind)


def sheet_in_words(key: SheetKey) -> str:
    """Name a sheet: `deepseek/deepseek-v4-pro (off_peak)`."""
    provider, model, region, tier = key
    place = ", ".join(part for part in (region, "" if tier == "standard" else tier) if part)
    return f"{provider}/{model}" + (f" ({place})" if place else "")


def money_unit(currency: str, per: str) -> str:
    """Return the unit of a price: `USD/MTok`, or `USD/MTok/h` for storage."""
    return f"{currency}/MTok{'/h' if per == 'mtok_hour' else ''}"
