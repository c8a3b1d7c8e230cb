"""What changed between two runs, in every form."""

import csv
import io
import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from invert.compare import infer_against
from invert.comparison_records import Comparison, Moved, PriceChange, SheetChange
from invert.inference import infer
from invert.records import Estimate
from invert.report.changes import (
    _COLUMNS,
    _MOST_LINES,
    changes_csv,
    changes_document,
    changes_json,
    changes_text,
)
from invert.report.contract import saved
from invert.result import Shown


@pytest.fixture(scope="module")
def found() -> Comparison:
    return infer_against("", ["gemini-3.1-pro"], changes={"output": "20"})[1]


def hostile(text: str) -> Comparison:
    before, after = (Estimate(kind="interval", median=value, low=value / 2, high=value * 2) for value in (2e9, 3e9))
    price = PriceChange(place=("input", 0, None), old=(2.0, "USD", "mtok"), new=(3.0, "USD", "mtok"))
    one = Moved(quantity="active_params", estimator="market", before=before, after=after, prices=(price,), slopes=(1.0,))
    sheet = SheetChange(key=(text, text, "", "standard"), prices=(price,), moved=(one,), unmoved=3, calibrates=False)
    key = (text, "m", "", "standard")
    return Comparison(before=text, after="now", sheets=(sheet,), added=(key,), gone=(key,), recalibrated=False, notes=())


@pytest.mark.parametrize("width", [80, 100, 140])
def test_text_fits_and_says_which_price_moved_what(found: Comparison, width: int):
    text = changes_text(found, width)
    assert max(map(len, text.splitlines())) <= width
    assert "google/gemini-3.1-pro-preview: output 12 -> 20 USD/MTok" in text
    assert "bandwidth-bound" in text and "Unmoved: " in text and ("x1.08" in text) == (width > 80)
    left_out = "Left out in so few columns: times; --against 2026-11-20 --as csv has all."
    assert (left_out in " ".join(text.split())) == (width == 80)
    assert len(text.splitlines()) < 30, "one screen"


def test_the_widest_moves_come_first_and_the_rest_is_counted(found: Comparison):
    (sheet,) = found.sheets
    many = replace(found, sheets=tuple(replace(sheet, key=("p", f"m{n}", "", "standard")) for n in range(10)))
    text = changes_text(many, 100)
    more = len(sheet.moved) * 10 - _MOST_LINES
    assert f"{more} more moved, none further. --against 2026-11-20 --as csv has all of them." in text
    assert _unlisted(text) and all(line.endswith("moved, less than what is shown)") for line in _unlisted(text))


def _unlisted(text: str) -> list[str]:
    """The headings of sheets of which no inference stands below."""
    lines = text.splitlines()
    return [line for line, below in pairwise(lines) if line.startswith("p/m") and not below.strip()]


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
    assert len(lines) == len(sheet.moved) + 2 and [cell.strip() for cell in lines[0].split("|")[1:-1]] == ["sheet", *_COLUMNS]


def test_what_a_price_file_says_is_inert_in_every_form():
    text = "=HYPERLINK(1) [x](http://a) <b>|"
    row = next(csv.DictReader(io.StringIO(changes_csv(hostile(text)))))
    assert row["provider"] == row["model"] == f"'{text}"
    page = changes_document(hostile(text), "markdown")
    assert page.count("](http") == page.count("\\[x](http\\://") and "<b>" not in page
    assert all(line.replace("\\|", "").count("|") == 9 for line in page.splitlines() if line.startswith("|"))


def test_both_prices_are_named_without_a_slope_if_a_ratio_is_rounded_otherwise():
    _, found = infer_against("", ["gemini-3.1-pro"], changes={"input": "+10%", "output": "-10%"})
    last = {re.split("  +", line)[0]: re.split("  +", line)[-2:] for line in changes_text(found, 120).splitlines() if line}
    assert last["bandwidth-bound fraction"] == ["-", "both"]
    assert last["KV from premium at cost"][1] == "output" and last["active by price"] == ["-", "input"]
    assert "so no slope is given: output / input 6 (of 5.48 to 6.93) -> 4.909" in " ".join(changes_text(found, 120).split())


def test_what_moved_in_no_figure_that_is_shown_is_counted_among_the_unmoved(found: Comparison):
    (sheet,) = found.sheets
    one = next(one for one in sheet.moved if one.quantity == "bandwidth_bound_fraction")
    hair = replace(one, after=Estimate(kind="interval", median=one.before.median * 1.0001, low=one.before.low, high=one.before.high))
    ends = replace(hair, after=replace(hair.after, low=one.before.low * 0.8))
    seen = replace(found, sheets=(replace(sheet, moved=(replace(one, quantity="memory_time_share"), hair)),))
    for text in (changes_text(seen, 100), changes_document(seen, "markdown")):
        assert "memory time share" in text and f"Unmoved: {sheet.unmoved + 1} inferences of it." in text
        assert "that did not change: " in text and "bandwidth-bound fraction." in text, "of what is taken home"
    assert len(json.loads(changes_json(seen))["sheets"][0]["moved"]) == 2, "programs see all digits"
    low = replace(found, sheets=(replace(sheet, moved=(ends,)),))
    shown = [changes_document(low, "markdown"), changes_text(low, 100)]
    assert all("x1" in text for text in shown), "an end that moved"


@pytest.fixture(scope="module")
def there_and_back(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Comparison]:
    """A run of a size that is given against a saved one without, and the other way round."""
    anchors = {"active_params": "60B"}
    files = [tmp_path_factory.mktemp("saved") / "result.json" for _ in range(2)]
    for file, given in zip(files, ({}, anchors), strict=True):
        file.write_text(saved(infer("gemini-3.1-pro", anchors=given), Shown()))
    asked = ["gemini-3.1-pro"]
    return infer_against(str(files[0]), asked, anchors=anchors)[1], infer_against(str(files[1]), asked)[1]


def test_what_moved_in_no_digit_that_is_shown_is_unmoved_in_both_directions(there_and_back: tuple[Comparison, Comparison]):
    there, back = (changes_text(found, 100) for found in there_and_back)
    assert "memory time share" not in there + back
    assert re.findall(r"Unmoved: \d+", there) == re.findall(r"Unmoved: \d+", back) != []


def test_the_range_of_a_number_stands_beside_it_however_few_columns_there_are(found: Comparison):
    """What moved, how far and how fast is told by before and after; how firmly either is known by nothing else."""
    for width in (40, 60, 80, 90, 100, 140):
        said = " ".join(changes_text(found, width).split())
        assert said.count("4.5 kB (1-21)") == 1 and max(map(len, changes_text(found, width).splitlines())) <= width
    assert "range: how" not in changes_text(found, 72) and "range: how" in changes_text(found, 80), "no legend of what is not there"
