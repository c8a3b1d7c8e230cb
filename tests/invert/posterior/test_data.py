"""Sheets as arrays: stacking by shape, slicing, and the mass of a cell."""

from collections.abc import Sequence

import numpy as np
import pytest

from invert.posterior.data import PriceData, by_shape
from invert.sheets.observables import rounding_cell

PAIRS = ("premium_in", "premium_out")


def price_data(*names: str, mark: float = 2.0, edges: Sequence[float] = (2e5, 1e6), kv: bool = False) -> PriceData:
    """One sheet whose prices are all the same number."""
    ends = np.log(rounding_cell(mark))
    cells = {name: tuple(np.full((1, len(edges) - 1) if name in PAIRS else (1,), end) for end in ends) for name in names}
    size = (np.array([mark]), np.array([1.0]))
    return PriceData(cells=cells, edges=np.array([edges]), log_active_params=size, log_kv_bytes=size if kv else None)


def test_sheets_of_one_shape_are_stacked_in_order():
    sheets = [
        price_data("output_input_ratio", mark=2.0),
        price_data("output_input_ratio", *PAIRS, mark=3.0),
        price_data("output_input_ratio", mark=4.0),
        price_data("output_input_ratio", mark=5.0, kv=True),
        price_data("output_input_ratio", *PAIRS, mark=6.0, edges=(1e5, 2e5, 4e5)),
        price_data(*PAIRS, "output_input_ratio", mark=8.0),
    ]
    found = {tuple(places): stacked for places, stacked in by_shape(sheets)}
    assert set(found) == {(0, 2), (1, 5), (3,), (4,)}
    for places, stacked in found.items():
        assert len(stacked) == len(places)
        for row, place in enumerate(places):
            one, part = sheets[place], stacked.rows(slice(row, row + 1))
            assert part.cells.keys() == one.cells.keys()
            for name, ends in one.cells.items():
                assert all(np.array_equal(*pair) for pair in zip(part.cells[name], ends, strict=True))
            assert np.array_equal(part.edges, one.edges) and np.array_equal(part.log_active_params, one.log_active_params)
            assert (part.log_kv_bytes is None) == (one.log_kv_bytes is None)


def test_rows_keep_the_order_asked_for():
    _, stacked = next(iter(by_shape([price_data("input_price", mark=mark, kv=True) for mark in (2.0, 3.0, 5.0)])))
    part = stacked.rows(np.array([2, 0]))
    assert part.log_active_params[0].tolist() == [5.0, 2.0] and part.log_kv_bytes[0].tolist() == [5.0, 2.0]
    assert np.exp(part.cells["input_price"][0]) == pytest.approx([rounding_cell(5.0)[0], rounding_cell(2.0)[0]])
