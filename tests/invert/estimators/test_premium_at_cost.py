"""Lines through the prices of a sheet, and what their increments are at rental cost."""

from datetime import date
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from derive.catalogue import equation
from invert.estimators.cases import rental
from invert.estimators.premium import kv_bytes_at_cost, weighted_line
from invert.sheets.assemble import sheets
from invert.sheets.read import load
from tests.tools.data import shipped_data

SHEETS = {sheet.model: sheet for sheet in sheets(load(), date(2026, 11, 20))}
GEMINI = SHEETS["gemini-3.1-pro-preview"]
CONTEXTS, PRICES = (8e3, 64e3, 181e3, 506e3), (5e-6, 9e-6, 15e-6, 60e-6)


def test_a_line_through_many_bands_is_the_exact_minimum_of_squared_relative_errors():
    places, levels = [Fraction(place) for place in CONTEXTS], [Fraction(level) for level in PRICES]
    weights = [1 / level**2 for level in levels]
    total, one, two = (sum(weight * place**power for weight, place in zip(weights, places, strict=True)) for power in (0, 1, 2))
    zero_price, one_price = (
        sum(weight * place**power * level for weight, place, level in zip(weights, places, levels, strict=True)) for power in (0, 1)
    )
    determinant = total * two - one**2
    exact = (two * zero_price - one * one_price) / determinant, (total * one_price - one * zero_price) / determinant
    assert weighted_line(CONTEXTS, PRICES) == pytest.approx([float(number) for number in exact], rel=1e-13)
    by_numpy = np.polynomial.polynomial.polyfit(CONTEXTS, PRICES, 1, w=1 / np.array(PRICES))
    assert weighted_line(CONTEXTS, PRICES) == pytest.approx(by_numpy, rel=1e-10)


def test_two_bands_are_met_exactly_and_equal_prices_have_no_slope():
    at_none, slope = weighted_line([50e3, 400e3], [12e-6, 18e-6])
    assert slope == pytest.approx(6e-6 / 350e3, rel=1e-14) and at_none + 50e3 * slope == pytest.approx(12e-6, rel=1e-14)
    for price in (0.1, 1 / 3, 7e-7):
        assert weighted_line(CONTEXTS, [price] * 4) == (price, 0.0)


def test_many_draws_at_once_are_each_as_one():
    draws = np.random.default_rng(1).uniform(0.5, 2, (50, 4)) * CONTEXTS
    at_none, slope = weighted_line(draws, PRICES)
    assert at_none.shape == slope.shape == (50,)
    assert (at_none[7], slope[7]) == pytest.approx(weighted_line(draws[7], PRICES), rel=1e-14)
    at_cost = kv_bytes_at_cost(np.abs(slope), rental(shipped_data()).values)
    assert at_cost.shape == (50,) and at_cost[7] == pytest.approx(kv_bytes_at_cost(float(abs(slope[7])), rental(shipped_data()).values))


def output_line(sheet, contexts):
    return weighted_line(contexts, [band.output.usd_per_token for band in sheet.bands])


def test_the_slope_of_two_bands_is_their_increment():
    low, high = 50e3, sqrt(200e3 * 1e6)
    _, slope = output_line(GEMINI, (low, high))
    given = rental(shipped_data()).values | {"output_increment": 6e-6, "long_context": high, "short_context": low}
    expected = equation("bands.kv_bytes_from_increment").right_side(given)
    assert kv_bytes_at_cost(slope, rental(shipped_data()).values) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(91.1e3, rel=1e-3)
