"""KV from premium at cost: a price is a line over the context, and its slope is the rental cost of KV reads. Tables print the result of
`estimates`, the calibration on known models corrects its bias, and the scoreboard tests it.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from derive.catalogue import equation
from derive.solving.engine.one_equation import solve_equation
from invert.arrays import Values
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.estimators.rent import rental
from invert.posterior.parameters import LATENT, drawn_contexts
from invert.posterior.sobol import coordinates, normals
from invert.posterior.weights import quantiles
from invert.records import Estimate, interval, references, upper
from invert.sheets.sheet import PriceSheet

DRAWS = 4096
ONE_TOKEN_MORE = {"long_context": 2.0, "short_context": 1.0}
"""Two contexts with a difference of one token: the increment between them is the slope."""


def weighted_line(contexts: ArrayLike, prices: ArrayLike) -> tuple[Values, Values]:
    """Return the line through prices over contexts with the least squared relative error: its value at no context, and its slope.

    Bands are the last axis. Draws of prices and contexts can be on other axes. The line goes exactly through two bands, and equal
    prices have a slope of exactly zero. The relative error of the slope is about 1e-16 times the price over its rise.

    >>> [float(round(number, 12)) for number in weighted_line([1000.0, 3000.0], [2.0, 3.0])]
    [1.5, 0.0005]
    """
    places, levels = np.asarray(contexts, dtype=float), np.asarray(prices, dtype=float)
    weights = levels**-2.0
    weights = weights / weights.sum(axis=-1, keepdims=True)
    centre = (weights * places).sum(axis=-1, keepdims=True)
    # The first price is subtracted: the common part of all prices must not leave a rounding error in the slope.
    rises = levels - levels[..., :1]
    slope = (weights * (places - centre) * rises).sum(axis=-1) / (weights * (places - centre) ** 2).sum(axis=-1)
    return levels[..., 0] + (weights * rises).sum(axis=-1) - slope * centre[..., 0], slope


def kv_bytes_at_cost(output_slope: Values, anchors: Mapping[str, Values]) -> Values:
    """Return the KV bytes per token of context [byte/token] whose rental cost is an output slope [USD/token per token].

    >>> from invert.data import read_data
    >>> f"{kv_bytes_at_cost(1.66e-11, rental(read_data()).values):.0f}"
    '100098'
    """
    kv: Values = equation("bands.kv_bytes_from_increment").right_side({**anchors, **ONE_TOKEN_MORE, "output_increment": output_slope})
    return kv


# The estimator.

INCREMENT = ("bands.kv_bytes_from_increment", "serving.price_per_hbm_byte")
_BOUND = ("bands.kv_read_within_price", "serving.price_per_hbm_byte")


# The calibration reads each known model first, and its record reads it again.
@lru_cache(maxsize=32)
def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the KV bytes from the output increments at rental cost, with uncertain rounding, band means and rent."""
    low = median = high = 0.0
    because = "no output premium, so KV reads at rental cost are at most the output price"
    if case.sheet.has_premium:
        low, median, high = kv_quantiles(case, data, assumptions)
        because = "the output price may not rise with length, so KV reads at rental cost are at most the output price"
    if low <= 0:
        most = most_within_price(case.sheet, case.max_context, data, assumptions)
        found = upper(assumptions, most, because, equations=references(*_BOUND), anchors=MEANS if case.sheet.has_premium else ())
    else:
        cited, because = references(*INCREMENT), "assumes premium = rental cost"
        found = interval(assumptions, low, median, high, because, equations=cited, anchors=MEANS)
    return {"kv_bytes_per_token": found}


def kv_quantiles(case: Case, data: Data, assumptions: Assumptions) -> tuple[float, float, float]:
    """Return low, median and high of the KV bytes [byte/token] from the slope of the output price."""
    normal = normals(DRAWS)
    bottom, top = np.transpose(case.price_data.cells["premium_out"])
    logs = bottom + (top - bottom) * coordinates(DRAWS, LATENT, len(bottom))
    prices = case.sheet.bands[0].output.usd_per_token * np.exp(np.column_stack([np.zeros(DRAWS), logs]))
    _, slope = weighted_line(drawn_contexts(case.price_data, assumptions, normal), prices)
    rent = np.exp(assumptions.rent_spread * normal[:, LATENT - 1])
    kv = kv_bytes_at_cost(slope, rental(data, assumptions).values) * rent
    level = assumptions.level
    (ends,) = quantiles(kv[None], np.full(DRAWS, 1 / DRAWS), ((1 - level) / 2, 0.5, (1 + level) / 2))
    low, median, high = map(float, ends)
    return low, median, high


MEANS = ("short_context", "long_context")


def most_within_price(sheet: PriceSheet, max_context: int | None, data: Data, assumptions: Assumptions) -> float:
    """Return the largest KV bytes [byte/token] whose cost the output price covers at the longest known context [token]."""
    given = {**rental(data, assumptions).values, "output_price": max(band.output.usd_per_token for band in sheet.bands)}
    given["max_context"] = float(max_context or assumptions.nominal_context)
    answers, _ = solve_equation(equation("bands.kv_read_within_price"), "kv_bytes_per_token", given)
    (most,) = (answer.high for answer in answers if answer.high is not None)
    return most
