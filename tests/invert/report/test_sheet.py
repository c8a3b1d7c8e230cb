"""A sheet in full: its prices as published, each reading with what it predicts, what it rests on and what to cite."""

from dataclasses import replace

import pytest

from invert.report.sheet import report
from invert.result import InferenceTable

UNBROKEN = 10_000
"""Columns in which no line of a report is broken."""


def said(run: InferenceTable, name: str, **changed: object) -> str:
    return report(replace(run[name], **changed), run, UNBROKEN)


GEMINI = "google/gemini-3.1-pro-preview"


def test_every_pair_of_bands_has_its_readings_and_its_place_where_there_are_several(run: InferenceTable):
    several, single = said(run, "alibaba/qwen3-coder-plus"), said(run, GEMINI)
    places = [f"KV bytes from the threshold at {place}" for place in ("32k tokens", "128k tokens", "256k tokens")]
    assert [several.count(place) for place in places] == [1, 1, 1] and several.index(places[0]) < several.index(places[2])
    assert "KV bytes from the threshold, as the lecture reads it" in single
    assert "one price for all lengths, so it has no threshold and no premium" in said(run, "deepseek/deepseek-v4-pro")


@pytest.mark.parametrize("name", [GEMINI, "deepseek/deepseek-v4-pro"])
def test_a_report_ends_with_what_to_cite(run: InferenceTable, name: str):
    ids = " ".join(id.split("@")[0] for id in run[name].equations)
    assert said(run, name).endswith(f"\ncite  backsolve cite {run[name].name} {ids}")
