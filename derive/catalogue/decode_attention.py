"""Architecture: attention FLOPs of one new token of a sequence, over its whole context, its windows and the entries that it selects."""

from derive.catalogue.arithmetic import minimum
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, MSA_CONFIG, WINDOW_PAPER, ours, talk
from derive.records import Equation, Variant

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
