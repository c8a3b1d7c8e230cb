"""What is given of a quantity that the rest would make: none of it, or not what a preset makes it."""

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve
from derive.solving.question.zero_givens import zeros_with_limit
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

LLAMA = {"model": "Llama-3-70B", "hardware": "H200-SXM:fp8", "bytes_per_element": 1}
BUSY = {**LLAMA, "chips": 8, "batch": 2000, "context_length": 1000}
"""Arithmetic binds: 2 x 70.55e9 x 2000 FLOP on eight chips of 1979e12, and 4 x 80 x 64 x 128 x 1000 x 2000 more of attention at 989e12."""
LEFT_OUT = ("attention_time", "attention_compute_ratio", "attention_flops_per_sequence", "attention_flops_per_pair")
COMPUTE = 2 * 70_553_706_496 * 2000 / (8 * 1979e12)


def only(solution):
    assert solution.answers, solution.reason
    (found,) = solution.answers
    return found.value


# -- none at all ----------------------------------------------------------------------------------------------------


@in_one_test("name", LEFT_OUT)
@in_one_test(
    ("unknown", "truth"),
    [("step_time", COMPUTE), ("throughput", 2000 / COMPUTE), ("normalised_cost", 1.0), ("compute_utilisation", 1.0)],
)
def test_attention_is_left_out_by_whichever_of_its_figures_is_given_as_none(name, unknown, truth):
    solution = solve(unknown, **BUSY, **{name: 0})
    assert only(solution) == pytest.approx(truth, rel=1e-9) and solution.unused == ()
    assert only(solve("step_time", **BUSY)) > 1.03 * COMPUTE, "attention counts where nobody leaves it out"


@in_one_test("name", LEFT_OUT)
def test_a_share_of_memory_time_does_not_count_attention_that_is_none(name):
    memory = (70_553_706_496 + 2000 * 1000 * 163840) / (8 * 4.8e12)
    assert only(solve("memory_time_share", **BUSY, **{name: 0})) == pytest.approx(memory / (memory + COMPUTE), rel=1e-9)


def test_what_follows_from_none_says_so():
    solution = solve("step_time", **BUSY, attention_compute_ratio=0)
    assert solution.provenance["attention_flops_per_sequence"] == "follows from attention_compute_ratio = 0"


def test_none_beside_some_is_a_contradiction():
    reason = solve("step_time", **BUSY, attention_time=0, attention_compute_ratio=0.1).reason
    assert reason.code == "contradiction" and "attention_compute_ratio = 0.1" in reason.message


def test_drafting_that_takes_no_time_is_that_of_drafts_that_cost_nothing_and_not_of_none():
    given = {**BUSY, "draft_tokens": 3, "acceptance_rate": 0.8, "drafting_time": 0}
    assert only(solve("tokens_per_step", **given)) == pytest.approx((1 - 0.8**4) / 0.2)
    assert only(solve("step_time", **given)) == pytest.approx(only(solve("step_time", **{**given, "drafting_time": 1e-12})), rel=1e-6)


def test_a_list_with_none_in_it_is_answered_alike_in_any_order():
    given = {"compute_time": 1e-3, "memory_time": 2e-3, "batch": 10, "chips": 1, "attention_flops_per_sequence": 1e9, "peak_flops": 1e15}
    first, last = (solve("memory_time_share", **given, attention_time=values).sweep.values[0] for values in ([0, 1e-3], [1e-3, 0]))
    assert first == pytest.approx([2 / 3, 1 / 2]) and last == pytest.approx([1 / 2, 2 / 3])


WEIGHTS = {"model": "Llama-3.1-70B", "hardware": "8xH100-SXM:fp8"}


def test_without_context_the_weights_alone_are_read():
    """70 GB over 8 times 3.35 TB/s: 2.612 ms, whichever of them is said to be nothing."""
    for nothing in ({"context_length": 0}, {"context_length": "0 tokens"}, {"kv_cache_bytes": "0"}, {"kv_time": 0.0}):
        solution = solve("step_time", **WEIGHTS, **nothing, batch=1)
        assert solution.value == pytest.approx(70_553_706_496 / (8 * 3.35e12))
        assert f"{next(iter(nothing))} = 0 as a limit: no cache is read or held" in solution.assumptions


def test_a_batch_of_none_holds_the_weights_alone_and_is_no_pass():
    assert solve("memory_demand", **WEIGHTS, batch=0).value == 70_553_706_496
    (bound,) = solve("chips", model="Llama-3.1-70B", hardware="H100-SXM:fp8", batch=0).answers
    assert (bound.low, bound.high) == (70_553_706_496 / 80e9, None)
    with pytest.raises(WrongValue, match="batch = 0: a batch is one sequence at least, and step_time is of a pass"):
        solve("step_time", **WEIGHTS, batch=0, context_length=4096, bytes_per_element=1)


def test_what_has_no_limit_at_nothing_is_refused_as_before():
    for name in ("chips", "hbm_bandwidth", "step_time"):
        assert zeros_with_limit({name: 0}) == {}
    with pytest.raises(WrongValue, match="is asked for and given"):
        solve("context_length", context_length=0, batch=1)


@pytest.mark.parametrize("unknown", ["ttft", "requests_per_second", "cost_per_request"])
def test_requests_of_no_output_are_told_what_to_ask_instead(unknown):
    """Each of the three that are named has an answer with what an embedding is given."""
    given = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "isl": "2k", "chip_price": "2 USD/h"}
    with pytest.raises(WrongValue, match="output_tokens = 0 is prefill alone: leave it out and ask for") as refused:
        solve(unknown, **given, osl="0")
    for name in str(refused.value).partition("ask for ")[2].replace(" or ", ", ").split(", "):
        assert solve(name, **given).answers, name


# -- no cache -------------------------------------------------------------------------------------------------------


@in_one_test(
    ("unknown", "given", "truth"),
    [
        ("step_time", {"batch": 8, "context_length": 4000}, 70_553_706_496 / 4.8e12),
        ("step_time", {"batch": 8}, 70_553_706_496 / 4.8e12),
        ("memory_demand", {"batch": 8, "context_length": 4000}, 70_553_706_496),
        ("balance_batch", {}, 1979e12 / (2 * 4.8e12)),
    ],
)
def test_a_cache_of_no_bytes_is_not_made_again_from_the_figures_of_a_model(unknown, given, truth):
    assert only(solve(unknown, **LLAMA, **given, kv_bytes_per_token=0)) == pytest.approx(truth, rel=1e-9)


def test_the_batch_of_the_talk_needs_no_cache():
    assert only(solve("balance_batch", machine_balance_ratio=300, sparsity=8, kv_bytes_per_token=0)) == 2400


def test_a_cache_of_no_bytes_limits_nothing_and_takes_no_time():
    refused = solve("max_batch", **LLAMA, context_length=4000, kv_bytes_per_token=0)
    assert not refused.answers and "kv_bytes_per_token = 0" in refused.reason.message
    with pytest.raises(WrongValue, match="kv_time is 0 too"):
        solve("kv_time", **LLAMA, batch=8, context_length=4000, kv_bytes_per_token=0)
