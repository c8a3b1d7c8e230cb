"""What is said before a number: of weights that are read for want of a router, and of chips that wait for the busiest."""

import csv
import io
from dataclasses import replace

import pytest

from derive.catalogue import equation
from derive.errors import WrongValue
from derive.solving import caveats as doubts
from derive.solving.api import solve
from derive.solving.questions import question
from derive.tables import shipped
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
    assert warned("step_time", **TYPED | {"chips": 2.5})[-1] == "chips = 2.5 is no whole number, and is used unchanged"
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
    assert f"{name} = {parted[name]} is no whole number, and is used unchanged" in warned(asked, **parted)


# -- unknown routers ---------------------------------------------------------------------------------------------------


# -- the busiest chip -----------------------------------------------------------------------------------------------


H100S = {"model": "DeepSeek-V3", "hardware": "H100-SXM:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4000}


def test_a_number_of_chips_that_is_one_but_for_rounding_is_no_crash():
    given = {"model": "GLM-4.5-Air", "hardware": "H200-SXM:fp8", "batch": 2, "context_length": 4000, "bytes_per_element": 1}
    (chips,) = solve("chips", **given, throughput=515.334862446389).answers
    assert chips.value < 1 and chips.value == pytest.approx(1, rel=1e-9)


def test_experts_lie_on_one_chip_at_least():
    with pytest.raises(WrongValue, match=r"expert_parallel = 0\.5: must be >= 1"):
        solve("weight_time", **V3, **ROUTER, batch=1, expert_parallel=0.5)


# -- a chunk that is said to be free --------------------------------------------------------------------------------


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

COUNTED = {"dispatch_bytes_per_element": 1, "combine_bytes_per_element": 2, "expert_parallel": 144}


# -- the rate of attention ------------------------------------------------------------------------------------------


def test_where_all_chips_are_in_one_domain_no_link_leads_out():
    """A pod of 256 chips has none: 58 layers of 16 tokens a chip, each to 255 (1 - (255/256)^8) others, at 200 GB/s."""
    pod = {"hardware": "TPU-v5e:int8", "model": "DeepSeek-V3", "chips": 256, "batch": 4096}
    seconds = solve("all_to_all_time", **pod, **COUNTED | {"expert_parallel": 256}, using="experts.all_to_all_time_one_rack")
    assert seconds.answers[0].value == pytest.approx(58 * 16 * 255 * (1 - (255 / 256) ** 8) * 7168 * 3 / 200e9)
    assert seconds.unused == ()


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


TRAINED = {"hardware": "8xH100:bf16", "model": "Llama-3.1-8B", "gradient_bytes_per_param": 2, "optimizer_bytes_per_param": 12}


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


# -- many points ----------------------------------------------------------------------------------------------------


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
    assert backwards.code == "requirement_violated" and "requires batch >= 1, but batch would be 0." in backwards.message


@pytest.mark.parametrize("model", ["Llama-3-70B", "DeepSeek-V3"])
def test_less_than_one_sequence_is_refused_as_a_batch_of_any_model(model):
    given = {"model": model, "hardware": "H200:fp8", "chips": 16, "bytes_per_element": 1, "context_length": 4000}
    for batch in (0.5, "0.5..4", "0.5,2"):
        with pytest.raises(ValueError, match=r"batch = 0\.5: a batch has at least one sequence"):
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
    assert [span.low, span.high] == pytest.approx(ends, rel=1e-9) and span.regime == "memory_time >= compute_time"


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


# -- one of a rack ---------------------------------------------------------------------------------------------------


# -- at the peak, and without prompts ---------------------------------------------------------------------------------


def test_a_rate_of_requests_that_leaves_prompts_out_says_so():
    served = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8, "batch": 16, "output_tokens": 100, "bytes_per_element": 2}
    assert any("chips of their own" in said for said in warned("requests_per_second", **served, prompt_tokens=32000))
    assert not any("chips of their own" in said for said in warned("requests_per_second", **served, context_length=32000))


# -- fleets ---------------------------------------------------------------------------------------------------------


# -- prompts beside a rate of requests ---------------------------------------------------------------------------------


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


# -- heads over chips -------------------------------------------------------------------------------------------------


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


def test_a_part_of_what_was_given_as_a_limit_is_not_told_where_it_is_asked_for_itself():
    """A limit that no answer reaches is explained by what it would come to: then it is not among what is known."""
    given = {name: value for name, value in TYPED.items() if name not in ("hardware", "model")}
    asked = question("step_time", given | {"chips": 2.5}, TYPED["hardware"], TYPED["model"])
    used = (equation("roofline.compute_time"),)
    assert doubts.counted_in_parts(asked, {}, used) == "chips = 2.5 is no whole number, and is used unchanged"
    unknown = replace(asked, known={name: value for name, value in asked.known.items() if name != "chips"})
    assert doubts.counted_in_parts(unknown, {}, used) is None
