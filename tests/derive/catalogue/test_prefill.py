"""Prefill against passes and tokens counted one by one."""

import pytest

from tests.tools.asked import value_of

NODE = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "chips": 8}
PEAK, READ = 8 * 989e12, 70_553_706_496 * 2 / (8 * 3.35e12)


def counted(prompt: int, mfu: float = 1.0) -> float:
    """Seconds of arithmetic of a prompt of the model on the node: each token meets all before it, and half of itself."""
    attention = sum(4 * 80 * 64 * 128 * (place + 0.5) for place in range(prompt))
    return (2 * 70_553_706_496 * prompt + attention) / (PEAK * mfu)


@pytest.mark.parametrize("prompt", [2000, 8192, 131072])
def test_every_token_of_a_prompt_meets_those_before_it(prompt):
    assert value_of("prefill_time", **NODE, mfu=0.5, prompt_tokens=prompt) == pytest.approx(counted(prompt, 0.5), rel=1e-12)


def test_a_short_prompt_waits_for_the_weights_once_a_pass():
    assert value_of("prefill_time", **NODE, prompt_tokens=40) == pytest.approx(READ) and counted(40) < READ
    assert value_of("prefill_time", **NODE, prompt_tokens=40, prefill_passes=3) == pytest.approx(3 * READ)
    assert value_of("prefill_time", **NODE, prompt_tokens=40, prefill_batch=50) == pytest.approx(50 * counted(40))


def test_a_few_tokens_read_a_few_of_the_experts():
    """Of 256 experts 8 a token, 16.5B beside them: five tokens touch 256 (1 - (1 - 1/32)^5)."""
    node = {"hardware": "H200-SXM:fp8", "model": "DeepSeek-V3", "chips": 8}
    routed = (671e9 - 37e9) / (1 - 8 / 256)
    touched = 671e9 - routed + routed * (1 - (1 - 8 / 256) ** 5)
    assert value_of("prefill_time", **node, prompt_tokens=5) == pytest.approx(touched / (8 * 4.8e12))


def test_what_is_cached_is_not_computed_and_is_attended_to():
    half = value_of("prefill_time", **NODE, prompt_tokens=8192, cache_hit_share=0.5)
    assert half == pytest.approx(counted(8192) - counted(4096), rel=1e-12)


def test_both_phases_of_a_request_are_paid():
    """Eight chips at two dollars an hour: the prompt for so long, and then 500 steps, of which 64 requests share each.

    Who waits has the first token with the prompt, as ttft + (osl - 1) x tpot counts it.
    """
    request = {**NODE, "prompt_tokens": 2000, "output_tokens": 500, "batch": 64, "bytes_per_element": 2, "chip_price": "2 USD/h"}
    step = READ + 64 * 2250 * 327680 / (8 * 3.35e12)
    paid = 8 * 2 / 3600 * (counted(2000) + 500 * step / 64)
    assert value_of("cost_per_request", **request) == pytest.approx(paid, rel=1e-12)
    assert value_of("request_latency", **request) == pytest.approx(counted(2000) + 499 * step, rel=1e-12)
