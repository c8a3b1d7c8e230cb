"""The page of a market: it fits, and JSON, CSV and documents have what the record has."""

import csv
import io
import json
from dataclasses import replace
from functools import cache

import pytest

from invert.overview import overview
from invert.records import Overview
from invert.report.document import report_document
from invert.report.overview import _MOST_ROWS, CSV_HEAD, overview_csv, overview_json, overview_parts, overview_text
from tests.tools.inferred import current


@cache
def shipped() -> Overview:
    return overview(current())


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_page_fits(width: int):
    assert max(map(len, overview_text(shipped(), width).splitlines())) <= width


def test_counts_are_those_of_the_record():
    found, text = shipped(), overview_text(shipped(), 100)
    assert text.startswith(f"{found.sheets} sheets of {found.providers} providers, prices of {found.as_of}\n")
    assert f"{found.offers} offers are counted below. Every sheet has a result." in text
    first = found.premiums[0]
    at = ", ".join(f"{threshold // 1000}k {count}" for threshold, count in first.thresholds.items())
    assert f"x{first.premium_in:g}      x{first.premium_out:g}     {first.offers}" in text and at in " ".join(text.split())


def test_what_is_not_shown_is_counted():
    one = shipped().sizes[0]
    many = replace(shipped(), sizes=tuple(replace(one, provider=f"p{place}", offers=2) for place in range(_MOST_ROWS + 3)))
    assert "3 more providers of 6 offers." in overview_text(many, 80)
    lost = replace(shipped(), no_result={"a rate is missing": 2, "b": 1, "c": 1, "d": 1}, copies={"host": 4})
    text = " ".join(overview_text(lost, 80).split())
    assert "5 sheets without a result: a rate is missing 2, b 1, c 1 and 1 of 1 other." in text
    assert "4 have the prices of another sheet of the same model (host 4)." in text


def test_json_has_all_of_it():
    found, document = shipped(), json.loads(overview_json(shipped()))
    assert document["schema"] == "infer-overview-1" and document["offers"] == found.offers
    assert {name: len(document[name]) for name in ("outcomes", "carried", "premiums", "sizes")} == {
        name: len(getattr(found, name)) for name in ("outcomes", "carried", "premiums", "sizes")
    }
    assert sum(at["offers"] for at in document["premiums"][0]["thresholds"]) == document["premiums"][0]["offers"]


def test_csv_has_a_line_a_count():
    rows = list(csv.DictReader(io.StringIO(overview_csv(shipped()))))
    assert tuple(rows[0]) == CSV_HEAD
    assert sum(int(row["offers"]) for row in rows if row["section"] == "sizes") == shipped().offers
    assert {row["name"] for row in rows if row["section"] == "carried"} == {one.observable for one in shipped().carried}


def test_documents_have_the_same_parts():
    text = report_document(overview_parts(shipped()), "markdown")
    assert text.startswith(f"# {shipped().sheets} sheets") and "long context, input" in text
    assert "--as json" not in text and "--as json" in overview_text(shipped(), 100)


def test_how_many_sheets_stand_on_the_day_of_their_price_is_said_where_there_are_any():
    undated = replace(shipped(), release_unknown=1_390)
    said = "KV of 1,390 sheets is that usual on the day of the price: no table has the release of the model."
    assert said in " ".join(overview_text(undated, 80).split())
    assert said not in " ".join(overview_text(replace(undated, release_unknown=0), 80).split())
    assert "release_unknown,,,1390" in overview_csv(undated) and json.loads(overview_json(undated))["release_unknown"] == 1_390


def test_other_tiers_are_asked_for_only_where_the_day_has_some():
    found = replace(overview(current()), not_picked=0, beside={"batch": 2}, of_other_days=3)
    said = "5 more sheets left out: batch 2, on other days only 3. --all includes the sheets of the day."
    assert said in " ".join(overview_text(found, 100).split())
    text = " ".join(overview_text(replace(found, beside={}), 100).split())
    assert "3 more sheets left out: on other days only 3. " in text and "--all" not in text
