"""By when a model was there: every table that dates a row of it is asked, and the earliest day counts."""

from dataclasses import replace
from datetime import date

import pytest

from derive.tables import shipped
from invert.data import read_data
from invert.sheets.assemble import models
from invert.sheets.dated import first_mention
from invert.sheets.tables import ModelRow
from tests.tools.data import shipped_data
from tests.tools.tables import reading

NEWEST = date(2026, 11, 20)


def model(name: str) -> ModelRow:
    return next(one for one in models(shipped_data()) if one.model == name)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("claude-opus-4-6", date(2026, 2, 7)),  # what was said of its speed, before any price that is dated
        ("claude-haiku-5-5", date(2026, 10, 14)),  # a batch price that was verified then
        ("gpt-6.1-sol", NEWEST),  # undated prices are as old as the day they were read
        ("gemini-3.8-flash", NEWEST),  # a price that begins next year says nothing of an earlier one
    ],
)
def test_the_earliest_row_of_any_table_counts(name: str, day: date):
    assert first_mention(model(name), shipped_data()) == day


def test_a_model_that_no_row_names_was_there_on_no_day():
    nameless = replace(model("gpt-6.1-sol"), model="gpt-0", aliases=())
    assert first_mention(nameless, shipped_data()) is None
    assert first_mention(replace(nameless, aliases=("GPT-6.1-SOL",)), shipped_data()) == NEWEST
    assert first_mention(replace(nameless, aliases=("gpt-6.1-sol",), provider="another"), shipped_data()) is None


def test_tables_of_the_market_name_a_model_without_its_provider():
    text = shipped.read().content("disclosed_sizes.csv").decode()
    line = "Gpt-6.1-Sol,openai,2026-05-05,1,4,7000000000,7000000000,true,,disclosed,a word\n"
    with reading(shipped.read().edited(disclosed_sizes=text + line)):
        assert first_mention(model("gpt-6.1-sol"), read_data()) == date(2026, 5, 5)
