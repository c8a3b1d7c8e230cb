"""The order of equations: one after another, by a trial value, and what is lacking."""

import pytest

from derive import solve
from derive.solving.engine.plan import Loop, find_plain_way, find_way, lacking_inputs
from derive.solving.question.questions import known_values, question

STEP = {"total_params": 7e10, "active_params": 7e10, "bytes_per_weight": 1, "kv_bytes_per_token": 3e5, "context_length": 4000}
CHIP = {"peak_flops": 2e15, "hbm_bandwidth": 3e12}


def of(unknown, **given):
    """The equations of a question, and all that is known."""
    asked = question(unknown, given)
    return tuple(row for row in asked.active if row.sense == "="), frozenset([*known_values(asked)][-1])


def test_one_equation_after_another_leads_forwards():
    way = find_plain_way("memory_time", *of("memory_time", **STEP, **CHIP, chips=8, batch=4))
    assert way.unknown == "memory_time" and {leg.unknown for leg in way.legs} == {"weight_time", "kv_time", "memory_time"}


def test_a_batch_that_stands_twice_in_a_step_is_tried():
    rows, known = of("batch", **STEP, **CHIP, chips=8, step_time=0.02)
    assert find_plain_way("batch", rows, known) is None
    (loop,) = (leg for leg in find_way("batch", rows, known).legs if isinstance(leg, Loop))
    assert loop.unknown == "batch" and loop.closing.id == "roofline.step_time" and loop.goes_forwards


def test_two_results_and_two_unknowns_are_a_loop_inside_a_loop():
    """With chips = 8 and a batch of 64, and back from what a step takes and what a token costs."""
    given = {**STEP, **CHIP, "chip_price": 5e-4}
    results = {name: solve(name, anyway=True, **given, chips=8, batch=64).value for name in ("step_time", "cost_per_token")}
    for unknown, value in (("chips", 8), ("batch", 64)):
        assert solve(unknown, anyway=True, **given, **results).value == pytest.approx(value, rel=1e-9)


def test_what_is_lacking_is_what_nothing_defines():
    rows, known = of("step_time", **STEP, chips=8, batch=4)
    assert {*lacking_inputs("step_time", rows, known)[0]} == {"peak_flops", "hbm_bandwidth"}


def test_an_answer_that_an_unknown_quantity_does_not_move_is_given():
    """The share of memory time is of a ratio of rates: the peak itself may be anything."""
    given = {"ridge_point": 600, "bytes_per_weight": 1, "total_params": 671e9, "active_params": 37e9}
    found = solve("memory_time_share", **given, kv_bytes_per_token=35136, batch=1000, context_length=8000)
    assert found.value == pytest.approx(0.8853162667, rel=1e-9)
