"""What binds, in words and shares: no inequality of the catalogue keeps a term below zero, and shares are those of the times."""

import pytest

from derive.answers import Answer
from derive.catalogue import by_id
from derive.expressions.branches import regimes_of
from derive.show.text import screen_lines
from derive.show.words import limit_in_words, plain_regime
from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")


def test_every_regime_of_the_catalogue_has_words_without_a_term_below_zero():
    for label in {one.label for row in by_id().values() for one in regimes_of(row) if one.label}:
        words = plain_regime(label)
        for part in words.split(" and "):
            sides = part.replace(" <= ", " >= ").split(" >= ")
            assert not any(side.startswith("-") or side == "0" for side in sides), (label, words)


def test_shares_are_those_of_times_or_of_their_ratios():
    memory = Answer(kind="point", value=1.0, regime="memory_time >= compute_time")
    compute = Answer(kind="point", value=1.0, regime="compute_time >= memory_time")
    times = {"weight_time": 6.0, "kv_time": 2.0, "compute_time": 3.0, "attention_time": 1.0}
    assert limit_in_words(memory, times) == "memory-bound: weights 75 %, KV 25 %; arithmetic takes 50 % of that time"
    longer = {**times, "tokens_verified_per_step": 4.0}
    assert limit_in_words(compute, longer) == "compute-bound: weights 75 %, attention 25 %; reads take 50 % of that time"
    ratios = {"weight_compute_ratio": 0.002, "kv_compute_ratio": 1.998}
    assert limit_in_words(memory, ratios) == "memory-bound: weights 0.1 %, KV 99.9 %; arithmetic takes 50 % of that time"


def test_drafting_has_its_share_of_the_step():
    """Four drafts of 5 % of a step of 3.024 ms: 0.605 of 3.629 ms; 70.6 GB of weights take 2.633 ms, caches the rest."""
    served = {"model": "Llama-3.1-70B", "hardware": "H100:fp8", "chips": 8, "batch": 16, "context_length": 4000, "bytes_per_element": 1}
    drafted = {"draft_tokens": 4, "acceptance_rate": 0.8, "draft_cost_ratio": 0.05}
    first = next(screen_lines([solve("time_per_output_token", **served, **drafted)]))
    assert "memory-bound: weights 73 %, KV 11 %, drafting 17 %; arithmetic takes" in first and "of the time of reads" in first
    compute = Answer(kind="point", value=1.0, regime="compute_time >= memory_time")
    times = {"weight_time": 2.0, "kv_time": 1.0, "compute_time": 3.0, "tokens_verified_per_step": 2.0, "drafting_time": 6.0}
    assert limit_in_words(compute, times) == "compute-bound: weights 50 %, drafting 50 %; reads take 50 % of the time of arithmetic"


def test_each_part_of_a_regime_has_its_shares():
    """Windows of Gemma; a request of Llama-3.1-70B with its prompt, 2 x 70.55e9 FLOPs a token beside attention; caches that fill memory."""
    windows = {"model": "Gemma-3-27B", "hardware": "H200:bf16", "chips": 1, "batch": 16, "context_length": 32_000, "bytes_per_element": 2}
    first = next(screen_lines([solve("step_time", **windows)]))
    assert "memory-bound: weights 52 %, KV 48 %; arithmetic takes 5 % of that time; context_length >= window_tokens" in first
    room = next(screen_lines([solve("batch", **{name: value for name, value in windows.items() if name != "batch"})]))
    assert "   bound by memory capacity: weights 36 %, KV 64 %; context_length >= window_tokens" in room
    served = {"model": "Llama-3.1-70B", "hardware": "H200:fp8", "chips": 8, "bytes_per_element": 1, "mfu": 0.4}
    request = next(screen_lines([solve("request_latency", **served, batch=64, prompt_tokens=8000, output_tokens=500)]))
    attention = 2 * 2 * 80 * 64 * 128 * 4000 * 1979 / 989
    share = attention / (2 * 70_553_706_496 + attention)
    assert f"; prompts compute-bound: weights {1 - share:.0%}, attention {share:.0%}; reads take".replace("%", " %") in request
    assert request.partition("   ")[2].startswith("memory-bound: weights 45 %, KV 55 %")
    held = next(screen_lines([solve("batch", **served, context_length=8000, step_time="<=1s")]))
    assert held == "batch = 866 or less   bound by memory capacity: weights 6 %, KV 94 %"


def test_the_arithmetic_of_a_chunk_is_counted():
    """Beside one sequence of an 8B on an H100 a chunk of 2,048: 35.3 ms of arithmetic, 18.3 us of decoding in it, 4.93 ms of reads."""
    asked = {"model": "Llama-3.1-8B", "hardware": "H100:bf16", "context_length": 4000}
    alone = next(screen_lines([solve("mixed_step_time", **asked, batch=1, prefill_chunk=2048)]))
    assert "compute-bound: decoding 0.052 %, the chunk 99.9 %; reads take 14 % of that time" in alone
    many = next(screen_lines([solve("mixed_step_time", **asked, batch=64, prefill_chunk=512)]))
    assert "memory-bound: weights 32 %, KV 68 %; arithmetic takes 68 % of that time" in many


def test_what_is_reserved_is_no_part_of_the_cache():
    held = {"weight_bytes": 6e11, "chips": 10.0, "pipeline_stages": 1.0, "hbm_capacity": 1e11, "reserved_share": 0.1}
    said = limit_in_words(Answer(kind="interval", high=1.0), held, ("memory.sequences_that_fit@1",))
    assert said == "bound by memory capacity: weights 60 %, KV 30 %, reserve 10 %"
