"""The storage tier in a report: two cost bases beside what the vendor says, and the lecture's rule as a panel with its score."""

import re
from dataclasses import replace
from functools import cache

import pytest

from invert.inference import infer
from invert.records import SoleSource
from invert.report.tiers import counted_once, deciding_source, tiers, tiers_over_cases
from invert.result import Inference, InferenceTable
from invert.storage.tiers import TIERS
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("tiered_sonnet")


@cache
def everything() -> InferenceTable:
    return infer(["gemini-3.1-pro-preview", "kimi-k3", "claude-sonnet-4-5", "gpt-5.4", "gpt-6-sol"])


def one(name: str) -> Inference:
    return next(one for one in everything() if one.sheet.model == name)


def text(name: str) -> str:
    return "\n".join(tiers(one(name), everything()))


def test_both_cost_bases_stand_beside_what_the_vendor_says():
    lines = tiers(one("claude-sonnet-4-5"), everything())
    header = next(line for text in lines for line in text.splitlines() if line.startswith("lifetime"))
    assert re.split(r"\s{3,}", header) == ["lifetime", "from", "prices alone, by cost basis and year", "vendor says", "answer"]
    rows = [line for text in lines for line in text.splitlines() if re.match(r"(5 min|1 h) {3}", line)]
    assert len(rows) == 6 and all("   memory   " in row and "implied drain time" in row for row in rows[:2])
    bases = ("rented HBM, owned rest", "all owned")
    assert [re.split(r"\s{3,}", row)[:2] for row in rows[2:]] == [[ttl, basis] for ttl in ("5 min", "1 h") for basis in bases]


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
