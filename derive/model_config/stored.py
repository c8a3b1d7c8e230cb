"""The storage of the weights by a config.json: the data type of each part, and bytes with scales."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from derive.errors import shorten
from derive.model_config.settings import Settings
from derive.quantities.data_types import BYTES_OF_ONE

_BASE = {
    **{"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "half": "fp16", "auto": "bf16"},
    **{"float8_e4m3fn": "fp8", "float8_e5m2": "fp8"},
}
_BF16 = "bf16"
_TYPES, _SAME = ("nvfp4|mxfp4|mxfp8|nf4", "w[2-7]", "fp4|fp8|float8|int[2-8]", "w8"), {"fp4": "mxfp4", "float8": "fp8"}
"""Data types in the words for a method of quantization, in small letters, the first ones first, and other names for some."""
_TYPE_SETTINGS = ("quant_algo", "quant_method", "quant_type", "_type", "weights", "dtype", "forward_dtype", "qformat_weight")
"""Settings with words that may name the data type of weights."""
_QUANTIZATION = ("quantization_config", "compression_config", "quantization")
"""Settings for the quantization of weights: of transformers, of older files of llm-compressor, and of MLX and Mistral."""
_EXCEPTIONS = (
    *("ignore", "modules_to_not_convert", "exclude_modules", "exclude", "ignored_layers", "llm_int8_skip_modules", "skip_modules"),
)
"""Settings with the modules that are not quantized. GPTQModel has them under `dynamic`, behind a minus."""
_WIDE_ZEROS = (None, "hqq")
"""Methods whose zeros are as wide as their scales: MLX, whose files name no method, and HQQ."""
_BITS_OF_METHOD = {"awq": 4, "marlin": 4, "bitnet": 2}
"""Bits of a weight if the settings of a method leave them out."""
_OTHER_PARTS = "activation|input|output|cache|config_groups|quantized_layers"
"""Words in the names of settings that are not about all weights."""
_PARTS = ("attention", "dense", "shared", "experts")
"""Parts that are quantized. The vocabulary and the router keep the data type of the model."""
_NAMED = {
    "shared": r"shared_expert(?!.*gate$)",
    "experts": r"experts",
    "attention": r"(self_attn|linear_attn|\battn\b|mixer)(?!.*(norm|indexer|conv))",
    "dense": r"mlp(\*|\.\*|$|\.\(|\.\\?\(|\.(gate|up|down|gate_up)_proj)",
}
"""Patterns of the names of modules by part. The first matching pattern gives the part."""
_LAYER = r"(?<=layers\.)[0-9]+"
_BITS = 8
"""Bits of a byte."""
_SCALE = 2.0
"""Bytes of a scale of integers."""


class Counts(NamedTuple):
    """The parameters of each part of a model."""

    vocabulary: int
    attention: int
    dense: int
    shared: int
    router: int
    experts: int

    @property
    def total(self) -> int:
        """The parameters of all parts."""
        return sum(self)


class Width(NamedTuple):
    """A data type, its bytes without scales, and the bytes of scales."""

    dtype: str
    plain: float
    scales: float = 0.0

    @property
    def bytes(self) -> float:
        """The bytes of a weight."""
        return self.plain + self.scales


class Stored(NamedTuple):
    """The data types of a model in words, and bytes per weight: of routed experts, of other weights, the mean and the smallest."""

    dtype: str
    of_experts: float
    of_others: float
    bytes_per_weight: float
    narrowest: float


def stored_as(settings: Settings, counts: Counts, layers: int, base: Width) -> Stored:
    """Return how the weights of a model with these parameters and layers are stored. `base` is for weights that are not quantized."""
    widths = {"vocabulary": base, "router": base, **_part_widths(settings, base, layers)}
    there = {part: width for part, width in widths.items() if getattr(counts, part)}
    others = {part: width for part, width in there.items() if part != "experts"}
    of_others = sum(getattr(counts, part) * width.bytes for part, width in others.items()) / (counts.total - counts.experts)
    of_experts = widths["experts"].bytes if counts.experts else of_others
    main = widths[max(others.keys() - {"vocabulary", "router"}, key=lambda part: int(getattr(counts, part)), default="vocabulary")].dtype
    mixed = counts.experts and widths["experts"].dtype != main
    return Stored(
        dtype=f"{widths['experts'].dtype} experts + {main}" if mixed else main,
        of_experts=of_experts,
        of_others=of_others,
        bytes_per_weight=of_others + (of_experts - of_others) * counts.experts / counts.total,
        narrowest=min(width.plain for width in there.values()),
    )


def cache_bytes(settings: Settings) -> float | None:
    """Return the bytes of a value of the KV cache that a quantized model is served with, or None if its settings say none."""
    inside = settings.inside(*_QUANTIZATION)
    scheme = inside.get("kv_cache_scheme", "kv_cache_quant_algo") if inside else None
    width = _width_of_bits(scheme.get("num_bits"), scheme) if isinstance(scheme, Mapping) else _quantized_width({"quant_algo": scheme})
    return width.bytes if width else None


def base_width(settings: Settings) -> Width:
    """Return the data type of weights that are not quantized."""
    said = str(settings.get("torch_dtype", "dtype") or _BF16).removeprefix("torch.")
    name = _BASE.get(said, said)
    if name not in BYTES_OF_ONE:
        settings.unknown.append(f"torch_dtype ({shorten(said)})")
        name = _BF16
    return Width(name, BYTES_OF_ONE[name])


def _part_widths(settings: Settings, base: Width, layers: int) -> dict[str, Width]:
    """Return the data type of each part that can be quantized."""
    inside = settings.inside(*_QUANTIZATION)
    plain = dict.fromkeys(_PARTS, base)
    if not inside:
        return plain
    quantized = _group_widths(inside.values) or dict.fromkeys(_PARTS, _quantized_width(inside.values))
    if None in quantized.values() and not inside.get("quantized_layers"):
        settings.unknown.append(f"quantization_config ({inside.get('quant_method', 'quant_algo') or 'no method'})")
    found = plain | {part: width for part, width in quantized.items() if width}
    exceptions = inside.get(*_EXCEPTIONS) or [name for name in inside.get("dynamic") or () if str(name).startswith("-")]
    found |= dict.fromkeys(_kept_parts(exceptions, layers), base)
    if isinstance(apart := inside.get("quantized_layers"), Mapping):
        found |= _module_widths(apart)
    if inside.get("quant_method") == "mxfp4":
        found = {**plain, "experts": found["experts"]}
    if (width := _quantized_width({"quant_algo": settings.get("expert_dtype")})) and "quantized_layers" not in inside.values:
        found["experts"] = width
    return found


def _group_widths(inside: Mapping[str, Any]) -> dict[str, Width | None]:
    """Return the data type of the parts that each group of modules has, the first group first. A group without named modules has all."""
    found: dict[str, Width | None] = {}
    groups = inside.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        if isinstance(group, Mapping) and isinstance(weights := group.get("weights"), Mapping):
            targets = group.get("targets")
            parts = [part for target in (targets if isinstance(targets, list) else ()) if (part := _part_of(str(target)))]
            # A name of all feed-forward parts is that of a dense one.
            others = _PARTS if not parts else ("shared", "experts") if "dense" in parts else ()
            found |= dict.fromkeys(
                (*parts, *(part for part in others if part not in found)), _width_of_bits(weights.get("num_bits"), weights)
            )
    return found


def _quantized_width(inside: Mapping[str, Any]) -> Width | None:
    """Return the data type of quantized weights, or None if the settings of the quantization are not known."""
    said = _settings_of_weights(inside)
    if inside.get("load_in_4bit"):
        scale = BYTES_OF_ONE["nf4"] - 0.5
        # Double quantization stores a scale in a byte, and a second one for 256 of them.
        return Width("nf4", 0.5, scale * (1 / 4 + 1 / 256) if inside.get("bnb_4bit_use_double_quant") else scale)
    found = _type_in(" ".join(str(said.get(name, "")) for name in _TYPE_SETTINGS))
    if found in BYTES_OF_ONE and found != "int4":
        return _width_of_type(found)
    bits = next((said[name] for name in ("bits", "w_bit", "nbits") if name in said), None)
    bits = bits or (int(found[-1]) if found else 8 if inside.get("load_in_8bit") else _BITS_OF_METHOD.get(str(inside.get("quant_method"))))
    zero = _SCALE if said.get("quant_method", said.get("quant_algo")) in _WIDE_ZEROS else None
    return _width_of_bits(bits, {name: said.get(name) for name in ("group_size", "q_group_size")}, zero)


def _settings_of_weights(inside: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings about all weights, also those within others. The outer one of two with the same name counts."""
    found = [inside]
    for one in found:
        found += [value for name, value in one.items() if isinstance(value, Mapping) and not re.search(_OTHER_PARTS, name)]
    return {name: value for one in reversed(found) for name, value in one.items()}


def _type_in(words: str) -> str:
    """Return the data type of weights in the words for a method, first the one before "weight", or a blank.

    >>> _type_in("Int8DynamicActivationInt4WeightConfig"), _type_in("W4A16_NVFP4"), _type_in("w4afp8"), _type_in("gptq")
    ('int4', 'nvfp4', 'int4', '')
    """
    patterns = (f"({'|'.join(_TYPES)})_?weight", *(f"({one})" for one in _TYPES))
    found = next((one for pattern in patterns if (one := re.search(pattern, words.lower()))), None)
    return _SAME.get(found[1], found[1].replace("w", "int")) if found else ""


def _width_of_bits(bits: object, weights: Mapping[str, Any], zero: float | None = None) -> Width | None:
    """Return the data type of a number of bits, with a scale for each group of weights, and maybe a zero, of as many bits if it has no
    width of its own.
    """
    if not isinstance(bits, int | float) or not 2 <= bits <= _BITS:
        return None
    group, zero = weights.get("group_size") or weights.get("q_group_size"), bits / _BITS if zero is None else zero
    if weights.get("type") == "float":
        return _width_of_type("fp8" if bits == _BITS else "nvfp4" if group == 16 else "mxfp4") if bits in (4, _BITS) else None
    if "num_bits" in weights and weights.get("symmetric") is not False:
        zero = 0.0
    return Width(f"int{bits:g}", bits / _BITS, (_SCALE + zero) / group if isinstance(group, int) and group > 0 else 0.0)


def _width_of_type(dtype: str) -> Width:
    """Return the width of a data type by its name. The bytes of block formats include their scales."""
    plain = {"nvfp4": 0.5, "mxfp4": 0.5, "nf4": 0.5, "mxfp8": 1.0}.get(dtype, BYTES_OF_ONE[dtype])
    return Width(dtype, plain, BYTES_OF_ONE[dtype] - plain)


def _part_of(module: str) -> str | None:
    return next((part for part, pattern in _NAMED.items() if re.search(pattern, module)), None)


def _kept_parts(modules: object, layers: int) -> set[str]:
    """Return the parts that a list of modules excludes from quantization: in most layers by name, or in all by a pattern."""
    names = [name for name in modules if isinstance(name, str)] if isinstance(modules, Iterable) else []
    places: dict[str | None, set[str]] = {}
    for name in names:
        layer = re.search(_LAYER, name)
        places.setdefault(_part_of(name), set()).add(layer[0] if layer else "all")
    return {part for part, found in places.items() if part and ("all" in found or 2 * len(found) > layers)}


def _module_widths(apart: Mapping[str, Any]) -> dict[str, Width]:
    """Return the most frequent data type of each part with modules that have an algorithm in the list."""
    seen: dict[str, Counter[Width]] = {}
    for module, one in apart.items():
        width = _quantized_width(one) if isinstance(one, Mapping) else None
        if width and (part := _part_of(module)):
            seen.setdefault(part, Counter())[width] += 1
    return {part: counter.most_common(1)[0][0] for part, counter in seen.items()}
