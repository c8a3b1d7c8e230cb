"""Small functions of `invert.report` on examples."""

from invert.records import FastMode, TierShares
from invert.report.layout import billions
from invert.report.prices import fast_mode_in_brief
from invert.report.tiers import tiers_over_cases


def test_fast_mode_in_brief():
    assert fast_mode_in_brief(FastMode(price_ratio=2.0, speed_ratio=2.5)) == "2x/2.5x"
    assert fast_mode_in_brief(FastMode(price_ratio=2.0)) == "2x"


def test_billions():
    assert billions(45100000000.0) == "45 B"


def test_tiers_over_cases():
    two = TierShares(probabilities={"hbm": 0.7, "ddr": 0.3}, ranges={"hbm": (0.47, 0.99), "ddr": (0.01, 0.53)}, agreed=("hbm", "ddr"))
    assert tiers_over_cases(two) == "any (100%); HBM alone 47 to 99%" and tiers_over_cases(None) == "-"
    one = TierShares(probabilities={"hdd": 1.0, "hbm": 0.0}, ranges={"hdd": (1.0, 1.0), "hbm": (0.0, 0.0)}, agreed=("hdd",))
    assert tiers_over_cases(one) == "disk 100%"
