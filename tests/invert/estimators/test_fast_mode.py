"""A fast and a standard sheet of one model, paired. The numbers are worked by hand from the lecture's roofline."""

from datetime import date

import pytest

from derive.solving.api import solve
from invert.estimators.other_prices import slow_mode_floor
from invert.inference import infer
from tests.tools.commands import call

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
