"""Two runs side by side: what moved, which price moved it, and that what did not change is not worked out again."""

import json
import re
from collections.abc import Callable
from datetime import date
from math import log
from pathlib import Path

import pytest

from derive.errors import UnknownName, WrongData, WrongValue
from derive.tables.shipped import content
from invert import compare, inference
from invert.compare import infer_against
from invert.comparison_records import Comparison, SheetChange
from invert.inference import infer
from invert.report.changes import changes_json, changes_text
from invert.report.contract import run_as_json, saved
from invert.report.short import heading
from invert.run_differences import CALIBRATION
from invert.sheets.append import price_file
from invert.sheets.read import read_rows
from tests.tools.inferred import current
from tests.tools.remembered import drawing_anew
from tests.tools.tables import with_cells
from tests.tools.together import in_one_test

PART = "provider,model,component,amount\ngoogle,gemini-2.5-pro,output,8\n"
QWEN = ("alibaba", "qwen3-coder-plus")


@pytest.fixture(scope="module")
def everything() -> str:
    return saved(infer())


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def prices_with(change: Callable[[dict[str, str]], dict[str, str]]) -> str:
    return with_cells(content("prices.csv").decode(), change)


def dearer_above_the_base(row: dict[str, str]) -> dict[str, str]:
    of = (row["provider"], row["model"]) == QWEN and row["component"] == "output" and row["threshold_tokens"] != "0"
    return row | {"amount": str(float(row["amount"]) * 1.3)} if of else row


def only_changed(found: Comparison) -> SheetChange:
    (sheet,) = [one for one in found.sheets if one.prices]
    return sheet


def test_a_price_set_by_hand_is_what_moved_each_inference_and_by_how_much():
    run, found = infer_against("", ["gemini-3.1-pro"], changes={"output": "+10%"})
    sheet = only_changed(found)
    assert [(one.place, one.old, one.new) for one in sheet.prices] == [(("output", 0, None), (12.0, "USD", "mtok"), (13.2, "USD", "mtok"))]
    plain = infer("gemini-3.1-pro")[0]
    moved = {(one.quantity, one.estimator): one for one in sheet.moved}
    one = moved["bandwidth_bound_fraction", ""]
    assert one.before.median == pytest.approx(plain.estimates["bandwidth_bound_fraction"].median, rel=1e-5)
    assert one.after.median == pytest.approx(run[0].estimates["bandwidth_bound_fraction"].median, rel=1e-5)
    assert one.times == pytest.approx(one.after.median / one.before.median)
    assert one.share_of_range == pytest.approx(log(one.times) / log(one.before.high / one.before.low))
    assert one.elasticity == pytest.approx(log(one.times) / log(1.1)) and one.prices == sheet.prices
    assert ("kv_bytes_per_token", "headline") not in moved, "no price enters it"
    assert sheet.unmoved + len(sheet.moved) > 20


def test_the_bayes_factor_of_a_convention_moves_with_the_price_as_the_reports_of_both_have_it():
    run, found = infer_against("", ["gemini-3.1-pro"], changes={"input": "+10%"})
    one = next(one for one in only_changed(found).moved if one.quantity == "bayes_factor")
    plain = infer("gemini-3.1-pro")[0]
    assert (one.before.median, one.after.median) == pytest.approx([of.convention.bayes_factor for of in (plain, run[0])], rel=1e-5)
    assert one.prices[0].spelled == "input" and "convention factor" in changes_text(found, 100)


def test_nothing_changed_is_nothing_moved():
    _, found = infer_against("", ["gemini-3.1-pro"])
    assert [(one.prices, one.moved) for one in found.sheets] == [((), ())] and found.sheets[0].unmoved > 20


@pytest.mark.slow
def test_what_a_run_saved_is_what_it_finds_again(tmp_path, everything: str):
    _, found = infer_against(written(tmp_path / "all.json", everything))
    assert len(found.sheets) == len(current()) and not any(one.moved or one.prices for one in found.sheets)
    assert (found.added, found.gone, found.notes, found.causes) == ((), (), (), ())
    listed = written(tmp_path / "list.json", run_as_json(infer("gemini-3.1-pro")))
    _, found = infer_against(listed, ["gemini-3.1-pro"])
    assert [(one.key[1], one.moved) for one in found.sheets] == [("gemini-3.1-pro-preview", ())]


def test_a_saved_result_with_other_anchors_says_so(tmp_path):
    path = written(tmp_path / "run.json", saved(infer("gemini-3.1-pro", anchors={"overlap": 0})))
    _, found = infer_against(path, ["gemini-3.1-pro"])
    assert found.causes == ("anchor overlap, 0 -> 1",) and found.sheets[0].moved


def test_of_several_prices_the_one_that_moved_most_is_named():
    _, found = infer_against("", ["gemini-3.1-pro"], changes={"output": "+50%", "cache_storage": "+1%"})
    moved = {(one.quantity, one.estimator): one for one in only_changed(found).moved}
    one = moved["bandwidth_bound_fraction", ""]
    assert [price.place[0] for price in one.prices] == ["output"]
    _, alone = infer_against("", ["gemini-3.1-pro"], changes={"output": "+50%"})
    of_alone = next(two for two in only_changed(alone).moved if two.quantity == "bandwidth_bound_fraction")
    assert one.elasticity == pytest.approx(of_alone.elasticity, rel=1e-4)


def test_of_several_prices_that_moved_an_inference_each_has_the_elasticity_that_it_has_alone():
    run, found = infer_against("", ["gemini-3.1-pro"], changes={"output": "+20%", "output@200k": "+50%"})
    one = next(one for one in only_changed(found).moved if one.estimator == "one_markup")
    assert [price.spelled for price in one.prices] == ["output@200k", "output"] and len(one.elasticities) == 2
    assert one.elasticity == one.elasticities[0]
    after = run[0].kv_bytes["one_markup"].median
    for left, change, slope, factor in (("output", "+20%", one.elasticities[0], 1.5), ("output@200k", "+50%", one.elasticities[1], 1.2)):
        back = infer("gemini-3.1-pro", changes={left: change})[0]
        assert slope == pytest.approx(log(after / back.kv_bytes["one_markup"].median) / log(factor), rel=1e-3)
    assert f"{one.elasticities[0]:+.2f}%, {one.elasticities[1]:+.2f}%" in " ".join(changes_text(found, 120).split())
    record = json.loads(changes_json(found))["sheets"][0]["moved"]
    (told,) = [each for each in record if each["estimator"] == "one_markup"]
    slopes = {price.spelled: slope for price, slope in zip(one.prices, one.elasticities, strict=True)}
    assert told["elasticities"] == pytest.approx(slopes, rel=1e-5), "six digits"


def test_of_a_band_that_went_its_prices_are_named_together_and_no_slope_is_told_of_what_became_a_bound(tmp_path):
    head, base = "provider,model,component,amount,threshold_tokens\n", "acme,m,input,{},\nacme,m,output,{},\n"
    old = written(tmp_path / "old.csv", head + base.format(1, 3) + "acme,m,input,2,256000\nacme,m,output,6,256000\n")
    new = written(tmp_path / "new.csv", head + base.format(0.435, 0.87))
    _, found = infer_against(old, ["acme/m"], prices=new)
    moved = {(one.quantity, one.estimator): one for one in only_changed(found).moved}
    for name in (("kv_bytes_per_token", "at_rent"), ("kv_bytes_per_token", "one_markup"), ("bayes_factor", "convention")):
        one = moved[name]
        assert [price.spelled for price in one.prices] == ["input@256k", "output@256k"] and one.elasticity is None, name
    by_price = moved["active_params", "market"]
    assert [price.spelled for price in by_price.prices] == ["input"], "the band moves no size by price"
    before = infer("acme/m", prices=new, changes={"input": "1"})[0].market["active_params"].median
    slope = log(by_price.after.median / before) / log(0.435)
    assert by_price.elasticity == pytest.approx(slope, rel=1e-3)


def test_a_band_that_came_beside_another_change_is_what_moved_most(tmp_path):
    """What is told of one direction is told of the other: prices that come go together, as those that went come back."""
    sold = [line for line in content("prices.csv").decode().splitlines() if not re.match("google,gemini-3.1-pro-preview,.*,200000,", line)]
    of_then = [
        line.replace(",12,", ",10,") if line.startswith("google,gemini-3.1-pro-preview,,standard,output,") else line for line in sold
    ]
    _, found = infer_against(written(tmp_path / "old.csv", "\n".join([*of_then, ""])), ["gemini-3.1-pro"])
    moved = {(one.quantity, one.estimator): one for one in only_changed(found).moved}
    band = ["input@200k", "output@200k", "cache_read@200k"]
    assert [price.spelled for price in moved["balance_context", ""].prices] == band and moved["balance_context", ""].elasticity is None
    assert [price.spelled for price in moved["bandwidth_bound_fraction", ""].prices] == ["output"]


def test_what_a_band_that_was_added_copies_is_said_with_what_it_copies():
    run, found = infer_against("", ["gemini-3.1-pro"], changes={"input@500k": "6"})
    places = {price.spelled: price.copied_from for price in only_changed(found).prices}
    assert places == {"input@500k": "", "output@500k": "output@200k", "cache_read@500k": "cache_read@200k"}
    assert "output@500k 18 USD/MTok copied from output@200k" in " ".join(changes_text(found, 100).split())
    records = json.loads(changes_json(found))["sheets"][0]["prices"]
    assert [one["copied_from"] for one in records] == [None, "output@200k", "cache_read@200k"]
    band = json.loads(run_as_json(run))[0]["prices"]["bands"][2]
    assert (band["output"]["verification"], band["output"]["notes"]) == ("user", "copied from output@200k")
    assert "what if: output@500k is output@200k, without an amount" in heading(run[0], run)


def test_prices_that_all_change_alike_have_one_elasticity():
    _, found = infer_against("", ["gpt-5.4"], changes={"input": "x2", "output": "x2"})
    moved = {(one.quantity, one.estimator): one for one in only_changed(found).moved}
    one = moved["active_params", "market"]
    assert one.elasticity > 0 and one.elasticities == () and ("bandwidth_bound_fraction", "") not in moved


def test_a_day_moves_what_the_day_does_and_no_price():
    _, found = infer_against("2026-03-12", ["gemini-3.1-pro", "claude-opus-4-6", "grok-4.20"])
    gemini, opus, grok = ({one.key[1]: one for one in found.sheets}[name] for name in (
        "gemini-3.1-pro-preview", "claude-opus-4-6", "grok-4.20"))  # fmt: skip
    assert not gemini.prices and not gemini.moved, "the class is that of its release on either day"
    assert {one.place[1] for one in opus.prices} == {200_000} and all(one.new is None for one in opus.prices)
    assert all(one.prices for one in opus.moved if one.estimator in ("lecture", "joint", "increment"))
    assert grok.prices and not [one for one in grok.moved if one.estimator == "headline"]


def test_a_sheet_of_a_day_before_the_release_of_its_model_is_not_compared():
    _, found = infer_against("2026-03-12", ["gpt-5.4", "mistral-large-4"])
    assert [one.key[1] for one in found.sheets] == ["gpt-5.4"] and [key[1] for key in found.added] == ["mistral-large-4"]
    (note,) = found.notes
    assert note == "1 sheet left out: its model was released after 2026-03-12 (mistral-large-4 2026-09-01)"
    run, found = infer_against("shipped", as_of=date(2026, 3, 12))
    assert not found.added and not found.gone and not found.notes, "both sides leave out the same, which the run says"
    assert any("left out" in note for note in run.notes)


def test_a_file_of_some_columns_is_laid_over_the_shipped_prices(tmp_path):
    _, found = infer_against(written(tmp_path / "part.csv", PART), provider="google")
    sheet = only_changed(found)
    assert sheet.key[1] == "gemini-2.5-pro" and sheet.prices[0].old[0] == 8 and sheet.prices[0].new[0] == 10
    assert len(found.sheets) == len(infer(provider="google")) and not found.recalibrated
    own, _ = read_rows(PART.splitlines(), "part.csv", overlay=True)
    _, same = infer_against(written(tmp_path / "pulled.csv", price_file(own)), provider="google")
    assert same.sheets == found.sheets and not same.recalibrated and same.problems == ()
    _, back = infer_against("shipped", provider="google", prices=str(tmp_path / "part.csv"))
    assert [(one.old[0], one.new[0]) for one in only_changed(back).prices] == [(10, 8)]


def test_a_sheet_that_calibrates_moves_others_when_its_row_is_another(tmp_path, everything: str):
    path = written(tmp_path / "old.csv", prices_with(dearer_above_the_base))
    _, found = infer_against(path)
    assert found.recalibrated and found.causes == (CALIBRATION,) and only_changed(found).key[:2] == QWEN and only_changed(found).calibrates
    others = {name for one in found.sheets if not one.prices for name in ((m.quantity, m.estimator) for m in one.moved)}
    assert others == {("kv_bytes_per_token", "increment")}
    # By hand the row of the calibration stands.
    _, found = infer_against("", changes={"cache_read": "x2"}, names=["qwen3-coder-plus"])
    assert only_changed(found).calibrates and not found.recalibrated


def test_a_whole_file_has_no_band_that_it_does_not_name(tmp_path):
    text = content("prices.csv").decode().splitlines(keepends=True)
    old = "".join(line for line in text if not (line.startswith("google,gemini-2.5-pro,") and ",200000," in line))
    _, found = infer_against(written(tmp_path / "old.csv", old), ["gemini-2.5-pro"])
    assert all(one.old is None and one.place[1] == 200_000 for one in only_changed(found).prices)


@pytest.mark.slow
def test_what_did_not_change_is_not_drawn_again():
    with drawing_anew() as drawn:
        infer()
        every = len(drawn)
        infer_against("2026-03-12")
        assert 0 < len(drawn) - every < every / 3
        drawn.clear()
        infer_against("shipped")
        assert not drawn


def test_a_sheet_that_a_whole_file_has_as_it_ships_is_concluded_once(tmp_path, monkeypatch):
    concluded: list[str] = []
    inner = inference._conclude

    def counted(read, *args):
        concluded.append(read.sheet.model)
        return inner(read, *args)

    monkeypatch.setattr(inference, "_conclude", counted)
    other = prices_with(lambda row: row | {"amount": "11"} if (row["model"], row["component"]) == ("gpt-6-sol", "output") else row)
    infer_against(written(tmp_path / "old.csv", other), ["gemini-2.5-pro", "gpt-6-sol"])
    assert concluded.count("gemini-2.5-pro") == 1 < concluded.count("gpt-6-sol")


def test_what_a_day_does_not_move_is_worked_out_once_for_two_days(monkeypatch):
    concluded, inner = [], inference._conclude

    def counted(read, *args):
        concluded.append(read.sheet.model)
        return inner(read, *args)

    monkeypatch.setattr(inference, "_conclude", counted)
    run, found = infer_against("2026-11-01", ["gemini-2.5-pro", "nova-premier"])
    assert concluded.count("gemini-2.5-pro") == 1, "its class is that of its release"
    assert concluded.count("nova-premier") == 2, "nobody says when it was released: its class is that of the day"
    assert {one.sheet.as_of for one in run} == {date(2026, 11, 20)} and not found.sheets[0].moved
    assert not any("start not known" in one.flags for one in run)
    assert all("start not known" in one.flags for one in infer(["gemini-2.5-pro"], as_of=date(2026, 11, 1)))


def test_more_changed_prices_than_are_tried_one_by_one_name_all_of_them(monkeypatch):
    monkeypatch.setattr(compare, "MOST_REVERTED", 1)
    _, found = infer_against("", ["gemini-3.1-pro"], changes={"output": "+50%", "input": "+10%"})
    assert all(len(one.prices) == 2 and one.elasticity is None for one in only_changed(found).moved)


def test_the_sheets_that_fit_are_tried_where_all_of_them_do_not(monkeypatch):
    monkeypatch.setattr(compare, "MOST_REVERTED", 3)
    _, found = infer_against("", ["gemini-3.1-pro", "gemini-2.5-pro"], changes={"output": "+50%", "input": "+10%"})
    tried, untried = ({one.elasticity is None for one in sheet.moved if one.times} for sheet in found.sheets)
    assert False in tried and untried == {True}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}', "is no result of infer --save or --as json (no 'sheets')"),
        ("[1]", "is no result of infer --save or --as json (another shape)"),
        ('[{"provider": "x"}]', "(no 'model')"),
        ("{", "is no result of infer --save or --as json"),
        ("[" * 100_000, "is no result of infer --save or --as json"),
        ("", "is empty"),
        ("provider,model\na,b\n", "there is no column component"),
    ],
)
def test_a_file_that_is_neither_prices_nor_a_result_is_refused(tmp_path, text: str, message: str):
    with pytest.raises(WrongData) as caught:
        infer_against(written(tmp_path / "other", text), ["gemini-3.1-pro"])
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["provider", "model", "service_tier", "region"])
def test_a_saved_name_that_would_move_the_cursor_is_refused(tmp_path, field: str, everything: str):
    document = json.loads(everything)
    document["sheets"][0][field] = "a\x1b[2Jb"
    with pytest.raises(WrongData) as caught:
        infer_against(written(tmp_path / "run.json", json.dumps(document)), ["gemini-3.1-pro"])
    assert str(caught.value).isprintable() and "is no text in a line" in str(caught.value)


def test_a_day_that_is_none_and_a_file_that_is_not_there_are_refused(tmp_path):
    with pytest.raises(WrongValue, match="2026-02-30 is no date of the calendar"):
        infer_against("2026-02-30", ["gemini-3.1-pro"])
    with pytest.raises(WrongData, match="cannot be read"):
        infer_against(str(tmp_path / "none.csv"), ["gemini-3.1-pro"])
    with pytest.raises(UnknownName):
        infer_against("shipped", ["gemini-3.1-prow"])


@in_one_test(
    ("change", "name"), [("output@200k=15.01", "output@200k / output"), ("output=10.01", "output / input"), ("input=1.251", "input")]
)
def test_digits_that_say_another_rounding_are_told_and_have_no_slope(change: str, name: str):
    _, found = infer_against("shipped", ["gemini-2.5-pro"], changes=dict([change.split("=")]))
    sheet = only_changed(found)
    assert name in {one.name for one in sheet.rerounded}
    assert all(one.elasticity is None for one in sheet.moved if one.after.kind != "point")
    points = [one.elasticity for one in sheet.moved if one.after.kind == "point" and one.elasticity]
    assert points and all(abs(slope) < 4 for slope in points)
    assert "The rounding of these ratios changed more" in changes_text(found, 100)
