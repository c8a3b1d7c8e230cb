"""Densities on a grid hold what their tails hold."""

from math import inf

import pytest
from scipy import stats

from invert.estimators import calibration
from invert.estimators.calibration import bounded
from invert.estimators.densities import LONG_TAILS, Sample, central_interval, log_student, on_grid

LEVELS = (0.05, 0.5, 0.95)


@pytest.mark.parametrize("freedom", [3, 5, 200])
def test_long_tails_are_on_the_grid(freedom):
    sample = Sample(11.0, 1.1, freedom + 1)
    found, exact = on_grid(sample, log_student(sample), LONG_TAILS), stats.t(freedom, 11.0, sample.predictive_sd)
    assert central_interval(found) == pytest.approx(exact.ppf(LEVELS), abs=1e-3)


def test_a_bound_beyond_all_reach_is_not_a_warning():
    sharp = Sample(0.0, 0.01, 10_000)
    known = calibration.Calibration(sharp, sharp, Sample(11.0, 1.0, 13), {}, {}, (), ())
    assert bounded(11.0, known).quantile(1.0) < 24 and bounded(11.0, known).log_density(23.0) == -inf
