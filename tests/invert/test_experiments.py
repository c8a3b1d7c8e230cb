"""One model at two prices: what rests on no price does not move, and what is read off prices moves by what the estimates say."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import log

import pytest

from derive.shipped import rows_of
from derive.shipped_rows import NaturalExperiment
from invert.data import read_data
from invert.experiments import Retest, estimates_of, experiment_rows, retests
from invert.inference import infer
from invert.records import Estimate


@cache
def rows() -> dict[str, dict[str, object]]:
    return {str(row["estimate"]): row for row in experiment_rows(read_data())}


def test_both_sheets_of_every_experiment_can_be_read():
    assert rows()["bandwidth_bound_fraction"]["experiments"] == len(rows_of(NaturalExperiment)) >= 15


def test_what_rests_on_no_price_does_not_move_and_what_does_moves():
    assert rows()["KV read"]["rms"] == 0.0
    assert all(float(str(rows()[name]["rms"])) > 0.3 for name in ("active_params, by price", "KV one mark-up", "KV at rent"))


def test_a_price_of_a_day_before_the_release_is_not_compared():
    (row,) = [row for row in rows_of(NaturalExperiment) if (row.model, str(row.date)) == ("mistral-large-4", "2026-10-20")]
    assert retests([replace(row, date=date(2026, 9, 2))]) and retests([replace(row, date=date(2026, 9, 1))]) == []


def test_a_move_is_that_of_the_two_sheets():
    """gpt-5.6-luna at a fifth of its price: input at rent falls by ln 5 where the size by price does not take part."""
    day = date(2026, 7, 30)
    before, after = (infer("gpt-5.6-luna", as_of=of)[0].estimates["active_params_times_markup"] for of in (day - timedelta(days=1), day))
    (row,) = [row for row in rows_of(NaturalExperiment) if (row.model, row.date) == ("gpt-5.6-luna", day)]
    (found,) = [one for one in retests([row]) if one.quantity == "active_params_times_markup"]
    assert found.moved == pytest.approx(log(after.median / before.median)) == pytest.approx(-log(5), abs=0.1)


def test_a_premium_that_ends_takes_its_readings_along():
    assert rows()["KV one mark-up"]["lost"] == rows()["KV at rent"]["lost"] == 3


def test_held_and_moved_are_of_medians_and_of_the_first_range():
    (row, *_) = rows_of(NaturalExperiment)
    wide, narrow = Estimate("interval", median=2.0, low=1.0, high=4.0), Estimate("interval", median=5.0, low=4.0, high=6.0)
    assert Retest("q", row, wide, narrow).moved == pytest.approx(log(2.5)) and not Retest("q", row, wide, narrow).held
    assert Retest("q", row, wide, replace(narrow, median=3.9)).held
    bound = Estimate("upper", high=2.0)
    assert Retest("q", row, wide, bound).moved is None and not Retest("q", row, bound, wide).held


def test_a_day_that_no_price_changed_on_is_no_experiment_and_an_unknown_model_is_left_out():
    (row, *_) = rows_of(NaturalExperiment)
    same = [one for one in retests([replace(row, model="gpt-5.4", provider="openai", date=date(2026, 11, 20))]) if one.moved]
    assert same == [] and retests([replace(row, model="nobody")]) == []


def test_estimates_are_all_that_has_a_range():
    names = {*estimates_of(infer("gemini-3.1-pro")[0])}
    assert {"active_params, by price", "KV read", "bandwidth_bound_fraction"} <= names
