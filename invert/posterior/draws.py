"""The draws of the hidden quantities: scrambled Sobol points, and whether weighted draws can be trusted.

The points are the same for every sheet and every run. The default seed does not need scipy.stats, which takes 0.7 s to load. Its 65,536
points follow from the first point and 16 direction numbers per coordinate, which are shipped. Each coordinate has one point in every
stratum of 1/65536, so the points are whole numbers.
"""

from functools import cache
from importlib.resources import files

import numpy as np
from scipy.special import ndtri

from derive.immutable import immutable
from invert.arrays import Array, Strata

SEED = 20260429
"""The seed of the shipped points."""

DIMENSIONS = 16
MOST = 65536
DEFAULT = 8192


@cache
def uniforms(count: int, seed: int = SEED) -> Array:
    """Return points of the unit cube [count, 16], in the open interval."""
    strata = _shipped()[:count] if seed == SEED else scrambled(count, seed)
    return (strata + 0.5) / MOST


@cache
def coordinates(count: int, first: int, columns: int) -> Array:
    """Return coordinates of the shipped points from `first` on [count, columns], with generated ones after the last.

    Each generated coordinate has the `count` strata in its own random order (a Latin hypercube). They are good for many small, independent
    errors, for example the rounding of each price in a long list.
    """
    shipped = uniforms(count)[:, first : first + columns]
    generator = np.random.default_rng(SEED)
    further = [(generator.permutation(count) + 0.5) / count for _ in range(columns - shipped.shape[1])]
    return np.column_stack([shipped, *further])


@cache
def normals(count: int, seed: int = SEED) -> Array:
    """Return standard normal quantiles of the same points [count, 16], each coordinate of all points side by side in memory."""
    # In the middle of every stratum.
    quantiles = ndtri((np.arange(MOST) + 0.5) / MOST)
    return np.asfortranarray(quantiles[_shipped()[:count] if seed == SEED else scrambled(count, seed)])


@cache
def scrambled(count: int, seed: int) -> Strata:
    """Return strata of freshly scrambled Sobol points, as whole numbers below 65,536."""
    from scipy.stats import qmc

    points = qmc.Sobol(DIMENSIONS, scramble=True, seed=np.random.default_rng(seed)).random(count)
    strata: Strata = (points * MOST).astype(np.uint16)
    return strata


@cache
def _shipped() -> Strata:
    """Return the strata of all points of the default seed [65536, 16].

    The points are in the order of a Gray code: the second half of the first 2**k points is the first half backwards, combined bit by
    bit (exclusive or) with the direction number k. Source: Antonov and Saleev, 1979, doi:10.1016/0041-5553(79)90085-5.
    """
    with files("invert.posterior").joinpath("sobol.npy").open("rb") as file:
        strata, *directions = np.split(np.load(file, allow_pickle=False), 17)
    for direction in directions:
        strata = np.concatenate([strata, strata[::-1] ^ direction])
    return strata


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
    top = log_weights.max()
    feasible = top > -np.inf
    evidence = float(top + np.log(np.exp(log_weights - top).mean())) if feasible else -np.inf
    values = np.exp(log_weights - evidence) / len(log_weights) if feasible else np.zeros_like(log_weights)
    return Weights(
        values=values,
        log_evidence=evidence,
        ess=1 / float(values @ values) if feasible else 0.0,
        pareto_k=pareto_k(values),
        feasible_fraction=float((log_weights > -np.inf).mean()),
    )


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
