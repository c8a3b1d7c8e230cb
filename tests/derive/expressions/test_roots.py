"""A root that floating point has almost lost is found again with more digits, and what rounding leaves of a root is corrected."""

import pytest

from derive.expressions.digits import root_in_50_digits
from derive.expressions.roots import real_roots
from derive.trees import tree_of


def test_newtons_method_in_many_digits_brings_back_lost_ones():
    """The small root of x^2 - 2 n x + 1 = 0, where the closed form subtracts two numbers that are nearly equal."""
    difference = tree_of("batch**2 - 2*chips*batch + 1")
    lost = 1e8 - (1e16 - 1) ** 0.5
    nearer = root_in_50_digits(difference, None, "batch", {"chips": 1e8, "batch": lost})
    assert abs(lost / 5e-9 - 1) > 0.1 and float(nearer) == pytest.approx(5e-9, rel=1e-15)
    found = real_roots(difference, (tree_of("chips - sqrt(chips**2 - 1)"),), "batch", {"chips": 1e8})
    assert [value for value, _ in found] == [pytest.approx(5e-9, rel=1e-15)]


def test_at_the_bottom_of_a_curve_the_root_stays():
    assert root_in_50_digits(tree_of("(batch - chips)**2"), None, "batch", {"chips": 2.0, "batch": 2.0}) == 2
    assert root_in_50_digits(tree_of("(batch - chips)**2 + 1"), None, "batch", {"chips": 2.0, "batch": 2.0}) is None
