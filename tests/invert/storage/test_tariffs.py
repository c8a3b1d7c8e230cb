"""Tariffs of two lifetimes, one price for unlike models, and what vendors disclosed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invert.assumptions import USUAL
from invert.records import BandPair, Observable, SharedTariff, Tariff, WritePremium
from invert.report.tiers import caveat
from invert.sheets.assemble import sheets
from invert.sheets.observables import observables, observe, rounding_cell
from invert.sheets.read import load
from invert.sheets.sheet import PriceSheet
from invert.storage.tariffs import (
    disclosed_cases,
    disclosed_tiers,
    drain_time_of,
    negative_controls,
    shared_tariffs,
    sole_source,
    stored_kv_bytes,
    tariffs,
)
from invert.storage.tiers import (
    storage_evidence,
)
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

GEMINI = 4.5e-6 / 3600  # USD/token/s
KV = (60e3, 1.0)  # as an earlier calculation took them, for its price level
ANTHROPIC = [(300, 0.25), (3600, 1.0)]


def of_writes(input_price: float, premiums: Sequence[tuple[int | None, float]]) -> tuple[Tariff, ...]:
    return tariffs(input_price, [WritePremium(ttl_seconds=ttl, premium=premium) for ttl, premium in premiums])


def pair(premium_out: float, threshold: int = 200_000) -> BandPair:
    ratios = {"output_input_ratio": observe("output_input_ratio", 6.0, USUAL), "premium_in": observe("premium_in", 2.0, USUAL)}
    return BandPair(
        long_context_threshold=threshold,
        threshold_inclusive=False,
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
        assert found.probabilities["flash"] == found.probabilities["hdd"] == 0 < found.undisclosed["flash"]
        assert found.probabilities["hbm"] / found.probabilities["ddr"] == pytest.approx(found.undisclosed["hbm"] / found.undisclosed["ddr"])
        assert found.undisclosed != found.probabilities and sum(found.probabilities.values()) == pytest.approx(1)


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


def test_a_negative_charge_is_reported_and_not_clipped():
    """Kimi K3 as shipped: nothing for five minutes, the whole input price for an hour."""
    (sheet,) = (one for one in sheets(load(), date(2026, 11, 20))[0] if one.model == "kimi-k3")
    (found,) = tariffs(sheet.bands[0].input.usd_per_token, observables(sheet, None).cache_write_premiums)
    assert found.write_charge.value == pytest.approx(-3e-6 / 11)
    assert found.drain_time is None and found.storage_price.value > 0
    assert found.problem.startswith("write_charge is $-0.2727/MTok: no tariff") and found.problem.endswith("rounding alone could do that")
    (worse,) = of_writes(1e-6, [(300, 0.0), (3600, 9.0)])
    assert worse.write_charge.high < 0 and worse.problem.endswith("rounding cannot do that")


@pytest.mark.parametrize("far", [0.25, 0.1])
def test_a_slope_that_is_not_above_zero_is_reported_and_says_no_more_than_cost(far: float):
    (found,) = of_writes(3e-6, [(300, 0.25), (3600, far)])
    assert found.storage_price.value <= 0 and found.drain_time is None
    assert "a longer lifetime costs no more" in found.problem
    (evidence,) = storage_evidence(shipped_data(), [300], storage_price=found.storage_price.value, kv_bytes=KV)
    assert evidence.evidence == ("cost optimality (temperature 3)",) and max(evidence.probabilities.values()) < 0.5


def test_the_drain_time_of_a_premium_and_its_spread():
    price = Observable(name="storage_price", value=GEMINI, low=GEMINI / 1.05, high=GEMINI * 1.05)
    median, spread = drain_time_of(pair(1.5), 12e-6, price)
    assert median == pytest.approx(6e-6 / 280_000 / GEMINI)
    (low, high) = rounding_cell(1.5)
    assert spread == pytest.approx(sqrt(0.45**2 + (log((high - 1) / (low - 1)) / 2 / USUAL.reach) ** 2 + (log(1.05) / USUAL.reach) ** 2))
    assert drain_time_of(pair(1.0), 12e-6, price) is None
    assert drain_time_of(pair(1.5), 12e-6, Observable(name="storage_price", value=-GEMINI, low=-GEMINI, high=GEMINI)) is None


def test_one_price_for_unlike_models():
    """The vendors whose rows ship; GLM-4.7 has no sheet here, and with it the caches differ 55 times."""
    volcengine, baidu = negative_controls(shipped_data())
    assert (volcengine.provider, volcengine.amount, volcengine.currency) == ("volcengine", 0.017, "CNY")
    assert {"deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2"} <= set(volcengine.models)
    assert volcengine.kv_low == 6880 and volcengine.ratio == volcengine.kv_high / 6880 >= 95_232 / 6880
    assert (baidu.provider, baidu.ratio, baidu.kv_low) == ("baidu-qianfan", 1, 70_272)
    assert stored_kv_bytes(shipped_data(), "GLM-4.7") / stored_kv_bytes(shipped_data(), "DeepSeek-V4-Flash") == pytest.approx(55, rel=0.01)
    assert f"differs {volcengine.ratio:.3g} times: a storage price says little about bytes" in caveat(negative_controls(shipped_data()))


def test_the_cases_are_those_disclosed():
    cases = disclosed_cases(shipped_data())
    assert [(case.provider, case.ttl_seconds, case.disclosed) for case in cases] == [
        ("anthropic", 300, "memory"),
        ("anthropic", 3600, "memory"),
        ("openai", 300, "hbm"),
        ("openai", 86_400, "flash"),
        ("deepseek", 43_200, "disk"),
    ]
    assert [bool(case.offers) for case in cases] == [True, True, False, False, False]


# -- who says what is asked -----------------------------------------------------------------------------------------


def offered(model: str) -> PriceSheet:
    (sheet,) = (one for one in sheets(load(), date(2026, 11, 20))[0] if one.model == model)
    return sheet


def noted(sheet: PriceSheet, verification: str, notes: str) -> PriceSheet:
    """The sheet with another grade and note of its writes of twelve hours."""
    writes = [
        replace(
            offer,
            prices=tuple(replace(one, price=replace(one.price, verification=verification, notes=notes)) for one in offer.prices),
        )
        if offer.ttl_seconds == 43_200
        else offer
        for offer in sheet.writes
    ]
    return replace(sheet, writes=tuple(writes))


@in_one_test(
    ("verification", "notes", "alone"),
    [
        ("db", "litellm 1.109.1", True),
        ("db", "genai-prices 0.2.3; also in litellm 1.109.1; 2x input", False),
        ("db", "genai-prices 0.2.3; not in litellm 1.109.1", True),
        ("db", "by hand", False),
        ("db", "", False),
        ("quoted", "litellm 1.109.1; official table row quoted in a public repository", False),
        ("official", "litellm 1.109.1", False),
    ],
)
def test_a_price_is_of_one_source_where_one_database_has_it_and_no_page(verification: str, notes: str, alone: bool):
    assert (sole_source(noted(offered("gpt-6-sol"), verification, notes)) is not None) == alone


def test_one_tariff_is_the_same_write_premiums_or_the_same_storage_price_of_one_vendor():
    sol, haiku, pro, luna = (offered(name) for name in ("gpt-6-sol", "claude-haiku-5-5", "gemini-3.1-pro-preview", "gpt-6-luna"))
    assert shared_tariffs([sol, luna, haiku]) == (SharedTariff("openai", ("gpt-6-sol", "gpt-6-luna")),)
    assert shared_tariffs([sol, replace(luna, provider="other")]) == shared_tariffs([sol, replace(sol, service_tier="batch")]) == ()
    twin = replace(pro, model="twin")
    dearer = replace(pro.storage, prices=tuple(replace(one, price=replace(one.price, amount=5.0)) for one in pro.storage.prices))
    assert shared_tariffs([pro, twin]) == (SharedTariff("google", (pro.model, "twin")),)
    assert shared_tariffs([pro, replace(twin, storage=dearer)]) == ()
    none = replace(sol, writes=())
    assert shared_tariffs([none, replace(none, model="another")]) == (), "what sells no cache has no tariff"
