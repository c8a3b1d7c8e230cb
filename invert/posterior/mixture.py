"""The method for weights of triangular draws that cannot be trusted: more draws, then a mixture with a Student-t fitted to the posterior.

The heavy weights come from sheets with a posterior in the tails of the nuisances, where few triangular draws fall. A
Student-t about the weighted moments of the draws so far (population Monte Carlo) goes there. The balance heuristic mixes it with the
triangular proposal. So no weight is larger than the triangular weight divided by the triangular share.
"""

from dataclasses import replace
from functools import cache
from math import lgamma, log, pi

import numpy as np

from invert.arrays import Array
from invert.assumptions import Assumptions
from invert.posterior.data import PriceData
from invert.posterior.likelihood import log_likelihood, unused_prices
from invert.posterior.parameters import NOISY, SIZE, Points, forward_points, kv_prior
from invert.posterior.sampler import Posterior, log_ratio, posterior, sizes
from invert.posterior.sobol import DEFAULT, MOST, normals, uniforms
from invert.posterior.weights import ENOUGH, weights
from invert.priors import NUISANCES, STRUCTURE

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
        frame, log_weights = _Frame(price_data, assumptions), first.log_weights
        coordinates = whitened = frame.coordinates(first.points)
        for count, power, floor in rounds:
            centre, root = _moments(coordinates, np.exp(power * (log_weights - log_weights.max())), floor)
            near, (standard, far) = whitened[:, : count // 2], _student(count // 2, len(centre), seed)
            coordinates = np.concatenate([near, centre[:, None] + root @ standard], axis=1)
            points = frame.points(coordinates)
            away = np.linalg.inv(root) @ (near - centre[:, None])
            square = np.concatenate([np.einsum("ij,ij->j", away, away), far])
            target, by_triangular = frame.log_densities(coordinates, points)
            log_weights = target - np.logaddexp(by_triangular, _log_student(square, root)) + log(2)
            log_weights = np.where(np.isfinite(log_weights), log_weights, -np.inf)
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


class _Frame:
    """One sheet's unknowns, whitened [coordinates, draws]: the nuisances that are not held fixed, then the structural three."""

    def __init__(self, price_data: PriceData, assumptions: Assumptions) -> None:
        self.price_data, self.assumptions = price_data, assumptions
        self.free = tuple(name for name in NUISANCES if assumptions.priors[name].spread)
        priors = [kv_prior(price_data, assumptions), *(assumptions.priors[name].normal for name in STRUCTURE[1:])]
        self.structure = dict(zip(STRUCTURE, priors, strict=True))

    def coordinates(self, points: Points) -> Array:
        """Return the coordinates of points."""
        structure = [(points.logs[name] - centre) / spread for name, (centre, spread) in self.structure.items()]
        return np.stack([*(points.drawn[name] for name in self.free), *structure])

    def points(self, coordinates: Array) -> Points:
        """Return the points at coordinates, by the forward model."""
        columns = dict(zip((*self.free, *self.structure), coordinates, strict=True))
        nothing = np.zeros(coordinates.shape[1])
        drawn = {name: columns.get(name, nothing) for name in NUISANCES}
        hidden = {name: np.exp(centre + spread * columns[name]) for name, (centre, spread) in self.structure.items()}
        return forward_points(drawn, hidden, self.price_data, self.assumptions)

    def log_densities(self, coordinates: Array, points: Points) -> tuple[Array, Array]:
        """Return log densities of the target and the triangular proposal [draws] over coordinates, a priori standard normal."""
        unused = unused_prices(points, self.price_data, self.assumptions)
        prior = -0.5 * (np.einsum("ij,ij->j", coordinates, coordinates) + len(coordinates) * log(2 * pi))
        target = prior + log_likelihood(points, self.price_data, self.assumptions, unused)
        by_triangular = target - log_ratio(points, self.price_data, self.assumptions, unused)
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
