"""What the cells of a row, and the rows of a table, must make together; each rule by the row that breaks it."""

from collections.abc import Mapping
from datetime import date

import pytest

from derive.preset_record import KV_INPUTS
from derive.preset_rows import (
    PUBLISHED_BYTES,
    AcceleratorFigure,
    Architecture,
    Efficiency,
    FittedEfficiency,
    MemoryTierFigure,
    published_types,
)
from derive.presets import hardware, model
from derive.tables import shipped
from derive.tables.lines import BadRow
from derive.tables.shipped import TableRow, Tables, read, rows_of
from invert.sheets.rows import CalibrationModel, Disclosure, FxRate, ModelRow
from tests.tools.tables import GOOD, RECORDS, of_hardware, reading, with_cells
from tests.tools.together import in_one_test

# -- one row ----------------------------------------------------------------------------------------------------------


def first(record: type[TableRow], **cells: object) -> TableRow:
    """The first row that ships with these cells."""
    return next(row for row in rows_of(record) if all(getattr(row, name) == value for name, value in cells.items()))


def faults(row: TableRow, **changed: object) -> list[tuple[str | None, str]]:
    return list(row.changed(**changed).faults())


def test_no_shipped_row_breaks_a_rule():
    assert [(row, fault) for record in RECORDS.values() for row in rows_of(record) for fault in row.faults()] == []


DAY = date(2026, 11, 1)
BROKEN: list[tuple[type[TableRow], Mapping[str, object], Mapping[str, object], str, str]] = [
    (MemoryTierFigure, {"device": "range", "quantity": "drain_time"}, {"low": None}, "low", "is blank, and a drain_time over devices"),
    (MemoryTierFigure, {"device": "range", "quantity": "drain_time"}, {"high": None}, "high", "is blank"),
    (MemoryTierFigure, {"device": "range", "quantity": "drain_time"}, {"low": 40.0, "high": 1.0}, "value", "do not ascend: 40, "),
    (MemoryTierFigure, {"quantity": "holding_price"}, {"basis": ""}, "basis", "is blank, and holding_price needs one"),
    (MemoryTierFigure, {"quantity": "tier_capacity"}, {"basis": "rented"}, "basis", "tier_capacity has no basis"),
    (MemoryTierFigure, {"quantity": "tier_capacity"}, {"unit": "s"}, "unit", "tier_capacity"),
    (ModelRow, {"architecture": "Qwen3-30B-A3B"}, {"architecture_grade": ""}, "architecture_grade", "is blank, and architecture is not"),
    (ModelRow, {"architecture": "Qwen3-30B-A3B"}, {"architecture": ""}, "architecture", "is blank, and architecture_grade is not"),
    (ModelRow, {"architecture": "Qwen3-30B-A3B"}, {"active_params": None}, "active_params", "is blank, and active_params_grade"),
    (Disclosure, {"topic": "fast_mode"}, {"quantity": "storage_tier"}, "quantity", "'storage_tier' is not a quantity of fast_mode"),
    (Disclosure, {"topic": "production", "unit": "token/s"}, {"unit": "token/day"}, "unit", "is in token/s, not 'token/day'"),
    (Disclosure, {"topic": "production", "unit": "token/s"}, {"value": None}, "value", "is blank"),
    (Disclosure, {"topic": "cache_tier"}, {"value": 3.0}, "value", "storage_tier is a tier, not a number"),
    (Disclosure, {"topic": "cache_tier"}, {"unit": "s"}, "unit", "storage_tier is in no unit, not 's'"),
    (Disclosure, {"topic": "cache_tier"}, {"disclosed_tier": ""}, "disclosed_tier", "is blank"),
    (Disclosure, {"topic": "fast_mode"}, {"disclosed_tier": "flash"}, "disclosed_tier", "has no disclosed_tier"),
    (Disclosure, {"topic": "cache_tier"}, {"date": DAY, "date_kind": ""}, "date_kind", "is blank, and date is not"),
    (Disclosure, {"topic": "cache_tier"}, {"date": None, "date_kind": "copy"}, "date", "is blank, and date_kind is not"),
    (FxRate, {"currency": "CNY"}, {"units_per_usd": 1e9}, "units_per_usd", "1e+09 is not a rate of exchange"),
    (Efficiency, {"use": "fit"}, {"layers": None}, "layers", "is blank, but the fit uses the run"),
    (Efficiency, {"use": "held-out"}, {"unit": "USD"}, "measured", "USD"),
    (Efficiency, {"use": "fit"}, {"unknown": "nothing"}, "unknown", "unknown quantity 'nothing'"),
    (Efficiency, {"use": "fit"}, {"givens": "chips=many"}, "givens", "chips"),
    (FittedEfficiency, {"quantity": "mbu"}, {"low": 0.99}, "value", "lies outside of its range"),
    (FittedEfficiency, {"quantity": "mfu"}, {"value": 46.4, "high": 50.0}, "value", "mfu = 46.4: must be"),
]


@in_one_test(("record", "of", "changed", "column", "why"), BROKEN, ids=str)
def test_a_row_whose_cells_do_not_go_together_is_named_by_column(record, of, changed, column, why):
    row = first(record, **of)
    assert faults(row) == []
    found = faults(row, **changed)
    assert [place for place, _ in found] == [column] and why in found[0][1], found


def test_every_formula_of_keys_and_values_names_columns_of_the_table():
    columns = {*read().columns("architectures")}
    assert all(set(inputs) <= columns for inputs in KV_INPUTS.values())
    assert {row.kv_formula for row in rows_of(RECORDS["architectures"])} <= {*KV_INPUTS, ""}
    assert published_types("mxfp4") == ("mxfp4", "mxfp4") and set(published_types("fp8 experts + bf16")) <= set(PUBLISHED_BYTES)


@in_one_test(
    ("name", "cells", "column", "why"),
    [
        ("DeepSeek-V3", {"active_experts": "300"}, "active_experts", "300 is more than the 256 experts"),
        ("DeepSeek-V3", {"active_experts": "0"}, "active_experts", "is 0, and experts is 256"),
        ("DeepSeek-V3", {"moe_layers": "62"}, "moe_layers", "62 is more than the 61 layers"),
        ("DeepSeek-V3", {"moe_ffn_dim": ""}, "moe_ffn_dim", "is blank, and experts is 256"),
        ("DeepSeek-V3", {"dense_ffn_dim": ""}, "dense_ffn_dim", "is blank, and 3 layers have no experts"),
        ("DeepSeek-V3", {"vocab_size": ""}, "vocab_size", "is blank, and experts is not"),
        ("DeepSeek-V3", {"experts_grade": "unread"}, "experts_grade", "is unread, but there are experts"),
        ("Llama-3-8B", {"shared_experts": "1"}, "shared_experts", "is 1, but experts is 0"),
        ("DeepSeek-V3.2", {"indexer_heads": ""}, "indexer_heads", "is blank, and indexer_dim is not"),
        ("DeepSeek-V3.2", {"indexer_bytes_per_element": "132"}, "indexer_bytes_per_element", "132 is out of range"),
        ("Kimi-K3", {"state_bytes_per_element": ""}, "state_bytes_per_element", "is blank, and state_heads is not"),
        ("Kimi-K3", {"native_dtype": "mxfp5 experts + bf16"}, "native_dtype", "'mxfp5' is not a data type"),
        ("Llama-3-8B", {"native_dtype": "float16"}, "native_dtype", "mxfp4, int4; two are written as 'mxfp4 experts + bf16'"),
        ("Llama-3-8B", {"native_dtype": "fp8 experts + bf16"}, "native_dtype", "names experts, but experts is 0"),
        ("Kimi-K3", {"linear_layers": ""}, "linear_layers", "is blank, but the linear layers have a state"),
    ],
)
def test_an_architecture_whose_columns_do_not_go_together_is_named(name: str, cells: dict[str, str], column: str, why: str):
    text = with_cells(shipped.read().content("architectures.csv").decode(), lambda row: row | cells if row["model"] == name else row)
    with reading(read().edited(architectures=text)):
        (problem,) = shipped.read().problems(Architecture)
        assert problem.column == column and why in problem.message
        with pytest.raises(BadRow):
            model(name)


@in_one_test(
    ("record", "place", "cells", "column", "why"),
    [
        (ModelRow, 2, {"active_params": "3.3"}, "active_params", "3.3 is out of range: it must be 1e+06 or more"),
        (ModelRow, 2, {"max_context": "8"}, "max_context", "8 is out of range"),
        (Architecture, 2, {"release_date": "1999-01-01"}, "release_date", "1999-01-01 is out of range: it must be 2017-01-01 or later"),
        (CalibrationModel, 3, {"max_context": "5"}, "max_context", "5 is out of range"),
        (ModelRow, 3, {"aliases": "Qwen3-Coder-Flash"}, "aliases", "'Qwen3-Coder-Flash' is already a name of row 2"),
        (FxRate, 4, {"units_per_usd": "0.14"}, "units_per_usd", "0.14 is far from 7, its rate on other days"),
        (FxRate, 4, {"units_per_usd": "70"}, "units_per_usd", "70 is far from 7.2, its rate on other days"),
    ],
)
def test_a_figure_beyond_all_known_ones_is_named(record, place, cells, column, why):
    lines = iter(range(2, 10_000))
    text = with_cells(read().content(f"{record.TABLE}.csv").decode(), lambda row: row | cells if next(lines) == place else row)
    (problem,) = read().edited(**{record.TABLE: text}).problems(record)
    assert (problem.row, problem.column) == (place, column) and why in problem.message


# -- several rows -----------------------------------------------------------------------------------------------------


@in_one_test(
    ("rows", "named"),
    [
        ((*GOOD[:2], GOOD[3]), [(2, "accelerator", "'H1' has no hbm_capacity")]),
        (
            (*GOOD[:2], GOOD[2].replace("H1", "H2"), GOOD[3]),
            [(2, "accelerator", "has no hbm_capacity"), (4, "accelerator", "'H2' has no peak_")],
        ),
        ((*GOOD, GOOD[1].replace("3e12", "4e12").replace("page", "sheet")), [(3, "preferred", "is true in 2 of 2 rows")]),
        ((GOOD[0].replace("true", "false"), *GOOD[1:]), [(2, "preferred", "is true in 0 of 1 rows")]),
    ],
)
def test_rows_that_do_not_go_together_are_named_once_and_none_of_them_is_taken(rows, named):
    with reading(of_hardware(*rows)):
        found = shipped.read().problems(AcceleratorFigure)
        assert [(one.row, one.column) for one in found] == [(row, column) for row, column, _ in named]
        assert all(why in one.message for one, (*_, why) in zip(found, named, strict=False))
        with pytest.raises(BadRow, match=r"hardware\.csv row"):
            hardware("H1")


def test_a_preferred_price_is_told_to_be_none():
    text = shipped.read().content("hardware.csv").decode()
    first = next(line for line in text.splitlines() if "A100-SXM-80GB,chip_price," in line)
    with reading(read().edited(hardware=text.replace(first, first.replace(",false,", ",true,"), 1))):
        (problem,) = shipped.read().problems(AcceleratorFigure)
    assert (problem.column, problem.message) == ("preferred", "is true, and no chip_price is preferred; write false")


def devices(changes: Mapping[tuple[str, str], Mapping[str, str]]) -> Tables:
    """The tiers with the cells changed of what is known of a device, by (device, quantity)."""
    text = shipped.read().content("memory_tiers.csv").decode()
    return read().edited(memory_tiers=with_cells(text, lambda row: row | changes.get((row["device"], row["quantity"]), {})))


def test_a_device_that_lacks_a_figure_is_named_by_every_row_of_it():
    with reading(devices({("A100-SXM-80GB", "tier_bandwidth"): {"device": "A100"}})):
        said = {(one.column, one.message) for one in shipped.read().problems(MemoryTierFigure)}
    assert any(column == "device" and "hbm 'A100-SXM-80GB' is not a whole device: it lacks tier_bandwidth" in why for column, why in said)
    assert any(column == "device" and "hbm 'A100' is not a whole device: it lacks drain_time, tier_capacity" in why for column, why in said)


def test_a_year_belongs_to_a_price_and_each_basis_has_one_price_a_year():
    with reading(devices({("A100-SXM-80GB", "tier_capacity"): {"year": "2025"}})):
        found = [(one.column, one.message) for one in shipped.read().problems(MemoryTierFigure)]
    assert ("year", "tier_capacity has no year: leave it blank") in found
    with reading(devices({("rented with H100, 2025", "holding_price"): {"year": ""}})):
        assert any("hbm has another holding_price that is rented" in one.message for one in shipped.read().problems(MemoryTierFigure))
