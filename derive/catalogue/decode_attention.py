"""Architecture: attention FLOPs of one new token of a sequence, over its whole context, its windows and what it selects."""

from derive.arithmetic import minimum
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, MSA_CONFIG, WINDOW_PAPER, ours, talk
from derive.records import Equation, Variant

DECODE = (
    Equation(
        id="architecture.attention_flops_of_context",
        title="Attention FLOPs of one new token, dense attention",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="dense", default=True),
        relation=lambda attention_flops_per_sequence, attention_flops_per_pair, context_length: (
            attention_flops_per_sequence,
            attention_flops_per_pair * context_length,
        ),
        statement="The query of a new token meets every token of its context.",
        assumptions=("dense attention in every layer that attends",),
        sources=(talk("1:51:24", "1:52:20", "the quadratic term, dropped as small", "kept: a new token meets its whole context"),),
    ),
    Equation(
        id="architecture.attention_flops_with_windows",
        title="Attention FLOPs of one new token, windows in some layers",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="windowed"),
        relation=lambda attention_flops_per_sequence, attention_flops_per_pair, context_length, window_attention_flops: (
            attention_flops_per_sequence,
            attention_flops_per_pair * context_length + window_attention_flops,
        ),
        statement="Full layers meet the whole context, windowed layers what their window holds.",
        assumptions=("what linear layers do with their states is left out",),
        sources=(WINDOW_PAPER, ours("what grows without end, and what stops growing")),
    ),
    Equation(
        id="architecture.window_attention_flops",
        title="Attention FLOPs of one new token in windowed layers",
        defines="window_attention_flops",
        variant=Variant(group="window_attention_flops", name="own_values", default=True),
        relation=lambda window_attention_flops, flop_per_mac_and_token, window_layers, query_heads, window_key_dim, window_value_dim,
            window_tokens, context_length: (
            window_attention_flops,
            flop_per_mac_and_token
            * window_layers
            * query_heads
            * (window_key_dim + window_value_dim)
            * minimum(window_tokens, context_length),
        ),
        statement="Each query head multiplies its query with a key and its weight with a value of every token in the window.",
        assumptions=("windowed layers have as many query heads as the others",),
        sources=(WINDOW_PAPER, ours("attention_flops over the tokens of a window")),
    ),
    Equation(
        id="architecture.window_attention_flops_shared",
        title="Attention FLOPs of one new token in windowed layers, the key is the value",
        defines="window_attention_flops",
        variant=Variant(group="window_attention_flops", name="shared_values"),
        relation=lambda window_attention_flops, flop_per_mac_and_token, window_layers, query_heads, window_key_dim, window_tokens,
            context_length: (
            window_attention_flops,
            flop_per_mac_and_token * window_layers * query_heads * 2 * window_key_dim * minimum(window_tokens, context_length),
        ),
        statement="A vector that is key and value at once is stored once and multiplied with twice.",
        assumptions=("windowed layers have as many query heads as the others",),
        sources=(COMPRESSED_DOCS, ours("attention_flops over the tokens of a window, values as wide as keys")),
    ),
    Equation(
        id="architecture.indexer_flops",
        title="Indexer FLOPs per token of context",
        defines="indexer_flops_per_pair",
        variant=Variant(group="indexer_flops_per_pair", name="tokens", default=True),
        relation=lambda indexer_flops_per_pair, flop_per_mac_and_token, indexer_layers, indexer_heads, indexer_dim: (
            indexer_flops_per_pair,
            flop_per_mac_and_token * indexer_layers * indexer_heads * indexer_dim,
        ),
        statement="Every head of an indexer multiplies its query with the index key of a token, which they share.",
        assumptions=("the sum over the heads is left out",),
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.indexer_flops_compressed",
        title="Indexer FLOPs per token of context, tokens compressed into shared entries",
        defines="indexer_flops_per_pair",
        variant=Variant(group="indexer_flops_per_pair", name="compressed"),
        relation=lambda indexer_flops_per_pair, flop_per_mac_and_token, sparse_layers, indexer_heads, indexer_dim,
            sparse_compression_ratio: (
            indexer_flops_per_pair,
            flop_per_mac_and_token * sparse_layers * indexer_heads * indexer_dim / sparse_compression_ratio,
        ),
        statement="An indexer scores one key for every few tokens.",
        assumptions=("the sum over the heads is left out",),
        sources=(COMPRESSED_DOCS,),
    ),
    Equation(
        id="architecture.selected_attention_flops",
        title="Attention FLOPs of one new token over selected entries, latent attention absorbed",
        defines="selected_attention_flops",
        variant=Variant(group="selected_attention_flops", name="mla_indexed", default=True),
        relation=lambda selected_attention_flops, flop_per_mac, sparse_layers, query_heads, latent_dim, rope_dim, read_entries: (
            selected_attention_flops,
            flop_per_mac * sparse_layers * query_heads * (2 * latent_dim + rope_dim) * read_entries,
        ),
        statement="Each query head meets the latents it selected: keys latent_dim + rope_dim wide, values latent_dim.",
        assumptions=("projections absorbed into the query and the output, as in decode",),
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.selected_attention_flops_gqa_indexed",
        title="Attention FLOPs of one new token over selected entries, grouped-query attention",
        defines="selected_attention_flops",
        variant=Variant(group="selected_attention_flops", name="gqa_indexed"),
        relation=lambda selected_attention_flops, flop_per_mac, sparse_layers, query_heads, head_dim, read_entries: (
            selected_attention_flops,
            flop_per_mac * sparse_layers * query_heads * 2 * head_dim * read_entries,
        ),
        statement="Each query head meets the keys and values of head_dim that its layer selected.",
        assumptions=("all KV heads select the same tokens, or as many each",),
        sources=(MSA_CONFIG,),
    ),
    Equation(
        id="architecture.selected_attention_flops_compressed",
        title="Attention FLOPs of one new token over selected entries, tokens compressed into shared entries",
        defines="selected_attention_flops",
        variant=Variant(group="selected_attention_flops", name="compressed"),
        relation=lambda selected_attention_flops, flop_per_mac, sparse_layers, query_heads, head_dim, read_entries: (
            selected_attention_flops,
            flop_per_mac * sparse_layers * query_heads * 2 * head_dim * read_entries,
        ),
        statement="Each query head meets the entries its layer selected, each key and value at once and head_dim wide.",
        sources=(COMPRESSED_DOCS,),
    ),
    Equation(
        id="architecture.attention_flops_mla_indexed",
        title="Attention FLOPs of one new token, every layer selects what it reads",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="mla_indexed"),
        relation=lambda attention_flops_per_sequence, indexer_flops_per_pair, context_length, selected_attention_flops: (
            attention_flops_per_sequence,
            indexer_flops_per_pair * context_length + selected_attention_flops,
        ),
        statement="The indexers score the whole context, attention meets the selected entries: at long context the indexers do most.",
        assumptions=("every layer selects what it reads", "the indexer's arithmetic runs at the rate of attention"),
        sources=(DSA_PAPER, ours("scores over the context and attention over the selection, added")),
    ),
    Equation(
        id="architecture.attention_flops_gqa_indexed",
        title="Attention FLOPs of one new token, all but a few layers select what they read",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="gqa_indexed"),
        relation=lambda attention_flops_per_sequence, indexer_flops_per_pair, flop_per_mac_and_token, layers, sparse_layers, query_heads,
            head_dim, context_length, selected_attention_flops: (
            attention_flops_per_sequence,
            (indexer_flops_per_pair + flop_per_mac_and_token * (layers - sparse_layers) * query_heads * 2 * head_dim) * context_length
            + selected_attention_flops,
        ),
        requires=(lambda layers, sparse_layers: layers >= sparse_layers,),
        statement="Dense layers meet the whole context, as do the indexers; sparse layers meet their selection.",
        assumptions=("the indexer's arithmetic runs at the rate of attention",),
        sources=(MSA_CONFIG, ours("scores, dense layers and selections, added")),
    ),
    Equation(
        id="architecture.attention_flops_compressed",
        title="Attention FLOPs of one new token, tokens compressed into shared entries",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="compressed"),
        relation=lambda attention_flops_per_sequence, indexer_flops_per_pair, flop_per_mac_and_token, heavily_compressed_layers,
            query_heads, head_dim, heavy_compression_ratio, context_length, selected_attention_flops, window_attention_flops: (
            attention_flops_per_sequence,
            (
                indexer_flops_per_pair
                + flop_per_mac_and_token * heavily_compressed_layers * query_heads * 2 * head_dim / heavy_compression_ratio
            )
            * context_length
            + selected_attention_flops
            + window_attention_flops,
        ),
        statement="Indexers and heavily compressed layers meet an entry for every few tokens; selections and windows stop growing.",
        assumptions=("tokens not yet compressed are left out", "the indexer's arithmetic runs at the rate of attention"),
        sources=(COMPRESSED_DOCS, ours("scores, heavily compressed layers, selections and windows, added")),
    ),
)
