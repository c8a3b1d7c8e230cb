"""Small functions of `invert.storage` on examples."""

from math import log

from invert.data import read_data
from invert.records import SoleSource
from invert.sheets.assemble import sheets_that_ship
from invert.storage.tariffs import shared_tariffs, sole_source
from invert.storage.tiers import disclosed_probabilities, one_posterior


def test_sole_source():
    offered = sheets_that_ship(read_data())
    assert sole_source(next(one for one in offered if one.model == "gpt-6-sol")) == SoleSource(database="litellm", ttls=(43200,))


def test_shared_tariffs():
    offered = sheets_that_ship(read_data())
    assert [(one.provider, len(one.models)) for one in shared_tariffs(offered)][:2] == [("anthropic", 10), ("baidu-qianfan", 2)]


def test_disclosed_probabilities():
    assert dict(disclosed_probabilities("memory", {"hbm": 0.375, "ddr": 0.125, "flash": 0.5, "hdd": 0.0})) == {
        "hbm": 0.75,
        "ddr": 0.25,
        "flash": 0.0,
        "hdd": 0.0,
    }


def test_one_posterior():
    even = {"hbm": log(0.02), "ddr": log(0.02), "flash": log(0.02), "hdd": log(0.02)}
    sure = {"hbm": log(0.24), "ddr": log(0.24), "flash": log(0.24), "hdd": log(1e-9)}
    assert {tier: round(p, 3) for tier, p in one_posterior([even, sure]).items()} == {
        "hbm": 0.325,
        "ddr": 0.325,
        "flash": 0.325,
        "hdd": 0.025,
    }
