"""The tables that ship: described column by column, keyed, graded, and consistent with one another."""

import csv
import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from derive.presets import KV_INPUTS, hardware, hardware_names
from invert.calibration import calibration_book
from invert.prices.check import check
from invert.prices.load import load
from invert.prices.select import models, sheets
from invert.rows import units_per_usd

DATA = Path(__file__).parent.parent / "pricing_data"
PACKAGE = json.loads((DATA / "datapackage.json").read_text())
RESOURCES = {resource["path"]: resource["schema"] for resource in PACKAGE["resources"]}
TODAY = date(2026, 11, 20)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_table_is_in_the_package_and_every_resource_is_a_file():
    assert {path.name for path in DATA.glob("*.csv")} == set(RESOURCES)


@pytest.mark.parametrize("name", RESOURCES)
def test_a_table_has_the_columns_its_description_names(name):
    fields = RESOURCES[name]["fields"]
    assert list(rows(name)[0]) == [field["name"] for field in fields]
    assert all(field.get("description") and field.get("type") for field in fields)


@pytest.mark.parametrize("name", RESOURCES)
def test_the_cells_keep_what_the_description_promises(name):
    for field in RESOURCES[name]["fields"]:
        constraints = field.get("constraints", {})
        for place, row in enumerate(rows(name), start=2):
            cell = row[field["name"]]
            where = f"{name} row {place}, column {field['name']}: {cell!r}"
            assert cell or not constraints.get("required"), where
            assert not cell or "enum" not in constraints or cell in constraints["enum"], where
            if cell and field["type"] in ("number", "integer"):
                assert float(cell) == float(cell) and (field["type"] == "number" or float(cell).is_integer()), where
            if cell and field["type"] == "date":
                assert date.fromisoformat(cell), where


@pytest.mark.parametrize("name", [name for name, schema in RESOURCES.items() if "primaryKey" in schema])
def test_the_primary_key_is_unique(name):
    key = RESOURCES[name]["primaryKey"]
    counts = Counter(tuple(row[column] for column in ([key] if isinstance(key, str) else key)) for row in rows(name))
    assert [found for found, count in counts.items() if count > 1] == []


def test_numbers_carry_a_unit_in_their_description():
    physical = {"amount", "value", "units_per_usd", "ttl_seconds", "threshold_tokens", "max_context", "active_params", "low", "high"}
    for name, schema in RESOURCES.items():
        for field in schema["fields"]:
            if field["name"] in physical and field["type"] in ("number", "integer"):
                assert field.get("unit"), f"{name} {field['name']}"


def test_the_prices_are_clean_on_every_day_something_changes():
    assert check(load()) == []


def test_there_are_sheets_enough_of_providers_enough():
    current, problems = sheets(load(), TODAY)
    assert problems == []
    assert len(current) >= 15 and len({sheet.provider for sheet in current}) >= 8


def test_every_kind_of_price_the_readings_use_is_there():
    current, _ = sheets(load(), TODAY)
    assert any(len(sheet.bands) == 4 for sheet in current)
    assert any(len(sheet.writes) == 2 for sheet in current)
    assert any(sheet.storage for sheet in current)
    assert any(sheet.bands[1].threshold_inclusive for sheet in current if len(sheet.bands) > 1)
    assert any(sheet.bands[0].input.currency != "USD" for sheet in current)


def test_every_priced_model_is_described_and_every_architecture_exists():
    known = {(row.provider, row.model) for row in models()}
    assert {(row["provider"], row["model"]) for row in rows("prices.csv")} == known
    architectures = {row["model"] for row in rows("architectures.csv")}
    assert {row.architecture for row in models() if row.architecture} <= architectures


def test_every_rival_has_a_chosen_row():
    columns = ("provider", "model", "region", "service_tier", "component", "threshold_tokens", "ttl_seconds")

    def key(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[column] for column in columns)

    assert {key(row) for row in rows("prices_rivals.csv")} <= {key(row) for row in rows("prices.csv")}


def test_a_drain_time_is_capacity_over_bandwidth():
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows("memory_tiers.csv"):
        if row["value"]:
            found.setdefault((row["tier"], row["device"]), {})[row["quantity"]] = float(row["value"])
    whole = [device for device in found.values() if {"tier_capacity", "tier_bandwidth", "drain_time"} <= set(device)]
    assert len(whole) >= 10
    for device in whole:
        assert device["drain_time"] == pytest.approx(device["tier_capacity"] / device["tier_bandwidth"], rel=1e-3)


def test_every_data_type_of_every_accelerator_is_a_preset_or_refused_by_name():
    usable = []
    for name in hardware_names():
        for row in rows("hardware.csv"):
            if row["accelerator"] == name and row["quantity"] == "peak_flops" and row["dtype"]:
                usable.append(hardware(f"{name}:{row['dtype']}").givens["peak_flops"])
    assert len(usable) >= 30


def test_every_row_has_a_source():
    for name in ("prices.csv", "prices_rivals.csv", "prices_calibration.csv"):
        assert all(row["source_url"] and row["verification"] for row in rows(name))
    for name in ("hardware.csv", "memory_tiers.csv", "fx.csv"):
        assert all(row["source"] and row["verification"] for row in rows(name))


def test_the_launch_sheets_are_sound_and_only_the_calibration_sees_them():
    book, shipped = calibration_book(), load()
    assert check(book) == []
    launched = {(row["provider"], row["model"]) for row in rows("prices_calibration.csv")}
    named = {tuple(row["calibration_sheet"].split("/")) for row in rows("reference_class.csv") if row["calibration_sheet"]}
    assert launched <= named <= launched | {(row.provider, row.model) for row in models()}
    assert not launched & {(row.provider, row.model) for row in shipped.rows}
    assert {row["verification"] for row in rows("prices_calibration.csv")} == {"unverified"}


def test_launch_sheets_are_converted_at_the_rate_of_their_time_and_current_ones_as_before():
    fx = load().fx
    for row in rows("prices_calibration.csv"):
        assert units_per_usd(fx, "CNY", date.fromisoformat(row["effective_date"])) == 7.2
    assert units_per_usd(fx, "CNY", TODAY) == units_per_usd(fx, "CNY", date(2026, 1, 1)) == units_per_usd(fx, "CNY", date.max) == 7


def test_every_member_of_the_reference_class_has_an_architecture_and_no_better_a_grade():
    architectures = {row["model"]: row for row in rows("architectures.csv")}
    for row in rows("reference_class.csv"):
        configuration = architectures[row["architecture"]]["verification"]
        assert row["grade"] in (configuration, "assumed", "unverified"), row["architecture"]
        assert row["in_class"] == "true" or not row["calibration_sheet"], row["architecture"]
        assert bool(row["calibration_date"]) == row["calibration_sheet"].startswith(("alibaba-cn", "minimax-cn"))


def test_a_family_is_one_design_and_holds_every_model_of_a_maker_shaped_as_one_of_its_class():
    architectures = {row["model"]: row for row in rows("architectures.csv")}
    family = {row["architecture"]: row["family"] for row in rows("reference_class.csv")}

    def shape(row: dict[str, str]) -> tuple[str, ...]:
        return row["hf_id"].split("/")[0], row["kv_formula"], *(row[name] for name in KV_INPUTS[row["kv_formula"]])

    for name in set(family.values()):
        assert len({architectures[member]["kv_formula"] for member, its in family.items() if its == name}) == 1
    in_class = [row["architecture"] for row in rows("reference_class.csv") if row["in_class"] == "true"]
    of_shape = {shape(architectures[member]): family[member] for member in in_class}
    for row in architectures.values():
        if row["kv_formula"] and shape(row) in of_shape:
            assert family.get(row["model"]) == of_shape[shape(row)], row["model"]
