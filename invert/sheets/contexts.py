"""Where the requests of a price band lie: the edges of the bands, and one rule for the mean context of each.

Nobody publishes these means. What is believed of them are the priors `short_context` and `long_context`; every estimate that
takes one number a band takes their medians, every estimate with a range draws from them, and what is learned from known models
is learned with the same. So a point and the range around it agree, and no column reads another context than the one beside it.
An outside fact in their place (`--anchor`) holds for all of them alike.
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
    """Thresholds and the top of the last band [token], or nothing where there is one band.

    The top is the longest context of the model, or `open_top_ratio` times the last threshold where none above it is known.
    """
    thresholds = [float(band.threshold_tokens) for band in bands[1:]]
    if not thresholds:
        return ()
    return (
        *thresholds,
        float(max_context) if max_context and max_context > thresholds[-1] else assumptions.open_top_ratio * thresholds[-1],
    )


def mean_contexts(edges: Sequence[Values], assumptions: Assumptions, short: Values = 0.0, long: Values = 0.0) -> tuple[Values, ...]:
    """Mean context [token] of each band between edges [token], at standard normal draws of both priors: at 0 their medians.

    The base band has a share of the first threshold, and each band above it lies the same share of its way up. A given mean
    of the first band above the threshold is such a share as well, and goes for the bands above it. Numbers or arrays.

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
    """The longest context [token] of a model: as the rows of its sheet give it, else as models.csv does."""
    return sheet.max_context or (model.max_context if model else None)


def with_given_context(sheet: PriceSheet, assumptions: Assumptions) -> PriceSheet:
    """The sheet with the longest context [token] that was given, if one was; `WrongValue` for one that its long band lies above."""
    if assumptions.max_context is None:
        return sheet
    longest, last = round(assumptions.max_context), sheet.bands[-1].threshold_tokens
    if longest <= last:
        at, begins = show("max_context", longest), show("long_context_threshold", last)
        raise WrongValue(f"max_context {at} is not above {begins}, from where on a price of the sheet holds; give a larger one")
    return replace(sheet, max_context=longest)


def band_means(bands: Sequence[PriceBand], max_context: int | None, assumptions: Assumptions) -> tuple[float, ...]:
    """The mean context [token] that every point estimate takes for each band. A sheet with one band has none."""
    edges = band_edges(bands, max_context, assumptions)
    return tuple(float(mean) for mean in mean_contexts(edges, assumptions)) if edges else ()
