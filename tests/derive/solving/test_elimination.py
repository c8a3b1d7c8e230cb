"""Solving a block: what cancels is seen, and what several equations compare is decided once."""

from collections import Counter
from random import Random
from time import process_time

import pytest

from derive import solve
from derive.answers import Answer
from derive.catalogue import equation
from derive.expressions.branches import regimes_of
from derive.quantities import quantity
from derive.solving.blocks import Joint
from derive.solving.defaults import with_defaults
from derive.solving.elimination import joint, that_cancel
from derive.solving.matching import Structure, upstream
from derive.solving.result import Reason
from derive.trees import tree_of
from tests.tools.blocks import borne_out, by_last_digits, cancels, verdicts
from tests.tools.eliminated_by_sympy import eliminated

RIDGE = {
    **{"ridge_point": 590, "bytes_per_weight": 1, "total_params": 671e9, "active_params": 37e9, "kv_bytes_per_token": 35136},
    **{"context_length": 4000, "batch": 100},
}
PLAIN = (("attention_time", 0), ("drafting_time", 0), ("kv_replication", 1), ("tokens_verified_per_step", 1))


def test_cancelling_is_seen_at_random_values_and_by_name():
    others = ("memory_time", "compute_time", "weight_time", "kv_time")
    rows = (with_defaults(equation("roofline.memory_time_share"), PLAIN), *(equation(f"roofline.{name}") for name in others))
    rows += (equation("batching.ridge_point"),)
    known = frozenset({*RIDGE, "chips", "mfu", "mbu", "kv_replication"})
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
    block = Structure((row,), ("activated_experts",), ("batch",))
    assert joint(block, "activated_experts") == () and that_cancel(block, "activated_experts") == frozenset()


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


PREFILL = (equation("serving.cached_tokens"), equation("architecture.prefill_read_entries"))
UNCACHED = {"cache_hit_share": 0.0, "prefill_read_entries": 400.0, "selected_entries": 1000.0}
NONE = ((), Reason(code="no_solution"))
"""Of so few tokens half are read at the mean place: 800 are asked for."""


def points(*values):
    return tuple(Answer(kind="point", value=value) for value in values), None


@pytest.mark.parametrize(
    ("ours", "theirs", "right"),
    [
        (points(800.0), NONE, True),
        (NONE, points(800.0), False),
        (points(700.0), points(800.0), False),
        (points(800.0), points(800.0, 900.0), True),
        (points(800.0, 900.0), points(800.0), False),
        (((Answer(kind="interval", low=1.0, high=2000.0),), None), points(800.0), False),
    ],
)
def test_of_two_that_differ_the_equations_bear_out_the_one_at_whose_answers_they_hold(ours, theirs, right):
    block = Structure(PREFILL, ("cached_tokens", "uncached_tokens"))
    assert borne_out(block, "uncached_tokens", UNCACHED, ours, theirs) is right


def test_a_plateau_is_borne_out_to_where_it_begins():
    """As long as compute takes longer, memory time is anything up to the step time."""
    block = Structure((equation("roofline.step_time"),), ("memory_time",))
    values = {"step_time": 0.02, "compute_time": 0.02, "attention_time": 0.0, "drafting_time": 0.0, "tokens_verified_per_step": 1.0}
    whole, part = (((Answer(kind="interval", low=low, high=0.02),), None) for low in (None, 1e-5))
    assert borne_out(block, "memory_time", values, whole, part)
    assert not borne_out(block, "memory_time", values, part, whole)


TOUCHED = {
    **{"experts": 13.237568574777868, "active_experts": 1.0334616166587205, "attention_time": 3.648667838331289e-07, "mfu": 1.0},
    **{"chips": 221.69046734192338, "mbu": 0.15621122424201406, "attention_compute_ratio": 0.006754524039421048},
    **{"peak_flops": 88702484887112.33, "tokens_verified_per_step": 4.922001527229735, "attention_rate_ratio": 0.20613855748532445},
    **{"kv_bytes_per_token": 3593725.704643722, "ridge_point": 1.6269691172587, "balance_context": 498.26256283861017},
}


def test_last_digits_decide_how_many_copies_there_are_once_all_experts_are_touched():
    """Of 13.2 experts all but a ten-billionth is activated: what is left of its digits says how large the batch is, and all behind it."""
    ids = ("experts.touched_experts", "roofline.attention_time", "context.attention_compute_ratio", "context.balance_context")
    block = Structure(tuple(map(equation, ids)), ("batch", "attention_flops_per_sequence", "active_params", "kv_replication"))
    cases = eliminated(block, "kv_replication")
    assert by_last_digits(cases, "kv_replication", {**TOUCHED, "activated_experts": 13.237568573099127})
    assert not by_last_digits(cases, "kv_replication", {**TOUCHED, "activated_experts": 12.0})


def test_what_moves_a_result_does_not_cancel_though_it_does_where_all_experts_are_touched():
    """At so large a batch the formula of one active expert has the same result as any other: in practice it has not."""
    row = equation("experts.prefill_touched_experts")
    block = Structure((row,), ("prefill_activated_experts", "active_experts"), ("active_experts",))
    values = {"experts": 64.0, "active_experts": 6.0, "batch": 1e4, "new_tokens_per_pass": 1e4, "prefill_activated_experts": 64.0}
    of_one = tree_of("experts*(1 - (1 - 1/experts)**(batch*new_tokens_per_pass))")
    case = Joint(rows=(row,), sides=("prefill_activated_experts", of_one), cancelled=("active_experts",))
    assert not cancels(block, "prefill_activated_experts", values, (case,))


def test_a_block_that_takes_too_much_work_is_given_up():
    """By the count of its parts, so that the same question is answered alike on any machine: without, this one takes a minute."""
    given = {
        **{"balance_context_with_attention": 37.6, "cache_hit_share": 0.33, "cached_tokens": 6400, "compute_bound_chunk": 210},
        **{"input_markup": 102, "kv_bytes_per_sequence": 2.26e9, "memory_time_share": 0.991, "prefill_weight_compute_ratio": 998},
        **{"prefill_weight_time": 0.00087, "price_per_hbm_byte": 2e-16},
    }
    begun = process_time()
    assert solve("prefill_attention_factor", given=given).reason.code == "missing_givens"
    assert process_time() - begun < 5


def test_terms_that_cancel_altogether_end_in_an_answer_or_a_refusal():
    given = {
        **{"batch": 100, "chips": 8, "compute_utilisation": 0.05, "fleet_chips": 64, "fleet_throughput": "10k", "hop_latency": "100us"},
        **{"microbatches": 8, "normalised_cost": 140, "step_time": "20ms"},
    }
    solution = solve("idle_fraction", given=given)
    assert solution.answers or solution.reason
