"""Records of the tables that ship: a field a column, of the type that the description gives it, with what the cell says."""

import csv
import datetime
import io
from dataclasses import fields
from typing import get_type_hints

from derive.preset_rows import AcceleratorFigure, Architecture
from derive.tables import shipped
from derive.tables.shipped import TableRow, in_si, is_known, rows_of
from derive.tables.writing import cell_text
from tests.tools.tables import RECORDS, reading
from tests.tools.together import in_one_test, some

PRICES = {"prices", "prices_rivals", "prices_calibration"}
TYPES = {"string": str, "list": tuple[str, ...], "number": float, "integer": int, "boolean": bool, "date": datetime.date}


def columns(record: type[TableRow]) -> dict[str, object]:
    hints = get_type_hints(record)
    return {one.name: hints[one.name] for one in fields(record) if one.name != "place"}


def test_every_table_but_those_of_prices_has_a_record():
    """No estimate reads the history of open prices."""
    tables = {name.removesuffix(".csv") for name in shipped.read().files if name != shipped.DESCRIPTION}
    assert set(RECORDS) == tables - PRICES - {"price_history"}


@in_one_test("record", RECORDS.values())
def test_a_record_has_columns_of_its_table_in_their_order_and_their_types(record: type[TableRow]):
    """Columns that nobody reads need no field."""
    described = [field for field in shipped.read().schema(record.TABLE)["fields"] if field["name"] in columns(record)]
    assert list(columns(record)) == [field["name"] for field in described]
    for field in described:
        kind, wanted = columns(record)[field["name"]], TYPES[field["type"]]
        blank = field["type"] not in ("string", "list") and not field.get("constraints", {}).get("required")
        assert kind == (wanted | None if blank else wanted), field["name"]


def said(value: object) -> str:
    """What a cell with this value holds, up to how figures are written."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    return ";".join(value) if isinstance(value, tuple) else cell_text(float(value)) if isinstance(value, int | float) else str(value)


@in_one_test("record", RECORDS.values())
def test_a_record_says_what_its_cells_say(record: type[TableRow]):
    cells = list(csv.DictReader(io.StringIO(shipped.read().content(f"{record.TABLE}.csv").decode())))
    found = rows_of(record)
    assert [row.place for row in found] == list(range(2, len(cells) + 2))
    for row, texts in some(zip(found, cells, strict=True), 4):
        for column in columns(record):
            value, text = getattr(row, column), texts[column]
            same = float(text) == value if isinstance(value, int | float) and not isinstance(value, bool) else said(value) == text
            assert same, (row.place, column, value, text)


def test_zero_is_known_and_a_blank_is_not():
    row = next(row for row in rows_of(Architecture) if row.model == "DeepSeek-V4-Pro")
    assert row.window_value_dim == 0 and is_known(row, "window_value_dim") and is_known(row, "model")
    assert row.latent_dim is None and row.aliases == () and not any(is_known(row, column) for column in ("latent_dim", "aliases"))


def test_a_figure_in_si_is_that_of_its_unit_to_the_last_bit():
    assert in_si("chip_price", 2.0, "USD/h") == 2 / 3600
    assert in_si("input_price", 7.0, "USD/mtok") == 7e-6
    assert in_si("hbm_bandwidth", 3.35e12, "byte/s") == 3.35e12


def test_rows_of_one_table_are_parsed_once_a_reading():
    with reading():
        assert rows_of(AcceleratorFigure) is rows_of(AcceleratorFigure)
