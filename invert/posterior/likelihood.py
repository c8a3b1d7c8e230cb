"""The likelihood of published prices: the probability of each rounding cell, by a normal around the predicted price."""

from collections.abc import Iterator
from math import hypot, log, sqrt

import numpy as np
from scipy.special import log_ndtr

from derive.catalogue import equation
from invert.arrays import Array, Values
from invert.assumptions import Assumptions
from invert.posterior.data import Pair, PriceData
from invert.posterior.inverse import PER_PARAMETER
from invert.posterior.parameters import Points


def log_mass(cell: Pair, centre: Values, spread: float) -> Array:
    """Return the log probability of a cell, by a normal around centres [draws]."""
    low, high = cell
    away, half = np.abs((low + high) / 2 - centre) / spread, (high - low) / 2 / spread
    # The mass is the same on both sides of the centre. On the left small masses keep their digits.
    below = log_ndtr(half - away)
    return np.asarray(below + np.log(-np.expm1(log_ndtr(-half - away) - below)))


def unused_prices(points: Points, price_data: PriceData, assumptions: Assumptions) -> Values:
    """Return the log likelihood of every price that the inverse does not use: level, further bands, cache read, storage."""
    at, prefill = {**PER_PARAMETER, **points.at}, points.costs.prefill_short
    total: Values = 0.0
    if price_data.level_tells:
        total = total + log_mass(price_data.cells["input_price"][0], *input_price_level(points, price_data, assumptions))
    for place in range(1, len(price_data.cells.get("premium_out", ()))):
        bottom, top = price_data.edges[place : place + 2]
        band = {**at, "context_length": bottom + (top - bottom) * at["band_share"]}
        found = {
            "premium_in": equation("bands.prefill_cost").right_side(band) / prefill,
            "premium_out": equation("bands.decode_cost").right_side(band) / points.costs.decode_short,
        }
        for name, ratio in found.items():
            total = total + log_mass(price_data.cells[name][place], np.log(ratio), assumptions.noise[name])
    if "cache_read_ratio" in price_data.cells:
        hit = {**at, "prefill_cost_ratio": prefill, "cache_read_price_cost_ratio": assumptions.priors["cache_read_price_cost_ratio"].centre}
        spread = hypot(assumptions.noise["cache_read_ratio"], assumptions.priors["cache_read_price_cost_ratio"].spread)
        found = np.log(equation("bands.cache_read_ratio").right_side(hit))
        total = total + log_mass(price_data.cells["cache_read_ratio"][0], found, spread)
    if "storage_ratio" in price_data.cells:
        known = {name: assumptions.priors[name].centre for name in ("sweep_time", "holding_cost_ratio")}
        storage = equation("bands.storage_price").right_side({**at, **known, "prefill_cost_ratio": prefill, "input_price": 1.0})
        spread = hypot(assumptions.noise["storage_ratio"], *(assumptions.priors[name].spread for name in known))
        total = total + log_mass(price_data.cells["storage_ratio"][0], np.log(storage), spread)
    return total


def input_price_level(points: Points, price_data: PriceData, assumptions: Assumptions) -> tuple[Values, float]:
    """Return centre [draws] and spread of the ln input price, with model size and price level integrated out."""
    level = assumptions.priors["price_per_parameter"]
    size, spread = size_before_price(points, price_data)
    centre = np.log(points.costs.prefill_short) + size + log(level.centre)
    return centre, hypot(assumptions.noise["input_price"], level.spread, spread)


def size_before_price(points: Points, price_data: PriceData) -> tuple[Values, float]:
    """Return centre [draws] and spread of ln active_params before any price, given KV bytes per parameter. If KV bytes are known, they
    divided by KV bytes per parameter are a second size. It is combined with the prior size, weighted by precision.
    """
    size, spread = price_data.log_active_params
    if price_data.log_kv_bytes is None:
        return size, spread
    kv, kv_spread = price_data.log_kv_bytes
    gain = spread**2 / (spread**2 + kv_spread**2)
    return size + gain * (kv - points.logs["kv_bytes_per_token"] - size), spread * sqrt(1 - gain)


def log_likelihood(points: Points, price_data: PriceData, assumptions: Assumptions, unused: Values | None = None) -> Array:
    """Return the log likelihood of every price at points [draws], without prior and Jacobian, or minus infinity if not feasible."""
    total = unused_prices(points, price_data, assumptions) if unused is None else unused
    total = sum(_masses_of_ratios(points, price_data, assumptions), total)
    return np.where(np.isfinite(total), total, -np.inf)


def _masses_of_ratios(points: Points, price_data: PriceData, assumptions: Assumptions) -> Iterator[Array]:
    """Return the log likelihood of each price that the inverse uses."""
    costs = points.costs
    found: dict[str, Values] = {"output_input_ratio": costs.decode_short / costs.prefill_short}
    if "premium_out" in price_data.cells:
        found["premium_in"] = equation("bands.premium_in").right_side({**PER_PARAMETER, **points.at})
        found["premium_out"] = costs.decode_long / costs.decode_short
    for name, ratio in found.items():
        yield log_mass(price_data.cells[name][0], np.log(ratio), assumptions.noise[name])
