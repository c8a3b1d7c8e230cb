"""Costs over the hold time: a short hold costs what moving the bytes does, a long one what keeping them does."""

import pytest

from invert.assumptions import USUAL
from invert.data import read_data
from invert.storage.hold_costs import hold_costs
from invert.storage.tiers import tier_parameters

FOUND = hold_costs(read_data(), 44e3)


def test_at_both_ends_one_of_the_two_costs_is_all_of_it():
    """Holding is bytes x price x time, moving is that for the drain time, as often as bytes are moved."""
    tiers = tier_parameters(read_data(), "owned", FOUND.year)
    for name in ("ddr", "flash"):
        own, costs = tiers[name], FOUND.costs[name, "owned"]
        per_second = own.holding_price.median * FOUND.kv_bytes
        moved = USUAL.transfers_per_hold * own.drain_time.median
        assert costs[0] == pytest.approx(per_second * (FOUND.times[0] + moved))
        assert costs[-1] == pytest.approx(per_second * (FOUND.times[-1] + moved))
