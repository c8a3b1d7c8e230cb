"""What is given of a quantity that the rest would make: none of it, or not what a preset makes it."""

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve
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


@in_one_test("name", LEFT_OUT)
@in_one_test(
    ("unknown", "truth"),
    [("step_time", COMPUTE), ("throughput", 2000 / COMPUTE), ("normalised_cost", 1.0), ("compute_utilisation", 1.0)],
)
def test_attention_is_left_out_by_whichever_of_its_figures_is_given_as_none(name, unknown, truth):
    solution = solve(unknown, **BUSY, **{name: 0})
    assert only(solution) == pytest.approx(truth, rel=1e-9) and solution.unused == ()
    assert only(solve("step_time", **BUSY)) > 1.03 * COMPUTE, "attention counts where nobody leaves it out"


WEIGHTS = {"model": "Llama-3.1-70B", "hardware": "8xH100-SXM:fp8"}


def test_without_context_the_weights_alone_are_read():
    """70 GB over 8 times 3.35 TB/s: 2.612 ms, whichever of them is said to be nothing."""
    for nothing in ({"context_length": 0}, {"context_length": "0 tokens"}, {"kv_cache_bytes": "0"}, {"kv_time": 0.0}):
        solution = solve("step_time", **WEIGHTS, **nothing, batch=1)
        assert solution.value == pytest.approx(70_553_706_496 / (8 * 3.35e12))


def test_no_cache_leaves_the_weights_alone_in_memory():
    assert solve("memory_demand", **WEIGHTS, kv_cache_bytes=0).value == 70_553_706_496
    (bound,) = solve("chips", model="Llama-3.1-70B", hardware="H100-SXM:fp8", kv_cache_bytes=0).answers
    assert (bound.low, bound.high) == (70_553_706_496 / 80e9, None)


@pytest.mark.parametrize("unknown", ["ttft", "requests_per_second", "cost_per_request"])
def test_requests_of_no_output_are_told_what_to_ask_instead(unknown):
    """Each of the three that are named has an answer with what an embedding is given."""
    given = {"hardware": "8xH100:fp8", "model": "Llama-3.1-70B", "isl": "2k", "chip_price": "2 USD/h"}
    with pytest.raises(WrongValue, match="output_tokens = 0 means only prefill: remove it and ask for") as refused:
        solve(unknown, **given, osl="0")
    for name in str(refused.value).partition("ask for ")[2].replace(" or ", ", ").split(", "):
        assert solve(name, **given).answers, name


def test_a_cache_of_no_bytes_limits_nothing_and_takes_no_time():
    refused = solve("max_batch", **LLAMA, context_length=4000, kv_bytes_per_token=0)
    assert not refused.answers and "= 0 nothing limits batch" in refused.reason.message
    assert solve("kv_time", **LLAMA, batch=8, context_length=4000, kv_bytes_per_token=0).value == 0
