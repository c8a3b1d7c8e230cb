"""Predict one more value, and judge such predictions: Student's t of a logarithm, regression for new groups, the record, and the pool.

A regression predicts a group by fits without it, in which its rows have no weight. The weight of a group grows more slowly than its number
of rows. The linear pool is w p + (1 - w) c, with the density p from a price and the
density c of the typical KV. A product of the two would need independence, which is not established. Each family counts once. Its
prediction uses the weight that is best for the other families.
"""

from collections.abc import Hashable, Sequence
from datetime import date
from math import exp, sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import gammaln, stdtr, stdtrit

from derive.immutable import immutable
from invert.arrays import Array, Values
from invert.assumptions import USUAL, Assumptions
from invert.posterior.draws import SEED
from invert.records import Coverage, Record, Verdict

_REACH = 1e3
"""Scales from the centre that contain all quantiles in use."""


class Judged(NamedTuple):
    """Predictions compared with the truth: errors [nat], ln density of the truth, and the probability of values nearer to the centre.

    A truth is in the 90 % range if that probability is below 0.9. A missing prediction is nan.
    """

    errors: Array
    log_density: Array
    nearer: Array


@immutable
class Student:
    """Student's t of one logarithm or of many: centre [nat], scale [nat], and degrees of freedom. A missing prediction is nan."""

    centre: Values
    scale: Values
    freedom: Values

    def judge(self, truth: Values) -> Judged:
        """Return the predictions beside the true logarithms."""
        apart = (truth - self.centre) / self.scale
        constant = gammaln((np.asarray(self.freedom) + 1) / 2) - gammaln(np.asarray(self.freedom) / 2)
        density = constant - np.log(self.freedom * np.pi) / 2 - (self.freedom + 1) / 2 * np.log1p(apart**2 / self.freedom)
        return Judged(
            errors=np.asarray(self.centre - truth),
            log_density=np.asarray(density - np.log(self.scale)),
            nearer=np.asarray(1 - 2 * stdtr(self.freedom, -np.abs(apart))),
        )

    @property
    def first(self) -> "Student":
        """The first one of many."""
        centre, scale, freedom = (float(np.atleast_1d(values)[0]) for values in (self.centre, self.scale, self.freedom))
        return Student(centre=centre, scale=scale, freedom=freedom)

    def range(self, level: float) -> tuple[float, float, float]:
        """Return low, median and high of the one quantity itself, with this probability between low and high."""
        low, median, high = (exp(self.centre + self.scale * float(stdtrit(self.freedom, share))) for share in _levels(level))
        return low, median, high

    @property
    def spread(self) -> float:
        """Return the standard deviation [nat], scale sqrt(n/(n - 2)). It is not defined for two or fewer degrees of freedom."""
        return float(self.scale * np.sqrt(self.freedom / (self.freedom - 2)))


def predict_one_more(values: Sequence[float]) -> Student:
    """Return the prediction of one more value: centre mean, scale sd sqrt(1 + 1/n), n - 1 degrees of freedom."""
    return Student(centre=fmean(values), scale=stdev(values) * sqrt(1 + 1 / len(values)), freedom=len(values) - 1)


def pooled_range(weight: float, one: Student, other: Student, level: float) -> tuple[float, float, float]:
    """Return low, median and high of a mixture: the logarithm is `one` with this weight, and otherwise `other`."""
    ends = sorted(one.centre + sign * _REACH * one.scale for one in (one, other) for sign in (-1, 1))

    def below(at: float) -> float:
        first, second = (float(stdtr(of.freedom, (at - of.centre) / of.scale)) for of in (one, other))
        return weight * first + (1 - weight) * second

    low, median, high = (exp(brentq(lambda at, share=share: below(at) - share, ends[0], ends[-1])) for share in _levels(level))
    return low, median, high


def _levels(level: float) -> tuple[float, float, float]:
    return (1 - level) / 2, 0.5, (1 + level) / 2


@immutable(eq=False)
class GroupedRows:
    """Predictors with a leading column of ones (n, p), the target (n), and the group (n) and weight (n) of each row. `least_freedom` is the
    minimum of the degrees of freedom, `slope_ridge` is added to the squares of every slope.
    """

    predictors: Array
    target: Array
    groups: npt.NDArray[np.intp]
    weights: Array
    least_freedom: int
    slope_ridge: float

    @property
    def members(self) -> Array:
        """Return 1 for each row in its group, and else 0 (groups, n)."""
        return np.eye(int(self.groups.max()) + 1)[:, self.groups]

    @property
    def freedom(self) -> int:
        """Return the degrees of freedom: groups minus coefficients, at least the minimum."""
        return max(len(self.members) - int(self.predictors.shape[1]), self.least_freedom)


@immutable(eq=False)
class Fit:
    """target = coefficients . predictors + scale t, with Student's t of these degrees of freedom for a member of a new group.

    The first coefficient is the intercept.
    """

    coefficients: Array
    scale: float
    freedom: int

    def predict(self, predictors: Array) -> Student:
        """Return the predictions at predictors with a leading column of ones (n, p)."""
        centre = predictors @ self.coefficients
        return Student(centre=centre, scale=np.full(len(centre), self.scale), freedom=self.freedom)


def grouped(
    target: Sequence[float], groups: Sequence[Hashable], *predictors: Sequence[float], assumptions: Assumptions = USUAL
) -> GroupedRows:
    """Return rows in groups. The weight of a row is one over the root of the rows of its group."""
    numbered = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    places = np.array([numbered[group] for group in groups])
    return GroupedRows(
        predictors=np.column_stack([np.ones(len(target)), *predictors]),
        target=np.array(target, dtype=float),
        groups=places,
        weights=1 / np.sqrt(np.bincount(places)[places]),
        least_freedom=assumptions.least_freedom,
        slope_ridge=assumptions.slope_ridge,
    )


def fit(rows: GroupedRows) -> Fit:
    """Return a weighted least-squares fit. Its scale is the weighted rms error in groups that were left out of the fit."""
    (scale,) = _scales(rows, rows.weights[None])
    return Fit(coefficients=coefficients_at(rows, rows.weights), scale=float(scale), freedom=rows.freedom)


def predict_left_out(rows: GroupedRows) -> Student:
    """Return the prediction of every row by the fit to the other groups."""
    weights = rows.weights * (1 - rows.members)
    centre = np.einsum("ij,ij->i", rows.predictors, coefficients_at(rows, weights)[rows.groups])
    return Student(centre=centre, scale=_scales(rows, weights)[rows.groups], freedom=rows.freedom)


def predict_in_order(rows: GroupedRows, days: Sequence[date], since: date | None, least_groups: float) -> Student:
    """Return predictions of rows from a day on by fits to the earlier rows of other groups, or nan without enough groups.

    This is a rolling origin: a fit uses only rows released before the predicted row. A part of a group has the weight of its own rows.
    Without a day, fits use the rows of all other groups.
    """
    when, seen = np.array([day.toordinal() for day in days]), rows.groups != rows.groups[:, None]
    if since is not None:
        seen &= (when < when[:, None]) & (when >= since.toordinal())[:, None]
    counts = seen @ rows.members.T
    groups = (counts > 0).sum(1)
    enough = groups >= least_groups
    weights = (seen / np.sqrt(np.maximum(counts, 1))[:, rows.groups])[enough]
    centre, scale, freedom = np.full((3, len(days)), np.nan)
    centre[enough] = np.einsum("ij,ij->i", rows.predictors[enough], coefficients_at(rows, weights))
    scale[enough] = _scales(rows, weights)
    freedom[enough] = np.maximum(groups[enough] - rows.predictors.shape[1], rows.least_freedom)
    return Student(centre=centre, scale=scale, freedom=freedom)


def coefficients_at(rows: GroupedRows, weights: Array) -> Array:
    """Return the least-squares coefficients [..., p] at weights of the rows [..., n]. A row with weight 0 is left out."""
    ridge = rows.slope_ridge * np.eye(rows.predictors.shape[1])
    ridge[0, 0] = 0
    products = rows.predictors[:, :, None] * np.column_stack([rows.predictors, rows.target])[:, None]
    sums = np.einsum("...n,njk->...jk", weights, products)
    return np.asarray(np.linalg.solve(sums[..., :-1] + ridge, sums[..., -1:])[..., 0])


def _scales(rows: GroupedRows, weights: Array) -> Array:
    """Return the rms error [nat] in one more left-out group, for each choice of weights (choices, n)."""
    coefficients = coefficients_at(rows, weights[:, None] * (1 - rows.members))
    errors = rows.target - np.einsum("ip,sip->si", rows.predictors, coefficients[:, rows.groups])
    return np.asarray(np.sqrt((weights * errors**2).sum(1) / weights.sum(1)))


# The record of predictions.

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
        rms=float(np.sqrt(np.mean(found.errors[judged] ** 2))),
        rms_of_baseline=float(np.sqrt(np.mean(baseline.errors[judged] ** 2))),
        gain=float(gains.mean()),
        standard_error=standard_error,
        interval=interval,
        coverage=tuple(coverage_at(level, int((nearer < level).sum()), len(nearer)) for level in _LEVELS),
        of=of,
    )


def spread_of_mean(values: Array, groups: npt.NDArray[np.intp]) -> tuple[float, tuple[float, float]]:
    """Return the standard error of a mean over rows in groups, and its bootstrap interval over groups."""
    sums, counts = np.bincount(groups, values), np.bincount(groups)
    again = np.random.default_rng(SEED).integers(len(sums), size=(_RESAMPLES, len(sums)))
    means = sums[again].sum(1) / counts[again].sum(1)
    low, high = np.quantile(means, [0.05, 0.95])
    return float(means.std()), (float(low), float(high))


def coverage_at(level: float, count_right: int, count: int) -> Coverage:
    """Return the coverage with the ends of Wilson's score interval (90 %)."""
    z = NormalDist().inv_cdf(0.95)
    share, scale = count_right / count, 1 + z**2 / count
    centre, reach = (share + z**2 / (2 * count)) / scale, z / scale * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return Coverage(level=level, right=count_right, count=count, low=centre - reach, high=centre + reach)


# The pool of a prediction with the typical KV.

_WEIGHTS = np.linspace(0.0, 1.0, 101)


def pool_verdict(of_rows: Sequence[str], by_price: Array, by_baseline: Array, assumptions: Assumptions = USUAL) -> Verdict | None:
    """Return the gain of the pool on families left out, or None if there are fewer than `least_families`.

    The rows have a family and the log densities [nat] of the candidate and of the typical KV at a known cache. Rows without a
    density are left out.
    """
    judged = np.isfinite(by_price) & np.isfinite(by_baseline)
    by_price, by_baseline, of_judged = by_price[judged], by_baseline[judged], np.array([*of_rows])[judged]
    families = np.unique(of_judged)
    if len(families) < assumptions.least_families:
        return None
    per_family = (of_judged == families[:, None]).astype(float)
    per_family /= per_family.sum(1, keepdims=True)
    # The log density of the pool at each model and weight.
    with np.errstate(divide="ignore"):
        pooled = per_family @ np.logaddexp(by_price[:, None] + np.log(_WEIGHTS), by_baseline[:, None] + np.log1p(-_WEIGHTS))
    others = pooled.sum(0) - pooled
    left_out = np.take_along_axis(pooled, others.argmax(1)[:, None], axis=1)[:, 0]
    gains = left_out - per_family @ by_baseline
    return Verdict(
        count=len(by_price),
        families=len(families),
        by_baseline=float((per_family @ by_baseline).mean()),
        by_price=float((per_family @ by_price).mean()),
        gain_of_pool=float(gains.mean()),
        standard_error=float(gains.std(ddof=1) / sqrt(len(families))),
        stacked=float(_WEIGHTS[pooled.sum(0).argmax()]),
        least_gain=assumptions.least_gain_in_errors,
    )
