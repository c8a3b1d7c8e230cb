"""Architecture: KV bytes and attention FLOPs from a model's configuration (lecture, 1:39:06 to 1:41:02 and 1:51:24)."""

from typing import Any

from derive.catalogue.arithmetic import maximum, minimum
from derive.catalogue.fixed_caches import FIXED
from derive.catalogue.sources import (
    COMPRESSED_DOCS,
    DSA_PAPER,
    GQA_PAPER,
    KAPLAN_PAPER,
    LLAMA_REFERENCE,
    MIXTRAL_PAPER,
    MLA_PAPER,
    MOE_PAPER,
    MSA_CONFIG,
    UNEQUAL_CONFIG,
    WINDOW_PAPER,
    ours,
    talk,
)
from derive.records import Equation, Requirement, Step, Variant, at

DECODE_ATTENTION_EQUATIONS = (
    Equation(
        id="architecture.window_flops_per_token",
        title="Attention FLOPs of windowed layers per query and window token",
        variant=Variant(group="window_flops_per_token", name="own_values", default=True),
        relation=lambda window_flops_per_token, flop_per_mac_and_token, window_layers, query_heads, window_key_dim, window_value_dim: (
            window_flops_per_token,
            flop_per_mac_and_token * window_layers * query_heads * (window_key_dim + window_value_dim),
        ),
        statement="Each query head multiplies its query by the key of every token in the window, and its weight by the value.",
        assumptions=("windowed layers have as many query heads as the other layers",),
        given={"window_layers": "52", "query_heads": "32", "window_key_dim": "128"},
        result="852 kFLOP/token",
        sources=(WINDOW_PAPER, ours("attention_flops of the windowed layers")),
    ),
    Equation(
        id="architecture.window_flops_per_token_shared",
        title="Attention FLOPs of windowed layers per query and window token, if the key is also the value",
        variant=Variant(group="window_flops_per_token", name="shared_values"),
        relation=lambda window_flops_per_token, flop_per_mac_and_token, window_layers, query_heads, window_key_dim: (
            window_flops_per_token,
            flop_per_mac_and_token * window_layers * query_heads * 2 * window_key_dim,
        ),
        statement="One vector is both key and value. It is stored once and multiplied twice.",
        assumptions=("windowed layers have as many query heads as the other layers",),
        given={"window_layers": "61", "window_key_dim": "512"},
        result="15.99 MFLOP/token",
        sources=(COMPRESSED_DOCS, ours("attention_flops of the windowed layers, with values as wide as keys")),
    ),
    Equation(
        id="architecture.indexer_flops",
        changes=("an entry of an indexer may stand for several tokens",),
        title="Indexer FLOPs per token of context",
        relation=lambda indexer_flops_per_pair, flop_per_mac_and_token, indexer_layers, indexer_heads, indexer_dim,
            sparse_compression_ratio: (
            indexer_flops_per_pair,
            flop_per_mac_and_token * indexer_layers * indexer_heads * indexer_dim / sparse_compression_ratio,
        ),
        statement="Every indexer head multiplies its query by the index key of an entry. All heads share this key.",
        assumptions=("the sum over the heads is not included",),
        given={"indexer_layers": "30", "indexer_heads": "64"},
        result="122.9 kFLOP/token",
        sources=(DSA_PAPER, COMPRESSED_DOCS),
    ),
    Equation(
        id="architecture.selected_flops_per_entry",
        title="Attention FLOPs of sparse layers per query and selected entry, latent attention absorbed",
        variant=Variant(group="selected_flops_per_entry", name="mla_indexed"),
        relation=lambda selected_flops_per_entry, flop_per_mac, sparse_layers, query_heads, latent_dim, rope_dim: (
            selected_flops_per_entry,
            flop_per_mac * sparse_layers * query_heads * (2 * latent_dim + rope_dim),
        ),
        statement="Each query head attends to the selected latents. Keys are latent_dim + rope_dim wide, and values are latent_dim wide.",
        assumptions=(
            "the projections are absorbed into the query and the output, as in decode. Short prompts need fewer FLOPs if all latents are"
            " expanded and masked",
        ),
        result="16.99 MFLOP",
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.selected_flops_per_entry_gqa_indexed",
        title="Attention FLOPs of sparse layers per query and selected entry, grouped queries or compressed entries",
        variant=Variant(group="selected_flops_per_entry", name="gqa_indexed", default=True, holds_for=("compressed",)),
        relation=lambda selected_flops_per_entry, flop_per_mac, sparse_layers, query_heads, head_dim: (
            selected_flops_per_entry,
            flop_per_mac * sparse_layers * query_heads * 2 * head_dim,
        ),
        statement="Each query head attends to the keys and values that its layer selected. Both are head_dim wide.",
        assumptions=("all KV heads select the same tokens, or the same number",),
        given={"sparse_layers": "57", "query_heads": "64", "head_dim": "128"},
        result="1.868 MFLOP",
        sources=(MSA_CONFIG,),
    ),
    Equation(
        id="architecture.attention_flops_of_context",
        changes=("windows and selected entries are terms of one sum, and are 0 in models without them",),
        title="Attention FLOPs of one new token",
        relation=lambda attention_flops_per_sequence, attention_flops_per_pair, context_length, window_flops_per_token, window_tokens,
            selected_flops_per_entry, read_entries: (
            attention_flops_per_sequence,
            attention_flops_per_pair * context_length
            + window_flops_per_token * minimum(window_tokens, context_length)
            + selected_flops_per_entry * read_entries,
        ),
        unsaid=("window_flops_per_token", "selected_flops_per_entry"),
        statement="Layers of full attention process the whole context, windowed layers their window, and sparse layers the selected"
                  " entries.",
        assumptions=("the FLOPs of linear layers with their states are left out", "tokens that are not yet compressed are left out"),
        given={"attention_flops_per_pair": "184.3 kFLOP/token", "context_length": "32k", "read_entries": "1024"},
        result="16 GFLOP",
        sources=(
            talk("1:51:24", "1:52:20", "the quadratic term, left out as small", "we keep it: a new token attends to its whole context"),
            WINDOW_PAPER,
            ours("one part grows with the context, and the other part has a maximum"),
        ),
    ),
)


_PLACES = (
    "the mean is an integral over the positions in the prompt, not a sum over tokens",
    "all prompts have the same length and the same cached part",
)


def mean_met(limit: Any, cached_tokens: Any, uncached_tokens: Any) -> Any:
    """Return the mean number of tokens that a new token attends to: the tokens before it, up to a limit.

    >>> mean_met(100, 0, 50), mean_met(100, 0, 200), mean_met(100, 80, 40), mean_met(100, 300, 50)
    (25.0, 75.0, 95.0, 100.0)
    """
    before_it = minimum(maximum(limit, cached_tokens) - cached_tokens, uncached_tokens)
    return (before_it * (cached_tokens + before_it / 2) + (uncached_tokens - before_it) * limit) / uncached_tokens


PREFILL_ATTENTION = (
    Equation(
        id="architecture.prefill_attention_flops_mla",
        changes=("counts kv_layers, which are all layers unless given",),
        title="Attention FLOPs of prefill per query and context token, latent attention",
        variant=Variant(group="prefill_attention_flops_per_pair", name="mla", holds_for=("mla_hybrid",)),
        relation=lambda prefill_attention_flops_per_pair, flop_per_mac_and_token, kv_layers, query_heads, nope_dim, rope_dim, value_dim: (
            prefill_attention_flops_per_pair,
            flop_per_mac_and_token * kv_layers * query_heads * (nope_dim + rope_dim + value_dim),
        ),
        statement="Prefill expands the latent for every head: keys are nope_dim + rope_dim wide, and values are value_dim wide.",
        assumptions=("dense attention", "the latent is expanded, as in prefill"),
        result="4.997 MFLOP/token",
        derivation=lambda: (
            Step(
                operation="the expanded form, even if decode uses another form",
                premises=(at("architecture.attention_flops_mla", attention_flops_per_pair="prefill_attention_flops_per_pair"),),
            ),
        ),
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.prefill_window_tokens",
        title="Window tokens that a new token of a prompt attends to",
        relation=lambda prefill_window_tokens, window_tokens, cached_tokens, uncached_tokens: (
            prefill_window_tokens,
            mean_met(window_tokens, cached_tokens, uncached_tokens),
        ),
        statement="A token attends to all tokens before it, at most as many as the window has.",
        assumptions=_PLACES,
        given={"window_tokens": "1024", "cached_tokens": "500", "uncached_tokens": "1000"},
        result="886.7 tokens",
        sources=(WINDOW_PAPER, ours("the mean of the smaller of window and position")),
    ),
    Equation(
        id="architecture.prefill_read_entries",
        changes=("an entry may stand for several tokens",),
        title="Entries a sparse layer reads for a new token of a prompt",
        relation=lambda prefill_read_entries, selected_entries, entry_per_token, sparse_compression_ratio, cached_tokens,
            uncached_tokens: (
            prefill_read_entries,
            entry_per_token
            * mean_met(selected_entries * sparse_compression_ratio / entry_per_token, cached_tokens, uncached_tokens)
            / sparse_compression_ratio,
        ),
        statement="A token reads all entries before it, at most as many as its selection.",
        assumptions=(*_PLACES, "tokens that are not yet compressed are left out"),
        given={"cached_tokens": "2000", "uncached_tokens": "6000"},
        result="932.5",
        sources=(DSA_PAPER, COMPRESSED_DOCS, ours("the mean of the smaller of selection and position")),
    ),
    Equation(
        id="architecture.prefill_attention_of_prompt",
        changes=("windows and selected entries are terms of one sum, and are 0 in models without them",),
        title="Attention FLOPs of one new token of a prompt",
        relation=lambda prefill_attention_flops_per_token, prefill_attention_flops_per_pair, cached_tokens, uncached_tokens,
            window_flops_per_token, prefill_window_tokens, selected_flops_per_entry, prefill_read_entries: (
            prefill_attention_flops_per_token,
            prefill_attention_flops_per_pair * (cached_tokens + uncached_tokens / 2)
            + window_flops_per_token * prefill_window_tokens
            + selected_flops_per_entry * prefill_read_entries,
        ),
        unsaid=("window_flops_per_token", "selected_flops_per_entry"),
        statement="A new token attends to all cached tokens and on average to half of the new tokens. It also attends to its window and"
                  " to its selected entries.",
        assumptions=("the FLOPs of linear layers with their states are left out", *_PLACES),
        given={
            "prefill_attention_flops_per_pair": "184.3 kFLOP/token", "cached_tokens": "12k", "uncached_tokens": "8000",
            "prefill_window_tokens": "128", "prefill_read_entries": "1024",
        },
        result="13.05 GFLOP",
        sources=(KAPLAN_PAPER, ours("the mean over the positions of a prompt. Chunks do not change it")),
    ),
)


_SMALL_PARTS = "norms and biases are left out: about one parameter in ten thousand"
_GATED = "feed-forward layers are gated and have three matrices. For a plain layer with two matrices, give two thirds of its width"
_UNTIED = (
    "the vocabulary has two matrices, one at the input and one at the output. If both are the same matrix, give half of the vocabulary"
)
_ALIKE = "layers are equal, apart from their experts. All experts have the same size, shared experts included"
_VOCABULARY = "both vocabulary matrices count, although a token reads only one row at the input"
_MIXTURE = Requirement(holds=lambda active_experts, experts: active_experts < experts, otherwise="a token never uses all experts")
_LAYERS = Requirement(holds=lambda moe_layers, layers: moe_layers <= layers, otherwise="more layers with experts than layers")
_OF_MIXTURE = {
    "vocab_size": "102400", "model_dim": "5120", "layers": "60", "attention_params_per_layer": "149.2M", "moe_layers": "59",
    "ffn_dim": "12288", "experts": "160",
}

COUNTS = (
    Equation(
        id="architecture.attention_params",
        title="Parameters of a layer's attention, grouped queries",
        variant=Variant(group="attention_params_per_layer", name="gqa", default=True),
        relation=lambda attention_params_per_layer, model_dim, head_dim, query_heads, kv_heads: (
            attention_params_per_layer,
            2 * model_dim * head_dim * (query_heads + kv_heads),
        ),
        statement="Queries and the output have one matrix for each query head. Keys and values have one for each KV head.",
        assumptions=("keys and values have the same width", _SMALL_PARTS),
        given={"head_dim": "128", "kv_heads": "8"},
        result="570.4M",
        sources=(LLAMA_REFERENCE,),
    ),
    Equation(
        id="architecture.attention_params_mla",
        title="Parameters of a layer's attention, latents of keys, values and queries",
        variant=Variant(group="attention_params_per_layer", name="mla"),
        relation=lambda attention_params_per_layer, model_dim, query_latent_dim, query_heads, nope_dim, rope_dim, latent_dim, value_dim: (
            attention_params_per_layer,
            model_dim * query_latent_dim
            + query_latent_dim * query_heads * (nope_dim + rope_dim)
            + model_dim * (latent_dim + rope_dim)
            + latent_dim * query_heads * (nope_dim + value_dim)
            + query_heads * value_dim * model_dim,
        ),
        statement="Queries have a latent. Keys and values have another latent and the shared rotary key. The heads have an output matrix.",
        assumptions=(_SMALL_PARTS,),
        given={"model_dim": "7168", "query_latent_dim": "1536"},
        result="187.1M",
        sources=(MLA_PAPER,),
    ),
    Equation(
        id="architecture.total_params",
        title="Parameters of a model",
        stand_in=True,
        relation=lambda total_params, vocab_size, model_dim, layers, attention_params_per_layer, moe_layers, ffn_dim, moe_ffn_dim,
            experts, shared_experts: (
            total_params,
            2 * vocab_size * model_dim
            + layers * attention_params_per_layer
            + (layers - moe_layers) * 3 * model_dim * ffn_dim
            + moe_layers * model_dim * (3 * moe_ffn_dim * (experts + shared_experts) + experts),
        ),
        unsaid=("moe_layers",),
        requires=(_LAYERS,),
        statement="The vocabulary at input and output. Every layer adds attention and three matrices of a feed-forward layer, or experts"
                  " and a router.",
        assumptions=(_ALIKE, _GATED, _UNTIED, _SMALL_PARTS),
        given=_OF_MIXTURE,
        result="235.7B",
        sources=(LLAMA_REFERENCE, MOE_PAPER, ours("the count of all matrices of a mixture of experts")),
    ),
    Equation(
        id="architecture.active_params",
        title="Active parameters of a model",
        stand_in=True,
        relation=lambda active_params, vocab_size, model_dim, layers, attention_params_per_layer, moe_layers, ffn_dim, moe_ffn_dim,
            experts, active_experts, shared_experts: (
            active_params,
            2 * vocab_size * model_dim
            + layers * attention_params_per_layer
            + (layers - moe_layers) * 3 * model_dim * ffn_dim
            + moe_layers * model_dim * (3 * moe_ffn_dim * (active_experts + shared_experts) + experts),
        ),
        unsaid=("moe_layers",),
        requires=(_MIXTURE, _LAYERS),
        statement="A token uses all parameters except the routed experts to which it is not sent.",
        assumptions=(
            _ALIKE,
            _VOCABULARY,
            _GATED,
            _UNTIED,
            _SMALL_PARTS,
        ),
        given={**_OF_MIXTURE, "active_experts": "6"},
        result="21.37B",
        derivation=lambda: (
            Step(
                operation="all parameters except unused experts",
                premises=(
                    at(
                        "architecture.total_params",
                        total_params=lambda active_params, moe_layers, model_dim, moe_ffn_dim, experts, active_experts: (
                            active_params + moe_layers * model_dim * 3 * moe_ffn_dim * (experts - active_experts)
                        ),
                    ),
                ),
            ),
        ),
        sources=(LLAMA_REFERENCE, MIXTRAL_PAPER),
    ),
)


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
