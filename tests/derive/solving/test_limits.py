"""Results given as limits, at most or at least so much."""

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve
from tests.tools.together import in_one_test

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
    assert (found.value, found.bound) == (pytest.approx(max(by_speed, HELD / 80e9)), "lower")
    assert (found.regime == "memory binds") == (by_speed < HELD / 80e9)
    assert not {*limit, "peak_flops", "step_time"} & {*solution.unused} and any("is a limit: " in text for text in solution.assumptions)


def test_a_limit_of_a_latency_bounds_a_batch_from_above_and_one_of_a_rate_from_below():
    """8 chips read 24 TB/s: 10 ms are 240 GB, 180 of them caches; 5,000 a second are a pass of B every B/5000 s."""
    (most,) = solve("batch", **CHIP, **MODEL, chips=8, token_latency="<=10ms").answers
    assert (most.value, most.bound) == (pytest.approx(180), "upper")
    (least,) = solve("batch", **CHIP, **MODEL, chips=8, throughput=">=5000").answers
    assert (least.value, least.bound) == (pytest.approx(60e9 / (24e12 / 5000 - 1e9)), "lower")


@pytest.mark.parametrize(
    ("unknown", "limit", "said"),
    [
        ("chips", {"throughput": "<=8000"}, "throughput at most 8000 token/s leaves chips open on either side: chips = 5.167"),
        ("batch", {"token_latency": ">=10ms", "chips": 8}, "token_latency at least 10 ms leaves batch open on either side"),
        ("batch", {"token_latency": "<=10ms", "throughput": ">=5000", "chips": 8}, "batch <= 180 and batch >= 15.79: ask for one"),
    ],
)
def test_limits_that_bound_nothing_one_way_are_refused_in_a_line(unknown, limit, said):
    given = MODEL if unknown == "batch" else {**MODEL, "batch": 64}
    reason = solve(unknown, **CHIP, **given, **limit).reason
    assert reason.code == "not_identified" and said in reason.message and "\n" not in reason.message


def test_a_limit_on_what_is_not_made_of_the_unknown_is_refused():
    with pytest.raises(WrongValue, match="batch is given as a limit, and is not made of step_time"):
        solve("step_time", **CHIP, **MODEL, chips=8, batch="<=15")


def test_limits_over_lists_and_ranges():
    by_speed = [HELD / 3e12 * rate / 64 for rate in (2000, 8000)]
    listed = solve("chips", **CHIP, **MODEL, batch=64, throughput=">=2000,8000").sweep
    assert listed.values[0] == pytest.approx([HELD / 80e9, by_speed[1]]) and listed.bound == "lower"
    both = solve("chips", **CHIP, **MODEL, batch=64, throughput=">=2000,8000", step_time="<=10ms").sweep
    assert both.values[0] == pytest.approx([HELD / 3e12 / 0.01, by_speed[1]])
    spans = solve("chips", **CHIP, **MODEL, batch=64, throughput=">=2000..8000")
    assert (spans.spans.low, spans.spans.high, spans.answers[0].bound) == (pytest.approx(HELD / 80e9), pytest.approx(by_speed[1]), "lower")


@pytest.mark.parametrize("limit", [{"throughput": "<=2000"}, {"step_time": ">=300ms"}])
def test_more_chips_than_a_limit_leaves_are_no_answer_to_it(limit):
    """Memory takes two chips, on which the step is faster than the limit has it: no deployment is both."""
    given = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:fp8", "bytes_per_element": 1, "batch": 64, "context_length": 8000}
    assert solve("chips", **given, **limit).reason.code in ("does_not_fit", "not_identified")
