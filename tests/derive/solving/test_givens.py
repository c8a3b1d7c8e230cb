"""Ranges, lists and sweeps as people type them."""

from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.answers import Interval, Series
from derive.errors import BacksolveError, WrongUnit, WrongValue
from derive.solving.api import solve
from derive.solving.question import conventions
from derive.solving.question.givens import MOST_POINTS, POINTS, spread
from derive.units import parse
from tests.tools.together import in_one_test

RANGES = [
    ("active_params", "80B..120B", 80e9, 120e9),
    ("context_length", " 1k .. 8k ", 1000, 8000),
    ("mfu", "0.4±0.1", 0.3, 0.5),
    ("mfu", "0.4 +/- 0.1", 0.3, 0.5),
    ("mfu", "40%±10%", 0.3, 0.5),
    ("active_params", "100±20B", 80e9, 120e9),
    ("active_params", "100B±20%", 80e9, 120e9),
    ("chip_price", "2 USD/h ± 10%", 1.8 / 3600, 2.2 / 3600),
    ("cost_per_token", "0.8..1.2USD/MTok", 0.8e-6, 1.2e-6),
    ("batch", "1..4k", 1, 4000),
]


@in_one_test(("name", "text", "low", "high"), RANGES)
def test_ranges(name, text, low, high):
    found = spread(name, text, parse)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.shown == pytest.approx((low + high) / 2)


@in_one_test("text", ["1,8,64", "1, 8, 64", [1, 8, 64], (1, 8, 64), np.array([1, 8, 64])])
def test_lists(text):
    read = parse if isinstance(text, str) else lambda name, value: float(value)
    found = spread("batch", text, read)
    assert found.values == (1, 8, 64) and len(found) == 3 and found.array().tolist() == [1, 8, 64]


def test_sweeps_are_even_in_ratio_or_in_size():
    assert spread("batch", "1..4096:log:13", parse).array().tolist() == [2.0**power for power in range(13)]
    assert spread("batch", "10..50:lin:5", parse).array().tolist() == [10, 20, 30, 40, 50]
    assert len(spread("batch", "1..4096:log", parse)) == POINTS == len(spread("batch", "1..4096:LIN", parse).array())
    assert spread("active_params", "1B..100B:log:3", parse).array().tolist() == [1e9, 1e10, 1e11]
    assert len(spread("batch", "1..4096:lin:1e6", parse)) == 1_000_000


@in_one_test("given", ["2400", "8e3", "2 USD/h", 3, 2.5, None])
def test_a_single_value_is_no_spread(given):
    assert spread("batch", given, parse) is None


WRONG = [
    ("batch", "64..1", WrongValue, "the first value must be below the second. Write 1..64"),
    ("batch", "1..4:lgo", WrongValue, "'log'"),
    ("batch", "1..8:log:1", WrongValue, "from 2 on"),
    ("batch", "1..8:log:many", WrongValue, "whole number"),
    ("batch", "1..8:lin:1e12", WrongValue, f"at most {MOST_POINTS:,}"),
    ("overlap", "0..1:log", WrongValue, ":lin"),
    *[
        ("batch", f"1..8:{spacing}:{count}", WrongValue, "whole number of points from 2 on")
        for spacing in ("log", "lin")
        for count in ("inf", "-inf", "1e400", "nan", "-1", "0", "0x10", "1,000", "13:5", "")
    ],
    ("batch", "1..8:log:1e20", WrongValue, "takes 1e+20 points"),
    ("batch", "1,,2", WrongUnit, "empty"),
    ("batch", "1..10:5", WrongValue, "Write 1..10:lin:5 or :log"),
    ("batch", "1..\x00:19", WrongValue, r"Write 1..\x00:lin:19 or :log"),
    ("batch", "0.1...5", WrongValue, "three dots"),
    ("batch", "1....5", WrongValue, "three dots"),
    ("batch", "1..5;8", WrongValue, "a list holds single values"),
    ("batch", "100±0%", WrongValue, "100±0%"),
    ("batch", "100±100%", WrongValue, "batch"),
    ("batch", np.ones((2, 2)), WrongValue, "one row of values"),
    ("batch", [1, [2, 3]], WrongValue, "must be a number"),
    ("batch", [1, float("nan")], WrongValue, "finite"),
    ("batch", np.array([1.0, -2.0]), WrongValue, "batch = -2"),
    ("batch", np.array([1j]), WrongValue, "must be a number"),
    ("batch", "1..x", WrongUnit, "begin with a number"),
    ("batch", "..8", WrongUnit, "empty"),
    ("mfu", "0.1±0.2", WrongValue, "in (0, 1]"),
    ("batch", "10±x", WrongUnit, "batch"),
    ("batch", [], WrongValue, "at least one value"),
    ("hbm_bandwidth", "3 TB..4 TB", WrongUnit, "is in byte"),
]


@in_one_test(("name", "given", "kind", "words"), WRONG)
def test_what_cannot_be_read_says_what_can(name, given, kind, words):
    with pytest.raises(kind) as caught:
        spread(name, given, conventions.USUAL_CONVENTIONS.read)
    assert words in str(caught.value) and name in str(caught.value) and "\n" not in str(caught.value)


@in_one_test("given", [b"12", {1: 2}, {1, 2}, None, iter([1, 2]), np.array(3.0)])
def test_what_has_no_order_or_is_no_number_is_refused(given):
    with pytest.raises(WrongValue, match=r"^batch = .*must be a number"):
        solve("step_time", batch=given)


THOUSANDS = [
    ("batch", "12,500", "12500", "12;500"),
    ("batch", "128, 256", "128256", "128; 256"),
    ("batch", "1,000,000", "1000000", "1;000;000"),
    ("batch", "12,500;8", "12500;8", "12;500;8"),
    ("context_length", "8,192 tokens", "8192 tokens", "8;192 tokens"),
    ("step_time", "12,500ms", "12500ms", "12;500ms"),
    ("chip_price", "$2,500/h", "$2500/h", "$2;500/h"),
]


@in_one_test(("name", "text", "number", "values"), THOUSANDS)
def test_what_may_be_one_number_or_a_list_is_refused_with_both(name, text, number, values):
    with pytest.raises(WrongValue) as caught:
        spread(name, text, conventions.USUAL_CONVENTIONS.read)
    assert f"{name}='{number}'" in str(caught.value) and f"{name}='{values}'" in str(caught.value)


LISTS = [
    ("batch", "1,8,64", (1, 8, 64)),
    ("batch", "12,5000", (12, 5000)),
    ("batch", "12;500;8", (12, 500, 8)),
    ("batch", "1,8;64", (1, 8, 64)),
    ("batch", "2.5,100", (2.5, 100)),
    ("batch", "1_000,2_000", (1000, 2000)),
    ("context_length", "64,128k", (64, 128e3)),
    ("context_length", "4k;32k;1M", (4e3, 32e3, 1e6)),
    ("chip_price", "1;2;3 USD/h", (1 / 3600, 2 / 3600, 3 / 3600)),
    ("step_time", "100;200 ms", (0.1, 0.2)),
]


@in_one_test(("name", "text", "values"), LISTS)
def test_every_other_comma_parts_a_list_and_so_does_every_semicolon(name, text, values):
    assert spread(name, text, conventions.USUAL_CONVENTIONS.read).values == pytest.approx(values)


@in_one_test("kind", [list, tuple, np.array, np.float32, range])
def test_lists_from_python_are_read_alike(kind):
    values = range(1, 200) if kind is range else kind([*range(1, 200)])
    assert spread("batch", values, conventions.USUAL_CONVENTIONS.read).array().tolist() == [*range(1, 200)]
    flop = spread("peak_flops", np.array([1e15, 2e15]), conventions.Conventions(count="mac").read)
    assert flop.values == (2e15, 4e15)


@given(st.text("0123456789.,;:±+-/% kMe$lognri", max_size=14))
def test_any_text_of_their_marks_is_a_spread_a_single_value_or_a_named_mistake(text):
    test_any_text_is_a_spread_a_single_value_or_a_named_mistake.hypothesis.inner_test(text)


@given(st.text(max_size=30))
def test_any_text_is_a_spread_a_single_value_or_a_named_mistake(text):
    try:
        found = spread("batch", text, parse)
    except BacksolveError as mistake:
        assert str(mistake)
    else:
        assert found is None or (isinstance(found, Interval) and found.low < found.high) or (isinstance(found, Series) and len(found))


LONG = 100_000


@in_one_test("text", [f"1..1{'a' * LONG}1", f"5±5{' ' * LONG}x", f"1;{' ' * LONG}x,000", f"1,000{' ' * LONG};x", f"1..2{':a' * LONG} !"])
def test_the_time_grows_as_a_text_does(text):
    """A pattern that is tried anew from every letter takes a minute here."""
    begun = process_time()
    with pytest.raises(BacksolveError):
        spread("memory_time", text, parse)
    assert process_time() - begun < 2
