"""KV from premium at the price/cost of known models."""

from functools import cache
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import premium
from invert.estimators.cases import Case, case_of
from invert.inference import infer
from invert.records import Estimate
from invert.result import Inference
from invert.sheets.sheet import with_amounts
from tests.tools.data import shipped_data


@cache
def one(name: str) -> Inference:
    return infer(name)[0]


def case(name: str = "gemini-3.1-pro") -> Case:
    return case_of(one(name).sheet, one(name).model, shipped_data(), USUAL)


def read(of: Case, assumptions: Assumptions = USUAL, data: Data | None = None) -> Estimate:
    return premium.estimate_calibrated(of, data or shipped_data(), assumptions)["kv_bytes_per_token"]


def priced(*outputs: float) -> Case:
    """Gemini's sheet with other output prices in its bands [USD/Mtok]."""
    sheet = with_amounts(one("gemini-3.1-pro").sheet, dict(zip(("output", "output@200k"), map(repr, outputs), strict=True)))
    return case_of(sheet, one("gemini-3.1-pro").model, shipped_data(), USUAL)


def of_families(left_out: str = "") -> list[float]:
    """ln(KV bytes at cost / true), each family by the mean of its sheets."""
    by_family: dict[str, list[float]] = {}
    for member in premium.members(shipped_data()):
        if member.family != left_out:
            by_family.setdefault(member.family, []).append(np.log(member.premium_at_cost.median / member.kv_bytes_per_token))
    return [fmean(logs) for logs in by_family.values()]


@pytest.mark.parametrize(
    ("name", "family", "count"),
    [("gemini-3.1-pro", "", 6), ("qwen3-coder-plus", "qwen3", 5), ("MiniMax-M3", "minimax-m3", 5), ("qwen3.5-plus", "qwen3-next", 5)],
)
def test_increments_are_taken_at_the_mark_up_of_other_families(name, family, count):
    """One more of so many families: Student's t of scipy about their mean, sd sqrt(1 + 1/n), a degree less than families."""
    logs = of_families(family)
    law = stats.t(count - 1, np.log(at_rent_of(case(name))) - fmean(logs), stdev(logs) * np.sqrt(1 + 1 / count))
    found = read(case(name))
    assert len(logs) == count and f"{count} families" in found.because and found.kind == "interval"
    assert np.log([found.low, found.median, found.high]) == pytest.approx(law.ppf([0.05, 0.5, 0.95]), abs=1e-4)
    assert found.contraction is None and not found.prior_dominated
    assert set(found.anchors) == {"short_context", "long_context"} and "bands.kv_bytes_from_increment@1" in found.equations


def at_rent_of(of: Case) -> float:
    return premium.estimate_at_cost(of, shipped_data(), USUAL)["kv_bytes_per_token"].median


@settings(max_examples=15)
@given(low=st.floats(1.05, 3), more=st.floats(1.01, 2))
def test_a_higher_premium_never_means_less_kv(low: float, more: float):
    less, above, most = (read(priced(12, 12 * premium)).median for premium in (low, low * more, 3 * low))
    assert less <= above and less < most


@pytest.mark.parametrize("outputs", [(12, 12), (12, 9)], ids=["a premium of 1", "a premium below 1"])
def test_without_a_premium_it_says_nothing(outputs):
    found = read(priced(*outputs))
    assert (found.kind, found.median, found.low, found.high) == ("undetermined", None, None, None)
    assert "no output premium that rises with length" in found.because
