"""Architecture: KV bytes and attention FLOPs from a model's configuration (lecture, 1:39:06 to 1:41:02 and 1:51:24)."""

from derive.catalogue.decode_attention import DECODE_ATTENTION_EQUATIONS
from derive.catalogue.fixed_caches import FIXED
from derive.catalogue.parameter_counts import COUNTS
from derive.catalogue.prefill_attention import PREFILL_ATTENTION
from derive.catalogue.sources import GQA_PAPER, MLA_PAPER, UNEQUAL_CONFIG, ours, talk
from derive.catalogue.sparse_caches import INDEXED
from derive.records import Equation, Example, Variant
from derive.requirements import Requirement

EQUATIONS = (
    Equation(
        id="architecture.kv_bytes_gqa",
        title="KV bytes per token, grouped-query attention",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="gqa", default=True),
        relation=lambda kv_bytes_per_token, keys_and_values, layers, kv_heads, head_dim, bytes_per_element: (
            kv_bytes_per_token,
            keys_and_values * layers * kv_heads * head_dim * bytes_per_element,
        ),
        statement="Every layer stores a key and a value of head_dim for each KV head. Query heads do not matter.",
        assumptions=("every layer has its own cache over the whole context", "keys and values are equally wide"),
        example=Example(given={"layers": "126", "kv_heads": "8", "head_dim": "128", "bytes_per_element": "2"}, result="516.1 kB/token"),
        sources=(
            talk(
                "1:39:06",
                "1:40:52",
                "two times layers with their own KV, KV heads and head dimension: 2 x 128 x 8 is 2,048",
                "the lecture leaves out bytes per element (2,048 bytes at one byte each)",
            ),
            GQA_PAPER,
        ),
    ),
    Equation(
        id="architecture.kv_bytes_hybrid",
        title="KV bytes per token, only some layers attend to the whole context",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="hybrid"),
        relation=lambda kv_bytes_per_token, keys_and_values, kv_layers, kv_heads, head_dim, bytes_per_element: (
            kv_bytes_per_token,
            keys_and_values * kv_layers * kv_heads * head_dim * bytes_per_element,
        ),
        statement="Windowed and linear layers keep a fixed amount per sequence. Only full-attention layers grow with the context.",
        assumptions=("what grows with the context alone: windows and linear states are counted apart",),
        example=Example(given={"kv_layers": "10", "kv_heads": "16", "head_dim": "128", "bytes_per_element": "2"}, result="81.92 kB/token"),
        sources=(
            talk(
                "1:39:06",
                "1:41:02",
                "layers that share or window their context shrink the cache",
                "layers with a growing cache are counted by kv_layers",
            ),
        ),
    ),
    Equation(
        id="architecture.kv_bytes_gqa_unequal",
        title="KV bytes per token, keys and values of different width",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="gqa_unequal"),
        relation=lambda kv_bytes_per_token, entry_per_token, kv_layers, kv_heads, key_dim, value_dim, bytes_per_element: (
            kv_bytes_per_token,
            entry_per_token * kv_layers * kv_heads * (key_dim + value_dim) * bytes_per_element,
        ),
        statement="As for hybrid layers, with a key of key_dim and a value of value_dim.",
        assumptions=("what grows with the context alone: windows and linear states are counted apart",),
        example=Example(
            given={"kv_layers": "9", "kv_heads": "4", "key_dim": "192", "value_dim": "128", "bytes_per_element": "2"},
            result="23.04 kB/token",
        ),
        sources=(UNEQUAL_CONFIG, ours("kv_bytes_hybrid with both widths")),
    ),
    Equation(
        id="architecture.kv_bytes_mla",
        title="KV bytes per token, multi-head latent attention",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="mla"),
        relation=lambda kv_bytes_per_token, latent_per_token, layers, latent_dim, rope_dim, bytes_per_element: (
            kv_bytes_per_token,
            latent_per_token * layers * (latent_dim + rope_dim) * bytes_per_element,
        ),
        statement="Every layer stores one latent for keys and values together, and one rotary key shared by all heads.",
        assumptions=("every layer has its own latent over the whole context",),
        example=Example(given={"layers": "61", "latent_dim": "512", "rope_dim": "64", "bytes_per_element": "1"}, result="35.14 kB/token"),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.kv_bytes_mla_hybrid",
        title="KV bytes per token, latent attention on only some layers",
        defines="kv_bytes_per_token",
        variant=Variant(group="kv_bytes_per_token", name="mla_hybrid"),
        relation=lambda kv_bytes_per_token, latent_per_token, kv_layers, latent_dim, rope_dim, bytes_per_element: (
            kv_bytes_per_token,
            latent_per_token * kv_layers * (latent_dim + rope_dim) * bytes_per_element,
        ),
        statement="As for latent attention, over the layers whose cache grows with the context.",
        assumptions=("what grows with the context alone: linear states are counted apart",),
        example=Example(
            given={"kv_layers": "24", "latent_dim": "512", "rope_dim": "64", "bytes_per_element": "1"},
            result="13.82 kB/token",
        ),
        sources=(MLA_PAPER, ours("the latent formula over kv_layers, for models that mix linear and latent attention")),
    ),
    *INDEXED,
    *FIXED,
    Equation(
        id="architecture.attention_flops",
        title="Attention FLOPs per query and context token, grouped-query attention",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="gqa", default=True),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, layers, query_heads, head_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * 2 * layers * query_heads * head_dim,
        ),
        statement="Each query head multiplies its query with a key and its weight with a value, both head_dim wide.",
        assumptions=("dense attention", "every layer attends to the whole context"),
        example=Example(given={"layers": "126", "query_heads": "128", "head_dim": "128"}, result="8.258 MFLOP/token"),
        sources=(talk("1:51:24", "1:52:20", "the quadratic term, dropped as small", "kept: it decides prefill from 8 k to 100 k tokens"),),
    ),
    Equation(
        id="architecture.attention_flops_hybrid",
        title="Attention FLOPs per query and context token, only some layers attend to the whole context",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="hybrid"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, head_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * 2 * kv_layers * query_heads * head_dim,
        ),
        statement="Windowed and linear layers do a fixed amount per token. Only full-attention layers grow with the context.",
        assumptions=("the slope at long context",),
        example=Example(given={"kv_layers": "10", "query_heads": "32", "head_dim": "128"}, result="163.8 kFLOP/token"),
        sources=(ours("attention_flops over the layers whose cache grows with the context"),),
    ),
    Equation(
        id="architecture.attention_flops_gqa_unequal",
        title="Attention FLOPs per query and context token, keys and values of different width",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="gqa_unequal"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, key_dim, value_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (key_dim + value_dim),
        ),
        statement="Each query head multiplies its query with a key of key_dim and its weight with a value of value_dim.",
        assumptions=("the slope at long context",),
        example=Example(given={"kv_layers": "9", "query_heads": "64", "key_dim": "192", "value_dim": "128"}, result="368.6 kFLOP/token"),
        sources=(ours("attention_flops_hybrid with both widths"),),
    ),
    Equation(
        id="architecture.attention_flops_mla",
        title="Attention FLOPs per query and context token, latent attention expanded (prefill)",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="mla"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, layers, query_heads, nope_dim,
            rope_dim, value_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement="Prefill expands the latent into keys of nope_dim + rope_dim and values of value_dim for every head.",
        assumptions=("dense attention", "the latent is expanded, as in prefill"),
        example=Example(
            given={"layers": "61", "query_heads": "128", "nope_dim": "128", "rope_dim": "64", "value_dim": "128"},
            result="4.997 MFLOP/token",
        ),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.attention_flops_mla_absorbed",
        title="Attention FLOPs per query and context token, latent attention absorbed (decode)",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="mla_absorbed"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, layers, query_heads, latent_dim, rope_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * layers * query_heads * (2 * latent_dim + rope_dim),
        ),
        statement="Decode works on the latent itself: keys are latent_dim + rope_dim wide, values latent_dim.",
        assumptions=("dense attention", "projections absorbed into the query and the output, as in decode"),
        example=Example(given={"layers": "61", "query_heads": "128", "latent_dim": "512", "rope_dim": "64"}, result="16.99 MFLOP/token"),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.attention_flops_mla_hybrid",
        title="Attention FLOPs per query and context token, latent attention on only some layers, expanded (prefill)",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="mla_hybrid"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, nope_dim,
            rope_dim, value_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement="As attention_flops_mla, over the layers whose cache grows with the context.",
        assumptions=("the slope at long context", "the latent is expanded, as in prefill"),
        example=Example(
            given={"kv_layers": "24", "query_heads": "96", "nope_dim": "128", "rope_dim": "64", "value_dim": "128"},
            result="1.475 MFLOP/token",
        ),
        sources=(MLA_PAPER, ours("the expanded form over kv_layers, for models that mix linear and latent attention")),
    ),
    Equation(
        id="architecture.attention_flops_mla_hybrid_absorbed",
        title="Attention FLOPs per query and context token, latent attention on only some layers, absorbed (decode)",
        defines="attention_flops_per_pair",
        variant=Variant(group="attention_flops_per_pair", name="mla_hybrid_absorbed"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, latent_dim, rope_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (2 * latent_dim + rope_dim),
        ),
        statement="As attention_flops_mla_absorbed, over the layers whose cache grows with the context.",
        assumptions=("the slope at long context", "projections absorbed into the query and the output, as in decode"),
        example=Example(given={"kv_layers": "24", "query_heads": "96", "latent_dim": "512", "rope_dim": "64"}, result="5.014 MFLOP/token"),
        sources=(MLA_PAPER, ours("the absorbed form over kv_layers, for models that mix linear and latent attention")),
    ),
    *DECODE_ATTENTION_EQUATIONS,
    *PREFILL_ATTENTION,
    Equation(
        id="architecture.attention_intensity",
        title="Arithmetic intensity of decode attention",
        defines="attention_intensity",
        relation=lambda attention_intensity, attention_flops_per_pair, kv_bytes_per_token: (
            attention_intensity,
            attention_flops_per_pair / kv_bytes_per_token,
        ),
        requires=(Requirement(holds=lambda attention_flops_per_pair: attention_flops_per_pair > 0),),
        statement="Attention is memory-bound below the ridge point: 16 for groups of 8 in fp8, 242 for DeepSeek-V3 decode in bf16.",
        assumptions=("decode FLOPs against the bytes that decode reads",),
        example=Example(
            given={"attention_flops_per_pair": "8.258 MFLOP/token", "kv_bytes_per_token": "516.1 kB/token"},
            result="16 FLOP/byte",
        ),
        sources=(ours("FLOPs per pair over the KV bytes read for it"),),
    ),
    *COUNTS,
)
