"""Where a curve is zero: points, stretches, close roots, edges of where it is defined, and roots beside a pole."""

import numpy as np
import pytest
import sympy

from derive.expressions.curve import find_zeros, search_roots
from derive.quantities import symbol
from derive.quantities.formula import as_tree
from tests.tools.together import in_one_test


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


X, N = symbol("batch"), symbol("chips")


def roots_of(difference, unknown, **givens):
    return [*search_roots(as_tree(difference), unknown, tuple(givens.items()))]


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_a_root_just_inside_the_edge_of_the_domain_is_found(gap):
    """sqrt(x - 8) is not defined below 8, and the grid steps over what lies between 8 and 8 (1 + gap)."""
    difference = sympy.sqrt(X - N) - sympy.sqrt(N * gap)
    assert roots_of(difference, "batch", chips=8.0) == [pytest.approx(8 * (1 + gap), rel=1e-12)]


@in_one_test("apart", [0.1, 1e-2, 1e-3, 1e-4])
def test_two_roots_within_a_step_of_the_grid_are_both_found(apart):
    difference = sympy.log(X / N) ** 2 - sympy.Float(apart) ** 2
    found = roots_of(difference, "batch", chips=12.345)
    assert found == pytest.approx([12.345 * float(sympy.exp(-apart)), 12.345 * float(sympy.exp(apart))], rel=1e-9)


def test_a_curve_that_turns_back_before_zero_has_no_root():
    assert roots_of(sympy.log(X / N) ** 2 + sympy.Rational(1, 10**6), "batch", chips=12.345) == []


def test_a_pole_does_not_hide_a_root():
    """The sign changes at 3 too; that no equation holds there is seen by whoever puts the number in."""
    found = roots_of(1 / (X - N) - 1, "batch", chips=3.0)
    assert found[-1] == pytest.approx(4) and all(one == pytest.approx(3) for one in found[:-1])


def test_a_sign_change_in_the_rounding_of_an_expression_is_no_root():
    """(1 - x^a)/(1 - x) falls from 1 to a as x rises to 1, next to where floating point has nothing but noise about it."""
    share, power = symbol("mfu"), symbol("mbu")
    assert roots_of(N - (1 - share**power) / (1 - share), "mfu", mbu=0.01, chips=0.009) == []


@in_one_test("gap", [1e-6, 1e-9, 1e-12, 1e-15])
def test_a_root_near_a_removable_singularity_is_found(gap):
    """(1 - x^3)/(1 - x) = 1 + x + x^2 at x = 1 - gap, where there is next to nothing above and below the line."""
    share = symbol("mfu")
    root = 1 - gap
    asked = 1 + root + root**2
    difference = symbol("batch") - (1 - share ** symbol("chips")) / (1 - share)
    found = roots_of(difference, "mfu", batch=asked, chips=3.0)
    assert found == [pytest.approx(root, rel=4e-16)]
