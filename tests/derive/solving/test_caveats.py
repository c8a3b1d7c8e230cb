"""What is said before a number: of weights that are read for want of a router, and of chips that wait for the busiest."""

import csv
import io
from dataclasses import replace

import pytest

from derive import shipped
from derive.catalogue import equation
from derive.errors import WrongValue
from derive.presets import architecture, model_names
from derive.solving import caveats as doubts
from derive.solving.api import solve
from derive.solving.questions import question
from derive.units import show
from tests.tools.commands import call
from tests.tools.tables import reading
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

V3 = {"total_params": 671e9, "active_params": 37e9, "bytes_per_weight": 1, "chips": 8, "hbm_bandwidth": 4.8e12}
STEP = {**V3, "peak_flops": 1.979e15, "context_length": 4000, "kv_bytes_per_token": 35136}
ROUTER = {"experts": 256, "active_experts": 8}


def warned(unknown, **given):
    return solve(unknown, **given).warnings


# -- data types that nobody gave ---------------------------------------------------------------------------------------

UNTYPED = {"hardware": "H100", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000}
OF_CHIP, OF_CACHE = "no data type is given, and H100-SXM is taken in bf16", "caches"


@in_one_test(
    ("unknown", "more"),
    [
        ("step_time", {"batch": 60}),
        ("step_time", {"batch": "1,8,60"}),
        ("step_time", {"batch": "58..62"}),
        ("batch", {"step_time": "<=20ms"}),
        ("chips", {"batch": 64, "step_time": "<=20ms", "chips": None}),
    ],
)
def test_data_types_that_nobody_gave_are_usual_and_said(unknown, more):
    asked = {name: value for name, value in {**UNTYPED, **more}.items() if value is not None}
    usual, said = solve(unknown, **asked), solve(unknown, **{**asked, "hardware": "H100:bf16", "bytes_per_element": 2})
    assert usual.answers and [one.ends for one in usual.answers] == [one.ends for one in said.answers]
    for told in (OF_CHIP, OF_CACHE):
        assert any(told in text for text in usual.warnings) and not any(told in text for text in said.warnings)


def test_a_data_type_of_the_cache_that_a_result_hardly_moves_with_is_no_warning():
    """One sequence of 1,000 tokens reads 0.3 GB beside 70 GB of weights, 64 of 8,000 tokens 168 GB; and a batch that memory bounds."""
    chip = {"hardware": "H200:fp8", "model": "Llama-3.1-70B"}
    for more, said in (({"batch": 1, "ctx": 1000, "tpot": "21ms"}, False), ({"chips": 8, "batch": 64, "ctx": 8000, "tpot": "9ms"}, True)):
        assert any(OF_CACHE in text for text in solve("mbu", **chip, **more).warnings) is said
    room = {"hardware": "2xH100:fp8", "model": "Llama-3.1-70B", "ctx": 4096, "tpot": "<=25ms"}
    assert any(OF_CACHE in text for text in solve("batch", **room).warnings)


def test_a_data_type_that_is_no_faster_is_said_only_where_the_width_of_weights_counts():
    """TPU-v5p computes as fast in fp8 as in bf16: a run takes as long in either, a step reads half the weights."""
    tpu = {"hardware": "TPU-v5p", "model": "Llama-3.1-70B"}
    run = {"pretrain_tokens": "15T", "mfu": 0.4, "training_chips": 512}
    times = [solve("training_time", **tpu | {"hardware": f"TPU-v5p:{dtype}"}, **run).value for dtype in ("bf16", "fp8")]
    assert times[0] == times[1] and solve("training_time", **tpu, **run).warnings == ()
    assert any("TPU-v5p:fp8" in text for text in solve("step_time", **tpu, chips=8, batch=8, context_length=2000).warnings)


def test_a_data_type_that_is_asked_for_is_not_supposed():
    for unknown in ("bytes_per_element", "bytes_per_weight"):
        asked = solve(unknown, peak_flops=1e15, hbm_bandwidth=3e12, total_params=7e10, chips=8, layers=80, kv_heads=8, head_dim=128)
        assert asked.reason.code == "missing_givens" and unknown not in asked.given


def test_of_data_types_only_those_are_said_that_an_answer_rests_on():
    assert not any("taken in bf16" in text for text in solve("kv_bytes_per_token", **UNTYPED, bytes_per_element=1).warnings)
    rate = solve("compute_time", **UNTYPED, batch=8)
    assert any(OF_CHIP in text for text in rate.warnings) and not any(OF_CACHE in text for text in rate.warnings)
    assert solve("weight_bytes", model="DeepSeek-V3").warnings == (
        "weights are taken as published, in fp8; give bytes_per_weight for others",
    )
    assert solve("step_time", **UNTYPED, batch=8, kv_bytes_per_token=160e3).warnings[0].startswith(OF_CHIP)


def test_a_bound_by_memory_is_found_without_them():
    for unknown, more in (("batch", {"chips": 8}), ("chips", {"batch": 190})):
        asked = {**{name: value for name, value in UNTYPED.items() if name != "chips"}, **more}
        assert solve(unknown, **asked).answers == solve(unknown, **{**asked, "bytes_per_element": 2}).answers


# -- slips -------------------------------------------------------------------------------------------------------------

TYPED = {"hardware": "H100:bf16", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000, "batch": 8, "bytes_per_element": 2}


def test_what_is_far_from_the_table_is_doubted():
    (text,) = warned("step_time", **TYPED, hbm_bandwidth="3.35GB/s")
    assert (
        text
        == "hbm_bandwidth = 3.35 GB/s is 1,000 times less than the 3.35 TB/s of hardware.csv H100-SXM hbm_bandwidth: is its unit right?"
    )
    assert not warned("compute_time", **TYPED, hbm_bandwidth="3.35GB/s") and not warned("step_time", **TYPED, hbm_bandwidth="335GB/s")


def test_chips_are_whole_ones_but_in_the_middle_of_a_range():
    assert warned("step_time", **TYPED | {"chips": 2.5}) == ("chips = 2.5 is no whole number, and is taken as it is",)
    assert not any("no whole number" in text for text in warned("step_time", **TYPED | {"chips": "4..7"}))


@pytest.mark.parametrize(
    "name", ["batch", "pipeline_stages", "layers", "experts", "replicas", "draft_tokens", "prefill_passes", "expert_parallel"]
)
def test_a_part_of_what_there_is_in_whole_ones_is_said_in_the_same_words_of_all(name):
    given = {
        "throughput": {**TYPED, "batch": 8, "pipeline_stages": 2, "microbatches": 2},
        "kv_bytes_per_token": {"layers": 80, "kv_heads": 8, "head_dim": 128, "bytes_per_element": 2},
        "activated_experts": {"experts": 64, "active_experts": 2, "batch": 8},
        "fleet_throughput": {"throughput": 1e4, "replicas": 2},
        "tokens_per_step": {"draft_tokens": 4, "acceptance_rate": 0.8},
        "prefill_weight_time": {**TYPED, "prefill_passes": 2},
        "experts_per_chip": {"experts": 64, "expert_parallel": 8},
    }
    asked, given = next((asked, some) for asked, some in given.items() if name in some)
    assert not any("whole number" in text for text in warned(asked, **given))
    parted = given | {name: given[name] + 0.5}
    assert f"{name} = {parted[name]} is no whole number, and is taken as it is" in warned(asked, **parted)


# -- unknown routers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "times"), [(1, "18.1"), (64, "2.36"), (256, "1.15")])
def test_weights_that_may_be_read_in_vain_are_said_with_how_many(batch, times):
    """671/(671 - 634 (127/128)^(B-1)), for a router of one in 128."""
    assert f"{671 / (671 - 634 * (127 / 128) ** (batch - 1)):.3g}" == times
    (text,) = warned("step_time", **STEP, batch=batch)
    assert text == f"expert counts are unknown: the weight read may be up to {times} times too long; give experts and active_experts"


def test_drafts_read_more_of_them():
    (text,) = warned("weight_time", **V3, batch=16, tokens_verified_per_step=4)
    assert text == warned("weight_time", **V3, batch=64)[0]


def test_where_no_batch_is_said_it_is_one_sequence():
    assert "18.1 times" in warned("weight_time", **V3)[0]


def test_it_is_said_of_what_is_asked_backwards_too():
    assert "expert counts" in warned("throughput", **STEP, batch=8)[0]
    assert warned("batch", **STEP, step_time=18e-3)


@in_one_test(
    "given",
    [
        {**STEP, "batch": 2000},
        {**STEP, **ROUTER, "batch": 2000},
        {**STEP, "total_params": 37e9, "batch": 1},
        {**STEP, **ROUTER, "batch": 1, "variants": {"weight_time": "sharded"}},
        {**STEP, "batch": 1, "resident_weight_bytes_per_chip": 90e9, "variants": {"weight_time": "resident"}},
    ],
    ids=["all are activated", "known", "dense", "asked for", "resident"],
)
def test_nothing_is_said_where_nothing_is_doubtful(given):
    assert warned("step_time", **given) == ()


def test_a_model_sparser_than_any_router_is_no_crash():
    assert "100 times" in warned("weight_time", **{**V3, "active_params": 6.71e9})[0]
    assert "200 times" in warned("weight_time", **{**V3, "active_params": 3.355e9})[0]


def test_the_sparsest_router_is_that_of_the_table():
    """With one of 256 experts in the sparsest router: 671/(671 - 634 (255/256)^63) of the weights for 64 sequences."""
    assert "2.36 times" in warned("step_time", **STEP, batch=64)[0]
    with reading(edited("Llama-4-Maverick", experts="256")):
        assert f"{671 / (671 - 634 * (255 / 256) ** 63):.3g} times" in warned("step_time", **STEP, batch=64)[0]


# -- the busiest chip -----------------------------------------------------------------------------------------------


def test_the_busiest_chip_is_said_where_it_is_not_counted():
    (text,) = warned("step_time", **STEP, **ROUTER, batch=1)
    assert text.startswith(
        "where whole experts lie on chips, the busiest of 8 chips reads about 2.7 times the mean of the activated experts, not counted"
    )


@in_one_test(
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


H100S = {"model": "DeepSeek-V3", "hardware": "H100-SXM:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4000}


@in_one_test(("tokens", "said"), [(1, True), (2, True), (64, False)])
@in_one_test(("unknown", "of", "beside"), [("mixed_step_time", "prefill_chunk", 1), ("prefill_normalised_cost", "new_tokens_per_pass", 0)])
def test_the_busiest_chip_is_that_of_all_tokens_of_a_pass(unknown, of, beside, tokens, said):
    """The more of them there are, the more evenly they lie: as in decode of as many sequences."""
    texts = [text for text in warned(unknown, **H100S, batch=1, **{of: tokens}) if "busiest" in text]
    assert texts == [text for text in warned("weight_time", **H100S, batch=beside + tokens) if "busiest" in text]
    assert bool(texts) == said


def test_a_number_of_chips_that_is_one_but_for_rounding_is_no_crash():
    given = {"model": "GLM-4.5-Air", "hardware": "H200-SXM:fp8", "batch": 2, "context_length": 4000, "bytes_per_element": 1}
    (chips,) = solve("chips", **given, throughput=515.334862446389).answers
    assert chips.value < 1 and chips.value == pytest.approx(1, rel=1e-9)


def test_experts_lie_on_one_chip_at_least():
    with pytest.raises(WrongValue, match=r"expert_parallel = 0\.5: must be >= 1"):
        solve("weight_time", **V3, **ROUTER, batch=1, expert_parallel=0.5)


@pytest.mark.parametrize("failure", [ValueError, ZeroDivisionError, OverflowError])
def test_a_doubt_that_cannot_be_reckoned_says_nothing(failure, monkeypatch):
    def doubt(asked, values, used):
        raise failure

    monkeypatch.setattr(doubts, "_CAVEATS", (doubt, *doubts._CAVEATS))
    (text,) = warned("step_time", **STEP, **ROUTER, batch=1)
    assert "busiest" in text


@pytest.mark.parametrize(("chunk", "said"), [(512, True), (20_000, False)], ids=["memory binds", "arithmetic binds"])
def test_copies_of_a_cache_lengthen_a_step_with_a_chunk_where_its_reads_are_the_longer(chunk, said):
    texts = warned("mixed_step_time", **H100S, batch=512, prefill_chunk=chunk, hbm_capacity="800 GB")
    assert any("not sharded by sequences" in text and "times as long" in text for text in texts) == said


def test_copies_of_a_cache_that_do_not_fit_are_said_so_and_not_how_long_their_step_would_be():
    """By hand: 1 TB of weights and 8 times 35.98 GB are 1.288 TB, and eight H200 have 1.206 TB."""
    asked = {"hardware": "8xH200:fp8", "model": "Kimi-K2", "batch": 128, "context_length": 8000, "bytes_per_element": 1}
    (text,) = [text for text in warned("throughput", **asked) if "not sharded by sequences" in text]
    assert "up to 8 times" in text and "and then it does not fit" in text
    assert solve("throughput", **asked, kv_replication=8).refusal.code == "does_not_fit"
    assert "times as long" in " ".join(warned("throughput", **asked | {"model": "DeepSeek-V3"}))


# -- a chunk that is said to be free --------------------------------------------------------------------------------


def test_the_experts_of_a_free_chunk_are_not_free():
    """All weights for those of one token: (671e9 + 4,000 x 35,136) over (37e9 + 4,000 x 35,136)."""
    texts = warned("free_prefill_chunk", **H100S, batch=1)
    times = (671e9 + 4000 * 35136) / (37e9 + 4000 * 35136)
    told = "only the arithmetic of the chunk is for nothing: with the experts that it reads, the step takes"
    assert texts[0] == f"{told} {times:.3g} times as long"


@pytest.mark.parametrize("more", [{"batch": 64}, {"batch": 1, "variants": {"weight_time": "sharded"}}], ids=["nearly all read", "all read"])
def test_a_chunk_that_reads_little_of_its_own_is_free(more):
    assert not any("of the chunk" in text for text in warned("free_prefill_chunk", **H100S, **more))


@in_one_test("unknown", ["free_prefill_chunk", "compute_bound_chunk"])
@in_one_test("overlap", ["max", "exposed", "sum", "kv_plus_max", "network"])
def test_what_presumes_perfect_overlap_says_so_where_another_was_asked_for(unknown, overlap):
    texts = [text for text in warned(unknown, **H100S, batch=64, variants={"overlap": overlap}) if "perfect overlap" in text]
    assert len(texts) == (overlap not in ("max", "exposed"))


def test_what_a_named_heuristic_is_about_has_no_default():
    counted = solve("weight_time", **V3, **ROUTER, batch=1, expert_parallel=8, using="experts.busiest_chip")
    even = solve("weight_time", **V3, **ROUTER, batch=1).answers[0].value
    shared = (37e9 - 634e9 / (1 - 8 / 256) * 8 / 256) / (8 * 4.8e12)
    ratio = (counted.answers[0].value - shared) / (even - shared)
    assert ratio == pytest.approx(counted.given.get("expert_imbalance", ratio)) and 2.6 < ratio < 2.8
    assert not any("expert_imbalance = 1" in text for text in counted.assumptions)
    missing = solve("weight_time", **V3, **ROUTER, batch=1, using="experts.busiest_chip").reason
    assert missing.code == "missing_givens" and missing.missing == ("expert_parallel",)


# -- drafts ---------------------------------------------------------------------------------------------------------

DRAFTED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-8B", "chips": 1, "context_length": 1000, "bytes_per_element": 1, "batch": 256}
NO_TIME, ALL_ACCEPTED = "to take no time", "to be all accepted"


@pytest.mark.parametrize("unknown", ["throughput", "step_time", "token_latency"])
def test_tokens_of_drafts_that_nobody_described_are_said_to_be_free(unknown):
    (text,) = warned(unknown, **DRAFTED, tokens_per_step=3)
    told = f"taken {NO_TIME} and {ALL_ACCEPTED}; give draft_tokens and draft_cost_ratio"
    assert text == f"the drafts of a step of 3 tokens are {told}"
    assert warned(unknown, **DRAFTED, tokens_per_step=3, draft_tokens=7, draft_cost_ratio=0.05) == ()
    assert warned(unknown, **DRAFTED, tokens_per_step=1) == () == warned(unknown, **DRAFTED)


def test_of_drafts_only_what_is_not_given_is_said():
    (text,) = (solution := solve("step_time", **DRAFTED, tokens_per_step=3, tokens_verified_per_step=8)).warnings
    assert solution.unused == ()
    assert NO_TIME in text and ALL_ACCEPTED not in text
    (text,) = warned("step_time", **DRAFTED, tokens_per_step=3, drafting_time="1ms")
    assert text.endswith(f"{ALL_ACCEPTED}; give draft_tokens")
    assert warned("throughput", batch=256, step_time="20ms", tokens_per_step=3) == ()


def test_tokens_that_a_measured_rate_says_are_drafted_too():
    """256 sequences read 8 GB and 256 x 65.5 MB at 3.35 TB/s: 2.89 tokens each for 100 ktoken/s, of 2.89 positions or more."""
    (found,) = (solution := solve("tokens_per_step", **DRAFTED, throughput=100e3)).answers
    assert found.value == pytest.approx(100e3 / 256 * (8_030_261_248 + 256 * 65536 * 1000) / 3.35e12) and NO_TIME in solution.warnings[0]


def test_a_drafting_time_that_is_given_is_not_at_once_nothing():
    """1 ms beside the step without it: 7.396 ms of reads."""
    plain, drafted = (solve("step_time", **DRAFTED, **more).answers[0].value for more in ({}, {"drafting_time": "1ms"}))
    assert drafted - plain == pytest.approx(1e-3)
    rate = solve("throughput", **DRAFTED, tokens_per_step=3, drafting_time="1ms").answers[0].value
    assert rate == pytest.approx(3 * 256 / drafted)
    assert solve("compute_utilisation", **DRAFTED, drafting_time="1ms").answers[0].value == pytest.approx(
        256 * 2 * 8_030_261_248 / 1979e12 / drafted
    )


# -- the network ----------------------------------------------------------------------------------------------------

SERVED = {
    **{"hardware": "H800-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"context_length": 4989, "chips": 144, "batch": 88 * 144},
}
COUNTED = {"dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2, "expert_parallel": 144}
OUT_OF_THE_NODE = 58 * 88 * 143 * (1 - (143 / 144) ** 8) * 7168 * 3 * 136 / 143 / 50e9
"""Seconds: 58 layers of 88 tokens a chip, each to about 8 of 143 others, 136 of them behind a link of 50 GB/s; 3 bytes an element."""


def exchange(unknown, **given):
    return [text for text in warned(unknown, **given) if "exchange between experts" in text]


@in_one_test(
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
    assert "with dispatch_bytes_per_element = 1 B, combine_bytes_per_element = 2 B, expert_parallel = 144, is not counted" in text
    assert text.endswith("give these, --overlap network and --using experts.all_to_all_time_racks")
    network = {"variants": {"overlap": "network"}, "using": "experts.all_to_all_time_racks"}
    ways = ({**COUNTED, **network}, {"variants": {"overlap": "sum"}})
    counted, serial = (solve("step_time", **SERVED, **more).answers[0].value for more in ways)
    assert counted - serial == pytest.approx(OUT_OF_THE_NODE) and exchange("step_time", **SERVED, **COUNTED, **network) == []


def test_a_link_that_is_given_takes_the_place_of_those_of_the_preset():
    given = {"link_bandwidth": "40GB/s", "dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2}
    (text,) = exchange("step_time", **SERVED, **given)
    took = 58 * 88 * 143 * (1 - (143 / 144) ** 8) * 7168 * 3 / 40e9
    assert f"the exchange between experts, {took * 1e3:.3g} ms with expert_parallel = 144, is not counted" in text
    assert text.endswith("all_to_all_time_one_copy")


@in_one_test(
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


def test_a_pass_over_prompts_is_no_decode_step():
    """The exchange of a decode step says nothing of how long a pass over whole prompts takes."""
    prompts = {"hardware": "H100:fp8", "model": "Qwen3-30B-A3B", "bytes_per_element": 1, "chips": 64, "batch": 512, "context_length": 2000}
    assert exchange("step_time", **prompts) and exchange("prefill_normalised_cost", **prompts, prompt_tokens=2000) == []


DENSE = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 1, "chips": 8, "batch": 512, "context_length": 2000}
SUMS = 2 * 80 * 512 * 8192 * 2 * 2 * 7 / 8 / 450e9
"""Seconds: two sums in each of 80 layers of 512 tokens, 8192 elements of 2 bytes, of which a chip sends 2 x 7/8 at 450 GB/s."""


def sums(unknown, **given):
    return [text for text in warned(unknown, **given) if "add up in every layer" in text]


@pytest.mark.parametrize(("unknown", "more"), [("step_time", {}), ("throughput", {}), ("cost_per_token", {"chip_price": "2 USD/h"})])
def test_chips_that_share_the_layers_of_a_dense_model_add_up_what_they_make(unknown, more):
    step = (70_553_706_496 + 512 * 2000 * 2 * 80 * 8 * 128) / (8 * 3.35e12)
    (text,) = sums(unknown, **DENSE, **more)
    supposed = "allreduces_per_layer = 2 and bytes_per_activation = 2 B"
    assert f"8 chips add up in every layer, {SUMS * 1e3:.3g} ms with {supposed} over links of 450 GB/s, is not counted" in text
    assert f"takes about {1 + SUMS / step:.3g} times as long; --overlap exposed counts it" in text


RINGS = [("H100:fp8", 16, 8 * 50e9), ("H100:fp8", 12, 6 * 50e9), ("GB200-NVL72:fp8", 16, 900e9), ("H800:fp8", 16, 200e9)]


@in_one_test(("hardware", "chips", "link"), RINGS)
def test_sums_over_several_domains_go_over_all_links_between_them_and_no_faster_than_inside(hardware, chips, link):
    took = 2 * 80 * 1024 * 8192 * 2 * 2 * (chips - 1) / chips / link
    (text,) = sums("step_time", **DENSE | {"hardware": hardware, "chips": chips, "batch": 1024})
    assert f"{chips} chips add up in every layer, {took * 1e3:.3g} ms with" in text and f"over links of {link / 1e9:g} GB/s" in text


def test_sums_over_several_domains_take_as_long_as_a_warning_says_of_them():
    """Thirteen chips of two nodes, 6.5 links of 50 GB/s out of each: the time asked for was that of one ring over one of them."""
    summed = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "batch": 1024}
    for chips, link in ((16, 400e9), (13, 325e9), (12, 300e9), (8, 450e9)):
        solution = solve("tensor_parallel_time", **summed, chips=chips)
        assert solution.value == pytest.approx(2 * 80 * 1024 * 8192 * 2 * 2 * (chips - 1) / chips / link)
        assert all("heads cannot be shared evenly" in text for text in solution.warnings)
        (text,) = sums("step_time", **DENSE | summed | {"chips": chips})
        assert f"{chips} chips add up in every layer, {show('tensor_parallel_time', solution.value, 3)} with" in text
    seconds = solve("all_reduce_time", hardware="H100", chips=16, all_reduce_bytes="1 GB")
    assert seconds.value == pytest.approx(2 * 15 / 16 * 1e9 / 400e9)


def test_what_is_said_of_sums_is_what_their_equation_makes_of_it():
    counted = {"allreduces_per_layer": 2, "bytes_per_activation": 2, "link_bandwidth": "450GB/s"}
    assert solve("tensor_parallel_time", **DENSE, **counted).answers[0].value == pytest.approx(SUMS)
    assert solve("step_time", **DENSE, bytes_per_activation=4).unused == ()
    assert f"{SUMS * 2000:.3g} ms with allreduces_per_layer = 2 over" in sums("step_time", **DENSE, bytes_per_activation=4)[0]


@in_one_test(
    "more",
    [
        {"batch": 32, "context_length": 4000},
        {"chips": 1, "anyway": True},
        {"variants": {"overlap": "exposed"}, "exposed_communication_share": 0.3},
        {"efficiency": "calibrated"},
        {"model": "DeepSeek-V3", "anyway": True},
    ],
    ids=["little", "one chip", "counted as a share", "measured", "mixture"],
)
def test_sums_are_not_said(more):
    assert sums("step_time", **DENSE | more) == []


def test_sums_of_a_pass_over_prompts_are_those_of_all_its_tokens():
    """Two prompts of 8192 tokens of Llama-3.1-70B: arithmetic of 2 x 70.55e9 and of attention over 4096 tokens before a token."""
    given = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "batch": 2, "prompt_tokens": 8192}
    tokens = 2 * 8192
    took = tokens * 2 * 80 * 8192 * 2 * 2 * 7 / 8 / 450e9
    arithmetic = tokens * (2 * 70_553_706_496 / 1979e12 + 2 * 2 * 80 * 64 * 128 * 4096 / 989e12) / 8
    (text,) = sums("prefill_compute_time", **given)
    assert f"8 chips add up in every layer, {took * 1e3:.3g} ms with" in text
    assert f"the pass takes about {1 + took / arithmetic:.3g} times as long; give an mfu that was measured" in text
    assert sums("time_to_first_token", **{**given, "batch": 9}, prefill_batch=2) == [text], "whatever decodes beside"
    assert "batch" in solve("time_to_first_token", **{**given, "batch": 9}, prefill_batch=2).unused, "and so it is not used"


def test_sums_of_a_pass_over_prompts_are_said_from_a_tenth_on():
    """On four H100 in bf16 what chips add up takes 24 % of the arithmetic, which no way to add up a step counts; on two 8 %."""
    given = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "prompt_tokens": 4096}
    (text,) = sums("time_to_first_token", **given, chips=4)
    assert "the pass takes about 1.24 times as long" in text
    assert sums("time_to_first_token", **given, chips=2, anyway=True) == []


@in_one_test("more", [{"chips": 1}, {"mfu": 0.5}, {"efficiency": "calibrated"}, {"model": "DeepSeek-V3"}])
def test_sums_of_a_pass_over_prompts_are_not_said(more):
    given = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 8, "batch": 2, "prompt_tokens": 8192, "anyway": True}
    assert sums("prefill_compute_time", **given | more) == []


# -- the rate of attention ------------------------------------------------------------------------------------------

RUBIN = {"model": "DeepSeek-V3", "hardware": "Rubin-VR200:fp4", "chips": 16, "batch": 1500, "bytes_per_element": 1}


def attending(unknown, **given):
    return [text for text in warned(unknown, **given) if "bf16 rate" in text]


def test_a_chip_of_which_only_the_narrow_rate_is_known_is_said_to_attend_as_fast():
    (text,) = attending("attention_time", **RUBIN, context_length=32_000)
    told = "hardware.csv has no bf16 rate of Rubin-VR200, and attention is taken to run as fast as fp4"
    assert text == f"{told}: at 0.25 of that, as on most chips, attention_time is 4 times as large; give attention_rate_ratio"
    slow = solve("attention_time", **RUBIN, context_length=32_000, attention_rate_ratio=0.25).answers[0].value
    assert slow == pytest.approx(4 * solve("attention_time", **RUBIN, context_length=32_000).answers[0].value)


def test_what_is_said_of_the_rate_of_attention_is_of_the_whole_step():
    """At 128k reads of the cache, 19 ms, and attention at the rate of weights, 6 ms: at a quarter of it attention takes 23 ms and more."""
    given = {**RUBIN, "chips": 128, "context_length": 128_000, "mfu": 0.5}
    slow, fast = (solve("step_time", **given, **more).answers[0].value for more in ({"attention_rate_ratio": 0.25}, {}))
    (text,) = attending("step_time", **given)
    assert f"step_time is {slow / fast:.3g} times as large" in text


@in_one_test(
    "more",
    [{"hardware": "B200-SXM:fp4"}, {"attention_rate_ratio": 1}, {"hardware": None, "peak_flops": 35e15}, {"hardware": "H100-SXM:bf16"}],
    ids=["known", "given", "no chip", "bf16"],
)
def test_the_rate_of_attention_is_not_said(more):
    assert attending("attention_time", **{**RUBIN, "context_length": 32_000} | more) == []


V3_PROMPTS = {"hardware": "H200-SXM:fp8", "model": "DeepSeek-V3", "chips": 16, "mfu": 0.4, "prompt_tokens": 32_000}
IN_BF16 = "attention is taken to run in bf16, at 0.5 of the fp8 rate; in fp8 "


def test_attention_in_wider_numbers_than_weights_is_said_with_what_comes_of_their_own():
    """Half of the prefill of 32k tokens is attention."""
    found, alike = solve("prefill_time", **V3_PROMPTS), solve("prefill_time", **V3_PROMPTS, attention_rate_ratio=1)
    assert found.value / alike.value == pytest.approx(1.52, abs=0.01) and not alike.warnings
    assert found.warnings == (f"{IN_BF16}prefill_time is 389 ms: give attention_rate_ratio=1",)
    (text,) = [
        text for text in warned("chips", **{k: v for k, v in V3_PROMPTS.items() if k != "chips"}, prefill_time=0.5912) if IN_BF16 in text
    ]
    assert text == f"{IN_BF16}prefill_time is 389 ms at chips = 16: give attention_rate_ratio=1"


@in_one_test(
    ("unknown", "more"),
    [
        ("prefill_time", {"prompt_tokens": 1000}),
        ("prefill_time", {"hardware": "H200-SXM:bf16"}),
        ("prefill_time", {"attention_rate_ratio": 0.5}),
        ("step_time", {"batch": 8, "context_length": 4000, "bytes_per_element": 1}),
    ],
)
def test_attention_that_moves_little_or_runs_as_somebody_said_is_not_said(unknown, more):
    assert not any(text.startswith("attention is taken") for text in warned(unknown, **V3_PROMPTS | more))


SMALL = {"hardware": "RTX-4090:fp8", "model": "Qwen3-30B-A3B", "chips": 8, "batch": 1024}
"""32 GB/s and no word of how many chips are behind it: 48 layers of 128 tokens a chip, each to 7 (1 - (7/8)^8) others, 2048 elements."""
NODES = {"hardware": "H20:fp8", "model": "DeepSeek-V3", "chips": 64, "batch": 8192, "kv_replication": 1}
"""Nodes of 8, and no word of the link out of them: 58 layers of 128 tokens a chip, each to 63 (1 - (63/64)^8) others, 7 of 8 outside."""


@pytest.mark.parametrize(
    ("given", "lacking", "seconds", "way"),
    [
        (SMALL, {"scale_up_size": 8}, 48 * 128 * 7 * (1 - (7 / 8) ** 8) * 2048 * 3 / 32e9, "one_rack"),
        (NODES, {"scale_out_link_bandwidth": 50e9}, 58 * 128 * 63 * (1 - (63 / 64) ** 8) * 7168 * 3 * 56 / 63 / 50e9, "racks"),
        (
            {**NODES, "hardware": "MI300A:fp8"},
            {"link_bandwidth": 50e9},
            58 * 128 * 63 * (1 - (63 / 64) ** 8) * 7168 * 3 / 50e9,
            "one_copy",
        ),
    ],
    ids=["size of a domain", "link out of it", "both links"],
)
def test_a_link_that_the_table_lacks_is_supposed_and_said(given, lacking, seconds, way):
    """The figure is that of the same question with what was supposed given, which is then no given that is not used."""
    given = {"bytes_per_element": 1, "context_length": 500, **given}
    step = solve("step_time", **given).answers[0].value
    (silent,) = exchange("step_time", **given)
    said = solve("step_time", **given, **lacking)
    (text,) = [one for one in said.warnings if "exchange between experts" in one]
    for one in (silent, text):
        assert f"{seconds * 1e3:.3g} ms with " in one and f"about {1 + seconds / step:.3g} times as long" in one
        assert one.endswith(f"experts.all_to_all_time_{way}")
    (name,) = lacking
    assert f", {name} = " in silent and f"{name} = " not in text and said.unused == ()


@pytest.mark.parametrize("given", [SERVED, {**SMALL, "bytes_per_element": 1, "context_length": 500}], ids=["many nodes", "one"])
def test_what_is_advised_comes_to_a_figure_that_was_said(given):
    step = solve("step_time", **given).answers[0].value
    (text,) = exchange("step_time", **given)
    shared = {**COUNTED, "expert_parallel": min(given["chips"], 144)}
    advised = solve("step_time", **given, **shared, using=text.split()[-1], variants={"overlap": "network"}).answers[0].value
    assert f"and {advised / step:.3g} times where nothing overlaps" in text
    (serial,) = exchange("step_time", **given, variants={"overlap": "sum"})
    assert "where nothing overlaps" not in serial


def test_where_all_chips_are_in_one_domain_no_link_leads_out():
    """A pod of 256 chips has none: 58 layers of 16 tokens a chip, each to 255 (1 - (255/256)^8) others, at 200 GB/s."""
    pod = {"hardware": "TPU-v5e:int8", "model": "DeepSeek-V3", "chips": 256, "batch": 4096}
    seconds = solve("all_to_all_time", **pod, **COUNTED | {"expert_parallel": 256}, using="experts.all_to_all_time_one_rack")
    assert seconds.answers[0].value == pytest.approx(58 * 16 * 255 * (1 - (255 / 256) ** 8) * 7168 * 3 / 200e9)
    assert seconds.unused == ()


@pytest.mark.parametrize("unknown", ["idle_fraction", "token_latency", "throughput"])
def test_hops_between_stages_that_take_no_time_are_said(unknown):
    given = {"pipeline_stages": 4, "step_time": "20ms", "batch": 64}
    assert "hops between 4 stages are taken to take no time" in warned(unknown, **given)[0]
    assert warned(unknown, **given, hop_latency="2.5ms") == () == warned(unknown, **{**given, "pipeline_stages": 1})


@in_one_test(
    ("unknown", "given", "said"),
    [
        ("chips", {"batch": 64}, "chips are those of one stage: 4 stages of 3 have 12"),
        ("chips", {"batch": 64, "step_time": "<=50ms"}, "chips are those of one stage: 4 stages of 3 have 12"),
        ("step_time", {"batch": 8, "chips": 2}, "chips are those of one stage: 4 stages of 2 have 8"),
        ("batch", {"chips": 2}, "chips are those of one stage: 4 stages of 2 have 8"),
        ("kv_bytes_per_sequence", {"chips": 2}, None),
    ],
)
def test_chips_of_several_stages_are_counted_together(unknown, given, said):
    """140 GB of weights and 4 x 64 caches of 2.684 GB take 2.6 chips of 80 GB in each of 4 stages."""
    served = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "context_length": 8192, "bytes_per_element": 2}
    found = solve(unknown, **served, **given, pipeline_stages=4)
    assert dict(zip(found.kinds, found.warnings, strict=True)).get("chips_of_one_part") == said


TRAINED = {"hardware": "8xH100:bf16", "model": "Llama-3.1-8B", "gradient_bytes_per_param": 2, "optimizer_bytes_per_param": 12}


def test_chips_beside_copies_in_training_are_said_to_be_those_of_one():
    """8.03B parameters of 16 bytes on 8 x 8 chips are 2.01 GB each; on the 8 that were meant, a copy on each, 16.06 GB."""
    sharded = {**TRAINED, "using": "training.state_bytes_zero_3", "data_parallel": 8}
    said = "chips are those of one copy of the model: 8 copies of 8 have 64; where 8 are all there are, give the 1 of a copy"
    solution = solve("training_state_bytes_per_chip", **sharded)
    assert solution.value == 16 * 8_030_261_248 / 64 and solution.warnings[0] == said
    of_one = {**sharded, "hardware": "H100:bf16"}
    assert solve("training_state_bytes_per_chip", **of_one, chips=1).value == 2 * 8_030_261_248
    staged = solve("training_state_bytes_per_chip", **of_one, chips=4, pipeline_stages=3).warnings[0]
    assert staged == "chips are those of a stage of one copy: 8 copies of 12 have 96"


def test_a_demand_of_training_lacks_what_it_is_made_of_and_is_not_the_capacity_of_a_chip():
    for more in ({}, {"data_parallel": 8}):
        reason = solve("training_memory_per_chip", hardware="8xH100:bf16", model="Llama-3.1-8B", **more).reason
        assert reason.code == "missing_givens" and {"gradient_bytes_per_param", "optimizer_bytes_per_param"} <= {*reason.missing}
    assert solve("memory_demand", hardware="8xH100:bf16", model="Llama-3.1-8B").reason.code == "missing_givens"
    (room,) = solve("training_memory_per_chip", hardware="H100").answers
    assert room.ends == (0, 80e9)


def test_copies_of_a_cache_are_those_of_the_catalogue():
    """8 KV heads on 32 chips: four copies; a latent on 16 chips: sixteen. The step is that with the copies counted."""
    for model, chips, row, copies in (("Llama-3-70B", 32, "heads", 4), ("DeepSeek-V3", 16, "latents", 16)):
        given = {"hardware": "H200:fp8", "model": model, "bytes_per_element": 2, "context_length": "8k", "chips": chips, "batch": 64}
        (text,) = [text for text in warned("step_time", **given) if "not sharded by sequences" in text]
        plain, named, typed = (
            solve("step_time", **given, **more).answers[0].value
            for more in ({}, {"using": f"memory.kv_copies_of_{row}"}, {"kv_replication": copies})
        )
        assert named == typed and f"lies up to {copies} times" in text and f"up to {named / plain:.3g} times as long" in text


COVERED = [name for name in model_names() if architecture(name).kv_formula]
LATENT = ("mla", "mla_hybrid", "mla_indexed", "compressed")


@in_one_test("name", COVERED)
def test_tensor_parallelism_copies_the_cache_of_every_model_that_ships(name):
    """A cache divides over its KV heads, and one of latents or compressed entries over one chip."""
    row = architecture(name)
    shards = 1 if row.kv_formula in LATENT else row.kv_heads
    for chips in (2, 8, 16):
        assert solve("kv_replication", model=name, tp=chips).value == max(1, chips / shards)
    given = {"model": name, "context_length": 1e5, "batch": 4, "bytes_per_element": 1}
    once, found = (solve("kv_cache_bytes", **given, **more) for more in ({"kv_replication": 1}, {"tp": 8}))
    assert found.value == pytest.approx(max(1, 8 / shards) * once.value)
    assert any("lies" in text for text in found.warnings) == (shards < 8)


def test_kv_heads_that_chips_do_not_divide_are_said():
    """10 KV heads over 8 chips: two on some of them. The 40 query heads would divide."""
    given = {"hardware": "H100:bf16", "model": "Phi-4", "context_length": 8000}
    assert any("10 KV heads cannot be shared evenly by 8 chips" in text for text in warned("batch", **given, tp=8))
    assert not any("shared evenly" in text for text in warned("batch", **given, tp=2))


def test_no_cache_is_copied_on_more_chips_than_there_are_query_heads():
    """128 heads on 144 chips: 128 copies; 64 over 8 KV heads on 128 chips: 8."""
    for model, chips, copies, heads in (("DeepSeek-V3", 144, 128, 128), ("Llama-3-70B", 128, 8, 64)):
        given = {"hardware": "H200:fp8", "model": model, "bytes_per_element": 2, "context_length": "8k", "chips": chips, "batch": 128}
        (text,) = [text for text in warned("step_time", **given) if "not sharded by sequences" in text]
        plain, typed = (solve("step_time", **given, **more).answers[0].value for more in ({}, {"kv_replication": copies}))
        assert f"lies up to {copies} times on the chips, under tensor parallelism over {heads}, and" in text
        assert text.endswith(f"up to {typed / plain:.3g} times as long; give kv_replication")


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
    (text,) = [text for text in warned("weight_time", **V3, **ROUTER, batch=batch) if "whole number" not in text]
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
    with pytest.raises(WrongValue, match="active_experts = 9: no more than experts = 8"):
        solve("weight_time", **V3, experts=8, active_experts=9, batch=1)


def test_more_active_than_total_parameters_are_refused():
    with pytest.raises(WrongValue, match="active_params = 500B: no more than total_params = 400B"):
        solve("step_time", **{**STEP, "total_params": 4e11, "active_params": 5e11}, batch=8)
    with pytest.raises(WrongValue, match="active_params = 800B: no more than total_params = 671B"):
        solve("weight_bytes", hardware="H200:fp8", model="DeepSeek-V3", active_params=8e11)


@pytest.mark.parametrize("experts", [1, 8])
def test_a_router_that_uses_all_experts_reads_all_weights(experts):
    solution = solve("weight_time", **V3, experts=experts, active_experts=experts, batch=1)
    assert solution.answers[0].value == pytest.approx(671e9 / (8 * 4.8e12)) and solution.warnings == ()


def test_less_than_one_sequence_is_no_batch():
    backwards = solve("batch", **STEP, **ROUTER, step_time=0.5e-3).reason
    assert backwards.code == "requirement_violated" and backwards.message.startswith(
        "a batch is one sequence at least: experts.touched_experts requires batch >= 1, but batch would be 0."
    )


@pytest.mark.parametrize("model", ["Llama-3-70B", "DeepSeek-V3"])
def test_less_than_one_sequence_is_refused_as_a_batch_of_any_model(model):
    given = {"model": model, "hardware": "H200:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4000}
    for batch in (0.5, "0.5..4", "0.5,2"):
        with pytest.raises(ValueError, match=r"batch = 0\.5: a batch is one sequence at least"):
            solve("step_time", **given, batch=batch)
    assert solve("step_time", **given, batch=1).answers


def test_a_measured_read_below_that_of_even_experts_is_no_imbalance():
    reason = solve("expert_imbalance", **V3, **ROUTER, batch=64, weight_time=5e-3).reason
    assert reason.code == "no_solution" and "expert_imbalance >= 1" in reason.message


# -- blocks of a mixture --------------------------------------------------------------------------------------------


def test_a_large_batch_is_found_where_nothing_overlaps():
    """What a batch of tens of thousands touches is all: 25 ms less the read of all weights, over what a sequence takes."""
    given = {**STEP, **ROUTER, "chips": 64, "context_length": 500, "variants": {"overlap": "sum"}}
    by_hand = (0.025 - 671e9 / (64 * 4.8e12)) / (2 * 37e9 / (64 * 1.979e15) + 500 * 35136 / (64 * 4.8e12))
    assert solve("batch", **given, step_time=25e-3).answers[0].value == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.slow
def test_a_range_of_answers_that_were_searched_for_is_not_out_of_force():
    solution = solve("batch", **STEP, **ROUTER, step_time="10ms..12ms")
    (span,) = solution.answers
    ends = [solve("batch", **STEP, **ROUTER, step_time=end).answers[0].value for end in (10e-3, 12e-3)]
    assert [span.low, span.high] == pytest.approx(ends, rel=1e-9) and span.regime is None
    assert "throughout where memory_time >= compute_time" in solution.assumptions


# -- what a model was published for ---------------------------------------------------------------------------------


def beyond(unknown, **given):
    return [text for text in warned(unknown, **given) if text.startswith("longer than the model's context")]


CACHE = {"model": "Llama-3-8B", "bytes_per_element": 2}
"""Published for 8,192 tokens; 131,072 bytes a token."""


@pytest.mark.parametrize(("context", "said"), [(8192, []), (8193, ["8193"]), ("200k", ["200k"])])
def test_a_context_beyond_that_of_the_model_is_said(context, said):
    texts = beyond("kv_bytes_per_sequence", **CACHE, context_length=context)
    expected = "longer than the model's context: {} tokens, and Llama-3-8B was published for 8192 tokens"
    assert texts == [expected.format(length) for length in said]


@pytest.mark.parametrize(
    ("unknown", "given", "length"),
    [
        ("prefill_attention_factor", {"prompt_tokens": 9000}, "9000"),
        ("context_length", {"prompt_tokens": 8000, "output_tokens": 400}, "8400"),
        ("context_length", {"kv_bytes_per_sequence": "2GB"}, "15.26k"),
    ],
)
def test_so_is_one_that_a_request_comes_to_or_that_is_asked_for(unknown, given, length):
    """The mean context of 8,000 and 400 tokens is 8,200, and the last token sees 8,400. 2 GB are 15,259 tokens of 131,072 B."""
    using = {"using": "serving.mean_decode_context"} if "output_tokens" in given else {}
    (text,) = beyond(unknown, **CACHE, **given, **using)
    assert text == f"longer than the model's context: {length} tokens, and Llama-3-8B was published for 8192 tokens"


def test_the_longest_context_that_fits_is_held_against_that_of_the_model():
    """80 GB less 8.03 GB of weights over 131,072 bytes a token: 549 k tokens of one sequence, 6,866 of each of 80."""
    chip = {**CACHE, "hardware": "H100:fp8", "chips": 1}
    (text,) = beyond("context_length", **chip, sequences_in_flight=1)
    assert int((80e9 - 8_030_261_248) / 131072) == 549085 and "549.1k tokens" in text
    assert (
        int((80e9 - 8_030_261_248) / 131072 / 60) == 9151 and "9151 tokens" in beyond("context_length", **chip, sequences_in_flight=60)[0]
    )
    assert beyond("context_length", **chip, sequences_in_flight=80) == []


def test_a_model_whose_context_was_not_read_has_none_to_exceed():
    with reading(edited("Llama-3-8B", max_context="")):
        assert beyond("kv_bytes_per_sequence", **CACHE, context_length=10**6) == []


# -- narrow experts beside wider weights ----------------------------------------------------------------------------


def edited(model, **cells):
    text = shipped.content("architectures.csv").decode()
    rows = [row | cells if row["model"] == model else row for row in csv.DictReader(io.StringIO(text))]
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return shipped.read().edited(architectures=out.getvalue())


def widths(unknown, **given):
    return [text for text in warned(unknown, **given) if text.startswith("weights beside the experts")]


OSS = {"model": "gpt-oss-120b", "hardware": "H100:bf16", "chips": 1, "batch": 1, "context_length": 1000, "bytes_per_element": 2}
AT_THE_MEAN = {**OSS, "using": "experts.weight_time_touched"}


OSS_READ = (17 / 32 * (117e9 - 5.1e9) / (1 - 4 / 128) * 4 / 128 + 2 * (117e9 - (117e9 - 5.1e9) / (1 - 4 / 128))) / 5.1e9
"""Bytes of a weight that one sequence reads: 4 of 128 experts in 17/32 B, the rest in 2 B."""


def test_a_step_that_reads_few_narrow_experts_reads_wider_weights_than_the_mean():
    """gpt-oss-120b, one sequence: 4 of 128 experts of 115.5e9 in 17/32 B, and 1.491e9 weights in 2 B; the mean is 0.550 B."""
    routed = (117e9 - 5.1e9) / (1 - 4 / 128)
    shared = 117e9 - routed
    mean = (17 / 32 * routed + 2 * shared) / 117e9
    times = (17 / 32 * routed * 4 / 128 + 2 * shared) / (mean * 5.1e9)
    (weight,) = widths("weight_time", **AT_THE_MEAN)
    assert weight == (
        "weights beside the experts take 2 B each, the mean of all is 0.55 B: with the few experts that are read here,"
        f" it takes {times:.3g} times as long"
    )
    kv = solve("kv_time", **OSS).answers[0].value
    weights = solve("weight_time", **AT_THE_MEAN).answers[0].value
    assert f"{(times * weights + kv) / (weights + kv):.3g} times" in widths("step_time", **AT_THE_MEAN)[0]
    assert solve("weight_time", **OSS).answers[0].value == pytest.approx(times * weights, rel=1e-12)


@pytest.mark.parametrize("overlap", ["exposed", "sum", "kv_plus_max"])
def test_wider_weights_lengthen_a_step_as_its_parts_are_added_up(overlap):
    """The same question with all weights as wide as those that are read are on average."""
    given = {**AT_THE_MEAN, "variants": {"overlap": overlap}, **({"exposed_communication_share": 0.4} if overlap == "exposed" else {})}
    step, wide = (solve("step_time", **given, **more).answers[0].value for more in ({}, {"bytes_per_weight": OSS_READ, "anyway": True}))
    assert f"it takes {wide / step:.3g} times as long" in widths("step_time", **given)[0]


def test_wider_weights_lengthen_only_what_is_read_of_them():
    """At 60,000 tokens the cache is a part of what is read, and no wider for the weights."""
    long = {**AT_THE_MEAN, "context_length": 60_000}
    weights = solve("weight_time", **long).answers[0].value
    kv = solve("kv_time", **{name: value for name, value in long.items() if name != "using"}).answers[0].value
    both = {"expert_bytes_per_weight": 17 / 32, "shared_bytes_per_weight": 2}
    wide = OSS_READ / solve("bytes_per_weight", model="gpt-oss-120b", **both).answers[0].value
    assert widths("memory_time", **long)[0].endswith(f" it takes {(wide * weights + kv) / (weights + kv):.3g} times as long")


def test_the_experts_of_a_chunk_are_read_as_narrow_as_they_are():
    """With 2,000 tokens on board all experts are read, and the weights are as wide as the mean."""
    assert widths("step_time", **AT_THE_MEAN) and widths("mixed_step_time", **AT_THE_MEAN, prefill_chunk=1)
    assert widths("mixed_step_time", **AT_THE_MEAN, prefill_chunk=2000) == []


def test_a_latency_that_takes_the_mean_of_all_weights_says_how_much_wider_those_of_one_sequence_are():
    """What it reads is all of the grid's latency but the hops, which are nothing here."""
    of_grid = {"model": "gpt-oss-120b", "hardware": "H100:bf16", "chips": 4, "hop_latency": 1e-12, "allreduces_per_layer": 1}
    wide = OSS_READ / solve("weight_bytes", **OSS).given["bytes_per_weight"]
    assert f"it takes {wide:.3g} times as long" in widths("grid_latency", **of_grid)[0]
    assert widths("latency_floor", model="gpt-oss-120b", hardware="H100:bf16", chips=1) == []


@in_one_test(
    "given",
    [
        OSS,
        {**AT_THE_MEAN, "batch": 64, "chips": 2},
        {**OSS, "bytes_per_weight": 2, "anyway": True},
        {**OSS, "model": "DeepSeek-V3", "anyway": True},
        {**OSS, "model": "Llama-3-8B"},
    ],
    ids=["each at its own", "most experts are read", "a type that was given", "one type", "dense"],
)
def test_nothing_is_said_of_weights_that_are_read_at_their_mean(given):
    assert widths("step_time", **given) == []


# -- what another variant would have taken --------------------------------------------------------------------------

STAGES = {"pipeline_stages": 4, "training_microbatches": 8}


@pytest.mark.parametrize("using", [(), ("pipeline.interleaved_bubble",)])
def test_a_given_that_only_one_variant_takes_chooses_it(using):
    """4 stages and 8 microbatches wait 3 of 11; with two virtual stages each 3 of 19."""
    solution = solve("bubble_fraction", **STAGES, virtual_stages=2, using=using)
    assert solution.answers[0].value == pytest.approx(3 / 19) and solution.warnings == solution.unused == ()


def test_a_variant_that_is_named_stays_whatever_was_given():
    solution = solve("bubble_fraction", **STAGES, virtual_stages=2, variants={"bubble_fraction": "contiguous"})
    assert solution.answers[0].value == pytest.approx(3 / 11) and solution.unused == ("virtual_stages",)


def test_variants_that_take_the_same_are_told_together():
    states = {**TRAINED, "data_parallel": 8}
    rows = ", ".join(f"training.state_bytes_zero_{stage}" for stage in (1, 2, 3))
    said = f"training.state_bytes was used; {rows} take data_parallel: name one with --using"
    assert said in warned("training_state_bytes_per_chip", **states)


def test_nothing_is_told_of_a_variant_that_lacks_other_figures():
    assert warned("bubble_fraction", **STAGES, head_dim=128) == ()
    rate = {"active_params": 1e9, "pretrain_tokens": 1e12}
    assert warned("pretrain_flops", **rate, training_sequence_length=4096) == ()
    both = solve("pretrain_flops", **rate, training_sequence_length=4096, attention_flops_per_pair=1e6)
    assert both.unused == () and any("training.pretrain_cost_attention" in row for row in both.equations)


def test_a_sweep_says_it_once():
    swept = solve("training_state_bytes_per_chip", **TRAINED | {"hardware": "H100:bf16"}, chips=[4, 8], data_parallel=8, head_dim=128)
    assert swept.unused == ("head_dim",) and sum("zero_1" in text for text in swept.warnings) == 1


# -- prefill and prices --------------------------------------------------------------------------------------------

PREFILL = {"model": "Llama-3.1-70B", "hardware": "H100:fp8", "chips": 8, "batch": 1}
WITHOUT_PROMPT = "attention over the prompt is left out, which long prompts multiply; give prompt_tokens"


def beside_sums(**given):
    others = ("add up in every layer", "attention is taken to run in bf16")
    return tuple(text for text in warned("prefill_compute_time", **given) if not any(other in text for other in others))


def test_attention_of_prefill_is_said_to_be_left_out_where_no_prompt_is_known():
    assert warned("prefill_rate_per_chip", **PREFILL) == (WITHOUT_PROMPT,)
    assert warned("rematerialisation_cost", **PREFILL, chip_price="2 USD/h") == (WITHOUT_PROMPT,)
    for known in ("prompt_tokens", "context_length"):
        said = warned("prefill_rate_per_chip", **PREFILL, **{known: "128k"}, attention_rate_ratio=1)
        assert all("add up in every layer" in text for text in said)
    assert beside_sums(**PREFILL, new_tokens_per_pass="128k") == ()


def test_attention_of_prefill_is_said_to_be_left_out_for_want_of_heads():
    headless = {"active_params": 70e9, "kv_heads": 8, "peak_flops": 1e15, "chips": 8, "batch": 1, "new_tokens_per_pass": "128k"}
    assert warned("prefill_compute_time", **headless) == (WITHOUT_PROMPT.replace("prompt_tokens", "query_heads"),)


def test_a_pass_behind_a_context_is_not_silently_a_whole_prompt():
    """Llama-3.1-70B, 2k tokens behind 126k: 1 + .03745 r (126 + 1) over 1 + .03745 r: r = 1979/989 of bf16 attention."""
    ratio = 2 * 2 * 80 * 64 * 128 * 1000 / (2 * 70_553_706_496) * 1979 / 989
    given = {**PREFILL, "new_tokens_per_pass": "2k"}
    (text,) = beside_sums(**given, context_length="126k")
    assert f"up to {(1 + 127 * ratio) / (1 + ratio):.3g} times" in text and "give cached_tokens" in text
    assert solve("prefill_compute_time", **given, context_length="126k").unused == ()
    assert beside_sums(**given, context_length="3k") == ()
    assert beside_sums(**given, context_length="128k", cached_tokens="126k") == ()
    assert beside_sums(**given, context_length="128k", prompt_tokens="128k") == ()


def test_a_pass_behind_a_context_is_what_it_is_said_to_be_in_windows_too():
    """Windows meet no more behind a context than they hold: what is said is what the same pass comes to with cached_tokens."""
    given = {**PREFILL, "model": "Gemma-3-27B", "new_tokens_per_pass": "2k"}
    alone = solve("prefill_compute_time", **given).answers[0].value
    behind = solve("prefill_compute_time", **given, cached_tokens="120k").answers[0].value
    (text,) = beside_sums(**given, context_length="120k")
    assert f"up to {behind / alone:.3g} times the arithmetic" in text


READS = "this is arithmetic alone: with the weights that it has to read, the pass takes {:.3g} times as long"


def test_a_short_prompt_waits_for_the_weights():
    """Llama-3.1-8B on one H100: 8 GB at 3.35 TB/s, against 2 x 8.03e9 FLOP and attention of 2 x 32 x 32 x 128 r a token and its place."""
    given = {"model": "Llama-3.1-8B", "hardware": "H100:fp8", "chips": 1, "batch": 1}
    factor = 1 + 2 * 2 * 32 * 32 * 128 * 100 / 2 / (2 * 8_030_261_248) * 1979 / 989.5
    arithmetic = 100 * 2 * 8_030_261_248 / 1.979e15 * factor
    assert warned("prefill_compute_time", **given, prompt_tokens=100) == (READS.format(8_030_261_248 / 3.35e12 / arithmetic),)
    assert warned("prefill_compute_time", **given, prompt_tokens=500) == ()
    assert warned("prefill_compute_time", **{**given, "batch": 10}, prompt_tokens=100) == ()
    # 0.7209 of the bandwidth and 0.6119 of the peak, each the middle of what was measured of dense models.
    (measured,) = warned("prefill_compute_time", **given, prompt_tokens=100, efficiency="calibrated")
    assert measured == f"at mfu = 0.6119: {READS.format(8_030_261_248 / 3.35e12 / arithmetic * 0.61185 / 0.72085)}"
    (text,) = warned("prefill_compute_time", **given, prompt_tokens=500, variants={"overlap": "sum"})
    assert text.startswith("this is arithmetic alone")


def test_a_prompt_that_is_asked_for_is_the_pass_that_is_spoken_of():
    given = {"model": "Llama-3.1-8B", "hardware": "H100:fp8", "chips": 1, "batch": 1}
    forth = solve("prefill_compute_time", **given, prompt_tokens=100)
    back = solve("prompt_tokens", **given, prefill_compute_time=forth.answers[0].value)
    assert back.answers[0].value == pytest.approx(100) and back.warnings == forth.warnings != ()


def test_a_short_prompt_waits_for_the_experts_of_its_tokens():
    """DeepSeek-V3 on 16 H100: of 671e9 weights all but 654.5e9 (31/32)^500, for 500 tokens of 74 GFLOP and attention at half of fp8."""
    routed = (671e9 - 37e9) / (1 - 8 / 256)
    read = (671e9 - routed * (1 - 8 / 256) ** 500) / 3.35e12
    attention = 2 * 61 * 128 * 320 * 500 / 2 * 1979 / 989.5
    assert warned("prefill_compute_time", **H100S, batch=1, prompt_tokens=500)[0] == READS.format(
        read / (500 * (2 * 37e9 + attention) / 1.979e15)
    )


@pytest.mark.parametrize(
    ("unknown", "more", "then"),
    [
        ("sequences_in_flight", {}, "sequences_in_flight is 2"),
        ("batch", {}, "batch is 2"),
        ("context_length", {"sequences_in_flight": 8}, "context_length is 1103 tokens"),
    ],
)
def test_what_fits_where_nothing_is_left_for_activations_is_said(unknown, more, then):
    """70.55 of 80 GB are weights: 9.45 GB are 6.53 times the 1.45 GB that nine tenths leave, of 163,840 bytes a token."""
    given = {"model": "Llama-3.1-70B", "hardware": "H100:fp8", "bytes_per_element": 1, **more}
    given |= {} if unknown == "context_length" else {"context_length": 4000}
    (text,) = warned(unknown, **given, chips=1)
    assert text == (
        "weights and caches take all of the memory: with a tenth of it left for activations and buffers"
        f", caches have 6.53 times less room, and then {then}; give reserved_share=0.1"
    )
    assert "no cache fits" in warned(unknown, **given, chips=1, hbm_capacity="75GB")[0]
    assert warned(unknown, **given, chips=2) == () == warned(unknown, **given, chips=1, reserved_share=0.1)


def test_an_owned_chip_that_never_waits_is_said_to():
    owned = {"chip_capex": 30000, "depreciation_time": "28000 h", "chip_power": 1000}
    owned |= {"power_usage_effectiveness": 1.2, "electricity_price": 2e-8}
    (text,) = warned("chip_price", **owned)
    assert text.startswith("the price is that of a second in use") and text.endswith("give fleet_utilisation")
    assert warned("chip_price", **owned, fleet_utilisation=0.5) == ()


# -- one of a rack ---------------------------------------------------------------------------------------------------

RACK = {"hardware": "GB300-NVL72:fp8", "model": "Llama-3.1-70B", "batch": 8, "context_length": 1000, "bytes_per_element": 1}


def test_a_chip_that_is_named_for_its_rack_is_one_of_it():
    assert "chips is not given: this is of one chip, and a rack has 72; for all of them give chips=72" in warned("step_time", **RACK)
    assert not any("rack" in said for said in warned("step_time", **RACK, chips=1))
    assert not any("rack" in said for said in warned("step_time", **{**RACK, "hardware": "H200-SXM:fp8"}))
    assert not any("rack" in said for said in warned("sweep_time", hardware="GB300-NVL72:fp8")), "no chips are spoken of"


# -- at the peak, and without prompts ---------------------------------------------------------------------------------


def test_a_training_run_at_the_peak_is_said_to_be_one():
    run = {"active_params": 37e9, "pretrain_tokens": 15e12, "chips": 2048, "peak_flops": 1e15}
    assert any("which no run sustains" in said for said in warned("training_time", **run))
    assert not any("which no run sustains" in said for said in warned("training_time", **run, mfu=0.4))


@in_one_test(
    ("unknown", "given"), [("training_time", {"pretrain_tokens": 15e12}), ("pretrain_tokens", {"training_time": "30d"}), ("mfu", None)]
)
def test_what_is_sustained_in_serving_is_said_to_be_none_of_training(unknown, given):
    """Asked back from the days of a run, the tokens took the mfu of decode."""
    run = {"active_params": 37e9, "training_chips": 2048, "peak_flops": 1e15, "efficiency": "calibrated"}
    found = solve(unknown, **run, **(given or {"pretrain_tokens": 15e12, "training_time": "30d"}))
    said = [text for text in found.warnings if text.endswith("is of serving: the table has no run of training")]
    assert len(said) == (1 if given else 0) and found.spans is None and "mbu" not in found.given


def test_a_rate_of_requests_that_leaves_prompts_out_says_so():
    served = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8, "batch": 16, "output_tokens": 100, "bytes_per_element": 2}
    assert any("chips of their own" in said for said in warned("requests_per_second", **served, prompt_tokens=32000))
    assert not any("chips of their own" in said for said in warned("requests_per_second", **served, context_length=32000))


# -- fleets ---------------------------------------------------------------------------------------------------------

FLEET = {"throughput": 5480, "output_tokens": 500, "chips": 4, "chip_price": 6.5e-4, "deployment_time": 2_592_000}
"""A replica of four chips costs 6,739 USD in 30 days, and finishes 10.96 requests a second."""


def test_a_part_of_a_replica_on_the_way_is_said_with_what_to_give_for_whole_ones():
    budget = {name: value for name, value in FLEET.items() if name != "deployment_time"} | {"fleet_cost": 67392}
    solution = solve("deployment_time", **budget, fleet_throughput=50_000)
    assert solution.value == pytest.approx(67392 / (50_000 / 5480 * 4 * 6.5e-4))
    assert solution.warnings == ("replicas = 9.124 on the way: of whole ones, give replicas=10 in place of the rate of all",)
    assert solve("deployment_time", **budget, replicas=10).value == pytest.approx(30 * 86400)
    assert not any("whole one" in text for text in warned("deployment_time", **budget, fleet_throughput=54_800))


# -- prompts beside a rate of requests ---------------------------------------------------------------------------------


def test_a_rate_of_requests_says_what_prompts_on_the_same_chips_would_take():
    """By hand: .905 s of prefill a prompt on 8 H100 at half of their peak, at 9 a second, is 8.1 times as long as there is.

    With as many times the chips, prompts and outputs on the same ones keep up with the rate.
    """
    asked = {"model": "Llama-3.1-70B", "hardware": "H100:fp8", "batch": 16, "prompt_tokens": 32000, "output_tokens": 200, "mfu": 0.5}
    rate = solve("requests_per_second", **asked, chips=8)
    alone = solve("prefill_time", **{name: asked[name] for name in ("model", "hardware", "prompt_tokens", "mfu")}, chips=8)
    times = 1 + rate.value * alone.value
    both = "serving.requests_per_second_with_prompts"
    single = "one prompt a pass (prefill_batch = 1)"
    takes = f"on the same ones they take {1 - 1 / times:.0%} of the time"
    says = f"{takes}, and the rate takes {times:.3g} times the chips at this batch, {single}"
    assert any(f"chips of their own, {times - 1:.3g} times as many, not counted" in text for text in rate.warnings)
    assert any(text.endswith(f"{says}: --using {both}") for text in rate.warnings)
    several = solve("requests_per_second", **asked, chips=8, prefill_batch=4)
    assert any("chips of their own" in text and single not in text for text in several.warnings)
    together = solve("chips", using=both, **asked, requests_per_second=rate.value)
    assert together.value == pytest.approx(8 * times, rel=1e-9)
    assert not any("of their own" in text for text in together.warnings)
    for unknown, more in (("chips", {"requests_per_second": ">=9"}), ("replicas", {"chips": 8, "fleet_throughput": 1e4})):
        said = solve(unknown, **asked, **more).warnings
        assert any("for decode alone: prompts need chips of their own, " in text for text in said)
    assert not any("of their own" in text for text in solve("step_time", **asked, chips=8).warnings)


def test_a_time_of_a_request_says_what_it_is_beside_the_prompts_of_others_on_the_same_chips():
    """By Little's law 64 requests at once take 64 times what one takes of all chips, prompt and output in turn; one step less, as the
    prompt yields the first token.
    """
    asked = {"model": "Llama-3.1-70B", "hardware": "8xH200:fp8", "prompt_tokens": 2048, "output_tokens": 512, "bytes_per_element": 2}
    rate = solve("requests_per_second", using="serving.requests_per_second_with_prompts", **asked, batch=64)
    waited = 64 / rate.value - solve("step_time", **asked, batch=64).value
    both = "serving.request_latency_with_prompts"
    slower = f"of the time, and request_latency is {show('request_latency', waited)}"
    beside = f"{slower}; for both on the same chips --using {both}"
    alone = solve("request_latency", **asked, batch=64)
    assert any(text.startswith("prompts of other requests") and text.endswith(beside) for text in alone.warnings)
    for unknown, more in (("batch", {}), ("throughput", {}), ("chips", {"batch": 64, "hardware": "H200:fp8"})):
        assert any("prompts of other requests" in text for text in warned(unknown, **{**asked, **more}, request_latency="<=5s")), unknown
    assert not any("prompts of other requests" in text for text in warned("request_latency", **asked, batch=1))
    together = solve("request_latency", using=both, **asked, batch=64)
    assert together.value == pytest.approx(waited)
    assert not any("of their own" in text for text in together.warnings)
    limited = solve("batch", using=both, **asked, request_latency="<=5s")
    assert limited.value and not any("of their own" in text for text in limited.warnings)


def test_chips_are_as_many_as_the_experts_lie_on_where_nobody_says():
    exchange = {"model": "DeepSeek-V3", "hardware": "H200:fp8", "batch": 1024}
    assert solve("all_to_all_time", **exchange, expert_parallel=32).value == solve("all_to_all_time", **exchange, chips=32).value


# -- shares of a peak ----------------------------------------------------------------------------------------------------

TIMED = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:bf16", "chips": 8, "bytes_per_element": 2}


@pytest.mark.parametrize(
    ("unknown", "other", "measured"),
    [
        ("mfu", "mbu", {"batch": 64, "context_length": 4000, "throughput": 3000}),
        ("mfu", "mbu", {"batch": 1, "context_length": 4000, "step_time": 0.02}),
        ("mbu", "mfu", {"batch": 2000, "context_length": 100, "throughput": 3000}),
    ],
)
def test_a_share_of_the_peak_whose_time_need_not_bind_is_said_to_be_so_only_if_it_does(unknown, other, measured):
    """The other share leads to the same measured time at any share above the one that was found."""
    solution = solve(unknown, **TIMED, **measured)
    (text,) = [one for one in solution.warnings if one.startswith("at both peaks this step is")]
    share = solve(other, **TIMED, **measured).value
    assert f"{other} = {show(other, share)}" in text and solution.answers[0].bound == "lower"
    assert "exactly so if" in str(solution).splitlines()[0] and "exactly so" in solution.full.splitlines()[0]
    (result,) = measured.keys() & {"throughput", "step_time"}
    rest = {name: value for name, value in measured.items() if name != result}
    for least in (solution.value * 1.01, 1.0):
        assert solve(result, **TIMED, **rest, **{unknown: least, other: share}).value == pytest.approx(measured[result])


@pytest.mark.parametrize(("unknown", "more"), [("mbu", {}), ("mfu", {"mbu": 0.8}), ("mfu", {"batch": 4000, "context_length": 50})])
def test_a_share_whose_time_binds_at_the_peaks_or_against_a_given_one_is_not_doubted(unknown, more):
    solution = solve(unknown, **{**TIMED, "batch": 64, "context_length": 4000, "step_time": 0.5, **more})
    assert solution.answers and not any("at both peaks" in text for text in solution.warnings)
    assert "exactly so" not in str(solution).splitlines()[0]


# -- data types that an answer hardly moves with ---------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 8, 45, 60, 180])
@pytest.mark.parametrize("unknown", ["step_time", "throughput"])
def test_a_data_type_that_nobody_gave_is_a_warning_where_the_answer_moves_with_it_and_else_an_assumption(unknown, batch):
    """By how much it moves is seen by solving again, in fp8."""
    asked = {**UNTYPED, "batch": batch, "anyway": True}
    solution = solve(unknown, **asked)
    cached = solve(unknown, **asked, bytes_per_element=1).value / solution.value
    narrow = solve(unknown, **{**asked, "hardware": "H100:fp8"}, bytes_per_element=2).value / solution.value
    for factor, texts in ((cached, ("caches are", "so are caches")), (narrow, (OF_CHIP,))):
        told = [any(text in one for text in texts) for one in (" ".join(solution.warnings), " ".join(solution.assumptions))]
        assert told == [max(factor, 1 / factor) > 1.1, max(factor, 1 / factor) <= 1.1]


@pytest.mark.parametrize(
    ("unknown", "given"),
    [
        (
            "cost_per_request",
            {"hardware": "8xH100:fp8", "prompt_tokens": 4000, "output_tokens": 500, "batch": 64, "chip_price": "2.5 USD/h"},
        ),
        ("request_latency", {"hardware": "8xH100:fp8", "prompt_tokens": 2000, "output_tokens": 500, "batch": 32}),
        ("throughput", {"hardware": "8xH100:fp8", "batch": 64, "context_length": 2500}),
        ("throughput", {"hardware": "8xH200:fp8", "model": "DeepSeek-V3", "batch": 1024, "context_length": 4000}),
        ("throughput", {"hardware": "8xMI300X:fp8", "model": "Llama-3.1-405B", "batch": 64, "context_length": 4000}),
    ],
)
def test_a_cache_in_bf16_behind_narrower_chips_is_said_from_a_tenth_on(unknown, given):
    """In fp8 they are 12 to 27 % apart."""
    given = {"model": "Llama-3.1-70B", **given}
    assert any("caches are taken in bf16" in text for text in warned(unknown, **given))
    narrow, wide = (solve(unknown, **given, bytes_per_element=width).value for width in (1, 2))
    assert 1.1 < max(narrow / wide, wide / narrow) < 1.3


def test_data_types_of_chips_and_cache_that_nobody_gave_are_one_line():
    given = {**UNTYPED, "batch": 60}
    (text,) = warned("step_time", **given)
    assert OF_CHIP in text and "and so are caches" in text and text.endswith("--hardware H100-SXM:fp8 bytes_per_element=fp8")


def test_copies_of_latents_leave_room_for_fewer_tokens():
    """Eight chips each hold all of a cache without heads: with them counted, an eighth of the tokens."""
    served = {"hardware": "8xH200:fp8", "model": "DeepSeek-V3"}
    once, copied = solve("kv_cache_tokens", **served), solve("kv_cache_tokens", **served, kv_replication=8)
    assert once.answers[0].value == pytest.approx(8 * copied.answers[0].value)
    assert any("lies up to 8 times" in text for text in once.warnings) and not any("lies up to" in text for text in copied.warnings)


def test_who_says_tensor_parallelism_has_its_copies_counted():
    """An eighth of the tokens, sequences and context of eight chips that share one latent each; two copies of 8 heads on 16 chips."""
    deepseek = {"hardware": "H200:fp8", "model": "DeepSeek-V3"}
    llama = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "context_length": "8Ki"}
    for unknown, given, chips, copies in (
        ("kv_cache_tokens", deepseek, 8, 8),
        ("max_batch", deepseek | {"context_length": "8Ki"}, 8, 8),
        ("max_context", deepseek | {"batch": 64}, 8, 8),
        ("max_batch", llama, 16, 2),
    ):
        once, apart = solve(unknown, **given, gpus=chips), solve(unknown, **given, tensor_parallel_size=chips)
        whole, share = (one.answers[0].value or one.answers[0].high for one in (once, apart))
        assert share == pytest.approx(whole / copies)
        (said,) = [text for text in once.warnings if "not sharded by sequences" in text]
        (counted,) = [text for text in apart.warnings if f"lies {copies} times on them" in text]
        assert f"and then {once.unknown} is " in said and f"sharded by sequences, {once.unknown} is " in counted
        assert solve(unknown, **given, tp=chips, kv_replication=1).answers == solve(unknown, **given, gpus=chips, kv_replication=1).answers
    assert not any("lies" in text for text in solve("max_batch", **llama, tp=8).warnings)


def test_copies_of_a_cache_under_tensor_parallelism_are_counted_at_every_number_of_chips():
    given = {"hardware": "H200:fp8", "model": "DeepSeek-V3", "batch": 16, "context_length": "8Ki"}
    swept = [answers[0].value for _, answers, _ in solve("tpot", **given, tp=[8, 16]).sweep.rows()]
    assert swept == [solve("tpot", **given, gpus=chips, kv_replication=chips).answers[0].value for chips in (8, 16)]
    assert call(
        "solve", "tpot", "--hardware", "8xH200:fp8", "--model", "DeepSeek-V3", "batch=16", "ctx=8Ki", "kv_replication=8"
    ).out.startswith(
        call("solve", "tpot", "--hardware", "H200:fp8", "--model", "DeepSeek-V3", "batch=16", "ctx=8Ki", "tp=8").out.partition(" or more")[
            0
        ]
    )


def test_copies_that_make_a_step_longer_by_a_tenth_are_said():
    """16 sequences of 4,096 tokens on 8 H200: 7.339 ms, and 8.178 ms with 8 copies."""
    (text,) = [text for text in warned("tpot", hardware="8xH200:fp8", model="DeepSeek-V3", batch=16, ctx="4Ki") if "sharded" in text]
    assert "1.11 times as long" in text


def test_of_sequences_that_do_not_fit_in_copies_it_is_said_how_many_do():
    """(8 * 150.8 GB - 671 GB) / (8 * 8192 * 70.27 kB) = 116."""
    given = {"hardware": "8xH200:fp8", "model": "DeepSeek-V3", "context_length": "8Ki", "bytes_per_element": 2}
    (text,) = [text for text in warned("throughput", **given, batch=500) if "sharded" in text]
    assert "and then it does not fit, and 116 of 500 sequences do" in text
    assert (
        solve("throughput", **given, batch=116, kv_replication=8).answers
        and not solve("throughput", **given, batch=117, kv_replication=8).answers
    )


# -- heads over chips -------------------------------------------------------------------------------------------------


@in_one_test(
    ("chips", "model", "following"),
    [
        (6, "Llama-3.1-70B", 8),
        (3, "Llama-3.1-70B", 4),
        (8, "Llama-3.1-70B", None),
        (1, "Llama-3.1-70B", None),
        (6, "Qwen3-235B-A22B", None),
    ],
)
def test_chips_that_cannot_share_the_heads_of_a_dense_model_are_named_with_the_next_that_can(chips, model, following):
    given = {"hardware": "H200:fp8", "model": model, "chips": chips, "bytes_per_element": 1, "batch": 8, "context_length": 1000}
    said = [text for text in warned("step_time", **given) if "share" in text and "heads" in text]
    assert said == (
        [f"64 heads cannot be shared evenly by {chips} chips, as tensor parallelism shares them: {following} chips can"]
        if following
        else []
    )


@in_one_test(
    ("unknown", "more", "heads"),
    [
        ("time_to_first_token", {"model": "Llama-3.1-70B", "chips": 6, "prompt_tokens": 4000}, 64),
        ("batch", {"model": "Llama-3.1-70B", "chips": 6, "context_length": 4000}, 64),
        ("step_time", {"model": "Qwen3-30B-A3B", "tp": 6, "batch": 8, "context_length": 4000}, 32),
        ("step_time", {"model": "Qwen3-30B-A3B", "tp": 3, "batch": 8, "context_length": 4000}, 32),
    ],
)
def test_chips_that_cannot_share_the_heads_are_named_whatever_is_asked_of_them(unknown, more, heads):
    (text,) = [text for text in warned(unknown, hardware="H200:fp8", **more) if "shared evenly" in text]
    chips = more.get("chips", more.get("tp"))
    assert text.startswith(f"{heads} heads cannot be shared evenly by {chips} chips, as tensor parallelism shares them: ")


def test_chips_of_a_training_run_need_share_no_heads():
    given = {"hardware": "H100:bf16", "model": "Llama-3.1-70B", "training_tokens": "1T", "training_chips": 48, "mfu": 0.4}
    assert not any("shared evenly" in text for text in warned("training_time", **given))


def test_chips_that_a_limit_takes_are_held_against_the_heads_as_whole_ones():
    given = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 2, "batch": 64, "context_length": 4000}
    assert any("64 heads cannot be shared evenly by 5 chips" in text for text in warned("chips", **given, step_time="<=10ms"))


def test_the_tokens_of_a_job_are_those_of_many_sequences():
    given = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "batch": 64, "context_length": 4000, "output_tokens": "1M"}
    assert not any("longer than the model" in text for text in warned("output_energy", **given))
    assert any("longer than the model" in text for text in warned("request_latency", **given, prompt_tokens=4000, prefill_chunk=512))


def test_heads_that_are_no_whole_number_are_shared_by_no_chips():
    given = {"hardware": "H200:fp8", "model": "Llama-3.1-70B", "chips": 6, "bytes_per_element": 1, "batch": 8, "context_length": 1000}
    assert not any("shared evenly" in text for text in warned("step_time", **given, query_heads=7.5))


@in_one_test(("batch", "said"), [(100, None), (205, None), (208, "96.2%"), (217, "99.9%")])
def test_memory_that_is_full_but_for_a_twentieth_is_said_to_want_room(batch, said):
    """A sequence takes 2.62 GB beside 70 GB of weights, in 640 GB."""
    given = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 2, "chips": 8, "context_length": 8000}
    found = [text for text in warned("step_time", **given, batch=batch) if "engines need room" in text]
    assert len(found) == (1 if said else 0) and all(f"take {said} of the memory" in text for text in found)
    for kept in ({"reserved_share": 1e-3}, {"gpu_memory_utilization": 0.999}):
        assert not any("engines need room" in text for text in warned("step_time", **given, batch=batch, **kept))


def test_a_part_of_what_was_given_as_a_limit_is_not_told_where_it_is_asked_for_itself():
    """A limit that no answer reaches is explained by what it would come to: then it is not among what is known."""
    given = {name: value for name, value in TYPED.items() if name not in ("hardware", "model")}
    asked = question("step_time", given | {"chips": 2.5}, TYPED["hardware"], TYPED["model"])
    used = (equation("roofline.compute_time"),)
    assert doubts.counted_in_parts(asked, {}, used) == "chips = 2.5 is no whole number, and is taken as it is"
    unknown = replace(asked, known={name: value for name, value in asked.known.items() if name != "chips"})
    assert doubts.counted_in_parts(unknown, {}, used) is None
