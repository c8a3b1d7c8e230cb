"""Open models with their prices: one price per model by its maker, the median of its hosts, and none that was looked up from a size."""

from math import exp, log, sqrt
from random import Random
from statistics import NormalDist, fmean, median

import pytest

from derive.preset_rows import Architecture
from derive.solving.api import solve
from derive.tables.shipped import read, rows_of
from invert.assumptions import USUAL
from invert.data import Data, read_data
from invert.estimators import panel
from invert.estimators.panel import fraction_span, spread_of_output_input_ratio, spread_within
from invert.estimators.typical_kv import typical_kv
from invert.sheets.read import last_day
from invert.sheets.rows import HostPrice, ListPrice
from tests.tools.data import shipped_data
from tests.tools.tables import reading, with_cells
from tests.tools.together import in_one_test


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


PRICES = rows_of(HostPrice)
LEAST = USUAL.least_hosts


def test_output_over_input_of_one_model_differs_by_a_factor_between_hosts():
    found = spread_of_output_input_ratio(PRICES, LEAST)
    assert (round(found.pooled, 2), round(found.middle, 2), found.models, found.prices) == (0.27, 0.24, 63, 611)


def test_prices_that_are_looked_up_from_the_size_never_enter():
    bucketed = [row.changed(output_price=100 * row.output_price) for row in PRICES if row.size_bucket]
    others = [row for row in PRICES if not row.size_bucket]
    assert len(bucketed) >= 80
    assert spread_of_output_input_ratio([*others, *bucketed], LEAST) == spread_of_output_input_ratio(others, LEAST)
    taken = [row.changed(size_bucket=False) for row in bucketed]
    assert spread_of_output_input_ratio([*others, *taken], LEAST).prices > spread_of_output_input_ratio(others, LEAST).prices


def test_the_pooled_spread_is_that_which_groups_were_drawn_with():
    random = Random(1)
    groups = [[random.gauss(centre, 0.4) for _ in range(2 + centre % 9)] for centre in range(400)]
    found = spread_within([*groups, [3.0]])
    assert (found.models, found.prices) == (400, sum(map(len, groups)))
    assert found.pooled == pytest.approx(0.4, rel=0.03)
    squares = sum(sum((one - fmean(group)) ** 2 for one in group) for group in groups)
    assert found.pooled == pytest.approx(sqrt(squares / (found.prices - found.models)))


@in_one_test("ratio", [2.0, 5.0, 8.0])
def test_the_ends_are_the_reading_of_the_ends_of_the_ratio(ratio: float):
    reach = NormalDist().inv_cdf(0.95) * 0.3
    low, high = fraction_span(ratio, 0.3, 0.9)
    ends = [
        solve("bandwidth_bound_fraction", using=["readings.bandwidth_bound_fraction"], output_input_ratio=ratio * exp(end)).value
        for end in (-reach, reach)
    ]
    assert [low, high] == pytest.approx(ends) and log((1 - low) / (1 - high)) == pytest.approx(2 * reach)
