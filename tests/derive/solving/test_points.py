"""The law of lists and ranges: a list has at each point what the point has alone, and a range contains what its points have alone."""

from dataclasses import replace
from functools import partial

import pytest

from derive.solving.api import answer_everywhere, respond_all, solve
from derive.solving.question.conventions import Conventions, Switches
from derive.solving.result import Solution

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

REPLICA = {"model": "Llama-3.3-70B", "hardware": "8xH100:bf16"}
CHIP = {"model": "Llama-3.3-70B", "hardware": "H100:bf16"}
SERVED = {**CHIP, "prompt_tokens": 2000, "output_tokens": 300}

LAW = {
    "a plain product": ("balance_batch", {"machine_balance_ratio": 300}, "sparsity", (4, 6, 8)),
    "the largest batch that fits in memory": ("throughput", REPLICA, "context_length", (1000, 1500, 4000)),
    "what it costs": ("cost_per_token", {**REPLICA, "chip_price": "2 USD/h"}, "context_length", (1000, 2000, 4000)),
    "chips of a full memory": ("throughput", {**CHIP, "context_length": 4000}, "chips", (8, 12, 16)),
    "memory kept free": ("throughput", {**REPLICA, "context_length": 4000}, "reserved_share", (0, 0.1, 0.2)),
    "the largest batch within a limit": ("throughput", {**REPLICA, "step_time": "<=20ms"}, "context_length", (1000, 2500, 4000)),
    "requests within a limit": (
        *("requests_per_second", {**REPLICA, "output_tokens": 200, "time_per_output_token": "<=20ms"}),
        *("prompt_tokens", (1000, 4000)),
    ),
    "a limit on a part of the answer": ("throughput", {"step_time": "<=20ms"}, "batch", (10, 15, 20)),
    "an input of at least so much": ("balance_batch", {"machine_balance_ratio": ">=300"}, "sparsity", (4, 6, 8)),
    "a rate of at most so much": ("cost_per_token", {"chips": 8, "throughput": "<=1000"}, "chip_price", (5e-4, 1e-3)),
    "a size within a limit": ("batch", {**REPLICA, "step_time": "<=20ms"}, "context_length", (1000, 2500, 4000)),
    "chips for a rate and a time": ("gpus", {**SERVED, "tpot": "40ms"}, "qps", (1, 10, 40)),
    "chips for a time and a rate": ("gpus", {**SERVED, "qps": 20}, "tpot", (0.01, 0.02, 0.04)),
    "whole replicas": (
        *("replicas", {**REPLICA, "output_tokens": 200, "qps": 40, "time_per_output_token": "<=20ms"}),
        *("prompt_tokens", (1000, 4000)),
    ),
    "what whole replicas cost": (
        *("fleet_chips", {**REPLICA, "output_tokens": 200, "batch": 64, "qps": 200}),
        *("prompt_tokens", (1000, 4000)),
    ),
    "a part that does not fit": ("step_time", {**REPLICA, "batch": 64}, "context_length", (1000, 100_000)),
}

SIZED = {
    *("the largest batch within a limit", "requests within a limit", "whole replicas"),
    *("chips for a rate and a time", "chips for a time and a rate", "a size within a limit", "what it costs", "memory kept free"),
    "chips of a full memory",
}
"""Questions whose size is found at each point: a list or a range of them takes seconds."""

ROWS = [pytest.param(row, id=name, marks=[pytest.mark.slow] * (name in SIZED)) for name, row in LAW.items()]


def ask(unknown: str, given: dict, name: str, value: object) -> Solution:
    return solve(unknown, **given, **{name: value})


def ends(answers: list) -> list[float]:
    return [end for one in answers for end in one.ends]


@pytest.mark.parametrize("row", ROWS)
def test_a_list_has_at_each_point_what_the_point_has_alone(row):
    unknown, given, name, values = row
    table = ask(unknown, given, name, [*values]).sweep
    for (_, answers, reason), alone in zip(table.rows(), map(partial(ask, unknown, given, name), values), strict=True):
        assert [(one.kind, one.bound) for one in answers] == [(one.kind, one.bound) for one in alone.answers]
        assert ends(answers) == pytest.approx(ends(alone.answers), rel=1e-9)
        assert (reason and reason.code) == (alone.reason and alone.reason.code)


@pytest.mark.parametrize("row", ROWS)
def test_a_range_contains_what_its_points_have_alone(row):
    unknown, given, name, values = row
    alone = [ask(unknown, given, name, value).answers for value in values]
    points = [one for answers in alone for one in answers]
    (span,) = ask(unknown, given, name, f"{values[0]}..{values[-1]}").answers
    assert {one.bound for one in points} - {None} == {span.bound} - {None}
    low, high = span.ends
    assert low <= min(ends(points)) * (1 + 1e-9) and max(ends(points)) <= high * (1 + 1e-9)
    if all(alone):
        assert (low, high) == (pytest.approx(min(ends(points))), pytest.approx(max(ends(points))))


@pytest.mark.slow
def test_a_range_of_presets_is_one_of_points_too():
    """The batch within a limit depends on the efficiency, so that no one batch is that of all of the range."""
    given = {**REPLICA, "context_length": 2000, "step_time": "<=20ms"}
    over = solve("throughput", **given, efficiency="calibrated")
    ends = over.spans.ranges
    for end in (False, True):
        alone = solve("throughput", **given, **{name: pair[end] for name, pair in ends.items()})
        assert all(over.spans.low <= one.point * (1 + 1e-9) and one.bound == over.answers[0].bound == "upper" for one in alone.answers)
        assert all(one.point <= over.spans.high * (1 + 1e-9) for one in alone.answers)


@pytest.mark.parametrize("many", ["1..4", "1..4:lin:100"])
def test_arrays_that_do_not_agree_with_their_points_do_not_answer(many):
    """The way of each point has another value than its answer."""

    def ask(given: dict, switches: Switches) -> tuple[Solution, ...]:
        found = solve("memory_capacity", hbm_capacity=8e10, **given)
        return (replace(found, answers=tuple(replace(one, value=2 * one.value) for one in found.answers)),)

    (found,) = answer_everywhere(ask, {"chips": many}, Switches())
    (one,) = found.answers
    assert one.ends == pytest.approx((16e10, 64e10))


def test_several_questions_share_the_size_of_each_point():
    switches = Switches("8xH100:bf16", "Llama-3.3-70B")
    batches, rates = respond_all(("batch", "throughput"), {"step_time": "<=20ms", "context_length": "1000,4000"}, switches)
    for place, context in enumerate((1000, 4000)):
        batch, rate = respond_all(("batch", "throughput"), {"step_time": "<=20ms", "context_length": context}, switches)
        assert (batches.sweep.values[0][place], rates.sweep.values[0][place]) == (batch.value, pytest.approx(rate.value))


def test_points_are_read_once_in_the_convention_of_the_question():
    """A figure in multiply-adds is doubled once, in a list as alone."""
    given, switches = {"hbm_bandwidth": "3TB/s"}, Switches(conventions=Conventions(count="mac"))
    (table,) = respond_all(("ridge_point",), {**given, "peak_flops": "500TFLOP/s,1000TFLOP/s"}, switches)
    (alone,) = respond_all(("ridge_point",), {**given, "peak_flops": "500TFLOP/s"}, switches)
    assert table.sweep.values[0][0] == alone.value
