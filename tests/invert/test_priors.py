"""A prior is a normal on a log scale, or on a logit scale between two ends; the densities are those of scipy."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from invert.priors import Prior, normal_log_density

LOG, SHARE = Prior(centre=300.0, spread=0.4, why="free"), Prior(centre=-1.5, spread=0.8, why="between", ends=(0.2, 1.0))
NORMALS = st.floats(-6, 6)


@given(NORMALS, NORMALS)
def test_a_greater_draw_is_a_greater_value_within_the_ends(one: float, other: float):
    low, high = sorted((one, other))
    for prior in (LOG, SHARE):
        assert prior.at(low) <= prior.at(high) and (high - low < 1e-6 or prior.at(low) < prior.at(high))
    assert LOG.at(low) > 0 and 0.2 < SHARE.at(low) <= SHARE.at(high) < 1.0


def test_the_scale_is_that_of_logs_or_of_logits_between_the_ends():
    draws = np.array([-2.0, 0.0, 1.0])
    assert LOG.at(draws) == pytest.approx(300 * np.exp(0.4 * draws), rel=1e-14)
    assert SHARE.at(draws) == pytest.approx(0.2 + 0.8 * expit(-1.5 + 0.8 * draws), rel=1e-14)


@pytest.mark.parametrize("prior", [LOG, SHARE], ids=["logs", "logits"])
def test_a_number_gives_a_number_and_an_array_its_shape(prior: Prior):
    assert type(prior.at(0.5)) is float
    table = prior.at(np.zeros((2, 3)))
    assert table.shape == (2, 3) and table[1, 2] == prior.at(0.0)


def test_the_normal_of_a_prior_is_that_of_its_logs():
    mean, spread = LOG.normal
    assert exp(mean) == pytest.approx(300, rel=1e-14) and spread == 0.4
    assert log(LOG.at(1.0)) == pytest.approx(mean + spread, rel=1e-14)


@given(st.floats(-20, 20), st.floats(-5, 5), st.floats(0.01, 10))
def test_the_density_is_that_of_scipy(value: float, mean: float, spread: float):
    assert normal_log_density(value, mean, spread) == pytest.approx(norm(mean, spread).logpdf(value), rel=1e-12, abs=1e-12)
