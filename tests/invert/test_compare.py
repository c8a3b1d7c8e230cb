"""Two runs side by side: what moved, which price moved it, and that what did not change is not worked out again."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from math import log
from pathlib import Path

import pytest

from derive.errors import WrongData
from derive.tables.shipped import read
from invert.compare import days_of_change, histories, infer_against
from invert.comparison_records import (
    CALIBRATION,
    TAKEN_HOME,
    Comparison,
    Moved,
    SheetChange,
    causes_of_runs,
    causes_of_saved,
    is_same,
    log_change,
    places_that_differ,
    side_of,
)
from invert.inference import infer
from invert.records import Estimate
from invert.report.changes import CHANGES, changes_parts
from invert.report.columns import name_of
from invert.report.contract import run_as_json, saved
from invert.report.layout import laid_out
from invert.result import InferenceTable
from invert.sheets.add import typed_sheet
from invert.sheets.read import read_rows
from tests.tools.data import shipped_data
from tests.tools.inferred import current
from tests.tools.tables import with_cells

QWEN = ("alibaba", "qwen3-coder-plus")


@pytest.fixture(scope="module")
def everything() -> str:
    return saved(infer())


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def prices_with(change: Callable[[dict[str, str]], dict[str, str]]) -> str:
    return with_cells(read().content("prices.csv").decode(), change)


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
    assert ("kv_bytes_per_token", "typical") not in moved, "no price enters it"
    assert [old.name for old, _ in sheet.rerounded] == ["output@200k / output"], "1.36 is not round"
    assert len(sheet.unmoved) + len(sheet.moved) > 20


def test_the_bayes_factor_of_a_convention_moves_with_the_price_as_the_reports_of_both_have_it():
    run, found = infer_against("", ["gemini-3.1-pro"], changes={"input": "+10%"})
    one = next(one for one in only_changed(found).moved if one.quantity == "bayes_factor")
    plain = infer("gemini-3.1-pro")[0]
    assert (one.before.median, one.after.median) == pytest.approx([of.convention.bayes_factor for of in (plain, run[0])], rel=1e-5)
    assert one.prices[0].spelled == "input" and "convention factor" in laid_out(changes_parts(found), 100)
    said = " ".join(laid_out(changes_parts(found), 100).split())
    stayed = [name_of(*name) for name in TAKEN_HOME if name in only_changed(found).unmoved]
    assert stayed and all(one in said for one in stayed)


def test_a_price_of_a_page_has_its_source_and_one_set_by_hand_has_none():
    _, found = infer_against("", changes={"output": "15"})
    assert not any(sheet.sources or sheet.days for sheet in found.sheets)
    _, found = infer_against("2026-09-01", ["mistral-large-4"])
    (sheet,) = found.sheets
    assert sheet.sources == ["https://docs.mistral.ai/inference/pricing"] and {*map(str, sheet.days.values())} == {"2026-10-29"}


def test_nothing_changed_is_nothing_moved():
    _, found = infer_against("", ["gemini-3.1-pro"])
    assert [(one.prices, one.moved) for one in found.sheets] == [((), ())] and len(found.sheets[0].unmoved) > 20


@pytest.mark.slow
def test_what_a_run_saved_is_what_it_finds_again(tmp_path, everything: str):
    _, found = infer_against(written(tmp_path / "all.json", everything))
    assert len(found.sheets) == len(current()) and not any(one.moved or one.prices for one in found.sheets)
    assert (found.added, found.gone, found.notes, found.causes) == ((), (), (), ())
    listed = written(tmp_path / "list.json", run_as_json(infer("gemini-3.1-pro")))
    _, found = infer_against(listed, ["gemini-3.1-pro"])
    assert [(one.key[1], one.moved) for one in found.sheets] == [("gemini-3.1-pro-preview", ())]


def test_numbers_that_differ_in_their_last_digits_are_equal():
    assert is_same({"a": [1.0, "x", None]}, {"a": (1.0 + 1e-13, "x", None)})
    assert [*places_that_differ({"a": [1.0, 2]}, {"a": [1.0 + 1e-6, 2], "b": 1})] == ["a[0]", "b"]


def test_a_saved_sheet_of_two_equal_bands_is_read(tmp_path):
    prices = typed_sheet("2/12; >200k 2/12")
    place = written(tmp_path / "equal.json", saved(infer(prices=prices, provider="typed")))
    run, found = infer_against(place, prices=prices, provider="typed")
    assert [(one.key, one.moved) for one in found.sheets] == [(run[0].key, ())]


def test_of_several_prices_that_moved_an_inference_each_has_the_elasticity_that_it_has_alone():
    run, found = infer_against("", ["gemini-3.1-pro"], changes={"output": "+20%", "output@200k": "+50%"})
    one = next(one for one in only_changed(found).moved if one.estimator == "from_all_prices")
    assert [price.spelled for price in one.prices] == ["output@200k", "output"] and len(one.elasticities) == 2
    assert one.elasticity == one.elasticities[0]
    after = run[0].kv_bytes["from_all_prices"].median
    for left, change, slope, factor in (("output", "+20%", one.elasticities[0], 1.5), ("output@200k", "+50%", one.elasticities[1], 1.2)):
        back = infer("gemini-3.1-pro", changes={left: change})[0]
        assert slope == pytest.approx(log(after / back.kv_bytes["from_all_prices"].median) / log(factor), rel=1e-3)
    assert f"output@200k {one.elasticities[0]:+.2f}%; output {one.elasticities[1]:+.2f}%" in " ".join(
        laid_out(changes_parts(found), 120).split()
    )
    record = json.loads(CHANGES.text(found))["sheets"][0]["moved"]
    (told,) = [each for each in record if each["estimator"] == "from_all_prices"]
    slopes = {price.spelled: slope for price, slope in zip(one.prices, one.elasticities, strict=True)}
    assert told["elasticities"] == pytest.approx(slopes, rel=1e-5), "six digits"


def test_of_a_band_that_went_its_prices_are_named_together_and_no_slope_is_told_of_what_became_a_bound(tmp_path):
    head, base = "provider,model,component,amount,threshold_tokens\n", "acme,m,input,{},\nacme,m,output,{},\n"
    old = written(tmp_path / "old.csv", head + base.format(1, 3) + "acme,m,input,2,256000\nacme,m,output,6,256000\n")
    new = written(tmp_path / "new.csv", head + base.format(0.435, 0.87))
    _, found = infer_against(old, ["acme/m"], prices=new)
    moved = {(one.quantity, one.estimator): one for one in only_changed(found).moved}
    for name in (("kv_bytes_per_token", "from_premium_at_cost"), ("kv_bytes_per_token", "from_all_prices"), ("bayes_factor", "convention")):
        one = moved[name]
        assert [price.spelled for price in one.prices] == ["input@256k", "output@256k"] and one.elasticity is None, name
    by_price = moved["active_params", "by_price"]
    assert [price.spelled for price in by_price.prices] == ["input"], "the band moves no size by price"
    before = infer("acme/m", prices=new, changes={"input": "1"})[0].by_price["active_params"].median
    slope = log(by_price.after.median / before) / log(0.435)
    assert by_price.elasticity == pytest.approx(slope, rel=1e-3)


def test_a_sheet_that_calibrates_moves_others_when_its_row_is_another(tmp_path, everything: str):
    path = written(tmp_path / "old.csv", prices_with(dearer_above_the_base))
    _, found = infer_against(path)
    assert found.recalibrated and found.causes == (CALIBRATION,) and only_changed(found).key[:2] == QWEN and only_changed(found).calibrates
    others = {name for one in found.sheets if not one.prices for name in ((m.quantity, m.estimator) for m in one.moved)}
    assert others == {("kv_bytes_per_token", "from_premium")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}', "is not a result of infer --save or --as json (it names no schema)"),
        ("[1]", "is not a result of infer --save or --as json (sheets[0] is 1, but must be an object)"),
        ('{"schema": "infer-2", "run": {"asked": null}, "sheets": []}', "run.versions"),
        ('[{"provider": "x"}]', "(it lacks sheets[0].model)"),
        ("{", "is not JSON (Expecting property name enclosed in double quotes, line 1)"),
        ("[" * 100_000, "is not JSON ('maximum recursion depth exceeded"),
        ("", "is empty"),
        ("provider,model\na,b\n", "there is no column component"),
    ],
)
def test_a_file_that_is_neither_prices_nor_a_result_is_refused(tmp_path, text: str, message: str):
    with pytest.raises(WrongData) as caught:
        infer_against(written(tmp_path / "other", text), ["gemini-3.1-pro"])
    assert message in str(caught.value) and "\n" not in str(caught.value)


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
    _, (found,) = histories(["mistral-large-4"])
    assert [str(one.since) for one in found.days] == ["None", "2026-10-20", "2026-10-29"] and found.problems == ()
    first, second, third = found.days
    assert all(change.old is None for change in first.changes)
    assert [(change.place[0], change.old[0], change.new[0]) for change in second.changes][:2] == [
        ("input", 0.68, 1.36), ("output", 2.09, 4.18)]  # fmt: skip
    plain = infer("mistral-large-4", as_of=date(2026, 10, 20))[0]
    assert side_of(second.one).said["active_params", "by_price"].median == pytest.approx(plain.by_price["active_params"].median, rel=1e-5)
    assert side_of(third.one).said["active_params", "by_price"].median < side_of(second.one).said["active_params", "by_price"].median


def test_no_day_before_the_release_is_shown(tmp_path: Path):
    path = tmp_path / "own.csv"
    lines = [f"openai,gpt-5.4,output,{amount},{begins},{ends},start" for amount, begins, ends in (
        (20, "2026-01-01", "2026-02-01"), (30, "2026-02-01", "2026-05-01"), (40, "2026-05-01", ""))]  # fmt: skip
    path.write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    _, (found,) = histories(["gpt-5.4"], prices=str(path))
    assert [str(day.one.sheet.as_of) for day in found.days] == ["2026-03-05", "2026-05-01"]
    assert found.days[0].one.sheet.asked["output", 0, None][0] == 30


@pytest.fixture(scope="module")
def table() -> InferenceTable:
    return infer("gemini-2.5-pro")


def test_runs_of_one_day_and_tables_differ_in_nothing(table: InferenceTable):
    assert causes_of_runs(table, table, recalibrated=False) == ()
    assert causes_of_runs(table, table, recalibrated=True) == (CALIBRATION,)


def test_another_day_and_another_context_are_named_with_both(table: InferenceTable):
    (one,) = table
    old = replace(one, sheet=replace(one.sheet, as_of=date(2026, 3, 12), max_context=200_000))
    assert causes_of_runs([old], table, recalibrated=False) == (
        f"the day, 2026-03-12 -> {table.as_of}",
        "max_context of google/gemini-2.5-pro, 200k tokens -> 1.049M tokens",
    )


def test_a_saved_result_names_the_anchors_tables_and_versions_that_are_others(table: InferenceTable):
    document = json.loads(saved(table))
    run, days = document["run"], [table.as_of]
    assert causes_of_saved(days, run, table, shipped_data()) == ((), False)
    others = ({}, run | {"tables": {}}, run | {"versions": {"numpy": "1.0"}})
    assert all(causes_of_saved(days, found, table, shipped_data())[1] for found in others)
    anchors = run["anchors"] | {"overlap": 0.0, "active_params": 6e10}
    other = run | {"anchors": anchors, "tables": run["tables"] | {"fx.csv": "0"}, "versions": run["versions"] | {"numpy": "1.0"}}
    assert causes_of_saved([date(2026, 3, 12)], other, table, shipped_data())[0] == (
        f"the day, 2026-03-12 -> {table.as_of}",
        "anchor overlap, 0 -> 1",
        "anchor active_params, 60B -> none",
        f"fx.csv, 0 -> {run['tables']['fx.csv'][:8]}",
        f"numpy, 1.0 -> {run['versions']['numpy']}",
    )
    *named, more = causes_of_saved(days, run | {"tables": {}}, table, shipped_data())[0]
    assert len(named) == 3 and more.endswith(" more like these")
    assert causes_of_saved(days, {}, table, shipped_data())[0] == ("anchors, tables or versions, which a list of sheets does not have",)


def test_a_bound_and_a_median_are_not_compared_as_numbers():
    bound, median = Estimate(kind="upper", high=4.0), Estimate(kind="interval", median=2.0, low=1.0, high=4.0)
    assert log_change(median, bound) is None and log_change(None, median) is None
    assert log_change(bound, Estimate(kind="upper", high=8.0)) == pytest.approx(log(2))


def test_an_inference_without_a_range_moved_by_no_share_of_it():
    point, later = Estimate(kind="point", median=2.0), Estimate(kind="point", median=4.0)
    one = Moved(quantity="q", estimator="joint", before=point, after=later, prices=())
    assert (one.times, one.share_of_range) == (pytest.approx(2), None)
