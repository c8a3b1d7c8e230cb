"""Limits on what is counted: whole numbers, to the side on which the limits are met."""

import pytest

from derive.solving.api import solve
from tests.tools.together import in_one_test

CHIP = {"peak_flops": 1e15, "hbm_bandwidth": 3e12, "hbm_capacity": 80e9, "bytes_per_weight": 1}
MODEL = {"active_params": 60e9, "total_params": 60e9, "kv_bytes_per_token": 100e3, "context_length": 10_000}


@in_one_test(
    ("unknown", "given", "value"),
    [
        ("batch", {"chips": 8, "step_time": "<=7.01ms"}, 108),
        ("batch", {"chips": 8, "throughput": ">=5000"}, 16),
        ("chips", {"batch": 64, "step_time": "<=10ms"}, 5),
        ("sequences_in_flight", {"chips": 8, "kv_cache_bytes": "<=55.5GB"}, 55),
        ("replicas", {"chips": 8, "batch": 64, "fleet_throughput": ">=100k"}, 9),
    ],
)
def test_one_limit_leaves_a_whole_number_and_says_what_binds(unknown, given, value):
    """24 TB/s read 168.24 GB in 7.01 ms, 108.24 of them caches; 64 of a step of 124/24 ms are 12,387 a second."""
    solution = solve(unknown, **CHIP, **MODEL, **given)
    assert solution.value == value
    assert solution.said[0].endswith(" binds") and f"{unknown} = {value} or" in str(solution).splitlines()[0]


def test_what_is_not_counted_stays_as_it_is():
    rest = {name: value for name, value in MODEL.items() if name != "context_length"}
    solution = solve("context_length", **CHIP, **rest, chips=8, batch=64, step_time="<=7.01ms")
    assert solution.value == pytest.approx(108.24e9 / 64 / 1e5) and solution.said[1:] == ()


def test_without_a_whole_one_there_is_no_answer_but_the_nearest():
    """60 GB of weights take 2.5 ms of 24 TB/s, and one cache more 41.7 us."""
    reason = solve("batch", **CHIP, **MODEL, chips=8, step_time="<=2.52ms").reason
    assert reason.code == "no_solution" and reason.violated == ("step_time",)
    assert "2.52 ms" in reason.message
    assert reason.message.endswith("nearest is step_time = 2.542 ms at batch = 1")
    between = solve("batch", **CHIP, **MODEL, chips=8, step_time="<=7.04ms >=7.01ms").reason
    assert between.message.startswith("no whole value of batch meets step_time <= 7.04 ms and step_time >= 7.01 ms, which leaves")


ROUTED = {"hardware": "GB200-NVL72:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": 8000, "chips": 8}


def test_of_experts_what_one_sequence_meets_any_batch_does_and_what_it_does_not_is_refused_with_it():
    """Activated experts are of one sequence at least: a limit that would take a part of one leaves all, or none."""
    one = solve("throughput", **ROUTED, batch=1).value
    met = solve("batch", **ROUTED, throughput=f">={one / 2}", step_time="<=20ms")
    assert met.answers == solve("batch", **ROUTED, step_time="<=20ms").answers
    step = solve("step_time", **ROUTED, batch=1).value
    reason = solve("batch", **ROUTED, step_time=f"<={0.9 * step}", throughput=">=1").reason
    assert reason.code == "no_solution" and "step_time" in reason.message
    assert reason.message.endswith(f"nearest is step_time = {step * 1e6:.4g} µs at batch = 1")


def test_a_range_has_whole_ends():
    spans = solve("batch", **CHIP, **MODEL, chips=8, step_time="<=7.01ms..8.01ms").spans
    assert (spans.low, spans.high) == (108, 132)


@pytest.mark.slow
def test_limits_from_both_sides_over_a_range_have_whole_ends():
    solution = solve("batch", **CHIP, **MODEL, chips=8, step_time=">=5.01ms <=7.01ms..8.01ms")
    (found,) = solution.answers
    assert (found.low, found.high, found.loose_low, found.loose_high) == (61, 108, 61, 132) and solution.said == ()


def test_the_whole_number_meets_the_limit_and_the_next_does_not():
    for limit in (3e-3, 5.55e-3, 7.01e-3, 19.9e-3):
        batch = solve("batch", **CHIP, **MODEL, chips=8, step_time=f"<={limit}").value
        there, beyond = (solve("step_time", **CHIP, **MODEL, chips=8, batch=one).value for one in (batch, batch + 1))
        assert there <= limit < beyond
