"""Fits that leave groups out by subtraction, against fits made anew without them."""

import numpy as np
import pytest
from scipy import stats

from invert.estimators.market.regression import GroupedRows, fit, foretold, grouped

RANDOM = np.random.default_rng(5)
GROUPS = RANDOM.integers(6, size=24).tolist()
X = RANDOM.normal(size=24)
Y = 1.0 + 0.5 * X + RANDOM.normal(size=24)


def anew(rows: GroupedRows, keep: np.ndarray) -> np.ndarray:
    """Coefficients of weighted least squares on some of the rows."""
    a, w = rows.predictors[keep], rows.weights[keep]
    return np.linalg.solve((a * w[:, None]).T @ a + rows.slope_ridge * np.diag([0.0, 1.0]), (a * w[:, None]).T @ rows.target[keep])


def scale_anew(rows: GroupedRows, keep: np.ndarray) -> float:
    total = weight = 0.0
    for group in set(rows.groups[keep].tolist()):
        inside = keep & (rows.groups == group)
        errors = rows.target[inside] - rows.predictors[inside] @ anew(rows, keep & ~inside)
        total, weight = total + (rows.weights[inside] * errors**2).sum(), weight + rows.weights[inside].sum()
    return float(np.sqrt(total / weight))


def test_a_group_left_out_is_foretold_as_by_a_fit_that_never_saw_it():
    rows = grouped(Y.tolist(), GROUPS, X.tolist())
    found = foretold(rows)
    for group in range(rows.count):
        rest = rows.groups != group
        assert found.centre[~rest] == pytest.approx(rows.predictors[~rest] @ anew(rows, rest), rel=1e-9)
        assert found.scale[~rest] == pytest.approx(scale_anew(rows, rest), rel=1e-9)


def test_a_fit_knows_its_coefficients_and_how_wrong_it_is_in_a_new_group():
    rows = grouped(Y.tolist(), GROUPS, X.tolist())
    one, everything = fit(rows), np.ones(24, dtype=bool)
    assert (one.intercept, *one.slopes) == pytest.approx(anew(rows, everything))
    assert one.scale == pytest.approx(scale_anew(rows, everything))
    assert (one.freedom, one.count, one.groups) == (4, 24, 6)


def test_densities_of_rows_are_those_of_student():
    found = foretold(grouped(Y.tolist(), GROUPS, X.tolist()))
    z = (found.target - found.centre) / found.scale
    assert found.log_density == pytest.approx(stats.t.logpdf(z, found.freedom) - np.log(found.scale))
    assert found.within(0.5).tolist() == (np.abs(z) < stats.t.ppf(0.75, found.freedom)).tolist()
