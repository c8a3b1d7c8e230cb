"""Ranges, lists and sweeps as people type them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BacksolveError, WrongUnit, WrongValue
from derive.spreads import MOST_POINTS, POINTS, Interval, Series, spread
from derive.units import parse

RANGES = [
    ("active_params", "80B..120B", 80e9, 120e9),
    ("context_length", " 1k .. 8k ", 1000, 8000),
    ("mfu", "0.4±0.1", 0.3, 0.5),
    ("mfu", "0.4+-0.1", 0.3, 0.5),
    ("mfu", "0.4 +/- 0.1", 0.3, 0.5),
    ("mfu", "40%±10%", 0.3, 0.5),
    ("active_params", "100B±20B", 80e9, 120e9),
    ("active_params", "100±20B", 80e9, 120e9),
    ("active_params", "100B±20", 80e9, 120e9),
    ("active_params", "100B±20%", 80e9, 120e9),
    ("step_time", "20ms±2ms", 0.018, 0.022),
    ("chip_price", "2 USD/h ± 10%", 1.8 / 3600, 2.2 / 3600),
    ("chip_price", "2..3 USD/h", 2 / 3600, 3 / 3600),
    ("cost_per_token", "0.8..1.2USD/MTok", 0.8e-6, 1.2e-6),
    ("batch", "1..4k", 1, 4000),
]


@pytest.mark.parametrize(("name", "text", "low", "high"), RANGES)
def test_ranges(name, text, low, high):
    found = spread(name, text, parse)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.middle == pytest.approx((low + high) / 2)


@pytest.mark.parametrize("text", ["1,8,64", "1, 8, 64", [1, 8, 64], (1, 8, 64), np.array([1, 8, 64])])
def test_lists(text):
    read = parse if isinstance(text, str) else lambda name, value: float(value)
    found = spread("batch", text, read)
    assert found.values == (1, 8, 64) and len(found) == 3 and found.array().tolist() == [1, 8, 64]


def test_elements_of_a_list_carry_their_units():
    assert spread("context_length", "4k,32k,1M", parse).values == (4000, 32000, 1e6)
    assert spread("chip_price", "1, 2, 3 USD/h", parse).values == pytest.approx((1 / 3600, 2 / 3600, 3 / 3600))
    assert spread("batch", "64,512", parse).values == (64, 512)


def test_sweeps_are_even_in_ratio_or_in_size():
    assert spread("batch", "1..4096:log:13", parse).array().tolist() == [2.0**power for power in range(13)]
    assert spread("batch", "10..50:lin:5", parse).array().tolist() == [10, 20, 30, 40, 50]
    assert len(spread("batch", "1..4096:log", parse)) == POINTS == len(spread("batch", "1..4096:LIN", parse).array())
    assert spread("active_params", "1B..100B:log:3", parse).array().tolist() == [1e9, 1e10, 1e11]
    assert len(spread("batch", "1..4096:lin:1e6", parse)) == 1_000_000


@pytest.mark.parametrize("given", ["2400", "8e3", "2 USD/h", 3, 2.5, None])
def test_a_single_value_is_no_spread(given):
    assert spread("batch", given, parse) is None


WRONG = [
    ("batch", "64..1", WrongValue, "the first value must be below the second; write 1..64"),
    ("batch", "8..8", WrongValue, "below"),
    ("batch", "1..4:lgo", WrongValue, "'log'"),
    ("batch", "1..8:log:1", WrongValue, "from 2 on"),
    ("batch", "1..8:log:2.5", WrongValue, "whole number"),
    ("batch", "1..8:log:many", WrongValue, "whole number"),
    ("batch", "1..8:lin:1e12", WrongValue, f"at most {MOST_POINTS:,}"),
    ("overlap", "0..1:log", WrongValue, ":lin"),
    ("batch", "1,000", WrongValue, "a comma parts a list; write 1000 for one number"),
    ("batch", "1,024", WrongValue, "write 1024 for one number"),
    ("batch", "1,,2", WrongUnit, "empty"),
    ("batch", "1..x", WrongUnit, "begin with a number"),
    ("batch", "..8", WrongUnit, "empty"),
    ("mfu", "0.1±0.2", WrongValue, "in (0, 1]"),
    ("mfu", "0.9±20%", WrongValue, "in (0, 1]"),
    ("batch", "10±x", WrongUnit, "batch"),
    ("batch", "10±", WrongUnit, "empty"),
    ("batch", [], WrongValue, "at least one value"),
    ("hbm_bandwidth", "3 TB..4 TB", WrongUnit, "is in byte"),
]


@pytest.mark.parametrize(("name", "given", "kind", "words"), WRONG)
def test_what_cannot_be_read_says_what_can(name, given, kind, words):
    with pytest.raises(kind) as caught:
        spread(name, given, parse)
    assert words in str(caught.value) and name in str(caught.value) and "\n" not in str(caught.value)


@given(st.text(max_size=30))
def test_any_text_is_a_spread_a_single_value_or_a_named_mistake(text):
    try:
        found = spread("batch", text, parse)
    except BacksolveError as mistake:
        assert str(mistake)
    else:
        assert found is None or (isinstance(found, Interval) and found.low < found.high) or (isinstance(found, Series) and len(found))
