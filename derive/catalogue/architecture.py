"""Architecture: KV bytes and attention FLOPs from a model's configuration (lecture, 1:39:06 to 1:41:02 and 1:51:24)."""

from derive.catalogue.decode_attention import DECODE_ATTENTION_EQUATIONS
from derive.catalogue.fixed_caches import FIXED
from derive.catalogue.parameter_counts import COUNTS
from derive.catalogue.prefill_attention import PREFILL_ATTENTION
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, GQA_PAPER, MLA_PAPER, MSA_CONFIG, UNEQUAL_CONFIG, ours, talk
from derive.records import Equation, Requirement, Variant

EQUATIONS = (
    Equation(
        id="architecture.kv_bytes_gqa",
        changes=("counts kv_layers (all layers unless given) and the keys of indexers",),
        title="KV bytes per token, grouped-query attention",
        variant=Variant(group="kv_bytes_per_token", name="gqa", default=True, holds_for=("hybrid", "gqa_unequal", "gqa_indexed")),
        relation=lambda kv_bytes_per_token, entry_per_token, kv_layers, kv_heads, key_dim, value_dim, bytes_per_element,
            indexer_layers, indexer_dim, indexer_bytes_per_element: (
            kv_bytes_per_token,
            entry_per_token * kv_layers * kv_heads * (key_dim + value_dim) * bytes_per_element
            + entry_per_token * indexer_layers * indexer_dim * indexer_bytes_per_element,
        ),
        unsaid=("indexer_layers",),
        statement="Every layer stores one key and one value for each KV head. Both are head_dim wide unless their widths are given. A"
                  " layer with an indexer also stores one index key. Query heads do not matter.",
        assumptions=("only the part that grows with the context: windows and linear states are counted separately",),
        given={"kv_layers": "60", "bytes_per_element": "2", "indexer_layers": "57", "indexer_bytes_per_element": "2"},
        result="168.2 kB/token",
        sources=(
            talk(
                "1:39:06",
                "1:40:52",
                "two times layers with their own KV, KV heads and head dimension: 2 x 128 x 8 is 2,048",
                "the lecture leaves out bytes per element (2,048 bytes at one byte each)",
            ),
            talk(
                "1:39:06",
                "1:41:02",
                "layers that share a cache or have a window make the cache smaller",
                "kv_layers counts the layers whose cache grows",
            ),
            GQA_PAPER,
            MSA_CONFIG,
            UNEQUAL_CONFIG,
        ),
    ),
    Equation(
        id="architecture.kv_bytes_mla",
        changes=("counts kv_layers (all layers unless given) and the keys of indexers",),
        title="KV bytes per token, multi-head latent attention",
        variant=Variant(group="kv_bytes_per_token", name="mla", holds_for=("mla_hybrid", "mla_indexed")),
        relation=lambda kv_bytes_per_token, latent_per_token, kv_layers, latent_dim, rope_dim, bytes_per_element, entry_per_token,
            indexer_layers, indexer_dim, indexer_bytes_per_element: (
            kv_bytes_per_token,
            latent_per_token * kv_layers * (latent_dim + rope_dim) * bytes_per_element
            + entry_per_token * indexer_layers * indexer_dim * indexer_bytes_per_element,
        ),
        unsaid=("indexer_layers",),
        statement="Every layer stores one latent for keys and values together and one rotary key for all heads. A layer with an indexer"
                  " also stores its key.",
        assumptions=("only the part that grows with the context: linear states are counted separately",),
        given={"indexer_layers": "61"},
        result="43.19 kB/token",
        sources=(MLA_PAPER, DSA_PAPER),
    ),
    *FIXED,
    Equation(
        id="architecture.attention_flops",
        changes=("counts the layers that attend to the whole context, and the FLOPs of indexers",),
        title="Attention FLOPs per query and context token, grouped-query attention",
        variant=Variant(group="attention_flops_per_pair", name="gqa", default=True, holds_for=("hybrid", "gqa_unequal", "gqa_indexed")),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, sparse_layers, query_heads, key_dim, value_dim,
            indexer_flops_per_pair: (
            attention_flops_per_pair,
            flop_per_mac_and_token * (kv_layers - sparse_layers) * query_heads * (key_dim + value_dim) + indexer_flops_per_pair,
        ),
        requires=(Requirement(holds=lambda kv_layers, sparse_layers: kv_layers >= sparse_layers),),
        unsaid=("sparse_layers", "indexer_flops_per_pair"),
        statement="Each query head multiplies its query by a key and its weight by a value. Both are head_dim wide unless their widths"
                  " are given. In sparse layers only the indexer processes the whole context.",
        assumptions=("the FLOPs per token at long context", "the indexer computes at the rate of attention"),
        given={"kv_layers": "60", "sparse_layers": "57", "query_heads": "64", "indexer_flops_per_pair": "58.37 kFLOP/token"},
        result="181.3 kFLOP/token",
        sources=(talk("1:51:24", "1:52:20", "the quadratic term, left out as small", "we keep it: it dominates from 8 k to 100 k tokens"),),
    ),
    Equation(
        id="architecture.attention_flops_mla",
        changes=("counts kv_layers, which are all layers unless given",),
        title="Attention FLOPs per query and context token, latent attention expanded (prefill)",
        variant=Variant(group="attention_flops_per_pair", name="mla", holds_for=("mla_hybrid",)),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, nope_dim,
            rope_dim, value_dim: (
            attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement="Prefill expands the latent for every head: keys are nope_dim + rope_dim wide, and values are value_dim wide.",
        assumptions=("dense attention", "the latent is expanded, as in prefill"),
        result="4.997 MFLOP/token",
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.attention_flops_mla_absorbed",
        changes=("counts the layers that attend to the whole context, and the FLOPs of indexers",),
        title="Attention FLOPs per query and context token, latent attention absorbed (decode)",
        variant=Variant(
            group="attention_flops_per_pair", name="mla_absorbed", holds_for=("mla_hybrid_absorbed", "mla_indexed_absorbed")
        ),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, kv_layers, sparse_layers, query_heads, latent_dim, rope_dim,
            indexer_flops_per_pair: (
            attention_flops_per_pair,
            flop_per_mac_and_token * (kv_layers - sparse_layers) * query_heads * (2 * latent_dim + rope_dim) + indexer_flops_per_pair,
        ),
        requires=(Requirement(holds=lambda kv_layers, sparse_layers: kv_layers >= sparse_layers),),
        unsaid=("sparse_layers", "indexer_flops_per_pair"),
        statement="Decode works on the latent itself: keys are latent_dim + rope_dim wide, and values are latent_dim wide. In sparse"
                  " layers only the indexer processes the whole context.",
        assumptions=("projections are absorbed into query and output, as in decode", "the FLOPs per token at long context"),
        given={"indexer_flops_per_pair": "999.4 kFLOP/token"},
        result="999.4 kFLOP/token",
        sources=(MLA_PAPER, DSA_PAPER),
    ),
    Equation(
        id="architecture.attention_flops_of_entries",
        title="Attention FLOPs per query and context token, tokens compressed into shared entries",
        variant=Variant(group="attention_flops_per_pair", name="compressed"),
        relation=lambda attention_flops_per_pair, flop_per_mac_and_token, heavily_compressed_layers, query_heads, head_dim,
            heavy_compression_ratio, indexer_flops_per_pair: (
            attention_flops_per_pair,
            flop_per_mac_and_token * heavily_compressed_layers * query_heads * 2 * head_dim / heavy_compression_ratio
            + indexer_flops_per_pair,
        ),
        statement="Indexers and heavily compressed layers process one entry for several tokens.",
        assumptions=("the FLOPs per token at long context", "the indexer computes at the rate of attention"),
        given={"indexer_flops_per_pair": "122.9 kFLOP/token"},
        result="186.4 kFLOP/token",
        sources=(COMPRESSED_DOCS,),
    ),
    *DECODE_ATTENTION_EQUATIONS,
    *PREFILL_ATTENTION,
    Equation(
        id="architecture.attention_intensity",
        title="Arithmetic intensity of decode attention",
        relation=lambda attention_intensity, attention_flops_per_pair, kv_bytes_per_token: (
            attention_intensity,
            attention_flops_per_pair / kv_bytes_per_token,
        ),
        requires=(Requirement(holds=lambda attention_flops_per_pair: attention_flops_per_pair > 0),),
        statement="Attention is memory-bound if this is below the ridge point. It is 16 for groups of 8 in fp8, and 242 for DeepSeek-V3"
                  " decode in bf16.",
        assumptions=("the FLOPs of decode over the bytes that decode reads",),
        given={"attention_flops_per_pair": "8.258 MFLOP/token", "kv_bytes_per_token": "516.1 kB/token"},
        result="16 FLOP/byte",
        sources=(ours("FLOPs per pair over the KV bytes read for it"),),
    ),
    *COUNTS,
)
