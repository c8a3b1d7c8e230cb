"""What is said of a model beside its prices: what is another now is told, and nothing else."""

from datetime import date

from invert.sheets.diff import redescribed
from invert.sheets.read import read_rows

HEAD = "provider,model,component,amount,max_context,release_date"


def rows(*lines: str):
    read, problems = read_rows([HEAD, *lines], "own.csv", overlay=True)
    assert problems == []
    return read


OLD = rows("a,m,input,2,128000,2026-01-02", "a,m,output,8,128000,", "b,n,input,2,,")


def test_another_context_and_another_release_are_told_once_a_sheet():
    new = rows("a,m,input,2,1000000,2026-01-03", "a,m,output,8,1000000,", "b,n,input,2,200000,")
    assert [(one.sheet_key[1], str(one)) for one in redescribed(OLD, new)] == [
        ("m", "context 128k -> 1M"),
        ("m", "release 2026-01-02 -> 2026-01-03"),
        ("n", "context unsaid -> 200k"),
    ]


def test_what_is_the_same_or_in_one_state_alone_is_not():
    assert [*redescribed(OLD, OLD)] == []
    assert [*redescribed(OLD, rows("c,m,input,2,1000000,"))] == []
    (gone,) = redescribed(OLD, rows("a,m,input,2,128000,"))
    assert (gone.column, gone.values) == ("release_date", (date(2026, 1, 2), None))
