"""A storage tier by its name sets capacity, bandwidth and price, as memory_tiers.csv has them."""

import json

import pytest

from derive.errors import UnknownName
from derive.solving.api import solve
from derive.tier_presets import matching_devices, tier
from tests.tools.commands import call, refused

FLASH = "Micron 9650 30.72 TB"


@pytest.mark.parametrize(
    ("word", "device"), [*((one, FLASH) for one in ("nvme", "NVMe", "flash", "ssd")), ("ddr", "DDR5"), ("disk", "20 TB"), ("cxl", "CXL")]
)
def test_every_tier_has_a_middle_device_and_a_price_if_it_is_known(word: str, device: str) -> None:
    found = tier(word)
    assert device in found.provenance["tier_capacity"] and ("tier_price" in found.givens) == (word != "cxl")


@pytest.mark.parametrize("word", ["nvm", "", "tape", "' ; rm"])
def test_an_unknown_tier_is_refused(word: str) -> None:
    assert matching_devices("tape") == []
    with pytest.raises(UnknownName):
        tier(word or "  ")


def test_drain_time_and_costs_follow_from_a_tier() -> None:
    assert solve("drain_time", tier="nvme").value == pytest.approx(30.72e12 / 28e9)
    held = solve("hold_cost", tier="nvme", kv_bytes_per_token="20 kB", ttl="1 h").value
    assert held == pytest.approx(0.00002753 * 20e3 / 1e9)


def test_what_is_given_wins_over_the_tier() -> None:
    assert solve("drain_time", tier="nvme", tier_capacity="28 TB").value == pytest.approx(1000)


def test_the_command_takes_a_tier_and_list_finds_it() -> None:
    answer = json.loads(call("solve", "drain_time", "--tier", "hdd", "--as", "json").out)
    assert answer["answers"][0]["value"] == pytest.approx(20e12 / 265e6)
    assert "Micron 9650 7.68 TB PCIe 6" in call("list", "nvme").out
    assert "tape" in refused("solve", "drain_time", "--tier", "tape")


def test_the_hbm_beside_a_chip_is_that_of_the_chip():
    beside, alone = solve("drain_time", hardware="H100:fp8", tier="hbm"), solve("drain_time", tier="H100-SXM")
    assert beside.value == alone.value != solve("drain_time", tier="hbm").value
    prices = [solve("tier_price", **asked).value for asked in ({"hardware": "H100", "tier": "hbm"}, {"tier": "H100-SXM"})]
    assert prices[0] == pytest.approx(prices[1])
