"""The layers of a model by the settings of its config.json: the cache of each layer's attention, and the layers with experts."""

import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from derive.errors import WrongData, shorten, suggest
from derive.immutable import immutable
from derive.model_config.settings import NUMBER_OF_LAYERS, Settings

FULL, WINDOW, LINEAR, NONE = "full attention", "window", "linear attention", "no attention"
"""The cache of a layer's attention: the whole context, its last tokens, a state of fixed size, or nothing."""
SPARSE, HEAVY = "sparse entries", "heavily compressed entries"
"""Attention to compressed entries: to those that an indexer selects, and to all."""
SHARED = {FULL: "the cache of another layer", WINDOW: "the window of another layer"}
"""Attention to entries that another layer or an image encoder keeps."""
WINDOW_TOKENS = ("sliding_window", "sliding_window_size", "attention_chunk_size", "window_size", "attention_window_size")
"""Settings for the tokens of a window."""
DENSE, _EXPERTS, _NO_FEED_FORWARD = "dense", "experts", "no feed-forward part"
_ATTENTION = {
    **dict.fromkeys(("full_attention", "deepseek_sparse_attention", "attention", "global_attention", "global", "full", "*", "G"), FULL),
    **dict.fromkeys(("sliding_attention", "chunked_attention", "local_attention", "sliding_window", "local", "sliding", "L"), WINDOW),
    **dict.fromkeys(("linear_attention", "mamba", "mamba2", "kda", "linear", "conv", "recurrent", "M"), LINEAR),
    **dict.fromkeys(("moe", "mlp", "E", "-"), NONE),
    "compressed_sparse_attention": SPARSE,
    "heavily_compressed_attention": HEAVY,
}
"""By the words and letters of config.json."""
_FEED_FORWARD = {
    **dict.fromkeys(("sparse", "moe", "E", "experts"), _EXPERTS),
    **dict.fromkeys(("dense", "mlp", "-"), DENSE),
    **dict.fromkeys(("mamba", "attention", "M", "*"), _NO_FEED_FORWARD),
}
_ONE_PART = ("layers_block_type", "hybrid_override_pattern")
"""Settings of models whose layers are one part each: attention, a state, or a feed-forward part."""
_INTERVALS = {
    **dict.fromkeys(("full_attention_interval", "attn_layer_period", "layer_group_size"), LINEAR),
    **dict.fromkeys(("sliding_window_pattern", "no_rope_layer_interval", "global_attn_every_n_layers"), WINDOW),
}
"""Settings for the frequency of layers with the whole context, and for the cache of the other layers."""
_EVERY = (
    *("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval", "moe_layer_freq", "moe_layer_frequency"),
    "expert_layer_period",
)
"""Settings for the frequency of layers with experts."""
_SELECTING = 16
"""Largest number of tokens per entry for which an indexer selects entries."""
_NEVER = 10**12
"""An interval longer than any model."""
_ENCODERS = "(?i)bert|electra|t5|MaskedLM"
"""Words in the kind and the class of models with an encoder."""

# Defaults of the classes of transformers for settings that their files leave out.
_GEMMA_3 = {
    **{"sliding_window_pattern": 6, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208},
    **{"sliding_window": 4096, "max_position_embeddings": 131072, "tie_word_embeddings": True},
}
_TIED = (
    *("cohere", "gpt2", "bloom", "opt", "gpt_bigcode", "mpt", "falcon", "gemma3n_text", "RefinedWeb", "RefinedWebModel", "gpt_neo", "xglm"),
    *("btlm", "jais", "minicpm", "lfm2_moe", "recurrent_gemma", "vaultgemma", "phi3small", "codeshell", "smollm3"),
    *("ernie4_5", "ernie4_5_moe"),
)
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "gemma": {"head_dim": 256, "tie_word_embeddings": True},
    "gemma2": {"head_dim": 256, "sliding_window_pattern": 2, "tie_word_embeddings": True},
    **dict.fromkeys(("gemma3", "gemma3_text"), _GEMMA_3),
    **{name: {"tie_word_embeddings": True} for name in _TIED},
    "lfm2": {"block_auto_adjust_ff_dim": True, "block_multiple_of": 256, "tie_word_embeddings": True},
    # A dense part as wide as the model is beside the experts of each layer.
    "arctic": {"dense_intermediate_size": 7168, "residual_moe": True},
    "minicpm3": {"tie_word_embeddings": True, "v_head_dim": 64},
    **{name: {"max_window_layers": 0} for name in ("mistral", "mixtral", "phi3", "phimoe")},
    "starcoder2": {"max_window_layers": 0, "tie_word_embeddings": True},
    **{name: {"use_sliding_window": False} for name in ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe")},
    "cohere2": {"sliding_window_pattern": 4, "tie_word_embeddings": True},
    "gpt_oss": {"sliding_window_pattern": 2},
    "llama4_text": {"no_rope_layer_interval": 4, "interleave_moe_layer_step": 1, "n_shared_experts": 1},
    "afmoe": {"attn_output_gate": True},
    "qwen3_next": {"full_attention_interval": 4, "attn_output_gate": True},
    **{name: {"full_attention_interval": _NEVER} for name in ("mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv6", "rwkv7", "xlstm")},
    # Each layer has attention and a dense part twice, and experts once.
    "longcat_flash": {"parts_per_layer": 2, "decoder_sparse_step": 2, "enable_moe_block": True},
    "jamba": {"attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2, "expert_layer_offset": 1},
}


@immutable
class Layers:
    """The kind of attention and of feed-forward part of every layer."""

    attention: tuple[str, ...]
    feed_forward: tuple[str, ...]

    def count(self, *kinds: str) -> int:
        """Return the number of layers with attention of one of these kinds."""
        return sum(kind in kinds for kind in self.attention)

    @property
    def with_experts(self) -> int:
        """The number of layers with experts."""
        return self.feed_forward.count(_EXPERTS)


def check_decoder(settings: Settings) -> None:
    """Raise WrongData for a model with an encoder."""
    classes = f"{settings.values.get('model_type')} {settings.values.get('architectures')}"
    if settings.get("is_encoder_decoder") or re.search(_ENCODERS, classes):
        raise WrongData(f"{settings.place}: has an encoder. --model needs a model with only a decoder")


def layers_of(settings: Settings, experts: int) -> Layers:
    """Return the layers of a model with this number of experts.

    >>> settings = Settings("config.json", {"num_hidden_layers": 4, "sliding_window": 128, "sliding_window_pattern": 2})
    >>> layers_of(settings, experts=0).attention
    ('window', 'full attention', 'window', 'full attention')
    """
    count = _number_of_layers(settings)
    attention = next((kinds for rule in _ATTENTION_RULES if (kinds := rule(settings, count))), [FULL] * count)
    parts = next((kinds for rule in _FEED_FORWARD_RULES if (kinds := rule(settings, count))), [_EXPERTS] * count)
    if len(attention) < count or len(parts) < count:
        raise WrongData(f"{settings.place}: has a list of {min(len(attention), len(parts))} layers, and the model has {count}")
    if {*attention} <= {LINEAR, NONE}:
        raise WrongData(f"{settings.place}: no layer has attention, so there is no KV cache. --model needs a model with one")
    plain = [DENSE if kind == _EXPERTS and not experts else kind for kind in parts]
    said = settings.get("layer_types") or settings.whole("max_window_layers") is not None
    if WINDOW not in attention and _window_in_use(settings) and not said:
        settings.unknown.append("sliding_window (without its layers)")
    shared = _places_without_cache(settings, count)
    kept = [SHARED.get(kind, kind) if place in shared else kind for place, kind in enumerate(attention[:count])]
    return Layers(attention=tuple(kept), feed_forward=tuple(plain[:count]))


def _places_without_cache(settings: Settings, count: int) -> set[int]:
    """Return the places of the layers that attend to the cache of another layer, or to an image."""
    last, every = settings.whole("num_kv_shared_layers") or 0, settings.whole("cla_share_factor") or 1
    every = every if settings.get("use_cla") else 1
    places = {*(settings.numbers("cross_attention_layers") or ())} | {
        place for place in range(count) if place >= count - last or place % every
    }
    if places:
        settings.unknown.append("reads of layers that share a cache")
    return places


def _window_in_use(settings: Settings) -> bool:
    """Return whether the window of a model could shorten its context."""
    tokens, context = settings.whole(*WINDOW_TOKENS) or 0, settings.whole("max_position_embeddings") or inf
    return settings.get("use_sliding_window") is not False and 0 < tokens < context


def _number_of_layers(settings: Settings) -> int:
    alone = next((value for name in _ONE_PART if (value := settings.get(name))), None)
    count = settings.needed(*NUMBER_OF_LAYERS) if alone is None or settings.name_of(*NUMBER_OF_LAYERS) else len(alone)
    return count * (settings.whole("parts_per_layer") or 1)


# Attention. Each rule reads one way of saying it.


def _attention_by_words(settings: Settings, _count: int) -> list[str] | None:
    return _kinds(settings, _ATTENTION, "layer_types", "attention_layers", *_ONE_PART)


def _kinds(settings: Settings, kinds: Mapping[str, str], *names: str) -> list[str] | None:
    """Return the kinds of layers from the words or letters of the first of these settings."""
    name = settings.name_of(*names)
    if name is None:
        return None
    pattern = settings.get(name)
    words = list(pattern) if isinstance(pattern, str) else settings.words(name) or []
    if unknown := next((word for word in words if word not in kinds), None):
        raise WrongData(f"{settings.place}: {name} has layers of the unknown kind {shorten(unknown)}{suggest(unknown, kinds)}")
    return [kinds[word] for word in words]


def _attention_by_numbers(settings: Settings, _count: int) -> list[str] | None:
    if ratios := settings.numbers("compress_ratios"):
        return [WINDOW if not ratio else SPARSE if ratio <= _SELECTING else HEAVY for ratio in ratios]
    windows = dict.fromkeys(("hybrid_layer_pattern", "sliding_window_layout"), (FULL, WINDOW))
    for name, kinds in {**windows, "attn_type_list": (LINEAR, FULL)}.items():
        if numbers := settings.numbers(name):
            return [kinds[number == 1] for number in numbers]
    return None


def _attention_by_places(settings: Settings, count: int) -> list[str] | None:
    linear = settings.inside("linear_attn_config")
    full = linear.numbers("full_attn_layers") if linear else None
    first = 0 if full is None else 1
    full = settings.numbers("attn_layer_indices", "full_attn_idxs", "attn_layer_idx") if full is None else full
    return None if full is None else [FULL if place in full else LINEAR for place in range(first, count + first)]


def _attention_by_interval(settings: Settings, count: int) -> list[str] | None:
    if kinds := _kinds(settings, {**_ATTENTION, "attention": WINDOW}, "block_types"):
        return kinds * count
    for name, other in _INTERVALS.items():
        if other == WINDOW and settings.get("use_sliding_window") is False:
            continue
        if isinstance(settings.get(name), str):
            return (_kinds(settings, _ATTENTION, name) or []) * count
        if every := settings.whole(name):
            offset = settings.whole("attn_layer_offset") if name == "attn_layer_period" else every - 1
            return [FULL if place % every == offset else other for place in range(count)]
    return None


def _attention_by_first_window(settings: Settings, count: int) -> list[str] | None:
    first = settings.whole("max_window_layers")
    if first is None or not _window_in_use(settings):
        return None
    return [FULL if place < first else WINDOW for place in range(count)]


def _attention_by_blocks(settings: Settings, _count: int) -> list[str] | None:
    parts = blocks_of(settings, "attention")
    return [NONE if part.get("no_op") or part.get("replace_with_linear") else FULL for part in parts] or None


def blocks_of(settings: Settings, part: str) -> list[Settings]:
    """Return the entries of block_configs for a part of every layer, or an empty list without this setting."""
    blocks = settings.get("block_configs") or []
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) and isinstance(block.get(part), Mapping) for block in blocks):
        raise WrongData(f"{settings.place}: block_configs is not a list of blocks with a part {part!r}")
    return [Settings(f"{settings.place}, {part} of block_configs", block[part]) for block in blocks]


_ATTENTION_RULES: tuple[Callable[[Settings, int], list[str] | None], ...] = (
    _attention_by_numbers,
    _attention_by_words,
    _attention_by_places,
    _attention_by_interval,
    _attention_by_first_window,
    _attention_by_blocks,
)

# Feed-forward parts.


def _parts_by_words(settings: Settings, _count: int) -> list[str] | None:
    return _kinds(settings, _FEED_FORWARD, "mlp_layer_types", *_ONE_PART)


def _parts_by_list(settings: Settings, count: int) -> list[str] | None:
    for name in ("moe_layer_freq", "moe_layer_layout"):
        if isinstance(settings.get(name), list):
            return [_EXPERTS if one else DENSE for one in settings.numbers(name) or ()]
    named = settings.get("moe_layers_enum")
    with_experts = {int(one) for one in re.findall("[0-9]+", named)} if isinstance(named, str) else settings.numbers("moe_layers")
    return [_EXPERTS if place in with_experts else DENSE for place in range(count)] if with_experts else None


def _parts_by_interval(settings: Settings, count: int) -> list[str] | None:
    first = settings.whole("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers") or 0
    alone = settings.numbers("mlp_only_layers") or []
    name = settings.name_of(*_EVERY)
    every = (settings.whole(name) if name else None) or 1
    offset = settings.whole("expert_layer_offset") if name == "expert_layer_period" else None
    at = {"moe_layer_freq": 0, "expert_layer_period": offset}.get(name or "", every - 1)
    last = settings.whole("moe_layer_end_index") or count - 1
    return [_EXPERTS if first <= place <= last and place not in alone and place % every == at else DENSE for place in range(count)]


_FEED_FORWARD_RULES: tuple[Callable[[Settings, int], list[str] | None], ...] = (_parts_by_words, _parts_by_list, _parts_by_interval)
