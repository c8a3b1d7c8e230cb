"""What rounding leaves of a root."""

from derive.expressions.digits import root_in_50_digits
from derive.trees import tree_of


def test_at_the_bottom_of_a_curve_the_root_stays():
    assert root_in_50_digits(tree_of("(batch - chips)**2"), None, "batch", {"chips": 2.0, "batch": 2.0}) == 2
    assert root_in_50_digits(tree_of("(batch - chips)**2 + 1"), None, "batch", {"chips": 2.0, "batch": 2.0}) is None
