"""Money of a fleet by the hour, the day or the month."""

from math import floor
from typing import Any

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve


@pytest.mark.parametrize(
    "budget",
    [
        {"budget": "50 USD/h"},
        {"fleet_cost": "<=$50/h"},
        {"daily_budget": 1200},
        {"budget": "$1.2k per day"},
        {"budget_per_hour": "$50"},
        {"hourly_budget": "50 USD"},
        {"budget_per_hour": "$50/h"},
    ],
)
def test_a_budget_by_the_time_is_the_most_of_it(budget: dict[str, Any]):
    (most,) = solve("fleet_chips", chip_price="2.1 USD/h", **budget).answers
    assert (most.value, most.bound) == (floor(50 / 2.1), "upper")


def test_what_a_fleet_costs_by_the_month_is_of_a_month():
    assert solve("cost_per_month", chips=8, chip_price="2 USD/h").value == pytest.approx(16 * 2629800 / 3600)
    assert solve("fleet_cost", chips=8, chip_price="2 USD/h", deployment_time="1 month").value == pytest.approx(16 * 730.5)


def test_a_budget_by_the_time_beside_another_time_is_refused():
    with pytest.raises(WrongValue, match=r"money of a fleet depends on one time \(1 h\)"):
        solve("fleet_chips", chip_price="2 USD/h", budget="50 USD/h", deployment_time="30 d")
