"""Questions that take a trial value, and answers that an unknown quantity does not move."""

import pytest

from derive import solve

STEP = {"total_params": 7e10, "active_params": 7e10, "bytes_per_weight": 1, "kv_bytes_per_token": 3e5, "context_length": 4000}


def test_two_results_and_two_unknowns_are_a_loop_inside_a_loop():
    """With chips = 8 and a batch of 64, and back from what a step takes and what a token costs."""
    given = {**STEP, "peak_flops": 2e15, "hbm_bandwidth": 3e12, "chip_price": 5e-4}
    results = {name: solve(name, anyway=True, **given, chips=8, batch=64).value for name in ("step_time", "cost_per_token")}
    for unknown, value in (("chips", 8), ("batch", 64)):
        assert solve(unknown, anyway=True, **given, **results).value == pytest.approx(value, rel=1e-9)


def test_an_answer_that_an_unknown_quantity_does_not_move_is_given():
    """The share of memory time is of a ratio of rates: the peak itself may be anything."""
    given = {"ridge_point": 600, "bytes_per_weight": 1, "total_params": 671e9, "active_params": 37e9}
    found = solve("memory_time_share", **given, kv_bytes_per_token=35136, batch=1000, context_length=8000)
    assert found.value == pytest.approx(0.8853162667, rel=1e-9)
