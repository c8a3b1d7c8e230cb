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


@in_one_test(("off", "agree"), [(1e-2, False), (-4e-3, True)])
def test_givens_agree_to_three_digits(off, agree):
    reason = solve("throughput", batch=2000, step_time=2.0, compute_time=1.0, memory_time=2.0 * (1 + off)).reason
    assert (reason is None) == agree
    assert agree or reason.code == "contradiction"
