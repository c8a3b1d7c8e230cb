"""What is said before a number: of weights that are read for want of a router, and of chips that wait for the busiest."""

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve
from derive.units import show
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

V3 = {"total_params": 671e9, "active_params": 37e9, "bytes_per_weight": 1, "chips": 8, "hbm_bandwidth": 4.8e12}
STEP = {**V3, "peak_flops": 1.979e15, "context_length": 4000, "kv_bytes_per_token": 35136}
ROUTER = {"experts": 256, "active_experts": 8}


def warned(unknown, **given):
    return solve(unknown, **given).warnings


# -- data types that nobody gave ---------------------------------------------------------------------------------------

UNTYPED = {"hardware": "H100", "model": "Llama-3.1-70B", "chips": 8, "context_length": 8000}
OF_CHIP, OF_CACHE = "no data type is given: H100-SXM computes in bf16", "KV cache is in bf16"


@in_one_test(
    ("unknown", "more"),
    [
        ("step_time", {"batch": 60}),
        ("step_time", {"batch": "1,8,60"}),
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


def test_a_data_type_that_is_asked_for_is_not_supposed():
    for unknown in ("bytes_per_element", "bytes_per_weight"):
        asked = solve(unknown, peak_flops=1e15, hbm_bandwidth=3e12, total_params=7e10, chips=8, layers=80, kv_heads=8, head_dim=128)
        assert asked.reason.code == "missing_givens" and unknown not in asked.given


def test_a_bound_by_memory_is_found_without_them():
    asked = {**UNTYPED, "chips": 8}
    assert solve("batch", **asked).answers == solve("batch", **asked, bytes_per_element=2).answers


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
    assert warned("step_time", **TYPED | {"chips": 2.5})[-1] == "chips = 2.5 is no whole number, and is used unchanged"
    assert not any("no whole number" in text for text in warned("step_time", **TYPED | {"chips": "4..7"}))


# -- the busiest chip -----------------------------------------------------------------------------------------------


H100S = {"model": "DeepSeek-V3", "hardware": "H100-SXM:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4000}


# -- a chunk that is said to be free --------------------------------------------------------------------------------


@in_one_test("unknown", ["free_prefill_chunk"])
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


def test_a_drafting_time_that_is_given_is_not_at_once_nothing():
    """1 ms beside the step without it: 7.396 ms of reads."""
    plain, drafted = (solve("step_time", **DRAFTED, **more).answers[0].value for more in ({}, {"drafting_time": "1ms"}))
    assert drafted - plain == pytest.approx(1e-3)
    rate = solve("throughput", **DRAFTED, tokens_per_step=3, drafting_time="1ms").answers[0].value
    assert rate == pytest.approx(3 * 256 / drafted)
    assert solve("compute_utilisation", **DRAFTED, drafting_time="1ms").answers[0].value == pytest.approx(
        256 * 2 * 8_030_261_248 / 1979e12 / drafted
    )


# -- the rate of attention ------------------------------------------------------------------------------------------


@in_one_test(
    ("unknown", "given", "said"),
    [
        ("chips", {"batch": 64}, "chips is for one stage: 4 stages of 3 have 12"),
        ("chips", {"batch": 64, "step_time": "<=50ms"}, "chips is for one stage: 4 stages of 3 have 12"),
        ("step_time", {"batch": 8, "chips": 2}, "chips is for one stage: 4 stages of 2 have 8"),
        ("batch", {"chips": 2}, "chips is for one stage: 4 stages of 2 have 8"),
        ("kv_bytes_per_sequence", {"chips": 2}, None),
    ],
)
def test_chips_of_several_stages_are_counted_together(unknown, given, said):
    """140 GB of weights and 4 x 64 caches of 2.684 GB take 2.6 chips of 80 GB in each of 4 stages."""
    served = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "context_length": 8192, "bytes_per_element": 2}
    found = solve(unknown, **served, **given, pipeline_stages=4)
    assert dict(zip(found.kinds, found.warnings, strict=True)).get("chips_of_one_part") == said


def test_a_demand_of_training_lacks_what_it_is_made_of_and_is_not_the_capacity_of_a_chip():
    for more in ({}, {"data_parallel": 8}):
        reason = solve("training_memory_per_chip", hardware="8xH100:bf16", model="Llama-3.1-8B", **more).reason
        assert reason.code == "missing_givens" and {"gradient_bytes_per_param", "optimizer_bytes_per_param"} <= {*reason.missing}
    assert solve("memory_demand", hardware="8xH100:bf16", model="Llama-3.1-8B").reason.code == "missing_givens"
    (room,) = solve("training_memory_per_chip", hardware="H100").answers
    assert room.ends == (0, 80e9)


def test_kv_heads_that_chips_do_not_divide_are_said():
    """10 KV heads over 8 chips: two on some of them. The 40 query heads would divide."""
    given = {"hardware": "H100:bf16", "model": "Phi-4", "context_length": 8000}
    assert any("10 KV heads cannot be shared evenly by 8 chips" in text for text in warned("batch", **given, tp=8))
    assert not any("shared evenly" in text for text in warned("batch", **given, tp=2))


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


# -- routers that cannot be -----------------------------------------------------------------------------------------


def test_more_active_experts_than_experts_are_refused():
    with pytest.raises(WrongValue, match="active_experts = 9: no more than experts = 8"):
        solve("weight_time", **V3, experts=8, active_experts=9, batch=1)


def test_more_active_than_total_parameters_are_refused():
    with pytest.raises(WrongValue, match="active_params = 500B: no more than total_params = 400B"):
        solve("step_time", **{**STEP, "total_params": 4e11, "active_params": 5e11}, batch=8)
    with pytest.raises(WrongValue, match="active_params = 800B: no more than total_params = 671B"):
        solve("weight_bytes", hardware="H200:fp8", model="DeepSeek-V3", active_params=8e11)


def test_less_than_one_sequence_is_no_batch():
    backwards = solve("batch", **STEP, **ROUTER, step_time=0.5e-3).reason
    assert backwards.code == "requirement_violated" and "requires batch >= 1, but batch would be 0." in backwards.message


# -- blocks of a mixture --------------------------------------------------------------------------------------------


def test_a_large_batch_is_found_where_nothing_overlaps():
    """What a batch of tens of thousands touches is all: 25 ms less the read of all weights, over what a sequence takes."""
    given = {**STEP, **ROUTER, "chips": 64, "context_length": 500, "variants": {"overlap": "sum"}}
    by_hand = (0.025 - 671e9 / (64 * 4.8e12)) / (2 * 37e9 / (64 * 1.979e15) + 500 * 35136 / (64 * 4.8e12))
    assert solve("batch", **given, step_time=25e-3).answers[0].value == pytest.approx(by_hand, rel=1e-6)


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


# -- what another variant would have taken --------------------------------------------------------------------------

STAGES = {"pipeline_stages": 4, "training_microbatches": 8}


@pytest.mark.parametrize("using", [(), ("pipeline.interleaved_bubble",)])
def test_a_given_that_only_one_variant_takes_chooses_it(using):
    """4 stages and 8 microbatches wait 3 of 11; with two virtual stages each 3 of 19."""
    solution = solve("bubble_fraction", **STAGES, virtual_stages=2, using=using)
    assert solution.answers[0].value == pytest.approx(3 / 19) and solution.warnings == solution.unused == ()


# -- at the peak, and without prompts ---------------------------------------------------------------------------------


def test_a_rate_of_requests_that_leaves_prompts_out_says_so():
    served = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8, "batch": 16, "output_tokens": 100, "bytes_per_element": 2}
    assert any("chips of their own" in said for said in warned("requests_per_second", **served, prompt_tokens=32000))
    assert not any("chips of their own" in said for said in warned("requests_per_second", **served, context_length=32000))


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
    for factor, texts in ((cached, ("KV cache is in", "so are caches")), (narrow, (OF_CHIP,))):
        told = [any(text in one for text in texts) for one in (" ".join(solution.warnings), " ".join(solution.assumptions))]
        assert told == [max(factor, 1 / factor) > 1.1, max(factor, 1 / factor) <= 1.1]
