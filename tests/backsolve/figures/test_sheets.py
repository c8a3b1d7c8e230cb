"""Figures of prices: what is drawn are the numbers of the records, in the units of the axes."""

from dataclasses import replace

import numpy as np
import pytest

from backsolve.figures.sheets import (
    cost_context,
    kv_by_estimator,
    predicted_against_true,
    predicted_over_true,
    size_price,
    tier_map,
    tornado,
)
from derive.errors import NotCovered
from derive.show.chart import Chart, Mark
from invert.data import read_data
from invert.estimators.panel import listed_models
from invert.inference import infer
from invert.records import JudgedPrediction
from invert.result import Inference, InferenceTable

GEMINI, QWEN, OPUS = 0, 1, 2


@pytest.fixture(scope="module")
def run() -> InferenceTable:
    return infer(["gemini-3.1-pro-preview", "qwen3-coder-plus", "claude-opus-5", "deepseek/deepseek-v4-pro", "kimi-k3"])


def mark(chart: Chart, begins: str) -> Mark:
    return next(one for one in chart.marks if one.name.startswith(begins))


def sheet(run: InferenceTable, place: int) -> Inference:
    return [*run][place]


def test_every_estimator_has_its_range_against_the_class(run: InferenceTable):
    one = sheet(run, GEMINI)
    chart = kv_by_estimator(one)
    found = mark(chart, "median")
    expected = [end for each in one.kv_bytes.values() for end in (each.low, each.high)]
    assert [end for ends in found.ends for end in ends] == pytest.approx(expected)
    headline = one.kv_bytes["typical"]
    assert mark(chart, "range of the typical KV").ends[0] == pytest.approx((headline.low, headline.high))
    read = mark(chart, "reading without").xs
    assert read == pytest.approx([part.values["kv_bytes_per_token"] for part in (one.pairs[0].lecture, one.pairs[0].joint)])


def test_a_sheet_lies_at_its_price_beside_the_panel(run: InferenceTable):
    models, one = listed_models(read_data()), sheet(run, GEMINI)
    found = mark(size_price([one]), "estimate")
    assert found.xs == pytest.approx((2e-6,)) and found.ys[0] == one.by_price["active_params"].median
    assert len(mark(size_price(), f"{len(models)} open models").xs) == len(models)
    assert mark(size_price([*run]), "price sheets").ends == ()


def test_prices_step_at_the_threshold(run: InferenceTable):
    one = sheet(run, GEMINI)
    chart = cost_context(one)
    assert mark(chart, "output price").xs[1:3] == (200e3, 200e3) and mark(chart, "output price").ys == pytest.approx(
        (12e-6, 12e-6, 18e-6, 18e-6)
    )
    assert [rule.name for rule in chart.rules] == ["200k tokens"]
    flat = sheet(run, OPUS)
    assert any("No curve: one price" in text for text in cost_context(flat).said)


def test_the_curve_meets_both_bands_at_their_means(run: InferenceTable):
    one = sheet(run, GEMINI)
    chart, pair = cost_context(one), one.pairs[0].pair
    for side in ("output", "input"):
        curve = mark(chart, f"{side} at one price/cost")
        assert one.model and (curve.xs[0], curve.xs[-1]) == pytest.approx((1e3, one.model.max_context))
        for mean, band in zip((pair.short_context, pair.long_context), one.sheet.bands, strict=True):
            assert np.interp(mean, curve.xs, curve.ys) == pytest.approx(getattr(band, side).usd_per_token, rel=1e-3)


def test_lifetimes_lie_at_their_hold_time_and_extra_price(run: InferenceTable):
    one = sheet(run, OPUS)
    found = mark(tier_map(one), "price of a write")
    base = one.sheet.bands[0].input.usd_per_token
    writes = one.observables.cache_write_premiums
    assert found.xs == tuple(write.ttl_seconds for write in writes)
    assert found.ys == pytest.approx([write.premium * base for write in writes]) and found.beside == ("kept 5 min", "kept 1 h")
    stored = mark(tier_map(sheet(run, GEMINI)), "storage")
    assert stored.ys[-1] / stored.xs[-1] == pytest.approx(sheet(run, GEMINI).observables.storage_price.value)


def test_a_bar_reaches_from_the_central_value_to_the_end(run: InferenceTable):
    one = sheet(run, GEMINI)
    chart = tornado(one)
    swings = [swing for swing in one.swings["from_all_prices"] if swing.low and swing.high]
    for side, name in ((swings[0].low, "at the low end"), (swings[0].high, "at its high end")):
        assert sorted((side, 1.0)) == pytest.approx(mark(chart, name).ends[0])
    assert chart.up.rows[0] == swings[0].name.replace("_", " ")
    wide = tornado(replace(one, assumptions=replace(run.assumptions, level=0.98)))
    assert chart.said[0].endswith("at either end of its 90% range") and wide.said[0].endswith("at either end of its 98% range")
    with pytest.raises(NotCovered, match="no tornado"):
        tornado(sheet(run, OPUS))


def judgement(model: str, by: str, truth: float, low: float, high: float) -> JudgedPrediction:
    return JudgedPrediction(model=model, by=by, truth=truth, low=low, median=(low * high) ** 0.5, high=high, level=0.9)


def test_what_is_right_lies_on_the_line_and_over_one():
    judged = [judgement("A", "rent", 4e9, 1e9, 16e9), judgement("B", "rent", 1e9, 2e9, 8e9), judgement("A", "class", 4e9, 4e9, 9e9)]
    against = predicted_against_true("Size", "active_params", judged[:2])
    assert against.marks[0].name == "1 of 2 ranges of 90% were right" and against.marks[0].xs[0] == pytest.approx(against.marks[0].ys[0])
    over = predicted_over_true("Size", judged)
    assert over.up.rows == ("A", "B") and [one.ys for one in over.marks] == [(0.0, 1.0), (0.0,)]
    assert over.marks[0].xs[0] == pytest.approx(1.0) and over.marks[0].ends[1] == pytest.approx((2.0, 8.0))
