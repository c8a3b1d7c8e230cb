"""Lists and sweeps as tables: the arrays say what the questions asked one by one say."""

import numpy as np
import pytest

from derive.errors import UnknownName, WrongValue
from derive.show.text import render
from derive.solving.api import solve
from derive.solving.many import points
from tests.tools.asked import seconds
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

DEPLOYED = {
    **{"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1},
    **{"chips": 16, "chip_price": "2 USD/h", "variants": {"weight_time": "sharded"}, "attention_time": 0, "attention_compute_ratio": 0},
}


def test_a_list_gives_a_row_for_every_value():
    table = solve("step_time", **DEPLOYED, batch="1,8,64,512", context_length="4k").sweep
    rows = [(given["batch"], [one.value for one in answers], reason) for given, answers, reason in table.rows()]
    assert rows == [(batch, [pytest.approx(seconds(batch, 4000))], None) for batch in (1, 8, 64, 512)]


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
    monkeypatch.setattr(points, "_FEW", 10_000)
    singly = solve(unknown, **given).sweep
    assert len(arrays) == len(singly) > 64
    for (at, ours, why), (same, theirs, because) in zip(arrays.rows(), singly.rows(), strict=True):
        assert at == same and [one.kind for one in ours] == [one.kind for one in theirs]
        for own, other in zip(ours, theirs, strict=True):
            numbers = [(own.value, other.value), (own.low, other.low), (own.high, other.high)]
            assert all(mine == pytest.approx(alike, rel=1e-9) for mine, alike in numbers if mine is not alike)
            assert own.regime == other.regime
        assert (why and why.code) == (because and because.code)


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


def test_too_many_points_that_have_to_be_asked_one_by_one_are_refused():
    given = {"experts": 256, "active_experts": 8, "active_params": 37e9, "total_params": 671e9, "bytes_per_weight": 1}
    given |= {"kv_bytes_per_token": 35136, "context_length": 4000, "chips": 16, "hbm_bandwidth": 3.35e12, "peak_flops": 2e15}
    with pytest.raises(WrongValue, match="point by point"):
        solve("batch", using="experts.weight_time_touched", **given, step_time="5ms..12ms:lin:20000")


@in_one_test("style", ["csv", "markdown", "latex", "json"])
def test_every_form_holds_every_point(style):
    text = render(solve("step_time", **DEPLOYED, batch="64;512", context_length="4k"), style)
    found = {"csv": ["64.0,step_time", "512.0,step_time"], "json": ['"batch": 64.0', '"batch": 512.0']}
    assert all(part in text for part in found.get(style, ["64", "512", "12.69 ms"]))


@pytest.mark.parametrize("unknown", [["step_time"], ("step_time", "batch"), 3, None])
def test_what_is_asked_for_is_one_name(unknown):
    with pytest.raises(WrongValue, match="the unknown must be the name of one quantity"):
        solve(unknown, batch=8)


@pytest.mark.parametrize(
    ("keyword", "meant"), [("hardwear", "hardware"), ("modle", "model"), ("eficiency", "efficiency"), ("varients", "variants")]
)
def test_a_switch_with_a_slip_is_named_among_the_switches(keyword: str, meant: str):
    with pytest.raises(UnknownName, match=f"unknown keyword '{keyword}'; did you mean '{meant}'[?]"):
        solve("step_time", batch=1, **{keyword: "sum"})
