"""The joint inference of one sheet by triangular importance sampling, by a mixture where its weights cannot be trusted, and its summary.

The nuisances are drawn from their priors, and the un-rounded ratios from the cells in which they were published. The exact
inverse gives the hidden quantities, and the weight of a draw is prior times Jacobian times the likelihood of the prices that
the inverse did not use. Published prices are interval-censored: the likelihood of one is the mass that a normal about the
cost ratio puts on its cell. Everything is evaluated on arrays [draws].

If the weights cannot be trusted, there are more draws, then a mixture with a Student-t fitted to the posterior. The heavy weights come
from sheets with a posterior in the tails of the nuisances, where few triangular draws fall. A Student-t about the weighted moments of the
draws so far (population Monte Carlo) goes there. The balance heuristic mixes it with the triangular proposal. So no weight is larger than
the triangular weight divided by the triangular share.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import exp, hypot, lgamma, log, nan, pi, sqrt

import numpy as np
from scipy.special import log_ndtr

from derive.catalogue import equation
from derive.immutable import immutable
from invert.arrays import Array, Values
from invert.assumptions import NUISANCES, STRUCTURE, Assumptions, normal_log_density
from invert.posterior.draws import DEFAULT, ENOUGH, MOST, SEED, Weights, normals, quantiles, uniforms, weights
from invert.posterior.points import (
    NOISY,
    RATIOS,
    SIZE,
    Pair,
    Points,
    PriceData,
    forward_points,
    log_jacobian,
    predict_price,
    prior_points,
    structure_priors,
    triangular_points,
    wider,
)


def log_mass(cell: Pair, centre: Values, spread: float) -> Array:
    """Return the log probability of a cell, by a normal around centres [draws]."""
    low, high = cell
    away, half = np.abs((low + high) / 2 - centre) / spread, (high - low) / 2 / spread
    # The mass is the same on both sides of the centre. On the left small masses keep their digits.
    below = log_ndtr(half - away)
    return np.asarray(below + np.log(-np.expm1(log_ndtr(-half - away) - below)))


_MARGINS = {"cache_read_ratio": ("cache_read_price_cost_ratio",), "storage_ratio": ("sweep_time", "holding_cost_ratio")}
"""Factors of one price each, which are integrated out: their spreads are added to its noise."""


def log_likelihood(points: Points, price_data: PriceData, assumptions: Assumptions, solved: bool | None = None) -> Values:
    """Return the log likelihood of every price at points [draws], without prior and Jacobian.

    With `solved`, only of the ratios that the inverse solves, or without them: of the level, further bands, cache reads and storage.
    """
    priors, total = assumptions.priors, np.asarray(0.0)
    at = {**points.at, **{name: priors[name].centre for factors in _MARGINS.values() for name in factors}}
    for name, cells in price_data.cells.items():
        for place, cell in enumerate(cells):
            if solved is not None and solved != (name in RATIOS and place == 0):
                continue
            if name != "input_price":
                spread = hypot(assumptions.noise[name], *(priors[factor].spread for factor in _MARGINS.get(name, ())))
                total = total + log_mass(cell, np.log(predict_price(name, place, at, price_data.edges)), spread)
            elif price_data.level_tells:
                total = total + log_mass(cell, *input_price_level(points, price_data, assumptions))
    return total


def input_price_level(points: Points, price_data: PriceData, assumptions: Assumptions) -> tuple[Values, float]:
    """Return centre [draws] and spread of the ln input price, with model size and price level integrated out."""
    level = assumptions.priors["price_per_parameter"]
    size, spread = size_before_price(points, price_data)
    centre = np.log(points.at["prefill_cost_ratio"]) + size + log(level.centre)
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

    def values(self, price_per_flop: float = nan) -> dict[str, Values]:
        """Return quantities at every draw [draws], for the whole model and in SI units."""
        ((low, high),) = self.price_data.cells.get("input_price", ((nan, nan),))
        found = of_whole_model(self.points.at, np.exp(self.log_active_params))
        level = {**found, "input_price": exp((low + high) / 2), "price_per_flop": price_per_flop}
        return {**found, LEVEL_OF_PRICES: equation("bands.active_params_times_price_cost_ratio").right_side(level)}

    def logs(self, *names: str, price_per_flop: float = nan) -> Array:
        """Return natural logs of quantities [quantities, draws]."""
        with np.errstate(all="ignore"):
            values = self.values(price_per_flop)
            return np.stack([np.broadcast_to(np.log(values[name]), self.log_active_params.shape) for name in names])


LEVEL_OF_PRICES = "active_params_times_price_cost_ratio"
OF_THE_MODEL = ("kv_bytes_per_token", "attention_flops_per_pair")
"""Quantities that draws have per active parameter."""


def of_whole_model(at: Mapping[str, Values], active_params: Array) -> dict[str, Values]:
    """Return values of the whole model from values per active parameter, with the share of memory in the time of a step."""
    found = {**at, "active_params": active_params, **{name: at[name] * active_params for name in OF_THE_MODEL}}
    return {**found, "memory_time_share": equation("bands.memory_time_share").right_side(found)}


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


def log_ratio(points: Points, price_data: PriceData, assumptions: Assumptions, unused: Values | None = None) -> Array:
    """Return log of target over triangular proposal density at points [draws], or minus infinity if not feasible.

    The factors are the prior of the solved quantities, the Jacobian of solving, the likelihood of the prices not used
    (`unused`, if it is known), and the widths of the cells from which the ratios were drawn.
    """
    total = log_likelihood(points, price_data, assumptions, solved=False) if unused is None else unused
    # Prior over proposal density of the nuisances that are drawn wider than their priors.
    drawn = ((points.drawn[name], factor) for name, factor in wider(assumptions).items())
    total = sum((((one / factor) ** 2 - one**2) / 2 + log(factor) for one, factor in drawn), 0.0) + total
    premiums, priors = "premium_out" in price_data.cells, structure_priors(price_data, assumptions)
    for name in STRUCTURE if premiums else ("weight_compute_ratio",):
        total = total + normal_log_density(points.logs[name], *priors[name])
    total = total + log_jacobian(points.at, premiums)
    for name in set(RATIOS) & set(price_data.cells):
        low, high = price_data.cells[name][0]
        total = total + log(high - low)
    return _feasible(total)


def _feasible(log_density: Values) -> Array:
    """Return the log density, with minus infinity in place of infinite and undefined values."""
    return np.where(np.isfinite(log_density), log_density, -np.inf)


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


_ROUNDS = (4096, 8192, 16384, 16384)
"""Number of draws of each round. From the second round on, the first trusted result is the answer, otherwise the last."""
_TEMPER, _FLOOR = (0.5, 0.75, 0.75, 0.75), (0.02, 0.01, 0.01, 0.01)
"""Powers of the weights in the moments of a round, and the variance added: a few heavy draws must not narrow the fit."""
_FITTED = 100
"""Effective number of triangular draws above which the first round is not needed."""
_NEGLIGIBLE = 1e-3
"""Tempered weight, with a maximum of 1, below which a draw is left out of the moments."""
DEGREES, WIDENED = 2 * (SIZE - NOISY), 1.1
"""Degrees of freedom of the Student-t (two for each coordinate of the noise of ratios, otherwise unused) and its widening."""


def trusted(found: Posterior) -> Posterior:
    """Return the posterior of the sheet: unchanged if it is trusted, with 65,536 draws if its weights do not settle, or by the mixture.

    The mixture is used at once if the weights settle on too few draws, or if the effective number of 65,536 draws would also be too small.
    It is also used at once if triangular draws do not reach all feasible points.
    """
    first, hidden = found.weights, _hides_compute(found.assumptions)
    if (first.trusted() and not hidden) or not first.feasible_fraction:
        return found
    if not first.settled and first.ess * MOST >= ENOUGH * len(first.values):
        found = posterior(found.price_data, found.assumptions, MOST, found.seed)
    return found if found.weights.trusted() and not hidden else mixed(found)


def _hides_compute(assumptions: Assumptions) -> bool:
    """Return whether a perfect overlap is given: no triangular draw meets a compute-bound band, which has no memory ratio to solve for."""
    overlap = assumptions.priors["overlap"]
    return not overlap.spread and overlap.centre == 1


def mixed(first: Posterior, enough: float = ENOUGH) -> Posterior:
    """Return the posterior of the sheet by the mixture, fitted first to triangular draws, until enough draws are effective."""
    price_data, assumptions, seed = first.price_data, first.assumptions, first.seed
    if len(first.log_weights) < _ROUNDS[-1] // 2:
        first = posterior(price_data, assumptions, DEFAULT, seed)
    fitted = first.weights.ess >= _FITTED and not _hides_compute(assumptions)
    rounds = [*zip(_ROUNDS, _TEMPER, _FLOOR, strict=True)][int(fitted) :]
    with np.errstate(all="ignore"):
        names, log_weights = unknowns(assumptions), first.log_weights
        coordinates = whitened = np.stack([first.points.drawn[name] for name in names])
        for count, power, floor in rounds:
            centre, root = _moments(coordinates, np.exp(power * (log_weights - log_weights.max())), floor)
            near, (standard, far) = whitened[:, : count // 2], _student(count // 2, len(centre), seed)
            coordinates = np.concatenate([near, centre[:, None] + root @ standard], axis=1)
            points = forward_points(dict(zip(names, coordinates, strict=True)), price_data, assumptions)
            away = np.linalg.inv(root) @ (near - centre[:, None])
            square = np.concatenate([np.einsum("ij,ij->j", away, away), far])
            target, by_triangular = log_densities(points, price_data, assumptions)
            log_weights = _feasible(target - np.logaddexp(by_triangular, _log_student(square, root)) + log(2))
            if count > _ROUNDS[0] and (found := weights(log_weights)).trusted(enough):
                break
        return replace(
            first,
            points=points,
            log_weights=log_weights,
            weights=found,
            log_active_params=sizes(points, price_data, assumptions, normals(count, seed)[:, SIZE]),
            sampler=f"mixture, {count} draws, seed {seed}",
        )


def unknowns(assumptions: Assumptions) -> tuple[str, ...]:
    """Return the coordinates of the mixture: the nuisances that are not held fixed, then the structural three."""
    return (*(name for name in NUISANCES if assumptions.priors[name].spread), *STRUCTURE)


def log_densities(points: Points, price_data: PriceData, assumptions: Assumptions) -> tuple[Array, Array]:
    """Return log densities of the target and the triangular proposal [draws] over the unknowns, a priori standard normal."""
    drawn = np.stack([points.drawn[name] for name in unknowns(assumptions)])
    unused, used = (log_likelihood(points, price_data, assumptions, solved) for solved in (False, True))
    target = _feasible(unused + used) - 0.5 * (np.einsum("ij,ij->j", drawn, drawn) + len(drawn) * log(2 * pi))
    return target, _feasible(target - log_ratio(points, price_data, assumptions, unused))


def _moments(coordinates: Array, weight: Array, floor: float) -> tuple[Array, Array]:
    """Return the weighted mean of coordinates [coordinates, draws], and the widened Cholesky root of their covariance.

    `weight` is tempered, with a maximum of 1. Draws of negligible weight are left out and may have any value.
    """
    held = np.flatnonzero(weight > _NEGLIGIBLE)
    kept, share = coordinates.take(held, axis=1), weight[held] / weight[held].sum()
    centre = kept @ share
    away = kept - centre[:, None]
    return centre, WIDENED * np.linalg.cholesky((away * share) @ away.T + floor * np.eye(len(centre)))


@cache
def _student(count: int, dimensions: int, seed: int) -> tuple[Array, Array]:
    """Return draws of a standard Student-t [dimensions, count], of the points after the first `count`, and their squared distances.

    A chi-square of 2 n degrees of freedom, as divides the normals, is -2 ln of the product of n uniforms.
    """
    later = slice(count, 2 * count)
    chi_squares = -2 * np.log(uniforms(2 * count, seed)[later, NOISY:SIZE]).sum(axis=1)
    drawn: Array = normals(2 * count, seed)[later, :dimensions].T * np.sqrt(DEGREES / chi_squares)
    return drawn, np.einsum("ij,ij->j", drawn, drawn)


def _log_student(square: Array, root: Array) -> Array:
    """Return the log density of the multivariate Student-t with this root of its scale, at squared distances in units of it."""
    dimensions = len(root)
    scale = lgamma((DEGREES + dimensions) / 2) - lgamma(DEGREES / 2) - dimensions / 2 * log(DEGREES * pi)
    volume = float(np.log(np.diag(root)).sum())
    return scale - volume - 0.5 * (DEGREES + dimensions) * np.log1p(square / DEGREES)


SUMMARISED = (
    "kv_bytes_per_token", "balance_context", "attention_intensity", "weight_compute_ratio", "memory_time_share", LEVEL_OF_PRICES,
)  # fmt: skip
_PRIOR_DRAWS = 2048


@immutable
class Marginal:
    """One quantity of one sheet, SI: median, ends of the central interval, one-sided bounds at its level.

    `spread` is that of its logarithm [nat], and `prior_spread` the same before the prices are seen. `contraction` is 1 minus the ratio of
    the variances.
    """

    median: float
    low: float
    high: float
    at_most: float
    spread: float
    prior_spread: float
    contraction: float
    prior_dominated: bool


@immutable
class Summary:
    """The results from the draws of one sheet, and the sampling method. There are no marginals if no draw is feasible."""

    marginals: Mapping[str, Marginal]
    log_evidence: float
    ess: float
    pareto_k: float
    feasible_fraction: float
    sampler: str


def summarise(price_data: PriceData, assumptions: Assumptions, price_per_flop: float, count: int = DEFAULT) -> Summary:
    """Return the summary of a sheet, at `count` draws or at as many more as its weights need."""
    if "premium_out" not in price_data.cells:
        # A given mean of a long band is not a fact about a sheet without a long band.
        assumptions = assumptions.without_facts(("long_context",))
    return summary_of(trusted(posterior(price_data, assumptions, count)), price_per_flop)


def summary_of(found: Posterior, price_per_flop: float) -> Summary:
    """Return the summary of a posterior."""
    weights = found.weights
    return Summary(
        marginals=_marginals(found, price_per_flop) if weights.ess else {},
        log_evidence=weights.log_evidence,
        ess=weights.ess,
        pareto_k=weights.pareto_k,
        feasible_fraction=weights.feasible_fraction,
        sampler=found.sampler,
    )


def _marginals(found: Posterior, price_per_flop: float) -> dict[str, Marginal]:
    level, held = found.assumptions.level, np.flatnonzero(found.weights.values)
    share, values = found.weights.values[held], found.logs(*SUMMARISED, price_per_flop=price_per_flop)[:, held]
    means = values @ share
    spreads = np.sqrt(np.maximum(values**2 @ share - means**2, 0.0))
    levels = (0.5, (1 - level) / 2, (1 + level) / 2, level)
    ends, before, marginals = np.exp(quantiles(values, share, levels)), prior_spreads(found.price_data, found.assumptions), {}
    for name, (median, low, high, at_most), spread in zip(SUMMARISED, ends.tolist(), spreads.tolist(), strict=True):
        narrowed = 1 - (spread / before[name]) ** 2
        marginals[name] = Marginal(
            median=median, low=low, high=high, at_most=at_most, spread=spread, prior_spread=before[name], contraction=narrowed,
            prior_dominated=narrowed < found.assumptions.prior_dominated_below,
        )  # fmt: skip
    return marginals


def prior_spreads(price_data: PriceData, assumptions: Assumptions) -> Mapping[str, float]:
    """Return the spread of the log of each quantity of a sheet before any price is seen [nat]."""
    normal = normals(_PRIOR_DRAWS)
    size, width = price_data.log_active_params
    values = of_whole_model(prior_points(price_data, assumptions, normal).at, np.exp(size + width * normal[:, SIZE]))
    spreads = {name: float(np.log(values[name]).std()) for name in SUMMARISED if name != LEVEL_OF_PRICES}
    # The level of prices is a fact of the market: before any price is seen it is as wide as size and price/cost together.
    return {**spreads, LEVEL_OF_PRICES: hypot(width, assumptions.priors["price_per_parameter"].spread)}
