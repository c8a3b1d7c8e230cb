"""From sheets to intervals: in their order, the same numbers for each, and none if no draw is feasible."""

from dataclasses import replace
from math import log

import numpy as np
import pytest

from invert.assumptions import USUAL
from invert.posterior.data import PriceData
from invert.posterior.sampler import posterior
from invert.posterior.summary import SUMMARISED, Summary, summarise, summary_of
from invert.validation.simulation import _SHAPES, simulate

COUNT = 2048


def sheets(count: int = 3, seed: int = 21) -> list[PriceData]:
    """Return sheets of all shapes, one shape after the other and over again."""
    by_shape = [simulate(shape, count, (seed, place), USUAL)[1] for place, shape in enumerate(_SHAPES)]
    return [one for some in zip(*by_shape, strict=True) for one in some]


FLOP = 5.62e-19
"""What one rents for [USD]."""


@pytest.fixture(scope="module")
def serial() -> list[Summary]:
    return [summarise(one, USUAL, FLOP, count=COUNT) for one in sheets()]


# -- intervals ----------------------------------------------------------------------------------------------------------


def test_the_ends_of_an_interval_are_in_order_and_inside_the_one_sided_bounds(serial: list[Summary]):
    for summary in serial:
        assert tuple(summary.marginals) == SUMMARISED
        for marginal in summary.marginals.values():
            assert 0 < marginal.low <= marginal.median <= marginal.at_most <= marginal.high < np.inf
            assert marginal.spread > 0


def test_the_marginals_are_those_of_the_weighted_draws():
    sheet = sheets()[0]
    draws = posterior(sheet, USUAL, COUNT)
    found, logs, weight = summary_of(draws), draws.logs("balance_context"), draws.weights.values
    marginal = found.marginals["balance_context"]
    held = weight > 0
    # Half a draw's weight on either side: the share of weight below an end is that of the end, up to one draw.
    ends = marginal.low, marginal.median, marginal.at_most, marginal.high
    for level, end in zip((0.05, 0.5, 0.9, 0.95), ends, strict=True):
        assert weight[held & (logs <= np.log(end))].sum() == pytest.approx(level, abs=weight.max())
    mean = weight[held] @ logs[held]
    assert marginal.spread == pytest.approx(np.sqrt(weight[held] @ (logs[held] - mean) ** 2), rel=1e-9)
    assert (found.ess, found.log_evidence) == (draws.weights.ess, draws.weights.log_evidence)


# -- weights of draws ---------------------------------------------------------------------------------------------------


def dearer(sheet: PriceData, times: float, spread: float) -> PriceData:
    """Return a sheet with the same ratios of prices at a multiple of its price, of a larger model with this spread of its size."""
    ((low, high),), more = sheet.cells["input_price"], log(times)
    cells = {**sheet.cells, "input_price": ((low + more, high + more),)}
    return replace(sheet, cells=cells, log_active_params=(sheet.log_active_params[0] + more, spread))


def test_sheets_with_one_key_have_the_same_weights_unless_the_price_or_the_cache_tells_more():
    for one in sheets(1):
        untold = replace(one, size_by_price=False)
        assert dearer(untold, 3.0, 0.9).key_of_weights != untold.key_of_weights
        known = replace(one, size_by_price=True, log_kv_bytes=(10.0, 0.5))
        assert dearer(known, 3.0, 0.9).key_of_weights != known.key_of_weights
        told = replace(one, size_by_price=True)
        alike = dearer(told, 3.0, 0.9)
        assert alike.key_of_weights == told.key_of_weights
        assert posterior(alike, USUAL, COUNT).weights.ess == pytest.approx(posterior(told, USUAL, COUNT).weights.ess, rel=1e-9)
        assert replace(told, edges=tuple(1.5 * edge for edge in told.edges)).key_of_weights != told.key_of_weights
