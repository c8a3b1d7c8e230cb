"""Weights, their tail and their quantiles, against scipy and numpy on distributions whose answers are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import genpareto

from invert.posterior.weights import pareto_k, quantiles, weights

# -- the shape of the tail ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("count", [16384, 65536])
def test_pareto_k_of_known_tails(shape: float, count: int):
    """The maximum likelihood error of the shape from `tail` excesses is (1 + k)/sqrt(tail); the weak prior pulls toward 0.5."""
    tail = int(3 * np.sqrt(count))
    found = [pareto_k(genpareto.rvs(shape, size=count, random_state=seed)) for seed in range(40)]
    expected = (tail * shape + 5) / (tail + 10)
    error = (1 + shape) / np.sqrt(tail)
    # Beyond its own sampling error the mean may only stray by how far the excesses are from Pareto, which here they are not.
    assert np.mean(found) == pytest.approx(expected, abs=3.5 * error / np.sqrt(len(found)) + 0.01)
    assert np.std(found) == pytest.approx(error, rel=0.35)


# -- weights ------------------------------------------------------------------------------------------------------------


def test_weights_by_hand():
    found, even = weights(np.log([2.0, 6.0, 1e-300, 1e-300])), weights(np.log([5.0, 5.0, 5.0, 5.0]))
    assert found.values[:2] == pytest.approx([0.25, 0.75], rel=1e-12)
    assert (found.ess, even.ess) == pytest.approx((1.6, 4.0), rel=1e-12)
    assert np.exp([found.log_evidence, even.log_evidence]) == pytest.approx([2.0, 5.0], rel=1e-12)


# -- quantiles ----------------------------------------------------------------------------------------------------------


@given(values=arrays(float, 25, elements=st.floats(-1e3, 1e3)), at=st.floats(0.02, 0.98))
def test_equal_weights_give_the_hazen_quantile_of_numpy(values: np.ndarray, at: float):
    found = quantiles(values[None], np.full(25, 1 / 25), (at,))
    assert found[0, 0] == pytest.approx(np.quantile(values, at, method="hazen"), rel=1e-9, abs=1e-9)


def test_quantiles_of_a_known_distribution():
    """Exponential draws reweighted to half the rate: the quantile is -2 ln(1 - p)."""
    uniform = (np.arange(200_000) + 0.5) / 200_000
    values = -np.log1p(-uniform)
    weight = np.exp(values / 2)
    found = quantiles(values[None], weight / weight.sum(), (0.05, 0.5, 0.9))[0]
    assert found == pytest.approx(-2 * np.log1p(-np.array([0.05, 0.5, 0.9])), rel=5e-3)
