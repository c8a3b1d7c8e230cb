"""Records of the tables that ship: a column has the type that the description gives it, and what its cell says."""

import csv
import io

from derive.preset_rows import AcceleratorFigure, Architecture
from derive.tables import shipped
from derive.tables.shipped import TableRow, in_si, is_known, rows_of
from derive.tables.writing import cell_text
from tests.tools.tables import RECORDS, reading
from tests.tools.together import in_one_test, some

PRICES = {"prices", "prices_rivals", "prices_calibration"}


def test_every_table_but_those_of_prices_has_a_record():
    """No estimate reads the history of open prices."""
    tables = {name.removesuffix(".csv") for name in shipped.read().files if name != shipped.DESCRIPTION}
    assert set(RECORDS) == tables - PRICES - {"price_history"}


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
        for column in texts:
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
