"""The records of the price side: lines at a prompt, verdicts, swings, and estimates of every kind."""

from dataclasses import replace
from math import inf, log

import pytest

from invert.assumptions import USUAL
from invert.inference import infer
from invert.records import (
    Apart,
    Bounds,
    Check,
    Estimate,
    Held,
    Judgement,
    Misreading,
    Record,
    Swing,
    Verdict,
    drop_unchecked_level,
    given_value,
    interval,
    lower,
    point_estimate,
    undetermined,
    upper,
    verdict,
)


def test_a_sheet_and_its_estimates_are_a_line_each():
    table = infer(["gpt-5.4", "gemini-3.1-pro", "kimi-k3"])
    shown = "google/gemini-3.1-pro-preview (standard) on 2026-11-20: 2 in, 12 out USD/MTok, 2 bands"
    assert str(table[1].sheet) == shown
    for one in table:
        for shown in (str(one.sheet), *map(str, (*one.kv_bytes.values(), *one.estimates.values()))):
            assert shown and "\n" not in shown and len(shown) <= 100


def test_a_verdict_is_made_of_the_unused_checks_alone():
    def made(*checks: Check) -> str:
        return verdict(tuple(checks))

    used_and_wrong = Check(component="premium_in", published=2, predicted=1, used_by_reading=True, inside_rounding_cell=False)
    met, missed = (
        Check(component="storage_price", published=1, predicted=1, used_by_reading=False, inside_rounding_cell=True),
        Check(component="storage_price", published=1, predicted=9, used_by_reading=False, inside_rounding_cell=False),
    )
    bound, broken = (
        Check(component="cache_read_price", published=1, predicted=0.1, used_by_reading=False, inside_rounding_cell=True, bound=True),
        Check(component="cache_read_price", published=1, predicted=9, used_by_reading=False, inside_rounding_cell=False, bound=True),
    )
    assert made() == made(used_and_wrong) == "not testable"
    assert made(used_and_wrong, bound) == "pass (bound only)"
    assert made(used_and_wrong, bound, met) == made(met) == "pass"
    assert made(met, broken) == made(missed, bound) == made(met, missed) == "fail"


def test_an_end_that_contradicts_the_model_is_the_widest():
    assert Swing("overlap", 0.5, None).width == inf > Swing("overlap", 0.01, 100).width
    assert Swing("overlap", 0.5, 2.0).width == pytest.approx(log(4)) == Swing("overlap", 2.0, 0.5).width


def test_an_estimate_has_the_numbers_of_its_kind_and_no_other():
    ids = ("bands.price@1",)
    made = {
        "interval": (interval(USUAL, 1.0, 2.0, 4.0, "so", equations=ids), (2.0, 1.0, 4.0)),
        "upper": (upper(USUAL, 4.0, "so"), (None, None, 4.0)),
        "lower": (lower(USUAL, 1.0, "so"), (None, 1.0, None)),
        "point": (point_estimate(USUAL, 2.0, "so", equations=ids), (2.0, None, None)),
        "given": (given_value(USUAL, 2.0, "kv_bytes_per_token"), (2.0, 2.0, 2.0)),
        "undetermined": (undetermined(USUAL, "so"), (None, None, None)),
    }
    for kind, (one, numbers) in made.items():
        assert (one.kind, (one.median, one.low, one.high), one.level) == (kind, numbers, 0.90)
    assert made["undetermined"][0] == Estimate(kind="undetermined", because="so")


def test_what_was_never_held_against_the_truth_is_at_no_level():
    one = interval(USUAL, 1.0, 2.0, 4.0, "so", equations=())
    judged = replace(one, record=Record(
        count=9, groups=6, rms=1.0, rms_of_class=1.0, gain=0.0, standard_error=1.0, interval=(-1.0, 1.0),
        held=(Held(level=0.9, held=3, count=9, low=0.1, high=0.6),),
    ))  # fmt: skip
    bound = replace(upper(USUAL, 4.0, "so"), bounds=Bounds(count=9, held=6, held_at_one_byte=9, least=0.6, median=5.5, most=84.0))
    assert drop_unchecked_level(judged) is judged and drop_unchecked_level(bound) is bound
    assert drop_unchecked_level(one) == replace(one, level=None) and str(drop_unchecked_level(one)) == "2 (1-4)"
    assert str(drop_unchecked_level(upper(USUAL, 4.0, "so"))) == "< 4"
    assert str(judged) == "2 (1-4) at 90 %, right for 3 of 9" and str(bound) == "< 4 at 90 %, right for 6 of 9"
    # Ranges of another level were not counted.
    assert drop_unchecked_level(replace(judged, level=0.98)).level is None


@pytest.mark.parametrize(("contraction", "by_prior"), [(None, False), (0.0, True), (0.299, True), (0.3, False), (0.9, False)])
def test_what_the_sheet_hardly_narrowed_is_dominated_by_the_prior(contraction, by_prior):
    assert interval(USUAL, 1.0, 2.0, 4.0, "so", equations=(), contraction=contraction).prior_dominated is by_prior
    assert upper(USUAL, 4.0, "so", contraction=contraction).prior_dominated is by_prior
    assert lower(USUAL, 1.0, "so", contraction=contraction).prior_dominated is by_prior


def test_what_follows_from_a_record_is_told_with_it():
    assert (
        Misreading(models=9, medians=9, bias=log(0.25), sd=1.0).share == pytest.approx(0.25)
        and Misreading(models=9, medians=1, bias=None, sd=None).share is None
    )
    verdict_on = {"count": 9, "families": 6, "gain_of_pool": 0.0, "standard_error": 0.1, "stacked": 0.0}
    assert Verdict(by_class=-1.5, by_price=-1.0, **verdict_on).gain_of_price == 0.5
    assert Apart(factor=10.0).nats == log(10.0)
    judged = Judgement(model="m", by="x", truth=2.0, low=1.0, median=3.0, high=8.0, level=0.9)
    assert judged.ratios_to_truth == (0.5, 1.5, 4.0) and judged.held


def test_the_share_of_agreed_tiers_is_that_of_each_of_them_together():
    (sold,) = infer(["gemini-3.1-pro"])[0].storage
    assert sold.agreed == sold.undisclosed_agreed == ("hbm", "ddr")
    assert sold.agreed_share == sold.undisclosed_agreed_share == pytest.approx(sold.probabilities["hbm"] + sold.probabilities["ddr"])
    nothing = replace(sold, probabilities=None, undisclosed=None)
    assert nothing.agreed_share is None and nothing.undisclosed_agreed_share is None
