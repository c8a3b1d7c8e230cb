"""A price sheet as dimensionless ratios, each with the cell of values that round to the same published number."""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import pairwise
from math import floor, log10, sqrt

from invert.assumptions import USUAL, Assumptions
from invert.records import BandPair, Observable, Observables, WritePremium
from invert.sheets.contexts import band_means
from invert.sheets.rules import SAME_PRICE
from invert.sheets.sheet import Price, PriceBand, PriceSheet

DECADE = 10.0

PRICE_RATIOS: Mapping[str, tuple[str, str]] = {
    "output_input_ratio": ("output", "input"),
    "premium_in": ("input_above", "input"),
    "premium_out": ("output_above", "output"),
}
"""The two prices of each ratio, from a band and the band above it."""


def rounding_cell(value: float, assumptions: Assumptions = USUAL) -> tuple[float, float]:
    """Return the interval of values that round to this published number: nearer to it, by ratio, than to the next nice numbers.

    >>> [round(end, 2) for end in rounding_cell(1.5)], [round(end, 2) for end in rounding_cell(4.5)]
    ([1.37, 1.73], [4.24, 4.74])
    """
    nice = assumptions.nice_numbers
    decade = DECADE ** floor(log10(value))
    scaled = value / decade
    at = bisect_left(nice, scaled * (1 - SAME_PRICE))
    on_lattice = abs(nice[at] - scaled) <= SAME_PRICE * scaled
    below = nice[at - 1] if at else nice[-2] / DECADE
    above = (nice[at + 1] if at + 1 < len(nice) else nice[1] * DECADE) if on_lattice else nice[at]
    return sqrt(below * scaled) * decade, sqrt(above * scaled) * decade


def observe(name: str, value: float, assumptions: Assumptions = USUAL) -> Observable:
    """Return a published value with its rounding cell."""
    low, high = rounding_cell(value, assumptions)
    return Observable(name=name, value=value, low=low, high=high)


def ratio(price: Price, base: Price) -> float:
    """Return one price divided by another, from the published amounts if both are in one currency."""
    if price.currency == base.currency:
        return price.amount / base.amount
    return price.usd_per_token / base.usd_per_token


def named_prices(band: PriceBand, above: PriceBand | None = None) -> dict[str, Price]:
    """Return the prices of a band and of the band above it, by their names in `PRICE_RATIOS`."""
    of_next = {"input_above": above.input, "output_above": above.output} if above else {}
    return {"input": band.input, "output": band.output, **of_next}


def _observed(name: str, prices: Mapping[str, Price], assumptions: Assumptions) -> Observable:
    over, under = PRICE_RATIOS[name]
    return observe(name, ratio(prices[over], prices[under]), assumptions)


def _storage_price(sheet: PriceSheet, assumptions: Assumptions) -> Observable | None:
    """Return the storage price [USD/token/s]. Its cell comes from the published amount, in the vendor's own unit."""
    price = sheet.storage
    if price is None or not price.amount:
        return None
    low, high = rounding_cell(price.amount, assumptions)
    scale = price.usd_per_token / price.amount
    return Observable(name="storage_price", value=price.usd_per_token, low=low * scale, high=high * scale)


def observables(sheet: PriceSheet, max_context: int | None, assumptions: Assumptions = USUAL) -> Observables:
    """Return every ratio that the readings use. Pairs of adjacent bands are in ascending order. A pair with premiums of 1 on input and
    output is left out, because the price does not change at that threshold. Mean contexts come from `invert.sheets.contexts`.
    """
    base, read = sheet.bands[0], sheet.bands[0].cache_read
    contexts = band_means(sheet.bands, max_context, assumptions)
    adjacent = zip(pairwise(sheet.bands), pairwise(contexts), strict=True)
    pairs = [_pair(lower, upper, short, long, assumptions) for (lower, upper), (short, long) in adjacent]
    return Observables(
        output_input_ratio=_observed("output_input_ratio", named_prices(base), assumptions),
        pairs=tuple(pair for pair in pairs if any(abs(one.value - 1) > SAME_PRICE for one in (pair.premium_in, pair.premium_out))),
        contexts=contexts,
        cache_read_ratio=observe("cache_read_ratio", ratio(read, base.input), assumptions) if read and read.amount else None,
        cache_write_premiums=tuple(
            WritePremium(ttl_seconds=price.ttl_seconds, premium=ratio(price, base.input) - 1) for price in sheet.writes
        ),
        storage_price=_storage_price(sheet, assumptions),
    )


def _pair(lower: PriceBand, upper: PriceBand, short: float, long: float, assumptions: Assumptions) -> BandPair:
    prices = named_prices(lower, upper)
    return BandPair(
        long_context_threshold=upper.threshold_tokens,
        short_context=short,
        long_context=long,
        output_input_ratio=_observed("output_input_ratio", prices, assumptions),
        premium_in=_observed("premium_in", prices, assumptions),
        premium_out=_observed("premium_out", prices, assumptions),
    )
