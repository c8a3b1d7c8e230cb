"""The records of the price side: lines at a prompt, verdicts, swings, and estimates of every kind."""

from functools import partial
from math import inf, log

import pytest

from invert.inference import infer
from invert.records import Check, Estimate, Swing, finished_estimate, verdict

CHECK = partial(Check, place=("input", 0, None))


def test_a_verdict_is_made_of_the_unused_checks_alone():
    def made(*checks: Check) -> str:
        return verdict(tuple(checks))

    used_and_wrong = CHECK(component="premium_in", published=2, predicted=1, used_by_reading=True, inside_rounding_cell=False)
    met, missed = (
        CHECK(component="storage_price", published=1, predicted=1, used_by_reading=False, inside_rounding_cell=True),
        CHECK(component="storage_price", published=1, predicted=9, used_by_reading=False, inside_rounding_cell=False),
    )
    bound, broken = (
        CHECK(component="cache_read_price", published=1, predicted=0.1, used_by_reading=False, inside_rounding_cell=True, bound=True),
        CHECK(component="cache_read_price", published=1, predicted=9, used_by_reading=False, inside_rounding_cell=False, bound=True),
    )
    assert made() == made(used_and_wrong) == "not testable"
    assert made(used_and_wrong, bound) == "pass (bound only)"
    assert made(used_and_wrong, bound, met) == made(met) == "pass"
    assert made(met, broken) == made(missed, bound) == made(met, missed) == "fail"


def test_an_end_that_contradicts_the_model_is_the_widest():
    assert Swing("overlap", 0.5, None).width == inf > Swing("overlap", 0.01, 100).width
    assert Swing("overlap", 0.5, 2.0).width == pytest.approx(log(4)) == Swing("overlap", 2.0, 0.5).width


@pytest.mark.parametrize(("contraction", "by_prior"), [(None, False), (0.0, True), (0.299, True), (0.3, False), (0.9, False)])
def test_what_the_sheet_hardly_narrowed_is_dominated_by_the_prior(contraction, by_prior):
    for kind in ("interval", "upper", "lower"):
        assert finished_estimate("batch", Estimate(kind=kind, contraction=contraction)).prior_dominated is by_prior


def test_the_share_of_agreed_tiers_is_that_of_each_of_them_together():
    (sold,) = infer(["gemini-3.1-pro"])[0].storage
    assert sold.answer == sold.by_price and sold.answer.agreed == ("hbm", "ddr")
    assert sold.answer.agreed_share == pytest.approx(sold.answer.probabilities["hbm"] + sold.answer.probabilities["ddr"])
