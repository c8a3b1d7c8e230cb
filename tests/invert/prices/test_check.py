"""Rules across the rows of a sheet: what is missing, what has no place, what contradicts."""

from datetime import date

import pytest

from invert.prices.check import check
from invert.prices.load import load, read_rows
from invert.prices.select import sheets
from invert.rows import PriceBook, Problem

HEADER = "provider,model,component,amount,threshold_tokens,threshold_inclusive,ttl_seconds,effective_date,valid_to,utc_hours,date_kind"
BASE = ["acme,m,input,2,,,,,,,", "acme,m,output,10,,,,,,,"]
BAND = ["acme,m,input,4,200000,,,,,,", "acme,m,output,15,200000,,,,,,"]
OTHER = ["other,n,input,1,,,,,,,", "other,n,output,4,,,,,,,"]


def book_of(*rows: str) -> PriceBook:
    read, problems = read_rows([HEADER, *rows], "prices.csv", overlay=True)
    return PriceBook(tuple(read), {}, tuple(problems), date(2026, 11, 20))


def test_a_sound_book_has_no_problem():
    assert check(book_of(*BASE, *BAND, *OTHER, "acme,m,cache_read,0.2,,,,,,,", "acme,m,cache_write,2.5,,,300,,,,")) == []


# The rows beside a sound sheet of `other`, what is said of which row, and the sheets of `acme` that remain.
FAULTY = [
    (BASE[:1], (2, "component"), "acme/m (standard) has input and no output at threshold 0", 0),
    (BASE[1:], (2, "component"), "has output and no input at threshold 0", 0),
    (["acme,m,cache_read,0.2,,,,,,,"], (2, "component"), "has neither an input nor an output price", 0),
    (BAND, (2, "threshold_tokens"), "has no base row (threshold 0)", 0),
    ([*BASE, BAND[0]], (4, "component"), "has input and no output at threshold 200000", 0),
    ([*BASE, BAND[1]], (4, "component"), "has output and no input at threshold 200000", 0),
    ([*BASE, BAND[0], "acme,m,output,15,200000,true,,,,,"], (5, "threshold_inclusive"), "prices.csv:4 says the opposite", 0),
    ([*BASE, "acme,m,input,1,,,,,,01:00-04:00,"], (4, "utc_hours"), "prices.csv:2 prices the same; other hours need a service tier", 0),
    ([*BASE, "acme,m,cache_read,0.4,200000,,,,,,"], (4, "threshold_tokens"), "so this cache_read has no band", 1),
    ([*BASE, *BAND, "acme,m,cache_write,5,200000,,300,,,,"], (6, "threshold_tokens"), "cache_write has no base row", 1),
    ([*BASE, *BAND, "acme,m,cache_read,1,,,,,,,", "acme,m,cache_read,2,200000,true,,,,,"], (7, "threshold_inclusive"), "opposite", 1),
]


@pytest.mark.parametrize(("rows", "place", "message", "left"), FAULTY)
def test_a_fault_across_rows_is_named_and_other_sheets_stay(rows: list[str], place: tuple[int, str], message: str, left: int):
    book = book_of(*rows, *OTHER)
    (problem,) = check(book)
    assert (problem.row, problem.column) == place and message in problem.message
    found, problems = sheets(book)
    assert problems == [problem]
    assert [sheet.provider for sheet in found] == ["acme"] * left + ["other"]


def test_a_wrong_row_names_the_row_and_the_sheet_it_costs():
    book = book_of("acme,m,input,abc,,,,,,,", BASE[1], *OTHER)
    assert [str(problem).split(":")[0] for problem in check(book)] == [
        "prices.csv row 2, column amount",
        "prices.csv row 3, column component",
    ]
    assert [sheet.model for sheet in sheets(book)[0]] == ["n"]


def test_overlapping_rows_of_a_book_made_by_hand_are_found():
    book = book_of(*BASE)
    later = read_rows([HEADER, "acme,m,input,3,,,,2026-12-01,,,"], "more.csv", overlay=True)[0]
    (problem,) = check(PriceBook((*book.rows, *later), {}, (), None))
    assert str(problem).startswith("more.csv row 2, column effective_date: overlaps prices.csv:2")


def test_a_fault_on_another_day_is_found_too():
    rows = ["acme,m,input,2,,,,,2026-12-01,,", "acme,m,output,10,,,,,,,"]
    book = book_of(*rows)
    assert sheets(book)[1] == []
    (problem,) = check(book)
    assert problem.message == "acme/m (standard) has output and no input at threshold 0 on 2026-12-01"


def test_cache_rows_older_or_younger_than_the_sheet_are_no_fault():
    assert check(book_of("acme,m,cache_read,1,,,,,,,", "acme,m,input,2,,,,2026-01-01,,,", "acme,m,output,2,,,,2026-01-01,,,")) == []


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (Problem("prices.csv", 12, "amount", "is blank"), "prices.csv row 12, column amount: is blank"),
        (Problem("prices.csv", 12, None, "is not CSV"), "prices.csv row 12: is not CSV"),
        (Problem("prices.csv", None, None, "is empty"), "prices.csv: is empty"),
    ],
)
def test_a_problem_is_one_plain_line(problem: Problem, line: str):
    assert str(problem) == line


def test_the_real_prices_pass_all_rules():
    assert [str(problem) for problem in check(load())] == []
