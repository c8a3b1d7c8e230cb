"""What sequences of published models need of the memory, worked by hand from their configurations. Single figures are in corrected.csv."""

import pytest

from derive.solving.api import solve
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")


def only(unknown, **given):
    solution = solve(unknown, **given)
    assert solution.reason is None, solution.reason
    (answer,) = solution.answers
    return answer.high if answer.kind == "interval" else answer.value


LLAMA_4 = 2 * 8 * 128
"""Values of one token in one layer: a key and a value of 128 in 8 KV heads."""


MAVERICK = {"model": "Llama-4-Maverick", "hardware": "H100:fp8", "chips": 8, "bytes_per_element": 2}


def test_a_batch_of_maverick_that_does_not_fit_is_refused_and_told_what_would():
    """400 GB of weights and 400 x 1.573 GB of cache are 1.03 TB of 640 GB; 240 GB hold 152 sequences."""
    sequence = 2 * 48 * 8000 * LLAMA_4
    solution = solve("step_time", **MAVERICK, batch=400, context_length=8000)
    assert solution.answers == () and solution.reason.code == "does_not_fit"
    short = 400e9 + 400 * sequence - 640e9
    assert f"{short / 1e9:.4g} GB short" in solution.reason.message and (640e9 + short) / 1e12 == pytest.approx(1.03, rel=2e-3)
    fits = 240e9 / sequence
    assert only("sequences_in_flight", **MAVERICK, context_length=8000) == pytest.approx(fits) and int(fits) == 152
    assert f"batch at most {int(fits)}," in solution.reason.message
    # 600 MB a sequence are fewer tokens than a window holds: all 48 layers share them.
    assert f"context_length at most {int(240e9 / 400 / (2 * 48 * LLAMA_4))} tokens" in solution.reason.message


# -- balance with attention ------------------------------------------------------------------------------------------

PER_TOKEN, PER_PAIR = 61 * 576, 2 * 61 * 128 * (576 + 512)
"""DeepSeek-V3: values cached for one token, and FLOPs of one query with it."""


def test_latent_attention_over_a_cache_of_one_byte_has_none():
    """484 FLOP a byte where the chip does 295 in bf16: no context makes decode memory-bound, and copies of the cache do."""
    given = {"model": "DeepSeek-V3", "hardware": "H100:fp8", "bytes_per_element": 1, "attention_rate_ratio": 989 / 1979}
    assert only("attention_intensity", **given) == pytest.approx(484, rel=1e-3) and pytest.approx(295, rel=1e-3) == 989 / 3.35
    reason = solve("balance_context_with_attention", **given).reason
    assert "requires" in reason.message and "attention_intensity" in reason.message
    expected = 2 * 37e9 / 1979e12 / (8 * PER_TOKEN / 3.35e12 - PER_PAIR / 989e12)
    assert only("balance_context_with_attention", **given, kv_replication=8) == pytest.approx(expected)


# -- copies ----------------------------------------------------------------------------------------------------------


def test_a_latent_cache_under_tensor_parallelism_lies_on_every_chip():
    """One latent for all heads: 8 chips hold and read it 8 times, so that an eighth of the sequences fits and all take as long."""
    given = {"model": "DeepSeek-V3", "hardware": "H200-SXM:fp8", "chips": 8, "bytes_per_element": 1, "context_length": 4000}
    copied = {"kv_replication": 8}
    assert only("sequences_in_flight", **given) == pytest.approx((8 * 143771 * 2**20 - 671e9) / (4000 * PER_TOKEN))
    assert only("sequences_in_flight", **given, **copied) == pytest.approx((8 * 143771 * 2**20 - 671e9) / (8 * 4000 * PER_TOKEN))
    assert only("kv_time", **given, **copied, batch=64) == pytest.approx(64 * 4000 * PER_TOKEN / 4.8e12)
    assert only("balance_context", **given) == pytest.approx(8 * only("balance_context", **given, **copied))
    assert only("kv_compute_ratio", **given, **copied) == pytest.approx(8 * only("kv_compute_ratio", **given))


PUBLISHED = [
    # model, bytes of its checkpoint, where that was read
    ("gpt-oss-120b", 63e9, "vLLM blog on gpt-oss, 2025-08-05"),
    ("gpt-oss-20b", 14e9, "vLLM blog on gpt-oss, 2025-08-05"),
    ("Kimi-K2-Thinking", 600e9, "KTransformers, Kimi-K2-Thinking-Native.md: about 600 GB"),
]


@in_one_test(("model", "size", "source"), PUBLISHED)
@in_one_test("hardware", ["A100:bf16", "H100:fp8", "B200:fp4"])
def test_weights_in_two_types_take_what_the_checkpoint_takes(model, size, source, hardware):
    """Experts in 4.25 or 4.5 bits, the rest in bf16. Counts of parameters are rounded, and active ones may leave the embedding out."""
    assert only("weight_bytes", model=model, hardware=hardware) == pytest.approx(size, rel=0.09), source


@in_one_test(
    ("model", "hardware", "chips", "fits"),
    [
        ("gpt-oss-120b", "H100:bf16", 1, True),  # model card: "a single 80GB GPU"
        ("gpt-oss-120b", "MI300X:bf16", 1, True),  # the same, "like NVIDIA H100 or AMD MI300X"
        ("Kimi-K2-Thinking", "H200:bf16", 8, True),  # its deployment guide: the smallest unit with H200 is 8
        ("gpt-oss-20b", "TPU-v5e:bf16", 1, True),  # "within 16 GB of memory"
        ("DeepSeek-V3", "H100:bf16", 8, False),  # 671 GB in fp8 on 640 GB: it is served on 8 H200, or on 16 H100
        ("Kimi-K2", "H200:bf16", 16, True),  # its deployment guide: fp8 weights, 16 H200
    ],
)
def test_models_fit_on_the_chips_they_were_published_for(model, hardware, chips, fits):
    given = {"model": model, "hardware": hardware, "chips": chips, "batch": 1, "context_length": 100_000, "bytes_per_element": 2}
    assert (solve("step_time", **given).reason is None) == fits
