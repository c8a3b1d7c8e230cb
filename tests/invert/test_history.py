"""What a model's prices implied over time."""

from datetime import date
from pathlib import Path

import pytest

from invert.history import days_of_change, histories
from invert.inference import infer
from invert.sheets.read import read_rows

HEADER = "provider,model,component,amount,effective_date,valid_to,date_kind"


def rows(*lines: str):
    read, problems = read_rows([HEADER, *lines], "own.csv", overlay=True)
    assert problems == []
    return read


def test_the_days_are_those_on_which_a_row_begins_or_ends():
    last = date(2026, 11, 20)
    dated = rows("a,m,input,1,2026-01-01,2026-03-01,start", "a,m,input,2,2026-03-01,,start", "a,m,output,5,2026-01-01,2027-01-01,start")
    assert list(map(str, days_of_change(dated, last))) == ["2026-01-01", "2026-03-01"]
    assert list(map(str, days_of_change(rows("a,m,input,1,,2026-03-01,", "a,m,input,2,2026-03-01,,start"), last))) == [
        "2026-02-28", "2026-03-01"]  # fmt: skip
    assert days_of_change(rows("a,m,input,1,,,"), last) == [last]


def test_every_day_says_what_changed_and_what_infer_says_of_that_day():
    (found,) = histories(["mistral-large-4"])
    assert [str(one.since) for one in found.days] == ["None", "2026-10-20", "2026-10-29"] and found.problems == ()
    first, second, third = found.days
    assert all(change.old is None for change in first.changes)
    assert [(change.place[0], change.old[0], change.new[0]) for change in second.changes][:2] == [
        ("input", 0.68, 1.36), ("output", 2.09, 4.18)]  # fmt: skip
    plain = infer("mistral-large-4", as_of=date(2026, 10, 20))[0]
    assert second.side.said["active_params", "by_price"].median == pytest.approx(plain.by_price["active_params"].median, rel=1e-5)
    assert third.side.said["active_params", "by_price"].median < second.side.said["active_params", "by_price"].median


def test_no_day_before_the_release_is_shown(tmp_path: Path):
    path = tmp_path / "own.csv"
    lines = [f"openai,gpt-5.4,output,{amount},{begins},{ends},start" for amount, begins, ends in (
        (20, "2026-01-01", "2026-02-01"), (30, "2026-02-01", "2026-05-01"), (40, "2026-05-01", ""))]  # fmt: skip
    path.write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    (found,) = histories(["gpt-5.4"], prices=str(path))
    assert [str(one.as_of) for one in found.days] == ["2026-03-05", "2026-05-01"]
    assert found.days[0].side.prices["output", 0, None][0] == 30
