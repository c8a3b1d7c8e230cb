"""The smallest set of equations that determines its unknowns."""

from derive.catalogue import equation
from derive.solving.matching import determined, upstream

STEP = tuple(map(equation, ("roofline.step_time", "roofline.memory_time", "roofline.kv_time", "roofline.compute_time")))
GIVEN = frozenset(name for row in STEP for name in row.symbols) - {"batch", "memory_time", "kv_time", "compute_time"}


def test_a_block_is_the_smallest_that_determines_its_unknowns():
    block = determined("batch", STEP, GIVEN)
    assert set(block.rows) == set(STEP) and set(block.names) == {"batch", "memory_time", "kv_time", "compute_time"}
    assert block.free == ()


def test_one_given_less_and_nothing_is_determined():
    assert determined("batch", STEP, GIVEN - {"step_time"}) is None
    assert "hbm_bandwidth" not in upstream("batch", STEP, GIVEN - {"hbm_bandwidth", "peak_flops"}).names
