"""Memory before time: what is short, by how much, and what would fit."""

import pytest

from derive.ranges import solve

WEIGHTS, PER_TOKEN, CHIP = 671e9, 61 * 576, 80e9
DEPLOYED = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": 4000}
BATCH_THAT_FITS = (16 * CHIP - WEIGHTS) / (4000 * PER_TOKEN)


def test_the_shortfall_is_said_in_bytes_before_any_time():
    solution = solve("step_time", **DEPLOYED, chips=16, batch=24000)
    assert solution.answers == () and solution.reason.code == "does_not_fit"
    assert solution.reason.violated == ("memory_demand <= memory_capacity",)
    short = WEIGHTS + 24000 * 4000 * PER_TOKEN - 16 * CHIP
    assert f"{short / 1e12:.4g} TB short" in solution.reason.message


def test_what_would_fit_fits_and_a_little_more_does_not():
    second = solve("step_time", **DEPLOYED, chips=16, batch=24000).reason.message.splitlines()[1]
    for name in ("chips at least", "batch at most", "context_length at most", "kv_bytes_per_token at most", "bytes_per_element at most"):
        assert name in second
    assert f"batch at most {BATCH_THAT_FITS:.4g}" in second
    for change, fits in (
        ({"batch": BATCH_THAT_FITS}, True),
        ({"batch": BATCH_THAT_FITS * 1.001}, False),
        ({"batch": 24000, "context_length": 722}, True),
        ({"batch": 24000, "context_length": 723}, False),
        ({"batch": 24000, "chips": 51}, True),
        ({"batch": 24000, "chips": 50}, False),
        ({"batch": 24000, "bytes_per_element": 0.18}, True),
        ({"batch": 24000, "bytes_per_element": 0.181}, False),
    ):
        assert bool(solve("step_time", **{**DEPLOYED, "chips": 16, **change}).answers) == fits, change


def test_weights_alone_that_do_not_fit_leave_only_chips_to_change():
    reason = solve("weight_time", **DEPLOYED, chips=8, batch=1).reason
    assert reason.code == "does_not_fit" and "KV cache" not in reason.message
    assert reason.message.splitlines()[1] == "what would fit, all else as it is: chips at least 9"
    assert solve("weight_time", **DEPLOYED, chips=9, batch=1).answers


def test_pipeline_stages_hold_their_share():
    assert solve("step_time", **DEPLOYED, chips=8, batch=10).reason.code == "does_not_fit"
    assert solve("step_time", **DEPLOYED, chips=8, pipeline_stages=2, batch=10).answers


def test_sequences_in_flight_count_where_they_are_given():
    assert solve("step_time", **DEPLOYED, chips=16, batch=100).answers
    assert solve("step_time", **DEPLOYED, chips=16, batch=100, sequences_in_flight=1e4).reason.code == "does_not_fit"


def test_anyway_answers_and_says_what_is_short():
    solution = solve("step_time", **DEPLOYED, chips=16, batch=24000, anyway=True)
    assert solution.answers[0].value == pytest.approx((WEIGHTS + 24000 * 4000 * PER_TOKEN) / (16 * 3.35e12))
    (warning,) = solution.warnings
    assert warning.startswith("does not fit") and "\n" not in warning


def test_chips_that_nobody_spoke_of_are_a_warning():
    solution = solve("step_time", **DEPLOYED, batch=10)
    assert solution.answers and "80 GB of 1 chip" in solution.warnings[0]


def test_an_answer_that_does_not_fit_is_none():
    """A batch for a step time is of no use if its cache is nowhere."""
    assert solve("batch", **DEPLOYED, chips=16, step_time=0.03).reason.code == "does_not_fit"
    assert solve("chips", **DEPLOYED, step_time=0.03, cost_per_token=1e-6, chip_price="2 USD/h").reason.code == "does_not_fit"
    (only,) = solve("batch", **DEPLOYED, chips=16, step_time=0.015).answers
    assert only.value < BATCH_THAT_FITS


@pytest.mark.parametrize("unknown", ["balance_batch", "sweep_time", "sparsity", "normalised_cost"])
def test_a_route_that_reads_no_memory_is_not_held_to_it(unknown):
    assert solve(unknown, **DEPLOYED, chips=1, batch=24000).answers


def test_without_a_capacity_nothing_is_said():
    given = {name: known for name, known in DEPLOYED.items() if name != "hardware"}
    chip = {"peak_flops": 1e15, "hbm_bandwidth": 3e12, "bytes_per_weight": 1, "chips": 1, "batch": 24000}
    solution = solve("step_time", **given, **chip)
    assert solution.answers and solution.warnings == ()


def test_memory_that_is_given_as_such_is_what_has_to_hold_the_cache():
    solution = solve("kv_time", chips=4, hbm_bandwidth="3TB/s", hbm_capacity="250GB", kv_bytes_per_token="70kB",
                     context_length="8k", batch=3000, total_params="100B", bytes_per_weight=1, memory_capacity="1TB")  # fmt: skip
    assert solution.answers == () and solution.reason.code == "does_not_fit"
    assert " short" in solution.reason.message


def test_memory_that_nothing_is_known_of_but_its_size_has_no_chips_to_speak_of():
    given = {"hbm_bandwidth": "3TB/s", "chips": 2, "total_params": "7B", "bytes_per_weight": 1, "memory_capacity": "5GB"}
    solution = solve("weight_time", **given)
    assert solution.reason.code == "does_not_fit" and "7 GB in the 5 GB, 2 GB short" in solution.reason.message
