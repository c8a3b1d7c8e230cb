"""Two states of the price data side by side."""

from invert.sheets.diff import differences
from invert.sheets.read import read_rows

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
