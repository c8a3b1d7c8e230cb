"""What is said before a number: of weights that are read for want of a router, and of chips that wait for the busiest."""

import pytest

from derive.errors import WrongValue
from derive.ranges import solve

V3 = {"total_params": 671e9, "active_params": 37e9, "bytes_per_weight": 1, "chips": 8, "hbm_bandwidth": 4.8e12}
STEP = {**V3, "peak_flops": 1.979e15, "context_length": 4000, "kv_bytes_per_token": 35136}
ROUTER = {"experts": 256, "active_experts": 8}


def warned(unknown, **given):
    return solve(unknown, **given).warnings


# -- unknown routers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "times"), [(1, "18.1"), (64, "2.36"), (256, "1.15")])
def test_weights_that_may_be_read_in_vain_are_said_with_how_many(batch, times):
    """671/(671 - 634 (127/128)^(B-1)), for a router of one in 128."""
    assert f"{671 / (671 - 634 * (127 / 128) ** (batch - 1)):.3g}" == times
    (text,) = warned("step_time", **STEP, batch=batch)
    assert text == f"expert counts are unknown: the weight read may be up to {times} times too long; give experts and active_experts"


def test_drafts_read_more_of_them():
    (text,) = warned("weight_time", **V3, batch=16, positions_per_step=4)
    assert text == warned("weight_time", **V3, batch=64)[0]


def test_where_no_batch_is_said_it_is_one_sequence():
    assert "18.1 times" in warned("weight_time", **V3)[0]


def test_it_is_said_of_what_is_asked_backwards_too():
    assert "expert counts" in warned("throughput", **STEP, batch=8)[0]
    assert warned("batch", **STEP, step_time=18e-3)


@pytest.mark.parametrize(
    "given",
    [
        {**STEP, "batch": 2000},
        {**STEP, **ROUTER, "batch": 2000},
        {**STEP, "total_params": 37e9, "batch": 1},
        {**STEP, **ROUTER, "batch": 1, "variants": {"weight_time": "sharded"}},
        {**STEP, "batch": 1, "resident_weight_bytes_per_chip": 90e9, "variants": {"weight_time": "resident"}},
    ],
    ids=["all are touched", "known", "dense", "asked for", "resident"],
)
def test_nothing_is_said_where_nothing_is_doubtful(given):
    assert warned("step_time", **given) == ()


def test_a_model_sparser_than_any_router_is_no_crash():
    assert "100 times" in warned("weight_time", **{**V3, "active_params": 6.71e9})[0]
    assert "200 times" in warned("weight_time", **{**V3, "active_params": 3.355e9})[0]


# -- the busiest chip -----------------------------------------------------------------------------------------------


def test_the_busiest_chip_is_said_where_it_is_not_counted():
    (text,) = warned("step_time", **STEP, **ROUTER, batch=1)
    assert text.startswith("the busiest of 8 chips reads about 2.7 times the mean of the touched experts, which is not counted; give ")


@pytest.mark.parametrize(
    "more",
    [
        {"batch": 64},
        {"batch": 1, "chips": 1},
        {"batch": 1, "expert_imbalance": 1},
        {"batch": 1, "expert_parallel": 1},
        {"batch": 1, "expert_parallel": 8, "using": "experts.busiest_chip"},
    ],
    ids=["even enough", "one chip", "given", "experts on one chip", "counted"],
)
def test_the_busiest_chip_is_not_said(more):
    assert warned("weight_time", **{**V3, **ROUTER} | more) == ()


def test_what_a_named_heuristic_is_about_has_no_default():
    counted = solve("weight_time", **V3, **ROUTER, batch=1, expert_parallel=8, using="experts.busiest_chip")
    even = solve("weight_time", **V3, **ROUTER, batch=1).answers[0].value
    shared = (37e9 - 634e9 / (1 - 8 / 256) * 8 / 256) / (8 * 4.8e12)
    ratio = (counted.answers[0].value - shared) / (even - shared)
    assert ratio == pytest.approx(counted.given.get("expert_imbalance", ratio)) and 2.6 < ratio < 2.8
    assert not any("expert_imbalance = 1" in text for text in counted.assumptions)
    missing = solve("weight_time", **V3, **ROUTER, batch=1, using="experts.busiest_chip").reason
    assert missing.code == "missing_givens" and missing.missing == ("expert_parallel",)


# -- many points ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", ["1,2,4000", "1..4000:log:500", "1..40"])
def test_sweeps_and_ranges_say_it_of_a_point(batch):
    (text,) = warned("weight_time", **V3, **ROUTER, batch=batch)
    assert text.startswith("at batch = ") and "the busiest of 8 chips" in text


@pytest.mark.parametrize("context", ["100k", "90k..110k"], ids=["points", "ranges at points"])
def test_a_sweep_says_each_doubt_once_however_it_begins(context):
    """The busiest chip and the copies of a cache: each of them once, with how many more points it is true of."""
    given = {"hardware": "H200:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "chips": 16}
    texts = warned("step_time", **given, batch="12,14,16", context_length=context)
    for doubt in ("the busiest of 16 chips", "not sharded by sequences"):
        (text,) = [text for text in texts if doubt in text]
        assert "(and something alike at 2 more points)" in text


# -- routers that cannot be -----------------------------------------------------------------------------------------


def test_more_active_experts_than_experts_are_refused():
    with pytest.raises(WrongValue, match="active_experts = 9 of experts = 8: a token uses no more experts than there are"):
        solve("weight_time", **V3, experts=8, active_experts=9, batch=1)


@pytest.mark.parametrize("experts", [1, 8])
def test_a_router_that_uses_all_experts_reads_all_weights(experts):
    solution = solve("weight_time", **V3, experts=experts, active_experts=experts, batch=1)
    assert solution.answers[0].value == pytest.approx(671e9 / (8 * 4.8e12)) and solution.warnings == ()


def test_less_than_one_sequence_is_no_batch():
    reason = solve("weight_time", **V3, **ROUTER, batch=0.5).reason
    assert reason.code == "requirement_violated" and "batch >= 1" in reason.message
    backwards = solve("batch", **STEP, **ROUTER, step_time=0.5e-3).reason
    assert backwards.code == "requirement_violated" and backwards.message == "the 7 equations it rests on require batch >= 1"


def test_a_measured_read_below_that_of_even_experts_is_no_imbalance():
    reason = solve("expert_imbalance", **V3, **ROUTER, batch=64, weight_time=5e-3).reason
    assert reason.code == "requirement_violated" and "expert_imbalance >= 1" in reason.message


# -- blocks of a mixture --------------------------------------------------------------------------------------------


def test_a_large_batch_is_found_where_nothing_overlaps():
    """What a batch of tens of thousands touches is all: 25 ms less the read of all weights, over what a sequence takes."""
    given = {**STEP, **ROUTER, "chips": 64, "context_length": 500, "variants": {"overlap": "sum"}}
    by_hand = (0.025 - 671e9 / (64 * 4.8e12)) / (2 * 37e9 / (64 * 1.979e15) + 500 * 35136 / (64 * 4.8e12))
    assert solve("batch", **given, step_time=25e-3).answers[0].value == pytest.approx(by_hand, rel=1e-6)


def test_a_range_of_answers_that_were_searched_for_is_not_out_of_force():
    solution = solve("batch", **STEP, **ROUTER, step_time="10ms..12ms")
    (span,) = solution.answers
    ends = [solve("batch", **STEP, **ROUTER, step_time=end).answers[0].value for end in (10e-3, 12e-3)]
    assert [span.low, span.high] == pytest.approx(ends, rel=1e-9) and span.regime is None
    assert "throughout where memory_time >= compute_time" in solution.assumptions


def test_states_that_are_written_back_and_attention_of_prefill_that_is_left_out_are_said():
    deployed = {"model": "Qwen3.5-122B-A10B", "hardware": "H200:fp8", "chips": 8, "batch": 1024}
    linear = solve("step_time", **deployed, context_length="4k", bytes_per_element=1)
    assert any("states of linear layers are written back too" in text for text in linear.warnings)
    given = {"model": "Llama-3-70B", "hardware": "H100:fp8", "chips": 8, "batch": 1, "new_tokens_per_pass": "128k"}
    assert any("give prompt_tokens" in text for text in solve("prefill_compute_time", **given).warnings)
    assert solve("prefill_compute_time", **given, prompt_tokens="128k").warnings == ()
