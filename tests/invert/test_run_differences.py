"""What is not the same in two runs besides prices is named, with what it was and is."""

import json
from dataclasses import replace
from datetime import date

import pytest

from invert.inference import infer
from invert.report.contract import saved
from invert.result import InferenceTable
from invert.run_differences import CALIBRATION, calibrates_alike, causes_of_runs, causes_of_saved
from tests.tools.data import shipped_data


@pytest.fixture(scope="module")
def table() -> InferenceTable:
    return infer("gemini-2.5-pro")


def test_runs_of_one_day_and_tables_differ_in_nothing(table: InferenceTable):
    assert causes_of_runs(table, table, recalibrated=False) == ()
    assert causes_of_runs(table, table, recalibrated=True) == (CALIBRATION,)


def test_another_day_and_another_context_are_named_with_both(table: InferenceTable):
    (one,) = table
    old = replace(one, sheet=replace(one.sheet, as_of=date(2026, 3, 12), max_context=200_000))
    assert causes_of_runs([old], table, recalibrated=False) == (
        f"the day, 2026-03-12 -> {table.as_of}",
        "max_context of google/gemini-2.5-pro, 200k tokens -> 1.049M tokens",
    )


def test_a_saved_result_names_the_anchors_tables_and_versions_that_are_others(table: InferenceTable):
    document = json.loads(saved(table))
    run, sheets = document["run"], document["sheets"]
    assert causes_of_saved(sheets, run, table, shipped_data()) == ()
    assert calibrates_alike(run, shipped_data())
    assert not any(calibrates_alike(found, shipped_data()) for found in ({}, run | {"tables": {}}, run | {"versions": {"numpy": "1.0"}}))
    anchors = run["anchors"] | {"overlap": 0.0, "active_params": 6e10}
    other = run | {"anchors": anchors, "tables": run["tables"] | {"fx.csv": "0"}, "versions": run["versions"] | {"numpy": "1.0"}}
    assert causes_of_saved([sheets[0] | {"as_of": "2026-03-12"}], other, table, shipped_data()) == (
        f"the day, 2026-03-12 -> {table.as_of}",
        "anchor active_params, 60B -> not given",
        "anchor overlap, 0 -> 1",
        "fx.csv as it is now",
        f"numpy {run['versions']['numpy']}",
    )
    *named, more = causes_of_saved(sheets, run | {"tables": {}}, table, shipped_data())
    assert len(named) == 3 and more.endswith(" more like these")
    assert causes_of_saved(sheets, {}, table, shipped_data()) == ("anchors, tables or versions, which a list of sheets does not have",)
