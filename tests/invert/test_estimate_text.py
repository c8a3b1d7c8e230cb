"""The one text of an estimate: every number that it shows is the number of the estimate, to the digits that it shows."""

from hypothesis import given
from hypothesis import strategies as some

from invert.estimate_text import estimate_text, middle_text, range_text
from invert.records import Estimate
from tests.tools.together import in_one_test


@in_one_test(
    ("quantity", "estimate", "middle", "ends", "whole"),
    [
        ("kv_bytes_per_token", Estimate(kind="interval", median=48.9e3, low=7260.0, high=329e3), "49 kB", "7.3 to 330 kB",
         "49 kB (7.3-330)"),
        ("kv_bytes_per_token", Estimate(kind="interval", median=934.0, low=680.0, high=1205.0), "0.934 kB", "0.68 to 1.21 kB",
         "0.934 kB (0.68-1.21)"),
        ("kv_bytes_stored_per_token", Estimate(kind="upper", high=312e3), "< 310 kB", "-", "< 310 kB"),
        ("batch_multiple", Estimate(kind="lower", low=0.0939), "> 0.094", "-", "> 0.094"),
        ("kv_bytes_per_token", Estimate(kind="given", median=7e4, low=7e4, high=7e4), "70 kB (given)", "-", "70 kB (given)"),
        ("active_params", Estimate(kind="interval", median=45.2e9, low=13.5e9, high=155e9), "45 B", "14 to 160 B", "45 B (14-160)"),
        ("input_price_cost_ratio", Estimate(kind="interval", median=25.4, low=25.4, high=25.4), "25x", "-", "25x"),
        ("bandwidth_bound_fraction", Estimate(kind="interval", median=0.83, low=0.67, high=0.92), "83 %", "67 to 92 %", "83 % (67-92)"),
        ("probability_hbm", Estimate(kind="interval", median=0.72, low=0.47, high=1.0), "72 %", "47 to 100 %", "72 % (47-100)"),
        ("bayes_factor", Estimate(kind="point", median=934.2), "930", "-", "930"),
        ("batch", Estimate(kind="undetermined"), "none", "-", "none"),
    ],
)  # fmt: skip
def test_an_estimate_in_words(quantity: str, estimate: Estimate, middle: str, ends: str, whole: str):
    assert (middle_text(quantity, estimate), range_text(quantity, estimate), estimate_text(quantity, estimate)) == (middle, ends, whole)


@given(some.floats(1.0, 1e8), some.floats(1.0, 2.9), some.floats(3.1, 100.0))
def test_numbers_are_rounded_to_two_digits_and_of_a_narrow_range_to_three(median: float, narrow: float, wide: float):
    for factor, digits in ((narrow, 3), (wide, 2)):
        one = Estimate(kind="interval", median=median, low=median / factor**0.5 * 0.999, high=median * factor**0.5 * 1.001)
        shown = float(middle_text("kv_bytes_per_token", one).removesuffix(" kB"))
        assert abs(1e3 * shown / median - 1) <= 0.5001 * 10 ** (1 - digits)
