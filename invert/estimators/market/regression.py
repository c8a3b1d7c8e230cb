"""Regression for new groups. The weight of a group grows more slowly than its number of rows. A group is predicted by fits without it. A
fit needs only sums over groups, so one or two groups are left out by subtraction.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import numpy.typing as npt

from derive.immutable import immutable
from invert.arrays import Array
from invert.assumptions import USUAL, Assumptions
from invert.estimators.market.student import Students


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
    def count(self) -> int:
        """Return the number of groups."""
        return int(np.unique(self.groups).size)

    @property
    def freedom(self) -> int:
        """Return the degrees of freedom: groups minus coefficients, at least the minimum."""
        return max(self.count - int(self.predictors.shape[1]), self.least_freedom)


@immutable(eq=False)
class Fit:
    """target = coefficients . predictors + scale t, with Student's t of these degrees of freedom for a member of a new group.

    The first coefficient is the intercept.
    """

    coefficients: Array
    scale: float
    freedom: int

    def predict(self, predictors: Array) -> Students:
        """Return the predictions at predictors with a leading column of ones (n, p)."""
        centre = predictors @ self.coefficients
        return Students(centre=centre, scale=np.full(len(centre), self.scale), freedom=self.freedom)


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
        weights=_family_weights(places),
        least_freedom=assumptions.least_freedom,
        slope_ridge=assumptions.slope_ridge,
    )


def fit(rows: GroupedRows) -> Fit:
    """Return a weighted least-squares fit. Its scale is the weighted rms error in groups that were left out of the fit."""
    grams, crosses = group_sums(rows)
    (scale,) = _scales(rows, np.zeros((1, rows.count), dtype=bool))
    return Fit(coefficients=solve_sums(grams.sum(0), crosses.sum(0), rows.slope_ridge), scale=float(scale), freedom=rows.freedom)


def predict_left_out(rows: GroupedRows) -> Students:
    """Return the prediction of every row by the fit to the other groups."""
    grams, crosses = group_sums(rows)
    coefficients = solve_sums(grams.sum(0) - grams, crosses.sum(0) - crosses, rows.slope_ridge)
    centre = np.einsum("ij,ij->i", rows.predictors, coefficients[rows.groups])
    scales = _scales(rows, np.eye(rows.count, dtype=bool))
    return Students(centre=centre, scale=scales[rows.groups], freedom=rows.freedom)


def predict_in_order(rows: GroupedRows, days: Sequence[date], since: date, least_groups: float) -> Students:
    """Return predictions of rows from a day on by fits to the earlier rows of other groups, or nan without enough groups.

    This is a rolling origin: a fit uses only rows released before the predicted row.
    """
    centre = np.full(len(days), np.nan)
    scale, freedom = centre.copy(), centre.copy()
    for place, day in enumerate(days):
        seen = np.array([other < day for other in days]) & (rows.groups != rows.groups[place])
        if day >= since and np.unique(rows.groups[seen]).size >= least_groups:
            # Whole groups, and parts of groups with their own weights.
            places = np.unique(rows.groups[seen], return_inverse=True)[1]
            of_seen = {"predictors": rows.predictors[seen], "target": rows.target[seen], "groups": places}
            one = fit(replace(rows, **of_seen, weights=_family_weights(places)))
            centre[place], scale[place], freedom[place] = rows.predictors[place] @ one.coefficients, one.scale, one.freedom
    return Students(centre=centre, scale=scale, freedom=freedom)


def _family_weights(places: npt.NDArray[np.intp]) -> Array:
    """Return the weight of each row: one over the root of the rows of its group."""
    return np.asarray(1 / np.sqrt(np.bincount(places)[places]))


def group_sums(rows: GroupedRows) -> tuple[Array, Array]:
    """Return by group the weighted products of predictors with each other (g, p, p), and with the target (g, p)."""
    grams = np.einsum("i,ij,ik->ijk", rows.weights, rows.predictors, rows.predictors)
    crosses = rows.weights[:, None] * rows.predictors * rows.target[:, None]
    return _sum_by_group(rows, grams), _sum_by_group(rows, crosses)


def _sum_by_group(rows: GroupedRows, values: Array) -> Array:
    summed = np.zeros((rows.count, *values.shape[1:]))
    np.add.at(summed, rows.groups, values)
    return summed


def solve_sums(grams: Array, crosses: Array, slope_ridge: float) -> Array:
    """Return the coefficients [..., p] of these sums."""
    ridge = slope_ridge * np.eye(grams.shape[-1])
    ridge[0, 0] = 0
    return np.asarray(np.linalg.solve(grams + ridge, crosses[..., None])[..., 0])


def _scales(rows: GroupedRows, without: npt.NDArray[np.bool_]) -> Array:
    """Return the rms errors [nat] in one more left-out group, for each choice of groups that is already left out."""
    kept = ~without
    grams, crosses = (
        np.einsum("sg,g...->s...", kept, sums)[:, None] - np.einsum("sg,g...->sg...", kept, sums) for sums in group_sums(rows)
    )
    coefficients = solve_sums(grams, crosses, rows.slope_ridge)
    errors = rows.target - np.einsum("ip,sip->si", rows.predictors, coefficients[:, rows.groups])
    counted = rows.weights * kept[:, rows.groups]
    return np.asarray(np.sqrt((counted * errors**2).sum(1) / counted.sum(1)))
