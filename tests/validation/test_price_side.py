"""Prices, caches and prefill against arithmetic done by hand; the working stands in the comments."""

import pytest

from derive.solving.api import solve
from tests.tools.asked import value_of

H100 = {"peak_flops": 1979e12, "hbm_bandwidth": 3.35e12, "hbm_capacity": 80e9}
MTOK_HOUR = 3600e6


@pytest.mark.parametrize("mbu", [1.0, 0.8, 0.5])
def test_storage_sold_as_memory_costs_what_the_memory_does_whatever_bandwidth_is_sustained(mbu):
    """100 B at half the FLOP/s and 2 USD/h, 2,000 bytes a token, all sold at three times cost.

    Input: 3 x 2 x 100e9 x 2/3600/(1979e12 x .5) = 3.369e-7 USD a token; the memory of a token: 3 x 2/3600 x 2,000/80e9
    = 4.167e-11 USD a second, .15 USD a million tokens and hour. What decode sustains of the bandwidth has no part in it.
    """
    model = {**H100, "active_params": 100e9, "mfu": 0.5, "mbu": mbu, "kv_bytes_per_token": 2000.0}
    prices = {"input_price": 3 * 2 * 100e9 * 2 / 3600 / (1979e12 * 0.5), "prefill_decode_flops_ratio": 1, "prefill_cost_ratio": 1}
    found = value_of("storage_price", "bands.storage_price", **model, **prices, holding_cost_ratio=1)
    assert found * MTOK_HOUR == pytest.approx(0.15, rel=1e-12)


@pytest.mark.parametrize("mbu", [1.0, 0.8])
def test_storage_priced_as_memory_shows_the_sweep_of_decode(mbu):
    """A second read of KV takes 2,000/(3.35e12 mbu) s of a chip; at 2 USD/h that buys as much as 80e9/(3.35e12 mbu) s of its memory."""
    chip = 2 / 3600
    read, held = chip * 2000 / (3.35e12 * mbu), chip * 2000 / 80e9
    increment = {"output_price": 1e-5, "premium_out": 1 + 1e5 * read / 1e-5, "short_context": 1e5, "long_context": 2e5}
    by_prices = value_of("implied_drain_time", "cache.implied_drain_time", **increment, storage_price=held)
    tier = {"output_storage_price_cost_ratio": 1, "hbm_holding_price": chip / 80e9, "holding_price": chip / 80e9, "mbu": mbu}
    by_tier = value_of("implied_drain_time", "cache.implied_drain_time_of_tier", sweep_time=80e9 / 3.35e12, **tier)
    assert by_prices == pytest.approx(80e9 / (3.35e12 * mbu)) and by_tier == pytest.approx(by_prices)


# -- tiers and owned chips ------------------------------------------------------------------------------------------


def test_what_is_kept_off_the_chip_is_written_before_it_is_read():
    """35,136 bytes at 5 cents an hour and 7 GB/s: each way 35,136 x .05/3600/7e9 = 6.97e-11 USD. How many ways is asked."""
    drive = {"tier_price": "0.05 USD/h", "tier_bandwidth": "7GB/s", "kv_bytes_per_token": 35_136}
    assert value_of("retrieve_cost", **drive, transfers_per_hold=2) == pytest.approx(2 * 35_136 * 0.05 / 3600 / 7e9, rel=1e-12)
    asked = solve("retrieve_cost", **drive)
    assert asked.reason.code == "missing_givens" and "a write and a read are 2" in asked.reason.message


def test_a_price_and_what_the_chip_cost_that_do_not_agree_are_a_contradiction():
    owned = {"chip_capex": "30k USD", "depreciation_time": "35040h", "chip_power": "1.3kW", "fleet_utilisation": 1}
    building = {"power_usage_effectiveness": 1.2, "electricity_price": "0.08 USD/kWh"}
    found = solve("price_per_flop", chip_price="2 USD/h", peak_flops=1e15, mfu=0.4, **owned, **building)
    assert found.reason.code == "contradiction" and "chip_price" in found.reason.message
    assert solve("price_per_flop", chip_price="2 USD/h", peak_flops=1e15, mfu=0.4, chip_power="700W").answers
