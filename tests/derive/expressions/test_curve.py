"""Where a curve is zero: points, stretches, roots close to each other, and edges of where it is defined."""

import numpy as np
import pytest

from derive.expressions.curve import find_zeros


def zeros(name, height):
    return [pytest.approx(one, rel=1e-9) for one in find_zeros(name, height)[0]]


def test_a_crossing_is_a_point():
    assert zeros("batch", lambda x: x / 123.456 - 1) == [(123.456, 123.456)]


def test_two_roots_within_a_step_of_the_grid_are_told_apart():
    assert zeros("batch", lambda x: (x - 50) * (x - 51) / 2500) == [(50.0, 50.0), (51.0, 51.0)]


def test_a_level_part_is_a_stretch_to_its_last_place():
    ((low, high),) = find_zeros("batch", lambda x: np.maximum(x, 100) / 100 - 1)[0]
    assert low is None and high == pytest.approx(100, rel=2e-9)


def test_a_root_at_the_edge_of_the_domain_is_found():
    assert zeros("batch", lambda x: np.where(x < 64, np.nan, (x - 64) / 64)) == [(64.0, 64.0)]


def test_a_leap_over_zero_is_no_root():
    assert find_zeros("batch", lambda x: np.where(x < 64, -1.0, 1.0))[0] == []


def test_a_share_close_to_one_is_found():
    assert zeros("mfu", lambda x: (1 - x) / 1e-6 - 1) == [(1 - 1e-6, 1 - 1e-6)]


def test_a_curve_that_is_zero_everywhere_has_no_ends():
    assert find_zeros("batch", lambda x: 0 * x)[0] == [(None, None)]


def test_a_stretch_of_zeros_between_gaps_is_found_without_asking_for_no_place():
    ((low, high),) = find_zeros("batch", lambda x: np.select([x < 32, x < 48], [1, np.nan], 0.0 * x).reshape(-1, *x.shape)[0])[0]
    assert (low, high) == (pytest.approx(48), None)
