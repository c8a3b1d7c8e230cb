"""One model at two prices: what rests on no price does not move, and what is read off prices moves by what the estimates say."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import log

import pytest

from derive.tables.shipped import rows_of
from invert.data import read_data
from invert.inference import infer
from invert.records import Estimate
from invert.sheets.rows import NaturalExperiment
from invert.validation.experiments import Retest, experiment_rows, retests


@cache
def rows() -> dict[str, dict[str, object]]:
    return {str(row["estimate"]): row for row in experiment_rows(read_data())}


@pytest.mark.slow
def test_both_sheets_of_every_experiment_can_be_read():
    assert rows()["bandwidth_bound_fraction"]["experiments"] == len(rows_of(NaturalExperiment)) >= 17


@pytest.mark.slow
def test_what_rests_on_no_price_does_not_move_and_what_does_moves():
    assert rows()["typical KV"]["rms"] == 0.0 and str(rows()["typical KV"]["most"]) == "0.0"
    assert rows()["typical KV"]["right"] is None and rows()["typical KV"]["of"] == "no price that changed"
    assert rows()["memory_time_share"]["right"] == 17
    assert all(float(str(rows()[name]["rms"])) > 0.3 for name in ("active_params, by price", "KV from all prices"))


def test_a_move_is_that_of_the_two_sheets():
    """gpt-5.6-luna at a fifth of its price: input at rent falls by ln 5 where the size by price does not take part."""
    day = date(2026, 7, 30)
    before, after = (
        infer("gpt-5.6-luna", as_of=of)[0].estimates["active_params_times_price_cost_ratio"] for of in (day - timedelta(days=1), day)
    )
    (row,) = [row for row in rows_of(NaturalExperiment) if (row.model, row.date) == ("gpt-5.6-luna", day)]
    (found,) = [one for one in retests([row], read_data()) if one.quantity == "active_params_times_price_cost_ratio"]
    assert found.moved == pytest.approx(log(after.median / before.median)) == pytest.approx(-log(5), abs=0.1)


def test_held_and_moved_are_of_medians_and_of_the_first_range():
    (row, *_) = rows_of(NaturalExperiment)
    wide, narrow = Estimate(kind="interval", median=2.0, low=1.0, high=4.0), Estimate(kind="interval", median=5.0, low=4.0, high=6.0)
    assert (
        Retest(quantity="q", experiment=row, before=wide, after=narrow).moved == pytest.approx(log(2.5))
        and not Retest(quantity="q", experiment=row, before=wide, after=narrow).right
    )
    assert Retest(quantity="q", experiment=row, before=wide, after=replace(narrow, median=3.9)).right
    bound = Estimate(kind="upper", high=2.0)
    assert (
        Retest(quantity="q", experiment=row, before=wide, after=bound).moved is None
        and not Retest(quantity="q", experiment=row, before=bound, after=wide).right
    )
