"""Architecture: the bytes that a sequence stores and reads. Some grow with the context, others have a fixed limit."""

from derive.catalogue.arithmetic import minimum
from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, GQA_PAPER, LINEAR_PAPER, MSA_CONFIG, WINDOW_PAPER, ours
from derive.records import Equation, Variant

FIXED = (
    Equation(
        id="architecture.kv_bytes_compressed",
        changes=("indexer keys have their own data type: fp8 with a scale, with a cache in bf16",),
        title="KV bytes per token, tokens compressed into shared entries",
        variant=Variant(group="kv_bytes_per_token", name="compressed"),
        relation=lambda kv_bytes_per_token, entry_per_token, sparse_layers, head_dim, indexer_dim, sparse_compression_ratio,
            heavily_compressed_layers, heavy_compression_ratio, bytes_per_element, indexer_bytes_per_element: (
            kv_bytes_per_token,
            entry_per_token
            * (
                sparse_layers * (head_dim * bytes_per_element + indexer_dim * indexer_bytes_per_element) / sparse_compression_ratio
                + heavily_compressed_layers * head_dim * bytes_per_element / heavy_compression_ratio
            ),
        ),
        statement="Sparse layers store an entry and an indexer key for a few tokens. Heavily compressed layers store one for many.",
        assumptions=(
            "one KV head, whose key is also its value",
            "only the part that grows with the context: without windows, and without tokens that are not yet compressed",
        ),
        given={"sparse_layers": "30"},
        result="4.954 kB/token",
        sources=(COMPRESSED_DOCS,),
    ),
    Equation(
        id="architecture.kv_read_bytes",
        changes=("without the caches of sparse layers, because these read only the selected entries",),
        title="KV bytes read per token of context",
        relation=lambda kv_read_bytes_per_token, kv_bytes_per_token, entry_per_token, sparse_layers, selected_entry_width,
            bytes_per_element, sparse_compression_ratio: (
            kv_read_bytes_per_token,
            kv_bytes_per_token
            - entry_per_token * sparse_layers * selected_entry_width * bytes_per_element / sparse_compression_ratio,
        ),
        unsaid=("sparse_layers",),
        statement="A step reads every byte that grows with the context, except in sparse layers. These read the keys of their indexer and"
                  " the selected entries.",
        assumptions=("the slope above window and selection. There the reads of selected entries no longer grow",),
        given={"kv_bytes_per_token": "4.954 kB/token", "sparse_layers": "30", "selected_entry_width": "512"},
        result="1.114 kB/token",
        sources=(DSA_PAPER, MSA_CONFIG, COMPRESSED_DOCS, ours("it was an assumption of roofline.kv_time and is now a separate quantity")),
    ),
    Equation(
        id="architecture.window_kv_bytes",
        changes=(
            "a window stores at most the tokens of the context",
            "uses the heads and widths of windowed layers, instead of a separate quantity for the values of a layer",
        ),
        title="KV bytes in windows",
        relation=lambda window_kv_bytes, entry_per_token, window_layers, window_tokens, context_length, window_kv_heads,
            window_key_dim, window_value_dim, bytes_per_element: (
            window_kv_bytes,
            entry_per_token
            * window_layers
            * minimum(window_tokens, context_length)
            * window_kv_heads
            * (window_key_dim + window_value_dim)
            * bytes_per_element,
        ),
        statement="A windowed layer stores the last window_tokens tokens of a sequence, or all tokens if there are fewer. If the key is"
                  " also the value, the value adds no width.",
        assumptions=("tokens outside the window are dropped. A server that keeps them needs far more memory",),
        given={"window_layers": "39", "context_length": "32k", "window_kv_heads": "8", "window_key_dim": "192", "bytes_per_element": "2"},
        result="25.56 MB",
        sources=(WINDOW_PAPER, GQA_PAPER, ours("the smaller of window and context, so a short sequence stores no empty window")),
    ),
    Equation(
        id="architecture.linear_state_bytes",
        changes=("states have their own data type: many servers store them in fp32, with a cache in bf16 or fp8",),
        title="Bytes of the states of linear attention",
        relation=lambda linear_state_bytes, linear_layers, state_heads, state_key_dim, state_value_dim, state_bytes_per_element: (
            linear_state_bytes,
            linear_layers * state_heads * state_key_dim * state_value_dim * state_bytes_per_element,
        ),
        statement="A linear layer stores no keys and values of tokens, but one matrix per head, with key width times value width.",
        assumptions=("the few tokens that short convolutions store are left out",),
        given={
            "linear_layers": "36", "state_heads": "32", "state_key_dim": "128", "state_value_dim": "128", "state_bytes_per_element": "2",
        },
        result="37.75 MB",
        sources=(LINEAR_PAPER,),
    ),
    Equation(
        id="architecture.selected_entry_width",
        title="Values of a selected entry, latent attention",
        variant=Variant(group="selected_entry_width", name="mla_indexed"),
        relation=lambda selected_entry_width, latent_dim, rope_dim: (selected_entry_width, latent_dim + rope_dim),
        statement="A selected token is read as its latent and its rotary key, once for all heads.",
        result="576",
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.selected_entry_width_gqa_indexed",
        title="Values of a selected entry, grouped-query attention",
        variant=Variant(group="selected_entry_width", name="gqa_indexed", default=True),
        relation=lambda selected_entry_width, kv_heads, head_dim: (selected_entry_width, 2 * kv_heads * head_dim),
        statement="A selected token is read as a key and a value of head_dim for each KV head.",
        assumptions=("all KV heads select the same tokens, or the same number",),
        given={"head_dim": "128"},
        result="1024",
        sources=(MSA_CONFIG,),
    ),
    Equation(
        id="architecture.selected_entry_width_compressed",
        title="Values of a selected entry, tokens compressed into shared entries",
        variant=Variant(group="selected_entry_width", name="compressed"),
        relation=lambda selected_entry_width, head_dim: (selected_entry_width, head_dim),
        statement="A selected entry is one vector of head_dim values that is key and value at once.",
        result="512",
        sources=(COMPRESSED_DOCS,),
    ),
    Equation(
        id="architecture.read_entries",
        changes=("an entry may stand for several tokens",),
        title="Entries a sparse layer reads",
        relation=lambda read_entries, selected_entries, entry_per_token, context_length, sparse_compression_ratio: (
            read_entries,
            minimum(selected_entries, entry_per_token * context_length / sparse_compression_ratio),
        ),
        statement="A sparse layer reads the entries that it selects, or all entries if there are fewer.",
        assumptions=("tokens that are not yet compressed are left out",),
        given={"context_length": "32k"},
        result="1024",
        sources=(
            DSA_PAPER,
            COMPRESSED_DOCS,
            ours("a block counts with all its tokens. If the context is shorter than the selection, all of it is read"),
        ),
    ),
    Equation(
        id="architecture.selected_kv_bytes",
        changes=("counts the entries that are read. A short context has fewer entries than a layer selects",),
        title="KV bytes read of selected entries",
        relation=lambda selected_kv_bytes, sparse_layers, read_entries, selected_entry_width, bytes_per_element: (
            selected_kv_bytes,
            sparse_layers * read_entries * selected_entry_width * bytes_per_element,
        ),
        statement="The bytes of the selected entries. If the context is long enough, their number no longer grows.",
        given={"read_entries": "2048", "selected_entry_width": "576"},
        result="71.96 MB",
        sources=(DSA_PAPER, ours("entries times their width")),
    ),
    Equation(
        id="architecture.fixed_kv_bytes",
        title="KV bytes read of windows, states and selections",
        relation=lambda fixed_kv_bytes_per_sequence, window_kv_bytes, linear_state_bytes, selected_kv_bytes: (
            fixed_kv_bytes_per_sequence,
            window_kv_bytes + linear_state_bytes + selected_kv_bytes,
        ),
        statement="The part of the read that does not grow with the context, once windows and selections are full. It is zero in models"
                  " without them.",
        given={"window_kv_bytes": "3.998 MB", "selected_kv_bytes": "15.73 MB"},
        result="38.6 MB",
        sources=(ours("the part of a step's KV read that has a maximum, separately for each mechanism"),),
    ),
    Equation(
        id="architecture.kv_bytes_per_sequence",
        unsaid=("window_kv_bytes", "linear_state_bytes"),
        title="KV bytes a sequence stores",
        relation=lambda kv_bytes_per_sequence, context_length, kv_bytes_per_token, window_kv_bytes, linear_state_bytes: (
            kv_bytes_per_sequence,
            context_length * kv_bytes_per_token + window_kv_bytes + linear_state_bytes,
        ),
        statement="The part that grows with the context, plus windows and states. Selected entries are in the growing part, so they are"
                  " not stored twice.",
        given={"context_length": "32k", "kv_bytes_per_token": "81.92 kB/token", "window_kv_bytes": "436.2 MB"},
        result="3.077 GB",
        sources=(ours("one part grows with the context, and the other part has a maximum"),),
    ),
    Equation(
        id="architecture.kv_read_per_sequence",
        changes=("states are written back as well as read. This doubles their bytes",),
        title="KV bytes that a step reads for a sequence, including states that are written back",
        relation=lambda kv_read_bytes_per_sequence, context_length, kv_read_bytes_per_token, fixed_kv_bytes_per_sequence,
            linear_state_bytes: (
            kv_read_bytes_per_sequence,
            context_length * kv_read_bytes_per_token + fixed_kv_bytes_per_sequence + linear_state_bytes,
        ),
        statement=(
            "The bytes of every token of the context, of windows, states and selected entries. States count twice, because each is"
            " written back."
        ),
        assumptions=("the one new token per step in caches and windows is left out",),
        given={"context_length": "32k", "kv_read_bytes_per_token": "8.052 kB/token", "fixed_kv_bytes_per_sequence": "71.96 MB"},
        result="348.5 MB",
        sources=(LINEAR_PAPER, ours("one part grows with the context, and the other part has a maximum. Every step updates a whole state")),
    ),
)
