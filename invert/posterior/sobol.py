"""The points at which the hidden quantities are drawn: scrambled Sobol points, the same for every sheet and every run.

The default seed does not need scipy.stats, which takes 0.7 s to load. Its 65,536 points follow from the first point and 16 direction
numbers per coordinate, which are shipped. Each coordinate has one point in every stratum of 1/65536, so the points are whole numbers.
"""

from functools import cache
from importlib.resources import files

import numpy as np
from scipy.special import ndtri

from invert.arrays import Array, Strata

SEED = 20260429
"""The seed of the shipped points."""

DIMENSIONS = 16
MOST = 65536
DEFAULT = 8192
_FILE = "sobol.npy"


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
    return np.asfortranarray(_quantiles()[_shipped()[:count] if seed == SEED else scrambled(count, seed)])


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
    with files("invert.posterior").joinpath(_FILE).open("rb") as file:
        strata, *directions = np.split(np.load(file, allow_pickle=False), 17)
    for direction in directions:
        strata = np.concatenate([strata, strata[::-1] ^ direction])
    return strata


@cache
def _quantiles() -> Array:
    """Return the normal quantile in the middle of every stratum."""
    return np.asarray(ndtri((np.arange(MOST) + 0.5) / MOST))
