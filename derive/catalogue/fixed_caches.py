"""Architecture: what a sequence holds or reads whatever its length, and with it the bytes of a whole sequence."""

from derive.catalogue.sources import COMPRESSED_DOCS, DSA_PAPER, GQA_PAPER, LINEAR_PAPER, MSA_CONFIG, WINDOW_PAPER, ours
from derive.records import BOUND, UPPER, Equation

FIXED = (
    Equation(
        id="architecture.window_kv_width",
        title="Values a windowed layer stores for one token",
        defines="window_kv_width",
        relation=lambda window_kv_width, window_kv_heads, window_key_dim, window_value_dim: (
            window_kv_width,
            window_kv_heads * (window_key_dim + window_value_dim),
        ),
        statement="A key and a value for each KV head of the layer; where the key serves as the value too, the value adds no width.",
        sources=(WINDOW_PAPER, GQA_PAPER, ours("heads and widths of windowed layers need not be those of the others")),
    ),
    Equation(
        id="architecture.window_kv_bytes",
        title="KV bytes in full windows",
        defines="window_kv_bytes",
        relation=lambda window_kv_bytes, entry_per_token, window_layers, window_tokens, window_kv_width, bytes_per_element: (
            window_kv_bytes,
            entry_per_token * window_layers * window_tokens * window_kv_width * bytes_per_element,
        ),
        statement="A windowed layer keeps the last window_tokens tokens of a sequence and forgets the rest.",
        assumptions=("the window is full, and nothing behind it is kept: a server that keeps all needs far more",),
        sources=(WINDOW_PAPER,),
    ),
    Equation(
        id="architecture.linear_state_bytes",
        title="Bytes of the states of linear attention",
        defines="linear_state_bytes",
        relation=lambda linear_state_bytes, linear_layers, state_heads, state_key_dim, state_value_dim, bytes_per_element: (
            linear_state_bytes,
            linear_layers * state_heads * state_key_dim * state_value_dim * bytes_per_element,
        ),
        statement="A linear layer keeps one matrix per head, key width by value width, in place of keys and values of every token.",
        assumptions=(
            "states in the data type of the cache; some configurations ask for a wider one",
            "the few tokens that short convolutions keep are left out",
        ),
        sources=(LINEAR_PAPER,),
    ),
    Equation(
        id="architecture.selected_entry_width",
        title="Values of a selected entry, latent attention",
        defines="selected_entry_width",
        variant=("selected_entry_width", "mla_indexed", True),
        relation=lambda selected_entry_width, latent_dim, rope_dim: (selected_entry_width, latent_dim + rope_dim),
        statement="A selected token is read as its latent and its rotary key, once for all heads.",
        sources=(DSA_PAPER,),
    ),
    Equation(
        id="architecture.selected_entry_width_gqa_indexed",
        title="Values of a selected entry, grouped-query attention",
        defines="selected_entry_width",
        variant=("selected_entry_width", "gqa_indexed", False),
        relation=lambda selected_entry_width, kv_heads, head_dim: (selected_entry_width, 2 * kv_heads * head_dim),
        statement="A selected token is read as a key and a value of head_dim for each KV head.",
        assumptions=("all KV heads select the same tokens, or as many each",),
        sources=(MSA_CONFIG,),
    ),
    Equation(
        id="architecture.selected_entry_width_compressed",
        title="Values of a selected entry, tokens compressed into shared entries",
        defines="selected_entry_width",
        variant=("selected_entry_width", "compressed", False),
        relation=lambda selected_entry_width, head_dim: (selected_entry_width, head_dim),
        statement="A selected entry is one vector of head_dim that is key and value at once.",
        sources=(COMPRESSED_DOCS,),
    ),
    Equation(
        id="architecture.selected_kv_bytes",
        title="KV bytes read of selected entries",
        defines="selected_kv_bytes",
        relation=lambda selected_kv_bytes, sparse_layers, selected_entries, selected_entry_width, bytes_per_element: (
            selected_kv_bytes,
            sparse_layers * selected_entries * selected_entry_width * bytes_per_element,
        ),
        statement="A sparse layer reads the same number of entries however long the context.",
        assumptions=("the context holds at least as many entries as are selected",),
        sources=(DSA_PAPER, ours("blocks count as the tokens they hold, compressed entries as one")),
    ),
    Equation(
        id="architecture.fixed_kv_bytes",
        title="KV bytes read whatever the context",
        defines="fixed_kv_bytes_per_sequence",
        relation=lambda fixed_kv_bytes_per_sequence, window_kv_bytes, linear_state_bytes, selected_kv_bytes: (
            fixed_kv_bytes_per_sequence,
            window_kv_bytes + linear_state_bytes + selected_kv_bytes,
        ),
        statement="Windows, states and selections are read in full by every step, the same at any context; zero where there are none.",
        sources=(ours("the part of a step's KV read that does not grow, each mechanism apart"),),
    ),
    Equation(
        id="architecture.kv_bytes_per_sequence",
        title="KV bytes a sequence stores",
        kind=BOUND,
        direction=UPPER,
        defines="kv_bytes_per_sequence",
        relation=lambda kv_bytes_per_sequence, context_length, kv_bytes_per_token, window_kv_bytes, linear_state_bytes: (
            kv_bytes_per_sequence,
            context_length * kv_bytes_per_token + window_kv_bytes + linear_state_bytes,
        ),
        statement="What grows with the context, and windows and states. Selected entries are among what grows and are not stored again.",
        assumptions=("windows are full: a shorter context stores less",),
        sources=(ours("slope and intercept of the bytes stored"),),
    ),
    Equation(
        id="architecture.kv_read_per_sequence",
        title="KV bytes a step reads of a sequence",
        kind=BOUND,
        direction=UPPER,
        defines="kv_read_bytes_per_sequence",
        relation=lambda kv_read_bytes_per_sequence, context_length, kv_read_bytes_per_token, fixed_kv_bytes_per_sequence: (
            kv_read_bytes_per_sequence,
            context_length * kv_read_bytes_per_token + fixed_kv_bytes_per_sequence,
        ),
        statement="What a step reads of every token of the context, and what it reads at any context.",
        assumptions=(
            "the context fills windows and selections: a shorter one reads less",
            "reads only; a linear layer also writes its state back, which moves as many bytes again",
        ),
        sources=(ours("slope and intercept of the bytes read"),),
    ),
)
