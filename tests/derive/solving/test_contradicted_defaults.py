"""Givens that contradict each other, and defaults that give way to what was given."""

import pytest

from derive.solving.api import solve
from tests.tools.asked import CROSSOVER, value
from tests.tools.together import in_one_test


def test_drafting_that_was_measured_is_no_contradiction_of_drafts_that_cost_nothing():
    """10 ms of drafts before 20 ms of reads."""
    assert value(solve("step_time", compute_time=0.01, memory_time=0.02, drafting_time=0.01)) == pytest.approx(0.03)


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


@in_one_test(
    ("unknown", "given"),
    [
        # right sides off their domain: a division by zero in what the givens lead to
        ("sparsity", {"total_params": "671B", "active_params": "37B", "attention_flops_per_pair": 0, "attention_context": "100k"}),
        ("compute_utilisation", {"batch": 4800, "balance_batch_with_kv": 5000, "context_length": "100k", "balance_context": "100k"}),
        (
            "compute_utilisation",
            {"batch": 4800, "balance_batch": 2400, "balance_batch_with_kv": 5000, "context_length": "100k", "balance_context": "100k"},
        ),
    ],
)
def test_impossible_givens_are_a_reason_and_no_exception(unknown, given):
    solution = solve(unknown, **given)
    assert solution.answers == () and solution.reason.code in ("contradiction", "requirement_violated")
    assert solution.reason.violated and all(text in solution.reason.message for text in solution.reason.violated)


def test_a_given_against_what_follows_from_the_others_is_a_contradiction():
    """L* of 200 k by the threshold and R = 5 at two balance batches cannot both be (E3 against E8 of tests/validation/notes.csv)."""
    reason = solve(
        "batch",
        using=["readings.output_input_ratio", "batching.practical_batch"],
        **{"batch_multiple": 2, "machine_balance_ratio": 300, "sparsity": 8, "output_input_ratio": 5},
        **{"context_length": 2e5, "balance_context": 2e5},
    ).reason
    assert reason.code == "contradiction"


def test_readings_named_together_that_contradict_are_reported_whatever_is_asked():
    solution = solve(
        "kv_bytes_per_token",
        using=["readings.threshold_is_crossover", "readings.output_input_ratio", "batching.practical_batch"],
        **CROSSOVER,
        **{"batch_multiple": 2, "sparsity": 8, "output_input_ratio": 5, "mfu": 1, "mbu": 1},
    )
    assert solution.answers == () and solution.reason.code == "contradiction"


SERVED = {"model": "Llama-3.3-70B", "hardware": "H100-SXM:fp8", "chips": 8}
WORK_DONE = 2 * 70_553_706_496 / (8 * 1979e12)


@pytest.mark.parametrize("throughput", [1.001 / WORK_DONE, 900_000])
def test_a_rate_above_the_roof_has_no_share_of_it(throughput):
    solution = solve("compute_utilisation", **SERVED, throughput=throughput)
    assert solution.answers == () and solution.reason.code == "no_solution"


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


def test_what_a_default_was_found_from_is_not_said_to_be_unused():
    solution = solve("step_time", **OVERSTATED, context_length=4000, throughput="15k")
    assert any(text.startswith("mbu = ") for text in solution.assumptions) and solution.unused == ()
