"""The first lines of a report: what to take home, each number as the record has it, with what it rests on."""

from dataclasses import replace
from functools import cache

import pytest

from invert.inference import infer
from invert.records import TierEvidence
from invert.report.take_home import ranged, take_home
from invert.result import Inference
from invert.storage.tiers import TIERS
from invert.table import InferenceTable


def of_sheet(table: InferenceTable) -> list[str]:
    return take_home(table[0], table)


def test_size_cache_mark_up_and_decode_stand_with_their_records():
    run = infer("gpt-6-sol")
    closed = run[0]
    size, kv, stored, markup, decode, *_ = take_home(closed, run)
    active, headline = closed.market["active_params"], closed.kv_bytes["headline"]
    assert (
        ranged("active_params", active) in size
        and f"Of open models such ranges held {active.record.held[-1].held} of {active.record.count}." in size
    )
    assert ranged("kv_bytes_per_token", headline) in kv and f"held {headline.record.held[-1].held} of {headline.record.count}." in kv
    assert ranged("kv_bytes_per_token", closed.kv_bytes_stored["headline"]) in stored and "held 13 of 14." in stored
    assert "release not known" in kv and "no price enters" in kv
    assert ranged("input_markup", closed.market["input_markup"]) in markup
    assert "80% of the time (61% to 90% as hosts of one model differ)" in decode


def test_a_public_architecture_is_said_first():
    _, kv, stored, *_ = of_sheet(infer("kimi-k3"))
    assert stored == "KV stored: 27.6 kB/token by its architecture."
    assert "by its architecture (verified); " in kv and kv.index("27.6 kB") < kv.index("such ranges")
    known = of_sheet(infer("glm-4.7"))
    assert known[0].startswith("Size: 32B active parameters, models.csv") and "(11.9" not in known[3]


def test_what_is_not_identified_is_said_so():
    assert of_sheet(infer(["gemini-3.1-pro"], tier="batch"))[0].startswith("Size: not identified, ")


def test_given_bytes_stand_in_the_place_of_the_class():
    assert of_sheet(infer(["gemini-3.1-pro"], anchors={"kv_bytes_per_token": "70kB"}))[1] == "KV read: 70 kB/token (given)."


# -- memory tiers ---------------------------------------------------------------------------------------------------


@cache
def everything() -> InferenceTable:
    return infer(["gemini-3.1-pro-preview", "kimi-k3", "claude-opus-5", "gpt-5.4", "gpt-6-sol"])


def one(name: str) -> Inference:
    return next(one for one in everything() if one.sheet.model == name)


def of_tiers(found: Inference) -> list[str]:
    return [line for line in take_home(found, everything()) if line.startswith("Tier: ")]


RECORD = "Where vendors disclosed the tier, the likeliest was right by {} in 2 of 2 lifetimes (1 vendor)."


def percent(found: TierEvidence, tier: str) -> str:
    low, high = found.ranges[tier]
    return f"{100 * low:.0f} to {high:.0%} by cost basis and year"


def test_the_tiers_that_all_cases_agree_on_and_the_range_of_the_likeliest():
    (sold,) = one("gemini-3.1-pro-preview").storage
    share = sold.probabilities["hbm"] + sold.probabilities["ddr"]
    assert of_tiers(one("gemini-3.1-pro-preview")) == [
        f"Tier: storage by the hour in HBM or DDR ({share:.0%}); HBM {percent(sold, 'hbm')}. {RECORD.format('implied drain time')}"
    ]
    (line,) = of_tiers(one("gpt-6-sol"))
    sold, later = one("gpt-6-sol").storage
    assert sold.probabilities == later.probabilities, "one answer for both lifetimes"
    assert line.startswith("Tier: 30 min and 12 h in HBM, DDR or flash (") and f"); HBM {percent(sold, 'hbm')}. Where vendors" in line
    assert "(1 vendor). One source decides:" in line


def test_what_the_vendor_says_stands_in_the_place_of_a_share():
    sold = one("claude-opus-5").storage[0]
    assert of_tiers(one("claude-opus-5")) == [
        f"Tier: 5 min and 1 h in HBM or DDR (the vendor says memory); HBM {percent(sold, 'hbm')}. {RECORD.format('price level')}"
    ]
    on_disk = replace(sold, disclosed="hdd", probabilities=dict.fromkeys(TIERS, 0.0) | {"hdd": 1.0}, agreed=("hdd",))
    assert of_tiers(replace(one("claude-opus-5"), storage=(on_disk,))) == ["Tier: 5 min in disk (the vendor says hdd)."]


def test_where_no_tier_can_be_left_out_none_is_identified():
    """The range of every tier over one half means that each is likely in some case: then all four are needed."""
    said = "not identified: over cost bases and years no memory tier can be left out."
    assert of_tiers(one("kimi-k3")) == [f"Tier: 5 min and 1 h {said}"]


@pytest.mark.parametrize("found", [one("gpt-5.4"), replace(one("kimi-k3"), storage=())], ids=["gpt-5.4", "nothing sold"])
def test_a_sheet_that_sells_no_lifetime_has_no_line(found: Inference):
    assert of_tiers(found) == [] and take_home(found, everything())


def test_lifetimes_of_unlike_answers_have_a_line_each():
    short, long = one("claude-opus-5").storage
    on_disk = replace(long, disclosed="disk", agreed=("flash", "hdd"), probabilities={"hbm": 0.0, "ddr": 0.0, "flash": 0.5, "hdd": 0.5})
    assert [line.split(" in ")[0] for line in of_tiers(replace(one("claude-opus-5"), storage=(short, on_disk)))] == [
        "Tier: 5 min",
        "Tier: 1 h",
    ]


def test_an_introductory_price_is_said_to_be_one_where_numbers_rest_on_it():
    for name, said in (("gemini-3.8-flash", True), ("gpt-6-sol", False)):
        table = infer([name])
        one, lines = table[0], {line.split(":")[0]: line for line in of_sheet(table)}
        assert any("introductory" in flag for flag in one.flags) is said
        assert all(lines[about].endswith("The price is introductory, and ends 2027-01-01.") is said for about in ("Size", "Mark-up"))
