"""Cells of exported tables: nothing in them is a formula, and numbers are numbers."""

import csv
import io

import pytest

from derive.show.cells import csv_text, escape_cell
from derive.show.citation import markdown_cell

WIDE = ["\uff1d1+1", "\uff20x", "\ufe62\uff0d1"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|'/c calc'!A0", "\t=1", " =1", "\n @x", *WIDE])
def test_a_text_that_begins_as_a_formula_does_stays_text(text: str):
    assert escape_cell(text) == f"'{text}"


def test_a_csv_is_read_back_as_it_was_written():
    rows = [{"name": "=a,b", "amount": -1.5}, {"name": 'a "quoted" one\nin two lines', "amount": None}]
    read = list(csv.DictReader(io.StringIO(csv_text(("name", "amount"), rows))))
    assert [row["name"] for row in read] == ["'=a,b", 'a "quoted" one\nin two lines']
    assert [row["amount"] for row in read] == ["-1.5", ""]


@pytest.mark.parametrize("text", ["[a](http://b)", "<script>", "https://a.b", "www.a.b", "a|b", "`a`", "<https://a.b>", "![a](b)"])
def test_nothing_in_markdown_is_a_link_a_tag_or_the_end_of_a_cell(text: str):
    shown = markdown_cell(text)
    assert "<" not in shown and "://" not in shown.replace("\\://", "") and "www." not in shown
    assert all(before == "\\" for before, mark in zip(" " + shown, shown, strict=False) if mark in "[|`")
