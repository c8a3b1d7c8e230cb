"""Reports in a width: every line fits but an address, and every cell of a table is there whole."""

import shlex
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from derive.show.layout import width_of
from invert.inference import infer
from invert.report.layout import aligned, cite_sheet, infer_in_full, laid_out
from invert.report.sheet import full_parts, short_parts
from invert.result import InferenceTable
from invert.validation import scoreboard
from invert.validation.scoreboard_text import rendered_sections
from tests.tools.commands import GOOD, call, price_file
from tests.tools.inferred import current
from tests.tools.together import in_one_test

SHEETS = ["gemini-3.1-pro-preview", "qwen3-coder-plus", "claude-opus-5", "deepseek/deepseek-v4-pro"]


@cache
def table() -> InferenceTable:
    return infer(SHEETS)


def outside(text: str, width: int) -> list[str]:
    return [line for line in text.splitlines() if len(line) > width and "://" not in line]


@in_one_test("width", [60, 80, 100])
@in_one_test("place", range(len(SHEETS)), ids=SHEETS)
def test_a_report_fits(place: int, width: int):
    assert outside(laid_out(full_parts(table()[place], table()), width), width) == []


@pytest.mark.slow
def test_the_scoreboard_fits():
    found = {name: scoreboard.section_rows(name) for name in scoreboard._SECTIONS if name != "algebra"}
    for width in (60, 80, 100):
        assert outside(rendered_sections(found, "table", width), width) == []


ROWS = [
    {"quantity": "balance_context", "90%": "13.2k tokens, 5970 tokens to 31.7k tokens", "because": "assumes one price/cost for all prices"},
    {"quantity": "batch_multiple", "90%": "at least 0.149", "because": "in balance batches; whatever decode waits for besides weights"},
]


def test_a_table_that_fits_is_left_alone():
    table = aligned(tuple(ROWS[0]), ROWS)
    assert laid_out([table], 200) == table and len(table.splitlines()) == 4


@in_one_test("width", [30, 40, 60, 80, 100])
def test_a_table_too_wide_breaks_its_cells_between_words_or_sets_them_below(width: int):
    text = laid_out([aligned(tuple(ROWS[0]), ROWS)], width)
    assert outside(text, width) == []
    printed = text.split()
    for row in ROWS:
        for cell in row.values():
            assert all(printed.count(word) for word in cell.split())
    assert ("because:" in printed) == (width < 80)


def test_a_table_of_nothing_is_its_heading():
    assert laid_out([aligned(("a", "because"), [])], 20) == "a   because\n───────────"


def test_columns_stand_under_each_other_whatever_letters_are_in_them():
    rows = [{"model": "通义千问3-max", "price": "1"}, {"model": "gpt-5", "price": "2"}]
    *_, first, second = aligned(("model", "price"), rows).splitlines()
    assert width_of(first) == width_of(second)


def test_a_plain_command_is_as_one_types_it():
    run = current()
    one = run["openai/gpt-6-sol"]
    assert infer_in_full(one, run) == "backsolve infer openai/gpt-6-sol --full"
    assert cite_sheet(one, run, ("bands.price",)) == "backsolve cite openai/gpt-6-sol bands.price"


def test_what_a_file_calls_a_model_is_one_word_for_a_shell():
    run = current()
    one = replace(run["openai/gpt-6-sol"], sheet=replace(run["openai/gpt-6-sol"].sheet, provider="acme", model="a;touch /tmp/x $(b) 'c'"))
    for said in (infer_in_full(one, run), cite_sheet(one, run, ())):
        assert "acme/a;touch /tmp/x $(b) 'c'" in shlex.split(said)
    for text in (laid_out(short_parts(one, run), 60), laid_out(full_parts(one, run), 60)):
        (begin,) = (place for place, line in enumerate(text.splitlines()) if line.startswith("Cite  "))
        joined = "\n".join(text.splitlines()[begin:]).replace(" \\\n", "")
        assert shlex.split(joined)[:4] == ["Cite", "backsolve", "cite", "acme/a;touch /tmp/x $(b) 'c'"]


def test_it_names_the_prices_the_day_and_all_that_was_given(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my prices.csv").write_bytes(price_file(*GOOD))
    asked = ("--prices", "my prices.csv", "--as-of", "2026-11-20", "--anchor", "active_params=60000000000", "--set", "output=+10%")
    day, anchors, changes = date(2026, 11, 20), {"active_params": "60B"}, {"output": "+10%"}
    changed = infer("other/n", prices="my prices.csv", as_of=day, anchors=anchors, changes=changes)
    words = shlex.split(infer_in_full(changed[0], changed))[1:]
    assert words == ["infer", "other/n", *asked, "--full"] and call(*words).status == 0
    run = infer("other/n", prices="my prices.csv")
    cited = shlex.split(cite_sheet(run[0], run, ("bands.price",)))[1:]
    assert cited == ["cite", "other/n", "bands.price", "--prices", "my prices.csv"] and call(*cited).status == 0
