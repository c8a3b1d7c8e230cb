"""Price files of every wrong kind: each fault named by file, row and column, nothing else raised, the rest read on."""

import csv
import dataclasses
import io
import os
import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.errors import BacksolveError, WrongData, hidden, trimmed
from derive.tables import lines as csv_lines
from derive.tables import shipped
from derive.tables.lines import Problem
from invert.sheets.read import load, read_rows
from invert.sheets.rows import OWN_COLUMNS, PRICE_COLUMNS, FxRate, PriceRow
from invert.sheets.rules import check
from tests.tools.together import in_one_test

HEADER = ",".join(PRICE_COLUMNS)
INPUT = "acme,acme-1,,standard,input,0,false,,,,2,USD,mtok,2026-05-01,start,,2026-11-20,https://acme.example,official,"
OUTPUT = INPUT.replace("input", "output").replace(",2,USD", ",10,USD")
FX = {
    "CNY": (
        FxRate(currency="CNY", date=date(2026, 1, 1), units_per_usd=7.0),
        FxRate(currency="CNY", date=date(2026, 11, 1), units_per_usd=8.0),
    )
}
GOOD = dict(zip(PRICE_COLUMNS, INPUT.split(","), strict=True))


def row_text(**changed: str) -> str:
    """A good row with some cells changed."""
    return ",".join((GOOD | changed).values())


def read(*rows: str, header: str = HEADER, overlay: bool = False) -> tuple[list[PriceRow], list[Problem]]:
    return read_rows([header, *rows], "prices.csv", FX, overlay)


def of_bytes(content: bytes) -> tuple[list[PriceRow], list[Problem]]:
    return read_rows(io.BytesIO(content), "my.csv", FX, overlay=True)


def test_a_row_is_read_with_its_types():
    rows, problems = read(INPUT, row_text(component="cache_write", ttl_seconds="300", amount="2.5e0", threshold_inclusive="TRUE"))
    assert problems == []
    assert rows[0].effective_date == date(2026, 5, 1) and rows[0].valid_to is None and rows[0].ttl_seconds is None
    assert (rows[1].amount, rows[1].ttl_seconds, rows[1].threshold_inclusive, rows[1].origin) == (2.5, 300, True, "prices.csv:3")


WRONG_CELLS = [
    ({"amount": '"1,25"'}, "amount", "'1,25' is not a number. Write 1.25"),
    ({"amount": "'2.5"}, "amount", "is not a number. Write 2.5"),
    ({"amount": '"""2"""'}, "amount", "is not a number. Write 2"),
    ({"amount": '"1.234,50"'}, "amount", "'1.234,50' is not a number. Write 1234.50"),
    ({"amount": '"1,000"'}, "amount", "'1,000' is not a number. Write a plain 1.25 or 1e-3, without unit, sign or separator"),
    ({"amount": "$5"}, "amount", "'$5' is not a number"),
    ({"amount": "NaN"}, "amount", "not a number"),
    ({"amount": "1_000"}, "amount", "not a number"),
    ({"amount": "٣"}, "amount", "not a number"),
    ({"amount": ""}, "amount", "blank"),
    ({"amount": "-5"}, "amount", "negative"),
    ({"amount": "0"}, "amount", "zero"),
    ({"amount": "1e-400"}, "amount", "absurd"),
    ({"amount": "1e-12"}, "amount", "absurd"),
    ({"amount": "100001"}, "amount", "absurd"),
    ({"amount": "1e999"}, "amount", "absurd"),
    ({"amount": "900000", "currency": "CNY"}, "amount", "absurd"),
    ({"amount": "=1+1"}, "amount", "formula"),
    ({"effective_date": "9999-12-31"}, "effective_date", "9999-12-31 is out of range: it must be 2100-01-01 or earlier"),
    ({"weekdays": "5-1"}, "weekdays", "has days that overlap, or that are not in the order of the week"),
    ({"weekdays": "1-8"}, "weekdays", "does not have the form of 1-5, 1 being Monday"),
    ({"model": "=cmd|' /C calc'!A0"}, "model", "formula"),
    ({"model": "\uff1dcmd"}, "model", "a cell may not begin with"),
    ({"notes": "-1"}, "notes", "formula"),
    ({"source_url": "@SUM(A1)"}, "source_url", "formula"),
    ({"notes": "a\0b"}, "notes", "NUL"),
    ({"notes": "a\x1b[2J"}, "notes", "control character"),
    ({"notes": "n" * 10_001}, "notes", "more than 10000"),
    ({"provider": " "}, "provider", "blank"),
    ({"verification": ""}, "verification", "blank"),
    ({"service_tier": "Standard"}, "service_tier", "'Standard' is not known; did you mean 'standard'?"),
    ({"component": "cache_storage", "amount": "5000", "per": "mtok_hour"}, "amount", "absurd"),
    ({"component": "outptu"}, "component", "did you mean 'output'?"),
    ({"component": "cached_input"}, "component", "did you mean 'cache_read'?"),
    ({"threshold_tokens": "2E+05"}, "threshold_tokens", "'2E+05' is not a whole number. Write 200000"),
    ({"threshold_tokens": "200k"}, "threshold_tokens", "'200k' is not a whole number. Write 200000"),
    ({"threshold_tokens": "-1"}, "threshold_tokens", "'-1' is negative"),
    ({"threshold_tokens": "9" * 5000}, "threshold_tokens", "is too large. Write at most 12 digits"),
    ({"threshold_inclusive": "maybe"}, "threshold_inclusive", "Write true or false"),
    ({"ttl_seconds": "300.0", "component": "cache_write"}, "ttl_seconds", "not a whole number. Write 300"),
    ({"ttl_seconds": "5min", "component": "cache_write"}, "ttl_seconds", "not a whole number. Write 300"),
    ({"utc_hours": "25:00-26:00"}, "utc_hours", "does not have the form of"),
    ({"utc_hours": "00:00-10:00;08:00-12:00"}, "utc_hours", "has hours that overlap"),
    ({"utc_hours": "16:30-00:30;00:15-02:00"}, "utc_hours", "has hours that overlap"),
    ({"ttl_seconds": "0", "component": "cache_write"}, "ttl_seconds", "zero"),
    ({"ttl_seconds": "999999999", "component": "cache_write"}, "ttl_seconds", "out of range"),
    ({"ttl_seconds": "300"}, "ttl_seconds", "only cache_write has a lifetime, not input"),
    ({"per": "ktok"}, "per", "'ktok' is not known. Multiply the amount by 1,000 and write mtok"),
    ({"per": "mtok_hour"}, "per", "input is not priced per mtok_hour"),
    ({"component": "cache_storage"}, "per", "cache_storage is not priced per mtok"),
    ({"currency": "usd"}, "currency", "did you mean 'USD'?"),
    ({"currency": "XYZ"}, "currency", "'XYZ' is not known; allowed: USD, CNY"),
    ({"effective_date": "20260501"}, "effective_date", "not an ISO date"),
    ({"effective_date": "2026-02-30"}, "effective_date", "not an ISO date"),
    ({"retrieved_date": "yesterday"}, "retrieved_date", "not an ISO date"),
    ({"effective_date": "45992"}, "effective_date", "a spreadsheet writes 2025-12-01 as this number"),
    ({"effective_date": "02-Oct"}, "effective_date", "a spreadsheet writes dates in this form"),
    ({"amount": "02-Oct"}, "amount", "a spreadsheet took it for a date"),
    ({"amount": "8 USD"}, "amount", "'8 USD' is not a number. Write a plain 1.25"),
    ({"valid_to": "2026-05-01"}, "valid_to", "not after effective_date 2026-05-01"),
    ({"date_kind": "began"}, "date_kind", "not known"),
    ({"date_kind": ""}, "date_kind", "must be filled if effective_date is"),
    ({"model": "#REF!"}, "model", "'#REF!' is the error text of a spreadsheet formula"),
    ({"amount": "########"}, "amount", "in a narrow column: make the column wider"),
    ({"notes": "a\udce9"}, "notes", "which is invisible"),
    ({"service_tier": "st\u0430ndard"}, "service_tier", "is not known"),
]


@in_one_test(("changed", "column", "message"), WRONG_CELLS)
def test_a_wrong_cell_is_named_and_the_rest_is_read(changed: dict[str, str], column: str, message: str):
    rows, problems = read(row_text(model="other"), row_text(**changed), OUTPUT)
    text = str(problems[0])
    assert len(problems) == 1
    assert text.startswith(f"prices.csv row 3, column {column}: ") and message in text
    assert "\n" not in text and len(text) < 300
    assert [row.model for row in rows] == ["other", "acme-1"]


def test_every_wrong_cell_of_a_row_is_named():
    _, problems = read(row_text(amount="x", threshold_tokens="y", effective_date="z"))
    assert [problem.column for problem in problems] == ["threshold_tokens", "amount", "effective_date"]


WRONG_ROWS = [
    (INPUT.rsplit(",", 1)[0], "the header has 20 cells, and the row has 19"),
    (INPUT + "too,many", "and the row has 21"),
    ('a"b,"c"d,' + INPUT, "is not CSV"),
    (INPUT + '"never closed', "is not CSV"),
    (INPUT + "n" * 64_000, "longer than 64 kB"),
    (INPUT + "a\rb", "line break"),
]


@in_one_test(("line", "message"), WRONG_ROWS)
def test_a_wrong_row_is_named_and_the_rest_is_read(line: str, message: str):
    rows, problems = read(line, OUTPUT)
    assert [row.component for row in rows] == ["output"]
    assert len(problems) == 1 and str(problems[0]).startswith("prices.csv row 2: ") and message in str(problems[0])
    assert "\n" not in str(problems[0]) and len(str(problems[0])) < 300


CLASHES = [
    (row_text(amount="3"), "effective_date", "repeats the key of prices.csv:2"),
    (row_text(effective_date="2026-06-01"), "effective_date", "overlaps prices.csv:2"),
    (row_text(effective_date="2026-01-01", valid_to="2026-05-02"), "effective_date", "overlaps prices.csv:2"),
    (row_text(effective_date="", date_kind=""), "effective_date", "overlaps prices.csv:2"),
    (row_text(effective_date="2026-07-01", date_kind="verified"), "effective_date", "overlaps prices.csv:2"),
]


@in_one_test(("second", "column", "message"), CLASHES)
def test_of_two_rows_for_one_day_the_second_is_named_with_the_first(second: str, column: str, message: str):
    rows, problems = read(INPUT, second, OUTPUT)
    assert [row.origin for row in rows] == ["prices.csv:2", "prices.csv:4"]
    assert [str(problem)[: len(f"prices.csv row 3, column {column}: ")] for problem in problems] == [f"prices.csv row 3, column {column}: "]
    assert message in str(problems[0])


def test_a_price_that_ends_where_the_next_begins_does_not_overlap():
    rows, problems = read(row_text(valid_to="2026-06-01"), row_text(effective_date="2026-06-01"), row_text(region="eu"))
    assert problems == [] and len(rows) == 3


WRONG_FILES = [
    (b"", "is empty"),
    (b"\xef\xbb\xbf", "is empty"),
    (b"provider,model,component,amount\n", "has a header and no rows"),
    (b"provider,model,component\na,b,input\n", "row 1: there is no column amount"),
    (b"provider,model,component,ammount\na,b,input,1\n", "did you mean 'amount'?"),
    (b"provider;model;component;amount\na;b;input;1\n", "separated by commas, not ';'"),
    (b"provider,model,component,amount,amount\na,b,input,1,2\n", "row 1, column amount: is twice"),
    ("provider,model,component,amount\na,b,input,1\n".encode("utf-16"), "row 1: this is UTF-16"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "row 1: byte 0x89 at position 1 is not UTF-8"),
    (b"\0" * 100, "UTF-16 or not text"),
    (b"provider,model,component,amount\ra,b,input,1\r", "line break"),
    (b'provider,"model,component,amount\na,b,input,1\n', "row 1: is not CSV"),
    (b"x" * 70_000, "row 1: the line is longer than 64 kB"),
    (b"provider,model,component,amount,Amount\xc2\xa0\na,b,input,1,2\n", "row 1, column amount: is twice"),
    (b"sep=,\nprovider,model,component,amount\na,b,input,1\n", "row 1: 'sep=' is a line for spreadsheets. Remove it"),
]


@pytest.mark.parametrize(("content", "message"), WRONG_FILES)
def test_a_file_that_cannot_be_used_raises_one_plain_line(content: bytes, message: str, tmp_path):
    path = tmp_path / "my.csv"
    path.write_bytes(content)
    with pytest.raises(WrongData) as caught:
        load(path)
    assert "my.csv" in str(caught.value) and message in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("context_window", "max_context"), ("Context window", "max_context"), ("price_per_mtok", "amount"), ("USD per MTok", "amount"),
        ("USD/MTok", "amount"), ("Vendor", "provider"), ("url", "source_url"),
    ],
)  # fmt: skip
def test_an_unknown_column_that_others_use_for_one_of_ours_is_named_with_that(name: str, ours: str):
    header = ",".join(
        name if column == ours else column for column in ("provider", "model", "component", "amount", "max_context", "source_url")
    )
    with pytest.raises(WrongData, match=f"unknown column '{name}'; did you mean '{ours}'"):
        read_rows([header, "a,m,input,2,1000,"], "own.csv", overlay=True)


@pytest.mark.parametrize("name", ["prices", "prices_calibration", "prices_rivals"])
def test_the_columns_of_prices_are_those_of_their_description_and_of_their_row(name: str):
    described = [field["name"] for field in shipped.read().schema(name)["fields"]]
    of_row = [field.name for field in dataclasses.fields(PriceRow) if field.name not in ("origin", "currency_assumed")]
    own = ["max_context", "release_date", "usd_rate"]
    assert [*PRICE_COLUMNS, *own] == [*described, *own] == of_row == list(OWN_COLUMNS)


@in_one_test("start", [b"", b"\xef\xbb\xbf"])
@in_one_test("end", [b"\n", b"\r\n"])
@in_one_test("last", [b"", b"end"])
def test_byte_order_mark_line_ends_and_a_missing_last_one_do_not_matter(start: bytes, end: bytes, last: bytes):
    lines = [b"amount,model,component,provider", b"2,m,input,a", b" 10 , m ,output,a", b"4.5,m,cache_storage,a"]
    rows, problems = of_bytes(start + end.join(lines) + (b"" if last else end))
    assert problems == [] and [(row.amount, row.per, row.verification) for row in rows] == [
        (2.0, "mtok", "user"),
        (10.0, "mtok", "user"),
        (4.5, "mtok_hour", "user"),
    ]
    assert rows[0].effective_date is None and rows[0].service_tier == "standard" and rows[0].origin == "my.csv:2"


def test_quoted_cells_hold_commas_and_quotes_and_text_is_never_run():
    name = "__import__('os').system('true')"
    rows, problems = of_bytes(f'provider,model,component,amount,notes\na,{name},input,1,"say ""yes"", twice"\n'.encode())
    assert problems == [] and (rows[0].model, rows[0].notes) == (name, 'say "yes", twice')


def test_many_faults_are_counted_beyond_the_first_thousand():
    _, problems = of_bytes(b"provider,model,component,amount\n" + b"a,b,input,x\n" * 1500)
    assert len(problems) == 1001 and str(problems[-1]) == "my.csv: has 500 more faults like these"


def test_as_many_rows_as_the_limit_are_read(monkeypatch):
    monkeypatch.setattr(csv_lines, "ROW_LIMIT", 20)
    lines = ["provider,model,component,amount", *(f"a,m{i},input,1" for i in range(20))]
    assert len(read_rows(lines, "my.csv", overlay=True)[0]) == 20
    with pytest.raises(WrongData, match=r"my\.csv has more than 20 rows"):
        read_rows([*lines, ""], "my.csv", overlay=True)


def unreadable(kind: str, tmp_path) -> str:
    path = tmp_path / "my.csv"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "huge":
        with open(path, "wb") as stream:
            stream.truncate(128 * 1024**2 + 1)
    return {"device": "/dev/zero", "NUL": "my\0.csv", "surrogate": "my\udcff.csv", "nothing": "", "long": "my.csv" * 5000}.get(
        kind, str(path)
    )


@pytest.mark.parametrize("kind", ["absent", "pipe", "directory", "huge", "device", "NUL", "surrogate", "nothing", "long"])
def test_what_is_no_readable_file_is_refused_at_once(kind: str, tmp_path):
    path = unreadable(kind, tmp_path)
    with pytest.raises(WrongData, match="cannot be read") as caught:
        load(path)
    assert "\n" not in str(caught.value) and str(caught.value).isprintable()


# The overlay.


@pytest.fixture
def little(tmp_path, monkeypatch):
    """Two shipped rows and a rate, in place of the real files."""
    tmp_path.joinpath("prices.csv").write_text(
        "\n".join([HEADER, INPUT, row_text(amount="3", effective_date="2026-01-01", valid_to="2026-05-01"), OUTPUT])
    )
    tmp_path.joinpath("fx.csv").write_text("currency,date,units_per_usd,source,verification,notes\nCNY,2026-11-20,7,assumed,assumed,\n")
    for name in ("models.csv", shipped.DESCRIPTION):
        tmp_path.joinpath(name).write_bytes(shipped.read().content(name))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    return tmp_path


def amounts(book) -> list[tuple[str, float]]:
    return [(row.component, row.amount) for row in book.rows]


def test_the_shipped_files_alone(little):
    book = load()
    assert amounts(book) == [("input", 2.0), ("input", 3.0), ("output", 10.0)]
    assert book.newest_retrieved == date(2026, 11, 20) and book.fx["CNY"][0].units_per_usd == 7


# Anything at all.


def whatever_happens(source, overlay: bool) -> None:
    """Rows and printable problems, or a BacksolveError in at most two lines."""
    try:
        rows, problems = read_rows(source, "my.csv", FX, overlay)
    except BacksolveError as error:
        assert str(error).count("\n") <= 1 and "my.csv" in str(error)
    else:
        assert all(isinstance(row, PriceRow) and row.amount >= 0 for row in rows)
        assert all(str(problem).startswith("my.csv") and "\n" not in str(problem) for problem in problems)


@settings(max_examples=300)
@given(st.binary(max_size=400), st.booleans(), st.booleans())
def test_any_bytes(content: bytes, headed: bool, overlay: bool):
    head = (HEADER if not overlay else "provider,model,component,amount").encode() + b"\n"
    whatever_happens(io.BytesIO(head + content if headed else content), overlay)


# Characters that do not show.

UNSEEN = ["\u00a0", "\u00ad", "\u061c", "\u200b", "\u200e", "\u2060", "\ufeff", "\ufe0f", "\u3164", "\u2003", "\u202e", "\U000e0001"]
TEXTS = (
    *("provider", "model", "region", "service_tier", "component", "utc_hours", "weekdays"),
    *("currency", "per", "verification", "source_url", "notes"),
)


@in_one_test("column", TEXTS)
@in_one_test("mark", UNSEEN)
def test_a_character_that_does_not_show_is_refused_by_row_column_and_name(column: str, mark: str):
    rows, problems = read(INPUT, row_text(**{column: f"a{mark}b"}))
    assert len(rows) == 1 and len(problems) == 1
    assert str(problems[0]).startswith(f"prices.csv row 3, column {column}: ") and f"U+{ord(mark):04X} (" in problems[0].message
    assert "is invisible" in problems[0].message


# Prices per token.

PER_MILLION = [*(("USD", component, amount) for component in ("input", "output", "cache_write") for amount in (0.05, 0.25, 2.5, 75))]
PER_MILLION += [("USD", "output", 600), ("CNY", "input", 0.8), ("USD", "cache_read", 0.0028), ("CNY", "cache_storage", 0.017)]


@in_one_test(("currency", "component", "amount"), PER_MILLION)
def test_a_price_per_token_is_not_taken_as_one_per_million(currency: str, component: str, amount: float):
    header = "provider,model,component,currency,amount"
    rows, problems = read(f"a,m,{component},{currency},{amount}", header=header, overlay=True)
    assert problems == [] and rows[0].amount == amount
    rows, problems = read(f"a,m,{component},{currency},{amount / 1e6:.12g}", header=header, overlay=True)
    assert rows == [] and (problems[0].row, problems[0].column) == (2, "amount")
    assert problems[0].message.endswith(f". Is it per token? Write {amount:g}")


# The day whose prices hold.

OWN = "provider,model,component,amount,retrieved_date\n"


@in_one_test(
    ("days", "day", "far"),
    [
        (["2026-12-20"], "2026-12-20", None),
        (["2026-11-19", "2016-11-20"], "2026-11-20", None),
        (["2027-11-20", "2027-11-20"], "2027-11-20", None),
        (["2027-11-21"], "2027-11-21", None),
        (["2027-11-22"], "2026-11-20", 2),
        (["2062-11-20"], "2026-11-20", 2),
        (["2026-12-01", "2062-11-20", "9999-12-31"], "2026-12-01", 3),
        (["9999-12-31"], "2026-11-20", 2),
        (["2028-03-01", "2027-08-01"], "2028-03-01", None),
        (["0001-01-01"], "2026-11-20", None),
        (["2028-11-20"] * 4, "2026-11-20", 2),
        (["2062-11-20"] * 400, "2026-11-20", 2),
        (["2027-05-01", *["2062-11-20"] * 400], "2027-05-01", 3),
        (["2020-01-01"] * 400, "2026-11-20", None),
    ],
)
def test_a_far_off_day_is_named_and_does_not_move_the_day(days: list[str], day: str, far: int | None, little):
    book = load(io.StringIO(OWN + "".join(f"acme,m{i},{name},1,{one}\n" for i, one in enumerate(days) for name in ("input",))))
    assert book.newest_retrieved == date.fromisoformat(day)
    assert [problem.row for problem in book.far_off] == ([far] if far else [])
    assert [*map(str, book.far_off)] == [note for note in book.notes_on_day if "are used" in note]


def test_a_row_of_ones_own_that_moves_the_day_is_told(little):
    assert load().day_moved == ""
    assert load(io.StringIO(OWN + "acme,m,input,1,2026-11-20\n")).day_moved == ""
    moved = load(io.StringIO(OWN + "acme,m,input,1,2026-11-21\nacme,m,output,1,2027-02-03\nacme,n,output,1,2027-02-03\n"))
    said = "prices are of 2027-02-03, the retrieved_date of standard input row 3; the shipped ones were read on 2026-11-20"
    assert moved.day_moved == said


# A blank currency.

MONEY = "provider,model,service_tier,component,amount,currency"


@in_one_test(
    ("rows", "refused"),
    [
        (["a,m,,input,1,", "a,m,,output,4,CNY"], [2]),
        (["a,m,,input,1,CNY", "a,m,,output,4, "], [3]),
        (["a,m,,input,1,CNY", "a,m,,output,4,USD"], []),
        (["a,m,,input,1,", "a,m,,output,4,USD"], []),
        (["a,m,,input,1,", "a,m,,output,4,"], []),
        (["a,m,,input,1,", "a,n,,input,1,CNY", "b,m,,input,1,CNY"], []),
        (["a,m,,input,1,", "a,m,batch,input,1,CNY", "a,m,,output,4,"], [2, 4]),
        (["a,m,,input,1,", "a,m,,output,4,CNY", "a,m,,input,7,CNY"], [2]),
    ],
)
def test_a_blank_currency_is_not_dollars_beside_another(rows: list[str], refused: list[int]):
    read_, problems = read(*rows, header=MONEY, overlay=True)
    blank = [problem for problem in problems if problem.column == "currency"]
    assert [problem.row for problem in blank] == refused
    assert all("is blank, and prices.csv:" in problem.message and "Write CNY or USD" in problem.message for problem in blank)
    assert not {row.origin for row in read_} & {f"prices.csv:{place}" for place in refused}


# A price file with a few slips: each row is read as it stands, or named.

SLIPS = st.one_of(
    st.sampled_from(["\u00a0", "\u200b", "\u00ad", "\u2060", "\ufe0f", "e\u0301", "\x1b", "|", "[x](y)", "=", "CNY", "", "0", "-0"]),
    st.sampled_from(["1e-400", "1e-7", "1e400", "0.001", "2062-11-20", "9999-12-31", "2026-12-01", "2026-02-30", "true", "60000"]),
    st.characters(),
)
DATES = ("effective_date", "valid_to", "retrieved_date")
COLUMNS = ("provider", "model", "component", "threshold_tokens", "amount", "currency", *DATES, "notes")
SOUND = [
    ["acme", "m", name, str(1000 * band), str(at + band), "USD", "", "", "2026-11-20", "as published"]
    for band in range(11)
    for name, at in (("input", 1), ("output", 4))
]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(0, len(COLUMNS) - 1), SLIPS, st.booleans()), max_size=4))
def test_a_row_with_a_slip_is_read_as_it_stands_or_named(slips: list[tuple[int, int, str, bool]]):
    rows = [list(row) for row in SOUND]
    for place, column, slip, added in slips:
        rows[place][column] = rows[place][column] + slip if added else slip
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    if "\r" in text.getvalue() or text.getvalue().count("\n") > len(rows) + 1:
        return
    try:
        book = load(io.BytesIO(text.getvalue().encode("utf-8", "surrogatepass")))
    except WrongData as error:
        assert slips and all(line.isprintable() and re.match(r"standard input row \d+", line) for line in str(error).splitlines())
        return
    assert book.newest_retrieved.year <= 2027
    assert all(str(problem).isprintable() for problem in check(book))
    for row, cells in zip(book.own, rows, strict=True):
        given = dict(zip(COLUMNS, map(trimmed, cells), strict=True))
        for name in ("provider", "model", "component", "notes"):
            assert getattr(row, name) == given[name] and not hidden(given[name])
        assert Decimal(given["amount"]) == Decimal(repr(row.amount)) and row.currency == (given["currency"] or "USD")
        assert row.threshold_tokens == int(given["threshold_tokens"] or 0)
        assert [str(getattr(row, name) or "") for name in DATES] == [given[name] for name in DATES]
