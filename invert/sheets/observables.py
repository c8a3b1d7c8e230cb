"""A price sheet as dimensionless ratios, each with the cell of values that round to the same published number, and the means of its bands.

Vendors do not publish the mean context of a band. The priors `short_context` and `long_context` describe these means. Estimates that use
one number per band use the medians of the priors, and estimates with a range draw from them. Estimates from known models use the same
priors. So a point and the range around it agree, and all columns use the same context. If an outside fact replaces them (`--anchor`), it
applies to all of these.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import floor, log10, sqrt

from derive.errors import WrongValue
from derive.units import show
from invert.arrays import Values
from invert.assumptions import USUAL, Assumptions
from invert.records import BandPair, Observable, Observables, WritePremium
from invert.sheets.rows import ModelRow
from invert.sheets.rules import SAME_PRICE
from invert.sheets.sheet import Price, PriceBand, PriceSheet


def band_edges(bands: Sequence[PriceBand], max_context: int | None, assumptions: Assumptions) -> tuple[float, ...]:
    """Return thresholds and the top of the last band [token], or an empty tuple if there is one band.

    The top is the longest context of the model, or `open_top_ratio` times the last threshold if no longer context is known.
    """
    thresholds = [float(band.threshold_tokens) for band in bands[1:]]
    if not thresholds:
        return ()
    top = float(max_context) if max_context and max_context > thresholds[-1] else assumptions.open_top_ratio * thresholds[-1]
    return (*thresholds, top)


def mean_contexts(edges: Sequence[Values], assumptions: Assumptions, short: Values = 0.0, long: Values = 0.0) -> tuple[Values, ...]:
    """Return the mean context [token] of each band between edges [token], at standard normal draws of both priors.

    A draw of 0 is the median.

    The base band has a share of the first threshold, and the mean of each band above it lies at the same share of the band. A given mean of
    the first band above the threshold is converted to a share. The share applies to the bands above it. Numbers or arrays.

    >>> from invert.estimators.cases import assumptions_of
    >>> [round(mean, -3) for mean in mean_contexts((200e3, 1e6), assumptions_of({}))]
    [16000.0, 358000.0]
    >>> [round(mean, -3) for mean in mean_contexts((32e3, 128e3, 256e3), assumptions_of({"short_context": 4e3, "long_context": 80e3}))]
    [4000.0, 80000.0, 192000.0]
    """
    first, second = edges[:2]
    below, above = assumptions.priors["short_context"].at(short), assumptions.priors["long_context"].at(long)
    low = first * below if assumptions.priors["short_context"].ends else below
    high = first + (second - first) * above if assumptions.priors["long_context"].ends else above
    share = (high - first) / (second - first)
    return (low, high, *(start + (end - start) * share for start, end in pairwise(edges[1:])))


def longest_context(sheet: PriceSheet, model: ModelRow | None) -> int | None:
    """Return the longest context [token] of a model from the rows of its sheet, or else from models.csv."""
    return sheet.max_context or (model.max_context if model else None)


def with_given_context(sheet: PriceSheet, assumptions: Assumptions) -> PriceSheet:
    """Return the sheet with the given longest context [token], if there is one."""
    if assumptions.max_context is None:
        return sheet
    longest, last = round(assumptions.max_context), sheet.bands[-1].threshold_tokens
    if longest <= last:
        at, begins = show("max_context", longest), show("long_context_threshold", last)
        raise WrongValue(f"max_context {at} is not above {begins}, the threshold of the sheet's last band. Give a larger one")
    return replace(sheet, max_context=longest)


def band_means(bands: Sequence[PriceBand], max_context: int | None, assumptions: Assumptions) -> tuple[float, ...]:
    """Return the mean context [token] that every point estimate uses for each band, or an empty tuple for a sheet with one band."""
    edges = band_edges(bands, max_context, assumptions)
    return tuple(float(mean) for mean in mean_contexts(edges, assumptions)) if edges else ()


def rounding_cell(value: float, assumptions: Assumptions = USUAL) -> tuple[float, float]:
    """Return the interval of values that round to this published number: nearer to it, by ratio, than to the next nice numbers.

    >>> [round(end, 2) for end in rounding_cell(1.5)], [round(end, 2) for end in rounding_cell(4.5)]
    ([1.37, 1.73], [4.24, 4.74])
    """
    nice = assumptions.nice_numbers
    decade = 10.0 ** floor(log10(value))
    scaled = value / decade
    at = bisect_left(nice, scaled * (1 - SAME_PRICE))
    on_lattice = abs(nice[at] - scaled) <= SAME_PRICE * scaled
    below = nice[at - 1] if at else nice[-2] / 10
    above = (nice[at + 1] if at + 1 < len(nice) else nice[1] * 10) if on_lattice else nice[at]
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


def observables(sheet: PriceSheet, max_context: int | None, assumptions: Assumptions = USUAL) -> Observables:
    """Return every ratio that the readings use. Pairs of adjacent bands are in ascending order. A pair with premiums of 1 on input and
    output is left out, because the price does not change at that threshold. Mean contexts come from `band_means`.
    """

    def over(name: str, price: Price, base: Price) -> Observable:
        return observe(name, ratio(price, base), assumptions)

    base, read, storage = sheet.bands[0], sheet.bands[0].cache_read, sheet.storage
    contexts = band_means(sheet.bands, max_context, assumptions)
    pairs = [
        BandPair(
            long_context_threshold=upper.threshold_tokens,
            short_context=short,
            long_context=long,
            output_input_ratio=over("output_input_ratio", lower.output, lower.input),
            premium_in=over("premium_in", upper.input, lower.input),
            premium_out=over("premium_out", upper.output, lower.output),
        )
        for (lower, upper), (short, long) in zip(pairwise(sheet.bands), pairwise(contexts), strict=True)
    ]
    storage_price = None
    if storage and storage.amount:
        # The cell of a storage price comes from the published amount, in the vendor's own unit.
        low, high = (end * (storage.usd_per_token / storage.amount) for end in rounding_cell(storage.amount, assumptions))
        storage_price = Observable(name="storage_price", value=storage.usd_per_token, low=low, high=high)
    return Observables(
        output_input_ratio=over("output_input_ratio", base.output, base.input),
        pairs=tuple(pair for pair in pairs if any(abs(one.value - 1) > SAME_PRICE for one in (pair.premium_in, pair.premium_out))),
        contexts=contexts,
        cache_read_ratio=over("cache_read_ratio", read, base.input) if read and read.amount else None,
        cache_write_premiums=tuple(
            WritePremium(ttl_seconds=price.ttl_seconds, premium=ratio(price, base.input) - 1) for price in sheet.writes
        ),
        storage_price=storage_price,
    )
