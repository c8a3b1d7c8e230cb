"""Price files of one's own, as `prices list`, `prices check` and `infer` read them."""

import json
import os
from pathlib import Path

import pytest

from tests.tools.commands import GOOD, OUTPUT, call, in_terminals, price_file, refused


@pytest.mark.parametrize("command", [("infer",), ("prices", "list"), ("prices", "check")], ids=" ".join)
def test_a_file_that_cannot_be_used_exits_2(tmp_path, monkeypatch, command: tuple[str, ...]):
    monkeypatch.chdir(tmp_path)
    for content, said in (
        (price_file(*GOOD).decode().encode("utf-16"), "own.csv row 1: this is UTF-16"),
        (b"x" * 3_000_000, "own.csv row 1: the line is longer than 64 kB"),
        (price_file("a,b,input,1", header="provider,model,component,ammount"), "did you mean 'amount'?"),
    ):
        Path("own.csv").write_bytes(content)
        assert said in refused(*command, "--prices", "own.csv")
        assert said.replace("own.csv", "standard input") in refused(*command, "--prices", "-", stdin=content)


@pytest.mark.parametrize("name", ["acme/m", "m"])
@pytest.mark.parametrize("row", ["acme,m,input,abc,,,,", "acme,m,input,1,,,,a\0b"])
def test_a_model_whose_row_is_bad_is_not_called_unknown_without_the_row(tmp_path, monkeypatch, name: str, row: str):
    """A wrong row never silently drops the sheet."""
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file(*GOOD, row, OUTPUT))
    said = call("infer", name, "--prices", "own.csv")
    assert said.status == 2 and "own.csv row 4, column" in said.err
    assert "own.csv row 4, column" in call("infer", "--provider", "acme", "--prices", "own.csv").err


def test_a_price_file_from_standard_input():
    said = call("infer", "other/n", "--prices", "-", "--as", "json", stdin=price_file(*GOOD))
    assert said.status == 0 and json.loads(said.out)[0]["observables"]["output_input_ratio"] == 5
    assert "other/n" in call("prices", "list", "--prices", "-", stdin=price_file(*GOOD)).out


def test_a_price_under_a_name_that_looks_like_a_shipped_one_is_said():
    file = price_file(*(f"google,gemini\u20113.1-pro-preview,{cells},,,," for cells in ("input,9", "output,60")))
    for command in (("prices", "check"), ("prices", "list"), ("infer", "gemini-3.1-pro-preview")):
        said = call(*command, "--prices", "-", stdin=file)
        assert said.status == 2 and "row 2, column model" in said.err and "U+2011 (non-breaking hyphen) where" in said.err, command


def test_prices_of_two_days_are_compared():
    assert json.loads(call("prices", "diff", "shipped", "2026-11-20", "--as", "json").out) == []
    assert call("prices", "diff", "shipped", "2026-11-20", "--as", "csv").out.startswith("change,provider,model,")


def test_every_price_is_listed_for_programs():
    assert call("prices", "list", "--as", "csv").out.startswith("provider,model,region,service_tier,component,")
    listed = json.loads(call("prices", "list", "--as", "json", "--all").out)
    assert {one["service_tier"] for one in listed} > {"standard", "batch"}


def test_a_sheet_is_added_with_what_it_implies(tmp_path):
    own = tmp_path / "own.csv"
    typed = ("prices", "add", "acme/perm", "input=2", "output=10", "input@200k=4", "output@200k=15", "cache_read=0.2", "max_context=1M")
    shown = call(*typed)
    assert shown.status == 0 and "Nothing is written" in shown.out and not own.exists()
    added = call(*typed, "--into", str(own))
    assert added.status == 0 and "5 rows added" in added.out
    assert "active parameters" in added.out and "typical KV" in added.out
    assert call("infer", "acme/perm", "--prices", str(own)).status == 0
    assert "\n1 row added to " in call("prices", "add", "acme/perm", "cache_write:5min=2.5", "--into", str(own)).out
    before = own.read_bytes()
    assert "repeats the key" in refused(*typed, "--into", str(own))
    unwritten = call(*typed, "--into", str(tmp_path / "none" / "own.csv"))
    assert unwritten.status == 2 and "cannot be written" in unwritten.err
    assert own.read_bytes() == before and os.listdir(tmp_path) == ["own.csv"]


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_warnings_fit_a_terminal_and_are_a_line_each_in_a_pipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_bytes(price_file("acme,m,input,1,,,,", OUTPUT, "acme,m,cache_read,3,,,,"))
    commands = (("prices", "check", "own.csv"),)
    for arguments, text in in_terminals({arguments: (80, arguments) for arguments in commands}).items():
        assert max(map(len, text.splitlines())) <= 80, text
        piped = call(*arguments).out.splitlines()
        assert "".join(text.split())[:150] in "".join("".join(piped).split())
        assert sum(line.startswith("warning: ") for line in piped) == text.count("warning: ")


HALF = "acme,x,input,2,"
SHORT = "google,gemini-3.1-pro-preview,input,2,150000"


@pytest.mark.parametrize(
    ("row", "words", "said"),
    [
        (
            HALF,
            ("prices", "add", "acme/y", "input=2", "output=10", "--into"),
            "row 2, column component: acme/x (standard) has input and no",
        ),
        (SHORT, ("prices", "check"), "row 2, column max_context: google/gemini-3.1-pro-preview (standard): input above 200,000 tokens"),
    ],
)
def test_of_two_rows_the_wrong_one_is_named(tmp_path: Path, row: str, words: tuple[str, ...], said: str):
    file = tmp_path / "own.csv"
    file.write_text(f"provider,model,component,amount,max_context\n{row}\n")
    found = call(*words, str(file))
    assert found.status == 2 and f"{file} {said}" in found.err


def test_a_model_of_the_user_without_a_list_price_is_mentioned(tmp_path: Path):
    file = tmp_path / "own.csv"
    file.write_text("provider,model,component,amount,service_tier\nacme,x,input,2,batch\nacme,x,output,9,batch\n")
    assert "'acme/x' has no sheet in this service tier on this day; --tier batch has one" in call("infer", "--prices", str(file)).err
    assert "no sheet" not in call("infer", "--prices", str(file), "--all").err
    file.write_text("provider,model,component,amount\nGoogle,Gemini-3.1-Pro-Preview,output,15\n")
    assert "did you mean google/gemini-3.1-pro-preview?" in call("infer", "--prices", str(file)).err
