"""Tariffs of writes: a vendor who charges for the write and for its lifetime is found out, and storage as a tier has one drain time."""

import pytest

from derive.catalogue import equation

INPUT, CHARGE, STORED = 3e-6, 0.5e-6, 2e-9
"""USD/token, for the write itself, and USD/token/s."""


def premium(ttl: float) -> float:
    """Of a write that is kept so long [s], over the price of input."""
    return (CHARGE + STORED * ttl) / INPUT


def test_what_a_write_and_its_lifetime_cost_is_found_from_two_of_them():
    given = {
        "input_price": INPUT,
        "ttl": 300.0,
        "longer_ttl": 3600.0,
        "cache_write_premium": premium(300),
        "longer_cache_write_premium": premium(3600),
    }
    slope = equation("cache.storage_price_from_lifetimes").right_side(given)
    assert slope == pytest.approx(STORED)
    assert equation("cache.write_charge").right_side({**given, "storage_price": slope}) == pytest.approx(CHARGE)


@pytest.mark.parametrize("longer", [300.0, 60.0])
def test_the_longer_lifetime_is_longer(longer: float):
    assert equation("cache.storage_price_from_lifetimes").violated({"ttl": 300.0, "longer_ttl": longer})


@pytest.mark.parametrize("kv_bytes", [2e3, 70e3])
def test_the_drain_time_of_a_tier_is_the_same_whatever_a_token_takes(kv_bytes: float):
    """An increment pays for the chip while its bytes are read, at twice the price/cost of storage, which pays for the tier they lie in."""
    capacity, bandwidth, mbu, chip, tier, price_cost = 80e9, 2e12, 0.8, 2 / 3600, 1e-17, 2.0
    increment, storage = price_cost * chip * kv_bytes / (bandwidth * mbu), tier * kv_bytes
    given = {"sweep_time": capacity / bandwidth, "mbu": mbu, "output_storage_price_cost_ratio": price_cost}
    held = {"hbm_holding_price": chip / capacity, "holding_price": tier}
    assert equation("cache.implied_drain_time_of_tier").right_side({**given, **held}) == pytest.approx(increment / storage)
