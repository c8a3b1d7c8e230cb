"""A rate of requests where replicas are asked for: all of them together meet it."""

from math import ceil, floor
from typing import Any

import pytest

from derive.errors import WrongValue
from derive.show.text import lines
from derive.solving.api import respond_all, solve
from derive.solving.deployments.fleets import TAKEN_AS_OF_ALL
from derive.solving.question.conventions import Switches
from tests.tools.together import some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "chips": 4, "batch": 64, "output_tokens": 500, "context_length": 2250}
"""A replica steps 64 sequences in 8.745 ms, and finishes 14.64 requests a second."""
RATE = 64 / ((70_553_706_496 + 64 * 2250 * 2 * 2 * 80 * 8 * 128) / (4 * 3.35e12)) / 500


def refused(unknown: str, **asked: Any) -> str:
    with pytest.raises(WrongValue) as error:
        solve(unknown, **asked)
    return str(error.value)


@pytest.mark.parametrize("rate", ["qps", "fleet_requests_per_second"])
def test_replicas_follow_from_a_rate_of_requests_whatever_it_is_called(rate: str):
    solution = solve("replicas", **SERVED, given={rate: 50})
    assert solution.value == pytest.approx(50 / RATE)
    assert (TAKEN_AS_OF_ALL in solution.warnings) == (rate == "qps")


def test_a_rate_is_that_of_one_replica_where_another_says_what_all_of_them_do():
    assert solve("replicas", fleet_requests_per_second=50, requests_per_second=10).value == 5
    assert solve("replicas", fleet_throughput=50_000, output_tokens=500, requests_per_second=10).value == 10
    solution = solve("fleet_cost", chips=4, chip_price=1e-3, deployment_time=1e6, replicas=3, requests_per_second=10)
    assert (solution.value, solution.warnings, solution.unused) == (12_000, (), ("requests_per_second",))


def test_a_fleet_is_paid_as_many_whole_replicas_as_its_rate_takes():
    paid = {"chip_price": 1e-3, "deployment_time": 1e6}
    solution = solve("fleet_cost", **SERVED, **paid, qps=50)
    assert solution.value == 4e3 * ceil(50 / RATE)
    assert "at replicas = 4, the fewest whole ones" in solution.said
    served = {name: value for name, value in SERVED.items() if name not in ("hardware", "model")}
    asked = ("replicas", "fleet_cost", "throughput")
    both = respond_all(asked, {**served, **paid, "qps": 50}, Switches("H100:fp8", "Llama-3.1-70B"))
    assert [one.value for one in both] == pytest.approx([50 / RATE, 4e3 * ceil(50 / RATE), 500 * RATE])


def test_prompts_on_the_same_chips_take_more_replicas():
    prompts = {name: value for name, value in SERVED.items() if name != "context_length"} | {"prompt_tokens": 2000}
    using = ["serving.requests_per_second_with_prompts"]
    rate = solve("requests_per_second", **prompts, using=using).value
    assert solve("replicas", **prompts, using=using, qps=50).value == pytest.approx(50 / rate)
    assert rate < 0.7 * RATE


def test_chips_asked_for_beside_those_of_a_replica_and_a_rate_are_those_of_all_whole_replicas():
    solution = solve("gpus", **SERVED, qps=50)
    assert (solution.unknown, solution.value) == ("fleet_chips", 4 * ceil(50 / RATE))
    assert TAKEN_AS_OF_ALL in solution.warnings and "at replicas = 4, the fewest whole ones" in solution.said
    assert solve("gpus", **SERVED, fleet_throughput=50 * 500).value == 4 * ceil(50 / RATE)
    assert solve("gpus", **SERVED, qps=50, pipeline_stages=2).value % 8 == 0
    assert "chips is asked for and given" in refused("gpus", **SERVED)


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


def test_a_range_of_what_whole_replicas_cost_is_a_range_of_their_cost():
    paid = {"chip_price": "2..3 USD/h", "deployment_time": "1 d"}
    solution = solve("fleet_cost", **SERVED, **paid, qps=50)
    assert solution.spans and (solution.spans.low, solution.spans.high) == pytest.approx((4 * 4 * 2 * 24, 4 * 4 * 3 * 24))
    assert "ask for replicas" in refused("fleet_cost", **SERVED, **paid, qps="40..50")


def test_chips_of_all_replicas_within_a_limit_are_whole_replicas_too():
    """Examiners asked for the GPUs of 50 requests a second at tensor parallelism of 4: two replicas of them, of 28.4 a second each."""
    asked = {name: value for name, value in SERVED.items() if name not in ("batch", "context_length")}
    solution = solve("gpus", **asked, prompt_tokens=2000, qps=50, tpot="<=30ms")
    assert (solution.answers[0].point, solution.answers[0].bound) == (8, "lower")
    assert solution.with_prompts and solution.with_prompts.point == 16
    assert r"\left\lceil" in "".join(lines([solution], "latex"))


def test_a_budget_says_how_many_chips_it_pays_and_not_the_one_by_default():
    paid = {"chip_price": "2 USD/h", "deployment_time": "30 d"}
    exactly = solve("fleet_chips", **paid, fleet_cost="10 kUSD")
    assert exactly.value == pytest.approx(10_000 / 1440) and exactly.answers[0].whole_ones == 6
    (most,) = solve("fleet_chips", **paid, fleet_cost="<=10 kUSD").answers
    assert (most.value, most.bound) == (6, "upper")


def test_a_result_of_the_replicas_that_a_budget_pays_is_not_said_to_be_of_one():
    asked = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "context_length": "4k", "chip_price": "2 USD/h", "budget": "50 USD/h"}
    solution = solve("fleet_throughput", **asked)
    assert solution.given["replicas"] == 3 and not any("pays" in text for text in solution.warnings)
    assert solve("throughput", **asked).warnings[0].endswith("fleet_cost as limited pays 3, give replicas=3")


@pytest.mark.parametrize("budget", ["10 kUSD", "<=10 kUSD"])
def test_chips_that_a_budget_pays_are_those_of_whole_replicas_where_a_replica_has_several(budget: str):
    solution = solve("fleet_chips", tp=4, chip_price="2 USD/h", deployment_time="30 d", fleet_cost=budget)
    assert (solution.unknown, solution.answers[0].point) == ("fleet_chips", 4)
    assert solution.said[0].startswith("at replicas = 1, the most whole ones within fleet_cost")
    short = solve("fleet_chips", tp=8, chip_price="2 USD/h", deployment_time="30 d", fleet_cost=budget)
    assert not short.answers and short.refusal.code == "no_solution" and "whole" in short.why_not


def test_what_does_not_fit_on_the_one_chip_by_default_says_how_many_a_budget_pays():
    paid = {"fleet_cost": "<=1200 USD", "deployment_time": "1 d", "chip_price": "2 USD/h"}
    asked = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "context_length": "4k", "bytes_per_element": 1}
    for more in ({"step_time": "<=20ms"}, {"batch": 512}):
        assert solve("throughput", **asked, **paid, **more).why_not.endswith("fleet_cost as limited pays 25, give chips=25")
    assert solve("throughput", **asked, chips=25, step_time="<=20ms").answers
    assert "as none are given" not in solve("throughput", **asked, **paid, batch=5120, chips=25).why_not


# -- users of a fleet --------------------------------------------------------------------------------------------------

HELD = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "tp": 4, "context_length": 2250}
MOST = floor((4 * 80e9 - 70_553_706_496) / (2250 * 2 * 2 * 80 * 8 * 128))
"""Sequences that the four chips of a replica hold beside its weights."""


@pytest.mark.parametrize("of_all", [{"users": 1000}, {"qps": 50, "output_tokens": 500}], ids=str)
def test_replicas_take_the_largest_batch_that_memory_holds_where_nobody_says_it(of_all: dict[str, Any]):
    """They were asked for a batch, which users of a fleet were not."""
    solution = solve("replicas", **HELD, **of_all)
    assert MOST == 338 and solution.value == pytest.approx(solve("replicas", **HELD, **of_all, batch=MOST).value)
    assert f"at batch = {MOST}, the largest that memory holds" in solution.said
    assert solve("gpus", **HELD, **of_all).value == 4 * ceil(solution.value)
    named = {**HELD, "hardware": "4xH100:fp8"}
    del named["tp"]
    assert solve("replicas", **named, **of_all).value == solution.value
    if "users" in of_all:
        assert solution.value == pytest.approx(1000 / MOST) and solve("users", **HELD, replicas=3).value == 3 * MOST


def test_users_of_a_fleet_take_replicas_of_the_batch_that_is_given_or_that_a_limit_leaves():
    assert solve("replicas", **HELD, users=1000, batch=64).value == 1000 / 64
    solution = solve("gpus", **HELD, users=1000, tpot="<=20ms")
    assert solution.value == 16 and "at batch = 267, the largest" in solution.said
    found = respond_all(("replicas", "tpot"), {"tp": 4, "ctx": 2250, "fleet_users": 1000}, Switches("H100:fp8", "Llama-3.1-70B"))
    assert [one.said[0] for one in found] == [f"at batch = {MOST}, the largest that memory holds"] * 2


def test_there_are_no_replicas_of_a_batch_that_its_chips_do_not_hold():
    for unknown in ("replicas", "gpus"):
        assert solve(unknown, **HELD, users=1000, batch=MOST + 1).refusal.code == "does_not_fit"
        assert solve(unknown, **HELD, users=1000, batch=MOST).answers


def test_a_budget_of_power_feeds_whole_chips_rounded_down():
    """1.1 MW over 1.27 kW a chip are 866.1."""
    solution = solve("fleet_chips", hardware="B200", fleet_power="1.1 MW", power_usage_effectiveness=1.27)
    assert solution.answers[0].whole_ones == floor(1.1e6 / 1270) == 866
    assert "fleet_chips = 866.1 (so 866 whole ones at most)" in "\n".join(lines([solution], "table", full=True))


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
    some([(*left, each) for left in LEFT for each in ("fleet_users", "fleet_throughput", "fleet_qps")], every=4),
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


def test_what_a_limit_leaves_of_requests_says_what_it_is_with_prompts_and_within_limits_of_its_own():
    asked = {**{name: value for name, value in SPED.items() if name != "context_length"}, "isl": 2000, "osl": 500}
    one = solve("fleet_qps", **asked, replicas=1)
    solution = solve("fleet_qps", **asked, fleet_chips="<=1000", fleet_requests_per_second=">=100")
    assert solution.answers[0].bound == "upper" and solution.answers[0].point == pytest.approx(250 * one.answers[0].point)
    assert solution.with_prompts and one.with_prompts and solution.with_prompts.point == pytest.approx(250 * one.with_prompts.point)


def test_a_limit_that_leaves_no_whole_replica_is_refused():
    solution = solve("fleet_throughput", **SPED, fleet_chips="<=3")
    assert not solution.answers and solution.refusal.code == "no_solution" and "whole" in solution.why_not
    assert "whole" in solve("fleet_throughput", **SPED, fleet_chips=3).why_not


def test_chips_of_a_replica_are_counted_by_the_name_of_the_chips_too():
    """8xH100 and tp=8 beside H100 are one question."""
    held = {"model": "Llama-3.1-70B", "context_length": 2250}
    for unknown, more in (
        ("users", {"replicas": 3}),
        ("replicas", {"users": 1000}),
        ("gpus", {"fleet_throughput": "1M token/s", "batch": 9}),
    ):
        counted = solve(unknown, hardware="4xH100:fp8", **held, **more)
        given = solve(unknown, hardware="H100:fp8", tp=4, **held, **more)
        assert counted.answers == given.answers and counted.answers


def test_what_all_replicas_come_to_says_what_prompts_take():
    asked = {
        **{name: value for name, value in HELD.items() if name != "context_length"},
        "isl": 2000,
        "osl": 500,
        "fleet_qps": 1000,
        "tpot": "<=40ms",
    }
    solution = solve("fleet_chips", **asked)
    without = {name: value for name, value in asked.items() if name != "fleet_qps"}
    ratio = solve("prefill_decode_chip_ratio", **{k: v for k, v in without.items() if k != "tpot"}, batch=solution.given["batch"])
    replicas = 1000 / solve("requests_per_second", **without).answers[0].point
    together, apart = solution.lead
    assert together.startswith(f"fleet_chips >= {solution.with_prompts.point:.0f} ")
    assert apart.startswith(f"fleet_chips >= {4 * ceil(replicas)} + {4 * ceil(replicas * ratio.value)} ")
    (there,) = (text for text in solution.said if text.startswith("with prompts: at batch"))
    named = solve("fleet_chips", **asked, using=["serving.requests_per_second_with_prompts"])
    assert there == f"with prompts: {named.provenance['batch']}"
    assert not any("not needed" in text for text in named.assumptions)
    assert {"fleet_requests_per_second", "hbm_bandwidth"} <= {*named.answers[0].elasticities} and "replicas" not in named.answers[
        0
    ].elasticities
