"""A root that floating point has almost lost is found again with more digits."""

import pytest

from derive.catalogue import equation
from derive.expressions.digits import exactly
from derive.expressions.roots import real_roots
from derive.solving.elimination import joint
from derive.solving.matching import Structure
from derive.solving.one_equation import solve_equation
from derive.trees import tree_of


def test_newtons_method_in_many_digits_brings_back_lost_ones():
    """The small root of x^2 - 2 n x + 1 = 0, where the closed form subtracts two numbers that are nearly equal."""
    difference = tree_of("batch**2 - 2*chips*batch + 1")
    lost = 1e8 - (1e16 - 1) ** 0.5
    nearer = exactly(difference, None, "batch", {"chips": 1e8, "batch": lost})
    assert abs(lost / 5e-9 - 1) > 0.1 and float(nearer) == pytest.approx(5e-9, rel=1e-15)
    found = real_roots(difference, (tree_of("chips - sqrt(chips**2 - 1)"),), "batch", {"chips": 1e8})
    assert [value for value, _ in found] == [pytest.approx(5e-9, rel=1e-15)]


def test_a_square_whose_coefficient_is_nothing_is_a_line_though_a_share_of_one_has_no_root():
    """No prompt is cached, and 891 of at most 903 entries are read: half a square of those over the prompt is what lacks."""
    rows = (equation("serving.cached_tokens"), equation("architecture.prefill_read_entries"))
    (block,) = joint(Structure(rows, ("cached_tokens", "uncached_tokens")), "uncached_tokens")
    read, most = 891.3295981138348, 903.4091974243751
    found, _ = solve_equation(block, "uncached_tokens", {"cache_hit_share": 0.0, "prefill_read_entries": read, "selected_entries": most})
    assert [one.value for one in found] == pytest.approx([most**2 / 2 / (most - read)], rel=1e-12)
