"""Size, all parameters and price/cost of a sheet, side by side."""

import pytest

from invert import infer


def market(name, **anchors):
    (one,) = infer([name], anchors=anchors).inferences
    return one.by_price


def test_the_mark_up_is_the_price_over_the_size_at_rent():
    """2 USD/Mtoken over 2 FLOP a parameter at 2 USD/h and 989 TFLOP/s: 1.123e-3 USD/Mtoken for 1e9 parameters."""
    found = market("gpt-6-sol")
    cost = 2 / 3600 / 989e12 * 2e9 * 1e6
    assert cost == pytest.approx(1.123e-3, rel=1e-3)
    size, price_cost = found["active_params"], found["input_price_cost_ratio"]
    ends = [2 / (cost * end / 1e9) for end in (size.high, size.median, size.low)]
    assert [price_cost.low, price_cost.median, price_cost.high] == pytest.approx(ends)
    assert size.record.has_skill() and price_cost.record is price_cost.level is None, (
        "no price/cost was ever held against one that somebody told"
    )


def test_with_the_parameters_known_the_mark_up_is():
    """Up to what chips rent for: 1.645 times .25 nat, a factor of 1.51 either way."""
    stated, given = market("qwen3-coder-plus")["input_price_cost_ratio"], market("gpt-6-sol", active_params="50B")["input_price_cost_ratio"]
    assert given.median == pytest.approx(2 / (1.123e-3 * 50), rel=1e-3)
    for one in (stated, given):
        assert [one.high / one.median, one.median / one.low] == pytest.approx([1.5087, 1.5087], rel=1e-4)
        assert one.record is one.level is None


def test_more_is_paid_for_more():
    """One price, one answer; a higher price, a larger size; all of the parameters are more than the active ones."""
    cheap, dear, same = (market(name) for name in ("gpt-6.1-terra", "gpt-6-astra", "gemini-3.1-pro"))
    for name in ("active_params", "total_params"):
        assert cheap[name].median < same[name].median < dear[name].median
    assert all(found["active_params"].median < found["total_params"].median for found in (cheap, dear, same))
    assert same["active_params"] == market("gpt-6-sol")["active_params"]
