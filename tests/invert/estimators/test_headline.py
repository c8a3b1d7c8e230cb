"""The headline: increments at rent, once the models of known architecture are heard."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invert.assumptions import USUAL
from invert.estimators.cases import case_of
from invert.estimators.headline import calibrated_on_known, estimates
from invert.inference import infer
from invert.records import Estimate, PriceSheet, interval, undetermined, upper
from invert.result import Inference
from tests.tools.data import shipped_data


@cache
def gemini() -> Inference:
    return infer("gemini-3.1-pro")[0]


def headline(sheet: PriceSheet, max_context: int) -> Estimate:
    """What the increments of a sheet say once known models have been heard."""
    row = replace(gemini().model, max_context=max_context, architecture="")
    return estimates(case_of(sheet, row, shipped_data(), USUAL), shipped_data(), USUAL)["kv_bytes_per_token"]


@settings(max_examples=15)
@given(low=st.floats(1.05, 3), more=st.floats(1.01, 2))
def test_a_higher_premium_never_means_less_calibrated_kv(low: float, more: float):
    found = gemini()
    base, above = found.sheet.bands

    def read(premium: float) -> Estimate:
        output = replace(above.output, amount=premium * base.output.amount, usd_per_token=premium * base.output.usd_per_token)
        sheet = replace(found.sheet, bands=(base, replace(above, output=output)))
        return headline(sheet, found.model.max_context)

    assert read(low * more).median >= read(low).median
    assert read(3 * low).median > read(low).median


def test_what_is_undetermined_at_rent_stays_so():
    nothing = undetermined(USUAL, "no rent is known")
    assert calibrated_on_known(nothing, None, shipped_data(), USUAL) is nothing


def test_a_bound_at_rent_stays_a_bound_and_a_distant_one_says_nothing_new():
    near, far, farther = (calibrated_on_known(upper(USUAL, high, "so"), None, shipped_data(), USUAL) for high in (1e4, 1e9, 1e12))
    assert {near.kind, far.kind, farther.kind} == {"upper"}
    assert near.high < far.high == pytest.approx(farther.high, rel=1e-3)


def test_an_increment_is_drawn_towards_the_caches_that_are_known():
    """From far below and from far above, and never past where it came from."""
    low, high = (
        calibrated_on_known(interval(USUAL, 0.9 * at, at, 1.1 * at, "so", equations=()), None, shipped_data(), USUAL) for at in (1e3, 1e8)
    )
    assert 1e3 < low.median < high.median < 1e8
    assert low.kind == high.kind == "interval" and "kv_bytes_per_token" in low.anchors


def test_given_kv_bytes_stand_in_its_place():
    known = replace(USUAL, kv_bytes_per_token=7e4, given=("kv_bytes_per_token",))
    found = estimates(case_of(gemini().sheet, gemini().model, shipped_data(), known), shipped_data(), known)["kv_bytes_per_token"]
    assert (found.kind, found.median, found.anchors) == ("given", 7e4, ("kv_bytes_per_token",))
