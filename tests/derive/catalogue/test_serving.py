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


@pytest.mark.parametrize("using", WITH_PROMPTS)
def test_as_many_requests_are_at_once_on_chips_that_compute_prompts_too_as_they_decode(using):
    """A rate that counts prompts stands beside a latency that does: either of them names both.

    The rate counts a step for the first output token, in which a place is taken by nobody who waits.
    """
    solution = solve("concurrent_requests", using=using, **SHARED, batch=64)
    assert solution.value == pytest.approx(64 * (1 - 0.01 / (40 * 0.01 + 64 * 0.05)))
    assert not any("is not needed" in text for text in solution.assumptions)
    alone = solve("request_latency" if "latency" not in using else "requests_per_second", using=using, **SHARED, batch=64)
    assert not any("is not needed" in text for text in alone.assumptions)


def test_summaries_and_chosen_blocks_read_the_square_root_of_the_context():
    """A search over block sizes finds no smaller sum than the catalogue's minimum, which grows with the root of the context."""
    contexts = (10_000, 1_000_000)
    least = [value_of("least_attention_reads", context_length=length, selected_blocks=16) for length in contexts]
    for length, bound in zip(contexts, least, strict=True):
        sums = solve("attention_reads", context_length=length, selected_blocks=16, block_size=[*range(1, 400)]).sweep.values[0]
        assert bound <= min(sums) * (1 + 1e-12) and min(sums) == pytest.approx(bound, rel=1e-3)
    assert least[1] / least[0] == pytest.approx((contexts[1] / contexts[0]) ** 0.5)


def test_drafts_that_are_all_accepted_are_refused_with_what_they_come_to():
    """Three drafts, none refused: four tokens every 20 ms, which is what the formula goes to."""
    given = {"draft_tokens": 3, "step_time": "20ms", "batch": 8}
    reason = solve("throughput", **given, acceptance_rate=1).reason
    assert reason.code == "requirement_violated" and "give tokens_per_step, which is draft_tokens + 1" in reason.message
    ways = ({"tokens_per_step": 4}, {"acceptance_rate": 1 - 1e-9})
    advised, near = (solve("throughput", **given, **more).answers[0].value for more in ways)
    assert advised == pytest.approx(4 * 8 / 0.02) and near == pytest.approx(advised)


def test_a_user_gets_what_prompts_on_the_same_chips_leave_of_the_time():
    """500 tokens, a step for the first too, of one request in 5.83 s of which its chips compute prompts in 41 %: 85.7 a second.

    Steps alone yield 144.3.
    """
    served = {"hardware": "H100:bf16", "model": "Llama-3.1-70B", "chips": 8, "batch": 32, "prompt_tokens": 4000, "output_tokens": 500}
    using = ["serving.requests_per_second_with_prompts"]
    together = solve("tokens_per_second_per_user", **served, using=using).value
    alone = solve("tokens_per_second_per_user", **served)
    waited = solve("request_latency", **served, using=using).value + solve("step_time", **served).value
    assert together * waited == pytest.approx(500)
    assert together == pytest.approx(alone.value * (1 - solve("prompt_time_share", **served).value))
    (text,) = [text for text in alone.warnings if "prompts of other requests" in text]
    assert "85.74 token/s" in text and "0.594x" in text
    assert not any("prompts" in text for text in solve("tokens_per_second_per_user", **served, using=using).warnings)


def test_a_request_of_one_token_ends_with_its_first():
    """And one of two tokens takes one step more: latency = ttft + (osl - 1) x tpot."""
    for tokens, latency in ((1, 0.2), (2, 0.22), (101, 2.2)):
        assert value_of("request_latency", time_to_first_token=0.2, token_latency=0.02, output_tokens=tokens) == pytest.approx(latency)
    assert value_of("output_tokens", time_to_first_token=0.2, token_latency=0.02, request_latency=2.2) == pytest.approx(101)
