"""Attention FLOPs of prefill: against sums over the tokens of a prompt, and where the length of the prompt is from."""

from itertools import pairwise, product
from random import Random

import pytest

from derive.catalogue.architecture import mean_met
from tests.tools.asked import value_of
from tests.tools.together import in_one_test, some


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
