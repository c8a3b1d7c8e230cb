"""Expressions as functions: numbers, arrays and fifty digits say the same, and there is no number off a domain."""

from math import isnan

import numpy as np
import pytest
from mpmath import mp
from sympy import Max, log, sqrt

from derive.evaluate import _DIGITS, evaluate, precise, precise_slope, slope_at_arrays
from derive.quantities import symbol
from derive.quantities.formula import as_tree
from derive.trees import tree_of

B, N = symbol("batch"), symbol("chips")
SHAPES = (B / N + 1, Max(B, 2 * N) ** 2, sqrt(B) * log(1 + N), B**0 * 3)


@pytest.mark.parametrize(("expression", "at"), [(1 / B, 0.0), (log(B), -1.0), (sqrt(B - 2), 1.0), (Max(sqrt(B - 2), 1), 1.0)], ids=str)
def test_off_its_domain_an_expression_is_no_number(expression, at):
    tree = as_tree(expression)
    assert isnan(evaluate(tree, {"batch": at})) and isnan(precise(tree, {"batch": at}))


def test_many_digits_are_fifty_whatever_mpmath_is_set_to(monkeypatch):
    monkeypatch.setattr(mp, "dps", 5)
    third = precise(("/", 1, "batch"), {"batch": 3.0})
    assert abs(3 * third - 1) < 10.0 ** (1 - _DIGITS) and mp.dps == 5


FRACTION = tree_of("batch**2/(chips - 3) - 1/chips")


def test_off_its_domain_a_slope_is_no_number_and_without_the_quantity_it_is_zero():
    assert isnan(precise_slope(FRACTION, "batch", {"batch": 1.0, "chips": 3.0}))
    assert precise_slope(FRACTION, "layers", {"batch": 0.1, "chips": 7.0}) == 0


@pytest.mark.parametrize("expression", [*SHAPES[:1], *SHAPES[2:3], B**N / (1 + log(B)), 1 / (B - N) ** 2, sqrt(B * N) - B], ids=str)
def test_slopes_are_those_of_sympy(expression):
    """At numbers, at arrays and in fifty digits, by every quantity."""
    tree, values = as_tree(expression), {"batch": 2.5, "chips": 7.0}
    for name in ("batch", "chips"):
        theirs = float(expression.diff(symbol(name)).subs({B: 2.5, N: 7}))
        value, slope = slope_at_arrays(tree, name, {other: np.array([number]) for other, number in values.items()})
        assert value == pytest.approx(evaluate(tree, values), rel=1e-14) and slope == pytest.approx(theirs, rel=1e-12)
        assert float(precise_slope(tree, name, values)) == pytest.approx(theirs, rel=1e-14)
