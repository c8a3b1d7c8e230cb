"""The shipped points: those that scipy makes of the seed, spread over every stratum, the same in every run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr
from scipy.stats import genpareto, qmc

from invert.posterior import draws
from invert.posterior.draws import pareto_k, quantiles, weights


def test_the_shipped_points_are_those_of_the_seed():
    points = qmc.Sobol(16, scramble=True, seed=np.random.default_rng(20260429)).random_base2(16)
    assert draws.SEED == 20260429
    assert np.array_equal(draws._shipped(), np.floor(points * 65536))
    assert draws._shipped().dtype == np.uint16


@pytest.mark.parametrize("seed", [draws.SEED, 5])
def test_every_coordinate_meets_every_stratum_once(seed: int):
    for count in (64, draws.DEFAULT, draws.MOST):
        strata = np.sort(np.floor(draws.uniforms(count, seed) * count), axis=0)
        assert np.array_equal(strata, np.tile(np.arange(count)[:, None], (1, draws.DIMENSIONS)))
    assert np.array_equal(draws.uniforms(64, seed), draws.uniforms(64)) == (seed == draws.SEED)


def test_normals_are_the_quantiles_of_the_uniforms():
    uniform, normal = draws.uniforms(4096), draws.normals(4096)
    assert uniform.min() > 0 and uniform.max() < 1
    assert np.abs(ndtr(normal) - uniform).max() < 1e-14
    assert np.abs(normal.mean(axis=0)).max() < 1e-3 and np.abs(normal.std(axis=0) - 1).max() < 1e-3


@pytest.mark.parametrize("columns", [1, 8, 16, 17, 70])
def test_coordinates_beyond_the_shipped_ones_meet_every_stratum_and_none_twice(columns: int):
    points = draws.coordinates(512, 8, columns)
    assert points.shape == (512, columns)
    assert np.array_equal(points[:, :8], draws.uniforms(512)[:, 8 : 8 + columns])
    assert np.array_equal(np.sort(np.floor(points * 512), axis=0), np.tile(np.arange(512)[:, None], (1, columns)))
    assert columns == 1 or np.abs(np.triu(np.corrcoef(points.T), 1)).max() < 0.2
    assert np.array_equal(points, draws.coordinates(512, 8, columns + 3)[:, :columns])


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
