"""Open models with their prices: of their makers one a model, of hosts their median, and none that was looked up from a size."""

from dataclasses import replace
from statistics import median

import pytest

from derive.preset_rows import OpenModel
from derive.tables.shipped import rows_of
from invert.estimators.market import panel
from invert.estimators.market.hosts import rented_host_prices
from invert.sheets.tables import HostPrice, ListPrice

MODELS = rows_of(OpenModel)
HOSTED = panel.by_host_price(MODELS, rows_of(HostPrice), 3)


def test_a_model_is_there_once_with_what_its_maker_asks():
    prices = rows_of(ListPrice)
    listed = panel.by_list_price(MODELS, prices)
    asked = {row.model: (row.input_price, row.output_price, row.cache_read_price) for row in prices}
    assert {row.model: (row.input_price, row.output_price, row.cache_read_price) for row in listed} == asked
    assert len(listed) == len(prices)


def test_a_price_of_a_model_without_a_row_says_nothing():
    lost, *others = [row.model for row in panel.by_list_price(MODELS, rows_of(ListPrice))]
    left = [row for row in MODELS if row.model != lost]
    assert [row.model for row in panel.by_list_price(left, rows_of(ListPrice))] == others


def test_of_hosts_the_one_in_the_middle_counts_and_none_where_they_are_too_few():
    model = next(row for row in MODELS if row.model == HOSTED[0].model)
    host = rented_host_prices(rows_of(HostPrice))[model.model][0]
    prices = [1.0, 2.0, 9.0]
    rows = [replace(host, host=f"host {price}", input_price=price, output_price=4 * price) for price in prices]
    (found,) = panel.by_host_price([model], rows, 3)
    assert (found.input_price, found.output_price) == pytest.approx((median(prices), 4 * median(prices)))
    assert found.cache_read_price is None and panel.by_host_price([model], rows, 4) == ()


def test_prices_looked_up_from_a_size_never_enter_a_fit():
    rows = rows_of(HostPrice)
    looked_up = [row for row in rows if row.size_bucket]
    assert len(looked_up) == 91
    as_if = panel.by_host_price(MODELS, [replace(row, size_bucket=False) for row in rows], 3)
    assert len(as_if) > len(HOSTED) == 76
    assert panel.by_host_price(MODELS, [row for row in rows if not row.size_bucket], 3) == HOSTED
