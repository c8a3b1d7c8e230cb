"""Attention FLOPs of prefill: against sums over the tokens of a prompt, and where the length of the prompt is from."""

from itertools import pairwise, product
from random import Random

import pytest

from derive.catalogue.prefill_attention import mean_met
from derive.errors import WrongValue
from derive.solving.api import solve
from tests.tools.asked import value_of
from tests.tools.together import in_one_test, some

A_PAIR = 2 * 2 * 80 * 64 * 128
"""Llama-3-70B: 80 layers of 64 heads of 128, a product with keys and one with values."""
WEIGHTS = 2 * 70e9
LLAMA = {"active_params": 70e9, "layers": 80, "query_heads": 64, "head_dim": 128}
PASS = {**LLAMA, "peak_flops": 1e15, "chips": 8, "batch": 1}


def decoded(model, context):
    return value_of("attention_flops_per_sequence", model=model, context_length=context)


# -- means over the tokens of a prompt ------------------------------------------------------------------------------


@in_one_test("seed", range(200))
def test_the_mean_is_that_of_the_middles_of_all_tokens(seed):
    """The integral of min(place, limit) over a token in which the limit does not lie is its middle, so that a sum is exact."""
    random = Random(seed)
    limit, cached, new = (random.choice((1, random.randrange(1, 300))) for _ in range(3))
    by_token = sum(min(cached + token + 0.5, limit) for token in range(new)) / new
    assert mean_met(limit, cached, new) == pytest.approx(by_token, rel=1e-12)


@pytest.mark.slow
@in_one_test(
    ("model", "prompt"),
    some(
        product(
            ["DeepSeek-V3.2", "MiniMax-M3", "DeepSeek-V4-Pro", "gpt-oss-120b", "Gemma-3-27B", "Llama-3-70B"],
            [(0, 100), (0, 5000), (3000, 4000), (20_000, 1000)],
        ),
        every=3,
    ),
)
def test_a_prompt_does_what_its_tokens_would_do_one_after_the_other(model, prompt):
    """FLOPs of decode at every hundredth part of the prompt, which are piecewise linear in the context."""
    cached, new = prompt
    parts = [decoded(model, cached + (part + 0.5) * new / 100) for part in range(100)]
    found = value_of("prefill_attention_flops_per_token", model=model, uncached_tokens=new, cached_tokens=cached)
    assert found == pytest.approx(sum(parts) / 100, rel=1e-3)


def test_a_latent_is_expanded_in_prefill_and_absorbed_in_decode():
    found = value_of("prefill_attention_flops_per_token", model="DeepSeek-V3", uncached_tokens=8000)
    assert found == pytest.approx(decoded("DeepSeek-V3", 4000) * (128 + 64 + 128) / (512 + 64 + 512))


@pytest.mark.parametrize("model", ["DeepSeek-V3.2", "MiniMax-M3", "gpt-oss-120b"])
def test_chunks_of_a_prompt_add_up_to_it(model):
    cuts = [0, 700, 2048, 5000, 16_000]
    chunks = [
        (end - start) * value_of("prefill_attention_flops_per_token", model=model, cached_tokens=start, uncached_tokens=end - start)
        for start, end in pairwise(cuts)
    ]
    whole = value_of("prefill_attention_flops_per_token", model=model, uncached_tokens=cuts[-1])
    assert sum(chunks) == pytest.approx(cuts[-1] * whole, rel=1e-12)


def test_windows_without_an_end_are_dense():
    narrow, wide = (
        value_of("prefill_attention_flops_per_token", model="gpt-oss-120b", uncached_tokens=8000, window_tokens=window)
        for window in (128, 8000)
    )
    assert wide == pytest.approx(2 * 36 * 64 * (64 + 64) * 4000)
    assert narrow == pytest.approx(wide / 2 + 2 * 18 * 64 * (64 + 64) * (128 - 128 * 128 / 2 / 8000))


# -- how long a prompt is -------------------------------------------------------------------------------------------


def factor(mean):
    """What attention to so many tokens adds to the weights' arithmetic."""
    return 1 + A_PAIR * mean / WEIGHTS


@in_one_test(
    ("more", "mean"),
    [
        ({}, 4000),
        ({"prompt_tokens": 100_000}, 50_000),
        ({"cached_tokens": 16_000}, 20_000),
        ({"cache_hit_share": 0.5}, 12_000),
        ({"prompt_tokens": 32_000, "cache_hit_share": 0.75}, 28_000),
        ({"context_length": 64_000}, 4000),
        ({"prefill_attention_factor": 1}, 0),
    ],
    ids=["whole", "chunk", "cached", "hits", "prompt and hits", "a context beside it", "left out"],
)
def test_a_pass_is_a_whole_prompt_unless_something_says_more(more, mean):
    """8,000 new tokens at 2 x 70e9 FLOP a token on 8e15 FLOP/s."""
    found = value_of("prefill_compute_time", **PASS, new_tokens_per_pass=8000, **more)
    assert found == pytest.approx(8000 * WEIGHTS / 8e15 * factor(mean), rel=1e-12)


@pytest.mark.parametrize("given", [{"context_length": 64_000}, {"prompt_tokens": 64_000}])
def test_where_no_pass_is_spoken_of_a_prompt_is_as_long_as_the_context(given):
    rate = solve("prefill_rate_per_chip", **LLAMA, peak_flops=1e15, **given)
    assert rate.answers[0].value == pytest.approx(1e15 / WEIGHTS / factor(32_000), rel=1e-12)
    told = "uncached_tokens = 64000 (default: context_length)"
    assert (told in rate.assumptions) == ("context_length" in given)


def test_a_prompt_of_a_given_length_is_computed_in_one_pass():
    """131,072 tokens at 2 x 70e9 FLOP and attention over half of them, on 8e15 FLOP/s; backwards, and the rest where half are cached."""
    found = solve("prefill_compute_time", **PASS, prompt_tokens=131_072)
    assert found.answers[0].value == pytest.approx(131_072 * WEIGHTS / 8e15 * factor(65_536), rel=1e-12)
    assert "new_tokens_per_pass = 131072 (default: prompt_tokens)" in found.assumptions
    assert value_of("prompt_tokens", **PASS, prefill_compute_time=found.answers[0].value) == pytest.approx(131_072, rel=1e-9)
    rest = 65_536 * WEIGHTS / 8e15 * factor(65_536 + 32_768)
    for cached in ({"cached_tokens": 65_536}, {"cache_hit_share": 0.5}):
        assert value_of("prefill_compute_time", **PASS, prompt_tokens=131_072, **cached) == pytest.approx(rest, rel=1e-9)
    for unknown in ("uncached_tokens", "cache_hit_share"):
        found = value_of(unknown, **PASS, prompt_tokens=131_072, prefill_compute_time=rest)
        assert found == pytest.approx({"uncached_tokens": 65_536, "cache_hit_share": 0.5}[unknown], rel=1e-9)


@in_one_test("unknown", ["new_tokens_per_pass", "cached_tokens", "prompt_tokens", "cache_hit_share"])
def test_the_length_of_a_prompt_is_found_from_its_time(unknown):
    told = {"new_tokens_per_pass": 8000.0, "cached_tokens": 16_000.0, "prompt_tokens": 24_000.0, "cache_hit_share": 2 / 3}
    pairs = {
        "new_tokens_per_pass": ("cached_tokens",),
        "cached_tokens": ("new_tokens_per_pass",),
        "prompt_tokens": ("new_tokens_per_pass", "cache_hit_share"),
        "cache_hit_share": ("new_tokens_per_pass", "prompt_tokens"),
    }
    given = {**PASS, **{name: told[name] for name in pairs[unknown]}}
    time = 8000 * WEIGHTS / 8e15 * factor(20_000)
    found = solve(unknown, **given, prefill_compute_time=time)
    assert any(answer.value == pytest.approx(told[unknown], rel=1e-9) for answer in found.answers), found.reason


def test_a_prompt_with_nothing_new_is_refused():
    reason = solve("prefill_compute_time", **PASS, new_tokens_per_pass=8000, cache_hit_share=1).reason
    assert reason.code == "requirement_violated"


def test_more_in_the_cache_than_a_prompt_has_is_refused():
    with pytest.raises(WrongValue, match="no more than prompt_tokens = 1000 tokens"):
        solve("prefill_compute_time", **PASS, new_tokens_per_pass=100, prompt_tokens=1000, cached_tokens=2000)


# -- what else counts it --------------------------------------------------------------------------------------------


def test_a_chunk_beside_decode_does_the_mean_attention_of_its_prompt():
    """16 sequences decode at 64k; 2,048 tokens of a prompt as long meet 32k each: 2,048 (2N + 32k a), on 8e15 FLOP/s."""
    given = {**PASS, "batch": 16, "context_length": 64_000, "memory_time": 1e-3}
    arithmetic = (16 * (WEIGHTS + A_PAIR * 64_000) + 2048 * (WEIGHTS + A_PAIR * 32_000)) / 8e15
    assert value_of("mixed_step_time", **given, prefill_chunk=2048) == pytest.approx(arithmetic, rel=1e-12)
    shorter = (16 * (WEIGHTS + A_PAIR * 64_000) + 2048 * (WEIGHTS + A_PAIR * 2000)) / 8e15
    assert value_of("mixed_step_time", **given, prefill_chunk=2048, prompt_tokens=4000) == pytest.approx(shorter, rel=1e-12)


def test_a_free_chunk_leaves_room_for_its_attention():
    given = {**PASS, "batch": 16, "context_length": 64_000, "memory_time": 20e-3}
    free = value_of("free_prefill_chunk", **given)
    assert value_of("mixed_step_time", **given, prefill_chunk=free) == pytest.approx(20e-3)
    assert free < value_of("free_prefill_chunk", **given, prompt_tokens=1000)


def test_no_prompt_costs_less_than_its_arithmetic_with_attention():
    given = {**PASS, "balance_batch": 300, "kv_compute_ratio": 0.1}
    assert value_of("prefill_normalised_cost", **given, new_tokens_per_pass=64_000) == pytest.approx(factor(32_000))
    assert value_of("prefill_normalised_cost", **given, new_tokens_per_pass=100) == pytest.approx(300.1 / 100)
