"""The parts of a model by the settings of its config.json: their columns in architectures.csv, and their parameters.

All parameters of matrices are counted. Norms, biases and convolutions are left out.
"""

from itertools import cycle
from typing import NamedTuple, TypeAlias

from derive.errors import WrongData
from derive.model_config.layers import DENSE, FULL, HEAVY, LINEAR, SHARED, SPARSE, WINDOW, WINDOW_TOKENS, Layers, blocks_of
from derive.model_config.settings import Settings
from derive.quantities.data_types import BYTES_OF_ONE

Columns: TypeAlias = dict[str, float]
_INDEX_KEY = 1 + 4 / 128
"""Bytes of a value of an index key: fp8, and an fp32 scale for each 128 values, as vLLM stores it."""
_STATE = 4.0
"""Bytes of a value of a state in fp32, as engines keep that of Kimi's linear layers and of RecurrentGemma."""
_ROUND_TO = 256
"""Widths that are given as a multiple of two thirds of the model are rounded up to this."""
_DENSE_WIDTHS = (
    *("dense_intermediate_size", "intermediate_size_mlp", "intermediate_size", "n_inner", "ffn_dim", "hidden_dim", "ffn_hidden_size"),
    *("ff_intermediate_size", "mlp_hidden_size", "block_ff_dim", "shared_intermediate_size"),
)
_PLAIN = (
    *("gpt2", "gpt_bigcode", "gpt_neox", "gptj", "gpt_neo", "opt", "bloom", "falcon", "phi", "starcoder2", "mpt", "nemotron", "xglm"),
    *("RefinedWeb", "RefinedWebModel", "codeshell"),
)
_PLAIN_ACTIVATIONS, _GATED = ("relu2", "xielu", "gelu_new"), ("llama", "bitnet")
"""Models and activations whose feed-forward parts have two matrices, one up and one down, and not three. Then models that have three."""
_WIDTHS_OF_TWO = ("qwen", "molmo", "hf_olmo", "recurrent_gemma")
"""Models whose width is that of both matrices up, side by side."""
_ONE_HEAD = "multiquery"
"""A word for one KV head, where other files have a switch."""
_QUERY_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads", "num_query_heads")
_KV_HEADS = (
    *("num_key_value_heads", "num_kv_heads", "n_kv_heads", "kv_n_heads", "n_head_kv", "multi_query_group_num", "num_query_groups"),
    *("num_key_value_heads_per_layer", "num_attention_groups", "n_kv_head"),
)


class Part(NamedTuple):
    """The columns of a part of a model in architectures.csv, and the parameters of one such part."""

    columns: Columns
    params: int


class Experts(NamedTuple):
    """The columns of experts, and their parameters in a layer: all, used by a token, of shared experts, of the router."""

    columns: Columns
    all: int
    active: int
    shared: int
    router: int


def count_matrices(settings: Settings) -> int:
    """Return the number of matrices in a feed-forward part."""
    activation, kind = settings.get("mlp_hidden_act", "hidden_act", "activation_function"), str(settings.get("model_type"))
    return 2 if kind.removesuffix("_h") in _PLAIN or (activation in _PLAIN_ACTIVATIONS and kind not in _GATED) else 3


# Attention.


def query_heads(settings: Settings) -> float:
    """Return the number of query heads of a layer on average."""
    return _mean(_counts_of(settings, *_QUERY_HEADS))


def _counts_of(settings: Settings, *names: str) -> list[int]:
    """Return the count of each layer if the file lists them, otherwise one count for all layers."""
    name = settings.name_of(*names)
    listed = name is not None and isinstance(settings.get(name), list)
    return (settings.numbers(*names) if listed else None) or [settings.needed(*names)]


def _mean(counts: list[int]) -> float:
    return sum(counts) // len(counts) if sum(counts) % len(counts) == 0 else sum(counts) / len(counts)


def _count_gates(settings: Settings) -> int:
    """Return 2 if attention has a gate as large as its queries or its output, otherwise 1."""
    return 2 if settings.get("attn_output_gate", "attention_output_gate", "mla_use_output_gate") else 1


def _head_widths(settings: Settings, dim: int) -> tuple[float, int, int]:
    """Return the KV heads of a layer on average, and the width of a key and of a value."""
    queries = _counts_of(settings, *_QUERY_HEADS)
    counts = [queries[0] // group for part in blocks_of(settings, "attention") if (group := part.whole("n_heads_in_group"))]
    if not counts:
        alone = [1] if settings.get("multi_query", "multi_query_attention", "attention_head_type") in (True, _ONE_HEAD) else queries
        counts = _counts_of(settings, *_KV_HEADS) if settings.name_of(*_KV_HEADS) else alone
    for query, kv in zip(cycle(queries), counts, strict=False):
        if not kv or query % kv:
            raise WrongData(f"{settings.place}: {query} query heads cannot be divided evenly by {kv} key and value heads")
    key = settings.whole("head_dim", "kv_channels", "attention_head_dim") or dim // queries[0]
    return _mean(counts), key, settings.whole("v_head_dim") or key


def grouped_heads(settings: Settings, dim: int) -> Part:
    """Return the attention of layers that attend to the whole context, with grouped queries."""
    kv, key, value = _head_widths(settings, dim)
    kv, wide = settings.whole("num_global_key_value_heads") or kv, settings.whole("global_head_dim") or key
    value = wide if value == key else value
    keys_are_values = bool(settings.get("attention_k_eq_v"))
    columns: Columns = {"kv_heads": kv, "head_dim": wide} if value == wide else {"kv_heads": kv, "key_dim": wide, "value_dim": value}
    of_kv = kv * (wide if keys_are_values else wide + value)
    query, low = query_heads(settings), settings.whole("share_q_dim")
    of_queries = low * (dim + query * wide) if low else dim * query * wide * _count_gates(settings)
    return Part(columns, int(of_queries + dim * (query * value + of_kv)))


def window(settings: Settings, dim: int, layers: int) -> Part:
    """Return the attention of layers that attend only to the last tokens."""
    kv, key, value = _head_widths(settings, dim)
    wide = settings.whole("swa_head_dim") or key
    columns: Columns = {
        "window_layers": layers,
        "window_tokens": settings.needed(*WINDOW_TOKENS),
        "window_kv_heads": settings.whole("swa_num_key_value_heads", "swa_num_attention_groups") or kv,
        "window_key_dim": wide,
        "window_value_dim": settings.whole("swa_v_head_dim") or (wide if value == key else value),
    }
    query, of_value = settings.whole("swa_num_attention_heads") or query_heads(settings), columns["window_value_dim"]
    of_queries = query * (wide * _count_gates(settings) + of_value)
    return Part(columns, int(dim * (of_queries + columns["window_kv_heads"] * (wide + of_value))))


def latent(settings: Settings, dim: int) -> Part:
    """Return the attention of layers that keep a latent."""
    width, rope = settings.needed("kv_lora_rank"), settings.whole("qk_rope_head_dim") or 0
    nope, value, queries = settings.needed("qk_nope_head_dim"), settings.needed("v_head_dim"), settings.whole("q_lora_rank")
    settings.get("qk_head_dim", "head_dim", "num_key_value_heads", "n_kv_heads")
    heads = query_heads(settings)
    of_queries = queries * (dim + heads * (nope + rope)) if queries else dim * heads * (nope + rope)
    of_values = width * heads * (nope + value) + heads * value * dim * _count_gates(settings)
    columns: Columns = {"latent_dim": width, "rope_dim": rope, "nope_dim": nope, "value_dim": value}
    return Part(columns, int(of_queries + dim * (width + rope) + of_values))


def compressed(settings: Settings, dim: int, layers: Layers) -> Part:
    """Return the attention of all layers to compressed entries. Their keys equal their values.

    Every layer also has a window. Selected entries overlap, so their matrices are twice as wide.
    """
    ratios = [ratio for ratio in settings.numbers("compress_ratios") or () if ratio] or [settings.needed("compress_ratios")]
    sparse, heavy, all_layers = layers.count(SPARSE), layers.count(HEAVY), len(layers.attention)
    columns = {**window(settings, dim, all_layers).columns, "window_value_dim": 0, **grouped_heads(settings, dim).columns}
    columns["rope_dim"] = settings.whole("qk_rope_head_dim") or 0
    columns |= {"sparse_compression_ratio": min(ratios), "heavily_compressed_layers": heavy, "heavy_compression_ratio": max(ratios)}
    width, queries = settings.needed("head_dim"), settings.needed("q_lora_rank")
    wide = query_heads(settings) * width
    of_output = settings.needed("o_lora_rank") * (wide + settings.needed("o_groups") * dim)
    entries = 2 * dim * (2 * sparse + heavy) * width + sparse * 3 * dim * (settings.whole("index_head_dim") or 0)
    return Part(columns, int(all_layers * (queries * (dim + wide) + dim * width + of_output) + entries))


def indexer(settings: Settings, dim: int, layers: Layers, element: float) -> Part:
    """Return the indexer, which selects the entries that all layers read, or an empty part."""
    blocks = settings.inside("sparse_attention_config")
    if blocks and blocks.get("use_sparse_attention"):
        own = selecting = sum(map(bool, blocks.numbers("sparse_attention_freq") or [1] * len(layers.attention)))
        heads, width, kept = blocks.needed("sparse_num_index_heads"), blocks.needed("sparse_index_dim"), element
        entries = blocks.needed("sparse_topk_blocks") * blocks.needed("sparse_block_size")
    elif entries := settings.whole("index_topk") or 0:
        settings.get("index_topk_freq", "index_topk_pattern", "index_skip_topk_offset")
        selecting = layers.count(SPARSE) or layers.count(FULL)
        kinds = settings.words("indexer_types")
        own = kinds.count("full") if kinds else selecting
        heads, width, kept = settings.needed("index_n_heads"), settings.needed("index_head_dim"), _INDEX_KEY
    else:
        return Part({}, 0)
    columns: Columns = {"indexer_dim": width, "indexer_heads": heads, "indexer_bytes_per_element": kept}
    columns |= {"sparse_layers": selecting, "selected_entries": entries} | ({} if layers.count(SPARSE) else {"indexer_layers": own})
    return Part(columns, own * ((settings.whole("q_lora_rank") or dim) * heads * width + dim * (width + heads)))


def count_beside(settings: Settings, dim: int, layers: int) -> int:
    """Return the parameters beside the vocabulary, attention and feed-forward parts: of narrow embeddings, of embeddings of each layer,
    and of low-rank and alternating updates.
    """
    narrow, inner = settings.whole("word_embed_proj_dim") or dim, settings.whole("hidden_size_per_layer_input") or 0
    low, streams = settings.whole("laurel_rank") or 0, settings.whole("altup_num_inputs") or 1
    if embeddings := (settings.whole("vocab_size_per_layer_input") or 0) * inner:
        settings.unknown.append("that a step reads few of the embeddings of each layer")
    # Embeddings that are narrower than the model have a matrix up and one down.
    narrower = 2 * dim * narrow if narrow != dim else 0
    return narrower + layers * (embeddings + dim * (3 * inner + 2 * low)) + 2 * (streams - 1) * dim * dim


# States.


def state(settings: Settings, dim: int, layers: int, element: float) -> Part:
    """Return the layers with a state of fixed size, of the kind that the file describes."""
    said = str(settings.get("mamba_ssm_dtype", "mamba_ssm_cache_dtype") or "").removeprefix("torch.")
    kept = BYTES_OF_ONE.get(said, element)
    heads = settings.whole("linear_num_value_heads") or 0
    if heads:
        key, value = settings.needed("linear_key_head_dim"), settings.needed("linear_value_head_dim")
        params = dim * (2 * settings.needed("linear_num_key_heads") * key + 3 * heads * value + 2 * heads)
    elif linear := settings.inside("linear_attn_config"):
        heads, key, kept = linear.needed("num_heads"), linear.needed("head_dim"), _STATE
        value, low = key, (dim + heads * key) * key
        params = 4 * dim * heads * key + low + (dim * heads * key if linear.get("use_full_rank_gate") else low) + dim * heads
    elif heads := settings.whole("mamba_num_heads", "mamba_n_heads") or 0:
        key, value = settings.needed("mamba_head_dim", "mamba_d_head"), settings.needed("ssm_state_size", "mamba_d_state")
        settings.get("expand", "mamba_expand", "time_step_rank")
        params = dim * (3 * heads * key + 2 * (settings.whole("n_groups", "mamba_n_groups") or 1) * value + heads)
    elif key := settings.whole("lru_width") or 0:
        heads, value, kept, params = 1, 1, _STATE, int(3 * dim * key + 2 * key * key / query_heads(settings))
    elif taps := settings.whole("conv_L_cache") or 0:
        heads, key, value, params = 1, dim, taps - 1, 4 * dim * dim
    elif value := settings.whole("mamba_d_state", "ssm_state_size", "state_size") or 0:
        heads, key = 1, (settings.whole("mamba_expand", "expand") or 2) * dim
        params = 3 * dim * key + key * (2 * (settings.whole("mamba_dt_rank", "time_step_rank") or dim // 16) + 3 * value)
    else:
        heads, (_, key, value) = int(query_heads(settings)), _head_widths(settings, dim)
        params = 5 * dim * heads * key
    columns: Columns = {"linear_layers": layers, "state_heads": heads, "state_key_dim": key, "state_value_dim": value}
    return Part({**columns, "state_bytes_per_element": kept}, params)


# Feed-forward parts.


def dense_widths(settings: Settings, dim: int, layers: Layers) -> list[int]:
    """Return the width of every dense feed-forward part, also in layers with experts."""
    if parts := blocks_of(settings, "ffn"):
        return [_round_width(part.ratio("ffn_mult") * dim, 1.0, _ROUND_TO) for part in parts if not part.get("no_op")]
    if ratios := settings.get("ffn_multipliers"):
        step = settings.whole("ffn_dim_divisor") or 1
        each = [Settings(settings.place, {"ffn_multipliers": one}).ratio("ffn_multipliers") for one in ratios]
        return [max(step, round(one * dim / step) * step) for one in each]
    count = len(layers.attention) if settings.get("enable_moe_block", "residual_moe") else layers.feed_forward.count(DENSE)
    width, multiple = settings.whole(*_DENSE_WIDTHS), settings.whole("multiple_of", "block_multiple_of")
    if not number_of_experts(settings):
        # Without routed experts the shared one is the feed-forward part.
        width = settings.whole("shared_intermediate_size") or width
    if multiple and (not width or settings.flag("block_auto_adjust_ff_dim")):
        width = _round_width(width or 4 * dim, settings.ratio("ffn_dim_multiplier", "block_ffn_dim_multiplier") or 1.0, multiple)
    if width and settings.get("model_type") in _WIDTHS_OF_TWO:
        width //= 2
    if not width and count_matrices(settings) == 2:
        # Models of this kind leave it out.
        width = (settings.whole("expansion_ratio") or 4) * dim
    return [width or settings.needed("intermediate_size") for _ in range(count)]


def _round_width(plain: float, factor: float, multiple: int) -> int:
    """Return two thirds of the width of a part with two matrices times a factor, rounded up to a multiple."""
    return -(-int(factor * int(2 * plain / 3)) // multiple) * multiple


def number_of_experts(settings: Settings) -> int:
    """Return the number of routed experts of a layer, 0 for a dense model."""
    names = ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts", "num_moe_experts", "moe_num_primary_experts")
    experts = settings.whole(*names) or 0
    return experts if experts > 1 else 0


def experts_of(settings: Settings, dim: int, layers: int) -> Experts:
    """Return the experts of a model with this number of expert layers. Their vectors may be narrower than the model."""
    count = number_of_experts(settings)
    if not count or not layers:
        return Experts({"experts": 0, "active_experts": 0, "shared_experts": 0, "moe_layers": 0}, 0, 0, 0, 0)
    names = (
        *("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts", "moe_top_k", "moe_k", "moe_topk"),
        "moe_num_active_primary_experts",
    )
    if (active := settings.needed(*names)) > count:
        raise WrongData(f"{settings.place}: {settings.name_of(*names)} = {active} is more than the {count} experts of a layer")
    width = settings.whole(
        *("moe_intermediate_size", "expert_intermediate_size", "expert_ffn_hidden_size", "expert_hidden_dim", "ffn_hidden_size"),
        "moe_ffn_hidden_size",
    )
    width = width or settings.needed("intermediate_size", "hidden_dim")
    inner = settings.whole("moe_latent_size", "routed_expert_hidden_size") or dim
    sizes = ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "share_expert_dim", "shared_intermediate_size")
    # An expert without weights does no work for a token.
    empty = settings.whole("zero_expert_num") or 0
    active = round(active * count / (count + empty))
    number = settings.whole("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts") or 0
    shared = settings.whole(*sizes) or width * number
    columns: Columns = {"experts": count, "active_experts": active, "moe_layers": layers, "moe_ffn_dim": width}
    columns["shared_experts"] = max(1, round(shared / width)) if shared else 0
    one, of_router = count_matrices(settings) * inner * width, dim * (count + empty) + (2 * dim * inner if inner != dim else 0)
    return Experts(columns, count * one, active * one, count_matrices(settings) * dim * shared, of_router)


def attention(settings: Settings, dim: int, layers: Layers, element: float) -> Part:
    """Return the attention of all layers."""
    selection = indexer(settings, dim, layers, element)
    if layers.count(SPARSE, HEAVY):
        parts = [(1, compressed(settings, dim, layers))]
    else:
        full = latent(settings, dim) if settings.whole("kv_lora_rank") else grouped_heads(settings, dim)
        parts = [(layers.count(FULL, SHARED[FULL]), full)]
        if windows := layers.count(WINDOW):
            parts.append((layers.count(WINDOW, SHARED[WINDOW]), window(settings, dim, windows)))
    # A state is in layers of its own, or beside the attention of every layer.
    if linear := layers.count(LINEAR) or (len(layers.attention) if settings.whole("mamba_d_ssm") else 0):
        parts.append((linear, state(settings, dim, linear, element)))
    elif settings.get("layer_types"):
        # What no layer has may still be described.
        settings.read.update(name for name in settings.values if name.startswith(("mamba_", "linear_")))
    columns = {name: value for _, part in (*parts, (1, selection)) for name, value in part.columns.items()}
    return Part(columns, sum(count * part.params for count, part in parts) + selection.params)
