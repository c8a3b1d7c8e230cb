"""The mass that a normal has in a cell keeps its digits, wherever the cell lies and however wide it is."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from invert.posterior.likelihood import NODE_PAIRS, log_mass


@given(low=st.floats(-3, 3), width=st.floats(0.02, 3), centre=st.floats(-4, 4), spread=st.floats(0.1, 3))
def test_the_mass_of_a_cell_is_that_of_scipy(low: float, width: float, centre: float, spread: float):
    with np.errstate(divide="ignore"):  # beyond 38 spreads there is no mass a double can hold
        found = np.exp(log_mass((low, low + width), centre, spread))
    ends = norm.cdf([(low - centre) / spread, (low + width - centre) / spread])
    assert found == pytest.approx(ends[1] - ends[0], rel=1e-9, abs=1e-15)


def test_the_mass_of_a_cell_keeps_nine_digits_up_to_the_widest_of_every_rule():
    """Twenty thousand cells of up to one spread either side of their middle, no further off than eight spreads."""
    draw = np.random.default_rng(20261120)
    for narrowest, widest in pairwise([5e-3, *(widest for widest, _ in NODE_PAIRS)]):
        half, away = draw.uniform(narrowest, widest, 5_000), draw.uniform(-8, 8, 5_000)
        half[0], away[:2] = widest, 8
        found = np.exp([log_mass((-one, one), off, 1.0) for one, off in zip(half, away, strict=True)])
        # The left tail, where a difference of two masses loses no digits.
        exact = norm.cdf(half - abs(away)) - norm.cdf(-half - abs(away))
        assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("away", [1.0, 8.0, 20.0, 35.0])
def test_a_cell_far_in_the_tail_keeps_its_digits_on_both_sides(away: float):
    """The mass of [a, a + .2] is that of a normal's tails by their own logs."""
    expected = norm.logsf(away) + np.log1p(-np.exp(norm.logsf(away + 0.2) - norm.logsf(away)))
    for low in (away, -away - 0.2):
        found = log_mass((low, low + 0.2), 0.0, 1.0)
        # Twenty spreads off a draw weighs nothing, and the quadrature of narrow cells keeps fewer digits there.
        assert found == pytest.approx(expected, rel=1e-9 if away < 30 else 2e-9)


def test_cells_that_share_their_ends_share_the_mass():
    ends = np.linspace(-12, 12, 49)
    masses = np.exp([log_mass(cell, 0.3, 1.0) for cell in pairwise(ends)])
    assert masses.sum() == pytest.approx(1, abs=1e-12)
