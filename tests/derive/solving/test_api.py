"""Lists and sweeps as tables: the arrays say what the questions asked one by one say."""

import numpy as np
import pytest

from derive.errors import AmbiguousName, UnknownName, WrongValue
from derive.show.text import render
from derive.solving.api import solve
from derive.solving.many import sweeps
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "chip_price": "2 USD/h", "variants": {"weight_time": "sharded"}, "attention_time": 0, "attention_compute_ratio": 0},
}


def seconds(batch, context):
    """The step of the deployment by hand, all weights read and attention FLOPs left out."""
    return max(2 * batch * 37e9 / (16 * 1979e12), (671e9 + batch * context * 61 * 576) / (16 * 3.35e12))


# -- sweeps ---------------------------------------------------------------------------------------------------------


def test_a_list_gives_a_row_for_every_value():
    table = solve("step_time", **DEPLOYED, batch="1,8,64,512", context_length="4k").sweep
    rows = [(given["batch"], [one.value for one in answers], reason) for given, answers, reason in table.rows()]
    assert rows == [(batch, [pytest.approx(seconds(batch, 4000))], None) for batch in (1, 8, 64, 512)]


def test_several_series_give_every_combination_the_last_one_fastest():
    table = solve("step_time", **DEPLOYED, batch=[64, 512], context_length=[1000, 4000, 8000]).sweep
    given = [(row["batch"], row["context_length"]) for row, _, _ in table.rows()]
    assert given == [(batch, context) for batch in (64, 512) for context in (1000, 4000, 8000)]


def test_a_sweep_answers_with_what_all_of_it_spans():
    solution = solve("step_time", **DEPLOYED, batch="1..512:log", context_length="4k")
    (span,) = solution.answers
    assert (span.kind, span.low, span.high) == ("interval", pytest.approx(seconds(1, 4000)), pytest.approx(seconds(512, 4000)))
    assert "batch" not in solution.given and solution.equations[-1] == "roofline.step_time@3"


def test_points_of_a_sweep_say_why_they_have_no_answer():
    table = solve("step_time", **DEPLOYED, batch="100,2400,24000", context_length="4k").sweep
    reasons = [reason and reason.code for _, _, reason in table.rows()]
    assert reasons == [None, None, "does_not_fit"]
    table = solve("batch", **DEPLOYED, step_time="5ms,13ms", context_length="4k").sweep
    assert [reason and reason.code for _, _, reason in table.rows()] == ["no_solution", None]


def test_a_sweep_across_regimes_says_which_holds_where():
    table = solve("step_time", memory_time="5ms,10ms,20ms", compute_time="10ms").sweep
    assert [answers[0].regime for _, answers, _ in table.rows()] == [
        *["compute_time >= memory_time"] * 2,
        "memory_time >= compute_time",
    ]


def test_an_interval_in_a_sweep_is_a_row_too():
    table = solve("memory_time", step_time="10ms,20ms", compute_time="10ms").sweep
    (first,), (second,) = (answers for _, answers, _ in table.rows())
    assert (first.kind, first.high, second.kind, second.value) == ("interval", 0.01, "point", 0.02)


LONG = {
    "forwards": ("cost_per_token", {**DEPLOYED, "batch": "1..4000:log:300", "context_length": 2000}),
    "across the memory's end": ("step_time", {**DEPLOYED, "batch": "1..40000:log:200", "context_length": 2000}),
    "backwards through a block": ("batch", {**DEPLOYED, "step_time": "10ms..16ms:lin:70", "context_length": 2000}),
    "two roots": (
        "tradeoff_variable",
        {"falling_cost": 4, "rising_cost": 1, "falling_exponent": 1, "rising_exponent": 1, "tradeoff_cost": "1..9:lin:100"},
    ),
    "across regimes": ("step_time", {"compute_time": "10ms", "memory_time": "1ms..100ms:log:101"}),
    "a bound in part": ("memory_time", {"compute_time": "10ms", "step_time": "5ms..20ms:lin:100"}),
    "an unknown without a closed form": (
        "batch",
        {"balance_batch": 500, "batch": None, "activated_experts": "9..250:lin:70", "experts": 256, "active_experts": 8},
    ),
    "a default that is swept": ("balance_batch", {"machine_balance_ratio": 300, "sparsity": 8, "mfu": "0.1..1:lin:100"}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("unknown", "given"), LONG.values(), ids=LONG)
def test_arrays_say_what_questions_asked_one_by_one_say(unknown, given, monkeypatch):
    given = {name: known for name, known in given.items() if known is not None}
    arrays = solve(unknown, **given).sweep
    monkeypatch.setattr(sweeps, "_FEW", 10_000)
    singly = solve(unknown, **given).sweep
    assert len(arrays) == len(singly) > 64
    for (at, ours, why), (same, theirs, because) in zip(arrays.rows(), singly.rows(), strict=True):
        assert at == same and [one.kind for one in ours] == [one.kind for one in theirs]
        for own, other in zip(ours, theirs, strict=True):
            numbers = [(own.value, other.value), (own.low, other.low), (own.high, other.high)]
            assert all(mine == pytest.approx(alike, rel=1e-9) for mine, alike in numbers if mine is not alike)
            assert own.regime == other.regime
        assert (why and why.code) == (because and because.code)


@pytest.mark.slow
def test_arrays_meet_a_contradiction_that_questions_meet():
    """Where a given contradicts part of a sweep, arrays alone would not see it."""
    given = {"machine_balance_ratio": 300, "sparsity": 8, "balance_batch": 2400, "batch": "1..1000:lin:40", "context_length": 1000}
    reasons = [reason for _, _, reason in solve("compute_utilisation", **given, balance_context=1e5, mfu=0.5, mbu=1).sweep.rows()]
    assert {reason.code for reason in reasons} == {"contradiction"}


def test_a_sweep_of_a_million_points_is_one_call():
    table = solve("cost_per_token", **DEPLOYED, batch="1..4000:log:1e6", context_length=2000).sweep
    assert len(table) == 1_000_000 and not np.isnan(table.values).any()
    at = 654_321
    batch = table.given["batch"][at]
    assert table.values[0, at] == pytest.approx(16 * 2 / 3600 * seconds(batch, 2000) / batch, rel=1e-12)


@pytest.mark.parametrize("given", [{"batch": "1..4000:lin:1e12"}, {"batch": "1..4000:lin:1e5", "context_length": "1..4000:lin:1e5"}])
def test_too_many_points_are_refused_with_the_limit(given):
    with pytest.raises(WrongValue, match="at most 10,000,000"):
        solve("step_time", **{**DEPLOYED, "context_length": 1000, **given})


def test_a_sweep_of_what_lacks_a_given_says_so_once():
    solution = solve("step_time", hardware="H100:fp8", batch="1..4000:log:1e6")
    assert solution.sweep is None and solution.reason.code == "missing_givens"


def test_too_many_points_that_have_to_be_asked_one_by_one_are_refused():
    given = {"experts": 256, "active_experts": 8, "active_params": 37e9, "total_params": 671e9, "bytes_per_weight": 1}
    given |= {"kv_bytes_per_token": 35136, "context_length": 4000, "chips": 16, "hbm_bandwidth": 3.35e12, "peak_flops": 2e15}
    with pytest.raises(WrongValue, match="point by point"):
        solve("batch", using="experts.weight_time_touched", **given, step_time="5ms..12ms:lin:20000")


def test_counting_multiply_adds_reaches_ranges_and_sweeps():
    given = {"batch": 64, "active_params": 37e9}
    flop, mac = (solve("compute_time", **given, peak_flops="1e15..2e15", count=count).spans for count in ("flop", "mac"))
    assert (mac.low, mac.high) == (pytest.approx(flop.low / 2), pytest.approx(flop.high / 2))
    flop, mac = (solve("compute_time", **given, peak_flops="1e15,2e15", count=count).sweep for count in ("flop", "mac"))
    assert mac.values == pytest.approx(flop.values / 2)


# -- what is shown --------------------------------------------------------------------------------------------------


@in_one_test("style", ["csv", "markdown", "latex", "json"])
def test_every_form_holds_every_point(style):
    text = render(solve("step_time", **DEPLOYED, batch="64;512", context_length="4k"), style)
    found = {"csv": ["64.0,step_time", "512.0,step_time"], "json": ['"batch": 64.0', '"batch": 512.0']}
    assert all(part in text for part in found.get(style, ["64", "512", "12.69 ms"]))


# -- dense models ----------------------------------------------------------------------------------------------------

ONE_COUNT = {"hardware": "H100-SXM:fp8", "chips": 8, "kv_bytes_per_token": 160e3, "context_length": 4096}


@pytest.mark.parametrize("count", ["total_params", "active_params"])
def test_one_parameter_count_is_that_of_a_dense_model(count: str):
    both = solve("step_time", **ONE_COUNT, batch=8, total_params="70B", active_params="70B")
    one = solve("step_time", **ONE_COUNT, batch=8, **{count: "70B"})
    other = {"total_params": "active_params", "active_params": "total_params"}[count]
    assert one.value == both.value and one.provenance[other] == "follows from a dense model" and not one.unused
    assert f"{other} = 70B follows from the givens: one parameter count means a dense model" in one.assumptions
    assert len(solve("step_time", **ONE_COUNT, batch=[1, 8], **{count: "70B"}).sweep) == 2


def test_the_count_that_says_of_a_dense_model_what_the_other_is_was_not_given_in_vain():
    run = solve("training_time", hardware="H100:bf16", total_params="70B", pretrain_tokens="15T", chips=4096, mfu=0.4)
    assert run.value / 86400 == pytest.approx(6 * 70e9 * 15e12 / (4096 * 0.4 * 989e12) / 86400, rel=1e-3) and not run.unused


def test_the_longest_context_that_is_asked_of_a_deployment_is_no_price():
    served = {"model": "Llama-3.1-70B", "hardware": "4xH100:bf16", "batch": 8, "bytes_per_element": 2}
    asked, meant = (solve(name, **served) for name in ("max_context", "context_length"))
    assert asked.unknown == "context_length" and asked.answers == meant.answers
    priced = {"premium_out": 1.5, "cost_context_scale": "100k", "long_context_threshold": "200k"}
    assert solve("max_context", using="bands.rule_upper_end", **priced).unknown == "max_context"


DEEPSEEK = {"model": "DeepSeek-V3", "hardware": "8xH100:fp8", "batch": 16, "context_length": 32_000}


@pytest.mark.parametrize(
    ("unknown", "given", "by_hand"),
    [
        ("memory_demand", DEEPSEEK, 671e9 + 16 * 32_000 * 61 * (512 + 64) * 2),
        ("kv_cache_bytes", DEEPSEEK, 16 * 32_000 * 61 * (512 + 64) * 2),
        (
            "kv_bytes_per_token",
            {"model": "Llama-3.1-70B", "hardware": "8xH100:fp8", "batch": 64, "context_length": 8000},
            2 * 80 * 8 * 128 * 2,
        ),
    ],
)
def test_what_nobody_says_of_data_types_is_taken_before_the_capacity_of_chips_stands_for_a_demand(unknown, given, by_hand):
    """That a demand fits says only that it is at most the capacity, whether it does or not."""
    found = solve(unknown, **given)
    assert found.value == pytest.approx(by_hand, rel=1e-12) and any("is in bf16" in text for text in (*found.warnings, *found.assumptions))


def test_of_several_bounds_the_tightest_is_the_answer():
    """Copies of a cache need as many chips, and the caches themselves far more: (2*1000*8000*327,680 + 70.55e9)/150.8e9."""
    (bound,) = solve("chips", model="Llama-3.1-70B", hardware="H200:fp8", batch=1000, context_length=8000, kv_replication=2).answers
    assert bound.low == pytest.approx((2 * 1000 * 8000 * 327_680 + 70_553_706_496) / (143_771 * 2**20), rel=1e-3)


def test_stages_are_filled_with_as_many_microbatches_where_nobody_says_how_many():
    """405B in bf16 are 810 GB; each of P stages of 8 chips holds 640 GB, less the caches of 16 sequences of 4k tokens, P times."""
    kv = 2 * 2 * 128 * 8 * 126 * 4000
    given = {"hardware": "H100:bf16", "model": "Llama-3.1-405B", "chips": 8, "context_length": 4000, "bytes_per_element": 2}
    (answer,) = solve("pipeline_stages", **given, batch=16).answers
    assert answer.low == pytest.approx(2 * 405_853_388_800 / (640e9 - 16 * kv)) and answer.high is None
    by_fours = solve("pipeline_stages", **given, batch=16, microbatches=4).answers[0].low
    assert by_fours == pytest.approx((2 * 405_853_388_800 + 4 * 16 * kv) / 640e9)
    assert not solve("pipeline_stages", **given, batch=400).answers, "caches of 826 GB in the 640 GB of a stage, however many there are"
    (alone,) = solve("pipeline_stages", hardware="H100:bf16", model="Llama-3.1-405B", chips=8).answers
    assert alone.low == pytest.approx(2 * 405_853_388_800 / 640e9)


@pytest.mark.parametrize("unknown", [["step_time"], ("step_time", "batch"), 3, None])
def test_what_is_asked_for_is_one_name(unknown):
    with pytest.raises(WrongValue, match="one quantity is asked for, by its name as text"):
        solve(unknown, batch=8)


def test_a_word_beside_training_means_in_python_what_it_does_at_the_command_line():
    run = {"active_params": 7e10, "chips": 1000, "peak_flops": 1e15, "mfu": 0.4}
    assert solve("training_time", **run, tokens=15e12).value == solve("training_time", **run, pretrain_tokens=15e12).value
    assert solve("tokens", **run, training_time=1e7).unknown == "pretrain_tokens"
    with pytest.raises(WrongValue, match="pretrain_tokens is given twice"):
        solve("training_time", **run, tokens=15e12, pretrain_tokens=15e12)
    with pytest.raises(AmbiguousName):
        solve("step_time", tokens=15e12)


def test_parameters_that_are_asked_for_are_those_of_a_dense_model_where_nothing_speaks_of_experts():
    """Six FLOP a parameter and token, twenty tokens a parameter."""
    told = "sparsity = 1: no experts are given, and a dense model is assumed"
    dense = solve("total_params", pretrain_flops=1e24, tokens_per_param=20)
    assert dense.value == pytest.approx((1e24 / 120) ** 0.5) and told in dense.assumptions
    assert told not in solve("total_params", weight_bytes="140 GB").assumptions
    assert solve("total_params", pretrain_flops=1e24, tokens_per_param=20, experts=256).reason.code == "missing_givens"


@pytest.mark.parametrize(
    ("keyword", "meant"), [("hardwear", "hardware"), ("modle", "model"), ("eficiency", "efficiency"), ("varients", "variants")]
)
def test_a_switch_with_a_slip_is_named_among_the_switches(keyword: str, meant: str):
    with pytest.raises(UnknownName, match=f"unknown keyword '{keyword}'; did you mean '{meant}'[?]"):
        solve("step_time", batch=1, **{keyword: "sum"})
