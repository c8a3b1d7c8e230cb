"""Results that are the same for every test, computed once a process: draws of sheets, and the shipped tables.

The draws of a sheet are half of the time of an inference. They depend on its prices and on the assumptions alone. A hundred tests draw
the same hundred sheets. `tests/invert/posterior/test_summary.py` tests the drawing itself, without this cache.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from derive.tables.shipped import Tables
from invert import data
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import all_prices
from invert.posterior.points import PriceData
from invert.posterior.sampler import Summary, summarise

_summaries: dict[Hashable, Summary] = {}
_shipped: list[Data] = []
_data_of = data._cache_of


def remember() -> None:
    """Cache the draws of sheets and the results from the shipped tables in this process."""
    all_prices.summarise = _drawn_once
    data._cache_of = _kept_if_shipped


@contextmanager
def drawing_anew() -> Iterator[list[PriceData]]:
    """Draw the sheets of every run, and list them."""
    drawn: list[PriceData] = []

    def listed(price_data: PriceData, assumptions: Assumptions, price_per_flop: float) -> Summary:
        drawn.append(price_data)
        return summarise(price_data, assumptions, price_per_flop)

    held = all_prices.summarise, data._cache_of
    all_prices.summarise, data._cache_of = listed, _data_of
    _data_of.cache_clear()
    try:
        yield drawn
    finally:
        all_prices.summarise, data._cache_of = held


def _drawn_once(price_data: PriceData, assumptions: Assumptions, price_per_flop: float) -> Summary:
    asked = price_data.key, assumptions, price_per_flop
    if asked not in _summaries:
        _summaries[asked] = summarise(price_data, assumptions, price_per_flop)
    return _summaries[asked]


def _kept_if_shipped(tables: Tables) -> Data:
    """Return the data of a run. The data of the first tables, which are the shipped ones, are kept."""
    if not _shipped:
        _shipped.append(_data_of(tables))
    (first,) = _shipped
    return first if tables.files == first.tables.files else _data_of(tables)
