"""Givens that contradict each other, and defaults that give way to what was given."""

import pytest

from derive.solving.api import solve
from tests.tools.together import in_one_test


@pytest.mark.parametrize(
    ("given", "violated"),
    [
        ({"compute_time": 1.0, "memory_time": 2.0, "batch": 2000, "step_time": 0.02}, "step_time = Max(compute_time, memory_time)"),
        (
            {"batch": 2000, "step_time": 0.02, "total_params": 1e11, "active_params": 1e10, "sparsity": 8},
            "sparsity = total_params/active_params",
        ),
    ],
)
def test_givens_that_contradict_each_other_are_reported(given, violated):
    reason = solve("throughput", **given).reason
    assert reason.code == "contradiction" and violated in reason.violated
    left = violated.split(" ")[0]
    assert reason.message.startswith(f"contradiction: {left} = ") and "makes it" in reason.message


@in_one_test(("off", "agree"), [(1e-5, False), (-1e-7, True)])
def test_givens_agree_up_to_a_millionth(off, agree):
    reason = solve("throughput", batch=2000, step_time=2.0, compute_time=1.0, memory_time=2.0 * (1 + off)).reason
    assert (reason is None) == agree
    assert agree or reason.code == "contradiction"


OVERSTATED = {"hardware": "8xH200:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 1, "batch": 64}
"""A step of 2.9 ms at least, so that 22 thousand tokens a second are the most."""


@pytest.mark.parametrize(
    ("unknown", "more"),
    [
        ("step_time", {}),
        ("cost_per_token", {"chip_price": "2 USD/h"}),
        ("request_latency", {"prompt_tokens": 4000, "output_tokens": 500}),
    ],
)
@pytest.mark.parametrize("throughput", ["45k", "900k"])
def test_a_throughput_above_the_roofline_is_a_contradiction_whatever_is_asked(unknown, more, throughput):
    """Nobody spoke of drafts, and a default is not taken to be what no deployment without them is."""
    length = {} if "prompt_tokens" in more else {"context_length": 4000}
    reason = solve(unknown, **OVERSTATED, **length, **more, throughput=throughput).reason
    assert reason.code == "contradiction" and "tokens_per_step" not in reason.message.splitlines()[0]
