"""Memory before time: what is short, by how much, and what would fit."""

import re
from math import floor

import pytest

from derive.solving.api import solve
from derive.units import parse
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

WEIGHTS, PER_TOKEN, CHIP = 671e9, 61 * 576, 80e9
DEPLOYED = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": 4000}
BATCH_THAT_FITS = (16 * CHIP - WEIGHTS) / (4000 * PER_TOKEN)


def test_the_shortfall_is_said_in_bytes_before_any_time():
    solution = solve("step_time", **DEPLOYED, chips=16, batch=24000)
    assert solution.answers == () and solution.reason.code == "does_not_fit"
    assert solution.reason.violated == ("memory_demand <= memory_capacity",)
    short = WEIGHTS + 24000 * 4000 * PER_TOKEN - 16 * CHIP
    assert f"{short / 1e12:.4g} TB short" in solution.reason.message


def test_what_would_fit_fits_and_a_little_more_does_not():
    second = solve("step_time", **DEPLOYED, chips=16, batch=24000).reason.message.splitlines()[1]
    for name in ("chips at least", "batch at most", "context_length at most", "kv_bytes_per_token at most", "bytes_per_element at most"):
        assert name in second
    assert f"batch at most {floor(BATCH_THAT_FITS)}" in second
    for change, fits in (
        ({"batch": BATCH_THAT_FITS}, True),
        ({"batch": BATCH_THAT_FITS * 1.001}, False),
        ({"batch": 24000, "context_length": 722}, True),
        ({"batch": 24000, "context_length": 723}, False),
        ({"batch": 24000, "chips": 51}, True),
        ({"batch": 24000, "chips": 50}, False),
        ({"batch": 24000, "bytes_per_element": 0.18}, True),
        ({"batch": 24000, "bytes_per_element": 0.181}, False),
    ):
        assert bool(solve("step_time", **{**DEPLOYED, "chips": 16, **change}).answers) == fits, change


def test_anyway_answers_and_says_what_is_short():
    solution = solve("step_time", **DEPLOYED, chips=16, batch=24000, anyway=True)
    reads = (WEIGHTS + 24000 * 4000 * PER_TOKEN) / (16 * 3.35e12)
    weights, attention = 2 * 37e9 / 1979e12, 2 * 61 * 128 * (2 * 512 + 64) * 4000 / 989e12
    assert solution.answers[0].value == pytest.approx(max(reads, 24000 * (weights + attention) / 16))
    warning = solution.warnings[0]
    assert warning.startswith("does not fit") and "\n" not in warning
    assert {*solution.kinds[1:]} >= {"attention_in_bf16", "exchange_left_out"}


@in_one_test(
    ("unknown", "more"),
    [
        ("step_time", {"batch": 10}),
        ("batch", {"step_time": "<=2s"}),
        ("energy_per_token", {"batch": 10, "chip_power": "700 W", "hop_latency": "1 us", "pipeline_stages": 2}),
    ],
)
def test_chips_that_nobody_spoke_of_are_refused_as_one_that_was_given(unknown, more):
    supposed, given = (solve(unknown, **{**DEPLOYED, **more}, **chips).reason for chips in ({}, {"chips": 1}))
    assert supposed == given and supposed.code == "does_not_fit" and "chips at least" in supposed.message


def test_no_answer_is_larger_than_the_memory():
    """A batch for a step time is of no use if its cache is nowhere. The largest one that fits is faster."""
    assert solve("batch", **DEPLOYED, chips=16, step_time=0.03).value == pytest.approx(BATCH_THAT_FITS, abs=1)
    assert solve("chips", **DEPLOYED, step_time=0.03, cost_per_token=1e-6, chip_price="2 USD/h").value == 9
    (only,) = solve("batch", **DEPLOYED, chips=16, step_time=0.015).answers
    assert only.value < BATCH_THAT_FITS


WINDOWED = {"hardware": "H100:bf16", "model": "Gemma-3-27B", "bytes_per_element": 2, "chips": 2}
WITH_STATES = {"hardware": "H100:fp8", "model": "Qwen3-Next", "bytes_per_element": 2, "state_bytes_per_element": 4, "chips": 2}
SELECTING = {"hardware": "H200-SXM:fp8", "model": "DeepSeek-V3.2", "bytes_per_element": 1, "indexer_bytes_per_element": 1.03125, "chips": 8}
KINDS = [pytest.param(given, id=given["model"]) for given in ({**DEPLOYED, "chips": 16}, WINDOWED, WITH_STATES, SELECTING)]


@in_one_test("deployment", KINDS)
def test_what_is_held_rises_with_the_context_and_fits_wherever_there_is_an_answer(deployment):
    contexts = [1, 1024, 1025, 4000, 1_000_000]
    room = solve("memory_capacity", **deployment).answers[0].value
    demands = []
    for context in contexts:
        given = {**deployment, "batch": 100, "context_length": context}
        demands.append(solve("memory_demand", **given).answers[0].value)
        step = solve("step_time", **given)
        assert bool(step.answers) == (demands[-1] <= room), context
        assert step.answers or step.reason.code == "does_not_fit"
    assert demands == sorted(demands) and demands[0] < demands[-1]


@in_one_test("deployment", KINDS[::3])
def test_the_advice_is_what_the_bounds_say(deployment):
    """A batch and a context that are told to fit are the bounds of what is in flight and of the context."""
    given = {**deployment, "batch": 20_000, "context_length": 8000}
    told = solve("step_time", **given).reason.message
    for name, unknown in (("batch", "sequences_in_flight"), ("context_length", "context_length")):
        found = solve(unknown, **{key: known for key, known in given.items() if key != name}).answers
        assert bool(found) == (f"{name} at most" in told)
        for high in (one.high for one in found):
            most = parse(name, re.search(rf"{name} at most ([^,\n]*)", told)[1])
            assert high - max(float(name == "batch"), high / 1e3) < most <= high and (name != "batch" or most == floor(most))
            assert solve("step_time", **{**given, name: most}).answers
            assert solve("step_time", **{**given, name: high * 1.001}).reason.code == "does_not_fit"
    assert "batch at most" in told


@pytest.mark.parametrize(
    ("unknown", "more"),
    [
        ("weight_time", {"batch": 1}),
        ("latency_floor", {}),
        ("normalised_cost", {"batch": 1, "context_length": 8000, "bytes_per_element": 2}),
        ("throughput", {"batch": 1, "token_latency": 1}),
    ],
)
def test_no_pass_is_answered_on_chips_that_do_not_hold_the_weights(unknown, more):
    """405.85e9 weights of two bytes are 811.7 GB: more than ten chips of 80 GB."""
    given = {"model": "Llama-3.1-405B", "hardware": "H100-SXM:bf16", **more}
    reason = solve(unknown, **given, chips=10).reason
    assert reason.code == "does_not_fit" and "weights of 811.7 GB" in reason.message and reason.message.endswith("chips at least 11")
    assert "KV cache" not in reason.message or "context_length" in more
    assert solve(unknown, **given, chips=11).answers
    unsaid = solve(unknown, **given).why_not
    on_one = "weights of 811.7 GB" in unsaid and " in the 80 GB of 1 chip" in unsaid and unsaid.endswith("chips at least 11")
    assert on_one == (unknown in ("weight_time", "latency_floor"))


@pytest.mark.parametrize(("unknown", "more"), [("compute_time", {}), ("prefill_compute_time", {"new_tokens_per_pass": 1000})])
def test_arithmetic_on_chips_that_do_not_hold_the_weights_is_answered_with_a_warning(unknown, more):
    given = {"model": "Llama-3.1-405B", "hardware": "H100-SXM:bf16", "batch": 1, **more}
    solution = solve(unknown, **given, chips=10)
    assert solution.answers and "weights of 811.7 GB in the 800 GB of 10 chips" in solution.warnings[0]
    assert not any("does not fit" in text for text in solve(unknown, **given, chips=11).warnings)


def test_what_an_engine_holds_back_is_room_for_nothing_else():
    """Two H100 hold 160 GB, 144 with a tenth held back: 4 beside 140 GB of weights, 2.98 caches of 1.342 GB; 8 GB a chip are a tenth."""
    node = {"model": "Llama-3.1-70B", "hardware": "H100:bf16", "chips": 2, "context_length": 4096, "bytes_per_element": 2}
    for held in ({"reserved_share": 0.1}, {"reserved_bytes_per_chip": "8GB"}):
        (most,) = solve("sequences_in_flight", **node, **held).answers
        assert most.high == pytest.approx((0.9 * 160e9 - 2 * 70_553_706_496) / (327680 * 4096))
        assert solve("step_time", **node, **held, batch=2).reason is None
        assert solve("step_time", **node, **held, batch=3).reason.code == "does_not_fit"
        node_of_any_size = {name: given for name, given in node.items() if name != "chips"}
        (least,) = solve("chips", **node_of_any_size, **held, sequences_in_flight=8).answers
        assert least.low == pytest.approx((2 * 70_553_706_496 + 8 * 327680 * 4096) / (0.9 * 80e9))
    assert solve("step_time", **node, batch=3).reason is None
