"""What changed between two runs, in every form."""

import csv
import io
import json

import pytest

from invert.compare import histories, infer_against
from invert.comparison_records import Comparison, History, Moved, PriceChange, SheetChange
from invert.records import Estimate
from invert.report.changes import _COLUMNS, DATED_COLUMNS, changes_csv, changes_document, changes_json, history_csv, history_json


@pytest.fixture(scope="module")
def found() -> Comparison:
    return infer_against("", ["gemini-3.1-pro"], changes={"output": "20"})[1]


def hostile(text: str) -> Comparison:
    before, after = (Estimate(kind="interval", median=value, low=value / 2, high=value * 2) for value in (2e9, 3e9))
    price = PriceChange(place=("input", 0, None), old=(2.0, "USD", "mtok"), new=(3.0, "USD", "mtok"))
    one = Moved(quantity="active_params", estimator="by_price", before=before, after=after, prices=(price,), slopes=(1.0,))
    sheet = SheetChange(key=(text, text, "", "standard"), prices=(price,), moved=(one,), unmoved=3, calibrates=False)
    key = (text, "m", "", "standard")
    return Comparison(before=text, after="now", sheets=(sheet,), added=(key,), gone=(key,), recalibrated=False, notes=())


def test_json_csv_and_markdown_have_every_inference_that_moved(found: Comparison):
    (sheet,) = found.sheets
    document = json.loads(changes_json(found), parse_constant=pytest.fail)
    (record,) = document["sheets"]
    assert len(record["moved"]) == len(sheet.moved) and record["unmoved"] == sheet.unmoved
    assert record["prices"] == [{
        "place": "output", "component": "output", "threshold_tokens": 0, "ttl_seconds": None, "old_amount": 12.0, "new_amount": 20.0,
        "currency": "USD", "per": "mtok", "copied_from": None,
    }]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(changes_csv(found))))
    assert len(rows) == len(sheet.moved) and {"provider", "quantity", "before_low", "after", "old_amount", "elasticity"} < {*rows[0]}
    one = next(row for row in rows if row["quantity"] == "bandwidth_bound_fraction")
    assert (one["component"], one["old_amount"], one["new_amount"]) == ("output", "12.0", "20.0")
    assert float(one["times"]) == pytest.approx(float(one["after"]) / float(one["before"]), rel=1e-4)
    lines = [line for line in changes_document(found, "markdown").splitlines() if line.startswith("|")]
    assert len(lines) == len(sheet.moved) + 2 and [cell.strip() for cell in lines[0].split("|")[1:-1]] == [*_COLUMNS]


def test_what_a_price_file_says_is_inert_in_every_form():
    text = "=HYPERLINK(1) [x](http://a) <b>|"
    row = next(csv.DictReader(io.StringIO(changes_csv(hostile(text)))))
    assert row["provider"] == row["model"] == f"'{text}"
    page = changes_document(hostile(text), "markdown")
    assert page.count("](http") == page.count("\\[x](http\\://") and "<b>" not in page
    assert all(line.replace("\\|", "").count("|") == 6 for line in page.splitlines() if line.startswith("|"))


@pytest.fixture(scope="module")
def found_days() -> tuple[History, ...]:
    return histories(["mistral-large-4", "claude-opus-4-6", "gemini-3.1-pro"])


def test_json_and_csv_have_every_inference_of_every_day(found_days):
    records = json.loads(history_json(found_days), parse_constant=pytest.fail)
    count = sum(len(day.side.said) for one in found_days for day in one.days)
    assert sum(len(day["inferences"]) for one in records for day in one["days"]) == count
    lines = list(csv.DictReader(io.StringIO(history_csv(found_days))))
    assert len(lines) == count and tuple(lines[0]) == DATED_COLUMNS
    assert {line["since"] for line in lines if line["model"] == "mistral-large-4"} == {"", "2026-10-20", "2026-10-29"}
