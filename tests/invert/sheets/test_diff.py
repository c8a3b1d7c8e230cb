"""Two states of the price data side by side."""

import os
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from derive.tables import shipped
from invert.data import read_data
from invert.sheets.diff import changes_since_release, differences, record_release, released_prices, shipped_book, states_of
from invert.sheets.read import book_of, read_rows
from invert.sheets.rows import RELEASED_PRICES
from tests.tools.commands import call

HEADER = "provider,model,component,threshold_tokens,amount,currency"


def rows(*lines: str):
    read, problems = read_rows([HEADER, *lines], "own.csv", overlay=True)
    assert problems == []
    return read


OLD = ("a,m,input,,2,", "a,m,output,,8,", "a,m,input,200000,4,", "a,m,output,200000,12,")


def test_prices_are_added_closed_and_changed():
    new = ("a,m,input,,3,", "a,m,output,,8,", "a,m,cache_read,,0.1,")
    found = differences(rows(*OLD), rows(*new))
    assert [(one.kind, str(one)) for one in found] == [
        ("changed", "input 2 -> 3 USD/MTok"),
        ("closed", "input@200k 4 USD/MTok closed"),
        ("closed", "output@200k 12 USD/MTok closed"),
        ("added", "cache_read 0.1 USD/MTok added"),
    ]
    assert [one.times for one in found] == [1.5, None, None, None]


def test_what_is_the_same_differs_in_nothing():
    assert differences(rows(*OLD), rows(*reversed(OLD))) == ()


Edit = Callable[[str, str], None]


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Tables of their own, as released; what edits their prices.csv."""
    folder = Path(shutil.copytree(shipped.FOLDER, tmp_path / "tables"))
    record_release(str(folder))
    monkeypatch.setattr(shipped, "FOLDER", str(folder))

    def change(old: str, new: str) -> None:
        text = (folder / "prices.csv").read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        (folder / "prices.csv").write_text(text.replace(old, new), encoding="utf-8")

    return change


TODAY = date(2026, 11, 20)
OUTPUT = "google,gemini-3.1-pro-preview,,standard,output,0,false,,,,"
AMOUNT = f"{OUTPUT}12,USD"


def test_without_an_edit_nothing_differs(edit: Edit):
    assert released_prices(read_data()) is None and changes_since_release(read_data(), TODAY) == ()
    assert "Changed since release" not in call("infer").out
    assert "No price changed." in call("infer", "gemini-3.1-pro", "--against", "shipped").out


def test_an_edited_price_is_named_before_the_table(edit: Edit):
    edit(AMOUNT, f"{OUTPUT}8,USD")
    (found,) = changes_since_release(read_data(), TODAY)
    assert str(found) == "output 12 -> 8 USD/MTok" and found.sheet_key[:2] == ("google", "gemini-3.1-pro-preview")
    for asked in ((), ("gemini-3.1-pro",), ("--provider", "google")):
        assert call("infer", *asked).out.startswith("Changed since release: google gemini-3.1-pro-preview output 12 -> 8 USD/MTok\n"), asked
    assert "Changed since release" not in call("infer", "claude-opus-5-5").out
    for style in ("csv", "json"):
        assert "Changed since release" not in call("infer", "gemini-3.1-pro", "--as", style).out
    (row,) = [line.split() for line in call("infer").out.splitlines() if line.startswith("gemini-3.1-pro-preview ")]
    assert row[1] == "2/8" and "75" in row


def test_against_shipped_is_against_the_release(edit: Edit):
    edit(AMOUNT, f"{OUTPUT}8,USD")
    said = call("infer", "gemini-3.1-pro", "--against", "shipped").out
    assert "google/gemini-3.1-pro-preview: output 12 -> 8 USD/MTok" in said and "83 % (74-89)" in said and "75 %" in said
    other = call("infer", "claude-opus-5-5", "--against", "shipped").out
    assert "No price changed." in other and "gemini-3.1-pro-preview output 12 -> 8" in other, "what changed elsewhere is named"
    before, after = states_of("shipped", os.path.join(shipped.FOLDER, "prices.csv"), read_data())
    assert {row.amount for row in before.rows if row.component == "output" and row.model == "gemini-3.1-pro-preview"} == {
        12.0,
        18.0,
        6.0,
        9.0,
    }
    assert len(before.rows) == len(after.rows)


@pytest.mark.parametrize(("content", "amount"), [(None, 7), (b"", 6), (b"no gzip", 5), (b"\x1f\x8b\x08\x00broken", 4)])
def test_without_a_readable_release_nothing_is_compared(edit: Edit, content: bytes | None, amount: int):
    path = Path(shipped.FOLDER) / RELEASED_PRICES
    path.unlink() if content is None else path.write_bytes(content)
    edit(AMOUNT, f"{OUTPUT}{amount},USD")
    data = read_data()
    assert changes_since_release(data, TODAY) == () and shipped_book(data).rows == book_of(data).rows


def test_a_release_is_the_same_bytes_for_the_same_prices(edit: Edit):
    path = Path(shipped.FOLDER) / RELEASED_PRICES
    first = path.read_bytes()
    record_release(shipped.FOLDER)
    assert path.read_bytes() == first and len(first) < 20_000
