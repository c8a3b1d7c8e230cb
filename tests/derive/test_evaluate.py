"""Expressions as functions: numbers, arrays and fifty digits say the same, and there is no number off a domain."""

from math import isnan

import numpy as np
import pytest
from mpmath import mp
from sympy import Max, log, sqrt

from derive.evaluate import DIGITS, evaluate, precise, scalar, vectorised
from derive.quantities import symbol

B, N = symbol("batch"), symbol("chips")
SHAPES = (B / N + 1, Max(B, 2 * N) ** 2, sqrt(B) * log(1 + N), B**0 * 3)


@pytest.mark.parametrize("expression", SHAPES, ids=str)
def test_numbers_arrays_and_many_digits_agree(expression):
    batch, chips = np.array([1.0, 2.5, 64.0]), np.array([3.0, 1.0, 8.0])
    columns = np.broadcast_to(vectorised(expression, ("batch", "chips"))(batch, chips), batch.shape)
    for place, values in enumerate({"batch": b, "chips": n} for b, n in zip(batch.tolist(), chips.tolist(), strict=True)):
        one = evaluate(expression, values)
        assert one == pytest.approx(scalar(expression, ("batch", "chips"))(*values.values()), rel=1e-15)
        assert one == pytest.approx(float(columns[place]), rel=1e-14) == pytest.approx(float(precise(expression, values)), rel=1e-14)


@pytest.mark.parametrize(("expression", "at"), [(1 / B, 0.0), (log(B), -1.0), (sqrt(B - 2), 1.0), (Max(sqrt(B - 2), 1), 1.0)], ids=str)
def test_off_its_domain_an_expression_is_no_number(expression, at):
    assert isnan(evaluate(expression, {"batch": at})) and isnan(precise(expression, {"batch": at}))


def test_many_digits_are_fifty_whatever_mpmath_is_set_to(monkeypatch):
    monkeypatch.setattr(mp, "dps", 5)
    third = precise(1 / B, {"batch": 3.0})
    assert abs(3 * third - 1) < 10.0 ** (1 - DIGITS) and mp.dps == 5
