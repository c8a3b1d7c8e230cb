"""A rate of requests where replicas are asked for: all of them together meet it."""

from math import ceil, floor
from typing import Any

import pytest

from derive.solving.api import respond_all, solve
from derive.solving.deployments.replicas import TAKEN_AS_OF_ALL
from derive.solving.question.conventions import Switches
from tests.tools.together import some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "chips": 4, "batch": 64, "output_tokens": 500, "context_length": 2250}
"""A replica steps 64 sequences in 8.745 ms, and finishes 14.64 requests a second."""
RATE = 64 / ((70_553_706_496 + 64 * 2250 * 2 * 2 * 80 * 8 * 128) / (4 * 3.35e12)) / 500


@pytest.mark.parametrize("rate", ["qps", "fleet_requests_per_second"])
def test_replicas_follow_from_a_rate_of_requests_whatever_it_is_called(rate: str):
    solution = solve("replicas", **SERVED, given={rate: 50})
    assert solution.value == pytest.approx(50 / RATE)
    assert (TAKEN_AS_OF_ALL in solution.warnings) == (rate == "qps")


def test_nothing_is_assumed_of_a_rate_that_is_not_given():
    solution = solve("fleet_cost", chips=8, chip_price="2 USD/h", deployment_time="30 d")
    assert solution.value == pytest.approx(8 * 2 * 720) and TAKEN_AS_OF_ALL not in solution.warnings


def test_a_fleet_is_paid_as_many_whole_replicas_as_its_rate_takes():
    paid = {"chip_price": 1e-3, "deployment_time": 1e6}
    solution = solve("fleet_cost", **SERVED, **paid, qps=50)
    assert solution.value == 4e3 * ceil(50 / RATE)
    assert "at replicas = 4, the fewest whole ones" in solution.said
    served = {name: value for name, value in SERVED.items() if name not in ("hardware", "model")}
    asked = ("replicas", "fleet_cost", "throughput")
    both = respond_all(asked, {**served, **paid, "requests_per_second": 50}, Switches("H100:fp8", "Llama-3.1-70B"))
    assert [one.value for one in both] == pytest.approx([50 / RATE, 4e3 * ceil(50 / RATE), 500 * RATE])


def test_owned_chips_that_wait_are_paid_once():
    """The replicas are as many more as they wait, so that the price of a chip is that of any second and not of one in use."""
    owned = {"chip_capex": 30_000, "depreciation_time": "4 y", "deployment_time": "1 y"}
    drawn = {"chip_power": "700 W", "electricity_price": "0.08 USD/kWh", "power_usage_effectiveness": 1.2}
    solution = solve("fleet_cost", **SERVED, **owned, **drawn, qps=50, fleet_utilisation=0.6)
    replicas = ceil(50 / RATE / 0.6)
    assert solution.value == pytest.approx(replicas * 4 * (30_000 / 4 + 0.7 * 8766 * 0.08 * 1.2))
    assert solution.given["fleet_utilisation"] == 0.6 and solution.answers[0].elasticities["fleet_utilisation"] == pytest.approx(-1)
    assert not [one for one in solution.warnings if "second in use" in one]
    electricity = solve("fleet_electricity_cost", **SERVED, **drawn, deployment_time="1 y", qps=50)
    assert electricity.value == pytest.approx(16 * 0.7 * 8766 * 0.08 * 1.2)


def test_a_budget_says_how_many_chips_it_pays_and_not_the_one_by_default():
    paid = {"chip_price": "2 USD/h", "deployment_time": "30 d"}
    exactly = solve("fleet_chips", **paid, fleet_cost="10 kUSD")
    assert exactly.value == pytest.approx(10_000 / 1440) and exactly.answers[0].whole_ones == 6
    (most,) = solve("fleet_chips", **paid, fleet_cost="<=10 kUSD").answers
    assert (most.value, most.bound) == (6, "upper")


# -- users of a fleet --------------------------------------------------------------------------------------------------

HELD = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "tp": 4, "context_length": 2250}
MOST = floor((4 * 80e9 - 70_553_706_496) / (2250 * 2 * 2 * 80 * 8 * 128))
"""Sequences that the four chips of a replica hold beside its weights."""


@pytest.mark.parametrize("of_all", [{"users": 1000}, {"requests_per_second": 50, "output_tokens": 500}], ids=str)
def test_replicas_take_the_largest_batch_that_memory_holds_where_nobody_says_it(of_all: dict[str, Any]):
    """They were asked for a batch, which users of a fleet were not."""
    solution = solve("replicas", **HELD, **of_all)
    assert MOST == 338 and solution.value == pytest.approx(solve("replicas", **HELD, **of_all, batch=MOST).value)
    assert f"at batch = {MOST}, the largest that fits in memory" in solution.said
    assert solve("gpus", **HELD, **of_all).value == 4 * ceil(solution.value)
    named = {**HELD, "hardware": "4xH100:fp8"}
    del named["tp"]
    assert solve("replicas", **named, **of_all).value == solution.value
    if "users" in of_all:
        assert solution.value == pytest.approx(1000 / MOST) and solve("users", **HELD, replicas=3).value == 3 * MOST


# -- as many replicas as a limit leaves ----------------------------------------------------------------------------------

SPED = {**HELD, "tpot": "<=20ms"}
LEFT = [
    ({"fleet_chips": "<=1000"}, 250),
    ({"fleet_chips": "<=1003"}, 250),
    ({"fleet_chips": 1003}, 250),
    ({"fleet_power": "<=1 MW", "pue": 1.25, "chip_power": "800 W"}, 250),
    ({"fleet_power": "1 MW", "pue": 1.25, "chip_power": "800 W"}, 250),
    ({"fleet_cost": "<=100 kUSD", "chip_price": "2 USD/h", "deployment_time": "1 d"}, floor(1e5 / 48 / 4)),
]


@pytest.mark.parametrize(
    ("limit", "most", "each"),
    some([(*left, each) for left in LEFT for each in ("fleet_users", "fleet_throughput", "fleet_qps")], every=7),
)
def test_replicas_that_nobody_counts_are_as_many_whole_ones_as_a_limit_leaves(limit: dict[str, Any], most: int, each: str):
    """An examiner asked for the users that 20 MW serve, and was answered with those of one rack: 126 times too few."""
    asked = {**SPED, "osl": 500}
    one = solve(each, **asked, replicas=1).answers[0].point
    solution = solve(each, **asked, **limit)
    assert solution.answers[0].point == pytest.approx(most * one) and solution.given["replicas"] == most
    assert any(
        text.startswith(f"at replicas = {most}, the most whole ones within {next(name for name in limit if name.startswith('fleet_'))}")
        for text in solution.said
    )
    assert not any("replicas = 1" in text for text in solution.assumptions)


def test_a_limit_that_leaves_no_whole_replica_is_refused():
    solution = solve("fleet_throughput", **SPED, fleet_chips="<=3")
    assert not solution.answers and solution.refusal.code == "no_solution" and "whole" in solution.why_not
    assert "whole" in solve("fleet_throughput", **SPED, fleet_chips=3).why_not


def test_a_result_of_the_replicas_that_a_budget_pays_is_not_said_to_be_of_one():
    asked = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "context_length": "4k", "chip_price": "2 USD/h", "budget": "50 USD/h"}
    solution = solve("fleet_throughput", **asked)
    assert solution.given["replicas"] == 3 and not any("pays" in text for text in solution.warnings)
    assert solve("throughput", **asked).warnings[0].endswith("give replicas=3")


def test_chips_of_all_replicas_lead_with_those_of_decode_and_of_prompts():
    asked = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "tp": 4, "isl": 2000, "osl": 500}
    solution = solve("fleet_chips", **asked, fleet_qps=1000, tpot="<=40ms")
    ratio = solve("prefill_decode_chip_ratio", **asked, batch=solution.given["batch"]).value
    replicas = 1000 / solve("requests_per_second", **asked, tpot="<=40ms").answers[0].point
    together, apart, *_ = solution.lead
    assert together.startswith(f"fleet_chips >= {solution.with_prompts.point:.0f} ")
    assert apart.startswith(f"fleet_chips >= {4 * ceil(replicas)} + {4 * ceil(replicas * ratio)} ")
    assert not solve("fleet_chips", **asked, fleet_qps=1000, tpot="<=40ms", pipeline_stages=2).lead


def test_what_is_paid_leads_with_the_deployment_of_its_chips():
    model = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:bf16", "kv_dtype": "bf16"}
    asked = {**model, "isl": 8000, "osl": 500, "qps": 20, "tpot": "50ms", "ttft": "1s"}
    chips = solve("fleet_chips", **asked)
    money = solve("fleet_cost", **asked, chip_price="2 USD/h", deployment_time="1 h")
    watts = solve("fleet_power", **asked, chip_power=700, power_usage_effectiveness=1)
    count = solve("replicas", **asked)
    together, apart = chips.deployments
    number = sum(one.replicas * one.chips_per_replica for one in together)
    each = " + ".join(f"${2 * one.replicas * one.chips_per_replica:g}" for one in apart)
    assert [text.partition("   ")[0] for text in money.lead[:2]] == [f"fleet_cost >= ${2 * number:g}", f"fleet_cost >= {each}"]
    assert watts.lead[0].startswith(f"fleet_power >= {0.7 * number:.4g} kW   ")
    assert count.lead[0].startswith(f"replicas >= {together[0].replicas:.0f}   ")
    assert {one.lead[0].partition("   ")[2] for one in (chips, money, watts, count)} == {chips.lead[0].partition("   ")[2]}
