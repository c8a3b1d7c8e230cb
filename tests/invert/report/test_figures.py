"""Figures of prices: what is drawn are the numbers of the records, in the units of the axes."""

import pytest

from derive.show.chart import Chart, Mark
from invert.data import read_data
from invert.estimators.market.line import size_line
from invert.report.figures import (
    kv_by_estimator,
    size_price,
)
from invert.result import Inference, InferenceTable

GEMINI, QWEN, OPUS = 0, 1, 2


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
    headline = one.kv_bytes["headline"]
    assert mark(chart, "range of the class").ends[0] == pytest.approx((headline.low, headline.high))
    read = mark(chart, "reading without").xs
    assert read == pytest.approx([part.values["kv_bytes_per_token"] for part in (one.pairs[0].lecture, one.pairs[0].joint)])


def test_a_sheet_lies_at_its_price_beside_the_panel(run: InferenceTable):
    line, one = size_line(read_data()), sheet(run, GEMINI)
    found = mark(size_price([one]), "what the price suggests")
    assert found.xs == pytest.approx((2e-6,)) and found.ys[0] == one.market["active_params"].median
    assert len(mark(size_price(), f"{len(line.models)} open models").xs) == len(line.models)
    assert mark(size_price([*run]), "sheets").ends == ()
