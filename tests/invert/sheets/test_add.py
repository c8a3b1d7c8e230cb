"""One typed sheet at the end of a price file: checked, and nothing that is there is lost."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BacksolveError, UnknownName, WrongData, WrongValue
from derive.tables.writing import edited_table
from invert.assumptions import USUAL
from invert.estimators.cases import case_of
from invert.sheets import add
from invert.sheets.add import TYPED_ORDER, TYPED_SHEET, add_to_file, addition, cells_of_sheet, typed_sheet
from invert.sheets.assemble import released_later, sheets
from invert.sheets.read import load
from tests.tools.commands import call
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

TYPED = {
    "input": "2", "output": "10", "input@200k": "4", "output@200k": "15", "cache_read": "0.2", "cache_write:5min": "2.5",
    "max_context": "1M", "release_date": "2026-05-01", "notes": "a, b",
}  # fmt: skip


def test_a_typed_sheet_is_read_back_as_it_was_meant(tmp_path: Path):
    path = tmp_path / "mine.csv"
    found = add_to_file("acme/perm", TYPED, shipped_data(), str(path))
    assert len(found.rows) == 6 and found.warnings == () and path.read_bytes() == found.content
    (sheet,) = [one for one in sheets(load(str(path))) if one.model == "perm"]
    assert [(band.threshold_tokens, band.input.amount, band.output.amount) for band in sheet.bands] == [(0, 2, 10), (200_000, 4, 15)]
    assert sheet.bands[0].cache_read.amount == 0.2 and sheet.writes[0].ttl_seconds == 300 and sheet.max_context == 1_000_000
    assert {str(row.effective_date) for row in found.rows} == {"2026-05-01"} and found.rows[0].notes == "a, b"
    # Of its time is of its release, which nobody else knows.
    read = case_of(sheet, None, shipped_data(), USUAL)
    assert read.released == read.day == date(2026, 5, 1) and released_later([replace(sheet, as_of=date(2026, 4, 30))], [])


def test_a_band_with_one_price_has_no_premium_on_the_other():
    found = addition("acme/perm", {"input": "2", "output": "10", "input@200k": "4", "input@500k": "6"}, shipped_data())
    assert [(row.component, row.threshold_tokens, row.amount) for row in found.rows[4:]] == [
        ("output", 200_000, 10),
        ("output", 500_000, 10),
    ]
    assert {row.notes for row in found.rows[4:]} == {"no premium was named"}


def test_a_copied_price_follows_the_price_that_it_copies(tmp_path: Path):
    path = str(tmp_path / "mine.csv")
    add_to_file("acme/perm", {"input": "2", "output": "10", "input@200k": "4"}, shipped_data(), path)
    found = add_to_file("acme/perm", {"input": "3", "output": "12", "effective_date": "2026-10-01"}, shipped_data(), path)
    assert [(row.component, row.threshold_tokens, row.amount) for row in found.rows] == [
        ("input", 0, 3), ("output", 0, 12), ("output", 200_000, 12)
    ]  # fmt: skip
    assert [row.amount for row in found.closed] == [2, 10, 10] and found.warnings == ()
    named = add_to_file("acme/perm", {"output": "14", "output@200k": "20", "effective_date": "2026-11-01"}, shipped_data(), path)
    assert [row.amount for row in named.rows] == [14, 20]


BOM = "\ufeffprovider,model,component,amount\n\nx,y,input,1\n\nx,y,output,2\n\n"
OTHER_ORDER = 'amount,notes,component,model,provider\n1,"a ""b"", c",input,y,x\n2,,output,y,x'


@pytest.mark.parametrize("there", [BOM, OTHER_ORDER, "\n\n" + OTHER_ORDER])
def test_what_is_in_a_file_stays_in_it(tmp_path: Path, there: str):
    path = tmp_path / "mine.csv"
    path.write_bytes(there.encode())
    before = load(str(path)).own
    add_to_file("acme/perm", TYPED, shipped_data(), str(path))
    after = load(str(path))
    assert len(after.own) == 8
    assert [(row.key, row.amount, row.notes) for row in after.own[:2]] == [(row.key, row.amount, row.notes) for row in before]
    assert all(line in path.read_bytes().decode() for line in there.splitlines())


@given(st.lists(st.text(st.characters(exclude_characters="\r\n"), max_size=20), max_size=4), st.booleans())
def test_whatever_lines_there_are_stay(lines: list[str], ends: bool):
    content = ("provider,model,component,amount\n" + "\n".join(lines) + ("\n" if ends else "")).encode(errors="surrogatepass")
    cells = cells_of_sheet("acme/perm", {"input": "2"})
    found = edited_table(content, TYPED_ORDER, cells)
    assert found.startswith(content) and found.endswith(b"acme,perm,input,2\n")


@in_one_test(
    ("name", "items", "kind", "message"),
    [
        ("acme", {"input": "2"}, WrongValue, "'acme' is not provider/model, such as acme/perm"),
        ("acme/perm", {}, WrongValue, "'acme/perm' has no price. Give input=2 output=10"),
        ("acme/perm", {"cached_input": "2"}, WrongValue, "is neither a price nor a field of a sheet; did you mean 'cache_read'?"),
        ("acme/perm", {"Cached Input": "2"}, WrongValue, "is neither a price nor a field of a sheet; did you mean 'cache_read'?"),
        ("acme/perm", {"colour": "red"}, WrongValue, "'colour' is neither a price nor a field of a sheet; allowed: input, "),
        ("acme/perm", {"input@@": "2"}, WrongValue, "is not component[@threshold][:lifetime]"),
        ("acme/perm", {"input": "2"}, WrongData, "'acme/perm' input: acme/perm (standard) has input and no output at threshold 0"),
        ("acme/perm", {"input": "2", "output": "1e-6"}, WrongData, "Is it per token? Write 1"),
        ("acme/perm", {"input@200k": "2", "input@200000": "3"}, WrongValue, "'input@200k' and 'input@200000' are the same price. Give one"),
        ("acme/perm", {"input": "2", "output": "8", "max_context": "1G"}, WrongData, "tokens such as 131072, 200k or 1M"),
        ("acme/perm", {"input": "2", "output": "8", "release_date": "May"}, WrongValue, "release_date 'May' is not an ISO date"),
        ("acme/perm", {"input": "2", "output": "8", "notes": "=1+1"}, WrongData, "column notes: '=1+1' is a spreadsheet formula"),
        ("acme/perm", {"input": "2", "output": "8", "cache_read@200k": "1"}, WrongData, "so this cache_read has no band"),
        ("acme/perm\ud83d", {"input": "2", "output": "8"}, WrongValue, "model 'perm\\ud83d' holds the control character U+D83D"),
        ("acme/perm", {"input": "2\udcff", "output": "8"}, WrongValue, "which is invisible"),
    ],
)
def test_a_sheet_that_is_wrong_is_refused_with_what_is_allowed(name: str, items: dict, kind: type[BacksolveError], message: str):
    with pytest.raises(kind) as caught:
        addition(name, items, shipped_data())
    assert message in str(caught.value) and not isinstance(caught.value, UnknownName)


def test_a_price_that_the_file_has_is_not_added_again(tmp_path: Path):
    path = tmp_path / "mine.csv"
    add_to_file("acme/perm", TYPED, shipped_data(), str(path))
    before = path.read_bytes()
    said = r"^'acme/perm' input: overlaps .*the older price must end .valid_to. before the newer one begins; give effective_date="
    with pytest.raises(WrongData, match=said.replace("input:", "input, column effective_date:")):
        add_to_file("acme/perm", {"input": "3", "output": "10"}, shipped_data(), str(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("columns", ["provider,model,component,amount,notes", "provider,valid_to,model,component,amount,notes"])
def test_an_older_price_ends_where_the_added_one_begins_and_nothing_else_of_it_changes(tmp_path: Path, columns: str, end: str):
    path = tmp_path / "mine.csv"
    blank = "," if "valid_to" in columns else ""
    prices = ("input,2", "output,8", "cache_read,0.2")
    lines = [columns, *(f'acme,{blank}perm,{price},"a ""b"", c"' for price in prices), f"x,{blank}y,input,1,", f"x,{blank}y,output,2,"]
    path.write_bytes((end.join(lines) + end).encode())
    found = add_to_file("acme/perm", {"input": "3", "output": "10", "effective_date": "2026-12-01"}, shipped_data(), str(path))
    assert [(row.component, row.amount, row.valid_to) for row in found.closed] == [("input", 2, None), ("output", 8, None)]
    book = load(str(path))
    of_model = [row for row in book.own if row.model == "perm"]
    assert [(row.component, row.amount, str(row.effective_date), str(row.valid_to), row.notes) for row in of_model] == [
        ("input", 2, "None", "2026-12-01", 'a "b", c'), ("output", 8, "None", "2026-12-01", 'a "b", c'),
        ("cache_read", 0.2, "None", "None", 'a "b", c'), ("input", 3, "2026-12-01", "None", ""), ("output", 10, "2026-12-01", "None", ""),
    ]  # fmt: skip
    assert [row.valid_to for row in book.own if row.model == "y"] == [None, None]
    assert path.read_bytes().count(b"\r\n") == (path.read_bytes().count(b"\n") if end == "\r\n" else 0)


def test_of_several_additions_at_once_none_is_lost(tmp_path: Path):
    path = str(tmp_path / "mine.csv")
    data = shipped_data()
    threads = [Thread(target=add_to_file, args=(f"acme/m{n}", {"input": "2", "output": "8"}, data, path)) for n in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert {row.model for row in load(path).own} == {f"m{n}" for n in range(6)}


def test_the_shipped_table_is_edited_and_not_added_to(tmp_path, monkeypatch):
    """Its rows need a source and a grade. A link to it is the same file."""
    monkeypatch.setattr(add, "FOLDER", str(tmp_path))
    (tmp_path / "prices.csv").write_text("provider,model\n", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "prices.csv")
    for name in ("prices.csv", "link.csv"):
        with pytest.raises(WrongValue, match="shipped table"):
            add_to_file("acme/lm", {"input": "2", "output": "10"}, shipped_data(), str(tmp_path / name))


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
    for text in ("EUR 10/20; rate 1.08", "10/20 EUR; usd_rate 1.08"):
        assert {(row.currency, row.usd_rate) for row in load(typed_sheet(text)).own} == {("EUR", 1.08)}
    unknown = call("infer", "--prices", "EUR 10/20")
    assert unknown.status == 2 and "as usd_rate" in unknown.err and len(unknown.err.splitlines()) == 1
