"""Parameters counted from dimensions, against those that were published, which win wherever there are any."""

import pytest

from derive.solving.api import solve
from tests.tools.asked import value_of
from tests.tools.together import in_one_test

LLAMA_8B = {"layers": 32, "model_dim": 4096, "ffn_dim": 14336, "vocab_size": 128256, "query_heads": 32, "kv_heads": 8, "head_dim": 128}
LLAMA_70B = {**LLAMA_8B, "layers": 80, "model_dim": 8192, "ffn_dim": 28672, "query_heads": 64}
MIXTRAL = {**LLAMA_8B, "vocab_size": 32000, "experts": 8, "active_experts": 2}
LATENTS = {"query_heads": 128, "nope_dim": 128, "rope_dim": 64, "latent_dim": 512, "value_dim": 128, "query_latent_dim": 1536}
DEEPSEEK_V3 = {
    **LATENTS,
    **{"layers": 61, "moe_layers": 58, "model_dim": 7168, "ffn_dim": 18432, "moe_ffn_dim": 2048, "vocab_size": 129280},
    **{"experts": 256, "active_experts": 8, "shared_experts": 1},
}
QWEN3_30B = {
    **{"layers": 48, "model_dim": 2048, "moe_ffn_dim": 768, "vocab_size": 151936, "query_heads": 32, "kv_heads": 4, "head_dim": 128},
    **{"experts": 128, "active_experts": 8},
}


@in_one_test(
    ("dimensions", "total", "active"),
    [
        (LLAMA_8B, 8.030261248e9 - 65 * 4096, 8.030261248e9 - 65 * 4096),
        (LLAMA_70B, 70.553706496e9 - 161 * 8192, 70.553706496e9 - 161 * 8192),
        (MIXTRAL, 46.702792704e9 - 65 * 4096, 12.9e9),
        (DEEPSEEK_V3, 671e9, 37.5e9),
        (QWEN3_30B, 30.5e9, 3.3e9),
    ],
)
def test_dimensions_come_to_the_published_counts(dimensions, total, active):
    """Of Llama and Mixtral to the last weight, but for two norms a layer and one at the end; of the others as their cards say."""
    exact = 1e-12 if total % 1e8 else 2e-3
    assert value_of("total_params", **dimensions) == pytest.approx(total, rel=exact)
    assert value_of("active_params", **dimensions) == pytest.approx(active, rel=exact if active == total else 2e-2)


def test_a_published_count_wins_over_dimensions_and_is_not_held_against_them():
    sizes = {"ffn_dim": 28672, "vocab_size": 128256}
    assert value_of("weight_bytes", model="Llama-3.1-70B", bytes_per_weight=2, **sizes) == 2 * 70_553_706_496
    assert value_of("weight_bytes", bytes_per_weight=2, **LLAMA_70B) == 2 * value_of("total_params", **LLAMA_70B)
    assert value_of("weight_bytes", bytes_per_weight=2, total_params=70e9, **LLAMA_70B) == 140e9


def test_dimensions_are_not_asked_for_where_a_count_is_missing():
    assert solve("weight_bytes", bytes_per_weight=2, layers=80, kv_heads=8).reason.missing == ("total_params",)
    assert "ffn_dim" in solve("total_params", layers=61, moe_layers=58, model_dim=7168, experts=256, vocab_size=129280).reason.missing
