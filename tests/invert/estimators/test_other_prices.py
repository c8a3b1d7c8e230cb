"""Size, all parameters and price/cost of a sheet, side by side."""

from datetime import date

import pytest

from derive.solving.api import solve
from invert import infer
from invert.estimators.other_prices import slow_mode_floor
from tests.tools.commands import call
from tests.tools.inferred import everything_with_tiered_sonnet as everything


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


pytestmark = pytest.mark.usefixtures("tiered_sonnet")


def test_drain_time_and_stored_bytes_are_there_where_storage_is_priced():
    drained, stored = set(), set()
    for found in everything().inferences:
        priced = found.observables.storage_price is not None or any(not tariff.problem for tariff in found.tariffs)
        assert ("by_storage_price" in found.kv_bytes_stored) == priced
        assert ("implied_drain_time" in found.estimates) == (priced and found.sheet.has_premium)
        stored |= {found.sheet.model} if priced else set()
        drained |= {found.sheet.model} if "implied_drain_time" in found.estimates else set()
    assert {"gemini-3.1-pro-preview", "gemini-2.5-pro", "claude-sonnet-4-5"} <= drained < stored
    gemini = infer("gemini-3.1-pro")[0]
    drain, reading = gemini.estimates["implied_drain_time"], gemini.implied_drain_time
    assert drain.low < 0.015 < drain.high  # an earlier calculation: 15 ms [8, 25]
    assert drain.median == pytest.approx(reading.values["implied_drain_time"], rel=1e-12)


OWN = "provider,model,component,amount,service_tier\n" + "".join(
    f"acme,m,{component},{amount},{tier}\n"
    for tier, component, amount in (("standard", "input", 2), ("standard", "output", 8), ("fast", "input", 5), ("fast", "output", 20))
)


def cost_over_arithmetic(multiple: float, kv: float) -> float:
    """The larger of 1 and 1/m + x, without anything of the catalogue."""
    return max(1.0, 1 / multiple + kv)


@pytest.mark.parametrize("ratio", [1.5, 3.0, 5.0, 8.0])
@pytest.mark.parametrize("speed", [1.3, 2.5, 6.0])
def test_the_floor_of_a_slow_mode_is_what_the_weights_leave(ratio: float, speed: float):
    """Of R = 1/sigma + x, a slow mode at any batch keeps x, or 1 where arithmetic binds."""
    kv = ratio - 1 / speed
    assert cost_over_arithmetic(speed, kv) == pytest.approx(ratio)
    assert slow_mode_floor(ratio, speed) == pytest.approx(cost_over_arithmetic(1e12, kv) / ratio)


def test_the_batch_ratio_is_price_times_speed_in_the_pair_and_for_solve():
    found = solve("fast_batch_ratio", fast_price_ratio=6, fast_speed_ratio=2.5)
    assert found.value == 15
    opus = infer(["claude-opus-4-6"], as_of=date(2026, 3, 20))[0]
    assert opus.fast_mode and (opus.fast_mode.price_ratio, opus.fast_mode.speed_ratio, opus.fast_mode.batch_ratio) == (6, 2.5, 15)
    assert opus.fast_mode.slow_mode_floor == pytest.approx((5 - 0.4) / 5)


def test_without_a_stated_speed_there_is_a_price_ratio_alone(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(OWN)
    one = infer(["acme/m"], prices=str(path))[0]
    assert one.fast_mode and one.fast_mode.price_ratio == 2.5 and one.fast_mode.batch_ratio is None
    assert "fast_price_ratio=2.5" in call("infer", "acme/m", "--prices", str(path)).out
    assert all(other.fast_mode is None for other in infer(["acme/m"], prices=str(path), tier="fast"))
