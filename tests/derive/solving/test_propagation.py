"""What values lead to by putting them into right sides: all of it, in whatever order, and nothing that is not known."""

from derive.catalogue import equation
from derive.catalogue.arithmetic import maximum
from derive.records import Equation
from derive.requirements import Requirement
from derive.solving.question.propagation import follow_values, rows_behind


def made_up(relation, name: str = "made_up", **more) -> Equation:
    return Equation(id=f"test.{name}", title="Made up", relation=relation, statement="Made up.", sources=(), **more)


STEP = made_up(lambda step_time, compute_time, memory_time: (step_time, maximum(compute_time, memory_time)), "step")
RATE = made_up(lambda throughput, batch, step_time: (throughput, batch / step_time), "rate")
COST = made_up(lambda cost_per_token, chip_price, throughput: (cost_per_token, chip_price / throughput), "cost")
SWEEP = equation("scheduling.sweep_time")
ROWS = (STEP, RATE, COST, SWEEP)
GIVEN = {"compute_time": 0.01, "memory_time": 0.02, "batch": 64.0, "chip_price": 1.6e-3}
FOUND = {**GIVEN, "step_time": 0.02, "throughput": 3200.0, "cost_per_token": 1.6e-3 / 3200.0}


def test_what_follows_leads_further_and_what_lacks_a_value_stays_out():
    assert follow_values(ROWS, GIVEN) == FOUND
    assert follow_values(ROWS, {**GIVEN, "hbm_bandwidth": 2e13}) == {**FOUND, "hbm_bandwidth": 2e13}, "a sweep needs the capacity too"
    machine = {"hbm_bandwidth": 2e13, "hbm_capacity": 2.88e11}
    assert follow_values(ROWS, {**GIVEN, **machine}) == {**FOUND, **machine, "sweep_time": 0.0144}
    assert follow_values((), GIVEN) == GIVEN


def test_what_is_given_is_never_worked_out_anew():
    assert follow_values(ROWS, {**GIVEN, "step_time": 5.0}) == {
        **FOUND,
        "step_time": 5.0,
        "throughput": 12.8,
        "cost_per_token": 1.6e-3 / 12.8,
    }


def test_a_bound_of_one_side_and_a_broken_requirement_lead_to_nothing():
    at_most = made_up(lambda step_time, batch: (step_time, 2 * batch), sense="<=")
    few = made_up(lambda step_time, batch: (step_time, 2 * batch), requires=(Requirement(holds=lambda batch: batch < 3),))
    assert follow_values((at_most,), {"batch": 2.0}) == {"batch": 2.0}
    assert follow_values((few,), {"batch": 2.0}) == {"batch": 2.0, "step_time": 4.0}
    assert follow_values((few, RATE), {"batch": 4.0}) == {"batch": 4.0}


def test_what_leads_to_a_quantity_brings_it_to_the_same_and_leaves_the_rest():
    assert rows_behind(("throughput",), ROWS) == (STEP, RATE)
    assert rows_behind(("cost_per_token", "hbm_capacity"), ROWS) == (STEP, RATE, COST), "nothing gives a capacity"
    rested = follow_values(rows_behind(("throughput",), ROWS), GIVEN)
    assert rested == {name: value for name, value in FOUND.items() if name != "cost_per_token"}
