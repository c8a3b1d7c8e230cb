"""What changed between two runs, in every form."""

import csv
import io
import json
import math

import pytest

from invert.compare import histories, infer_against
from invert.comparison_records import Comparison, History, Moved, PriceChange, SheetChange, side_of
from invert.records import Estimate
from invert.report.changes import _COLUMNS, CHANGES, CHANGES_SCHEMA, DATED_COLUMNS, changes_csv, changes_parts, history_csv
from invert.report.table import report_document
from tests.tools.commands import call


@pytest.fixture(scope="module")
def found() -> Comparison:
    return infer_against("", ["gemini-3.1-pro"], changes={"output": "20"})[1]


def hostile(text: str) -> Comparison:
    before, after = (Estimate(kind="interval", median=value, low=value / 2, high=value * 2) for value in (2e9, 3e9))
    price = PriceChange(place=("input", 0, None), old=(2.0, "USD", "mtok"), new=(3.0, "USD", "mtok"))
    one = Moved(quantity="active_params", estimator="by_price", before=before, after=after, prices=(price,), slopes=(1.0,))
    sheet = SheetChange(key=(text, text, "", "standard"), prices=(price,), moved=(one,), unmoved=(), calibrates=False)
    key = (text, "m", "", "standard")
    return Comparison(before=text, after="now", sheets=(sheet,), added=(key,), gone=(key,), recalibrated=False, notes=())


def test_json_csv_and_markdown_have_every_inference_that_moved(found: Comparison):
    (sheet,) = found.sheets
    document = json.loads(CHANGES.text(found, CHANGES_SCHEMA), parse_constant=pytest.fail)
    (record,) = document["sheets"]
    assert len(record["moved"]) == len(sheet.moved) and record["unmoved"] == len(sheet.unmoved)
    assert record["prices"] == [{
        "place": "output", "component": "output", "threshold_tokens": 0, "ttl_seconds": None, "old_amount": 12.0, "new_amount": 20.0,
        "currency": "USD", "per": "mtok", "copied_from": None,
    }]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(changes_csv(found))))
    assert len(rows) == len(sheet.moved) and {"provider", "quantity", "before_low", "after", "old_amount", "elasticity"} < {*rows[0]}
    one = next(row for row in rows if row["quantity"] == "bandwidth_bound_fraction")
    assert (one["component"], one["old_amount"], one["new_amount"]) == ("output", "12.0", "20.0")
    assert float(one["times"]) == pytest.approx(float(one["after"]) / float(one["before"]), rel=1e-4)
    lines = [line for line in report_document(changes_parts(found), "markdown").splitlines() if line.startswith("|")]
    assert len(lines) == len(sheet.moved) + 2 and [cell.strip() for cell in lines[0].split("|")[1:-1]] == [*_COLUMNS]


def test_what_a_price_file_says_is_inert_in_every_form():
    text = "=HYPERLINK(1) [x](http://a) <b>|"
    row = next(csv.DictReader(io.StringIO(changes_csv(hostile(text)))))
    assert row["provider"] == row["model"] == f"'{text}"
    page = report_document(changes_parts(hostile(text)), "markdown")
    assert page.count("](http") == page.count("\\[x](http\\://") and "<b>" not in page
    assert all(line.replace("\\|", "").count("|") == 6 for line in page.splitlines() if line.startswith("|"))


@pytest.fixture(scope="module")
def found_days() -> tuple[History, ...]:
    _, found = histories(["mistral-large-4", "claude-opus-4-6", "gemini-3.1-pro"])
    return found


def test_json_and_csv_have_every_inference_of_every_day(found_days):
    records = json.loads(CHANGES.text(found_days), parse_constant=pytest.fail)
    count = sum(len(side_of(day.one).said) for one in found_days for day in one.days)
    assert sum(len(day["inferences"]) for one in records for day in one["days"]) == count
    lines = list(csv.DictReader(io.StringIO(history_csv(found_days))))
    assert len(lines) == count and tuple(lines[0]) == DATED_COLUMNS
    assert {line["since"] for line in lines if line["model"] == "mistral-large-4"} == {"", "2026-10-20", "2026-10-29"}


HEADER = "provider,model,component,threshold_tokens,amount,effective_date,date_kind,valid_to,release_date,source_url\n"
OWN = HEADER + (
    "acme,old,input,0,2,2026-01-05,start,2026-10-01,2026-01-05,https://acme.example/prices\n"
    "acme,old,output,0,10,2026-01-05,start,,2026-01-05,https://acme.example/prices\n"
    "acme,old,input,0,4,2026-10-01,start,,2026-01-05,https://acme.example/prices\n"
    "acme,band,input,0,2,2026-01-05,start,,2026-01-05,\n"
    "acme,band,output,0,10,2026-01-05,start,,2026-01-05,\n"
    "acme,band,input,200000,4,2026-01-05,start,2026-09-15,2026-01-05,\n"
    "acme,band,output,200000,15,2026-01-05,start,2026-09-15,2026-01-05,\n"
    "acme,new,input,0,1,2026-10-10,start,,2026-10-10,\n"
    "acme,new,output,0,5,2026-10-10,start,,2026-10-10,\n"
    "acme,gone,input,0,1,2026-01-05,start,2026-09-30,2026-01-05,\n"
    "acme,gone,output,0,5,2026-01-05,start,2026-09-30,2026-01-05,\n"
)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("news") / "own.csv"
    path.write_text(OWN)
    return str(path)


def test_the_record_has_the_day_the_source_and_what_moved_by_how_much(own: str):
    """Active parameters go as the input price to the power .595 (market.md's fit A, which other code recomputed)."""
    told = json.loads(call("prices", "news", "--since", "2026-09-01", "--prices", own, "--as", "json").out)
    changed = {one["model"]: one for one in told["changed"] if one["provider"] == "acme"}
    assert set(changed) == {"old", "band"}
    assert changed["old"]["days"] == {"input": "2026-10-01"} and changed["old"]["sources"] == ["https://acme.example/prices"]
    assert set(changed["band"]["days"].values()) == {"2026-09-15"}
    (active,) = (one for one in changed["old"]["moved"] if (one["quantity"], one["estimator"]) == ("active_params", "by_price"))
    assert math.log(active["times"]) / math.log(2) == pytest.approx(0.595, abs=0.02)
    (lecture,) = (
        one for one in changed["band"]["moved"] if (one["quantity"], one["estimator"]) == ("kv_bytes_per_token", "from_threshold")
    )
    assert lecture["before"]["median"] and not (lecture["after"] and lecture["after"]["median"])
    assert ("acme", "new", "2026-10-10") in [(one["provider"], one["model"], one["since"]) for one in told["new"]]
    assert "acme/gone" in [f"{one['provider']}/{one['model']}" for one in told["gone"]]
    assert told["since"] == "2026-09-01" and told["until"] == "2026-11-20"
