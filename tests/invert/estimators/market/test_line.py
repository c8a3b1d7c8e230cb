"""The line of size against price: what an estimate of a sheet at such a price would say, and the models it is learnt from."""

import pytest

from invert.assumptions import USUAL
from invert.data import read_data
from invert.estimators.market import size
from invert.estimators.market.line import judged_sizes, size_line
from invert.estimators.panel import listed_models


def test_the_line_is_what_the_fit_says_at_its_prices():
    price, found = [*size_line(read_data()).items()][7]
    one = size.size_at(read_data(), size.ANY, price * 1e6, "", False, USUAL)
    assert (found.low, found.median, found.high) == pytest.approx((one.low, one.median, one.high))


def test_it_reaches_from_the_cheapest_model_to_the_dearest_and_rises():
    found, prices = size_line(read_data()), [*size_line(read_data())]
    asked = [one.input_price / 1e6 for one in listed_models(read_data())]
    assert (prices[0], prices[-1]) == pytest.approx((min(asked), max(asked)))
    assert all(one.low < one.median < one.high for one in found.values())
    medians = [one.median for one in found.values()]
    assert medians == sorted(medians)


def test_as_many_ranges_held_as_the_record_says():
    held, record = sum(one.right for one in judged_sizes(read_data())), size.size_record(read_data(), size.ANY).at(USUAL.level)
    assert record and (held, len(judged_sizes(read_data()))) == (record.right, record.count)
