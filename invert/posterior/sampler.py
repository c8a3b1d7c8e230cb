"""The joint inference of one sheet by triangular importance sampling.

The nuisances are drawn from their priors, and the un-rounded ratios from the cells in which they were published. The exact
inverse gives the hidden quantities, and the weight of a draw is prior times Jacobian times the likelihood of the prices that
the inverse did not use. Published prices are interval-censored: the likelihood of one is the mass that a normal about the
cost ratio puts on its cell. Everything is evaluated on arrays [draws].
"""

from math import exp, log, sqrt

import numpy as np

from derive.catalogue import equation
from derive.immutable import immutable
from invert.arrays import Array, Values
from invert.assumptions import Assumptions
from invert.posterior import inverse as triangular
from invert.posterior.data import PriceData
from invert.posterior.inverse import PER_PARAMETER
from invert.posterior.likelihood import input_price_level, size_before_price, unused_prices
from invert.posterior.parameters import RATIOS, SIZE, Points, kv_prior, triangular_points, wider
from invert.posterior.sobol import DEFAULT, SEED, normals
from invert.posterior.weights import Weights, log_mean, weights
from invert.priors import normal_log_density


@immutable
class Posterior:
    """Weighted draws of a sheet, and the sampling method."""

    price_data: PriceData
    points: Points
    log_weights: Array
    weights: Weights
    log_active_params: Array
    sampler: str
    seed: int
    assumptions: Assumptions

    def logs(self, name: str, price_per_flop: float | None = None) -> Array:
        """Return natural log of a quantity at every draw [draws], for the whole model and in SI units."""
        return log_quantity(name, self.points, self.log_active_params, self.price_data, price_per_flop)


OF_THE_MODEL = ("kv_bytes_per_token", "attention_flops_per_pair")
"""Quantities that draws have per active parameter."""
_DEFINED = {
    "attention_context": "context.attention_context",
    "memory_time_share": "bands.memory_time_share",
    "active_params_times_price_cost_ratio": "bands.active_params_times_price_cost_ratio",
}
"""Quantities that follow from the draws, with their equations. The others are drawn or solved for."""


def log_quantity(name: str, points: Points, log_active_params: Array, price_data: PriceData, price_per_flop: float | None = None) -> Array:
    """Return natural log of a quantity at posterior or prior draws [draws], for the whole model and in SI units."""
    with np.errstate(all="ignore"):
        if name == "active_params":
            found = log_active_params
        elif name in _DEFINED:
            at = {**PER_PARAMETER, **points.at, "memory_ratio_short": points.costs.memory_short}
            level = _level(points, price_data, price_per_flop) if price_per_flop and name == "active_params_times_price_cost_ratio" else {}
            found = np.log(equation(_DEFINED[name]).right_side({**at, **level}))
        else:
            found = points.logs[name] if name in points.logs else np.log(points.at[name])
        return np.broadcast_to(found + log_active_params if name in OF_THE_MODEL else found, log_active_params.shape)


def _level(points: Points, price_data: PriceData, price_per_flop: float) -> dict[str, Values]:
    """Return the published input price, the cost of a prompt token in units of linear compute, and the rental price of a FLOP."""
    ((low, high),) = price_data.cells["input_price"]
    return {"input_price": exp((low + high) / 2), "price_per_flop": price_per_flop, "prefill_cost_ratio": points.costs.prefill_short}


def posterior(price_data: PriceData, assumptions: Assumptions, count: int = DEFAULT, seed: int = SEED) -> Posterior:
    """Return the posterior of a sheet by triangular importance sampling, at `count` draws."""
    with np.errstate(all="ignore"):
        points = triangular_points(price_data, assumptions, count, seed)
        log_weights = log_ratio(points, price_data, assumptions)
        return Posterior(
            price_data=price_data,
            points=points,
            log_weights=log_weights,
            weights=weights(log_weights),
            log_active_params=sizes(points, price_data, assumptions, normals(count, seed)[:, SIZE]),
            sampler=f"triangular, {count} draws, seed {seed}",
            seed=seed,
            assumptions=assumptions,
        )


def log_evidence(price_data: PriceData, assumptions: Assumptions) -> float:
    """Return the log marginal likelihood of the prices of a sheet, as in its posterior."""
    with np.errstate(all="ignore"):
        return log_mean(log_ratio(triangular_points(price_data, assumptions, DEFAULT, SEED), price_data, assumptions))


def log_ratio(points: Points, price_data: PriceData, assumptions: Assumptions, unused: Values | None = None) -> Array:
    """Return log of target over triangular proposal density at points [draws], or minus infinity if not feasible.

    The factors are the prior of the solved quantities, the Jacobian of solving, the likelihood of the prices not used
    (`unused`, if it is known), and the widths of the cells from which the ratios were drawn.
    """
    total: Values = unused_prices(points, price_data, assumptions) if unused is None else unused
    # Prior over proposal density of the nuisances that are drawn wider than their priors.
    drawn = ((points.drawn[name], factor) for name, factor in wider(assumptions).items())
    total = sum((((one / factor) ** 2 - one**2) / 2 + log(factor) for one, factor in drawn), 0.0) + total
    total = total + normal_log_density(points.logs["weight_compute_ratio"], *assumptions.priors["weight_compute_ratio"].normal)
    if "premium_out" in price_data.cells:
        total = total + normal_log_density(points.logs["kv_bytes_per_token"], *kv_prior(price_data, assumptions))
        total = total + normal_log_density(points.logs["attention_intensity"], *assumptions.priors["attention_intensity"].normal)
        total = total + triangular.log_jacobian_of_both(points.costs, points.at) + triangular.log_jacobian_of_attention(points.at)
    else:
        total = total + triangular.log_jacobian_of_weight(points.costs, points.at)
    for name in set(RATIOS) & set(price_data.cells):
        low, high = price_data.cells[name][0]
        total = total + log(high - low)
    return np.where(np.isfinite(total), total, -np.inf)


def sizes(points: Points, price_data: PriceData, assumptions: Assumptions, normal: Array) -> Array:
    """Return draws of ln active_params given the rest [draws]: the input price determines only its product with price/cost."""
    shape = np.shape(points.logs["kv_bytes_per_token"])
    size, spread = size_before_price(points, price_data)
    if not price_data.level_tells:
        return np.broadcast_to(size + spread * normal, shape)
    ((low, high),) = price_data.cells["input_price"]
    centre, total = input_price_level(points, price_data, assumptions)
    gain = spread**2 / (total**2 + (high - low) ** 2 / 12)
    return np.broadcast_to(size + gain * ((low + high) / 2 - centre) + spread * sqrt(1 - gain) * normal, shape)
