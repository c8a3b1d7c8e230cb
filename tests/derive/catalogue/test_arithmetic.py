"""What relations are written with gives the same of numbers, of arrays and, once numbers are put in, of symbols."""

from collections.abc import Callable
from math import e, inf, log, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Integer, Max, Min, Rational, Symbol

from derive.catalogue.arithmetic import logarithm, maximum, minimum, part_times, power

X, Y = Symbol("x", positive=True), Symbol("y", positive=True)
NUMBERS = st.floats(1e-6, 1e6)
WRITTEN: dict[str, Callable[..., object]] = {
    "maximum": lambda x, y: maximum(x, y, 3),
    "minimum": lambda x, y: minimum(x, y, 3),
    "part_times": lambda x, y: part_times(x, y, 7.5),
    "logarithm": lambda x, y: logarithm(x) * y,
    "power": lambda x, y: power(x, 2, 3) + y,
}


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=10)
@given(NUMBERS, NUMBERS)
def test_numbers_arrays_and_symbols_agree(name: str, x: float, y: float):
    write = WRITTEN[name]
    number = write(x, y)
    assert isinstance(number, int | float)
    expression = write(X, Y)
    assert expression.free_symbols == {X, Y}
    assert float(expression.subs({X: x, Y: y})) == pytest.approx(number, rel=1e-12, abs=1e-12)
    column = write(np.array([[x], [y]]), np.array([y, x]))
    assert isinstance(column, np.ndarray) and column.shape == (2, 2)
    assert column[0, 0] == pytest.approx(number, rel=1e-14, abs=1e-14)


def test_what_is_written_with_symbols_stays_exact():
    assert maximum(X, Y) == Max(X, Y) and minimum(X, Y, 2) == Min(X, Y, 2)
    assert power(X, 1, 3).exp == Rational(1, 3) and power(Integer(8), 1, 3) == 2
    assert maximum(Integer(1), 2) == 2 and maximum(Integer(1), 2).is_Integer


def test_a_number_beside_an_array_is_one_for_all_its_places():
    np.testing.assert_array_equal(maximum(2, np.array([1.0, 3.0])), [2, 3])
    np.testing.assert_array_equal(minimum(np.array([1.0, 3.0]), 2, np.array([0.5, inf])), [0.5, 2])
    assert np.isnan(maximum(np.array([1.0, nan]), 2)).tolist() == [False, True]


def test_a_part_that_is_taken_once_is_compared_with_nothing():
    """A one that is counted is no symbol: the whole does not enter the equation."""
    assert part_times(X, 1, Y) is X and part_times(9.0, 1, 7.5) == 9.0
    assert part_times(X, 2, Y) == Min(2 * X, Y) and part_times(9.0, 1.0, 7.5) == 7.5


def test_a_logarithm_is_the_natural_one_and_has_no_value_of_less_than_nothing():
    assert logarithm(e) == 1 and logarithm(np.array([1.0, e])).tolist() == [0, 1]
    assert logarithm(X).diff(X) == 1 / X and logarithm(2) == log(2)
    with pytest.raises(ValueError, match=r"positive|math domain"):
        logarithm(-1.0)
