"""Sheets as arrays: stacking by shape, slicing, and the mass of a cell."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from invert.posterior.data import Evidence, by_shape
from invert.posterior.likelihood import NODE_PAIRS, log_mass
from invert.sheets.observables import rounding_cell

PAIRS = ("premium_in", "premium_out")


def evidence(*names: str, mark: float = 2.0, edges: Sequence[float] = (2e5, 1e6), kv: bool = False) -> Evidence:
    """One sheet whose prices are all the same number."""
    ends = np.log(rounding_cell(mark))
    cells = {name: tuple(np.full((1, len(edges) - 1) if name in PAIRS else (1,), end) for end in ends) for name in names}
    size = (np.array([mark]), np.array([1.0]))
    return Evidence(cells, np.array([edges]), size, size if kv else None)


def test_sheets_of_one_shape_are_stacked_in_order():
    sheets = [
        evidence("output_input_ratio", mark=2.0),
        evidence("output_input_ratio", *PAIRS, mark=3.0),
        evidence("output_input_ratio", mark=4.0),
        evidence("output_input_ratio", mark=5.0, kv=True),
        evidence("output_input_ratio", *PAIRS, mark=6.0, edges=(1e5, 2e5, 4e5)),
        evidence(*PAIRS, "output_input_ratio", mark=8.0),
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
    _, stacked = next(iter(by_shape([evidence("input_price", mark=mark, kv=True) for mark in (2.0, 3.0, 5.0)])))
    part = stacked.rows(np.array([2, 0]))
    assert part.log_active_params[0].tolist() == [5.0, 2.0] and part.log_kv_bytes[0].tolist() == [5.0, 2.0]
    assert np.exp(part.cells["input_price"][0]) == pytest.approx([rounding_cell(5.0)[0], rounding_cell(2.0)[0]])


# -- the mass of a cell -------------------------------------------------------------------------------------------------


@given(low=st.floats(-3, 3), width=st.floats(0.02, 3), centre=st.floats(-4, 4), spread=st.floats(0.1, 3))
def test_the_mass_of_a_cell_is_that_of_scipy(low: float, width: float, centre: float, spread: float):
    with np.errstate(divide="ignore"):  # beyond 38 spreads there is no mass a double can hold
        found = np.exp(log_mass(np.array([low]), np.array([low + width]), np.array([[centre]]), spread)[0, 0])
    ends = norm.cdf([(low - centre) / spread, (low + width - centre) / spread])
    assert found == pytest.approx(ends[1] - ends[0], rel=1e-9, abs=1e-15)


def test_the_mass_of_a_cell_keeps_nine_digits_up_to_the_widest_of_every_rule():
    """Twenty thousand cells of up to one spread either side of their middle, no further off than eight spreads."""
    draw = np.random.default_rng(20261120)
    for narrowest, widest in pairwise([5e-3, *(widest for widest, _ in NODE_PAIRS)]):
        half, away = draw.uniform(narrowest, widest, 5_000), draw.uniform(-8, 8, 5_000)
        half[0], away[:2] = widest, 8
        found = np.exp(log_mass(-half, half, away[:, None], 1.0)[:, 0])
        # The left tail, where a difference of two masses loses no digits.
        exact = norm.cdf(half - abs(away)) - norm.cdf(-half - abs(away))
        assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("away", [1.0, 8.0, 20.0, 35.0])
def test_a_cell_far_in_the_tail_keeps_its_digits_on_both_sides(away: float):
    """The mass of [a, a + .2] is that of a normal's tails by their own logs."""
    expected = norm.logsf(away) + np.log1p(-np.exp(norm.logsf(away + 0.2) - norm.logsf(away)))
    for low in (away, -away - 0.2):
        found = log_mass(np.array([low]), np.array([low + 0.2]), np.array([[0.0]]), 1.0)[0, 0]
        # Twenty spreads off a draw weighs nothing, and the quadrature of narrow cells keeps fewer digits there.
        assert found == pytest.approx(expected, rel=1e-9 if away < 30 else 2e-9)


def test_cells_that_share_their_ends_share_the_mass():
    ends = np.linspace(-12, 12, 49)
    masses = np.exp([log_mass(ends[i : i + 1], ends[i + 1 : i + 2], np.array([[0.3]]), 1.0)[0, 0] for i in range(48)])
    assert masses.sum() == pytest.approx(1, abs=1e-12)
