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
    assert "One price for all lengths: there is no threshold and no premium" in said(run, "deepseek/deepseek-v4-pro")


def test_a_joint_reading_that_is_none_says_why(run: InferenceTable):
    pair = run[GEMINI].pairs[0]
    without = replace(pair, joint=replace(pair.joint, values={}, problem="the output premium is too low"))
    text = said(run, GEMINI, pairs=(without,))
    assert "no reading: the output premium is too low" in text and "Nothing is clipped" in text
    assert "no reading:" not in said(run, GEMINI)


def test_readings_are_held_against_each_other_only_at_one_size(run: InferenceTable):
    """The lecture takes 100B active where nobody states how many there are, the joint reading as many as the price suggests."""
    unstated, stated = said(run, GEMINI), said(run, "alibaba/qwen3-coder-plus")
    assert "KV from threshold, with 100B active as the lecture has it, is 1.67 kB/token and KV joint" in unstated
    assert re.search(r"1\.88 kB/token, with 63B by its price\.", unstated) and "times the lecture's" not in unstated
    assert "KV from threshold uses 100B active_params" in unstated and "KV from threshold uses" not in stated
    assert re.search(r"On the same anchors, KV from threshold is 3\.65 kB/token .* \(2\.8 times the lecture's\)\.", stated)


def test_what_was_changed_stands_under_the_heading(run: InferenceTable):
    text = report(run[GEMINI], replace(run, changes={"output": "20"}), UNBROKEN)
    assert text.splitlines()[1] == "what if: output = 20, in place of the published amount"


@pytest.mark.parametrize("name", [GEMINI, "deepseek/deepseek-v4-pro"])
def test_a_report_ends_with_what_to_cite(run: InferenceTable, name: str):
    ids = " ".join(id.split("@")[0] for id in run[name].equations)
    assert said(run, name).endswith(f"\ncite  backsolve cite {run[name].name} {ids}")


def test_where_contexts_end_is_said_to_whoever_gave_it(run: InferenceTable):
    anchors = run[GEMINI].anchors
    given = replace(anchors, values=anchors.values | {"max_context": 5e5}, origin=anchors.origin | {"max_context": "given"})
    told = "max_context = 500k tokens as given: contexts above a threshold end there."
    assert told in said(run, GEMINI, anchors=given) and told not in said(run, GEMINI)
