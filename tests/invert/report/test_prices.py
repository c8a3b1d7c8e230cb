"""The storage tier in a report: two cost bases beside what the vendor says, and the lecture's rule as a panel with its score."""

import re
from functools import cache

import pytest

from invert.inference import infer
from invert.report.tiers import tier_section
from invert.result import Inference, InferenceTable

pytestmark = pytest.mark.usefixtures("tiered_sonnet")


@cache
def everything() -> InferenceTable:
    return infer(["gemini-3.1-pro-preview", "kimi-k3", "claude-sonnet-4-5", "gpt-5.4", "gpt-6-sol"])


def one(name: str) -> Inference:
    return next(one for one in everything() if one.sheet.model == name)


def text(name: str) -> str:
    return "\n".join(tier_section(one(name), everything()))


def test_both_cost_bases_stand_beside_what_the_vendor_says():
    lines = tier_section(one("claude-sonnet-4-5"), everything())
    header = next(line for text in lines for line in text.splitlines() if line.startswith("lifetime"))
    assert re.split(r"\s{3,}", header) == ["lifetime", "from", "prices alone, by cost basis and year", "vendor says", "answer"]
    rows = [line for text in lines for line in text.splitlines() if re.match(r"(5 min|1 h) {3}", line)]
    assert len(rows) == 12 and all("   memory   " in row and "implied drain time" in row for row in rows[:2])
    bases = ("rented HBM, owned rest", "all owned")
    cases = [(ttl, basis, year) for ttl in ("5 min", "1 h") for basis in bases for year in ("2025", "2026")]
    assert [tuple(re.split(r"\s{3,}", row)[:3]) for row in rows[2:10]] == cases


def test_a_sheet_without_cache_prices_has_no_tier():
    assert "n/a: the sheet has no price for a cache lifetime or for storage" in tier_section(one("gpt-5.4"), everything())
