"""A remedy for triangular weights that cannot be trusted: more draws, then a mixture with a Student-t fitted to the posterior.

The heavy weights come from sheets with a posterior in the tails of the nuisances, where few triangular draws fall. A
Student-t about the weighted moments of the draws so far (population Monte Carlo) goes there. It is mixed with the triangular
proposal by the balance heuristic, so that no weight exceeds its triangular one over that share.
"""

from functools import cache
from math import lgamma, log, pi

import numpy as np

from invert.arrays import Array
from invert.assumptions import Assumptions
from invert.posterior.data import PriceData
from invert.posterior.likelihood import log_likelihood, unused_prices
from invert.posterior.parameters import NOISY, SIZE, Points, forward_points, kv_prior
from invert.posterior.sampler import Posterior, log_ratio, posterior, sizes
from invert.posterior.sobol import DEFAULT, MOST, SEED, normals, uniforms
from invert.posterior.weights import ENOUGH, RELIABLE, weights
from invert.priors import NUISANCES

_ROUNDS = (4096, 8192, 16384, 16384)
"""Draws of each round. From the second on the first that can be trusted is the answer, else the last."""
_TEMPER, _FLOOR = (0.5, 0.75, 0.75, 0.75), (0.02, 0.01, 0.01, 0.01)
"""Powers of the weights in the moments of a round, and the variance added: a few heavy draws must not narrow the fit."""
_FITTED = 100
"""Effective number of triangular draws from which their moments make the first round unnecessary."""
_NEGLIGIBLE = 1e-3
"""Tempered weight, with a maximum of 1, below which a draw is left out of the moments."""
DEGREES, WIDENED = 2 * (SIZE - NOISY), 1.1
"""Degrees of freedom of the Student-t (two for each coordinate of the noise of ratios, otherwise unused) and its widening."""


def trusted(price_data: PriceData, assumptions: Assumptions, found: Posterior, seed: int = SEED) -> Posterior:
    """Return the posterior of one sheet: as it is if trusted, with 65,536 draws if its weights do not settle, or by the mixture.

    The mixture is used at once if the weights settle on too few draws, or if 65,536 draws would also be worth too few. It is
    also used at once if triangular draws do not reach all feasible points.
    """
    first, hidden = found.weights, _hides_compute(assumptions)
    if (first.trusted() and not hidden) or not first.feasible_fraction[0]:
        return found
    if first.pareto_k[0] > RELIABLE and first.ess[0] * MOST >= ENOUGH * first.values.shape[1]:
        found = posterior(price_data, assumptions, MOST, seed)
    return found if found.weights.trusted() and not hidden else mixed(price_data, assumptions, seed, found)


def _hides_compute(assumptions: Assumptions) -> bool:
    """Return whether a perfect overlap is given: no triangular draw meets a compute-bound band, which has no memory ratio to solve for."""
    overlap = assumptions.priors["overlap"]
    return not overlap.spread and overlap.centre == 1


def mixed(
    price_data: PriceData, assumptions: Assumptions, seed: int = SEED, first: Posterior | None = None, enough: float = ENOUGH
) -> Posterior:
    """Return the posterior of one sheet by the mixture, fitted first to triangular draws, until it is worth enough draws."""
    if first is None or first.log_weights.shape[1] < _ROUNDS[-1] // 2:
        first = posterior(price_data, assumptions, DEFAULT, seed)
    fitted = first.weights.ess[0] >= _FITTED and not _hides_compute(assumptions)
    rounds = [*zip(_ROUNDS, _TEMPER, _FLOOR, strict=True)][int(fitted) :]
    with np.errstate(all="ignore"):
        frame, log_weights = _Frame(price_data, assumptions), first.log_weights
        coordinates = whitened = frame.coordinates(first.points)
        for count, power, floor in rounds:
            centre, root = _moments(coordinates, np.exp(power * (log_weights - log_weights.max()))[0], floor)
            near, (standard, far) = whitened[:, : count // 2], _student(count // 2, len(centre), seed)
            coordinates = np.concatenate([near, centre[:, None] + root @ standard], axis=1)
            points = frame.points(coordinates)
            away = np.linalg.inv(root) @ (near - centre[:, None])
            square = np.concatenate([np.einsum("ij,ij->j", away, away), far])
            target, by_triangular = frame.log_densities(coordinates, points)
            log_weights = target - np.logaddexp(by_triangular, _log_student(square, root)) + log(2)
            log_weights = np.where(np.isfinite(log_weights), log_weights, -np.inf)[None]
            if count > _ROUNDS[0] and (found := weights(log_weights)).trusted(enough):
                break
        return Posterior(
            price_data=price_data,
            points=points,
            log_weights=log_weights,
            weights=found,
            log_active_params=sizes(points, price_data, assumptions, normals(count, seed)[:, SIZE]),
            sampler=f"mixture, {count} draws, seed {seed}",
            assumptions=assumptions,
        )


class _Frame:
    """One sheet's unknowns, whitened [coordinates, draws]: the nuisances that are not held fixed, then the structural three."""

    def __init__(self, price_data: PriceData, assumptions: Assumptions) -> None:
        self.price_data, self.assumptions = price_data, assumptions
        self.free = tuple(name for name in NUISANCES if assumptions.priors[name].spread)
        kv, spread = (float(end if isinstance(end, float) else end[0, 0]) for end in kv_prior(price_data, assumptions))
        rows = {name: assumptions.priors[name].normal for name in ("attention_intensity", "weight_compute_ratio")}
        self.centres = {"kv_bytes_per_token": kv, **{name: centre for name, (centre, _) in rows.items()}}
        self.spreads = {"kv_bytes_per_token": spread, **{name: width for name, (_, width) in rows.items()}}

    def coordinates(self, points: Points) -> Array:
        """Return the coordinates of points of one sheet."""
        structure = [(points.logs[name][0] - centre) / self.spreads[name] for name, centre in self.centres.items()]
        return np.stack([*(points.drawn[name] for name in self.free), *structure])

    def points(self, coordinates: Array) -> Points:
        """Return the points at coordinates, by the forward model."""
        columns = dict(zip((*self.free, *self.centres), coordinates, strict=True))
        nothing = np.zeros(coordinates.shape[1])
        drawn = {name: columns.get(name, nothing) for name in NUISANCES}
        hidden = {name: np.exp(centre + self.spreads[name] * columns[name]) for name, centre in self.centres.items()}
        return forward_points(drawn, hidden, self.price_data, self.assumptions)

    def log_densities(self, coordinates: Array, points: Points) -> tuple[Array, Array]:
        """Return log densities of the target and the triangular proposal [draws] over coordinates, a priori standard normal."""
        unused = unused_prices(points, self.price_data, self.assumptions)
        prior = -0.5 * (np.einsum("ij,ij->j", coordinates, coordinates) + len(coordinates) * log(2 * pi))
        target = prior + log_likelihood(points, self.price_data, self.assumptions, unused)[0]
        by_triangular = target - log_ratio(points, self.price_data, self.assumptions, unused)[0]
        return target, np.where(np.isfinite(by_triangular), by_triangular, -np.inf)


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
