"""Fits that leave groups out by subtraction, against fits made anew without them."""

from datetime import date

import numpy as np
import pytest

from invert.estimators.market.record import record
from invert.estimators.market.regression import GroupedRows, fit, grouped, predict_in_order, predict_left_out
from invert.estimators.market.student import Judged

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


def test_a_group_left_out_is_predicted_by_a_fit_without_it():
    rows = grouped(Y.tolist(), GROUPS, X.tolist())
    found = predict_left_out(rows)
    for group in range(rows.count):
        rest = rows.groups != group
        assert found.centre[~rest] == pytest.approx(rows.predictors[~rest] @ anew(rows, rest), rel=1e-9)
        assert found.scale[~rest] == pytest.approx(scale_anew(rows, rest), rel=1e-9)


def test_a_row_is_predicted_by_earlier_rows_of_other_groups():
    rows, days = grouped(Y.tolist(), GROUPS, X.tolist()), [date(2026, 1, 1 + place) for place in range(24)]
    found = predict_in_order(rows, days, days[12], 3)
    for place in range(24):
        seen = (np.arange(24) < place) & (rows.groups != rows.groups[place])
        predicted = place >= 12 and len(set(rows.groups[seen].tolist())) >= 3
        assert np.isfinite(found.centre[place]) == predicted
        if predicted:
            one = fit(grouped(Y[seen].tolist(), rows.groups[seen].tolist(), X[seen].tolist()))
            assert found.centre[place] == pytest.approx(one.coefficients @ [1.0, X[place]])


def test_a_fit_knows_its_coefficients_and_its_error_in_a_new_group():
    rows = grouped(Y.tolist(), GROUPS, X.tolist())
    one, everything = fit(rows), np.ones(24, dtype=bool)
    assert one.coefficients == pytest.approx(anew(rows, everything))
    assert (one.scale, one.freedom) == (pytest.approx(scale_anew(rows, everything)), 4)


@pytest.mark.parametrize("families", [[], ["a"], ["a", "a"]])
def test_fewer_than_two_families_give_no_record(families):
    judged = Judged(*np.zeros((3, len(families))))
    assert record(judged, judged, families) is record(judged, judged, families, by_families=True) is None
