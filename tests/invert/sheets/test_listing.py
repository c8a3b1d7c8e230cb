"""Price data as it is listed and compared."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace

import pytest

from invert.sheets.assemble import rows_used, sheets
from invert.sheets.diff import differences, state_of
from invert.sheets.listing import DIFFERENT, LISTED, PRICES, PUBLISHED, csv_of, differences_text
from invert.sheets.read import load, read_rows
from tests.tools.data import shipped_data


@pytest.fixture(scope="module")
def listed():
    book = load()
    return rows_used(sheets(book), book)


def test_every_price_is_listed_with_grade_dates_and_source(listed):
    records = json.loads(PRICES.text(listed), parse_constant=pytest.fail)
    assert len(records) == len(listed) > 150 and tuple(records[0]) == tuple(LISTED)
    opus = next(one for one in records if one["model"] == "claude-opus-5" and one["component"] == "output")
    assert opus["amount"] > 0 and opus["verification"] and opus["retrieved_date"] == "2026-11-20" and opus["source_url"]
    assert all(one["service_tier"] in ("standard", "off_peak") for one in records)


def test_what_is_listed_as_csv_is_read_back_as_it_was(listed):
    book = load()
    read, problems = read_rows(io.StringIO(csv_of(listed, PUBLISHED)), "own.csv", book.fx)
    assert problems == []
    assert [(*row.key, row.amount, row.effective_date, row.valid_to, row.notes) for row in read] == [
        (*row.key, row.amount, row.effective_date, row.valid_to, row.notes) for row in listed]  # fmt: skip


def test_differences_have_old_and_new_in_every_form():
    data = shipped_data()
    before, after = state_of("2026-03-12", data), state_of("2026-11-20", data)
    found = differences(before.rows, after.rows)
    records = json.loads(PRICES.text(found), parse_constant=pytest.fail)
    lines = list(csv.DictReader(io.StringIO(csv_of(found, DIFFERENT))))
    assert len(records) == len(lines) == len(found) and tuple(lines[0]) == tuple(DIFFERENT) == tuple(records[0])
    grok = next(one for one in records if one["model"] == "grok-4.20" and one["component"] == "input")
    assert (grok["change"], grok["old_amount"], grok["new_amount"]) == ("changed", 2.0, 1.25)
    text = differences_text(found, 236, {}, {}, after.day)
    assert "x-ai/grok-4.20\n  input 2 -> 1.25 USD/MTok" in text
    of = Counter(one["change"] for one in records)
    assert text.endswith(f"{of['added']} added, {of['closed']} closed, {of['changed']} changed, 236 the same")
    assert of["added"] >= 17 and of["closed"] >= 10 and of["changed"] >= 4


def test_names_and_notes_of_a_file_are_inert():
    rows, _ = read_rows(["provider,model,component,amount", "acme,x,input,2"], "own.csv", overlay=True)
    hostile = [replace(rows[0], model="=1+1", notes="@x")]
    (line,) = csv.DictReader(io.StringIO(csv_of(hostile, PUBLISHED)))
    assert (line["model"], line["notes"], line["amount"]) == ("'=1+1", "'@x", "2.0")
    (line,) = csv.DictReader(io.StringIO(csv_of(differences([], hostile), DIFFERENT)))
    assert line["model"] == "'=1+1"
