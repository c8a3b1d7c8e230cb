"""A question answered within all limits that are given on its results."""

from itertools import product
from math import ceil

import pytest

from derive.solving.api import solve
from derive.units import show
from tests.tools.together import in_one_test, some

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

CHIP = {"peak_flops": 1e15, "hbm_bandwidth": 3e12, "hbm_capacity": 80e9, "bytes_per_weight": 1}
MODEL = {"active_params": 60e9, "total_params": 60e9, "kv_bytes_per_token": 100e3, "context_length": 10_000}
HELD = 60e9 + 64 * 1e9
"""Weights of a byte each, and 64 caches of 10,000 tokens of 100 kB: in chips of 80 GB, which read 3 TB/s."""


@in_one_test(
    ("limit", "by_speed"),
    [
        ({"step_time": "<=30ms"}, HELD / 3e12 / 0.03),
        ({"step_time": "<= 10ms"}, HELD / 3e12 / 0.01),
        ({"t": "<=10ms"}, HELD / 3e12 / 0.01),
        ({"throughput": ">=2000"}, HELD / 3e12 * 2000 / 64),
        ({"throughput": ">=8000"}, HELD / 3e12 * 8000 / 64),
        ({"throughput": ">=8000", "step_time": "<=30ms"}, HELD / 3e12 * 8000 / 64),
        ({"throughput": ">=2000", "step_time": "<=10ms"}, HELD / 3e12 / 0.01),
        ({"throughput": ">=1", "step_time": "<=1s"}, 0),
    ],
)
def test_chips_for_limits_are_the_more_of_what_they_and_memory_take(limit, by_speed):
    solution = solve("chips", **CHIP, **MODEL, batch=64, **limit)
    (found,) = solution.answers
    assert (found.value, found.bound) == (ceil(max(by_speed, HELD / 80e9)), "lower")
    assert (found.regime == "memory binds") == (by_speed < HELD / 80e9)
    assert not {*limit, "peak_flops", "step_time"} & {*solution.unused} and any("is a limit: " in text for text in solution.assumptions)


def test_a_limit_of_a_latency_bounds_a_batch_from_above_and_one_of_a_rate_from_below():
    """8 chips read 24 TB/s: 10 ms are 240 GB, 180 of them caches; 5,000 a second are a pass of B every B/5000 s."""
    (most,) = solve("batch", **CHIP, **MODEL, chips=8, token_latency="<=10ms").answers
    assert (most.value, most.bound) == (180, "upper")
    (least,) = solve("batch", **CHIP, **MODEL, chips=8, throughput=">=5000").answers
    assert (least.value, least.bound) == (ceil(60e9 / (24e12 / 5000 - 1e9)), "lower")


def test_limits_from_both_sides_leave_a_range_with_its_best_end():
    solution = solve("batch", **CHIP, **MODEL, chips=8, token_latency="<=10ms", throughput=">=5000")
    (found,) = solution.answers
    assert (found.kind, found.low, found.high) == ("interval", ceil(60e9 / (24e12 / 5000 - 1e9)), 180)
    assert solution.said == ("from 15.79 (throughput >= 5000 token/s) to 180 (token_latency <= 10 ms)",)
    assert "batch: between 16 and 180\nWhere        from 15.79 (" in str(solution)


def test_a_limit_that_is_met_in_two_parts_leaves_both_within_another_limit():
    """The larger of 1/racks and 0.4716 (1 - 1/racks) is 0.3554 at 2.8137 and at 4.0585 racks."""
    both = {"scale_out_bandwidth_ratio": 0.4716, "scale_out_slowdown": ">=0.3554", "leaving_share": ">=0.6"}
    first, second = solve("racks", given=both).answers
    assert (first.low, first.high) == (pytest.approx(2.5), pytest.approx(1 / 0.3554))
    assert (second.low, second.high) == (pytest.approx(1 / (1 - 0.3554 / 0.4716)), None)


def test_limits_that_contradict_each_other_are_refused_in_a_line_with_the_nearest():
    """In 5 ms 24 TB/s read 120 GB, 60 of them caches: a pass of 60 makes 12,000 a second."""
    reason = solve("batch", **CHIP, **MODEL, chips=8, token_latency="<=5ms", throughput=">=20k").reason
    assert reason.code == "contradiction" and "\n" not in reason.message
    assert "needs batch >= 300 and token_latency <= 5 ms allows batch <= 60" in reason.message
    assert reason.message.endswith("nearest is throughput = 12k token/s at batch = 60")


def test_where_memory_is_full_before_a_limit_it_binds():
    """8 chips of 80 GB hold 580 caches beside the weights, and read them in 27 ms."""
    solution = solve("batch", **CHIP, **MODEL, chips=8, step_time="<=50ms")
    (found,) = solution.answers
    assert (found.value, found.bound, found.regime) == (580, "upper", "memory binds")
    both = solve("batch", **CHIP, **MODEL, chips=8, step_time="<=50ms", throughput=">=5000")
    assert both.answers[0].ends == (ceil(60e9 / (24e12 / 5000 - 1e9)), 580) and "to 580 (memory)" in both.said[0]


def test_a_limit_that_cannot_be_reached_names_the_nearest_and_one_that_always_holds_leaves_the_others():
    reason = solve("batch", **CHIP, **MODEL, chips=8, step_time="<=1ms").reason
    assert reason.code == "no_solution" and "step_time is at least 2.5 ms over all batch" in reason.message
    priced = {"chip_price": "2 USD/h", "batch": 64}
    two = solve("chips", **CHIP, **MODEL, **priced, cost_per_token="<=10 USD/MTok", step_time="<=10ms")
    assert two.value == solve("chips", **CHIP, **MODEL, batch=64, step_time="<=10ms").value
    never = solve("chips", **CHIP, **MODEL, **priced, cost_per_token="<=0.001 USD/MTok", step_time="<=10ms").reason
    assert "cost_per_token does not depend on chips" in never.message


PROMPT = {**CHIP, **MODEL, "chips": 8, "prompt_tokens": 10_000}
"""2 x 60e9 x 10,000 FLOP on 8e15 FLOP/s: a prompt takes 150 ms, beside whatever batch is decoded."""


def test_a_limit_that_does_not_move_with_the_unknown_is_held_against_what_it_comes_to():
    met = solve("batch", **PROMPT, time_to_first_token="<=2s", step_time="<=10ms")
    assert met.value == 180 and met.said[1] == "time_to_first_token <= 2 s is met with any batch: it is 150 ms at best"
    alone = solve("batch", **PROMPT, time_to_first_token="<=2s")
    assert alone.answers[0].ends == (0, 580) and "is met with any batch" in alone.said[0]
    missed = solve("batch", **PROMPT, time_to_first_token="<=100ms", step_time="<=10ms").reason
    assert missed.code == "no_solution" and "time_to_first_token <= 100 ms is not met: it is 150 ms at best with any" in missed.message
    assert "prompt_tokens, chips" in missed.message or "chips, prompt_tokens" in missed.message
    unknown = solve("batch", **CHIP, chips=8, time_to_first_token="<=1s").reason
    assert unknown.code == "missing_givens" and unknown.message.startswith("time_to_first_token <= 1 s cannot be compared")


@pytest.mark.parametrize(
    ("limit", "batch"),
    [({"step_time": "<=5ms"}, 1), ({"throughput": ">=100000"}, 380), ({"cost_per_token": "<=0.001 USD/MTok"}, 380)],
    ids=["step_time", "throughput", "cost_per_token"],
)
def test_of_a_limit_that_no_batch_meets_the_nearest_is_named_at_a_whole_batch(limit, batch):
    served = {"hardware": "8xH100:bf16", "model": "Llama-3.1-70B", "context_length": 4000, "bytes_per_element": 2}
    (name, *_), step = limit, (2 * 70_553_706_496 + batch * 4000 * 327680) / (8 * 3.35e12)
    reached = {"step_time": step, "throughput": batch / step, "cost_per_token": 8 * 2 / 3600 * step / batch}
    told = solve("batch", **served, **limit, chip_price="2 USD/h").reason.message
    assert told.endswith(f"; nearest is {name} = {show(name, reached[name])} at batch = {batch}")


@pytest.mark.slow
@in_one_test(
    "model, unknown, targets",
    some(
        [
            ("Llama-3.1-70B", "batch", {"step_time": "<=40ms", "chips": 8}),
            ("Mixtral-8x7B", "batch", {"step_time": "<=60ms", "chips": 8}),
            ("DeepSeek-V3", "chips", {"ttft": "<=500ms", "tpot": "<=50ms", "batch": 32}),
        ],
        every=2,
    ),
)
def test_a_limit_that_binds_at_an_end_of_what_is_sustained_alone_sets_that_end(model, unknown, targets):
    """At the middle memory binds, or another limit, and what is sustained does not move that."""
    given = {"prompt_tokens": 4000, "output_tokens": 500, "hardware": "H200:fp8" if model == "DeepSeek-V3" else "H100:fp8", "model": model}
    spans = solve(unknown, **given, **targets, efficiency="calibrated").spans
    corners = product(*({*pair} for pair in spans.ranges.values()))
    at_ends = [solve(unknown, **given, **targets, **dict(zip(spans.ranges, corner, strict=True))) for corner in corners]
    found = [one.value for one in at_ends]
    assert (spans.low, spans.high) == (min(found), max(found)) and spans.low < spans.high
