"""The line of size against price: what an estimate of a sheet at such a price would say, and the models it is learnt from."""

import pytest

from invert.assumptions import USUAL
from invert.data import read_data
from invert.estimators.market import size
from invert.estimators.market.line import judged_sizes, size_line


def test_the_line_is_what_the_fit_says_at_its_prices():
    found = size_line(read_data())
    price, (low, median, high) = found.prices[7], found.sizes[7]
    one = size.size_at(read_data(), size.ANY, price * 1e6, "", False, USUAL)
    assert (low, median, high) == pytest.approx((one.low, one.median, one.high))


def test_it_reaches_from_the_cheapest_model_to_the_dearest_and_rises():
    found = size_line(read_data())
    asked = [one.input_price for one in found.models]
    assert (found.prices[0], found.prices[-1]) == pytest.approx((min(asked), max(asked)))
    assert all(low < median < high for low, median, high in found.sizes)
    medians = [median for _, median, _ in found.sizes]
    assert medians == sorted(medians) and len(found.models) == found.record.count


def test_as_many_ranges_held_as_the_record_says():
    held, record = sum(one.right for one in judged_sizes(read_data())), size_line(read_data()).record.at(USUAL.level)
    assert record and (held, len(judged_sizes(read_data()))) == (record.right, record.count)
