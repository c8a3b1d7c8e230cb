"""Weighted draws: evidence, effective number of draws, whether the weights can be trusted, and quantiles."""

import numpy as np

from derive.immutable import immutable
from invert.arrays import Array

ENOUGH = 1000
"""Effective number of draws at which the ends of a 90 % interval are good to about a tenth of a nat."""
RELIABLE = 0.7
"""Pareto-k up to which importance sampling estimates settle (Vehtari et al., Pareto smoothed importance sampling, 2024)."""


@immutable
class Weights:
    """Normalised weights [draws], log evidence, effective sample size, Pareto-k and feasible share."""

    values: Array
    log_evidence: float
    ess: float
    pareto_k: float
    feasible_fraction: float

    @property
    def settled(self) -> bool:
        """Return whether the tail of the weights is light enough for their means to settle."""
        return self.pareto_k <= RELIABLE

    def trusted(self, enough: float = ENOUGH) -> bool:
        """Return whether the weights settle and give the required effective number of draws."""
        return self.settled and self.ess >= enough


def weights(log_weights: Array) -> Weights:
    """Return weights from log weights [draws], which are minus infinity if a draw is not feasible."""
    evidence = log_mean(log_weights)
    feasible = evidence > -np.inf
    values = np.exp(log_weights - evidence) / len(log_weights) if feasible else np.zeros_like(log_weights)
    return Weights(
        values=values,
        log_evidence=evidence,
        ess=1 / float(values @ values) if feasible else 0.0,
        pareto_k=pareto_k(values),
        feasible_fraction=float((log_weights > -np.inf).mean()),
    )


def log_mean(log_weights: Array) -> float:
    """Return the log evidence alone: ln of the mean of the weights."""
    top = log_weights.max()
    return float(top + np.log(np.exp(log_weights - top).mean())) if top > -np.inf else -np.inf


def pareto_k(values: Array) -> float:
    """Return the shape of the generalised Pareto tail of the weights: below 0.7 their mean settles.

    It is infinite if fewer than five excesses are positive. Zhang and Stephens (2009), with the weak prior of Vehtari et al.
    (2024), on the largest min(n/5, 3 sqrt n) weights.
    """
    count = len(values)
    tail = int(min(0.2 * count, 3 * np.sqrt(count)))
    largest = np.sort(np.partition(values, count - tail - 1)[count - tail - 1 :])
    excess = largest[1:] - largest[0]
    excess = excess[excess > 0]
    if len(excess) < 5:
        return float("inf")
    excess /= excess[-1]
    size = len(excess)
    grid = np.arange(1, 31 + int(np.sqrt(size)))
    rates = 1 - np.sqrt(len(grid) / (grid - 0.5))
    rates = 1 + rates / (3 * excess[int(size / 4 + 0.5) - 1])
    shapes = np.log1p(-rates[:, None] * excess).mean(axis=1)
    profile = size * (np.log(-rates / shapes) - shapes - 1)
    likelihood = np.exp(profile - profile.max())
    rate = (rates * likelihood).sum() / likelihood.sum()
    shape = np.log1p(-rate * excess).mean()
    return float((size * shape + 5) / (size + 10))


def quantiles(values: Array, weight: Array, at: tuple[float, ...]) -> Array:
    """Return weighted quantiles of each row of values [rows, draws] with the same weights [draws], each row as [len(at)]."""
    held = np.flatnonzero(weight)
    values, weight, found = values[:, held], weight[held], []
    for row in values:
        order = row.argsort()
        shares = weight[order]
        found.append(np.interp(at, shares.cumsum() - 0.5 * shares, row[order]))
    return np.array(found)
