"""The headline: the class of KV bytes of the time, and a price by its record alone."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import premium
from invert.estimators.cases import Case, case_of
from invert.estimators.prediction import Student
from invert.estimators.typical_kv import typical_kv
from invert.inference import infer
from invert.records import Estimate, Verdict
from invert.result import Inference
from invert.sheets.sheet import with_amounts
from tests.tools.data import shipped_data

READ, STORED = "kv_bytes_per_token", "kv_bytes_stored_per_token"


@cache
def gemini() -> Inference:
    return infer("gemini-3.1-pro")[0]


def class_of(known, day, family) -> Student:
    """Return the typical KV of a day without a family."""
    return replace(typical_kv(shipped_data())["read"], caches=tuple(known)).at(day, family)[0]


def case(name: str = "", assumptions: Assumptions = USUAL) -> Case:
    """A sheet as read; without a name that of Gemini as if nobody said when it was released."""
    if not name:
        return undated("gemini-3.1-pro", assumptions)
    found = infer(name)[0]
    return case_of(found.sheet, found.model, shipped_data(), assumptions)


def undated(name: str, assumptions: Assumptions = USUAL) -> Case:
    """A sheet as read if models.csv did not have the release of its model."""
    found = gemini() if name == "gemini-3.1-pro" else infer(name)[0]
    return case_of(found.sheet, found.model.changed(release_date=None, release_grade=""), shipped_data(), assumptions)


def both(read: Case, assumptions: Assumptions = USUAL, data: Data | None = None) -> dict[str, Estimate]:
    return premium.estimate_typical(read, data or shipped_data(), assumptions)


def ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.low, estimate.median, estimate.high


@pytest.mark.parametrize("name", ["gemini-3.1-pro", "qwen3-coder-plus", "gpt-5.4"])
def test_the_families_behind_typical_kv_are_others_and_earlier_and_make_it(name: str):
    one = infer(name)[0]
    read = case_of(one.sheet, one.model, shipped_data(), USUAL)
    for estimate, of in ((one.kv_bytes["typical"], "read"), (one.kv_bytes_stored["typical"], "stored")):
        votes = estimate.families
        assert log(estimate.median) == pytest.approx(sum(vote.weight * log(vote.kv_bytes) for vote in votes.weights), rel=1e-12)
        weights = [vote.weight for vote in votes.weights]
        assert sum(weights) == pytest.approx(1) and weights == sorted(weights, reverse=True)
        assert votes.effective == pytest.approx(sum(weights) ** 2 / sum(weight**2 for weight in weights))
        assert all(vote.released < read.day and vote.family != read.kv_family for vote in votes.weights)
        rows = [cache for cache in typical_kv(shipped_data())[of].caches if cache.released < read.day and cache.family != read.kv_family]
        assert {vote.family for vote in votes.weights} == {cache.family for cache in rows}


def opened(monkeypatch: pytest.MonkeyPatch, weight: float) -> None:
    """The premium has earned this weight."""
    verdict = Verdict(count=9, families=6, by_baseline=-1.5, by_price=-1.0, gain_of_pool=0.4, standard_error=0.1, stacked=weight)
    monkeypatch.setattr(premium, "verdict_on_premium", lambda data, assumptions: verdict)


# The class.


@pytest.mark.parametrize(("of", "low", "median", "high"), [(READ, 2.8, 20, 140), (STORED, 7.9, 44, 244)])
def test_a_model_of_today_has_the_class_of_today(of, low, median, high):
    """Worked out in a study of 2026-11-21, by other code: in kB, read and stored."""
    found = both(case())[of]
    assert found.kind == "interval" and case().day.isoformat() == "2026-10-14"
    assert [end / 1e3 for end in ends(found)] == pytest.approx([low, median, high], rel=0.02)


@pytest.mark.parametrize("name", ["qwen3-coder-plus", "deepseek-v4-pro"])
@pytest.mark.parametrize(("of", "kind"), [(READ, "read"), (STORED, "stored")])
def test_it_is_heard_from_other_families_that_were_released_earlier(name, of, kind):
    """Quantiles of scipy at the class of the caches that are left once its own family and all that is not earlier are taken out."""
    read = case(name)
    known = typical_kv(shipped_data())[kind].caches
    others = [one for one in known if one.family != read.kv_family and one.released < read.released]
    assert read.kv_family in {one.family for one in known} and len(others) < len(known) - 1
    law = class_of(others, read.released, "")
    expected = stats.t(law.freedom, law.centre, law.scale).ppf([0.05, 0.5, 0.95])
    assert np.log(ends(both(read)[of])) == pytest.approx(expected, abs=1e-4)


def test_a_class_of_one_family_is_undetermined():
    earliest: dict[str, date] = {}
    for one in typical_kv(shipped_data())["read"].caches:
        earliest[one.family] = min(one.released, earliest.get(one.family, one.released))
    first, second = sorted(earliest.values())[:2]
    for day, kind in ((first, "undetermined"), (second, "undetermined"), (second + timedelta(days=1), "interval")):
        found = both(replace(case(), released=day))
        assert {one.kind for one in found.values()} == {kind}, day
        if kind == "undetermined":
            assert all("fewer than two families" in one.because and one.median is None for one in found.values())


@settings(max_examples=15)
@given(premium=st.floats(0.5, 5), level=st.floats(0.1, 10))
def test_no_price_moves_it(premium: float, level: float):
    sheet = gemini().sheet
    amount = level * sheet.bands[0].output.amount
    other = with_amounts(sheet, {"output": repr(amount), "output@200k": repr(premium * amount)})
    assert both(case_of(other, case().model, shipped_data(), USUAL)) == both(case())


# A price that has earned its place.


@pytest.mark.parametrize("weight", [0.05, 0.4, 1.0])
def test_a_price_that_has_earned_a_weight_enters_by_a_pool(monkeypatch, weight):
    """Between its ends lies the share of both densities that their weights say, by the distributions of scipy."""
    read = case()
    price, usual = premium.predict_by_premium(read, shipped_data(), USUAL), typical_kv(shipped_data())["read"].at(read.day)[0]
    opened(monkeypatch, weight)
    found = both(read)[READ]
    by_price, by_baseline = (stats.t(one.freedom, one.centre, one.scale).cdf(np.log(ends(found))) for one in (price, usual))
    assert weight * by_price + (1 - weight) * by_baseline == pytest.approx([0.05, 0.5, 0.95], abs=1e-3)
    assert f"weight {weight:.2f}" in found.because and found.equations == premium.CITED
    assert set(found.anchors) == {"short_context", "long_context", "kv_bytes_per_token"}
    # What is stored no premium tells.
    assert "Uses no price" in both(read)[STORED].because
