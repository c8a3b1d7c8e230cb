"""Weighted draws: evidence, effective number of draws, whether the weights can be trusted, and quantiles."""

import numpy as np

from derive.immutable import immutable
from invert.arrays import Array

ENOUGH = 1000
"""Effective number of draws at which the ends of a 90 % interval are good to about a tenth of a nat."""
_BINS = 1024
"""Number of bins for a rough sort of draws."""
RELIABLE = 0.7
"""Pareto-k up to which importance sampling estimates settle (Vehtari et al., Pareto smoothed importance sampling, 2024)."""


@immutable
class Weights:
    """Normalised weights [sheets, draws], and for each sheet log evidence, effective sample size, Pareto-k and feasible share."""

    values: Array
    log_evidence: Array
    ess: Array
    pareto_k: Array
    feasible_fraction: Array

    def trusted(self, enough: float = ENOUGH) -> bool:
        """Return whether the weights of the first sheet settle and give the required effective number of draws."""
        return bool(self.pareto_k[0] <= RELIABLE and self.ess[0] >= enough)

    def rows(self, place: slice) -> "Weights":
        """Return the weights of some of the sheets."""
        return Weights(
            values=self.values[place],
            log_evidence=self.log_evidence[place],
            ess=self.ess[place],
            pareto_k=self.pareto_k[place],
            feasible_fraction=self.feasible_fraction[place],
        )


def weights(log_weights: Array) -> Weights:
    """Return weights from log weights [sheets, draws], which are minus infinity if a draw is not feasible.

    They are all zero if no draw is.

    >>> import numpy as np
    >>> found = weights(np.log(np.array([[1.0, 3.0, 0.0, 0.0]]) + 1e-300))
    >>> found.values[0, :2].tolist(), float(found.ess[0]), round(float(np.exp(found.log_evidence[0])), 12)
    ([0.25, 0.75], 1.6, 1.0)
    """
    shifted, total, evidence = _summed(log_weights)
    with np.errstate(all="ignore"):
        values = shifted / np.where(total > 0, total, 1.0)
        ess = np.where(total[:, 0] > 0, 1 / np.einsum("ij,ij->i", values, values), 0.0)
    return Weights(
        values=values,
        log_evidence=evidence,
        ess=ess,
        pareto_k=np.array([pareto_k(row) for row in values]),
        feasible_fraction=(log_weights > -np.inf).mean(axis=1),
    )


def log_mean(log_weights: Array) -> Array:
    """Return the log evidence alone [sheets]: ln of the mean of the weights.

    >>> import numpy as np
    >>> round(float(np.exp(log_mean(np.log(np.array([[1.0, 3.0]])))[0])), 12)
    2.0
    """
    return _summed(log_weights)[2]


def _summed(log_weights: Array) -> tuple[Array, Array, Array]:
    """Return the weights over the largest [sheets, draws], their sums [sheets, 1], and ln of their mean [sheets]."""
    top = log_weights.max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        shifted = np.exp(log_weights - np.where(np.isfinite(top), top, 0.0))
        total = shifted.sum(axis=1, keepdims=True)
        return shifted, total, (top + np.log(total / log_weights.shape[1]))[:, 0]


def pareto_k(values: Array) -> float:
    """Return the shape of the generalised Pareto tail of the weights: below 0.7 their mean settles.

    It is infinite if fewer than five excesses are positive. Zhang and Stephens (2009), with the weak prior of Vehtari et al.
    (2024), on the largest min(n/5, 3 sqrt n) weights.

    >>> import numpy as np
    >>> uniform = (np.arange(4096) + 0.5) / 4096
    >>> round(pareto_k(uniform**-0.5), 1), pareto_k(np.zeros(64))
    (0.5, inf)
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
    """Return weighted quantiles of each sheet [sheets, len(at)], or NaN if no draw has weight.

    >>> import numpy as np
    >>> quantiles(np.array([[3.0, 1.0, 2.0]]), np.array([[0.25, 0.25, 0.5]]), (0.5,)).tolist()
    [[2.0]]
    """
    found = np.full((len(weight), len(at)), np.nan)
    for row, (every, share) in enumerate(zip(np.broadcast_to(values, weight.shape), weight, strict=True)):
        numbers, counted = (every, share) if share.all() else (every[share > 0], share[share > 0])
        if len(counted):
            numbers, counted = _merge_far_draws(numbers, counted, at)
            order = numbers.argsort(kind="stable")
            shares = counted[order]
            found[row] = np.interp(at, shares.cumsum() - 0.5 * shares, numbers[order])
    return found


def _merge_far_draws(values: Array, weight: Array, at: tuple[float, ...]) -> tuple[Array, Array]:
    """Return draws with the same quantiles, in which draws far from every quantile are merged: few remain to sort.

    Each quantile is among the draws of the bin in which the weight reaches it, or between one of them and the nearest of
    another bin.
    """
    low, span = values.min(), np.ptp(values)
    if not span:
        return values, weight
    bins = ((values - low) / span * (_BINS - 1)).astype(np.intp)
    lumps = np.bincount(bins, weight, _BINS)
    filled = lumps.nonzero()[0]
    reached = lumps[filled].cumsum().searchsorted(at)
    near = np.zeros(_BINS, dtype=bool)
    for place in (reached - 1, reached, reached + 1):
        near[filled.take(place, mode="clip")] = True
    apart, far = near[bins].nonzero()[0], filled[~near[filled]]
    return np.concatenate([values[apart], low + span / (_BINS - 1) * far]), np.concatenate([weight[apart], lumps[far]])
