"""The history of a sheet, in every form."""

import csv
import io
import json
from dataclasses import replace

import pytest

from invert.comparison_records import History
from invert.history import histories
from invert.report.dates import DATED_COLUMNS, history_csv, history_json, history_text


@pytest.fixture(scope="module")
def found() -> tuple[History, ...]:
    return histories(["mistral-large-4", "claude-opus-4-6", "gemini-3.1-pro"])


@pytest.mark.parametrize("width", [80, 100, 140])
def test_text_fits_and_has_a_row_a_day_and_what_changed(found, width: int):
    text = history_text(found, width)
    assert max(map(len, text.splitlines())) <= width
    assert "before 2026-10-20" in text and "2026-10-20: input 0.68 -> 1.36 USD/MTok" in text
    assert "No price of it has changed since." in text and "not known" in text


def test_prices_have_their_currency_and_a_mark_up_says_by_which_size_it_is(found):
    (chinese,) = histories(["glm-4.7"])
    for width in (80, 100, 160):
        text = " ".join(history_text([chinese], width).split())
        assert " 3 / 14 " in text and "11.9x (7.9-18)" in text
        assert "In and out are in CNY/MTok; price/cost is by 32 B active as assumed, not by the price." in text
    by_price = history_text([one for one in found if one.key[1] == "claude-opus-4-6"], 100)
    assert "In and out are in USD/MTok." in by_price and "price/cost is by" not in by_price


def test_days_in_other_currencies_say_theirs(found):
    (chinese,) = histories(["glm-4.7"])
    (day,) = chinese.days
    in_dollars = {place: (amount / 7, "USD", per) for place, (amount, _, per) in day.side.prices.items()}
    later = replace(day, side=replace(day.side, prices=in_dollars))
    text = history_text([replace(chinese, days=(day, later))], 160)
    assert "3 / 14 CNY/MTok " in text and " / 2 USD/MTok " in text and "In and out are" not in text


def test_json_and_csv_have_every_inference_of_every_day(found):
    records = json.loads(history_json(found), parse_constant=pytest.fail)
    count = sum(len(day.side.said) for one in found for day in one.days)
    assert sum(len(day["inferences"]) for one in records for day in one["days"]) == count
    lines = list(csv.DictReader(io.StringIO(history_csv(found))))
    assert len(lines) == count and tuple(lines[0]) == DATED_COLUMNS
    assert {line["since"] for line in lines if line["model"] == "mistral-large-4"} == {"", "2026-10-20", "2026-10-29"}


def test_names_of_a_file_are_inert(found):
    hostile = replace(found[0], key=("=1+1", "@m", "", "standard"))
    assert {(line["provider"], line["model"]) for line in csv.DictReader(io.StringIO(history_csv([hostile])))} == {("'=1+1", "'@m")}
