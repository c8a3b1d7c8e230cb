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


# -- the network ----------------------------------------------------------------------------------------------------

SERVED = {
    **{"hardware": "H800-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"context_length": 4989, "chips": 144, "batch": 88 * 144},
}
COUNTED = {"dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2, "expert_parallel": 144}
OUT_OF_THE_NODE = 58 * 88 * 143 * (1 - (143 / 144) ** 8) * 7168 * 3 * 17 / 18 / 50e9
"""Seconds: 58 layers of 88 tokens a chip, each to about 8 of 143 others, 17 of 18 of them behind a link of 50 GB/s; 3 bytes an element."""


def exchange(unknown, **given):
    return [text for text in warned(unknown, **given) if "exchange between experts" in text]


@pytest.mark.parametrize(
    ("unknown", "more"),
    [("step_time", {}), ("throughput", {}), ("cost_per_token", {"chip_price": "2 USD/h"}), ("normalised_cost", {})],
)
def test_a_step_of_many_chips_says_what_the_exchange_between_experts_would_add(unknown, more):
    step = solve("step_time", **SERVED).answers[0].value
    (text,) = exchange(unknown, **SERVED, **more)
    assert f"the exchange between experts, {OUT_OF_THE_NODE * 1e3:.3g} ms with " in text
    assert f"about {1 + OUT_OF_THE_NODE / step:.3g} times as long" in text


def test_it_is_said_of_what_is_asked_backwards():
    step = solve("step_time", **SERVED).answers[0].value
    batch = {name: value for name, value in SERVED.items() if name != "batch"}
    assert exchange("batch", **batch, step_time=step) == exchange("step_time", **SERVED)


def test_what_is_said_to_be_left_out_is_what_the_named_equation_counts():
    (text,) = exchange("step_time", **SERVED)
    assert text.endswith(f"give {', '.join(COUNTED)}, --overlap network and --using experts.all_to_all_time_racks")
    network = {"variants": {"overlap": "network"}, "using": "experts.all_to_all_time_racks"}
    ways = ({**COUNTED, **network}, {"variants": {"overlap": "sum"}})
    counted, serial = (solve("step_time", **SERVED, **more).answers[0].value for more in ways)
    assert counted - serial == pytest.approx(OUT_OF_THE_NODE) and exchange("step_time", **SERVED, **COUNTED, **network) == []


def test_a_link_that_is_given_takes_the_place_of_those_of_the_preset():
    given = {"link_bandwidth": "40GB/s", "dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2}
    (text,) = exchange("step_time", **SERVED, **given)
    took = 58 * 88 * 143 * (1 - (143 / 144) ** 8) * 7168 * 3 / 40e9
    assert f"the exchange between experts, {took * 1e3:.3g} ms, is not counted" in text and text.endswith("all_to_all_time_one_copy")


@pytest.mark.parametrize(
    ("unknown", "given"),
    [
        ("step_time", {"hardware": "H200:fp8", "model": "DeepSeek-V3", "chips": 8, "batch": 256}),
        ("step_time", {"hardware": "H200:fp8", "model": "DeepSeek-V3", "chips": 1, "batch": 256, "anyway": True}),
        ("step_time", {"hardware": "H100:fp8", "model": "Llama-3-70B", "chips": 64, "batch": 256}),
        ("throughput", {**SERVED, "step_time": "40ms"}),
        ("step_time", {**SERVED, "variants": {"overlap": "exposed"}, "exposed_communication_share": 0.5}),
    ],
    ids=["fast links", "one chip", "dense", "measured", "counted as a share"],
)
def test_the_exchange_is_not_said(unknown, given):
    assert exchange(unknown, **{"bytes_per_element": 1, "context_length": 4000, **given}) == []


@pytest.mark.parametrize("unknown", ["idle_fraction", "token_latency", "throughput"])
def test_hops_between_stages_that_take_no_time_are_said(unknown):
    given = {"pipeline_stages": 4, "step_time": "20ms", "batch": 64}
    assert "hops between 4 stages are taken to take no time" in warned(unknown, **given)[0]
    assert warned(unknown, **given, hop_latency="2.5ms") == () == warned(unknown, **{**given, "pipeline_stages": 1})


def test_copies_of_a_cache_are_those_of_the_catalogue():
    """8 KV heads on 32 chips: four copies; a latent on 16 chips: sixteen. The step is that with the copies counted."""
    for model, chips, row, copies in (("Llama-3-70B", 32, "heads", 4), ("DeepSeek-V3", 16, "latents", 16)):
        given = {"hardware": "H200:fp8", "model": model, "bytes_per_element": 2, "context_length": "8k", "chips": chips, "batch": 64}
        (text,) = [text for text in warned("step_time", **given) if "not sharded by sequences" in text]
        plain, named, typed = (
            solve("step_time", **given, **more).answers[0].value
            for more in ({}, {"using": f"memory.kv_copies_of_{row}"}, {"kv_copies": copies})
        )
        assert named == typed and f"lies up to {copies} times" in text and f"up to {named / plain:.3g} times as long" in text


@pytest.mark.parametrize(
    ("unknown", "given", "room"),
    [
        ("sequences_in_flight", {"context_length": "10M"}, False),
        ("sequences_in_flight", {"context_length": "1M"}, True),
        ("batch", {"context_length": "4k", "throughput": 100}, True),
    ],
)
def test_less_than_one_sequence_is_said(unknown, given, room):
    """570 GB beside the weights hold .17 caches of 3.28 TB and 1.7 of 328 GB; a rate says how many there are at least."""
    given |= {"hardware": "H100:fp8", "model": "Llama-3-70B", "chips": 8, "bytes_per_element": 2}
    assert ("there is not room for one whole sequence" in warned(unknown, **given)) is not room


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
    assert backwards.code == "requirement_violated" and backwards.message.startswith(
        "a batch is one sequence at least: experts.touched_experts requires batch >= 1, but batch would be 0."
    )


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
