"""Routes at arrays of givens: whatever is asked, they answer what the questions asked one by one answer."""

import numpy as np
import pytest

from derive.solving.api import solve
from derive.solving.limits.answering import answer_with_way
from derive.solving.many.vectorised import evaluate_points, pose_at_point
from derive.solving.question.questions import question

RIDGE = {
    **{"ridge_point": 590, "bytes_per_weight": 1, "total_params": 671e9, "active_params": 37e9, "kv_bytes_per_token": 35136},
    **{"context_length": 4000},
}


def test_a_route_on_which_a_quantity_cancelled_is_asked_point_by_point():
    """What the block leaves out has to be able to have a value at every point, and arrays do not look for one."""
    asked = question("memory_time_share", {**RIDGE, "batch": 100.0})
    _, way = answer_with_way(asked)
    batch = np.geomspace(1, 1e4, 50)
    assert way.cancelled and evaluate_points(asked, {"batch": batch}, way) is None
    table = solve("memory_time_share", **RIDGE, batch="1..1e4:log:70").sweep
    singly = [answer_with_way(pose_at_point(asked, {"batch": table.given["batch"]}, at))[0].answers[0].value for at in range(0, 70, 10)]
    assert table.values[0][::10] == pytest.approx(singly, rel=1e-9)


def test_the_batch_of_one_pass_is_in_flight_in_arrays_too():
    given = {"model": "DeepSeek-V3", "hardware": "H100:fp8", "bytes_per_element": 1, "chips": 32}
    for unknown in ("kv_cache_bytes", "memory_demand"):
        table = solve(unknown, **given, context_length=4000, batch="1..4000:log:70").sweep
        singly = [one.value for at in (1, 4000) for one in solve(unknown, **given, context_length=4000, batch=at).answers]
        assert len(table) == 70 and table.values[0, [0, -1]] == pytest.approx(singly, rel=1e-9), unknown


def test_windows_fill_in_arrays_too():
    """Gemma-3-27B from contexts shorter than its windows to longer ones, until nothing fits any more."""
    given = {"model": "Gemma-3-27B", "hardware": "H100:bf16", "bytes_per_element": 2, "chips": 4, "batch": 64}
    table = solve("step_time", **given, context_length="100..1e6:log:70").sweep
    singly = [solve("step_time", **given, context_length=float(one)).answers for one in table.given["context_length"][::10]]
    assert singly[0] and not singly[-1]
    assert table.values[0, ::10] == pytest.approx([answers[0].value if answers else np.nan for answers in singly], rel=1e-9, nan_ok=True)


@pytest.mark.slow
def test_cases_of_a_block_that_speak_of_different_quantities_are_held_side_by_side():
    """One case of the block has the quantity that runs, the other has not."""
    given = {"bytes_per_weight": 1.2, "step_time": 0.007, "chip_price": 0.0046, "machine_balance_ratio": 5600}
    given |= {"hardware": "B200:fp8", "model": "Llama-3-70B"}
    table = solve("throughput", **given, normalised_cost="20..60:lin:70").sweep
    singly = [len(solve("throughput", **given, normalised_cost=cost).answers) for cost in (20, 40, 60)]
    assert [int((~np.isnan(table.values[:, at])).sum()) for at in (0, 69)] == [singly[0], singly[2]]
