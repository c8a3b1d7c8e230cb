"""A price sheet typed in one line."""

import pytest

from derive.errors import WrongValue
from invert.sheets.read import load
from invert.sheets.typed import TYPED_SHEET, typed_sheet
from tests.tools.commands import call


def test_a_typed_sheet_is_read_as_the_file_it_stands_for():
    rows = load(typed_sheet("$2/$12; >200k 4/18; cache .2; 1h 4.5; storage 1")).own
    assert {(row.component, row.threshold_tokens, row.ttl_seconds): row.amount for row in rows} == {
        ("input", 0, None): 2, ("output", 0, None): 12, ("input", 200_000, None): 4, ("output", 200_000, None): 18,
        ("cache_read", 0, None): 0.2, ("cache_write", 0, 3600): 4.5, ("cache_storage", 0, None): 1,
    }  # fmt: skip
    assert {f"{row.provider}/{row.model}" for row in rows} == {TYPED_SHEET}


@pytest.mark.parametrize("wrong", ["2/12; cahe .2", "2/12; 3/4", "2/12; >many 4/18", "2/12; 1h", "2/12; __import__('os')"])
def test_what_is_no_price_is_named(wrong: str):
    with pytest.raises(WrongValue) as error:
        typed_sheet(wrong)
    assert len(str(error.value).splitlines()) <= 2


def test_infer_shows_a_typed_sheet_without_a_file():
    shown = call("infer", "--prices", "2/12; >200k 4/18; cache 0; 1h 4.5")
    assert shown.status == 0 and "cache write, kept 1 h" in shown.out
    assert shown.err.endswith("backsolve prices check '2/12; >200k 4/18; cache 0; 1h 4.5'\n")


def test_a_currency_beside_the_amounts_is_that_of_the_sheet():
    for text in ("EUR 10/20; rate 1.08", "10/20 EUR; rate 1.08"):
        assert {(row.currency, row.usd_rate) for row in load(typed_sheet(text)).own} == {("EUR", 1.08)}
    unknown = call("infer", "--prices", "EUR 10/20")
    assert unknown.status == 2 and "--rate EUR=1.08" in unknown.err and len(unknown.err.splitlines()) == 1
