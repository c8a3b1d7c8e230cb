"""The shipped points: those that scipy makes of the seed, spread over every stratum, the same in every run."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import qmc

from invert.posterior import sobol as draws


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
