"""Records of estimators: count, error, gain over the baseline, and coverage."""

from collections.abc import Sequence
from functools import cache
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from invert.arrays import Array
from invert.estimators.market.student import Judged
from invert.posterior.sobol import SEED
from invert.records import Coverage, Record

_LEVELS = (0.5, 0.9)
_RESAMPLES = 2000
LEAST_FAMILIES = 2
"""Number of families below which a gain has no spread, and there is no record."""


def record(
    found: Judged, baseline: Judged, groups: Sequence[str] | npt.NDArray[np.intp], by_families: bool = False, of: str = Record.of
) -> Record | None:
    """Return the record of the predictions that have a baseline, with their gain over it, or None for fewer than two groups.

    Errors and ranges are counted by row. With `by_families` each group counts once in the gain. `of` names the population.
    """
    judged = np.isfinite(found.log_density) & np.isfinite(baseline.log_density)
    _, places = np.unique(np.asarray(groups)[judged], return_inverse=True)
    if np.unique(places).size < LEAST_FAMILIES:
        return None
    gains, nearer = (found.log_density - baseline.log_density)[judged], found.nearer[judged]
    if by_families:
        gains, places = np.bincount(places, gains) / np.bincount(places), np.unique(places)
    standard_error, interval = spread_of_mean(gains, places)
    return Record(
        count=len(nearer),
        groups=int(places.max()) + 1,
        rms=_rms(found.errors[judged]),
        rms_of_baseline=_rms(baseline.errors[judged]),
        gain=float(gains.mean()),
        standard_error=standard_error,
        interval=interval,
        coverage=tuple(coverage_at(level, int((nearer < level).sum()), len(nearer)) for level in _LEVELS),
        of=of,
    )


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def spread_of_mean(values: Array, groups: npt.NDArray[np.intp]) -> tuple[float, tuple[float, float]]:
    """Return the standard error of a mean over rows in groups, and its bootstrap interval over groups."""
    sums, counts = np.bincount(groups, values), np.bincount(groups)
    again = _resample_groups(len(sums))
    means = sums[again].sum(1) / counts[again].sum(1)
    low, high = np.quantile(means, [0.05, 0.95])
    return float(means.std()), (float(low), float(high))


@cache
def _resample_groups(count: int) -> npt.NDArray[np.int64]:
    """Return groups drawn with replacement (resamples, count)."""
    return np.random.default_rng(SEED).integers(count, size=(_RESAMPLES, count))


def coverage_at(level: float, count_right: int, count: int) -> Coverage:
    """Return the coverage with the ends of Wilson's score interval (90 %)."""
    z = NormalDist().inv_cdf(0.95)
    share, scale = count_right / count, 1 + z**2 / count
    centre, reach = (share + z**2 / (2 * count)) / scale, z / scale * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return Coverage(level=level, right=count_right, count=count, low=centre - reach, high=centre + reach)
