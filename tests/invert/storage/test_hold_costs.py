"""Costs over the hold time: a short hold costs what moving the bytes does, a long one what keeping them does."""

import pytest

from invert.assumptions import USUAL
from invert.data import read_data
from invert.storage.hold_costs import HOLD_TIMES, hold_costs
from invert.storage.tiers import tier_parameters

KV = 44e3
FOUND = hold_costs(read_data(), KV)


def test_at_both_ends_one_of_the_two_costs_is_all_of_it():
    """Holding is bytes x price x time, moving is that for the drain time, as often as bytes are moved."""
    tiers = tier_parameters(read_data(), "owned", USUAL.price_years[-1])
    for name in ("ddr", "flash"):
        own, costs = tiers[name], FOUND[name, "owned"]
        per_second = own.holding_price.median * KV
        moved = USUAL.transfers_per_hold * own.drain_time.median
        assert costs[0] == pytest.approx(per_second * (HOLD_TIMES[0] + moved))
        assert costs[-1] == pytest.approx(per_second * (HOLD_TIMES[-1] + moved))
