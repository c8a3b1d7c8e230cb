"""Predictions: Student's t against scipy.stats, fits that leave groups out against new fits, and the gate of the pool."""

from dataclasses import replace
from datetime import date
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from invert.assumptions import USUAL
from invert.estimators.prediction import (
    GroupedRows,
    Judged,
    Student,
    fit,
    grouped,
    pool_verdict,
    pooled_range,
    predict_in_order,
    predict_left_out,
    predict_one_more,
    record,
    spread_of_mean,
)

STUDENTS = st.builds(Student, centre=st.floats(-20, 20), scale=st.floats(0.05, 5), freedom=st.floats(2.5, 40))


@pytest.mark.parametrize("freedom", [3, 4.5, 19, 30])
def test_many_predictions_have_the_densities_and_shares_of_scipy(freedom):
    at = np.linspace(-6, 6, 13)
    found = Student(centre=np.full(13, 0.5), scale=np.full(13, 2.0), freedom=freedom).judge(at)
    assert found.errors == pytest.approx(0.5 - at)
    assert found.log_density == pytest.approx(stats.t.logpdf(at, freedom, 0.5, 2.0))
    assert found.nearer == pytest.approx(2 * stats.t.cdf(np.abs(at - 0.5) / 2, freedom) - 1, abs=1e-9)


@given(STUDENTS, st.floats(0.1, 0.98))
def test_a_range_a_density_and_a_spread_are_those_of_scipy(one, level):
    theirs = stats.t(one.freedom, one.centre, one.scale)
    tails = theirs.ppf([(1 - level) / 2, 0.5, (1 + level) / 2])
    assert [log(end) for end in one.range(level)] == pytest.approx(tails, rel=1e-4, abs=1e-4)
    assert one.judge(one.centre + 1).log_density == pytest.approx(theirs.logpdf(one.centre + 1))
    assert one.spread == pytest.approx(theirs.std())


@given(STUDENTS, STUDENTS, st.floats(0.05, 0.95))
def test_a_pool_holds_its_share_of_both(one, other, weight):
    ends = np.log(pooled_range(weight, one, other, 0.9))
    below = weight * stats.t(one.freedom, one.centre, one.scale).cdf(ends)
    below += (1 - weight) * stats.t(other.freedom, other.centre, other.scale).cdf(ends)
    assert below == pytest.approx([0.05, 0.5, 0.95], abs=1e-3)


def test_spread_of_mean():
    error, (low, high) = spread_of_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    assert round(error, 2) == 0.35
    assert low == 0.0
    assert high == 1.0


def test_predict_one_more():
    assert predict_one_more([1.0, 2.0, 3.0]) == Student(centre=2.0, scale=1.1547005383792515, freedom=2)


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
    for group in range(len(rows.members)):
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


def log_densities(by_price, by_baseline):
    return [str(n) for n in range(len(by_price))], np.array(by_price), np.array(by_baseline)


def test_a_price_that_says_less_than_the_class_has_no_weight():
    one = pool_verdict(*log_densities([-3.0] * 8, [-1.5] * 8))
    assert (one.stacked, one.weight, one.enters, one.gain_of_pool) == (0.0, 0.0, False, 0.0)


def test_one_family_that_a_price_fits_well_does_not_open_the_gate():
    """Its own gain is judged by the weight that the others choose, which is none."""
    one = pool_verdict(*log_densities([2.0, *[-4.0] * 7], [-1.5] * 8))
    assert not one.enters and one.weight == 0.0 and one.gain_of_pool < 0.1


def test_a_price_that_says_more_enters_at_the_weight_of_the_best_pool():
    random = np.random.default_rng(2)
    by_baseline = random.normal(-1.6, 0.3, 12)
    one = pool_verdict(*log_densities(by_baseline + random.normal(0.5, 0.2, 12), by_baseline))
    assert one.enters and one.weight == one.stacked > 0.8
    assert one.gain_of_pool == pytest.approx(0.5, abs=0.15) and one.gain_of_pool > one.standard_error


def test_the_gate_opens_at_so_many_standard_errors():
    by_baseline = np.full(12, -1.5)
    gains = by_baseline + np.random.default_rng(1).normal(0.5, 0.2, 12)
    usual = pool_verdict(*log_densities(gains, by_baseline))
    strict = pool_verdict(
        *log_densities(gains, by_baseline), replace(USUAL, least_gain_in_errors=2 * usual.gain_of_pool / usual.standard_error)
    )
    assert usual.enters and usual.weight > 0 and not strict.enters and strict.weight == 0
    assert (strict.gain_of_pool, strict.stacked) == (usual.gain_of_pool, usual.stacked)
