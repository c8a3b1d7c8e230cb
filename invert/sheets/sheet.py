"""A price sheet as published, and with prices changed by hand: another amount, a relative change, or a new band.

A sheet has its prices by place, by band and cache offer. People type a place as `component[@threshold][:lifetime]`. Reading these records
imports no solver.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from derive.errors import UnknownName, WrongValue, shorten
from derive.immutable import brief, cut, immutable
from derive.tables.cells import token_count
from invert.estimate_text import round_digits
from invert.sheets.rows import PriceRow, SheetKey
from invert.sheets.rules import BAND_LIMIT, COMPONENTS, LEAST_THRESHOLD, SAME_PRICE, absurd_price, typed_number

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
    above = f"@{_in_largest_unit(threshold, _TOKENS)}" if threshold else ""
    kept = f":{_in_largest_unit(lifetime, _SECONDS)}" if lifetime else ""
    return f"{component}{above}{kept}"


def _in_largest_unit(count: int, units: Mapping[str, int]) -> str:
    """Return a count in the largest unit that divides it."""
    unit = max((unit for unit, size in units.items() if count % size == 0), key=units.__getitem__)
    return f"{count // units[unit]}{unit}"


def name_price(sheet: str, cells: Mapping[str, str]) -> str:
    """Return the name of a typed price in messages, from the cells of its row."""
    threshold, lifetime = (int(cells.get(column) or 0) for column in ("threshold_tokens", "ttl_seconds"))
    return f"{shorten(sheet)} {spelled((cells['component'], threshold, lifetime or None))}"


TOKEN_SECONDS = {"mtok": 1e6, "mtok_hour": 1e6 * 3600}
"""Tokens, or tokens times seconds, that the price of a unit is for."""
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


LIST_TIERS = ("standard", "off_peak")
"""Service tiers at the list price. A vendor with peak hours charges its usual price in off-peak hours."""


@immutable
class PriceSheet:
    """The prices of (provider, model, region, service tier) on one day, in any order. The caller chooses the tier.

    `start_known` is false if a price is used for a day before it was read and its first day is unknown. `max_context` is the longest
    context [token] in its rows, and `release_date` the first release. For a shipped sheet, models.csv has both. `list_input` is the input
    price [USD/token] of the same model at the list price, if this sheet is of another service tier.
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
    list_input: float | None = None

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


# Prices changed by hand.

_ADDED, _COPIED = "added by hand", "copied from "
"""The origin of a price added by hand, and the beginning of the origin of a price that an added band copies from the band below."""
_OF_A_BAND = ("input", "output", "cache_read")
_LARGEST_THRESHOLD = 10_000_000
"""Maximum threshold of a new band [token]."""
_BY_SO_MUCH = re.compile(r"(?P<sign>[+-])(?P<share>[0-9.]+)\s*%|[x\u00d7](?P<times>[0-9.]+)")
_A_FACTOR = re.compile(r"[*x\u00d7]\s*([0-9.]+)|([0-9.]+)\s*[*x\u00d7]")
"""A factor as others write it."""

_WITH_A_UNIT = re.compile(r"[^0-9.,+-]*(?P<amount>[0-9]+(?:\.[0-9]+)?)[^0-9.,]*")
"""A number between other characters."""


def with_amounts(sheet: PriceSheet, amounts: Mapping[str, str]) -> PriceSheet:
    """Return the sheet with some prices replaced.

    The amounts are such as `{"output": "20", "input@200k": "+10%", "cache_write:5min": "x1.5"}`. They are in the currency and unit of the
    price they replace, with verification `user`. A relative change applies to the published price. A new threshold adds a band. Prices that
    are not given are the prices of the band below. `copies` lists the copied prices. Raise UnknownName for an unknown component. Raise
    WrongValue for an amount that is not a price, for an unknown place, and for two amounts for one place.
    """
    before, prices = sheet.prices, dict(sheet.prices)
    given: dict[Place, str] = {}
    # A band copies prices of the band below, so the lower thresholds go first.
    for spec, amount in sorted(amounts.items(), key=lambda one: typed_place(one[0])[1]):
        _add_band(prices, *typed_place(spec)[:2], like=sheet.bands[-1].threshold_inclusive)
        place = placed(spec, prices)
        if place in given:
            raise WrongValue(f"{shorten(given[place])} and {shorten(spec)} are the same price of the sheet. Give it once")
        given[place] = spec
        try:
            price = repriced(prices[place], _amount_of_text(amount.strip(), place, before, prices[place]), prices.values())
            prices[place] = price if place in before else replace(price, origin=_ADDED)
        except WrongValue as error:
            raise WrongValue(f"{spelled(place)}: {error}") from None
    return replace(sheet, rows=tuple(prices.values()))


def without_places(sheet: PriceSheet, places: Collection[Place]) -> PriceSheet:
    """Return the sheet without some of its prices. A band without an input price is removed."""
    gone = {at for component, at, _ in places if component == "input"}
    return replace(sheet, rows=tuple(row for row in sheet.rows if row.place not in places and row.threshold_tokens not in gone))


def copies(sheet: PriceSheet) -> dict[Place, str]:
    """Return the prices that an added band copies from the band below, each with the name of the copied price."""
    return {place: price.origin.removeprefix(_COPIED) for place, price in sheet.prices.items() if price.origin.startswith(_COPIED)}


def is_added(spec: str, sheet: PriceSheet) -> bool:
    """Return whether a price set by hand is at a place without a published price."""
    return sheet.prices[placed(spec, sheet.prices)].origin == _ADDED


def bands_the_wrong_way_round(sheet: PriceSheet) -> list[str]:
    """Return the prices of a band that are below the prices of the band before it. This happens if only one of them was changed."""
    prices = sheet.prices
    return [
        f"{spelled(above)} {prices[above].amount:g} is below {spelled(below)} {prices[below].amount:g}"
        for component in ("input", "output")
        for below, above in pairwise((component, band.threshold_tokens, None) for band in sheet.bands)
        if prices[above].usd_per_token < prices[below].usd_per_token * (1 - SAME_PRICE)
    ]


def _add_band(prices: dict[Place, Price], component: str, at: int, like: bool) -> None:
    """Add a band with this threshold, at the prices of the band below, which the vendor does not publish for it."""
    thresholds = {band for name, band, _ in prices if name == "input"}
    if component not in _OF_A_BAND or at in thresholds:
        return
    if not LEAST_THRESHOLD <= at <= _LARGEST_THRESHOLD:
        raise WrongValue(f"a band may begin at 1k to 10M tokens, such as input@200k, and not at @{at}")
    if len(thresholds) == BAND_LIMIT:
        raise WrongValue(f"that makes more than {BAND_LIMIT} bands, and at most {BAND_LIMIT} are read")
    below = sorted((place for place in prices if place[0] in _OF_A_BAND and place[1] < at), key=itemgetter(1))
    for price in {place[0]: prices[place] for place in below}.values():
        said = f"{_COPIED}{spelled(price.place)}"
        changed = replace(price, verification="user", source_url="", notes=said, origin=said, valid_to=None)
        prices[price.component, at, None] = replace(changed, threshold_tokens=at, threshold_inclusive=like)


def _amount_of_text(text: str, place: Place, before: Mapping[Place, Price], like: Price) -> float:
    """Return the amount in a text, in the unit of the price `like`: a number, or a change relative to the present price of the place."""
    form = _BY_SO_MUCH.fullmatch(text)
    if not form:
        if factor := _A_FACTOR.fullmatch(text):
            raise WrongValue(
                f"{shorten(text)} is neither an amount nor a change. For this multiple of the price write x{factor[1] or factor[2]}"
            )
        if re.match(r"[+x\u00d7*/]|.*%$", text):
            raise WrongValue(f"{shorten(text)} is neither an amount such as 12.5 nor a change such as +10%, -10% or x1.5")
        return _bare_number(text, money_unit(like.currency, like.per))
    if place not in before:
        raise WrongValue(f"{shorten(text)} changes a price that the sheet does not have. Give an amount such as 12.5")
    if form["times"]:
        return round_digits(before[place].amount * typed_number(form["times"]), 12)
    share = typed_number(form["share"]) / 100
    if form["sign"] == "-" and share > 1:
        raise WrongValue(f"{shorten(text)} makes the price negative. Write at most -100%")
    return round_digits(before[place].amount * (1 + share if form["sign"] == "+" else 1 - share), 12)


def _bare_number(text: str, unit: str) -> float:
    """Return the number in a text, in the unit of its price. Raise WrongValue for a number with another unit."""
    try:
        return typed_number(text)
    except WrongValue:
        if form := _WITH_A_UNIT.fullmatch(text):
            amount = form["amount"]
            raise WrongValue(
                f"{shorten(text)} has a unit or a sign. Here a price is in {unit}: write {amount} for {amount} {unit}"
            ) from None
        raise


def placed(spec: str, prices: Mapping[Place, Price]) -> Place:
    """Return the place in a sheet of `component[@threshold][:lifetime]`. The lifetime may be omitted if there is only one."""
    component, at, seconds = typed_place(spec)
    found = [place for place in prices if place[:2] == (component, at) and (not seconds or place[2] == seconds)]
    if len(found) != 1:
        lack = "has no price at" if not found else "has several prices at"
        raise WrongValue(f"the sheet {lack} {shorten(spec)}; it has {', '.join(map(spelled, prices))}")
    return found[0]


def repriced(old: Price, amount: float, prices: Iterable[Price]) -> Price:
    """Return the price with another amount, converted at the exchange rate that the sheet's prices in its currency show."""
    kin = next((one for one in prices if one.currency == old.currency and one.amount), None)
    if kin is None:
        raise WrongValue(f"no price of the sheet gives the exchange rate of {old.currency}")
    rate = kin.amount / (kin.usd_per_token * TOKEN_SECONDS[kin.per]) if old.currency != "USD" else 1.0
    if fault := absurd_price(amount, amount / rate, old.component):
        raise WrongValue(fault)
    usd = amount / (rate * TOKEN_SECONDS[old.per])
    return replace(old, amount=amount, usd_per_token=usd, verification="user", source_url="", notes="", origin="set by hand", valid_to=None)
