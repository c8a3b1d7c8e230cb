"""Roots by a search: near the edge of where an expression is defined, close to each other, and beside a pole."""

import pytest
import sympy

from derive.quantities import symbol
from derive.roots import polished
from derive.search import bracketed

X, N = symbol("batch"), symbol("chips")


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_a_root_just_inside_the_edge_of_the_domain_is_found(gap):
    """sqrt(x - 8) is not defined below 8, and the grid steps over what lies between 8 and 8 (1 + gap)."""
    difference = sympy.sqrt(X - N) - sympy.sqrt(N * gap)
    assert bracketed(difference, "batch", {"chips": 8.0}) == [pytest.approx(8 * (1 + gap), rel=1e-12)]


@pytest.mark.parametrize("apart", [0.1, 1e-2, 1e-3, 1e-4])
def test_two_roots_within_a_step_of_the_grid_are_both_found(apart):
    difference = sympy.log(X / N) ** 2 - sympy.Float(apart) ** 2
    found = bracketed(difference, "batch", {"chips": 12.345})
    assert found == pytest.approx([12.345 * float(sympy.exp(-apart)), 12.345 * float(sympy.exp(apart))], rel=1e-9)


def test_a_curve_that_turns_back_before_zero_has_no_root():
    assert bracketed(sympy.log(X / N) ** 2 + sympy.Rational(1, 10**6), "batch", {"chips": 12.345}) == []


def test_a_pole_does_not_hide_a_root():
    """The sign changes at 3 too; that no equation holds there is seen by whoever puts the number in."""
    found = bracketed(1 / (X - N) - 1, "batch", {"chips": 3.0})
    assert found[-1] == pytest.approx(4) and all(one == pytest.approx(3) for one in found[:-1])


def test_one_newton_step_brings_back_lost_digits():
    """The small root of x^2 - 2 n x + 1 = 0, where the closed form subtracts two numbers that are nearly equal."""
    difference = X**2 - 2 * N * X + 1
    lost = 1e8 - (1e16 - 1) ** 0.5
    nearer = polished(difference, "batch", {"chips": 1e8, "batch": lost})
    assert abs(lost / 5e-9 - 1) > 0.1 and nearer == pytest.approx(5e-9, rel=1e-6)


def test_without_a_slope_the_root_stays():
    """At the bottom of (x - n)^2 there is nothing to follow."""
    assert polished((X - N) ** 2, "batch", {"chips": 2.0, "batch": 2.0}) == 2.0
