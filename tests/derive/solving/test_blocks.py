"""What follows from several equations: when it is ruled out, when it breaks down, and what it requires."""

from derive.catalogue import equation
from derive.solving.blocks import Joint
from derive.solving.elimination import joint, with_definitions
from derive.solving.matching import Structure

TIMES = tuple(map(equation, ("roofline.compute_time", "roofline.memory_time", "roofline.kv_time", "roofline.step_time")))
AT = {"active_params": 37e9, "mfu": 0.5, "peak_flops": 2e15, "weight_time": 1e-3, "attention_time": 0.0, "tokens_verified_per_step": 1.0}


def batch_of_a_step() -> tuple[Joint, ...]:
    names = ("batch", "compute_time", "memory_time", "kv_time")
    return joint(Structure(TIMES, names), "batch")


def test_it_speaks_of_what_is_left_the_left_side_first():
    (case,) = batch_of_a_step()
    assert case.symbols[0] == "step_time" and {"batch", "hbm_bandwidth"} <= {*case.symbols}
    assert {"compute_time", "memory_time", "kv_time"}.isdisjoint(case.symbols)
    assert case.told.startswith("the 4 equations") and case.id.endswith("and roofline.step_time together")


def test_it_is_ruled_out_where_its_regime_does_not_hold():
    case = Joint(rows=TIMES, sides=("step_time", "memory_time"), wins=(("memory_time", "compute_time"),))
    assert case.ruled_out({"memory_time": 1.0, "compute_time": 2.0})
    assert not case.ruled_out({"memory_time": 2.0, "compute_time": 1.0}) and not case.ruled_out({"memory_time": 1.0})
    idle = Joint(rows=TIMES, sides=("step_time", "memory_time"), idle=True)
    assert idle.ruled_out({"memory_time": 1.0, "step_time": 2.0}) and not idle.ruled_out({"memory_time": 1.0, "step_time": 1.0})


def test_it_breaks_down_where_it_divides_by_nothing():
    case = Joint(rows=TIMES, sides=("batch", ("/", "chips", ("+", "mfu", ("-", "mbu")))))
    assert case.breaks_down({"mfu": 0.5, "mbu": 0.5}, "chips") and not case.breaks_down({"mfu": 0.5, "mbu": 0.4}, "chips")


def test_a_bound_has_its_definitions_put_in_and_their_requirements():
    bound, row = equation("memory.fits"), equation("memory.demand")
    whole = with_definitions(bound, (row,))
    assert whole.sense == bound.sense and "memory_demand" not in whole.symbols and "weight_bytes" in whole.symbols
