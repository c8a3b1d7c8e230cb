"""Regression for new groups: a group weighs less than its number of rows, and fits without it judge it.

A fit needs only the sums of a group, so that leaving out one group, or two, is a subtraction.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import numpy.typing as npt

from derive.immutable import immutable
from invert.assumptions import USUAL, Assumptions
from invert.estimators.market.student import Floats, log_student_density, student_quantiles


@immutable(eq=False)
class GroupedRows:
    """Predictors with a leading column of ones (n, p), what they predict (n), the group of each row (n), and its weight (n).

    `least_freedom` are the degrees of freedom that a fit has at least, `slope_ridge` is added to the squares of every slope.
    """

    predictors: Floats
    target: Floats
    groups: npt.NDArray[np.intp]
    weights: Floats
    least_freedom: int
    slope_ridge: float

    @property
    def count(self) -> int:
        """Return the number of groups."""
        return int(np.unique(self.groups).size)

    @property
    def freedom(self) -> int:
        """Return groups minus coefficients, at least the minimum."""
        return max(self.count - int(self.predictors.shape[1]), self.least_freedom)


@immutable
class Fit:
    """target = intercept + slopes x + scale t, with Student's t of these degrees of freedom for a member of a new group."""

    intercept: float
    slopes: tuple[float, ...]
    scale: float
    freedom: int
    count: int
    groups: int


@immutable(eq=False)
class Predictions:
    """Predictions of rows by fits without their group: centre, scale and degrees of freedom, beside the rows."""

    centre: Floats
    scale: Floats
    freedom: int | Floats
    target: Floats
    groups: npt.NDArray[np.intp]

    @property
    def log_density(self) -> Floats:
        """Return ln of the density [1/nat] of every row."""
        return log_student_density((self.target - self.centre) / self.scale, self.freedom) - np.log(self.scale)

    def within(self, level: float) -> npt.NDArray[np.bool_]:
        """Return which rows are inside the central range of this probability."""
        return np.asarray(np.abs(self.target - self.centre) < student_quantiles(self.freedom, (1 + level) / 2) * self.scale)

    @property
    def rms(self) -> float:
        """Return the root mean square of the errors [nat]."""
        return float(np.sqrt(np.mean((self.target - self.centre) ** 2)))


def grouped(
    target: Sequence[float], groups: Sequence[Hashable], *predictors: Sequence[float], assumptions: Assumptions = USUAL
) -> GroupedRows:
    """Return rows in groups. The weight of a row is one over the root of the rows of its group.

    >>> grouped([1.0, 2.0, 3.0], ["a", "a", "b"]).weights.round(3).tolist()
    [0.707, 0.707, 1.0]
    """
    numbered = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    places = np.array([numbered[group] for group in groups])
    design = np.column_stack([np.ones(len(target)), *predictors])
    return GroupedRows(
        predictors=design,
        target=np.array(target, dtype=float),
        groups=places,
        weights=_vote_weights(places),
        least_freedom=assumptions.least_freedom,
        slope_ridge=assumptions.slope_ridge,
    )


def fit(rows: GroupedRows) -> Fit:
    """Return a weighted least-squares fit. Its scale is the weighted rms error of fits without a group in that group.

    >>> one = fit(grouped([1.0, 2.1, 2.9, 4.0], "abcd", [0.0, 1.0, 2.0, 3.0]))
    >>> round(one.intercept, 3), round(one.slopes[0], 3), round(one.scale, 3), one.freedom
    (1.03, 0.98, 0.116, 3)
    """
    grams, crosses = _sums(rows)
    coefficients = _solved(grams.sum(0), crosses.sum(0), rows.slope_ridge)
    (scale,) = _scales(rows, np.zeros((1, rows.count), dtype=bool))
    return Fit(
        intercept=float(coefficients[0]),
        slopes=tuple(float(slope) for slope in coefficients[1:]),
        scale=float(scale),
        freedom=rows.freedom,
        count=len(rows.target),
        groups=rows.count,
    )


def foretold(rows: GroupedRows) -> Predictions:
    """Return the prediction of every row by the fit to the other groups."""
    grams, crosses = _sums(rows)
    coefficients = _solved(grams.sum(0) - grams, crosses.sum(0) - crosses, rows.slope_ridge)
    centre = np.einsum("ij,ij->i", rows.predictors, coefficients[rows.groups])
    scales = _scales(rows, np.eye(rows.count, dtype=bool))
    return Predictions(centre=centre, scale=scales[rows.groups], freedom=rows.freedom, target=rows.target, groups=rows.groups)


def predict_in_order(rows: GroupedRows, days: Sequence[date], since: date, least_groups: float) -> Predictions:
    """Return predictions of rows from a day on by fits to the earlier rows of other groups, if these have enough groups.

    This is a rolling origin: a fit uses only rows released before the predicted row.
    """
    judged, fits = [], []
    for place, day in enumerate(days):
        seen = np.array([other < day for other in days]) & (rows.groups != rows.groups[place])
        if day >= since and np.unique(rows.groups[seen]).size >= least_groups:
            judged.append(place)
            fits.append(fit(_selected(rows, seen)))
    coefficients = np.array([[one.intercept, *one.slopes] for one in fits]).reshape(len(fits), rows.predictors.shape[1])
    return Predictions(
        centre=(coefficients * rows.predictors[judged]).sum(1),
        scale=np.array([one.scale for one in fits]),
        freedom=np.array([one.freedom for one in fits], dtype=float),
        target=rows.target[judged],
        groups=np.unique(rows.groups[judged], return_inverse=True)[1],
    )


def _selected(rows: GroupedRows, seen: npt.NDArray[np.bool_]) -> GroupedRows:
    """Return some of the rows: whole groups, and parts of groups with their own weights."""
    places = np.unique(rows.groups[seen], return_inverse=True)[1]
    return replace(
        rows, predictors=rows.predictors[seen], target=rows.target[seen], groups=places, weights=_vote_weights(places)
    )  # fmt: skip


def _vote_weights(places: npt.NDArray[np.intp]) -> Floats:
    """Return the weight of each row: one over the root of the rows of its group."""
    return np.asarray(1 / np.sqrt(np.bincount(places)[places]))


def _sums(rows: GroupedRows) -> tuple[Floats, Floats]:
    """Return by group the weighted products of predictors with each other (g, p, p), and with the target (g, p)."""
    grams = np.einsum("i,ij,ik->ijk", rows.weights, rows.predictors, rows.predictors)
    crosses = rows.weights[:, None] * rows.predictors * rows.target[:, None]
    return _sum_by_group(rows, grams), _sum_by_group(rows, crosses)


def _sum_by_group(rows: GroupedRows, values: Floats) -> Floats:
    summed = np.zeros((rows.count, *values.shape[1:]))
    np.add.at(summed, rows.groups, values)
    return summed


def _solved(grams: Floats, crosses: Floats, slope_ridge: float) -> Floats:
    """Return the coefficients [..., p] of these sums."""
    ridge = slope_ridge * np.eye(grams.shape[-1])
    ridge[0, 0] = 0
    return np.asarray(np.linalg.solve(grams + ridge, crosses[..., None])[..., 0])


def _scales(rows: GroupedRows, without: npt.NDArray[np.bool_]) -> Floats:
    """Return the rms errors [nat] of fits without one more group in that group, for each choice of groups that is already left out."""
    grams, crosses = _sums(rows)
    kept = ~without
    further = (np.einsum("sg,g...->s...", kept, sums)[:, None] - np.einsum("sg,g...->sg...", kept, sums) for sums in (grams, crosses))
    grams, crosses = further
    coefficients = _solved(grams, crosses, rows.slope_ridge)
    errors = rows.target - np.einsum("ip,sip->si", rows.predictors, coefficients[:, rows.groups])
    counted = rows.weights * kept[:, rows.groups]
    return np.asarray(np.sqrt((counted * errors**2).sum(1) / counted.sum(1)))
