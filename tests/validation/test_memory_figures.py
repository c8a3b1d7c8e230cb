"""What sequences of published models hold, read and multiply, worked out by hand from their configurations.

Every expected figure is the arithmetic of its comment; the rounded one beside it is as it was published or reckoned before.
"""

import pytest

from derive.solving.api import solve
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")


def only(unknown, **given):
    solution = solve(unknown, **given)
    assert solution.reason is None, solution.reason
    (answer,) = solution.answers
    return answer.high if answer.kind == "interval" else answer.value


# Values of one token in one layer: a key and a value of 128 in 8 KV heads (Llama-4), in 16 (Gemma-3).
LLAMA_4, GEMMA_3 = 2 * 8 * 128, 2 * 16 * 128
QWEN_STATE = 32 * 128 * 128
"""Values of one linear layer of Qwen3-Next: 32 heads of 128 x 128."""

HELD = [
    # model, context, bytes of a sequence in bf16, rounded
    ("Llama-4-Maverick", 1000, 2 * (12 + 36) * 1000 * LLAMA_4, 0.197e9, "all 48 layers hold all tokens: no window is full"),
    ("Llama-4-Maverick", 8000, 2 * (12 + 36) * 8000 * LLAMA_4, 1.573e9, "8,000 of 8,192"),
    ("Llama-4-Maverick", 100_000, 2 * (12 * 100_000 + 36 * 8192) * LLAMA_4, 6.12e9, "36 windows full"),
    ("Gemma-3-27B", 500, 2 * 62 * 500 * GEMMA_3, 0.254e9, "10 full layers and 52 windows of 1,024, none of them full"),
    ("Gemma-3-27B", 8000, 2 * (10 * 8000 + 52 * 1024) * GEMMA_3, 1.092e9, "52 windows full"),
    ("Qwen3-Next-80B-A3B", 4000, 2 * (12 * 4000 * 2 * 2 * 256 + 36 * QWEN_STATE), 136e6, "12 full layers, 36 states"),
]


@in_one_test(("model", "context", "expected", "rounded", "why"), HELD)
def test_what_a_sequence_holds_is_what_a_step_reads_of_it(model, context, expected, rounded, why):
    given = {"model": model, "context_length": context, "bytes_per_element": 2, "state_bytes_per_element": 2}
    written = 2 * 36 * QWEN_STATE if model.startswith("Qwen") else 0
    assert only("kv_bytes_per_sequence", **given) == expected == pytest.approx(rounded, rel=3e-3), why
    assert only("kv_read_bytes_per_sequence", **given) == expected + written, "states are written back"


def test_caches_of_many_sequences_hold_their_windows():
    """32 sequences of 8,000 tokens on Llama-4-Maverick, 1.573 GB each: 50.3 GB, of which the full layers hold a quarter."""
    given = {"model": "Llama-4-Maverick", "context_length": 8000, "bytes_per_element": 2, "sequences_in_flight": 32}
    assert only("kv_cache_bytes", **given) == 32 * 2 * 48 * 8000 * LLAMA_4 == pytest.approx(50.3e9, rel=1e-3)


def test_states_in_fp32_beside_a_cache_in_bf16():
    """Qwen3-Next: 18.9 M values of state are 37.7 MB in bf16 and 75.5 MB in fp32."""
    given = {"model": "Qwen3-Next-80B-A3B", "bytes_per_element": 2}
    assert only("linear_state_bytes", **given, state_bytes_per_element=2) == 2 * 36 * QWEN_STATE == pytest.approx(37.7e6, rel=2e-3)
    assert only("linear_state_bytes", **given, state_bytes_per_element=4) == 4 * 36 * QWEN_STATE


def test_fifty_sequences_of_gemma_fit_on_one_chip():
    """80 GB less 54.02 GB of weights, over (10 + 52) layers x 1,024 tokens x 8,192 bytes: 49.96."""
    sequence = 2 * 62 * 1024 * GEMMA_3
    found = only("sequences_in_flight", model="Gemma-3-27B", hardware="H100:bf16", chips=1, bytes_per_element=2, context_length=1024)
    assert found == pytest.approx((80e9 - 2 * 27_009_002_240) / sequence) == pytest.approx(50, rel=1e-3)


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


@pytest.mark.parametrize(("batch", "window"), [(400, 0), (100, 36 * 8192)])
def test_the_longest_context_that_fits_counts_the_windows(batch, window):
    """240 GB over 400 sequences leave windows empty in part; over 100 they are full, and 12 layers take the rest."""
    values = 240e9 / batch / 2 / LLAMA_4
    expected = (values - window) / 12 if window else values / 48
    assert only("context_length", **MAVERICK, batch=batch) == pytest.approx(expected)


def test_index_keys_in_fp8_with_a_scale_beside_a_cache_in_bf16():
    """DeepSeek-V3.2: 128 values and a scale of 4 bytes are 132 bytes in each of 61 layers, 8.05 kB a token."""
    given = {"model": "DeepSeek-V3.2", "bytes_per_element": 2, "indexer_bytes_per_element": 132 / 128}
    assert only("kv_read_bytes_per_token", **given) == 61 * 132 == pytest.approx(8.05e3, rel=1e-3)
    assert only("kv_bytes_per_token", **given) == 61 * (2 * 576 + 132)


@pytest.mark.parametrize(("context", "entries"), [(1000, 1000), (2048, 2048), (100_000, 2048)])
def test_a_selection_holds_no_more_entries_than_there_are(context, entries):
    given = {"model": "DeepSeek-V3.2", "bytes_per_element": 1, "indexer_bytes_per_element": 1, "context_length": context}
    assert only("kv_read_bytes_per_sequence", **given) == 61 * (128 * context + 576 * entries)


@pytest.mark.parametrize(("context", "entries"), [(2000, 500), (100_000, 1024)])
def test_compressed_entries_are_as_many_as_there_are(context, entries):
    """DeepSeek-V4-Pro: an entry for 4 tokens, of which 30 layers read up to 1,024; 61 windows of 128; 31 layers with an entry for 128."""
    given = {"model": "DeepSeek-V4-Pro", "bytes_per_element": 1, "indexer_bytes_per_element": 1, "context_length": context}
    grows = context * (30 * 128 / 4 + 31 * 512 / 128)
    assert only("kv_read_bytes_per_sequence", **given) == grows + 512 * (30 * entries + 61 * 128)


# -- arithmetic ------------------------------------------------------------------------------------------------------


def test_at_128k_the_indexers_of_deepseek_do_more_than_its_weights():
    """64 heads of 128 in 61 layers, 2 FLOP each: 1.0 MFLOP a token of context, 1.77 times 2 x 37e9 at 131,072."""
    given = {"model": "DeepSeek-V3.2", "indexer_heads": 64, "context_length": 131_072}
    a_token = 2 * 61 * 64 * 128
    assert only("indexer_flops_per_pair", **given) == a_token == pytest.approx(1.0e6, rel=1e-3)
    assert a_token * 131_072 / (2 * 37e9) == pytest.approx(1.77, rel=1e-3)
    # and 128 query heads meet 2,048 latents of 512 + 64 and 512
    assert only("attention_flops_per_sequence", **given) == a_token * 131_072 + 2 * 61 * 128 * (512 + 64 + 512) * 2048


def test_dense_latent_attention_meets_the_whole_context():
    """DeepSeek-V3: 61 layers x 128 heads x (576 + 512) x 2 FLOP, for each of 4,989 tokens."""
    assert only("attention_flops_per_sequence", model="DeepSeek-V3", context_length=4989) == 2 * 61 * 128 * (576 + 512) * 4989


@pytest.mark.parametrize(("context", "held"), [(500, 500), (100_000, 1024)])
def test_windows_multiply_what_they_hold(context, held):
    """Gemma-3-27B: 32 heads of 128, a key and a value; 10 full layers, 52 windows."""
    expected = 2 * 2 * 32 * 128 * (10 * context + 52 * held)
    assert only("attention_flops_per_sequence", model="Gemma-3-27B", context_length=context) == expected


def test_one_vector_that_is_key_and_value_is_multiplied_twice():
    """DeepSeek-V4-Pro at 100,000 tokens, 128 heads of 512: 1,024 entries in 30 layers, 128 tokens in 61, 781.25 entries in 31."""
    expected = 2 * 128 * 2 * 512 * (30 * 1024 + 61 * 128 + 31 * 100_000 / 128) + 2 * 30 * 64 * 128 / 4 * 100_000
    assert only("attention_flops_per_sequence", model="DeepSeek-V4-Pro", context_length=100_000, indexer_heads=64) == expected


def test_three_dense_layers_beside_those_that_select():
    """MiniMax-M3: 60 layers of which 57 select 2,048 tokens; 64 heads of 128; 4 index heads are taken here."""
    expected = 2 * 2 * 64 * 128 * (3 * 50_000 + 57 * 2048) + 2 * 57 * 4 * 128 * 50_000
    assert only("attention_flops_per_sequence", model="MiniMax-M3", context_length=50_000, indexer_heads=4) == expected


# -- balance with attention ------------------------------------------------------------------------------------------

PER_TOKEN, PER_PAIR = 61 * 576, 2 * 61 * 128 * (576 + 512)
"""DeepSeek-V3: values cached for one token, and FLOPs of one query with it."""


def test_latent_attention_in_bf16_has_a_balance_context_far_beyond_that_without_attention():
    """L (2 b/3.35e12 - a/989e12) = 2 N/989e12, on an H100 in bf16."""
    given = {"model": "DeepSeek-V3", "hardware": "H100:bf16", "bytes_per_element": 2, "attention_rate_ratio": 1}
    expected = 2 * 37e9 / 989e12 / (2 * PER_TOKEN / 3.35e12 - PER_PAIR / 989e12)
    assert only("balance_context_with_attention", **given) == pytest.approx(expected)
    assert only("balance_context", **given) == pytest.approx(2 * 37e9 / 989e12 * 3.35e12 / (2 * PER_TOKEN))


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


def test_jamba_holds_nine_gib_at_its_full_context():
    """Jamba-1.5-Large: a key and a value of 128 in 8 heads of 9 layers; "9GB" at 256K in table 1 of arXiv:2408.12570. 64 query heads."""
    given = {"model": "Jamba-1.5-Large", "context_length": 262_144}
    cache = only("kv_bytes_per_token", model="Jamba-1.5-Large", bytes_per_element=2) * 262_144
    assert cache == 2 * 9 * 8 * 128 * 2 * 262_144 == 9 * 2**30
    assert only("attention_flops_per_sequence", **given) == 4 * 9 * 64 * 128 * 262_144


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
