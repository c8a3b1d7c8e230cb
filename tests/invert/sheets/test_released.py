"""The prices of the last release: an edit of prices.csv is found without git and without a network."""

import os
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from derive.tables import shipped
from invert.data import read_data
from invert.sheets.diff import changes_since_release, shipped_book, states_of
from invert.sheets.read import book_of
from invert.sheets.released import RELEASED_PRICES, record_release, released_prices
from tests.tools.commands import call

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
ROW_OF_OPUS = "anthropic,claude-opus-5-5,,standard,input,0,false,,,,"


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


def test_of_many_changes_a_few_are_listed_and_the_rest_are_counted(edit: Edit):
    edit(AMOUNT, f"{OUTPUT}8,USD")
    for component, amount in (("input", "2"), ("cache_read", "0.2")):
        edit(f"google,gemini-3.1-pro-preview,,standard,{component},0,false,,,,{amount},USD",
             f"google,gemini-3.1-pro-preview,,standard,{component},0,false,,,,{float(amount) / 2:g},USD")  # fmt: skip
    edit(f"{ROW_OF_OPUS}4,USD", f"{ROW_OF_OPUS}5,USD")
    lines = call("infer").out.splitlines()
    assert [line.startswith("Changed since release: ") for line in lines[:4]] == [True, True, True, False]
    assert lines[3] == "and 1 more: backsolve infer --against shipped"


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


def test_a_scheduled_price_that_began_was_changed_by_nobody(edit: Edit):
    closed = "2026-12-01,2026-11-20"
    edit(f"{AMOUNT},mtok,,,,2026-11-20", f"{AMOUNT},mtok,,,{closed}")
    prices = Path(shipped.FOLDER) / "prices.csv"
    with prices.open("a", encoding="utf-8") as file:
        file.write(f"{OUTPUT}10,USD,mtok,2026-12-01,start,,2026-12-01,https://ai.google.dev,official,\n")
    assert [str(one) for one in changes_since_release(read_data(), date(2026, 12, 1))] == ["output 12 -> 10 USD/MTok"]
    assert changes_since_release(read_data(), TODAY) == ()
    for asked in (("prices", "diff", "shipped", str(prices)), ("infer", "gemini-4-argon", "--against", "shipped")):
        assert "argon: input 2 -> 4" not in call(*asked).out, asked
    assert "1 changed" in call("prices", "diff", "shipped", str(prices)).out
    assert "0 added, 0 closed, 1 changed" in call("prices", "diff", str(prices), "shipped").out
    assert "No price changed." in call("infer", "gemini-4-argon", "--against", "shipped").out


def test_a_sheet_that_is_gone_is_named_once(edit: Edit):
    prices = Path(shipped.FOLDER) / "prices.csv"
    lines = prices.read_text(encoding="utf-8").splitlines(keepends=True)
    prices.write_text("".join(line for line in lines if not line.startswith("anthropic,claude-opus-5-5,")), encoding="utf-8")
    first, second, *_ = call("infer").out.splitlines()
    assert first == "Changed since release: anthropic claude-opus-5-5 is not there any more" and second.startswith("What API prices")
    said = call("infer", "--against", "shipped").out
    assert "Not there any more: anthropic/claude-opus-5-5." in said and "No price changed." not in said
