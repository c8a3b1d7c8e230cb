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
    reason = solve("step_time", compute_time=1, memory_time=2, compute_utilisation=0.25).reason
    assert "step_time = 2 s by roofline.step_time; 4 s by batching.compute_utilisation_of_step" in reason.message


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


def test_results_say_how_many_chips_there_are_where_nobody_does():
    """Cost and step time hold for one number of chips, and it is not the default of 1."""
    given = {name: known for name, known in DEPLOYED.items() if name not in ("chips", "batch")}
    batch = solve("batch", **given, step_time=0.02, cost_per_token="0.5 USD/MTok", chip_price="2 USD/h", anyway=True)
    chips = solve("chips", **given, step_time=0.02, cost_per_token="0.5 USD/MTok", chip_price="2 USD/h", anyway=True)
    assert chips.answers[0].value > 1 and not any("chips = 1 " in text for text in batch.assumptions)
    assert batch.answers[0].value == pytest.approx(chips.answers[0].value * 2 / 3600 * 0.02 / 5e-7)


def test_throughputs_of_a_fleet_and_of_a_replica_say_how_many_there_are():
    solution = solve("batch", throughput=1000, fleet_throughput=5000, step_time=0.02, tokens_per_step=1)
    assert solution.answers[0].value == 20
    assert solution.unused == ("fleet_throughput",)
    assert solve("replicas", throughput=1000, fleet_throughput=5000).answers[0].value == 5


EIGHT = {"hardware": "H100-SXM:fp8", "model": "Llama-3-70B", "chips": 8}


@in_one_test(
    ("unknown", "given"),
    [
        ("throughput", {"step_time": 1e-3}),
        ("cost_per_token", {"step_time": 1e-3, "chip_price": "2 USD/h"}),
        ("step_time", {"throughput": "2M"}),
    ],
)
def test_a_given_step_below_its_arithmetic_is_refused_also_where_the_context_is_not_known(unknown, given):
    """2 x 70.55e9 x 2000 FLOPs take 8 x 1,979 TFLOP/s 17.83 ms, whatever is read."""
    reason = solve(unknown, **EIGHT, batch=2000, **given).reason
    assert reason.code == "contradiction" and "compute_time alone makes it 17.83 ms or more" in reason.message


@pytest.mark.parametrize("given", [{"tokens_verified_per_step": 1}, {"draft_tokens": 2}])
def test_a_step_yields_no_more_tokens_than_it_computes_positions(given):
    reason = solve("throughput", step_time="10ms", batch=100, tokens_per_step=4, **given).reason
    most = 3 if "draft_tokens" in given else 1
    assert reason.code == "contradiction" and f"most_tokens_per_step makes it at most {most} token" in reason.message


def test_chips_hold_no_more_copies_of_a_cache_than_there_are_chips():
    """9.67 - 1.07 ms of reads a copy of 52 MB on 8 chips would be 191 copies; 2 ms are 4."""
    given = {"hardware": "H200:fp8", "model": "Llama-3-70B", "chips": 8, "batch": 10, "context_length": 1000, "bytes_per_element": 1}
    reason = solve("kv_replication", **given, step_time="10ms").reason
    assert reason.code == "contradiction" and "memory.most_kv_copies makes it at most 8 from chips = 8" in reason.message
    by_hand = (2e-3 * 8 * 4.8e12 - 70_553_706_496) / (10 * 1000 * 2 * 80 * 8 * 128)
    assert by_hand < 8 and solve("kv_replication", **given, step_time="2ms").answers[0].value == pytest.approx(by_hand, rel=0.01)


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


PEAK_OF_EIGHT = 8 * 1979e12 / (2 * 70_553_706_496)
"""112.2k tokens a second are all that eight chips can multiply with 70.55e9 weights."""


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


@pytest.mark.parametrize(("share", "holds"), [(0.999, True), (1.001, False)])
def test_a_rate_is_refused_just_above_the_roof_and_answered_just_below(share, holds):
    rate = share * PEAK_OF_EIGHT
    price = 2 / 3600
    for unknown, given in (
        ("decode_rate_per_chip", {"throughput": rate}),
        ("prefill_decode_chip_ratio", {"decode_rate_per_chip": rate / 8, "prompt_tokens": 1000, "output_tokens": 100}),
        ("throughput", {"cost_per_token": 8 * price / rate, "chip_price": price}),
        ("token_latency", {"throughput": rate, "batch": 2000}),
    ):
        assert bool(solve(unknown, **EIGHT, **given).answers) == holds, (unknown, given)


@in_one_test(
    ("unknown", "given", "words"),
    [
        ("throughput", {"batch": 1000, "token_latency": 1e-4}, "compute_time alone makes it 8.913 ms or more"),
        ("throughput", {"batch": 10, "token_latency": 1e-3}, "weight_time alone makes it 2.633 ms or more"),
        ("cost_per_token", {"batch": 10, "throughput": 50_000, "chip_price": 1e-3}, "weight_time alone makes it 2.633 ms or more"),
    ],
)
def test_tokens_that_come_faster_than_a_pass_are_refused(unknown, given, words):
    """70.6 GB over 8 x 3.35 TB/s are 2.633 ms, and 2 x 70.55e9 x 1000 FLOPs over 8 x 1,979 TFLOP/s are 8.913 ms."""
    reason = solve(unknown, **EIGHT, **given).reason
    assert reason.code == "contradiction" and words in reason.message and "token_latency = " in reason.message


def test_tokens_of_a_mixture_come_no_faster_than_one_sequence_reads_its_weights():
    """37 GB of active weights over 16 chips of 3.35 TB/s: 0.69 ms, whatever the batch."""
    given = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "chips": 16}
    reason = solve("worst_latency", **given, token_latency=5e-4).reason
    assert reason.code == "contradiction" and "latency_floor alone makes it 690.3 µs or more" in reason.message
    assert solve("worst_latency", **given, token_latency=7e-4).answers


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
    assert reason.message.endswith("microbatches = 20 or hop_latency = 20 ms would make it so. Give one of them")


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


def test_a_share_of_the_peak_is_found_from_what_it_makes_of_a_prefill():
    """A chunk that is free at 90 % of the peak would leave less than a step at all of it: that is no contradiction."""
    given = {"model": "GLM-5", "hardware": "H100-SXM:fp8", "chips": 16, "batch": 100, "context_length": 32_000, "bytes_per_element": 1}
    given |= {"prefill_chunk": 512, "attention_time": 0}
    chunk = solve("free_prefill_chunk", **given, mfu=0.9).answers[0].value
    assert solve("mfu", **given, free_prefill_chunk=chunk).answers[0].value == pytest.approx(0.9)


# -- waits and drafts -----------------------------------------------------------------------------------------------

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


PAID = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:fp8", "chips": 8, "batch": 800, "prompt_tokens": 100, "output_tokens": 100}


def test_an_answer_moves_with_what_a_default_was_found_from_and_not_with_the_default():
    """A step of 60 ms says what mfu is, and the prompts cost as much more as that is less."""
    asked = {**PAID, "bytes_per_element": 1, "chip_price": "2 USD/h"}
    solution = solve("cost_per_request", **asked, step_time=0.06)
    assert any(text.startswith("mfu = ") and "follows from the givens" in text for text in solution.assumptions)
    moves = solution.answers[0].elasticities
    assert "mfu" not in moves
    for name, value in {"step_time": 0.06, "batch": 800.0, "chips": 8.0, "prompt_tokens": 100.0}.items():
        near = [solve("cost_per_request", **{**asked, "step_time": 0.06, name: value * (1 + sign * 1e-4)}).value for sign in (1, -1)]
        assert moves.get(name, 0.0) == pytest.approx((near[0] / near[1] - 1) / 2e-4, abs=1e-3), name
