"""What a run says to programs: strict JSON in SI, a line a sheet in CSV, and what is left out by name. Its shape: tests/test_schema.py."""

import csv
import json
from dataclasses import replace

import pytest

from derive import VERSION
from invert.report import contract
from invert.report.columns import CSV_KEYS, flat
from invert.report.contract import run_as_csv, run_as_json, saved, sheet_records
from invert.result import InferenceTable, Shown
from invert.sheets.rows import FileText


def test_json_is_strict_and_a_list_of_the_records(run: InferenceTable):
    document = json.loads(run_as_json(run), parse_constant=pytest.fail)
    assert document == sheet_records(run) and [f"{one['provider']}/{one['model']}" for one in document] == [one.name for one in run]


def test_csv_has_a_line_a_sheet_and_its_numbers_unrounded(run: InferenceTable):
    rows = list(csv.DictReader(run_as_csv(run).splitlines()))
    assert len(rows) == len(run) and list(rows[0]) == list(CSV_KEYS)
    for row, one in zip(rows, run, strict=True):
        for name, value in flat(one).items():
            assert (float(row[name]) == value) if isinstance(value, float) else row[name] == ("" if value is None else str(value)), name
    for row, one in zip(csv.DictReader(run_as_csv(run, ["active_params_range"]).splitlines()), run, strict=True):
        assert float(row["active_params_high"]) == pytest.approx(one.active_params.high, rel=1e-5)


def test_what_is_saved_holds_the_same_list_and_how_the_run_was_made(run: InferenceTable):
    changed = replace(run, changes={"output": "20"})
    document = json.loads(saved(changed), parse_constant=pytest.fail)
    assert document["sheets"] == sheet_records(changed) and document["run"]["changes"] == {"output": "20"}
    assert document["schema"] == contract.SCHEMA and document["run"]["versions"]["backsolve"] == VERSION


def test_what_is_saved_holds_the_rows_of_its_sheets_and_what_was_asked(run: InferenceTable):
    alone = replace(run, inferences=run.inferences[:1])
    document = json.loads(saved(alone, Shown(style="csv", wanted=("flag=*",), against=FileText("a.csv", b"\xff"))))["run"]
    rows = document["rows"]
    sheet = run[0].sheet
    assert {(row["provider"], row["model"], row["service_tier"]) for row in rows} == {(sheet.provider, sheet.model, sheet.service_tier)}
    assert {(row["amount"], row["origin"]) for row in rows} == {(one.amount, one.origin) for one in sheet.prices.values()}
    assert all(row["source_url"] and row["verification"] and row["retrieved_date"] for row in rows)
    asked = document["asked"]
    assert asked["models"] == list(run.request.names) and (asked["day_given"], asked["where"], asked["form"]["as"]) == (
        False,
        ["flag=*"],
        "csv",
    )
    assert asked["against"] == {"place": "a.csv", "encoding": "utf-8", "content": "\ufffd"}
