"""Records of estimators: count, error, gain over the baseline, and coverage."""

from collections.abc import Sequence
from functools import cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from invert.estimators.market.regression import Predictions
from invert.estimators.market.student import Floats
from invert.posterior.sobol import SEED
from invert.records import Held, Record

_LEVELS = (0.5, 0.9)
_RESAMPLES = 2000
LEAST_VOTES = 2
"""Number of families below which a gain has no spread, and there is no record."""


def record(found: Predictions, of_class: Predictions) -> Record:
    """Return the record of predictions, with their gain over the predictions of a baseline."""
    gains = found.log_density - of_class.log_density
    standard_error, interval = spread_of_mean(gains, found.groups)
    return Record(
        count=len(gains),
        groups=int(found.groups.max()) + 1,
        rms=found.rms,
        rms_of_class=of_class.rms,
        gain=float(gains.mean()),
        standard_error=standard_error,
        interval=interval,
        held=tuple(held(level, int(found.within(level).sum()), len(gains)) for level in _LEVELS),
    )


def record_by_votes(gains: Floats, families: Sequence[str], errors: Floats, of_class: Floats, nearer: Floats) -> Record | None:
    """Return the record of predictions with one vote per family in the gain.

    Errors [nat] and ranges count by model.

    `nearer` is the probability of each prediction nearer to its centre than the truth. The record is None
    for fewer than two families.
    """
    if len(set(families)) < LEAST_VOTES:
        return None
    _, groups = np.unique(np.array(families), return_inverse=True)
    votes = np.bincount(groups, gains) / np.bincount(groups)
    standard_error, interval = spread_of_mean(votes, np.arange(len(votes)))
    return Record(
        count=len(gains),
        groups=len(votes),
        rms=float(np.sqrt(np.mean(errors**2))),
        rms_of_class=float(np.sqrt(np.mean(of_class**2))),
        gain=float(votes.mean()),
        standard_error=standard_error,
        interval=interval,
        held=tuple(held(level, int((nearer < level).sum()), len(gains)) for level in _LEVELS),
    )


def spread_of_mean(values: Floats, groups: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> tuple[float, tuple[float, float]]:
    """Return the standard error of a mean over rows in groups, and its bootstrap interval over groups.

    >>> error, (low, high) = spread_of_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    >>> round(error, 2), low, high
    (0.35, 0.0, 1.0)
    """
    sums, counts = np.bincount(groups, values), np.bincount(groups)
    again = _resample_groups(len(sums))
    means = sums[again].sum(1) / counts[again].sum(1)
    low, high = np.quantile(means, [0.05, 0.95])
    return float(means.std()), (float(low), float(high))


@cache
def _resample_groups(count: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Return groups drawn with replacement (resamples, count)."""
    return np.random.default_rng(SEED).integers(count, size=(_RESAMPLES, count))


def held(level: float, count_held: int, count: int) -> Held:
    """Return the coverage with the ends of Wilson's score interval (90 %).

    >>> one = held(0.9, 3, 14)
    >>> f"{one.share:.2f} ({one.low:.2f} to {one.high:.2f})"
    '0.21 (0.09 to 0.43)'
    """
    z = NormalDist().inv_cdf(0.95)
    share, scale = count_held / count, 1 + z**2 / count
    centre, reach = (share + z**2 / (2 * count)) / scale, z / scale * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return Held(level=level, held=count_held, count=count, low=centre - reach, high=centre + reach)
