"""Tier probabilities on two cost bases, what a sheet and a disclosure say of a tier, and the score of each rule.

Method: docs/explanation/storage-tiers.md. An earlier calculation had tier numbers of its own, these are from
memory_tiers.csv: signs and orderings are compared, and digits only where the inputs are the same.
"""

from dataclasses import replace
from datetime import date
from math import erf, hypot, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import WrongData, WrongValue
from derive.tables import shipped
from invert.assumptions import USUAL, Assumptions
from invert.data import read_data
from invert.estimators.cases import assumptions_of
from invert.records import RuleScore
from invert.sheets.assemble import models, sheets
from invert.sheets.observables import observables, rounding_cell
from invert.sheets.read import load
from invert.storage.tariffs import drain_time_of, scoreboard
from invert.storage.tiers import (
    BASES,
    HOLD_TIMES,
    TIERS,
    cost_optimality,
    drain_match,
    hold_costs,
    implied_drain_time_match,
    normalised,
    price_level,
    shares_over_cases,
    storage_evidence,
    tier_parameters,
)
from tests.tools.data import shipped_data
from tests.tools.tables import reading
from tests.tools.together import in_one_test

GEMINI = 4.5e-6 / 3600  # USD/token/s
KV = (60e3, 1.0)  # as an earlier calculation took them, for its storage price
PER_GB_HOUR = 1e9 * 3600


def gemini():
    """At mean contexts of 20 k and 300 k."""
    (sheet,) = (one for one in sheets(load(), date(2026, 11, 20)) if one.model == "gemini-3.1-pro-preview")
    context = next(row.max_context for row in models(shipped_data()) if row.model == sheet.model)
    seen = observables(sheet, context, assumptions_of({"short_context": 2e4, "long_context": 3e5}))
    drain = drain_time_of(seen.pairs[0], sheet.bands[0].output.usd_per_token, seen.storage_price)
    assert drain == (pytest.approx(6e-6 / 280_000 / GEMINI), pytest.approx(spread_of_gemini()))
    return storage_evidence(shipped_data(), [None], storage_price=seen.storage_price.value, implied_drain_time=drain)[0]


def spread_of_gemini():
    """Of its implied drain time [nat]: band means, an output premium of 1.5 and a storage price of 4.5, each within its cell."""
    (low, high), (_, dearest) = rounding_cell(1.5), rounding_cell(4.5)
    return hypot(USUAL.band_means_spread, log((high - 1) / (low - 1)) / 2 / USUAL.range_reach, log(dearest / 4.5) / USUAL.range_reach)


def settings():
    return [(basis, year) for basis in BASES for year in USUAL.price_years]


# -- tier parameters ------------------------------------------------------------------------------------------------

HOLDING = [  # basis, year, USD/GB/h by tier, as memory_tiers.csv has them
    ("rented", 2026, (0.029375, 6.3927e-4, 2.753e-5, 1.849e-6)),
    ("rented", 2025, (0.02125, 1.5982e-4, 4.2e-6, 1.849e-6)),
    ("owned", 2026, (5.0228e-4, 6.3927e-4, 2.753e-5, 1.849e-6)),
    ("owned", 2025, (7.1918e-4, 1.5982e-4, 4.2e-6, 1.849e-6)),
]


@in_one_test(("basis", "year", "prices"), HOLDING)
def test_holding_prices_of_a_basis_and_a_year(basis: str, year: int, prices: tuple[float, ...]):
    found = tier_parameters(shipped_data(), basis, year)
    assert tuple(found) == TIERS
    assert [one.holding_price.median * PER_GB_HOUR for one in found.values()] == pytest.approx(prices, rel=1e-9)
    assert [one.drain_time.median for one in found.values()] == [0.03, 2.8, 1100, 109_000]


def test_low_to_high_is_a_90_percent_interval_and_never_under_the_floor():
    found = tier_parameters(shipped_data(), "rented", 2026)
    assert found["flash"].drain_time.sd == pytest.approx(log(16_600 / 274) / 2 / USUAL.reach)
    # 72,000 to 120,000 s and 16 to 62 USD per 1,000 GB/h: narrower than the floor.
    assert found["hdd"].drain_time.sd == found["hbm"].holding_price.sd == log(2) / USUAL.range_reach
    assert erf(USUAL.range_reach / sqrt(2)) == pytest.approx(0.9)


def test_a_price_of_a_year_that_cannot_be_used_stops_that_basis():
    text = shipped.read().content("memory_tiers.csv").decode().replace("0.02125,0.02125,0.02125", "0.02125,cheap,0.02125")
    with reading(shipped.read().edited(memory_tiers=text)), pytest.raises(WrongData, match="cheap"):
        tier_parameters(read_data(), "rented", 2025)


@pytest.mark.parametrize(("basis", "year"), [("leased", 2026), ("owned", 2024)])
def test_an_unknown_basis_or_year_is_refused(basis: str, year: int):
    with pytest.raises(WrongValue, match="allowed: rented, owned, of 2025, 2026"):
        tier_parameters(shipped_data(), basis, year)


# -- the terms ------------------------------------------------------------------------------------------------------


@given(
    seconds=st.floats(1e-4, 1e6),
    spread=st.floats(0, 3),
    price=st.floats(1e-14, 1e-7),
    kv=st.floats(500, 1e6),
    setting=st.sampled_from([(basis, year) for basis in BASES for year in USUAL.price_years]),
)
def test_probabilities_sum_to_one(seconds: float, spread: float, price: float, kv: float, setting: tuple[str, int]):
    for found in (
        normalised(implied_drain_time_match(shipped_data(), (seconds, spread), *setting)),
        normalised(price_level(shipped_data(), price, (kv, spread), *setting)),
        drain_match(shipped_data(), seconds, "lecture"),
        drain_match(shipped_data(), seconds, "range"),
    ):
        assert tuple(found) == TIERS
        assert sum(found.values()) == pytest.approx(1, abs=1e-12)
        assert all(0 <= share <= 1 for share in found.values())


def sweep() -> float:
    """Time in which decode's own reads pass over all of the memory [s]: at the share of the bandwidth that is sustained."""
    return tier_parameters(shipped_data(), "owned", 2026)["hbm"].drain_time.median / USUAL.sustained_mbu


def test_what_a_tier_would_show_is_found_on_it():
    """At the drain time predicted for it, nothing beats a tier but one beside it of the same price."""
    for basis, year in settings():
        tiers = tier_parameters(shipped_data(), basis, year)
        for tier, own in tiers.items():
            predicted = sweep() * tiers["hbm"].holding_price.median / own.holding_price.median
            found = implied_drain_time_match(shipped_data(), (predicted, 0.1), basis, year)
            # A density is lower at the top of a wider normal: HBM has none of the spread of two prices.
            if (basis, year, tier) != ("owned", 2026, "ddr"):
                assert max(found, key=found.get) == tier


def test_the_exact_integral_is_what_sampling_gives():
    """Every parameter drawn, price/cost and all: the shares of the likelihood are those of the closed form."""
    seen, spread = 0.4, 0.3
    generator = np.random.default_rng(7)
    draw = generator.standard_normal
    tiers = tier_parameters(shipped_data(), "rented", 2026)
    hbm, n = tiers["hbm"], 400_000
    sweeps = log(sweep()) + hbm.drain_time.sd * draw(n)
    price = log(hbm.holding_price.median) + hbm.holding_price.sd * draw(n)
    likelihood = {}
    for tier, own in tiers.items():
        held = price if tier == "hbm" else log(own.holding_price.median) + own.holding_price.sd * draw(n)
        distance = (log(seen) - (sweeps + 1.5 * draw(n) + price - held)) / spread
        likelihood[tier] = np.exp(-0.5 * distance**2).mean()
    found = normalised(implied_drain_time_match(shipped_data(), (seen, spread), "rented", 2026))
    for tier in TIERS:
        assert likelihood[tier] / sum(likelihood.values()) == pytest.approx(found[tier], abs=0.01)


@given(spread=st.floats(0, 2), kv=st.floats(1e3, 1e6), price=st.floats(1e-13, 1e-8), factor=st.floats(0.01, 100))
def test_bytes_and_price_enter_the_level_as_a_ratio(spread: float, kv: float, price: float, factor: float):
    """Bytes, tier and price/cost are degenerate: ten times the bytes at ten times the price say the same."""
    base, scaled = (normalised(price_level(shipped_data(), price * by, (kv * by, spread), "owned", 2026)) for by in (1, factor))
    assert dict(scaled) == pytest.approx(dict(base), abs=1e-9)


def at_temperature(temperature: float) -> Assumptions:
    return replace(USUAL, cost_temperature=temperature)


def test_cost_optimality_is_the_mean_share_over_other_draws_of_the_same_spreads():
    draw, weights = np.random.default_rng(4).standard_normal, []
    for own in tier_parameters(shipped_data(), "owned", 2026).values():
        drain, holding = (one.median * np.exp(one.sd * draw(400_000)) for one in (own.drain_time, own.holding_price))
        weights.append((holding * (300 + USUAL.transfers_per_hold * drain)) ** (-1 / USUAL.cost_temperature))
    found = np.exp([*cost_optimality(shipped_data(), 300, "owned", 2026).values()])
    assert found == pytest.approx((np.array(weights) / sum(weights)).mean(axis=1), abs=3e-4)


def test_cost_optimality_is_seeded_and_a_matter_of_temperature():
    found, other = cost_optimality(shipped_data(), 300, "owned", 2026), cost_optimality(shipped_data(), 300, "owned", 2026, seed=1)
    assert cost_optimality.__wrapped__(shipped_data(), 300, "owned", 2026) == found
    assert normalised(other) == pytest.approx(normalised(found), abs=0.01) and other != found
    assert max(cost_optimality(shipped_data(), 3600, "owned", 2026, at_temperature(1e6)).values()) == pytest.approx(log(0.25), abs=4e-4)
    for temperature in (2.9, 0.0, -3.0, float("nan")):
        with pytest.raises(WrongValue, match="allowed: 3 or more"):
            cost_optimality(shipped_data(), 300, "owned", 2026, at_temperature(temperature))


def test_cost_optimality_at_a_lifetime_by_hand():
    """The softmax at the medians, holding price times lifetime and two drain times; sampling moves it by little."""
    for basis, year in settings():
        weights = [
            (own.holding_price.median * (3600 + 2 * own.drain_time.median)) ** (-1 / 3)
            for own in tier_parameters(shipped_data(), basis, year).values()
        ]
        assert list(normalised(cost_optimality(shipped_data(), 3600, basis, year)).values()) == pytest.approx(
            [one / sum(weights) for one in weights], abs=0.03
        )


# -- the evidence of a sheet ----------------------------------------------------------------------------------------


def test_a_case_counts_for_as_much_as_it_makes_what_is_seen_likely():
    """One posterior over basis, year and tier: the weights are those of the cases, and no mean of the four posteriors."""
    found = gemini()
    likely = {
        setting: implied_drain_time_match(shipped_data(), (found.implied_drain_time, spread_of_gemini()), *setting)
        for setting in settings()
    }
    joint = normalised({(*setting, tier): logs for setting, by_tier in likely.items() for tier, logs in by_tier.items()})
    for case in found.cases:
        of_case = {tier: joint[case.basis, case.year, tier] for tier in TIERS}
        assert case.weight == pytest.approx(sum(of_case.values()))
        assert dict(case.probabilities) == pytest.approx({tier: share / case.weight for tier, share in of_case.items()})
    for tier in TIERS:
        assert found.by_price.probabilities[tier] == pytest.approx(sum(joint[*setting, tier] for setting in settings()))
        owned = sum(joint["owned", year, tier] for year in USUAL.price_years) / sum(
            joint["owned", year, one] for year in USUAL.price_years for one in TIERS
        )
        assert found.owned[tier] == pytest.approx(owned)
    means = [sum(case.probabilities[tier] for case in found.cases) / 4 for tier in TIERS]
    assert list(found.by_price.probabilities.values()) != pytest.approx(means, abs=0.03)


def shares(*percent: float) -> dict[str, float]:
    return dict(zip(TIERS, (one / 100 for one in percent), strict=True))


@in_one_test(
    ("cases", "tiers"),
    [
        ([shares(95, 5, 0, 0), shares(91, 9, 0, 0)], ("hbm",)),
        ([shares(95, 5, 0, 0), shares(89, 11, 0, 0)], ("hbm", "ddr")),
        # Of the pairs that hold enough, the one that holds more where it holds least.
        ([shares(90, 8, 2, 0), shares(89, 2, 9, 0)], ("hbm", "flash")),
        ([shares(0, 40, 30, 30), shares(0, 1, 30, 69)], ("ddr", "flash", "hdd")),
        ([shares(25, 25, 25, 25)], TIERS),
        ([shares(91, 9, 0, 0), shares(0, 0, 9, 91)], ("hbm", "hdd")),
    ],
)
def test_the_fewest_tiers_that_every_case_agrees_on(cases: list[dict[str, float]], tiers: tuple[str, ...]):
    found = shares_over_cases(cases[0], cases, 0.9)
    assert found.agreed == tiers and found.probabilities == cases[0]
    assert found.ranges == {tier: (min(of), max(of)) for tier in TIERS for of in [[one[tier] for one in cases]]}


# -- the score of each rule -----------------------------------------------------------------------------------------


def score(rules: tuple[RuleScore, ...], name: str) -> RuleScore:
    return next(one for one in rules if one.rule == name)


def test_the_scoreboard():
    """By drain times worse than -10 with 1 of 5 right, uniform -0.97, by cost at temperature 3 -1.33, by storage price -0.69."""
    rules = scoreboard(shipped_data(), KV)
    uniform = score(rules, "uniform guess")
    assert uniform.mean_log_score == pytest.approx((3 * log(1 / 2) + 2 * log(1 / 4)) / 5) and uniform.answered == 0
    devices, lecture = score(rules, "drain match, devices"), score(rules, "drain match, the lecture's drain times")
    assert devices.mean_log_score < -10 and lecture.mean_log_score < -10
    assert devices.right == 1
    rented = score(rules, "cost optimality (temperature 3), rented")
    assert rented.mean_log_score == pytest.approx(-1.33, abs=0.1) and rented.mean_log_score < uniform.mean_log_score
    for basis in BASES:
        level = score(rules, f"storage price, {basis}")
        assert level.mean_log_score == pytest.approx(-0.69, abs=0.05) and level.answered == level.right == 2
    shipped = score(rules, "shipped")
    assert shipped.mean_log_score > uniform.mean_log_score > devices.mean_log_score
    assert shipped.answered == shipped.cases == 5


HELD_KV = 44e3
FOUND = hold_costs(read_data(), HELD_KV)


def test_at_both_ends_one_of_the_two_costs_is_all_of_it():
    """Holding is bytes x price x time, moving is that for the drain time, as often as bytes are moved."""
    tiers = tier_parameters(read_data(), "owned", USUAL.price_years[-1])
    for name in ("ddr", "flash"):
        own, costs = tiers[name], FOUND[name, "owned"]
        per_second = own.holding_price.median * HELD_KV
        moved = USUAL.transfers_per_hold * own.drain_time.median
        assert costs[0] == pytest.approx(per_second * (HOLD_TIMES[0] + moved))
        assert costs[-1] == pytest.approx(per_second * (HOLD_TIMES[-1] + moved))
