"""Open models with their prices: one price per model by its maker, the median of its hosts, and none that was looked up from a size."""

from statistics import median

import pytest

from derive.preset_rows import Architecture
from derive.tables.shipped import read, rows_of
from invert.data import Data, read_data
from invert.estimators.market import panel
from invert.estimators.market.typical_kv import typical_kv
from invert.sheets.read import last_day
from invert.sheets.tables import HostPrice, ListPrice
from tests.tools.data import shipped_data
from tests.tools.tables import reading, with_cells


def edited(table: str, change) -> Data:
    return Data(read().edited(**{table: with_cells(read().content(f"{table}.csv").decode(), change)}))


def test_each_list_price_is_the_price_of_one_model():
    asked = {row.model: (row.input_price, row.output_price, row.cache_read_price) for row in rows_of(ListPrice)}
    listed = panel.listed_models(shipped_data())
    assert {row.model: (row.input_price, row.output_price, row.cache_read_price) for row in listed} == asked


def test_the_price_at_hosts_is_the_median_of_enough_hosts():
    hosted = panel.hosted_models(shipped_data())
    rows = [row for row in rows_of(HostPrice) if row.model == hosted[0].model and row.host_kind == "gpu" and row.era != "old"]
    rows = [row for row in rows if not row.size_bucket and not row.domestic]
    assert len(rows) >= 3 and hosted[0].input_price == pytest.approx(median(row.input_price for row in rows), rel=0.2)
    assert hosted[0].cache_read_price is None


def test_prices_looked_up_from_a_size_never_enter_a_fit():
    assert sum(row.size_bucket for row in rows_of(HostPrice)) == 91 and len(panel.hosted_models(shipped_data())) == 76
    as_if = edited("host_prices", lambda row: row | {"size_bucket": "false"})
    assert len(panel.hosted_models(as_if)) > 76


def test_a_row_of_a_day_after_the_prices_teaches_nothing_and_is_named():
    newest = last_day(shipped_data())
    text = read().content("architectures.csv").decode()
    late = with_cells(text, lambda row: row | ({"release_date": "2099-01-01"} if row["model"] == "DeepSeek-V3.2" else {}))
    with reading(read().edited(architectures=late)):
        data = read_data()
        row = next(one for one in data.tables.rows_of(Architecture) if one.model == "DeepSeek-V3.2")
        told = f"architectures.csv row {row.place}, column release_date: 2099-01-01 is after the prices were read, on {newest}"
        assert str(panel.dated_late(row, data)) == told
        assert "DeepSeek-V3.2" not in {one.architecture for one in typical_kv(data)["read"].caches}
    row = next(one for one in rows_of(Architecture) if one.model == "DeepSeek-V3.2")
    assert panel.dated_late(row, shipped_data()) is None
    assert "DeepSeek-V3.2" in {one.architecture for one in typical_kv(shipped_data())["read"].caches}
