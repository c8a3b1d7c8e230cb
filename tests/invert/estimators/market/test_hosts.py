"""Hosts of one model: how far their prices lie apart, and what that leaves of a reading of one list."""

from dataclasses import replace
from math import exp, log, sqrt
from random import Random
from statistics import NormalDist, fmean

import pytest

from derive.solving.api import solve
from derive.tables.shipped import rows_of
from invert.assumptions import USUAL
from invert.estimators.market.hosts import (
    fraction_span,
    spread_of_output_input_ratio,
    spread_within,
)
from invert.sheets.tables import HostPrice
from tests.tools.together import in_one_test

PRICES = rows_of(HostPrice)
LEAST = USUAL.least_hosts


def test_output_over_input_of_one_model_differs_by_a_factor_between_hosts():
    found = spread_of_output_input_ratio(PRICES, LEAST)
    assert (round(found.pooled, 2), round(found.middle, 2), found.models, found.prices) == (0.27, 0.24, 63, 611)


def test_prices_that_are_looked_up_from_the_size_never_enter():
    bucketed = [replace(row, output_price=100 * row.output_price) for row in PRICES if row.size_bucket]
    others = [row for row in PRICES if not row.size_bucket]
    assert len(bucketed) >= 80
    assert spread_of_output_input_ratio([*others, *bucketed], LEAST) == spread_of_output_input_ratio(others, LEAST)
    taken = [replace(row, size_bucket=False) for row in bucketed]
    assert spread_of_output_input_ratio([*others, *taken], LEAST).prices > spread_of_output_input_ratio(others, LEAST).prices


def test_the_pooled_spread_is_that_which_groups_were_drawn_with():
    random = Random(1)
    groups = [[random.gauss(centre, 0.4) for _ in range(2 + centre % 9)] for centre in range(400)]
    found = spread_within([*groups, [3.0]])
    assert (found.models, found.prices) == (400, sum(map(len, groups)))
    assert found.pooled == pytest.approx(0.4, rel=0.03)
    squares = sum(sum((one - fmean(group)) ** 2 for one in group) for group in groups)
    assert found.pooled == pytest.approx(sqrt(squares / (found.prices - found.models)))


@in_one_test("ratio", [2.0, 5.0, 8.0])
def test_the_ends_are_the_reading_of_the_ends_of_the_ratio(ratio: float):
    reach = NormalDist().inv_cdf(0.95) * 0.3
    low, high = fraction_span(ratio, 0.3, 0.9)
    ends = [
        solve("bandwidth_bound_fraction", using=["readings.bandwidth_bound_fraction"], output_input_ratio=ratio * exp(end)).value
        for end in (-reach, reach)
    ]
    assert [low, high] == pytest.approx(ends) and log((1 - low) / (1 - high)) == pytest.approx(2 * reach)
