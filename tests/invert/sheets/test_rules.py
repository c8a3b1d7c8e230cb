"""Rules across the rows of a sheet: what is missing, what has no place, what contradicts."""

import random
from datetime import date, timedelta

import pytest

from derive.tables.lines import BadRow, Problem
from invert.sheets import rules as checking
from invert.sheets.assemble import sheets
from invert.sheets.read import read_rows
from invert.sheets.rows import PriceBook, PriceRow
from invert.sheets.rules import BAND_LIMIT, PRICE_LIMIT, broken, check, rows_by_sheet, strays
from tests.tools.together import in_one_test

HEADER = "provider,model,component,amount,threshold_tokens,threshold_inclusive,ttl_seconds,effective_date,valid_to,utc_hours,date_kind"
BASE = ["acme,m,input,2,,,,,,,", "acme,m,output,10,,,,,,,"]
BAND = ["acme,m,input,4,200000,,,,,,", "acme,m,output,15,200000,,,,,,"]
OTHER = ["other,n,input,1,,,,,,,", "other,n,output,4,,,,,,,"]


def book_of(*rows: str) -> PriceBook:
    read, problems = read_rows([HEADER, *rows], "prices.csv", overlay=True)
    assert not problems
    return PriceBook(rows=tuple(read), fx={}, newest_retrieved=date(2026, 11, 20))


def test_a_sound_book_has_no_problem():
    assert check(book_of(*BASE, *BAND, *OTHER, "acme,m,cache_read,0.2,,,,,,,", "acme,m,cache_write,2.5,,,300,,,,")) == []


# The rows beside a sound sheet of `other`, and what is said of which row.
FAULTY = [
    (BASE[:1], (2, "component"), "acme/m (standard) has input and no output at threshold 0"),
    (BASE[1:], (2, "component"), "has output and no input at threshold 0"),
    (["acme,m,cache_read,0.2,,,,,,,"], (2, "component"), "has neither an input nor an output price"),
    (BAND, (2, "threshold_tokens"), "has no base row (threshold 0)"),
    ([*BASE, BAND[0]], (4, "component"), "has input and no output at threshold 200000"),
    ([*BASE, BAND[1]], (4, "component"), "has output and no input at threshold 200000"),
    ([*BASE, BAND[0], "acme,m,output,15,200000,true,,,,,"], (5, "threshold_inclusive"), "prices.csv:4 has false for this band"),
    (
        [*BASE, "acme,m,input,1,,,,,,01:00-04:00,"],
        (4, "utc_hours"),
        "prices.csv:2 prices the same item. Other hours need another service tier",
    ),
    ([*BASE, "acme,m,cache_read,0.4,200000,,,,,,"], (4, "threshold_tokens"), "so this cache_read has no band"),
    ([*BASE, *BAND, "acme,m,cache_write,5,200000,,300,,,,"], (6, "threshold_tokens"), "cache_write has no base row"),
    (
        [*BASE, *BAND, "acme,m,cache_read,1,,,,,,,", "acme,m,cache_read,2,200000,true,,,,,"],
        (7, "threshold_inclusive"),
        "Write one of the two",
    ),
]


@in_one_test(("rows", "place", "message"), FAULTY)
def test_a_fault_across_rows_is_named(rows: list[str], place: tuple[int, str], message: str):
    book = book_of(*rows, *OTHER)
    (problem,) = check(book)
    assert (problem.row, problem.column) == place and message in problem.message
    with pytest.raises(BadRow) as caught:
        sheets(book)
    assert caught.value.problems == (problem,)


# Large books.


def day(number: int) -> str:
    return str(date(1950, 1, 1) + timedelta(days=number))


def many(kind: str, count: int) -> PriceBook:
    """Sound sheets of `2 * count` rows and more, whose rows change on `count` days."""
    traded = [(i, name, amount) for i in range(count) for name, amount in (("input", 1), ("output", 4))]
    rows = {
        "end to end": [f"a,m,{name},{amount},,,,{day(i)},{day(i + 1)},," for i, name, amount in traded],
        "with gaps": [f"a,m,{name},{amount},,,,{day(2 * i)},{day(2 * i + 1)},," for i, name, amount in traded],
        "lifetimes": [*BASE, *(f"acme,m,cache_write,1,,,{i % 60 + 1},{day(i)},{day(i + 60)},," for i in range(2 * count))],
        "reads only": ["acme,m,input,1,,,,2099-01-01,,,", *(f"acme,m,cache_read,1,,,,{day(i)},{day(i + 1)},," for i in range(2 * count))],
    }[kind]
    if kind == "reads only":
        rows.append("acme,m,output,1,,,,2099-01-01,,,")
    return book_of(*rows)


@pytest.mark.parametrize("kind", ["end to end", "with gaps", "lifetimes", "reads only"])
def test_the_rows_looked_at_grow_with_the_days_and_not_with_their_square(kind: str, monkeypatch):
    looked_at = 0

    def counted(valid: list[PriceRow], *rest: object) -> list[Problem]:
        nonlocal looked_at
        looked_at += len(valid)
        return broken(valid, *rest)

    monkeypatch.setattr(checking, "broken", counted)
    monkeypatch.setattr(PriceRow, "valid_on", lambda *_: pytest.fail("every row looked at on every day"))
    book = many(kind, 300)
    assert check(book) == [] and looked_at <= 65 * len(book.rows)


def test_the_days_swept_are_those_of_every_row(little_history):
    """The sweep finds what looking at every row on every day finds."""
    rows, expected = little_history
    assert {(problem.row, problem.column) for problem in check(book_of(*rows))} == expected


def by_hand(book: PriceBook) -> set[tuple[int | None, str | None]]:
    """Where the faults of a book lie, every row looked at on every day on which something begins or ends."""
    found = set[tuple[int | None, str | None]]()
    for rows in rows_by_sheet(book.rows).values():
        traded = any(row.component in ("input", "output") for row in rows)
        for when in {book.newest_retrieved, *(row.start for row in rows), *(row.valid_to for row in rows if row.valid_to)}:
            valid = [row for row in rows if row.start <= when < row.end]
            faults = broken(valid, traded, when) or strays(valid)
            found |= {(problem.row, problem.column) for problem in faults}
    return found


@pytest.fixture(params=range(40))
def little_history(request) -> tuple[list[str], set[tuple[int | None, str | None]]]:
    chance = random.Random(request.param)

    def one() -> str:
        name, at, start = chance.choice(["input", "output", "cache_read"]), chance.choice(["", "", "8000"]), chance.choice(["", *range(6)])
        end = chance.choice(["", *range(int(start or 0) + 1, 9)])
        dates = ",".join(part if part == "" else day(part) for part in (start, end))
        return f"a,m,{name},{chance.randint(1, 9)},{at},{chance.choice(['', 'true'])},,{dates},,"

    rows: list[str] = []
    for line in (one() for _ in range(chance.randint(2, 14))):
        if not read_rows([HEADER, *rows, line], "prices.csv", overlay=True)[1]:
            rows.append(line)
    return rows, by_hand(book_of(*rows))


@pytest.mark.parametrize(("count", "column"), [(BAND_LIMIT + 1, "threshold_tokens"), (3_000, "threshold_tokens")])
def test_a_sheet_of_too_many_bands_is_refused_by_row(count: int, column: str):
    rows = [f"a,m,{name},{at},{1000 * i or ''},,,,,," for i in range(count) for name, at in (("input", 1), ("output", 4))]
    book = book_of(*OTHER, *rows)
    (problem,) = check(book)
    assert (problem.row, problem.column) == (4 + 2 * BAND_LIMIT, column)
    assert problem.message == f"a/m (standard) has {count} bands on 2026-11-20, and at most {BAND_LIMIT} are read"


def test_a_sheet_of_too_many_prices_on_one_day_is_refused_by_row():
    lifetimes = [f"acme,m,cache_write,1,,,{i + 1},,,," for i in range(PRICE_LIMIT - 1)]
    assert check(book_of(*BASE, *lifetimes[:-1])) == []
    (problem,) = check(book_of(*BASE, *lifetimes))
    assert (problem.row, problem.column) == (2 + PRICE_LIMIT, "component") and f"at most {PRICE_LIMIT} are read" in problem.message


def test_releases_of_one_model_agree():
    lines = ["acme,m,input,2,2026-05-01", "acme,m,output,8,", "acme,m,cache_read,0.2,2026-06-01"]
    rows, problems = read_rows(["provider,model,component,amount,release_date", *lines], "own.csv", overlay=True)
    assert problems == []
    (found,) = check(PriceBook(rows=tuple(rows), fx={}, newest_retrieved=date(2026, 11, 20)))
    said = "acme/m (standard): 2026-06-01, and own.csv:2 says 2026-05-01 of the same model"
    assert (found.row, found.column, found.message) == (4, "release_date", said)
    assert check(PriceBook(rows=tuple(rows[:2]), fx={}, newest_retrieved=date(2026, 11, 20))) == []


@pytest.mark.parametrize(
    ("contexts", "column", "said"),
    [
        ((128_000, 1_000_000, "", ""), "max_context", "m (standard): 1,000,000 tokens, and own.csv:2 says 128,000 of the same model"),
        ((128_000, "", "", ""), "threshold_tokens", "input above 200,000 tokens, which is more than the longest context 128,000"),
        (("", 200_000, "", 200_000), "", ""),
        (("", "", "", ""), "", ""),
    ],
)
def test_contexts_of_one_sheet_agree_and_no_band_begins_beyond_them(contexts: tuple[int | str, ...], column: str, said: str):
    prices = ("input,2,", "output,8,", "input,4,200000", "output,12,200000")
    lines = [f"acme,m,{price},{context}" for price, context in zip(prices, contexts, strict=True)]
    rows, problems = read_rows(["provider,model,component,amount,threshold_tokens,max_context", *lines], "own.csv", overlay=True)
    assert problems == []
    found = check(PriceBook(rows=tuple(rows), fx={}, newest_retrieved=date(2026, 11, 20)))
    assert [one.column for one in found][:1] == ([column] if column else []) and all(said in str(one) for one in found[:1])
