"""Memory before time: what is short, by how much, and what would fit."""

import re
from math import floor

import numpy as np
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


BATCH_OF_FOUR = {"chips": 4, "pipeline_stages": 4, "batch": 1500}
ALL_GIVEN = {"batch": 24000, "mfu": 1, "mbu": 1, "kv_replication": 1}


@in_one_test(
    ("given", "fits"),
    [
        ({"chips": 8, "batch": 10}, False),
        ({"chips": 8, "batch": 10, "pipeline_stages": 2}, True),
        ({"batch": 100}, True),
        ({"batch": 100, "sequences_in_flight": 1e4}, False),
        ({"batch": 1000}, True),
        ({"batch": 1000, "kv_replication": 16}, False),
        ({"batch": 1000 / 16, "kv_replication": 16}, True),
        (ALL_GIVEN, False),
        ({**BATCH_OF_FOUR, "microbatches": 2}, True),
        ({**BATCH_OF_FOUR, "microbatches": 4}, False),
    ],
)
def test_stages_hold_their_share_and_every_sequence_and_copy_takes_room(given, fits):
    """Four microbatches of 1,500 on 16 chips in all are 6,000 caches, where 4,333 fit."""
    solution = solve("step_time", **{**DEPLOYED, "chips": 16, **given})
    assert bool(solution.answers) == fits and (fits or solution.refusal.code == "does_not_fit")
    if given.get("microbatches") == 4:
        assert f"batch at most {BATCH_THAT_FITS / 4:.4g}" in solution.why_not


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
        ("kv_time", {"batch": 10}),
        ("request_latency", {"batch": 10, "prompt_tokens": 4000, "output_tokens": 100}),
        ("batch", {"step_time": "<=2s"}),
        ("energy_per_token", {"batch": 10, "chip_power": "700 W", "hop_latency": "1 us", "pipeline_stages": 2}),
    ],
)
def test_chips_that_nobody_spoke_of_are_refused_as_one_that_was_given(unknown, more):
    supposed, given = (solve(unknown, **{**DEPLOYED, **more}, **chips).reason for chips in ({}, {"chips": 1}))
    assert supposed == given and supposed.code == "does_not_fit" and "chips at least" in supposed.message


PRICED = {**DEPLOYED, "chip_price": "2 USD/h"}


@in_one_test(
    ("unknown", "more"),
    [
        ("compute_utilisation", {"batch": 10}),
        ("batch", {"compute_utilisation": 0.2}),
        ("cost_per_token", {"batch": 10}),
        ("decode_rate_per_chip", {"batch": 10}),
        ("batch", {"cost_per_token": 1e-6}),
        ("kv_compute_ratio", {"batch": 10}),
        ("ridge_point", {}),
        ("kv_bytes_per_token", {}),
        ("balance_batch", {}),
    ][::3],
)
def test_what_is_the_same_on_any_number_of_chips_needs_none(unknown, more):
    supposed, many = (solve(unknown, **PRICED, **more, **chips) for chips in ({}, {"chips": 64}))
    assert supposed.answers and supposed.value == pytest.approx(many.value, rel=1e-12)
    # A cache has no part in what is of a chip alone.
    sizes = {"hbm_bandwidth": ["3TB/s", "4TB/s"]} if unknown in ("ridge_point", "balance_batch") else {"bytes_per_element": [1, 2]}
    swept = solve(unknown, **{**PRICED, **more, **sizes}).sweep
    assert not swept or not np.isnan(swept.values).any()


def test_an_answer_that_does_not_fit_is_none():
    """A batch for a step time is of no use if its cache is nowhere."""
    assert solve("batch", **DEPLOYED, chips=16, step_time=0.03).reason.code == "does_not_fit"
    assert solve("chips", **DEPLOYED, step_time=0.03, cost_per_token=1e-6, chip_price="2 USD/h").reason.code == "does_not_fit"
    (only,) = solve("batch", **DEPLOYED, chips=16, step_time=0.015).answers
    assert only.value < BATCH_THAT_FITS


@in_one_test("unknown", ["balance_batch", "sweep_time", "sparsity", "balance_context"])
def test_a_route_that_reads_no_memory_is_not_held_to_it(unknown):
    assert solve(unknown, **DEPLOYED, chips=1, batch=24000).answers


def test_memory_that_is_given_as_such_is_what_has_to_hold_the_cache():
    solution = solve("kv_time", chips=4, hbm_bandwidth="3TB/s", hbm_capacity="250GB", kv_bytes_per_token="70kB",
                     context_length="8k", batch=3000, total_params="100B", bytes_per_weight=1, memory_capacity="1TB")  # fmt: skip
    assert solution.answers == () and solution.reason.code == "does_not_fit"
    assert " short" in solution.reason.message


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


@pytest.mark.parametrize("stages", [1, 2])
def test_the_context_that_fits_is_bounded_by_the_batch_of_every_stage(stages):
    """Llama-3.3-70B in 16 H200 of 141 GB: what the weights leave, over 2 x 80 x 8 x 128 bytes a token of 8 sequences a stage."""
    given = {"model": "Llama-3.3-70B", "hardware": "H200-SXM:fp8", "chips": 16 / stages, "bytes_per_element": 1, "hbm_capacity": 141e9}
    (found,) = solve("context_length", **given, pipeline_stages=stages, batch=8).answers
    assert (found.kind, found.low) == ("interval", 0)
    assert found.high == pytest.approx((16 * 141e9 - 70_553_706_496) / (8 * stages * 2 * 80 * 8 * 128))
    assert solve("step_time", **given, pipeline_stages=stages, batch=8, context_length=found.high * 0.999).answers
    assert not solve("step_time", **given, pipeline_stages=stages, batch=8, context_length=found.high * 1.001).answers


LLAMA_70B = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:bf16", "context_length": 4000, "bytes_per_element": 2, "batch": 8}
LLAMA_8B = {"model": "Llama-3.1-8B", "hardware": "H100-SXM:bf16", "chips": 1, "context_length": 8000, "bytes_per_element": 2}
TOKEN_OF_LLAMA_8B = 2 * 32 * 8 * 128 * 2
ROOM_OF_LLAMA_8B = (80e9 - 2 * 8_030_261_248) / (8000 * TOKEN_OF_LLAMA_8B)
"""61.04 sequences of 8,000 tokens in what 8.03e9 weights of two bytes leave of 80 GB."""


HELD_BY_LLAMA_70B = 2 * 70_553_706_496 + 8 * 4000 * 327680
"""Weights of two bytes, and eight caches of 4,000 tokens: 150.5 GB, which two chips of 80 GB hold and read in 22.63 ms."""


@pytest.mark.parametrize(
    ("result", "asked", "there"),
    [
        ("step_time", "50ms", "step_time is 22.63 ms where 50 ms would do"),
        ("token_latency", "50ms", "token_latency is 22.63 ms where 50 ms would do"),
        ("throughput", 200, "throughput is 353.6 token/s where 200 token/s would do"),
    ],
)
def test_chips_that_are_fast_enough_and_hold_too_little_are_as_many_as_memory_needs(result, asked, there):
    """50 ms take 0.9 of a chip, memory takes 1.89: two, which are faster than asked."""
    solution = solve("chips", **LLAMA_70B, **{result: asked})
    (found,) = solution.answers
    assert (found.kind, found.regime, found.bound) == ("point", "memory binds", "lower")
    assert found.value == pytest.approx(HELD_BY_LLAMA_70B / 80e9)
    assert solution.warnings[0] == f"memory takes 2 chips, and these are faster than asked: {there}"
    assert solution.equations[-1] == "memory.fits@1" and result in solution.given and result not in solution.unused
    assert dict(found.elasticities) == dict(solve("chips", **LLAMA_70B).answers[0].elasticities)
    (two,) = solve("chips", **LLAMA_70B, step_time=HELD_BY_LLAMA_70B / 3.35e12 / 2).answers
    assert two.value == pytest.approx(2) and two.regime != "memory binds"


@pytest.mark.slow
def test_chips_over_lists_sweeps_and_ranges_are_the_more_of_what_speed_and_memory_take():
    """A pass of 8 is read at 3.35 TB/s a chip: a rate r takes r x 150.5e9 / (8 x 3.35e12) chips, memory 1.881."""
    a_chip, memory = 8 * 3.35e12 / HELD_BY_LLAMA_70B, HELD_BY_LLAMA_70B / 80e9
    for rates in ([100, 200, 400, 800], list(range(100, 1000, 10))):
        sweep = solve("chips", **LLAMA_70B, throughput=rates).sweep
        assert sweep.values[0] == pytest.approx([max(rate / a_chip, memory) for rate in rates])
        assert sweep.bound == "lower"
        by_memory = [sweep.labels[place] == "memory binds" for place in sweep.places[0]]
        assert by_memory == [rate / a_chip < memory for rate in rates]
    solution = solve("chips", **LLAMA_70B, throughput="100..1000")
    spans = solution.spans
    assert (spans.method, spans.answered, solution.answers[0].bound) == ("bounds", 1, "lower")
    assert (spans.low, spans.high) == pytest.approx((memory, 1000 / a_chip))
    share = {label: share for label, _, _, share in spans.sides}["memory binds"]
    assert share == pytest.approx((memory * a_chip - 100) / 900, abs=0.03)


@pytest.mark.parametrize(
    "result", [{"throughput": 3100}, {"throughput": 3190}, {"cost_per_token": "0.2 USD/MTok", "chip_price": "2 USD/h"}], ids=str
)
def test_a_batch_that_a_result_takes_has_to_fit(result):
    reason = solve("batch", **LLAMA_8B, **result).reason
    assert reason.code == "does_not_fit" and f"batch at most {floor(ROOM_OF_LLAMA_8B)}," in reason.message
    assert any(text.startswith("does not fit") for text in solve("batch", **LLAMA_8B, **result, anyway=True).warnings)


@pytest.mark.slow
def test_a_batch_over_a_list_or_a_range_of_results_fits_wherever_there_is_one():
    """A pass of B sequences reads 16 GB and B caches: at 3.35 TB/s, B tokens a pass."""
    most = ROOM_OF_LLAMA_8B / ((2 * 8_030_261_248 + ROOM_OF_LLAMA_8B * 8000 * TOKEN_OF_LLAMA_8B) / 3.35e12)
    listed = solve("batch", **LLAMA_8B, throughput=[1000, 0.999 * most, 1.001 * most, 3190]).sweep
    assert [bool(value == value) for value in listed.values[0]] == [True, True, False, False]
    spans = solve("batch", **LLAMA_8B, throughput="1000..3190").spans
    assert spans.high <= ROOM_OF_LLAMA_8B * (1 + 1e-9) and spans.answered == pytest.approx((most - 1000) / 2190, abs=0.03)
    many = solve("batch", **LLAMA_8B, throughput=list(range(1000, 3190, 25))).sweep
    assert [bool(value == value) for value in many.values[0]] == [given <= most for given in many.given["throughput"]]


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


# -- what is held itself -----------------------------------------------------------------------------------------------

LARGE = {"hardware": "8xH200:bf16", "model": "Llama-3.1-405B", "context_length": "16Ki", "bytes_per_element": 2}


@in_one_test("unknown", ["memory_per_chip", "memory_demand"])
def test_what_is_held_stands_with_what_is_short_said_first(unknown):
    assert solve(unknown, **LARGE, batch=100).warnings[0].startswith("does not fit: weights of 811.7 GB and a KV cache of 845.6 GB")
    tight = {**LARGE, "batch": 33, "reserved_share": 0.1}
    assert solve(unknown, **tight).warnings[0].startswith("does not fit") and solve(unknown, **tight).unused == ()
    assert not solve(unknown, **{**tight, "reserved_share": 0}).warnings and solve(unknown, **{**LARGE, "batch": 32}).answers


COPIED = {"hardware": "H100:fp8", "bytes_per_element": 1, "context_length": "8k"}


@in_one_test(
    ("given", "chips"),
    [
        ({"model": "DeepSeek-V3", "chips": 14, "batch": 120, "using": ["memory.kv_copies_of_latents"]}, 15),
        ({"model": "DeepSeek-V3", "chips": 20, "batch": 1000, "using": ["memory.kv_copies_of_latents"]}, None),
        ({"model": "Llama-3.1-70B", "chips": 9, "batch": 600, "using": ["memory.kv_copies_of_heads"]}, None),
        ({"model": "Llama-3.1-70B", "chips": 4, "batch": 200}, 5),
    ],
)
def test_what_is_said_to_fit_is_accepted_as_it_is_said(given, chips):
    """With a copy of the cache on each chip the chips that were said to do led to more of them, and 119.7 is no batch."""
    asked = {**COPIED, **given}
    advice = solve("step_time", **asked).why_not.splitlines()[1].partition(": ")[2].split(", ")
    bounds = dict(re.fullmatch(r"(\w+) at (?:most|least) (.*)", one).groups() for one in advice if " at " in one)
    assert bounds.get("chips") == (chips and str(chips)) and ("no number of chips" in advice) == (chips is None)
    assert float(bounds["batch"]).is_integer()
    for name, value in bounds.items():
        other = {"bytes_per_element"} if name == "kv_bytes_per_token" else set()
        kept = {one: known for one, known in asked.items() if one not in other}
        assert solve("step_time", **{**kept, name: value}).answers, (name, value)
    if chips:
        assert solve("step_time", **{**asked, "chips": chips - 1}).reason
