"""Lines in a width: nothing is lost, nothing sticks out but one word. Nothing in an exported cell is a formula."""

import csv
import io
import re

import pytest

from derive.catalogue import by_id, equations
from derive.show.citation import markdown_cell
from derive.show.entry import card
from derive.show.layout import csv_text, escape_cell, fold, width_of
from tests.tools.together import in_one_test


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 80, 100])
def test_every_equation_is_shown_within_a_width_and_whole(width: int):
    for row in equations():
        shown = card(row)
        lines = fold(shown, width).splitlines()
        wide = [line for line in lines if len(line) > width and "://" not in line]
        assert [line for line in wide if line.split()[-1].rstrip(",") not in by_id() or line.count(" ") > 12] == []
        assert "".join("".join(line.removesuffix(" \\") for line in lines).split()) == "".join(shown.split())


def test_a_formula_too_wide_for_a_line_is_broken_after_an_operator_and_an_address_not_at_all():
    formula = "attention_flops_per_pair*prompt_position*short_context/(2*active_params)"
    lines = fold(formula, 40).splitlines()
    assert max(map(len, lines)) <= 40 and "".join(line.strip() for line in lines) == formula
    assert all(line[-1] in "*/" for line in lines[:-1])
    address = "https://example.org/" + "a/" * 40
    assert fold(address, 40) == address


def test_a_command_that_is_broken_runs_as_it_is_copied():
    command = "backsolve cite " + " ".join(row.id for row in equations("context"))
    lines = fold(f"cite        {command}", 60).splitlines()
    assert len(lines) > 2 and max(map(len, lines)) <= 60
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert re.sub(r" \\\n +", " ", "\n".join(lines)) == f"cite        {command}"


@in_one_test("width", [-1, 0, 1, 5])
def test_no_width_is_too_narrow_to_print_in(width: int):
    assert "".join(fold("some words and averyveryverylongword indeed", width).split()) == "somewordsandaveryveryverylongwordindeed"


def test_wide_letters_are_counted_as_they_are_drawn():
    lines = fold("通义千问 通义千问 通义千问 通义千问 and words", 20).splitlines()
    assert lines == ["通义千问 通义千问", "通义千问 通义千问", "and words"] and max(map(width_of, lines)) <= 20


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
