"""Price data as it is listed and compared."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace

import pytest

from invert.sheets.assemble import models, sheets
from invert.sheets.diff import differences, new_models, state_of
from invert.sheets.listing import (
    DIFFERENT,
    LISTED,
    differences_csv,
    differences_json,
    differences_text,
    listed_csv,
    listed_json,
    listed_text,
    rows_listed,
    sheets_cited,
)
from invert.sheets.read import load, read_rows
from invert.sheets.redescribed import redescribed
from tests.tools.data import shipped_data


@pytest.fixture(scope="module")
def listed():
    book = load()
    return rows_listed(sheets(book)[0], book)


def test_every_price_is_listed_with_grade_dates_and_source(listed):
    records = json.loads(listed_json(listed), parse_constant=pytest.fail)
    assert len(records) == len(listed) > 150 and tuple(records[0]) == LISTED
    opus = next(one for one in records if one["model"] == "claude-opus-5" and one["component"] == "output")
    assert opus["amount"] > 0 and opus["verification"] and opus["retrieved_date"] == "2026-11-20" and opus["source_url"]
    assert all(one["service_tier"] in ("standard", "off_peak") for one in records)


def test_what_is_listed_as_csv_is_read_back_as_it_was(listed):
    book = load()
    read, problems = read_rows(io.StringIO(listed_csv(listed)), "own.csv", book.fx)
    assert problems == []
    assert [(*row.key, row.amount, row.effective_date, row.valid_to, row.notes) for row in read] == [
        (*row.key, row.amount, row.effective_date, row.valid_to, row.notes) for row in listed]  # fmt: skip


def test_the_rows_of_a_name_are_those_of_its_sheets_or_the_one_that_is_meant():
    data = shipped_data()
    book = load()
    ((day, rows),) = sheets_cited("google/gemini-3.1-pro-preview", "", book, models(data), None)
    assert len({row.place for row in rows}) == len(rows) > 4 and all(row.valid_on(day) for row in rows)
    ((_, (row,)),) = sheets_cited("google/gemini-3.1-pro-preview", "output@200k", book, models(data), None)
    assert row.place == ("output", 200_000, None) and row in rows
    assert {row.provider for _, rows in sheets_cited("glm-5.1", "", book, models(data), None) for row in rows} == {"zai", "zhipu-bigmodel"}


def test_differences_have_old_and_new_in_every_form():
    data = shipped_data()
    before, after = state_of("2026-03-12", data), state_of("2026-11-20", data)
    found = differences(before.rows, after.rows)
    records = json.loads(differences_json(found), parse_constant=pytest.fail)
    lines = list(csv.DictReader(io.StringIO(differences_csv(found))))
    assert len(records) == len(lines) == len(found) and tuple(lines[0]) == DIFFERENT == tuple(records[0])
    grok = next(one for one in records if one["model"] == "grok-4.20" and one["component"] == "input")
    assert (grok["change"], grok["old_amount"], grok["new_amount"]) == ("changed", 2.0, 1.25)
    text = differences_text(found, 236)
    assert "x-ai/grok-4.20\n  input 2 -> 1.25 USD/MTok" in text
    of = Counter(one["change"] for one in records)
    assert text.endswith(f"{of['added']} added, {of['closed']} closed, {of['changed']} changed, 236 the same")
    assert of["added"] >= 17 and of["closed"] >= 10 and of["changed"] >= 4


def test_a_new_model_takes_two_lines_of_the_text():
    data = shipped_data()
    before, after = state_of("2026-03-12", data), state_of("2026-11-20", data)
    found = differences(before.rows, after.rows)
    lines = differences_text(found, 0, new_models(before, after, data)).splitlines()
    count = sum(row.model == "gpt-6-astra" for row in after.rows)
    (place,) = [place for place, line in enumerate(lines) if "gpt-6-astra" in line]
    assert lines[place : place + 2] == [
        "openai/gpt-6-astra", f"  released 2026-09-04: input 10, output 50 USD/MTok, {count} prices added"
    ]  # fmt: skip
    assert lines[-1] == differences_text(found, 0).splitlines()[-1] and len(lines) < len(differences_text(found, 0).splitlines()) / 2


def test_a_model_that_was_not_released_yet_takes_two_lines_and_no_line_is_longer_than_a_screen():
    data = shipped_data()
    then, now = state_of("2026-03-12", data), state_of("2026-11-20", data)
    back = differences_text(differences(now.rows, then.rows), 0, new_models(now, then, data), new_models(then, now, data), then.day)
    count = sum(row.model == "gpt-6-astra" for row in now.rows)
    said = f"openai/gpt-6-astra\n  not released yet on 2026-03-12 (released 2026-09-04): {count} prices\n"
    assert back.count("gpt-6-astra") == 1 and said in back
    there = differences_text(differences(then.rows, now.rows), 0, new_models(then, now, data))
    assert max(map(len, (*back.splitlines(), *there.splitlines()))) <= 80 and abs(back.count("\n") - there.count("\n")) < 9


def test_names_and_notes_of_a_file_are_inert():
    rows, _ = read_rows(["provider,model,component,amount", "acme,x,input,2"], "own.csv", overlay=True)
    hostile = [replace(rows[0], model="=1+1", notes="@x")]
    (line,) = csv.DictReader(io.StringIO(listed_csv(hostile)))
    assert (line["model"], line["notes"], line["amount"]) == ("'=1+1", "'@x", "2.0")
    (line,) = csv.DictReader(io.StringIO(differences_csv(differences([], hostile))))
    assert line["model"] == "'=1+1"


def test_another_context_stands_in_every_form():
    head = "provider,model,component,amount,max_context"
    states = [
        read_rows([head, f"a,m,input,{amount},{context}"], "own.csv", overlay=True)[0] for amount, context in ((2, "128k"), (3, "1M"))
    ]
    found = (*differences(*states), *redescribed(*states))
    assert differences_text(found, 0).splitlines() == [
        "a/m", "  input 2 -> 3 USD/MTok", "  context 128k -> 1M", "0 added, 0 closed, 1 changed, 0 the same; 1 described otherwise"
    ]  # fmt: skip
    _, record = json.loads(differences_json(found))
    assert (record["change"], record["component"], record["old_amount"], record["new_amount"]) == (
        "described", "max_context", 128_000, 1_000_000
    )  # fmt: skip
    _, line = csv.DictReader(io.StringIO(differences_csv(found)))
    assert (line["model"], line["component"], line["new_amount"]) == ("m", "max_context", "1000000")


def test_a_long_name_gives_way_alone_and_in_a_pipe_a_sheet_is_a_line():
    first, *others = sheets(load())[0]
    long = replace(first, model="m" * 60)
    lines = listed_text([long, *others], 80, in_terminal=True).splitlines()
    assert lines[0] == f"{first.provider}/{'m' * 60}" and lines[1].split() == listed_text([first], 80, in_terminal=True).split()[1:]
    assert lines[2:] == listed_text(others, 80, in_terminal=True).splitlines() and max(map(len, lines)) <= 80
    piped = listed_text([long, *others], 80, in_terminal=False).splitlines()
    assert piped[1:] == lines[2:] and piped[0] == lines[0] + lines[1].removeprefix(" " * lines[1].index("  standard"))
