"""A sheet in full: its prices as published, each reading with what it predicts, what it rests on and what to cite."""

import re
from dataclasses import replace

import pytest

from invert.report.sheet import report
from invert.result import InferenceTable

UNBROKEN = 10_000
"""Columns in which no line of a report is broken."""


def said(run: InferenceTable, name: str, **changed: object) -> str:
    return report(replace(run[name], **changed), run, UNBROKEN)


GEMINI = "google/gemini-3.1-pro-preview"


def test_the_heading_names_sheet_tier_region_and_day(run: InferenceTable):
    assert said(run, GEMINI).splitlines()[0] == "google gemini-3.1-pro-preview (standard), prices of 2026-11-20"
    sheet = replace(run[GEMINI].sheet, region="eu", service_tier="batch")
    assert said(run, GEMINI, sheet=sheet).startswith("google gemini-3.1-pro-preview (batch, eu), prices of 2026-11-20\n")


def test_prices_are_shown_as_published_with_another_currency_named(run: InferenceTable):
    rows = [re.split(r"\s{2,}", line.strip())[:2] for line in said(run, GEMINI).splitlines()]
    assert ["output", "12"] in rows and ["output above 200k", "18"] in rows and ["cache storage", "4.5/h"] in rows
    sheet = run[GEMINI].sheet
    base = replace(sheet.bands[0], output=replace(sheet.bands[0].output, currency="CNY"))
    assert "12 CNY" in said(run, GEMINI, sheet=replace(sheet, bands=(base, *sheet.bands[1:])))


def test_every_pair_of_bands_has_its_readings_and_its_place_where_there_are_several(run: InferenceTable):
    several, single = said(run, "alibaba/qwen3-coder-plus"), said(run, GEMINI)
    places = [f"KV bytes from the threshold at {place}" for place in ("32k tokens", "128k tokens", "256k tokens")]
    assert [several.count(place) for place in places] == [1, 1, 1] and several.index(places[0]) < several.index(places[2])
    assert "KV bytes from the threshold, as the lecture reads it" in single
    assert "one price for all lengths, so it has no threshold and no premium" in said(run, "deepseek/deepseek-v4-pro")


def test_a_joint_reading_that_is_none_says_why(run: InferenceTable):
    pair = run[GEMINI].pairs[0]
    without = replace(pair, joint=replace(pair.joint, values={}, problem="the output premium is too low"))
    text = said(run, GEMINI, pairs=(without,))
    assert "no reading: the output premium is too low" in text and "Nothing is clipped" in text
    assert "no reading:" not in said(run, GEMINI)


@pytest.mark.parametrize("name", [GEMINI, "deepseek/deepseek-v4-pro"])
def test_a_report_ends_with_what_to_cite(run: InferenceTable, name: str):
    ids = " ".join(id.split("@")[0] for id in run[name].equations)
    assert said(run, name).endswith(f"\ncite  backsolve cite {run[name].name} {ids}")
