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
    rented_host_prices,
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


def test_flat_tariffs_say_nothing_of_the_spread():
    flat = [replace(row, host=f"flat {place}", output_price=row.input_price) for place, row in enumerate(PRICES)]
    assert spread_of_output_input_ratio([*PRICES, *flat], LEAST) == spread_of_output_input_ratio(PRICES, LEAST)


def test_prices_that_are_looked_up_from_the_size_never_enter():
    bucketed = [replace(row, output_price=100 * row.output_price) for row in PRICES if row.size_bucket]
    others = [row for row in PRICES if not row.size_bucket]
    assert len(bucketed) >= 80
    assert spread_of_output_input_ratio([*others, *bucketed], LEAST) == spread_of_output_input_ratio(others, LEAST)
    taken = [replace(row, size_bucket=False) for row in bucketed]
    assert spread_of_output_input_ratio([*others, *taken], LEAST).prices > spread_of_output_input_ratio(others, LEAST).prices


def test_hosts_of_one_model_alone_are_together():
    hosts = rented_host_prices(PRICES, LEAST)
    assert all(len(rows) >= LEAST and {row.model for row in rows} == {model} for model, rows in hosts.items())
    assert not any(row.domestic or row.size_bucket or row.era == "old" or row.host_kind != "gpu" for rows in hosts.values() for row in rows)


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


def test_a_ratio_below_one_is_bound_by_no_memory():
    low, high = fraction_span(1.2, 0.5, 0.9)
    assert low == 0.0 < high
