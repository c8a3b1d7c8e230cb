"""Read a user's model: its config.json in the form of Hugging Face, as a row of architectures.csv. The row is used like a row of the table.
Parameters are counted from the matrices of the model.
"""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from derive.errors import WrongData, suggest
from derive.files import file_errors
from derive.immutable import immutable
from derive.model_config.layers import DEFAULTS, FULL, HEAVY, SPARSE, Layers, check_decoder, layers_of
from derive.model_config.parts import (
    Columns,
    attention,
    count_beside,
    count_matrices,
    dense_widths,
    experts_of,
    number_of_experts,
    query_heads,
)
from derive.model_config.settings import Settings, local_place, place_of, settings_of
from derive.model_config.stored import Counts, Stored, base_width, cache_bytes, stored_as
from derive.preset_rows import Architecture
from derive.tables import shipped

__all__ = ["ConfigModel", "local_place", "place_of", "read_config"]

_NAMED = 8
"""Maximum number of settings that a message lists."""
_CONTEXT = (
    *("model_max_length", "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "max_sequence_length"),
    "max_context_length",
)
_TIED = ("share_embedding", "tie_word_embeddings", "weight_tying", "tied_embeddings", "share_input_output_layers")


@immutable
class ConfigModel:
    """A model by its config.json: the row that it would have in architectures.csv, how its weights are stored, and a remark.

    `cache_bytes` are the bytes of a value of its KV cache if a quantized model says them. `remark` names the settings that were not
    understood and seem to matter, or is blank.
    """

    row: Architecture
    stored: Stored
    cache_bytes: float | None
    remark: str


def read_config(place: str) -> ConfigModel:
    """Return the model of a config.json. Raise WrongData for a file that cannot be read as one, or that lacks a size.

    >>> import json, tempfile
    >>> settings = {"num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
    ...     "intermediate_size": 512, "vocab_size": 1000, "torch_dtype": "bfloat16"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = os.path.join(folder, "config.json")
    ...     with open(place, "w") as file:
    ...         json.dump(settings, file)
    ...     found = read_config(place)
    >>> found.row.kv_formula, found.row.kv_heads, found.row.head_dim, found.row.total_params, found.stored.dtype
    ('gqa', 2, 64, 1691648.0, 'bf16')
    """
    try:
        with file_errors(place, "read"):
            known = os.stat(place)
    except WrongData as error:
        raise WrongData(f"{error}{_nearest_file(place)}") from None
    return _read(place, known.st_mtime_ns, known.st_size)


def _nearest_file(place: str) -> str:
    """Return the nearest JSON file in the folder of a missing one, or the allowed names."""
    folder, name = os.path.split(place)
    beside = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    files = [one for one in beside if one.endswith(".json")]
    return suggest(name, files) or ". --model is a config.json, its folder, or a name of backsolve list --models"


@lru_cache(maxsize=16)
def _read(place: str, _changed: int, _size: int) -> ConfigModel:
    settings = settings_of(place)
    other = settings.inside("attention_other_setting")
    of_windows = {f"swa_{name}": value for name, value in other.values.items()} if other else {}
    settings.values = {**DEFAULTS.get(str(settings.values.get("model_type")), {}), **of_windows, **settings.values}
    check_decoder(settings)
    dim, base = settings.needed("hidden_size", "n_embd", "n_embed", "d_model", "dim", "model_dim"), base_width(settings)
    layers = layers_of(settings, number_of_experts(settings))
    heads, experts = attention(settings, dim, layers, base.bytes), experts_of(settings, dim, layers.with_experts)
    dense, tied = dense_widths(settings, dim, layers), settings.flag(*_TIED)
    vocabulary, narrow = settings.needed("vocab_size", "padded_vocab_size"), settings.whole("word_embed_proj_dim") or dim
    counts = Counts(
        vocabulary=vocabulary * narrow * (1 if tied else 2) + count_beside(settings, dim, len(layers.attention)),
        attention=heads.params,
        dense=count_matrices(settings) * dim * sum(dense),
        shared=layers.with_experts * experts.shared,
        router=layers.with_experts * experts.router,
        experts=layers.with_experts * experts.all,
    )
    idle = layers.with_experts * (experts.all - experts.active)
    columns: dict[str, float | None] = {
        "model_dim": dim,
        "vocab_size": vocabulary,
        "tied_embeddings": tied,
        "dense_ffn_dim": max(dense, default=None),
    }
    columns |= {"total_params": float(counts.total), "active_params": float(counts.total - idle), "max_context": settings.whole(*_CONTEXT)}
    row = _row(settings, layers, {**columns, **heads.columns, **experts.columns})
    stored = stored_as(settings, counts, len(layers.attention), base)
    return ConfigModel(row=row, stored=stored, cache_bytes=cache_bytes(settings), remark=_remark(settings))


def _row(settings: Settings, layers: Layers, columns: Mapping[str, Any]) -> Architecture:
    """Return the row of architectures.csv with these columns of a model."""
    place = settings.place
    encoders = (name for name, value in settings.values.items() if isinstance(value, Mapping) and re.search("vision|visual|audio", name))
    found: dict[str, Any] = {
        **{"model": place, "config_source": place, "experts_source": place},
        "params_source": f"{place}: counted from its dimensions, without {' and '.join(('norms', 'biases', *encoders))}",
        "layers": len(layers.attention),
        "kv_layers": layers.count(FULL, SPARSE, HEAVY),
        "kv_formula": _formula(layers, columns),
        "kv_shards": "kv_heads" if columns.get("kv_heads", 1) > 1 else "1",
        "query_heads": query_heads(settings),
    }
    return shipped.read().own_row(Architecture, **{**found, **columns})


def _formula(layers: Layers, columns: Columns | Mapping[str, Any]) -> str:
    """Return the KV formula of architectures.csv that covers a model, or a blank."""
    alone = layers.count(FULL) == len(layers.attention) and "linear_layers" not in columns
    if "sparse_compression_ratio" in columns:
        return "compressed"
    if "indexer_dim" in columns:
        return ("mla_indexed" if "latent_dim" in columns else "gqa_indexed") if alone else ""
    if "latent_dim" in columns:
        return "mla" if alone else "mla_hybrid"
    return "gqa_unequal" if "key_dim" in columns else "gqa" if alone else "hybrid"


def _remark(settings: Settings) -> str:
    """Return the settings that were not understood, as one sentence, or a blank."""
    unread = [*settings.unknown, *settings.unread()]
    more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
    return f"not understood in {settings.place}, and left out: {', '.join(unread[:_NAMED])}{more}" if unread else ""
