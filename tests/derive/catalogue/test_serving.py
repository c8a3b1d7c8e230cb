"""Serving methods against what can be counted: drafts played out one by one, chunks put on board, pools kept busy."""

import itertools

import pytest

from derive.solving.api import solve
from tests.tools.asked import value_of


@pytest.mark.parametrize(("rate", "drafted"), [(0.5, 1), (0.8, 4), (0.6, 8)])
def test_tokens_per_step_are_the_mean_over_all_ways_a_draft_can_go(rate, drafted):
    """Each way is a row of accepted and refused tokens; up to the first refusal they count, and the check adds one."""
    mean = 0.0
    for accepted in itertools.product((True, False), repeat=drafted):
        chance = rate ** sum(accepted) * (1 - rate) ** (drafted - sum(accepted))
        mean += chance * (1 + len(list(itertools.takewhile(bool, accepted))))
    assert value_of("tokens_per_step", acceptance_rate=rate, draft_tokens=drafted) == pytest.approx(mean, rel=1e-12)


def test_a_free_chunk_does_not_slow_the_step_and_a_larger_one_does():
    times = {"batch": 64, "compute_time": 0.002, "memory_time": 0.010}
    free = value_of("free_prefill_chunk", **times)
    assert free == pytest.approx(64 * 4)
    assert value_of("mixed_step_time", **times, prefill_chunk=free) == pytest.approx(times["memory_time"])
    assert value_of("mixed_step_time", **times, prefill_chunk=0.99 * free) == times["memory_time"]
    assert value_of("mixed_step_time", **times, prefill_chunk=1.01 * free) > times["memory_time"]


def test_a_pass_of_the_compute_bound_chunk_costs_its_floor_and_one_of_less_does_not():
    given = {"balance_batch": 2400, "batch": 600, "context_length": 1e5, "balance_context": 1e5}
    chunk = value_of("compute_bound_chunk", **given)
    assert chunk == 5
    assert value_of("prefill_normalised_cost", **given, new_tokens_per_pass=chunk) == 1
    assert value_of("prefill_normalised_cost", **given, new_tokens_per_pass=chunk / 2) == 2


def test_neither_pool_waits_for_the_other():
    """With the ratio of chips, both pools finish the tokens of a request in the same time."""
    given = {"prompt_tokens": 4000, "output_tokens": 500, "prefill_rate_per_chip": 20_000, "decode_rate_per_chip": 800}
    ratio = value_of("prefill_decode_chip_ratio", **given)
    prefill = given["prompt_tokens"] / (ratio * given["prefill_rate_per_chip"])
    assert prefill == pytest.approx(given["output_tokens"] / given["decode_rate_per_chip"])


WITH_PROMPTS = ("serving.requests_per_second_with_prompts", "serving.request_latency_with_prompts")
SHARED = {"output_tokens": 40, "step_time": 0.01, "prefill_time": 0.05, "queue_time": 0}
"""A request of 40 steps of 10 ms, and of a prompt of 50 ms on the same chips."""
ONE_MORE = {**SHARED, "output_tokens": 41}
"""The same request as a latency counts it: its prompt yields a token as well."""


@pytest.mark.parametrize("batch", [1, 8])
def test_a_replica_that_computes_prompts_too_serves_as_fast_as_when_it_is_played_out(batch):
    """A sequence that is finished makes room for one whose prompt comes next, and waits for; the others stand still."""
    clock, begun, left = 0.0, [0.0] * batch, [1 + 40 * place // batch for place in range(batch)]
    latencies = []
    while len(latencies) < 2000:
        clock += SHARED["step_time"]
        left = [steps - 1 for steps in left]
        for place in (place for place, steps in enumerate(left) if not steps):
            latencies.append(clock - begun[place])
            begun[place], left[place] = clock, 40
            clock += SHARED["prefill_time"]
    after = latencies[1000:]
    assert value_of("request_latency", WITH_PROMPTS[1], **ONE_MORE, batch=batch) == pytest.approx(sum(after) / len(after), rel=1e-3)
    assert value_of("requests_per_second", WITH_PROMPTS[0], **SHARED, batch=batch) == pytest.approx(len(latencies) / clock, rel=1e-2)


def test_summaries_and_chosen_blocks_read_the_square_root_of_the_context():
    """A search over block sizes finds no smaller sum than the catalogue's minimum, which grows with the root of the context."""
    contexts = (10_000, 1_000_000)
    least = [value_of("least_attention_reads", context_length=length, selected_blocks=16) for length in contexts]
    for length, bound in zip(contexts, least, strict=True):
        sums = solve("attention_reads", context_length=length, selected_blocks=16, block_size=[*range(1, 400)]).sweep.values[0]
        assert bound <= min(sums) * (1 + 1e-12) and min(sums) == pytest.approx(bound, rel=1e-3)
    assert least[1] / least[0] == pytest.approx((contexts[1] / contexts[0]) ** 0.5)
