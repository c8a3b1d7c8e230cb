"""The history of a sheet, in every form."""

import csv
import io
import json

import pytest

from invert.comparison_records import History
from invert.history import histories
from invert.report.dates import DATED_COLUMNS, history_csv, history_json


@pytest.fixture(scope="module")
def found() -> tuple[History, ...]:
    return histories(["mistral-large-4", "claude-opus-4-6", "gemini-3.1-pro"])


def test_json_and_csv_have_every_inference_of_every_day(found):
    records = json.loads(history_json(found), parse_constant=pytest.fail)
    count = sum(len(day.side.said) for one in found for day in one.days)
    assert sum(len(day["inferences"]) for one in records for day in one["days"]) == count
    lines = list(csv.DictReader(io.StringIO(history_csv(found))))
    assert len(lines) == count and tuple(lines[0]) == DATED_COLUMNS
    assert {line["since"] for line in lines if line["model"] == "mistral-large-4"} == {"", "2026-10-20", "2026-10-29"}
