"""Fewest chips where the batch is free: no fewer would do, and with these some whole batch meets every target."""

import pytest

from derive.presets import calibrated
from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

SERVED = {"hardware": "H200-SXM:fp8", "model": "Llama-3.1-70B", "bytes_per_element": 1, "context_length": 8192}
TARGETS = {"throughput": ">=50k", "step_time": "<=50ms"}


def meets(chips: int, batch: int) -> bool:
    given = {**SERVED, "chips": chips, "batch": batch}
    step, rate = (solve(name, **given) for name in ("step_time", "throughput"))
    return bool(step.answers) and step.value <= 0.05 and rate.value >= 5e4


def test_the_fewest_chips_meet_every_target_and_one_less_does_not():
    """Of 4.8 TB/s each and 1.342 GB of cache a sequence, 14 chips make no more than 50,070 tokens a second of an endless batch."""
    solution = solve("chips", **SERVED, **TARGETS)
    (found,) = solution.answers
    assert (found.value, found.bound) == (15.0, "lower")
    assert solution.said[0] == "batch 722 to 1632"
    assert {*solution.said[1].removesuffix(" are met").split(", ")} == {"step_time <= 50 ms", "throughput >= 50k token/s"}
    assert meets(15, 722) and meets(15, 1632) and not meets(15, 721) and not meets(15, 1633)
    assert not any(meets(14, batch) for batch in (1, 100, 700, 1500, 1523))


@pytest.mark.parametrize(
    ("more", "chips", "batches", "limit"),
    [
        ({"step_time": "<=50ms"}, 1, "1 to 59", "step_time <= 50 ms is met"),
        ({"throughput": ">=20k"}, 7, "209 to 733", "throughput >= 20k token/s is met"),
        ({"cost_per_token": "<=0.2 USD/MTok", "chip_price": "2 USD/h"}, 3, "183 to 284", "cost_per_token <= $0.2/MTok is met"),
    ],
)
def test_one_target_alone_has_its_fewest_chips_with_the_batches_that_memory_holds_there(more, chips, batches, limit):
    """70.6 GB of weights and a cache of 1.342 GB a sequence are read at 4.8 TB/s of each chip, which holds 150.8 GB."""
    solution = solve("chips", **SERVED, **more)
    assert (solution.value, *solution.said) == (chips, f"batch {batches}", limit)


def test_one_target_that_no_chips_meet_is_refused_with_what_comes_nearest():
    """Caches alone take 1.342 GB / 4.8 TB/s of a chip, 0.1553 USD a million at 2 USD an hour, whatever shares the weights."""
    reason = solve("chips", **SERVED, chip_price="2 USD/h", cost_per_token="<=0.15 USD/MTok").refusal
    assert reason.code == "no_solution" and "nearest is cost_per_token = $0.155" in reason.message


REQUESTS = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "prompt_tokens": 2000, "output_tokens": 500}
"""A request every tenth of a second on so many chips that some batch of theirs fits."""


@pytest.mark.parametrize(("rate", "beside"), [(10, {}), (">=10", {"step_time": "<=50ms"})])
def test_a_rate_is_met_by_the_fewest_chips_that_make_as_much_whether_it_is_a_limit_or_not(rate, beside):
    """5,000 tokens a second of (70.6 GB + batch x 2,250 tokens x 327.7 kB) each step: 118 sequences on two chips, and 121 fit.

    On one chip the 13 sequences that fit make 547 tokens a second.
    """
    solution = solve("chips", **REQUESTS, requests_per_second=rate, **beside)
    assert [(one.value, one.bound) for one in solution.answers] == [(2.0, "lower")]
    assert "batch 118 to 121 for decode alone" in solution.said


SMALL = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-8B", "prompt_tokens": 1000, "output_tokens": 300, "bytes_per_element": 2}
"""16.06 GB of weights, and 424 sequences of 1,150 tokens beside them on one chip."""


SHORT = "does not fit: weights of 16.06 GB and a KV cache of 1.083 TB in the 80 GB of 1 chip"


@pytest.mark.parametrize("unknown", ["step_time", "cost_per_token", "batch"])
def test_the_batch_that_a_rate_takes_is_held_against_memory_whatever_is_asked(unknown):
    """At 73 requests a second of 300 tokens, 7,185 sequences take a step of 328 ms: seventeen times what one chip holds."""
    refused = solve(unknown, **SMALL, chips=1, requests_per_second=73, chip_price="2 USD/h")
    assert not refused.answers and refused.why_not.startswith(SHORT)
    assert refused.why_not.endswith("what would fit, with its own batch: chips at least 2")
    assert solve(unknown, **SMALL, chips=1, requests_per_second=50, chip_price="2 USD/h").answers


@pytest.mark.slow
def test_the_fewest_chips_are_said_over_what_is_sustained_too():
    """At the ends of the ranges they are asked for with what is sustained there given."""
    given = {"hardware": "H100:fp8", "model": "Llama-3.1-70B", "context_length": 4000, "step_time": "<=30ms", "throughput": ">=5000"}
    solution = solve("chips", **given, efficiency="calibrated")
    dense = calibrated(kinds=["dense"], deployments=["one node"]).ranges
    best, worst = (
        solve("chips", **given, mbu=dense["mbu"][at], mfu=dense["mfu"][at], layer_time=dense["layer_time"][1 - at]) for at in (1, 0)
    )
    assert best.value < solution.value < worst.value
    assert solution.said[-2] == f"with the rates of published runs: chips = {best.value:.0f} to {worst.value:.0f}"
    assert solution.assumptions[0].startswith("mfu, mbu, layer_time: the middle of published runs")


@pytest.mark.parametrize("limit", [{}, {"step_time": "<=50ms"}], ids=["memory alone", "within a limit"])
def test_copies_that_are_named_count_where_memory_says_how_large_a_batch_is(limit):
    """The condition that a warning advises made it 'does not fit', of the batch of the limit alone, or asked for the copies."""
    asked = {"hardware": "8xB200:fp8", "model": "Qwen3-235B-A22B", "context_length": "32k", **limit}
    named = solve("batch", **asked, using="memory.kv_copies_of_heads")
    assert named.answers[0].ends[1] == solve("batch", **asked, kv_replication=2).answers[0].ends[1]
    assert "memory.kv_copies_of_heads is a condition, added by --using" in named.assumptions


def test_prompts_on_the_same_chips_are_sized_at_the_batch_that_meets_the_targets():
    """A batch of 100,000 has so many prompts that no chips reach the time, and the answer was a root without memory."""
    given = {"hardware": "H100:bf16", "model": "Llama-3.3-70B", "isl": 2000, "osl": 300, "qps": 40, "tpot": "40ms"}
    together = solve("gpus", **given, efficiency="calibrated").with_prompts
    assert (together.kind, together.bound, together.value) == ("point", "lower", 63)
