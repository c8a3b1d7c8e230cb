"""What a run says to programs: strict JSON in SI, a line a sheet in CSV, and what is left out by name. Its shape: tests/test_schema.py."""

import csv
import json
from dataclasses import replace

import pytest

from derive.version import VERSION
from invert.records import Part
from invert.report import contract
from invert.report.columns import CSV_KEYS, flat
from invert.report.contract import run_as_csv, run_as_json, saved, sheet_records
from invert.result import InferenceTable, Shown
from invert.sheets.assemble import prices_by_place
from invert.sheets.sheet import FileText
from tests.tools.inferred import current


def test_json_is_strict_and_a_list_of_the_records(run: InferenceTable):
    document = json.loads(run_as_json(run), parse_constant=pytest.fail)
    assert document == sheet_records(run) and [f"{one['provider']}/{one['model']}" for one in document] == [one.name for one in run]


def test_what_is_not_finite_is_null(run: InferenceTable):
    one = run[0]
    odd = replace(one, summary=replace(one.summary, pareto_k=float("inf"), log_evidence=float("-inf")))
    (record,) = sheet_records(replace(run, inferences=(odd,)))
    assert record["diagnostics"]["pareto_k"] is record["diagnostics"]["log_evidence"] is None
    json.dumps(record, allow_nan=False)


def test_prices_stand_as_they_were_published_and_observables_in_si(run: InferenceTable):
    record = sheet_records(run)[0]
    assert record["model"] == "gemini-3.1-pro-preview"
    base, long = record["prices"]["bands"]
    assert (base["input"]["amount"], base["output"]["amount"], base["input"]["currency"], base["input"]["per"]) == (2, 12, "USD", "mtok")
    assert (base["threshold_tokens"], long["threshold_tokens"], long["input"]["amount"]) == (0, 200_000, 4)
    assert record["observables"]["input_price_usd_per_token"] == pytest.approx(2e-6, rel=1e-12)
    (storage,) = [offer for offer in record["prices"]["cache"] if offer["component"] == "cache_storage"]
    assert storage["price"]["per"] == "mtok_hour"
    assert record["observables"]["storage_price_usd_per_token_second"] == pytest.approx(4.5e-6 / 3600, rel=1e-12)


def test_estimates_have_six_digits_and_readings_all_of_theirs(run: InferenceTable):
    for one, record in zip(run, sheet_records(run), strict=True):
        for name, estimate in record["estimates"]["kv_bytes_per_token"].items():
            for part in ("median", "low", "high"):
                value = getattr(one.kv_bytes[name], part)
                assert estimate[part] == (None if value is None else float(f"{value:.6g}")), name
        if one.pairs:
            assert record["readings"]["lecture"]["kv_bytes_per_token"] == one.pairs[0].lecture.values["kv_bytes_per_token"]


def test_csv_has_a_line_a_sheet_and_its_numbers_unrounded(run: InferenceTable):
    rows = list(csv.DictReader(run_as_csv(run).splitlines()))
    assert len(rows) == len(run) and list(rows[0]) == list(CSV_KEYS)
    for row, one in zip(rows, run, strict=True):
        for name, value in flat(one).items():
            assert (float(row[name]) == value) if isinstance(value, float) else row[name] == ("" if value is None else str(value)), name


def test_a_part_that_is_left_out_is_null_and_named_with_its_reason(run: InferenceTable):
    lacking = Part(left_out="hardware.csv row 3, column value: is blank")
    without = replace(run[0], worth=lacking, storage=(), no_storage="no tiers")
    (record,) = sheet_records(replace(run, inferences=(without,)))
    assert record["worth"] is None
    assert record["left_out"] == {"worth": lacking.left_out, "storage": "no tiers"}
    document = json.loads(saved(replace(run, tier_rules=lacking, drain_times={**run.drain_times, "lecture": lacking})))["run"]
    assert document["left_out"] == {"drain_times.lecture": lacking.left_out, "tier_rules": lacking.left_out}
    assert document["tier_rules"] is document["drain_times"]["lecture"] is None and document["drain_times"]["range"]


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
    assert {(row["amount"], row["origin"]) for row in rows} == {(one.amount, one.origin) for one in prices_by_place(sheet).values()}
    assert all(row["source_url"] and row["verification"] and row["retrieved_date"] for row in rows)
    asked = document["asked"]
    assert asked["models"] == list(run.request.names) and (asked["day_given"], asked["where"], asked["form"]["as"]) == (
        False,
        ["flag=*"],
        "csv",
    )
    assert asked["against"] == {"place": "a.csv", "encoding": "base64", "content": "/w=="}


def test_what_is_saved_has_a_line_a_sheet_and_is_half_as_large_as_with_a_line_a_number():
    run = current()
    text = saved(run)
    document = json.loads(text)
    lines = text.splitlines()
    assert [json.loads(line.removesuffix(",")) for line in lines[-1 - len(run) : -1]] == document["sheets"] == json.loads(run_as_json(run))
    assert len(text) < 0.65 * len(json.dumps(document, indent=2))
