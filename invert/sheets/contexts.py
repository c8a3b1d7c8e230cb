"""Mean contexts of price bands: the edges of the bands, and one rule for the mean context of each.

Vendors do not publish these means. The priors `short_context` and `long_context` describe them. Estimates that use one number per band use
the medians of the priors, and estimates with a range draw from them. Estimates from known models use the same priors. So a point and the
range around it agree, and all columns use the same context. If an outside fact replaces them (`--anchor`), it applies to all of these.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from derive.errors import WrongValue
from derive.units import show
from invert.arrays import Values
from invert.assumptions import Assumptions
from invert.sheets.sheet import PriceBand, PriceSheet
from invert.sheets.tables import ModelRow


def band_edges(bands: Sequence[PriceBand], max_context: int | None, assumptions: Assumptions) -> tuple[float, ...]:
    """Return thresholds and the top of the last band [token], or an empty tuple if there is one band.

    The top is the longest context of the model, or `open_top_ratio` times the last threshold if no longer context is known.
    """
    thresholds = [float(band.threshold_tokens) for band in bands[1:]]
    if not thresholds:
        return ()
    return (
        *thresholds,
        float(max_context) if max_context and max_context > thresholds[-1] else assumptions.open_top_ratio * thresholds[-1],
    )


def mean_contexts(edges: Sequence[Values], assumptions: Assumptions, short: Values = 0.0, long: Values = 0.0) -> tuple[Values, ...]:
    """Return the mean context [token] of each band between edges [token], at standard normal draws of both priors.

    A draw of 0 is the median.

    The base band has a share of the first threshold, and the mean of each band above it lies at the same share of the band. A given mean of
    the first band above the threshold is converted to a share. The share applies to the bands above it. Numbers or arrays.

    >>> from invert.anchors import assumptions_of
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
