"""Solving a block: what cancels is seen, and what several equations compare is decided once."""

from collections import Counter
from random import Random

from derive.catalogue import equation
from derive.expressions.branches import regimes_of
from derive.quantities import quantity
from derive.solving.defaults import with_defaults
from derive.solving.elimination import joint, that_cancel
from derive.solving.matching import Structure, upstream
from tests.tools.blocks import verdicts

RIDGE = {
    **{"ridge_point": 590, "bytes_per_weight": 1, "total_params": 671e9, "active_params": 37e9, "kv_bytes_per_token": 35136},
    **{"context_length": 4000, "batch": 100},
}
PLAIN = (("attention_time", 0), ("drafting_time", 0), ("kv_copies", 1), ("positions_per_step", 1))


def test_cancelling_is_seen_at_random_values_and_by_name():
    others = ("memory_time", "compute_time", "weight_time", "kv_time")
    rows = (with_defaults(equation("roofline.memory_time_share"), PLAIN), *(equation(f"roofline.{name}") for name in others))
    rows += (equation("batching.ridge_point"),)
    known = frozenset({*RIDGE, "chips", "mfu", "mbu", "kv_copies"})
    block = upstream("memory_time_share", rows, known)
    (free,) = block.free
    assert free in ("peak_flops", "hbm_bandwidth") and that_cancel(block, "memory_time_share") == {free}
    (case,) = joint(block, "memory_time_share")
    assert free not in case.symbols and case.cancelled == (free,)
    assert joint(upstream("memory_time", rows, known), "memory_time") == ()


def test_two_terms_that_several_equations_compare_are_decided_once():
    """A window caps what is read and what is multiplied with, and is full in both or in neither: 8 regimes, not the 16 as written."""
    held = ("window_kv_bytes", "read_entries_compressed", "selected_kv_bytes", "fixed_kv_bytes", "kv_read_per_sequence")
    multiplied = ("window_attention_flops_shared", "selected_attention_flops_compressed", "attention_flops_compressed")
    times = ("roofline.attention_time", "context.kv_time_fixed", "roofline.memory_time", "roofline.step_time")
    rows = tuple(map(equation, (*(f"architecture.{name}" for name in (*held, *multiplied)), *times)))
    names = ("context_length", *(row.defines for row in rows if row.defines != "step_time"))
    (case,) = joint(Structure(rows, names), "context_length")
    assert len(regimes_of(case)) == 8


def test_what_must_not_cancel_does_not():
    """Where nearly all experts are read the batch moves nothing at numbers, but it is not gone."""
    row = equation("experts.touched_experts")
    block = Structure((row,), ("touched_experts",), ("batch",))
    assert joint(block, "touched_experts") == () and that_cancel(block, "touched_experts") == frozenset()


def test_a_block_comes_to_what_sympy_makes_of_it():
    """At a state that waits for memory, at one that is busy, and beside both."""
    names = ("compute_time", "memory_time", "weight_time", "kv_time", "step_time")
    rows = tuple(with_defaults(equation(f"roofline.{name}"), PLAIN) for name in names)
    values = {row.symbols[0]: 1.0 for row in rows} | {name: quantity(name).at(0.5) for row in rows for name in row.inputs}
    found = Counter[str]()
    for step in (1e-3, 1.0):
        for unknown in ("batch", "active_params", "hbm_bandwidth"):
            others = tuple(name for name in names if name != "step_time")
            block = Structure(rows, (unknown, *others))
            found.update(verdict for verdict in verdicts(Random(5), (block, unknown, {**values, "step_time": step})))
    assert found["answered alike"] > 4 and {*found} <= {"answered alike", "refused alike"}, found
