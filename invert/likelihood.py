"""The likelihood of published prices: the mass that a normal about the predicted one puts on the cell of each."""

from math import log, pi
from typing import TYPE_CHECKING, Any

from derive.catalogue import equation
from derive.compiled import right_side
from invert.evidence import Evidence, column
from invert.points import RATIOS, Points, kv_prior
from invert.priors import Beliefs, normal_log_density
from invert.triangular import PER_PARAMETER

if TYPE_CHECKING:
    import numpy as np


def log_mass(low: "np.ndarray", high: "np.ndarray", centre: Any, spread: float) -> Any:
    """Log of the mass a normal puts on each cell [sheets] about centres [sheets, draws].

    >>> import numpy as np
    >>> round(float(log_mass(np.array([-1.0]), np.array([1.0]), np.array([[0.0]]), 1.0)[0, 0]), 4)
    -0.3817
    """
    import numpy as np

    away = np.abs((low + high)[:, None] / 2 - centre) / spread
    half = ((high - low) / 2)[:, None] / spread
    if np.max(half) > NARROW:
        from scipy.special import ndtr

        # The mass is the same on both sides of the centre; on the left, small masses keep their digits.
        return np.log(ndtr(half - away) - ndtr(-half - away))
    # Gauss-Legendre over the cell, with the density in the middle of it taken out: nothing underflows.
    share = 0.0
    for node, weight in NODES:
        ratio = np.exp(half * node * away)
        share = share + weight * np.exp(-((half * node) ** 2) / 2) * (ratio + 1 / ratio)
    return np.log(half * share) - away**2 / 2 - log(2 * pi) / 2


NARROW = 0.25
"""Half-width of a cell in spreads up to which four nodes give its mass to ten digits."""
NODES = ((0.33998104358485626, 0.6521451548625461), (0.8611363115940526, 0.34785484513745385))
"""The positive nodes and weights of the four-point Gauss-Legendre rule (numpy.polynomial.legendre.leggauss)."""


def unused_prices(points: Points, evidence: Evidence, held: Beliefs) -> Any:
    """Log likelihood of every price that the inverse does not use: level, further bands, cache read, storage."""
    import numpy as np

    at, prefill, total = {**PER_PARAMETER, **points.at}, points.costs.prefill_short, 0.0
    if "input_price" in evidence.cells:
        total = total + log_mass(*evidence.cells["input_price"], *price_level(points, evidence, held))
    for place in range(1, evidence.edges.shape[1] - 1 if "premium_out" in evidence.cells else 0):
        low, high = evidence.edges[:, place, None], evidence.edges[:, place + 1, None]
        band = {**at, "context_length": low + (high - low) * at["band_share"]}
        found = {
            "premium_in": right_side(equation("bands.prefill_cost"), band) / prefill,
            "premium_out": right_side(equation("bands.decode_cost"), band) / points.costs.decode_short,
        }
        for name, ratio in found.items():
            cell = (end[:, place] for end in evidence.cells[name])
            total = total + log_mass(*cell, np.log(ratio), held.noise[name])
    if "cache_read_ratio" in evidence.cells:
        hit = {**at, "prefill_cost_ratio": prefill, "cache_read_markup": held["cache_read_markup"].centre}
        spread = np.hypot(held.noise["cache_read_ratio"], held["cache_read_markup"].spread)
        found = np.log(right_side(equation("bands.cache_read_ratio"), hit))
        total = total + log_mass(*evidence.cells["cache_read_ratio"], found, spread)
    if "storage_ratio" in evidence.cells:
        known = {name: held[name].centre for name in ("sweep_time", "holding_cost_ratio")}
        storage = right_side(equation("bands.storage_price"), {**at, **known, "prefill_cost_ratio": prefill, "input_price": 1.0})
        spread = np.sqrt(held.noise["storage_ratio"] ** 2 + sum(held[name].spread ** 2 for name in known))
        total = total + log_mass(*evidence.cells["storage_ratio"], np.log(storage), spread)
    return total


def price_level(points: Points, evidence: Evidence, held: Beliefs) -> tuple[Any, Any]:
    """Centre and spread of the ln input price [sheets, draws], the size of the model and the price level integrated out."""
    import numpy as np

    level = held["price_per_parameter"]
    if evidence.log_kv_bytes is None:
        size, spread = evidence.log_active_params[0][:, None], evidence.log_active_params[1]
    else:
        size, spread = evidence.log_kv_bytes[0][:, None] - points.logs["kv_bytes_per_token"], evidence.log_kv_bytes[1]
    centre = np.log(points.costs.prefill_short) + size + log(level.centre)
    return centre, np.sqrt(held.noise["input_price"] ** 2 + level.spread**2 + spread**2)[:, None]


def log_target(points: Points, evidence: Evidence, held: Beliefs) -> "np.ndarray":
    """Log of prior times likelihood of every price, over the standard normals of the nuisances and the logs of the structure."""
    import numpy as np

    total = sum(normal_log_density(values, 0.0, 1.0) for values in points.drawn.values()) + unused_prices(points, evidence, held)
    total = total + normal_log_density(points.logs["kv_bytes_per_token"], *kv_prior(evidence, held))
    for name in ("attention_intensity", "weight_compute_ratio"):
        total = total + normal_log_density(points.logs[name], *held[name].normal)
    costs = points.costs
    found = {"output_input_ratio": costs.decode_short / costs.prefill_short, "premium_in": premium_in(points)}
    if "premium_out" in evidence.cells:
        found["premium_out"] = costs.decode_long / costs.decode_short
    for name in RATIOS:
        if name in evidence.cells:
            low, high = (column(end) for end in evidence.cells[name])
            total = total + log_mass(low, high, np.log(found[name]), held.noise[name])
    return np.where(np.isfinite(total), total, -np.inf)


def premium_in(points: Points) -> Any:
    """The input premium at points, before rounding."""
    return right_side(equation("bands.premium_in"), {**PER_PARAMETER, **points.at})
