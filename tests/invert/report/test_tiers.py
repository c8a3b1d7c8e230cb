"""The storage tier in a report: two cost bases beside what the vendor says, and the lecture's rule as a panel with its score."""

import re
from dataclasses import replace
from functools import cache

import pytest

from derive.preset_rows import MemoryTierFigure
from derive.tables.shipped import rows_of
from invert.estimators.market import kv_class
from invert.inference import infer
from invert.records import NegativeControl, Part, SoleSource
from invert.report.tiers import caveat, counted_once, deciding_source, tiers, tiers_over_cases
from invert.result import Inference, InferenceTable
from invert.storage.tariffs import scoreboard
from invert.storage.tiers import TIERS
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("tiered_sonnet")


@cache
def everything() -> InferenceTable:
    return infer(["gemini-3.1-pro-preview", "kimi-k3", "claude-sonnet-4-5", "gpt-5.4", "gpt-6-sol"])


def one(name: str) -> Inference:
    return next(one for one in everything() if one.sheet.model == name)


def text(name: str) -> str:
    return "\n".join(tiers(one(name), everything()))


@pytest.mark.parametrize("name", ["kimi-k3", "claude-sonnet-4-5"])
def test_the_lecture_s_rule_is_a_panel_with_its_score(name: str):
    usual = kv_class.usual_stored(shipped_data(), everything().as_of)
    scores = {row.rule: row for row in scoreboard(shipped_data(), usual)}
    lines = text(name).splitlines()
    for rule, row in scores.items():
        (line,) = [line for line in lines if line.startswith(rule + "  ")]
        assert f"{row.mean_log_score:.2f}" in line and line.endswith(f"{row.right} of {row.answered} answered, {row.cases} cases")
    # The lecture's rule scores far below a uniform guess, what is shipped above it: docs/explanation/storage-tiers.md.
    assert scores["drain match, the lecture's drain times"].mean_log_score < -10 < scores["uniform guess"].mean_log_score
    assert scores["shipped"].mean_log_score > scores["uniform guess"].mean_log_score
    assert "5 min: flash by the lecture's drain times" in text(name) and "1 h: disk by the lecture's drain times" in text(name)


def test_both_cost_bases_stand_beside_what_the_vendor_says():
    lines = tiers(one("claude-sonnet-4-5"), everything())
    header = next(line for text in lines for line in text.splitlines() if line.startswith("lifetime"))
    assert re.split(r"\s{3,}", header) == ["lifetime", "from", "prices alone, by cost basis and year", "vendor says", "answer"]
    rows = [line for text in lines for line in text.splitlines() if re.match(r"(5 min|1 h) {3}", line)]
    assert len(rows) == 6 and all("   memory   " in row and "implied drain time" in row for row in rows[:2])
    bases = ("rented HBM, owned rest", "all owned")
    assert [re.split(r"\s{3,}", row)[:2] for row in rows[2:]] == [[ttl, basis] for ttl in ("5 min", "1 h") for basis in bases]


def test_each_cost_basis_is_shown_at_the_hardware_prices_of_both_years():
    (sold,) = one("gemini-3.1-pro-preview").storage
    (line,) = [line for line in text("gemini-3.1-pro-preview").splitlines() if re.match(r"per hour +all owned ", line)]
    for case in (case for case in sold.cases if case.basis == "owned"):
        assert f"HBM {case.probabilities['hbm']:.0%}" in line and f"({case.weight:.0%})" in line
    assert "because no table has their rent" in text("gemini-3.1-pro-preview")
    assert not [row for row in rows_of(MemoryTierFigure) if row.basis == "rented" and row.tier != "hbm"]


def test_an_answer_is_what_the_cases_agree_on_and_how_far_they_differ():
    (sold,) = one("gemini-3.1-pro-preview").storage
    share = sold.probabilities["hbm"] + sold.probabilities["ddr"]
    low, high = sold.ranges["hbm"]
    (line,) = [line for line in text("gemini-3.1-pro-preview").splitlines() if line.startswith("per hour   implied drain time")]
    assert line.endswith(f"HBM or DDR ({share:.0%}); HBM alone {100 * low:.0f} to {high:.0%}")
    kimi = one("kimi-k3").storage[0]
    (line,) = [line for line in text("kimi-k3").splitlines() if line.startswith("5 min") and "cost optimality" in line]
    assert (
        line.endswith(f"   {tiers_over_cases(kimi.probabilities, kimi.ranges, TIERS, 1.0)}") and "not identified; flash 33 to 49%" in line
    )


@in_one_test(
    ("agreed", "said"),
    [
        (("hbm",), "HBM 47 to 99%"),
        (("hbm", "ddr"), "HBM or DDR (95%); HBM alone 47 to 99%"),
        (("hbm", "ddr", "hdd"), "HBM, DDR or disk (96%); HBM alone 47 to 99%"),
        (TIERS, "not identified; HBM 47 to 99%"),
    ],
)
def test_a_range_over_cases_in_words(agreed: tuple[str, ...], said: str):
    shares = {"hbm": 0.7, "ddr": 0.25, "flash": 0.04, "hdd": 0.01}
    ranges = {"hbm": (0.47, 0.99), "ddr": (0.01, 0.49), "flash": (0.0, 0.04), "hdd": (0.0, 0.01)}
    assert tiers_over_cases(shares, ranges, agreed, sum(shares[tier] for tier in agreed)) == said
    assert tiers_over_cases(None, None, (), None) == "-"


def test_one_source_that_decides_is_named():
    assert "One source decides: the price of a write for 12 h is litellm's alone." in text("gpt-6-sol").splitlines()
    assert "One source" not in text("claude-sonnet-4-5") + text("gemini-3.1-pro-preview")
    by_the_hour = replace(one("gpt-6-sol").storage[0], sole_source=SoleSource("acme", (None, 300)))
    said = deciding_source(replace(one("gpt-6-sol"), storage=(by_the_hour,)))
    assert said == "One source decides: the price of storage and a write for 5 min is acme's alone."


def test_sheets_of_one_tariff_are_counted_once():
    """The five of OpenAI that sell a cache by the lifetime ask a quarter more for half an hour and twice for twelve hours."""
    assert counted_once(one("gpt-6-sol"), everything()).startswith("openai has one tariff of 5 sheets (gpt-6-astra, gpt-6-luna, gpt-6-sol,")
    assert counted_once(one("gpt-6-sol"), everything()) in text("gpt-6-sol").splitlines()
    assert counted_once(one("kimi-k3"), everything()) == counted_once(one("gpt-5.4"), everything()) == ""


def test_a_sheet_without_cache_prices_has_no_tier():
    assert "n/a: the sheet sells neither a cache lifetime nor storage" in tiers(one("gpt-5.4"), everything())


CONTROL = NegativeControl(
    provider="acme", amount=4.5, currency="CNY", storage_price=1e-10, models=("a", "b", "c"), kv_low=5.0, kv_high=20.0
)


def test_what_weighs_against_a_reading_is_said_of_the_widest_control():
    assert caveat(()) is None
    assert caveat((replace(CONTROL, kv_high=CONTROL.kv_low),)) is None, "models of one cache say nothing"
    said = caveat((CONTROL, replace(CONTROL, provider="other", kv_high=6.0)))
    assert said.startswith("acme asks 4.5 CNY/MTok/h for 3 open models whose KV differs 4 times: a storage price says little")
    whole = "\n".join(tiers(one("gemini-3.1-pro-preview"), replace(everything(), negative_controls=Part(value=(CONTROL,)))))
    assert "\nAcme asks 4.5 CNY" in whole


def test_what_was_left_out_is_said_in_its_place():
    lacking: Part = Part(left_out="bad row")
    for changes in (
        {"negative_controls": lacking},
        {"tier_rules": lacking},
        {"drain_times": {"lecture": lacking, "range": Part(value={})}},
    ):
        assert "bad row" in "\n".join(tiers(one("gemini-3.1-pro-preview"), replace(everything(), **changes))), changes
    without = replace(one("gemini-3.1-pro-preview"), no_storage="memory_tiers.csv is empty")
    assert tiers(without, everything())[-1] == "left out: memory_tiers.csv is empty"
