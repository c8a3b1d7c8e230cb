"""Two states of the price data side by side."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from derive.errors import WrongData, WrongValue
from derive.tables.shipped import content
from invert.sheets.append import price_file
from invert.sheets.diff import differences, is_whole, new_models, state_of, states_of
from invert.sheets.read import read_rows
from tests.tools.data import shipped_data

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


def test_every_change_turned_round_is_the_change_back():
    new = ("a,m,input,,3,", "a,m,output,,8,")
    there, back = differences(rows(*OLD), rows(*new)), differences(rows(*new), rows(*OLD))
    turned = {"added": "closed", "closed": "added", "changed": "changed"}
    assert {(one.row.key, turned[one.kind]) for one in there} == {(one.row.key, one.kind) for one in back}


def test_another_currency_is_a_change_without_a_factor():
    (row,) = rows("a,m,input,,2,USD")
    (one,) = differences([row], [replace(row, currency="CNY")])
    assert one.times is None and str(one) == "input 2 USD -> 2 CNY/MTok"


def test_a_day_has_the_rows_that_hold_on_it():
    data = shipped_data()
    then, now = state_of("2026-03-12", data), state_of("2026-11-20", data)
    assert (then.day, now.day) == (date(2026, 3, 12), date(2026, 11, 20))
    assert all(row.valid_on(then.day) for row in then.rows)
    assert state_of("shipped", data).rows == now.rows
    found = {(one.row.model, one.row.component, one.row.threshold_tokens, one.kind) for one in differences(then.rows, now.rows)}
    assert ("claude-opus-4-6", "output", 200_000, "closed") in found and ("grok-4.20", "input", 0, "changed") in found


def test_a_model_has_no_price_on_a_day_before_its_release(tmp_path: Path):
    """Undated rows hold on every day, but nobody could buy it then: they are added since."""
    data = shipped_data()
    then, now = state_of("2026-03-12", data), state_of("2026-11-20", data)
    new = new_models(then, now, data)
    assert new["openai", "gpt-6-astra"] == date(2026, 9, 4) and ("x-ai", "grok-4.20") not in new
    of_astra = [one for one in differences(then.rows, now.rows) if one.row.model == "gpt-6-astra"]
    assert {one.kind for one in of_astra} == {"added"} and len(of_astra) == sum(row.model == "gpt-6-astra" for row in now.rows)
    assert new_models(now, then, data) == {}
    own = tmp_path / "own.csv"
    own.write_text("provider,model,component,amount,release_date\nacme,m,input,2,2026-10-01\n", encoding="utf-8")
    before, after = states_of("2026-09-01", "2026-11-20", data, own)
    assert new_models(before, after, data)["acme", "m"] == date(2026, 10, 1)


def test_a_file_is_laid_over_the_shipped_prices_unless_it_has_every_column(tmp_path: Path):
    data, part, whole = shipped_data(), tmp_path / "part.csv", tmp_path / "whole.csv"
    part.write_text("provider,model,component,amount\ngoogle,gemini-2.5-pro,output,8\n", encoding="utf-8")
    lines = content("prices.csv").decode().splitlines()
    whole.write_text("\n".join(line for line in lines if not line.startswith("xiaomi,")) + "\n", encoding="utf-8")
    shipped = state_of("shipped", data)
    (one,) = differences(shipped.rows, state_of(str(part), data).rows)
    assert str(one) == "output 10 -> 8 USD/MTok"
    gone = differences(shipped.rows, state_of(str(whole), data).rows)
    assert {(one.kind, one.row.provider) for one in gone} == {("closed", "xiaomi")}
    assert is_whole(lines[0].encode()) and not is_whole(part.read_bytes())


def test_files_with_the_columns_of_ones_own_are_laid_over_too_and_two_of_them_compared_by_their_own_rows(tmp_path: Path):
    data, old, new = shipped_data(), tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text(price_file(rows(*OLD, "google,gemini-2.5-pro,output,,8,")), encoding="utf-8")
    new.write_text(price_file(rows("a,m,input,,3,", *OLD[1:])), encoding="utf-8")
    before, after = states_of(str(old), str(new), data)
    assert before.problems == after.problems == () and (len(before.rows), len(after.rows)) == (5, 4)
    found = [str(one) for one in differences(before.rows, after.rows)]
    assert found == ["input 2 -> 3 USD/MTok", "output 8 USD/MTok closed"]
    shipped, laid_over = states_of("shipped", str(new), data)
    assert {(one.kind, one.row.provider) for one in differences(shipped.rows, laid_over.rows)} == {("added", "a")}


def test_what_is_no_state_is_refused(tmp_path: Path):
    with pytest.raises(WrongValue, match="is no date of the calendar"):
        state_of("2026-02-30", shipped_data())
    with pytest.raises(WrongData, match="cannot be read"):
        state_of(str(tmp_path / "none.csv"), shipped_data())


def test_bad_rows_of_a_file_are_named(tmp_path: Path):
    path = tmp_path / "part.csv"
    path.write_text("provider,model,component,amount\ngoogle,gemini-2.5-pro,output,abc\na,m,input,1\n", encoding="utf-8")
    assert any("'abc' is not a number" in str(one) for one in state_of(str(path), shipped_data()).problems)


def test_a_threshold_that_counts_otherwise_is_said():
    (row,) = rows("a,m,input,200000,4,")
    (there,) = differences([row], [replace(row, threshold_inclusive=True)])
    (back,) = differences([replace(row, threshold_inclusive=True)], [row])
    assert str(there) == "input@200k 4 USD/MTok: above -> from 200,000 tokens" and there.kind == "changed"
    assert str(back) == "input@200k 4 USD/MTok: from -> above 200,000 tokens"
