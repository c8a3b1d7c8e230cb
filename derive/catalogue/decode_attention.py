"""Architecture: attention FLOPs of one new token of a sequence, over its whole context, its windows and what it selects."""

from derive.catalogue.arithmetic import minimum
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, MSA_CONFIG, WINDOW_PAPER, ours, talk
from derive.records import Equation, Example, Variant
from derive.requirements import Requirement

DECODE_ATTENTION_EQUATIONS = (
    Equation(
        id="architecture.attention_flops_of_context",
        title="Attention FLOPs of one new token, dense attention",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="dense", default=True),
        relation=lambda attention_flops_per_sequence, attention_flops_per_pair, context_length: (
            attention_flops_per_sequence,
            attention_flops_per_pair * context_length,
        ),
        statement="The query of a new token attends to every token of its context.",
        assumptions=("dense attention in every layer that attends",),
        example=Example(given={"attention_flops_per_pair": "8.258 MFLOP/token", "context_length": "8k"}, result="66.06 GFLOP"),
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
        statement="Full layers attend to the whole context, windowed layers to their window.",
        assumptions=("what linear layers do with their states is left out",),
        example=Example(
            given={"attention_flops_per_pair": "163.8 kFLOP/token", "context_length": "32k", "window_attention_flops": "872.4 MFLOP"},
            result="6.114 GFLOP",
        ),
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
        example=Example(
            given={
                "window_layers": "52",
                "query_heads": "32",
                "window_key_dim": "128",
                "window_value_dim": "128",
                "window_tokens": "1024",
                "context_length": "32k",
            },
            result="872.4 MFLOP",
        ),
        sources=(WINDOW_PAPER, ours("attention_flops over the tokens of a window")),
    ),
    Equation(
        id="architecture.window_attention_flops_shared",
        title="Attention FLOPs of one new token in windowed layers, if the key is the value",
        defines="window_attention_flops",
        variant=Variant(group="window_attention_flops", name="shared_values"),
        relation=lambda window_attention_flops, flop_per_mac_and_token, window_layers, query_heads, window_key_dim, window_tokens,
            context_length: (
            window_attention_flops,
            flop_per_mac_and_token * window_layers * query_heads * 2 * window_key_dim * minimum(window_tokens, context_length),
        ),
        statement="A vector that is key and value at once is stored once and multiplied with twice.",
        assumptions=("windowed layers have as many query heads as the others",),
        example=Example(
            given={"window_layers": "61", "query_heads": "128", "window_key_dim": "512", "window_tokens": "128", "context_length": "32k"},
            result="2.047 GFLOP",
        ),
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
        statement="Every indexer head multiplies its query with the index key of a token, which all heads share.",
        assumptions=("the sum over the heads is left out",),
        example=Example(given={"indexer_layers": "61", "indexer_heads": "64", "indexer_dim": "128"}, result="999.4 kFLOP/token"),
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
        example=Example(
            given={"sparse_layers": "30", "indexer_heads": "64", "indexer_dim": "128", "sparse_compression_ratio": "4"},
            result="122.9 kFLOP/token",
        ),
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
        statement="Each query head attends to the selected latents: keys latent_dim + rope_dim wide, values latent_dim.",
        assumptions=("projections absorbed into the query and the output, as in decode",),
        example=Example(
            given={"sparse_layers": "61", "query_heads": "128", "latent_dim": "512", "rope_dim": "64", "read_entries": "2048"},
            result="34.8 GFLOP",
        ),
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.selected_attention_flops_gqa_indexed",
        title="Attention FLOPs of one new token over selected entries, grouped-query attention",
        defines="selected_attention_flops",
        variant=Variant(group="selected_attention_flops", name="gqa_indexed", holds_for=("compressed",)),
        relation=lambda selected_attention_flops, flop_per_mac, sparse_layers, query_heads, head_dim, read_entries: (
            selected_attention_flops,
            flop_per_mac * sparse_layers * query_heads * 2 * head_dim * read_entries,
        ),
        statement="Each query head attends to the keys and values of head_dim that its layer selected.",
        assumptions=("all KV heads select the same tokens, or as many each",),
        example=Example(
            given={"sparse_layers": "57", "query_heads": "64", "head_dim": "128", "read_entries": "2048"},
            result="3.825 GFLOP",
        ),
        sources=(MSA_CONFIG,),
    ),
    Equation(
        id="architecture.attention_flops_mla_indexed",
        title="Attention FLOPs of one new token, every layer selects",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="mla_indexed"),
        relation=lambda attention_flops_per_sequence, indexer_flops_per_pair, context_length, selected_attention_flops: (
            attention_flops_per_sequence,
            indexer_flops_per_pair * context_length + selected_attention_flops,
        ),
        statement="The indexers score the whole context, and attention uses the selected entries. At long context the indexers do"
                  " most of the work.",
        assumptions=("every layer selects what it reads", "the indexer's arithmetic runs at the rate of attention"),
        example=Example(
            given={"indexer_flops_per_pair": "999.4 kFLOP/token", "context_length": "32k", "selected_attention_flops": "34.8 GFLOP"},
            result="66.78 GFLOP",
        ),
        sources=(DSA_PAPER, ours("scores over the context and attention over the selection, added")),
    ),
    Equation(
        id="architecture.attention_flops_gqa_indexed",
        title="Attention FLOPs of one new token, all but a few layers select",
        defines="attention_flops_per_sequence",
        variant=Variant(group="attention_flops_per_sequence", name="gqa_indexed"),
        relation=lambda attention_flops_per_sequence, indexer_flops_per_pair, flop_per_mac_and_token, layers, sparse_layers, query_heads,
            head_dim, context_length, selected_attention_flops: (
            attention_flops_per_sequence,
            (indexer_flops_per_pair + flop_per_mac_and_token * (layers - sparse_layers) * query_heads * 2 * head_dim) * context_length
            + selected_attention_flops,
        ),
        requires=(Requirement(holds=lambda layers, sparse_layers: layers >= sparse_layers),),
        statement="Dense layers and indexers process the whole context, sparse layers their selection.",
        assumptions=("the indexer's arithmetic runs at the rate of attention",),
        example=Example(
            given={
                "indexer_flops_per_pair": "58.37 kFLOP/token",
                "layers": "60",
                "sparse_layers": "57",
                "query_heads": "64",
                "head_dim": "128",
                "context_length": "32k",
                "selected_attention_flops": "3.825 GFLOP",
            },
            result="8.839 GFLOP",
        ),
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
        statement="Indexers and heavily compressed layers process one entry for every few tokens. Selections and windows stop growing.",
        assumptions=("tokens not yet compressed are left out", "the indexer's arithmetic runs at the rate of attention"),
        example=Example(
            given={
                "indexer_flops_per_pair": "122.9 kFLOP/token",
                "heavily_compressed_layers": "31",
                "query_heads": "128",
                "head_dim": "512",
                "heavy_compression_ratio": "128",
                "context_length": "32k",
                "selected_attention_flops": "8.053 GFLOP",
                "window_attention_flops": "2.047 GFLOP",
            },
            result="16.06 GFLOP",
        ),
        sources=(COMPRESSED_DOCS, ours("scores, heavily compressed layers, selections and windows, added")),
    ),
)
