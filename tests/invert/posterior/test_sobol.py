"""The shipped points: those that scipy makes of the seed, spread over every stratum, the same in every run."""

import subprocess
import sys

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


def test_normals_are_the_quantiles_of_the_uniforms():
    uniform, normal = draws.uniforms(4096), draws.normals(4096)
    assert uniform.min() > 0 and uniform.max() < 1
    assert np.abs(ndtr(normal) - uniform).max() < 1e-14
    assert np.abs(normal.mean(axis=0)).max() < 1e-3 and np.abs(normal.std(axis=0) - 1).max() < 1e-3


def test_fewer_points_are_the_first_of_more():
    assert np.array_equal(draws.normals(512), draws.normals(2048)[:512])
    assert np.array_equal(draws.normals(512, 9), draws.normals(2048, 9)[:512])


def test_another_seed_gives_other_points():
    assert not np.array_equal(draws.uniforms(512, 1), draws.uniforms(512, 2))
    assert not np.array_equal(draws.uniforms(512, 1), draws.uniforms(512))


def test_the_shipped_points_need_no_scipy_stats():
    script = "import sys; from invert.posterior import sobol; sobol.normals(64); sobol.uniforms(64); print('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("columns", [1, 8, 16, 17, 70])
def test_coordinates_beyond_the_shipped_ones_meet_every_stratum_and_none_twice(columns: int):
    points = draws.coordinates(512, 8, columns)
    assert points.shape == (512, columns)
    assert np.array_equal(points[:, :8], draws.uniforms(512)[:, 8 : 8 + columns])
    assert np.array_equal(np.sort(np.floor(points * 512), axis=0), np.tile(np.arange(512)[:, None], (1, columns)))
    assert columns == 1 or np.abs(np.triu(np.corrcoef(points.T), 1)).max() < 0.2
    assert np.array_equal(points, draws.coordinates(512, 8, columns + 3)[:, :columns])
