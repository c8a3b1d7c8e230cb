"""A model: its layers, its cache, its attention."""

from derive.registry.domains import NONNEGATIVE

ROWS = (
    # -- architecture ---------------------------------------------------------------------------------------------
    ("layers", "n_l", r"n_{\ell}", "1", "layers of the model", 1, 200),
    ("kv_layers", "n_kvl", r"n_{\mathrm{kv},\ell}", "1", "layers whose KV cache grows with the context", 1, 200),
    ("kv_heads", "n_kv", r"n_{\mathrm{kv}}", "1", "key and value heads of a layer", 1, 128),
    ("query_heads", "n_q", "n_q", "1", "query heads of a layer", 1, 256),
    ("head_dim", "d_h", "d_h", "1", "width of one head", 16, 1024),
    ("latent_dim", "d_c", "d_c", "1", "width of the compressed KV latent (MLA)", 64, 2048),
    ("rope_dim", "d_r", "d_r", "1", "width of the shared rotary key (MLA)", 8, 256),
    ("nope_dim", "d_n", "d_n", "1", "width of a head's key without position (MLA)", 16, 512),
    ("value_dim", "d_v", "d_v", "1", "width of a head's value (MLA)", 16, 512),
    ("bytes_per_element", "b_e", "b_e", "byte", "bytes that store one cached value: 2 in bf16, 1 in fp8", 0.5, 4),
    (
        "attention_flops_per_pair",
        "a",
        "a",
        "FLOP/token",
        "attention FLOPs of one query against one token of context, all layers",
        1e4,
        1e8,
        NONNEGATIVE,
    ),
    ("attention_intensity", "AI", "I_a", "FLOP/byte", "attention FLOPs per byte of KV read", 0.1, 1e4),
)
