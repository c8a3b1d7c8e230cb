"""The storage tier in a report: two cost bases beside what the vendor says, and the lecture's rule as a panel with its score."""

import re
from dataclasses import replace
from functools import cache
from math import exp

import pytest

from invert.estimators import calibration
from invert.inference import infer
from invert.records import LeftOut, NegativeControl
from invert.report.tiers import caveat, tiers
from invert.result import Inference
from invert.storage.tariffs import scoreboard
from invert.table import InferenceTable
from tests.tools.data import shipped_data

pytestmark = pytest.mark.usefixtures("tiered_sonnet")


@cache
def everything() -> InferenceTable:
    return infer(["gemini-3.1-pro-preview", "kimi-k3", "claude-sonnet-4-5", "gpt-5.4"])


def one(name: str) -> Inference:
    return next(one for one in everything() if one.sheet.model == name)


def text(name: str) -> str:
    return "\n".join(tiers(one(name), everything()))


@pytest.mark.parametrize("name", ["kimi-k3", "claude-sonnet-4-5"])
def test_the_lecture_s_rule_is_a_panel_with_its_score(name: str):
    usual = calibration.learn(shipped_data()).reference
    scores = {row.rule: row for row in scoreboard(shipped_data(), (exp(usual.mean), usual.predictive_sd))}
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
    assert re.split(r"\s{3,}", header) == ["lifetime", "rented", "owned", "prices alone", "from", "vendor says", "answer"]
    rows = [line for text in lines for line in text.splitlines() if re.match(r"(5 min|1 h) {3}", line)]
    assert len(rows) == 6 and all("   memory   " in row and "implied drain time" in row for row in rows[:2])
    assert [re.split(r"\s{3,}", row)[:2] for row in rows[2:]] == [[ttl, basis] for ttl in ("5 min", "1 h") for basis in ("rented", "owned")]


def test_each_cost_basis_is_shown_at_the_hardware_prices_of_both_years():
    (sold,) = one("gemini-3.1-pro-preview").storage
    (line,) = [line for line in text("gemini-3.1-pro-preview").splitlines() if re.match(r"per hour +owned ", line)]
    for case in (case for case in sold.cases if case.basis == "owned"):
        assert f"HBM {case.probabilities['hbm']:.0%}" in line


def test_a_sheet_without_cache_prices_has_no_tier():
    assert "n/a: the sheet sells neither a cache lifetime nor storage" in tiers(one("gpt-5.4"), everything())


CONTROL = NegativeControl("acme", 4.5, "CNY", 1e-10, ("a", "b", "c"), 5.0, 20.0)


def test_what_weighs_against_a_reading_is_said_of_the_widest_control():
    assert caveat(()) is None
    assert caveat((replace(CONTROL, kv_high=CONTROL.kv_low),)) is None, "models of one cache say nothing"
    said = caveat((CONTROL, replace(CONTROL, provider="other", kv_high=6.0)))
    assert said.startswith("acme asks 4.5 CNY/MTok/h for 3 open models whose KV differs 4 times: a storage price says little")
    whole = "\n".join(tiers(one("gemini-3.1-pro-preview"), replace(everything(), negative_controls=(CONTROL,))))
    assert "\nAcme asks 4.5 CNY" in whole


def test_what_was_left_out_is_said_in_its_place():
    lacking = LeftOut("bad row")
    for changes in ({"negative_controls": lacking}, {"tier_rules": lacking}, {"drain_times": {"lecture": lacking, "range": {}}}):
        assert "bad row" in "\n".join(tiers(one("gemini-3.1-pro-preview"), replace(everything(), **changes))), changes
    without = replace(one("gemini-3.1-pro-preview"), no_storage="memory_tiers.csv is empty")
    assert tiers(without, everything())[-1] == "left out: memory_tiers.csv is empty"
