"""The settings of a config.json by any of their names: the file, its values, and the values that were read."""

import os
import re
from collections.abc import Iterable, Mapping
from glob import escape, glob
from typing import Any

from derive.errors import WrongData, shorten, suggest
from derive.files import MIB, json_of, label

_FILE, _QUANTIZATION = "config.json", "hf_quant_config.json"
"""The files of a model: its settings, and beside them how its weights are quantized, if another tool did it."""
_LARGEST = 16 * MIB
_MOST = 10**13
"""Largest accepted count of a model."""
NUMBER_OF_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_transformer_layers")
"""Names for the number of layers."""
_INSIDE = ("thinker_config", "text_config", "llm_config", "language_config", "attn_config", "ffn_config", "moe")
"""Keys with the settings of the text model in a multimodal config.json, and keys with the settings of parts."""
_OF_7B = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
_LEFT_OUT: Mapping[str, Mapping[str, Any]] = {
    "llama": {**_OF_7B, "intermediate_size": 11008},
    "mistral": {**_OF_7B, "intermediate_size": 14336, "num_key_value_heads": 8},
    "qwen2": {**_OF_7B, "intermediate_size": 22016},
}
"""Defaults of transformers for the sizes that the text model in a multimodal file leaves out, by its model_type."""
_ID = r"[\w.-]+/[\w.-]+"
"""A model on Hugging Face: its organization and its name."""
_HOME = os.path.join("~", ".cache", "huggingface")
"""The folder of huggingface_hub, if the environment names no other."""
_SIZES = (
    "layer|attention|attn|dim|size|head|expert|window|rank|sparse|kv|ssm|mamba|moe|state|compress|share|ffn|mlp|conv|block|ratio|pattern"
)
_NO_SIZES = (
    r"token|project|vision|image|video|audio|rope|rotary|norm|init|dropout|loss|coef|eps|bias|chunk_size|ep_size|patch|merge|tp$|pretraining"
    r"|conv_(kernel|dim|size)|conv1d|mlp_ratio|kernel|n_?group|topk_group|nextn|mtp|hash|cross_attention_hidden_size|return|output_|float|scale"
    r"|auto_map|architectures|label|max_window_layers|type_vocab|batch|rescale|multiplier|embd_layer|hc_|attention_chunk_size|attn_scalar|activation_sparsity|dim_model_base|capacity|block_length|block_dim|org_vocab|embedding_size|sink|softcap|capping|d_conv"
    r"|(sliding_window|hybrid_layer)_pattern|full_attention_interval|attn_layer_period|every_n_layers|layer_group_size|no_rope|attention_types"
    r"|is_moe_layer|layer_switch|clip_qkv|alignment_|draft_|pixel|first_k_dense|moe_layer_freq|interleave_moe_layer_step|mlp_layer_types"
)
"""Words in the names of settings that set a size of the model, and of settings that do not or that may repeat others."""


class Settings:
    """The settings of a text model, with the name of the file that messages use, and the names that were read so far.

    >>> settings = Settings("config.json", {"n_layer": 12, "n_embd": None})
    >>> settings.whole("num_hidden_layers", "n_layer"), settings.whole("n_embd"), sorted(settings.read)
    (12, None, ['n_embd', 'n_layer', 'num_hidden_layers'])
    """

    def __init__(self, place: str, values: Mapping[str, Any]):
        self.place, self.values, self.read = place, values, set[str]()
        self.unknown: list[str] = []

    def get(self, *names: str) -> Any:
        """Return the first of these settings that the file has and that is not null, or None."""
        self.read.update(names)
        return next((value for name in names if (value := self.values.get(name)) is not None), None)

    def whole(self, *names: str) -> int | None:
        """Return the first of these settings, which must be a count, or None. Files write -1 for a count that is not set."""
        self.read.update(names)
        name = self.name_of(*names)
        return None if name is None or self.values[name] == -1 else self._count(name, self.values[name])

    def needed(self, *names: str) -> int:
        """Return the first of these settings, which must be a count above 0. Raise WrongData if the file has none of them."""
        found, name = self.whole(*names), self.name_of(*names)
        if name and not found:
            raise WrongData(f"{self.place}: {name} = {_show_value(self.values[name])}. A model has at least 1")
        if not found:
            kind = self.values.get("model_type")
            of_kind = f", and its model_type is {shorten(str(kind))}" if kind else ""
            meant = suggest(names[0], [one for one in self.values if one not in names], lists=False)
            raise WrongData(f"{self.place}: has no {names[0]}{of_kind}. The config.json of a text model has one{meant}")
        return found

    def ratio(self, *names: str) -> float:
        """Return the first of these settings, which must be a number, or 0."""
        value = self.get(*names) or 0
        if not isinstance(value, int | float) or not 0 <= value < _MOST:
            raise WrongData(f"{self.place}: {self.name_of(*names)} = {_show_value(value)} is not a number from 0 to {_MOST:.0e}")
        return float(value)

    def flag(self, *names: str) -> bool:
        """Return the first of these settings, which must be true or false, or False."""
        value = self.get(*names)
        if value not in (None, True, False):
            raise WrongData(f"{self.place}: {self.name_of(*names)} = {_show_value(value)} is neither true nor false")
        return bool(value)

    def numbers(self, *names: str) -> list[int] | None:
        """Return the first of these settings, which must be a list of counts, or None."""
        value, name = self.get(*names), str(self.name_of(*names))
        if not isinstance(value, list | None):
            raise WrongData(f"{self.place}: {name} = {_show_value(value)} is not a list")
        return None if value is None else [self._count(name, one) for one in value]

    def words(self, *names: str) -> list[str] | None:
        """Return the first of these settings, which must be a list of words, or None."""
        value: list[str] | None = self.get(*names)
        if not isinstance(value, list | None) or not all(isinstance(one, str) for one in value or ()):
            raise WrongData(f"{self.place}: {self.name_of(*names)} = {_show_value(value)} is not a list of words")
        return value

    def inside(self, *names: str) -> "Settings | None":
        """Return the settings within the first of these settings, which must be an object, or None."""
        value, name = self.get(*names), self.name_of(*names)
        if not isinstance(value, Mapping | None):
            raise WrongData(f"{self.place}: {name} = {_show_value(value)} is not an object with settings")
        return None if value is None else Settings(f"{self.place}, {name}", value)

    def name_of(self, *names: str) -> str | None:
        """Return the first of these names that the file has a value for."""
        return next((name for name in names if self.values.get(name) is not None), None)

    def _count(self, name: str, value: Any) -> int:
        if isinstance(value, list) and value and all(one == value[0] for one in value):
            # Some files have the same count for each layer.
            value = value[0]
        if isinstance(value, list) and value and len(value) < self.values.get(str(self.name_of(*NUMBER_OF_LAYERS)), 0):
            # Others have a count for each kind of token, first for text.
            self.unknown.append(f"{name} of other tokens than text")
            value = value[0]
        whole = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST and value == int(value)
        if not whole:
            wanted = "one number for all layers" if isinstance(value, list) else f"a whole number from 0 to {_MOST:.0e}"
            raise WrongData(f"{self.place}: {name} = {_show_value(value)} is not {wanted}")
        return int(value)

    def unread(self) -> list[str]:
        """Return the settings that seem to set a size of the model and were not read.

        >>> Settings("config.json", {"hidden_size": 64, "head_extra_dim": 8, "rope_theta": 10000}).unread()
        ['head_extra_dim', 'hidden_size']
        """
        return sorted(
            name
            for name, value in self.values.items()
            # A switch is 0 or 1.
            if name not in self.read and (value > 1 if isinstance(value, int) else isinstance(value, list | dict) and value)
            if re.search(_SIZES, name) and not re.search(_NO_SIZES, name)
        )


def _show_value(value: Any) -> str:
    """Return a value in a message."""
    return shorten(value) if isinstance(value, str) else shorten(repr(value))[1:-1]


def place_of(text: str) -> str | None:
    """Return the path of the config.json that a text names: the file, its folder, or another spelling of one of them.

    >>> place_of("models/my-model/config.json"), place_of("DeepSeek-V3"), place_of("deepseek-ai/DeepSeek-V3")
    ('models/my-model/config.json', None, None)
    """
    place = os.path.expanduser(text.strip())
    if place.endswith(".json") or (os.sep in place and os.path.isfile(place)):
        return place
    beside = os.path.join(place, _FILE)
    is_path = place.startswith((f".{os.sep}", f"..{os.sep}", os.sep)) and place.strip(f".{os.sep}")
    return beside if is_path or (os.sep in place and os.path.isfile(beside)) else None


def local_place(text: str) -> str | None:
    """Return the path of the config.json of a folder here, or of an id in the cache of huggingface_hub, or None. Nothing is downloaded."""
    text = text.strip()
    beside = os.path.join(text, _FILE)
    if os.path.isfile(beside) or (os.path.isdir(text) and text.strip(f".{os.sep}")):
        return beside
    if not re.fullmatch(_ID, text):
        return None
    # The package itself is often in another environment. The newest snapshot counts.
    home = os.environ.get("HF_HUB_CACHE") or os.path.join(os.environ.get("HF_HOME") or _HOME, "hub")
    folder = os.path.join(os.path.expanduser(home), f"models--{text.replace('/', '--')}", "snapshots")
    return max(filter(os.path.isfile, glob(os.path.join(escape(folder), "*", _FILE))), key=os.path.getmtime, default=None)


def settings_of(place: str) -> Settings:
    """Return the settings of the text model in a config.json. Raise WrongData for a file that is not a config.json."""
    values = _object_of(place)
    quantization = os.path.join(os.path.dirname(place), _QUANTIZATION)
    if "quantization_config" not in values and os.path.isfile(quantization):
        values = {**values, "quantization_config": _object_of(quantization).get("quantization")}
    for name in _INSIDE:
        if isinstance(inside := values.get(name), Mapping):
            left_out = _LEFT_OUT.get(str(inside.get("model_type")), {})
            values = {**left_out, **{one: value for one, value in values.items() if one != name}, **inside}
    return Settings(label(place), values)


def _object_of(place: str) -> dict[str, Any]:
    """Return the JSON object in a file."""
    # Files that Python wrote may have an endless number, which sets no size.
    found = json_of(place, _LARGEST, object_pairs_hook=_refuse_repeats, parse_constant=lambda _: None)
    if not isinstance(found, dict):
        raise WrongData(f"{label(place)}: is not a JSON object, but the config.json of a model must be one")
    return found


def _refuse_repeats(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{shorten(name)} is there twice")
        found[name] = value
    return found
