"""Formulas beside small simulations of what they are about: what is solved is what is seen to happen."""

from random import Random

import pytest

from tests.tools.asked import value_of
from tests.tools.simulations import checks, mean, passes, rides, ring
from tests.tools.together import in_one_test

STEP = 20e-3
ERRORS = 4
"""Standard errors that a mean of draws may be off."""

SCHEDULES = [
    pytest.param(stages, microbatches, hop, id=f"{microbatches} on {stages}, hops of {1e3 * hop:g} ms")
    for stages, microbatches, hop in (
        *((4, 1, 1e-6), (4, 2, 1e-6), (4, 4, 1e-6), (2, 3, 1e-6), (1, 1, 2.5e-3), (1, 3, 2.5e-3)),
        *((4, 4, 2.5e-3), (4, 5, 2.5e-3), (4, 6, 2.5e-3), (4, 8, 2.5e-3), (8, 3, 1e-3), (3, 7, 5e-3)),
    )
]


def decoding(stages: int, microbatches: int, hop: float) -> dict[str, float]:
    return {"step_time": STEP, "pipeline_stages": stages, "microbatches": microbatches, "hop_latency": hop}


@in_one_test(("stages", "microbatches", "hop"), SCHEDULES)
def test_a_token_takes_as_long_as_its_microbatch_takes_round_the_stages(stages, microbatches, hop):
    seen = ring(stages, microbatches, STEP, hop)
    assert value_of("token_latency", **decoding(stages, microbatches, hop)) == pytest.approx(seen.token_latency, rel=1e-9)


@in_one_test(("stages", "microbatches", "hop"), SCHEDULES)
def test_stages_idle_as_long_as_no_microbatch_is_there(stages, microbatches, hop):
    seen = ring(stages, microbatches, STEP, hop)
    assert value_of("idle_fraction", **decoding(stages, microbatches, hop)) == pytest.approx(seen.idle_fraction, abs=1e-9)


@in_one_test(("stages", "microbatches", "hop"), SCHEDULES)
def test_every_pass_that_ends_gives_a_batch_its_tokens(stages, microbatches, hop):
    seen = ring(stages, microbatches, STEP, hop)
    found = value_of("throughput", **decoding(stages, microbatches, hop), batch=100, tokens_per_step=1)
    assert found == pytest.approx(100 * seen.passes_per_second, rel=1e-9)


@in_one_test(("acceptance_rate", "draft_tokens"), [(0.8, 4), (0.5, 1), (0.1, 8), (0.95, 3)])
def test_tokens_of_a_step_are_those_of_drafts_that_are_checked(acceptance_rate, draft_tokens):
    seen = mean(checks(Random(draft_tokens), acceptance_rate, draft_tokens, 40_000))
    found = value_of("tokens_per_step", acceptance_rate=acceptance_rate, draft_tokens=draft_tokens)
    assert found == pytest.approx(seen.value, abs=ERRORS * seen.error)


@pytest.mark.parametrize(("batch", "bound"), [(16, "memory"), (100, "arithmetic with drafts"), (4000, "arithmetic")])
def test_the_rate_with_drafts_is_what_drafting_and_checking_take(batch, bound):
    """A model of 70e9 bytes on a chip of 1e13 byte/s and 6e15 FLOP/s, a cache of 5e7 bytes a sequence; 4 drafts at a tenth."""
    chip = {"peak_flops": 6e15, "hbm_bandwidth": 1e13, "bytes_per_weight": 1, "active_params": 70e9, "total_params": 70e9}
    cache = {"context_length": 1000, "kv_bytes_per_token": 5e4}
    drafts = {"acceptance_rate": 0.8, "draft_tokens": 4, "draft_cost_ratio": 0.1}
    compute_time, memory_time = 2 * batch * 70e9 / 6e15, (70e9 + batch * 5e7) / 1e13
    verified = "arithmetic with drafts" if 5 * compute_time > memory_time else "memory"
    assert bound == ("arithmetic" if compute_time > memory_time else verified)
    count = 40_000
    took = passes(compute_time, memory_time, 4, 0.1, count)
    tokens = mean(checks(Random(batch), 0.8, 4, count))
    found = value_of("throughput", batch=batch, chips=1, **chip, **cache, **drafts)
    assert found == pytest.approx(batch * tokens.value * count / took, rel=ERRORS * tokens.error / tokens.value)


def test_who_arrives_at_any_time_waits_half_a_period_on_average_and_one_at_worst():
    waits = rides(Random(7), STEP, 40_000)
    seen = mean(waits)
    assert value_of("mean_latency", train_period=STEP) == pytest.approx(seen.value, abs=ERRORS * seen.error)
    worst = value_of("worst_latency", train_period=STEP)
    assert 0.999 * worst < max(waits) <= worst
