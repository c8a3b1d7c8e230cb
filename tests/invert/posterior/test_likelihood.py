"""The mass that a normal has in a cell keeps its digits, wherever the cell lies and however wide it is."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from invert.posterior.likelihood import log_mass


@given(low=st.floats(-3, 3), width=st.floats(0.02, 3), centre=st.floats(-4, 4), spread=st.floats(0.1, 3))
def test_the_mass_of_a_cell_is_that_of_scipy(low: float, width: float, centre: float, spread: float):
    with np.errstate(divide="ignore"):  # beyond 38 spreads there is no mass a double can hold
        found = np.exp(log_mass((low, low + width), centre, spread))
    ends = norm.cdf([(low - centre) / spread, (low + width - centre) / spread])
    assert found == pytest.approx(ends[1] - ends[0], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("away", [1.0, 8.0, 20.0, 35.0])
def test_a_cell_far_in_the_tail_keeps_its_digits_on_both_sides(away: float):
    """The mass of [a, a + .2] is that of a normal's tails by their own logs."""
    expected = norm.logsf(away) + np.log1p(-np.exp(norm.logsf(away + 0.2) - norm.logsf(away)))
    for low in (away, -away - 0.2):
        found = log_mass((low, low + 0.2), 0.0, 1.0)
        assert found == pytest.approx(expected, rel=1e-12)


def test_cells_that_share_their_ends_share_the_mass():
    ends = np.linspace(-12, 12, 49)
    masses = np.exp([log_mass(cell, 0.3, 1.0) for cell in pairwise(ends)])
    assert masses.sum() == pytest.approx(1, abs=1e-12)
