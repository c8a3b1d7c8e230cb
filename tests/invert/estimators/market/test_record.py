"""Records of what was foretold: none where too few judge it, and no skill where prices say nothing."""

import numpy as np
import pytest

from derive.preset_rows import OpenModel
from derive.tables.shipped import rows_of
from invert.estimators.market import panel, record
from invert.estimators.market.regression import foretold, grouped
from invert.sheets.tables import ListPrice

LISTED = panel.by_list_price(rows_of(OpenModel), rows_of(ListPrice))


def test_prices_say_nothing_of_kv_bytes():
    """Input price -.02 nat, and the ratio of a cache read to input +.02 with an interval about nothing: no skill."""
    known = [row for row in LISTED if row.kv_bytes_per_token]
    gains = {}
    for name, rows, price in (
        ("input", known, lambda row: row.input_price),
        ("cache", [row for row in known if row.cache_read_price], lambda row: row.cache_read_price / row.input_price),
    ):
        target, families = np.log([row.kv_bytes_per_token for row in rows]), [row.price_family for row in rows]
        with_price = foretold(grouped(target, families, np.log([price(row) for row in rows])))
        gains[name] = record.record(with_price, foretold(grouped(target, families)))
    assert {name: one.count for name, one in gains.items()} == {"input": 61, "cache": 24}
    assert {name: round(one.gain, 2) for name, one in gains.items()} == {"input": -0.02, "cache": 0.02}
    assert not any(one.has_skill() for one in gains.values())


@pytest.mark.parametrize("families", [[], ["a"], ["a", "a"]])
def test_what_no_two_families_judge_has_no_record(families):
    values = np.zeros(len(families))
    assert record.record_by_votes(values, families, values, values, values) is None
