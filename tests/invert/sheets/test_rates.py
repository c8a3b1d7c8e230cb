"""Prices in any currency: a rate in the file, or on the command line."""

from datetime import date

import pytest

from derive.tables.lines import BadRow
from invert.sheets.read import load
from invert.sheets.rows import FileText, usd_amount
from invert.sheets.rules import check
from tests.tools.commands import call

IN_EUROS = b"provider,model,component,amount,currency\nacme,m,input,2,EUR\nacme,m,output,8,EUR\n"
WITH_RATE = b"provider,model,component,amount,currency,usd_rate\nacme,m,input,2,EUR,1.08\nacme,m,output,8,EUR,1.2\n"
DAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("file", "dollars"),
    [
        (FileText("a.csv", WITH_RATE), [2.16, 9.6]),
        (FileText("a.csv", IN_EUROS, (("EUR", 1.08),)), [2.16, 8.64]),
        (FileText("a.csv", WITH_RATE, (("EUR", 2.0),)), [2.16, 9.6]),
    ],
    ids=["a column", "a rate for the file", "the column goes first"],
)
def test_a_price_is_converted_at_the_rate_that_is_given(file: FileText, dollars: list[float]):
    book = load(file)
    assert [usd_amount(row, book.fx, DAY) for row in book.own] == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("content", "rates", "column"),
    [
        (IN_EUROS, (), "currency"),
        (IN_EUROS.replace(b"EUR", b"USD"), (("EUR", 1.08),), "currency"),
        (WITH_RATE.replace(b"EUR", b"USD"), (), "usd_rate"),
        (WITH_RATE.replace(b"EUR", b""), (), "usd_rate"),
        (WITH_RATE.replace(b"1.08", b"0"), (), "usd_rate"),
        (WITH_RATE.replace(b"EUR", b"CNY").replace(b"1.08", b"7.2"), (), "usd_rate"),
    ],
    ids=["no rate", "no such currency", "dollars", "blank currency", "zero", "the inverse of the shipped rate"],
)
def test_a_rate_that_cannot_be_meant_is_a_fault(content: bytes, rates: tuple[tuple[str, float], ...], column: str):
    with pytest.raises(BadRow) as caught:
        load(FileText("a.csv", content, rates))
    assert caught.value.problems[0].column == column


def test_two_rates_of_one_currency_in_a_sheet_are_a_fault():
    (found,) = check(load(FileText("a.csv", WITH_RATE)))
    said = "acme/m (standard): 1.2 US dollars, and a.csv:2 says 1.08 of the same currency"
    assert (found.row, found.column, found.message) == (3, "usd_rate", said)
    assert check(load(FileText("a.csv", WITH_RATE.replace(b"8,EUR", b"8,GBP")))) == []


def test_rates_of_the_command_line_last_through_saving_and_comparing(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("euros.csv").write_bytes(IN_EUROS)
    tmp_path.joinpath("older.csv").write_bytes(IN_EUROS.replace(b"input,2", b"input,1"))
    first = call("infer", "acme/m", "--prices", "euros.csv", "--rate", "EUR=1.08", "--save", "saved.json")
    assert first.status == 0 and "--prices euros.csv --rate EUR=1.08" in first.out
    assert call("infer", "--like", "saved.json").out == first.out
    assert call("infer", "acme/m", "--prices", "euros.csv", "--rate", "EUR=1.08", "--against", "older.csv").status == 0
    assert call("prices", "check", "euros.csv", "--rate", "EUR=1.08").status == 0
    assert call("infer", "acme/m", "--prices", "-", "--rate", "EUR=1.08", stdin=IN_EUROS).status == 0


@pytest.mark.parametrize("rate", ["EUR", "eur=1.08", "EUR=0", "EUR=-1", "EUR=x", "EUR=1e999"])
def test_a_rate_that_is_none_is_refused(rate: str):
    refused = call("infer", "--prices", "2/12; currency EUR", "--rate", rate)
    assert refused.status == 2 and len(refused.err.splitlines()) == 1


def test_a_rate_without_prices_is_refused():
    assert call("infer", "--rate", "EUR=1.08").status == 2
