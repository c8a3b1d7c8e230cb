"""Student's t held against scipy.stats, and pools of two of them."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from invert.estimators.market.student import Student, Students, pooled_range

STUDENTS = st.builds(Student, centre=st.floats(-20, 20), scale=st.floats(0.05, 5), freedom=st.floats(2.5, 40))


@pytest.mark.parametrize("freedom", [3, 4.5, 19, 30])
def test_many_predictions_have_the_densities_and_shares_of_scipy(freedom):
    at = np.linspace(-6, 6, 13)
    found = Students(centre=np.full(13, 0.5), scale=np.full(13, 2.0), freedom=freedom).judge(at)
    assert found.errors == pytest.approx(0.5 - at)
    assert found.log_density == pytest.approx(stats.t.logpdf(at, freedom, 0.5, 2.0))
    assert found.nearer == pytest.approx(2 * stats.t.cdf(np.abs(at - 0.5) / 2, freedom) - 1, abs=1e-9)


@given(STUDENTS, st.floats(0.1, 0.98))
def test_a_range_a_density_and_a_spread_are_those_of_scipy(one, level):
    theirs = stats.t(one.freedom, one.centre, one.scale)
    tails = theirs.ppf([(1 - level) / 2, 0.5, (1 + level) / 2])
    assert [log(end) for end in one.range(level)] == pytest.approx(tails, rel=1e-4, abs=1e-4)
    assert one.log_density(one.centre + 1) == pytest.approx(theirs.logpdf(one.centre + 1))
    assert one.spread == pytest.approx(theirs.std())


@given(STUDENTS, STUDENTS, st.floats(0.05, 0.95))
def test_a_pool_holds_its_share_of_both(one, other, weight):
    ends = np.log(pooled_range(weight, one, other, 0.9))
    below = weight * stats.t(one.freedom, one.centre, one.scale).cdf(ends)
    below += (1 - weight) * stats.t(other.freedom, other.centre, other.scale).cdf(ends)
    assert below == pytest.approx([0.05, 0.5, 0.95], abs=1e-3)
