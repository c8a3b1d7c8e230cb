"""What contradicts what, with the numbers and the fewest givens."""

import pytest

from derive.solving.api import solve
from tests.tools.together import in_one_test

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "batch": 64, "context_length": 4000},
}


@pytest.mark.slow
def test_both_values_of_an_unknown_with_two_routes_are_shown():
    given = {"compute_time": 1, "memory_time": 2, "batch": 2000, "throughput": 1e5, "tokens_per_step": 1}
    reason = solve("token_latency", **given).reason
    first, second = reason.message.splitlines()
    assert reason.code == "contradiction" and reason.two_values == "token_latency"
    assert first == "contradiction: token_latency = 20 ms by scheduling.throughput; 2 s by pipeline.hop_latency from step_time = 2 s"
    assert second.startswith("not all of these can hold: ") and second.count(" = ") == 5
    message = solve("step_time", compute_time=1, memory_time=2, compute_utilisation=0.25).reason.message
    assert message.startswith("contradiction: compute_utilisation = 0.25; batching.compute_utilisation_of_step makes it 0.5 ")


def test_both_values_of_a_given_are_shown_where_the_unknown_has_one():
    given = {"compute_time": 1, "memory_time": 2, "batch": 2000, "throughput": 1e5, "tokens_per_step": 1}
    first, second = solve("step_time", **given).reason.message.splitlines()
    assert "throughput = 100k token/s; scheduling.throughput makes it 1000 token/s" in first and "token_latency = 2 s" in first
    assert second.startswith("not all of these can hold: ") and second.count(" = ") == 5


def test_the_fewest_givens_leave_out_what_has_no_part_in_it():
    given = {"machine_balance_ratio": 300, "ridge_point": 300, "bytes_per_weight": 1, "sparsity": 8, "balance_batch": 1000}
    reason = solve("compute_utilisation", **given, batch=100, context_length=1000, balance_context=1e5).reason
    assert reason.code == "contradiction"
    named = reason.message.splitlines()[-1]
    assert "batch = 100" not in named and "context_length" not in named


def test_a_given_for_what_the_route_computes_must_equal_it():
    reason = solve("step_time", **DEPLOYED, compute_time=1e-3, mfu=1).reason
    assert reason.code == "contradiction" and "compute_time = 1 ms; roofline.compute_time makes it 149.6 µs" in reason.message
    assert solve("step_time", **DEPLOYED, compute_time=64 * 2 * 37e9 / (16 * 1979e12), mfu=1).answers


def test_a_measured_time_says_what_is_sustained():
    """Nobody gave mfu, so a slower time is no contradiction: it is what the mfu was."""
    solution = solve("step_time", **DEPLOYED, compute_time=1e-3)
    assert any(text.startswith("mfu = 0.1496 follows from the givens") for text in solution.assumptions)


def test_a_step_below_the_floor_is_a_contradiction_and_one_above_says_what_was_sustained():
    """A measured step may well be slower than the bound; it cannot be faster."""
    reason = solve("cost_per_token", **DEPLOYED, step_time=5e-3, chip_price="2 USD/h").reason
    assert reason.code == "contradiction" and "step_time = 5 ms" in reason.message
    solution = solve("cost_per_token", **DEPLOYED, step_time=30e-3, chip_price="2 USD/h")
    routed = (671e9 - 37e9) / (1 - 8 / 256)
    mbu = (671e9 - routed * (1 - 8 / 256) ** 64 + 64 * 4000 * 61 * 576) / (16 * 3.35e12) / 30e-3
    assert solution.answers[0].value == pytest.approx(16 * 2 / 3600 * 0.03 / 64)
    assert f"mbu = {mbu:.4g} follows from the givens (roofline.step_time)" in solution.assumptions


EIGHT = {"hardware": "H100-SXM:fp8", "model": "Llama-3-70B", "chips": 8}


@pytest.mark.parametrize(
    ("unknown", "given", "low", "high"),
    [
        ("tokens_verified_per_step", {"tokens_per_step": 3}, 3, None),
        ("tokens_per_step", {"draft_tokens": 3}, 0, 4),
        ("kv_replication", {"chips": 4}, 1, 4),
    ],
)
def test_what_a_deployment_has_room_for_bounds_what_is_asked(unknown, given, low, high):
    (span,) = solve(unknown, **given).answers
    assert (span.kind, span.low, span.high) == ("interval", low, high)


@in_one_test(
    ("unknown", "given"),
    [
        ("cost_per_token", {"throughput": "10M", "chip_price": "2 USD/h"}),
        ("fleet_throughput", {"throughput": "10M", "replicas": 2}),
        ("prefill_decode_chip_ratio", {"throughput": "10M", "prompt_tokens": 1000, "output_tokens": 100}),
        ("throughput", {"fleet_throughput": "20M", "replicas": 2}),
        ("throughput", {"cost_per_token": "0.0004 USD/MTok", "chip_price": "2 USD/h"}),
    ],
)
def test_a_claimed_rate_above_all_arithmetic_is_refused_whatever_is_asked(unknown, given):
    reason = solve(unknown, **EIGHT, **given).reason
    assert reason.code == "contradiction" and " makes it " in reason.message
    assert any(text in reason.message for text in ("serving.peak_throughput makes it at most 112.2k", "alone makes it 8.913 ms or more"))


GPUS = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:fp8", "bytes_per_element": 1, "mbu": 0.8, "mfu": 0.5}
SERVED = {**GPUS, "chips": 8, "batch": 64, "context_length": 4000}
READ = 64 * 4000 * 163840 / (8 * 3.35e12 * 0.8)
"""Seconds that 64 sequences of 4,000 tokens of 163,840 bytes take to be read: 1.956 ms."""


@pytest.mark.parametrize(
    ("unknown", "given", "name", "expected"),
    [
        # twice as long a read is of a cache that lies on the chips twice
        ("step_time", {"kv_time": 2 * READ}, "kv_replication", 2),
        # what the fleet pays twice is used half the time
        ("kv_cache_bytes", {"cost_per_token": 1e-6, "fleet_cost_per_token": 2e-6}, "fleet_utilisation", 0.5),
        # of 16,000 tokens 12,000 are computed
        ("step_time", {"prompt_tokens": 16000, "uncached_tokens": 12000}, "cache_hit_share", 0.25),
    ],
)
def test_a_default_that_the_givens_contradict_is_what_they_make_it(unknown, given, name, expected):
    solution = solve(unknown, **SERVED if "cost_per_token" not in given else {**GPUS, "context_length": 4000, "batch": 64}, **given)
    assert solution.answers, solution.reason
    assert any(text.startswith(f"{name} = {expected:g} follows from the givens") for text in solution.assumptions), solution.assumptions


def test_what_several_defaults_could_explain_is_asked_for():
    """100 ms through 4 stages of a 20 ms pass: 20 microbatches waiting for each other, or four hops of 20 ms."""
    given = {**GPUS, "chips": 8, "context_length": 8000, "step_time": "20ms", "token_latency": "100ms", "pipeline_stages": 4}
    reason = solve("sequences_in_flight", **given).reason
    assert reason.code == "missing_givens" and reason.missing == ("microbatches", "hop_latency")
    assert "microbatches = 20" in reason.message and "hop_latency = 20 ms" in reason.message


@in_one_test(
    "given",
    [
        {"chip_price": "2 USD/h", "fleet_cost_per_token": "0.001 USD/MTok"},
        {"fleet_throughput": 400_000, "replicas": 1},
        {"throughput": 400_000},
        {"step_time": 1e-4},
    ],
)
def test_no_route_leads_below_the_arithmetic_of_a_step(given):
    """64 x 2 x 70.55e9 FLOPs take eight chips 570.4 us, whatever was claimed of a fleet and whatever is asked."""
    served = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "batch": 64}
    for unknown in ("normalised_cost", "compute_utilisation"):
        reason = solve(unknown, **served, **given).reason
        assert reason.code in ("contradiction", "no_solution"), (unknown, reason)
        assert unknown != "normalised_cost" or "makes it 570.4 µs or more" in reason.message


ASKED = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:bf16", "chips": 8, "batch": 32, "prompt_tokens": 4000, "output_tokens": 500}


PROMPT = 4000 * (2 * 70_553_706_496 + 80 * 4 * 64 * 128 * 2000) / (8 * 989e12)


STEP = (2 * 70_553_706_496 + 32 * 4250 * 327680) / (8 * 3.35e12)


@pytest.mark.parametrize("mfu", [1.0, 0.5])
def test_a_first_token_later_than_its_prompt_takes_has_waited_and_slows_no_step(mfu):
    """A second, where 4,000 tokens take 74 ms at the peak: it was read as 0.5 % of the bandwidth, and a request as 11 minutes."""
    (found,) = (solution := solve("request_latency", **ASKED, time_to_first_token="1s", mfu=mfu)).answers
    assert (found.value, found.bound) == (pytest.approx(1 + 499 * STEP), "lower")
    told = next(text for text in solution.assumptions if "follows from the givens" in text)
    assert told.startswith(f"queue_time = {1e3 * (1 - PROMPT / mfu):.4g} ms follows")


def test_a_request_that_takes_longer_than_its_steps_has_waited():
    given = {**ASKED, "step_time": "10ms", "chip_price": "2 USD/h"}
    (found,) = (solution := solve("cost_per_request", **given, request_latency="10s")).answers
    assert found.value == pytest.approx(8 * 2 / 3600 * (PROMPT + 500 * 0.01 / 32)) and found.bound == "lower"
    assert any(text.startswith("queue_time = 4.936 s follows from the givens") for text in solution.assumptions)
