"""`solve storage_tier ttl=...`: devices ranked by the drain-time rule."""

import json

import pytest

from backsolve.cli.tiers import ranked_devices
from tests.tools.commands import call, refused


def test_the_nearest_drain_time_comes_first():
    tier, device, time, _ = ranked_devices(300.0)[0]
    assert (tier, device) == ("flash", "Micron 9650 7.68 TB PCIe 6") and time == pytest.approx(7.68e12 / 28e9)
    assert ranked_devices(0.02)[0][0] == "hbm" and ranked_devices(1e5)[0][0] == "hdd"


def test_an_answer_has_its_rule_and_the_record_of_that_rule():
    found = json.loads(call("solve", "storage_tier", "ttl=1h", "--as", "json").out)
    assert found["basis"] == "rule" and 0 <= found["record"]["right"] <= found["record"]["cases"]
    assert found["answers"][0]["drain_time_over_ttl"] == pytest.approx(found["answers"][0]["drain_time"] / 3600)
    several = json.loads(call("solve", "storage_tier", "ttl=5min,1h", "--as", "json").out)
    assert [one["given"]["ttl"] for one in several] == [300, 3600]


@pytest.mark.parametrize("given", ["ttl=1min..10min", "ttl<=1h"])
def test_a_lifetime_is_one_time_or_a_list(given: str):
    assert "needs only ttl, one or several" in refused("solve", "storage_tier", given)
