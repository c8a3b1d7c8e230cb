"""Tariffs of two lifetimes, one price for unlike models, and what vendors disclosed."""

from collections.abc import Sequence
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invert.assumptions import USUAL
from invert.records import BandPair, Observable, Tariff, WritePremium
from invert.sheets.observables import observe, rounding_cell
from invert.storage.tariffs import disclosed_tiers, drain_time_of, tariffs
from invert.storage.tiers import storage_evidence
from tests.tools.data import shipped_data

GEMINI = 4.5e-6 / 3600  # USD/token/s
ANTHROPIC = [(300, 0.25), (3600, 1.0)]


def of_writes(input_price: float, premiums: Sequence[tuple[int | None, float]]) -> tuple[Tariff, ...]:
    return tariffs(input_price, [WritePremium(ttl_seconds=ttl, premium=premium) for ttl, premium in premiums])


def pair(premium_out: float, threshold: int = 200_000) -> BandPair:
    ratios = {"output_input_ratio": observe("output_input_ratio", 6.0, USUAL), "premium_in": observe("premium_in", 2.0, USUAL)}
    return BandPair(
        long_context_threshold=threshold,
        short_context=0.1 * threshold,
        long_context=1.5 * threshold,
        **ratios,
        premium_out=observe("premium_out", premium_out, USUAL),
    )


def test_a_disclosure_overrides_and_the_evidence_stands_beside_it():
    said = disclosed_tiers(shipped_data(), "anthropic", "claude-sonnet-4-5", [300, 3600])
    assert said == {300: "memory", 3600: "memory"}
    for found in storage_evidence(
        shipped_data(), [300, 3600], storage_price=2.4545e-6 / 3600, implied_drain_time=(0.0393, 0.5), disclosed=said
    ):
        assert found.disclosed == "memory"
        answer, by_price = found.answer.probabilities, found.by_price.probabilities
        assert answer["flash"] == answer["hdd"] == 0 < by_price["flash"]
        assert answer["hbm"] / answer["ddr"] == pytest.approx(by_price["hbm"] / by_price["ddr"])
        assert by_price != answer and sum(answer.values()) == pytest.approx(1)


def test_the_two_lifetimes_of_anthropic():
    """By hand: a slope of 9/11 of the input price an hour, an intercept of 2/11 of it, 800 s between them."""
    (found,) = of_writes(3e-6, ANTHROPIC)
    assert (found.shorter_ttl, found.longer_ttl, found.problem) == (300, 3600, None)
    assert found.storage_price.value * 3600 / 3e-6 == pytest.approx(9 / 11)
    assert found.write_charge.value / 3e-6 == pytest.approx(2 / 11)
    assert found.drain_time.value == pytest.approx(800)
    # 1.25 may be 1.118 to 1.369 and 2 may be 1.732 to 2.236.
    (near_low, near_high), (far_low, far_high) = rounding_cell(1.25), rounding_cell(2.0)
    assert [found.storage_price.low, found.storage_price.high] == pytest.approx(
        [3e-6 * (far_low - near_high) / 3300, 3e-6 * (far_high - near_low) / 3300]
    )
    assert [found.write_charge.low, found.write_charge.high] == pytest.approx(
        [3e-6 * (near - 1 - (far - near) / 11) for near, far in ((near_low, far_high), (near_high, far_low))]
    )
    assert 40 < found.drain_time.low < 572 and 1900 < found.drain_time.high < 3200  # 5 to 95 % of an earlier calculation, and wider


@given(st.floats(1e-8, 1e-4), st.floats(-0.9, 3), st.floats(-0.9, 3), st.floats(0, 1), st.floats(0, 1))
def test_the_corners_hold_every_tariff_of_the_cells(price: float, near: float, far: float, a: float, b: float):
    (found,) = of_writes(price, [(300, near), (3600, far)])
    (near_low, near_high), (far_low, far_high) = rounding_cell(1 + near), rounding_cell(1 + far)
    inside = (near_low + a * (near_high - near_low), far_low + b * (far_high - far_low))
    slope = price * (inside[1] - inside[0]) / 3300
    charge = price * (inside[0] - 1) - 300 * slope
    slack = 1e-12 * price
    assert found.storage_price.low - slack <= slope <= found.storage_price.high + slack
    assert found.write_charge.low - slack <= charge <= found.write_charge.high + slack
    if found.drain_time and slope > 1e-9 * price:
        assert found.drain_time.low * (1 - 1e-9) - 1e-6 <= charge / slope
        assert charge / slope <= found.drain_time.high * (1 + 1e-9) + 1e-6
    if found.storage_price.value <= 0 or found.write_charge.value < 0:
        assert found.problem and found.drain_time is None


def test_the_drain_time_of_a_premium_and_its_spread():
    price = Observable(name="storage_price", value=GEMINI, low=GEMINI / 1.05, high=GEMINI * 1.05)
    median, spread = drain_time_of(pair(1.5), 12e-6, price)
    assert median == pytest.approx(6e-6 / 280_000 / GEMINI)
    (low, high) = rounding_cell(1.5)
    assert spread == pytest.approx(sqrt(0.45**2 + (log((high - 1) / (low - 1)) / 2 / USUAL.reach) ** 2 + (log(1.05) / USUAL.reach) ** 2))
    assert drain_time_of(pair(1.0), 12e-6, price) is None
    assert drain_time_of(pair(1.5), 12e-6, Observable(name="storage_price", value=-GEMINI, low=-GEMINI, high=GEMINI)) is None
