"""Rules of pricing_data that every edit keeps: it is sound, every chip and model can be used, and no name is lost.

All other tests read tests/tables, as tests/conftest.py says.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from functools import partial

import pytest

from derive.errors import NotCovered, UnknownName
from derive.preset_rows import Architecture
from derive.presets import chip_name, hardware, hardware_names, model, model_name
from derive.tables.shipped import Tables, read
from invert.sheets.read import load
from invert.sheets.rules import check
from tests.tools.commands import call
from tests.tools.tables import FROZEN, SHIPPED, rows_of_file
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("shipped_tables")

DATA = SHIPPED
PACKAGE = json.loads((DATA / "datapackage.json").read_text())
rows = partial(rows_of_file, DATA)
RESOURCES = {resource["path"]: resource["schema"] for resource in PACKAGE["resources"]}


def test_the_tables_of_the_tests_have_the_columns_of_the_shipped_ones():
    for name in RESOURCES:
        heads = [(folder / name).read_text(encoding="utf-8").splitlines()[0] for folder in (FROZEN, DATA)]
        assert heads[0] == heads[1], f"{name}: take a new copy, as tests/conftest.py says"


def test_every_table_is_in_the_package_and_every_resource_is_a_file():
    assert {path.name for path in DATA.glob("*.csv")} == set(RESOURCES)


@in_one_test("name", RESOURCES)
def test_a_table_has_the_columns_its_description_names(name):
    fields = RESOURCES[name]["fields"]
    assert list(rows(name)[0]) == [field["name"] for field in fields]
    assert all(field.get("description") and field.get("type") for field in fields)


@in_one_test("name", RESOURCES)
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


@in_one_test("name", [name for name, schema in RESOURCES.items() if "primaryKey" in schema])
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
    assert [*check(load()), *load().far_off] == []


def test_every_rival_has_a_chosen_row():
    columns = ("provider", "model", "region", "service_tier", "component", "threshold_tokens", "ttl_seconds")

    def key(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[column] for column in columns)

    assert {key(row) for row in rows("prices_rivals.csv")} <= {key(row) for row in rows("prices.csv")}


def test_every_data_type_of_every_accelerator_is_a_preset_or_refused_by_name():
    usable = [
        hardware(f"{name}:{row['dtype']}").givens["peak_flops"]
        for name in hardware_names()
        for row in rows("hardware.csv")
        if row["accelerator"] == name and row["quantity"] == "peak_flops" and row["dtype"]
    ]
    assert len(usable) >= 30


def test_every_row_has_a_source():
    for name in ("prices.csv", "prices_rivals.csv", "prices_calibration.csv"):
        assert all(row["source_url"] and row["verification"] for row in rows(name))
    for name in ("hardware.csv", "memory_tiers.csv", "fx.csv"):
        assert all(row["source"] and row["verification"] for row in rows(name))


def test_every_table_has_a_key():
    assert [name for name, schema in RESOURCES.items() if not schema.get("primaryKey")] == []


@pytest.mark.parametrize(
    "command",
    ["prices check", "infer --all --as json", "list --hardware", "list --models", pytest.param("validate", marks=pytest.mark.slow)],
)
def test_a_command_that_reads_all_rows_ends_well(command: str):
    done = call(*command.split())
    assert (done.status, done.err) == (0, "")


def test_every_model_is_a_preset_or_its_notes_say_why_not():
    for row in read().rows_of(Architecture):
        if row.kv_formula:
            assert model(row.model).givens["total_params" if row.total_params else "layers"], row.model
        else:
            with pytest.raises(NotCovered):
                model(row.model)


def beginnings(name: str) -> Iterator[str]:
    """Every text that a name begins with, up to a hyphen, and the name itself."""
    parts = name.split("-")
    yield from ("-".join(parts[:count]) for count in range(1, len(parts) + 1))


def spellings(tables: Tables) -> list[str]:
    return [one for row in tables.rows_of(Architecture) for one in (row.model, *row.aliases, row.hf_id) if one]


def test_what_named_a_chip_or_a_model_in_the_tables_of_the_tests_names_it_still():
    before, now = read(FROZEN), read(DATA)
    for names, named in ((hardware_names(before), chip_name), (spellings(before), model_name)):
        for text in dict.fromkeys(one for name in names for one in beginnings(name)):
            try:
                meant = named(text, before)
            except UnknownName:
                continue
            assert named(text, now) == meant, text


def test_no_two_models_have_one_name():
    of_rows = ({name.lower() for name in (row.model, *row.aliases, row.hf_id) if name} for row in read().rows_of(Architecture))
    counts = Counter(name for names in of_rows for name in names)
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    ("table", "column", "names", "named"),
    [("hardware", "accelerator", hardware_names, chip_name), ("architectures", "model", spellings, model_name)],
)
def test_a_new_row_takes_no_name_from_another(table, column, names, named):
    """For every text that names one thing in the tables of the tests, a row is added whose name begins with that text."""
    tables = read(FROZEN)
    known = list(csv.DictReader(io.StringIO(tables.content(f"{table}.csv").decode())))
    lost = {}
    for text in some(dict.fromkeys(one for name in names(tables) for one in beginnings(name)), every=8):
        try:
            meant = named(text, tables)
        except UnknownName:
            continue
        new = ({**row, column: f"{text}-New", "aliases": "", "hf_id": ""} for row in known if row[column] == meant)
        more = "".join(",".join(f'"{row[name]}"' for name in known[0]) + "\n" for row in new)
        with suppress(UnknownName):
            if named(text, tables.edited(**{table: tables.content(f"{table}.csv").decode() + more})) == meant:
                continue
        lost[text] = meant
    assert not lost, f"rows of short_names.csv are missing: {lost}"


def test_an_alias_that_a_new_row_repeats_means_the_first():
    tables = read(FROZEN)
    known = list(csv.DictReader(io.StringIO(tables.content("architectures.csv").decode())))
    old = next(row for row in known if row["aliases"])
    alias = old["aliases"].split(";")[0]
    new = {**old, "model": "New-1B", "aliases": alias.upper(), "hf_id": alias}
    more = ",".join(f'"{cell}"' for cell in new.values()) + "\n"
    edited = tables.edited(architectures=tables.content("architectures.csv").decode() + more)
    assert model_name(alias, edited) == model_name(alias.lower(), edited) == old["model"] and model_name("new-1b", edited) == "New-1B"


@in_one_test(
    ("text", "meant"), [("H100", "H100-SXM"), ("a100", "A100-SXM-80GB"), ("H200", "H200-SXM"), ("RTX-PRO-6000", "RTX-PRO-6000-Server")]
)
def test_a_chip_of_several_forms_is_the_usual_one(text, meant):
    assert chip_name(text) == meant
    assert hardware(f"{text}:bf16") == hardware(f"{meant}:bf16")
