"""The storage of the weights by a config.json: the data type of each part, and bytes with scales."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from derive.model_config.settings import Settings
from derive.quantities.data_types import BYTES_OF_ONE

_BASE = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "half": "fp16"}
_BF16 = "bf16"
_METHODS = {
    **{name: name for name in ("fp8", "mxfp4", "nvfp4", "mxfp8", "int8")},
    **{"fbgemm_fp8": "fp8", "fp8_pb_wo": "fp8", "int8_sq": "int8", "w4a16_nvfp4": "nvfp4", "fp4": "mxfp4"},
}
"""Data types by the methods and algorithms of quantization, in small letters."""
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


def stored_as(settings: Settings, counts: Counts, layers: int) -> Stored:
    """Return how the weights of a model with these parameters and layers are stored."""
    base = base_width(settings)
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
    inside = settings.inside("quantization_config")
    scheme = inside.get("kv_cache_scheme", "kv_cache_quant_algo") if inside else None
    if isinstance(scheme, str):
        return BYTES_OF_ONE.get(scheme.lower())
    width = _quantized_width({"config_groups": {"cache": {"weights": scheme}}}) if isinstance(scheme, Mapping) else None
    return width.plain if width else None


def base_width(settings: Settings) -> Width:
    """Return the data type of weights that are not quantized."""
    said = str(settings.get("torch_dtype", "dtype") or _BF16).removeprefix("torch.")
    name = _BASE.get(said, said)
    return Width(name, BYTES_OF_ONE[name]) if name in BYTES_OF_ONE else Width(_BF16, BYTES_OF_ONE[_BF16])


def _part_widths(settings: Settings, base: Width, layers: int) -> dict[str, Width]:
    """Return the data type of each part that can be quantized."""
    inside = settings.inside("quantization_config")
    plain = dict.fromkeys(_PARTS, base)
    width = inside and _quantized_width(inside.values)
    if inside and width is None and not inside.get("quantized_layers"):
        settings.unknown.append(f"quantization_config ({inside.get('quant_method', 'quant_algo') or 'no method'})")
    if not inside:
        return plain
    found = dict.fromkeys(_PARTS, width or base)
    exceptions = inside.get("ignore", "modules_to_not_convert", "exclude_modules") or ()
    found |= dict.fromkeys(_kept_parts(exceptions, layers), base)
    if isinstance(apart := inside.get("quantized_layers"), Mapping):
        found |= _module_widths(apart)
    if inside.get("quant_method") == "mxfp4":
        found = {**plain, "experts": found["experts"]}
    if (said := str(settings.get("expert_dtype") or "")) in _METHODS and "quantized_layers" not in inside.values:
        found["experts"] = _width_of_type(_METHODS[said])
    return found


def _quantized_width(inside: Mapping[str, Any]) -> Width | None:
    """Return the data type of quantized weights, or None if the settings of the quantization are not known."""
    groups = inside.get("config_groups")
    groups = [one for one in groups.values() if isinstance(one, Mapping)] if isinstance(groups, Mapping) else []
    weights = groups[0].get("weights") if len(groups) == 1 else None
    if isinstance(weights, Mapping):
        bits, zeros = weights.get("num_bits"), weights.get("symmetric") is False
        return _integer_or_float_width(bits, weights.get("type") == "float", weights.get("group_size"), bits if zeros else 0)
    for name in ("quant_algo", "quant_method"):
        method = str(inside.get(name) or "").lower()
        if method in _METHODS:
            return _width_of_type(_METHODS[method])
    if inside.get("load_in_4bit") or inside.get("load_in_8bit"):
        return _width_of_type("nf4" if inside.get("load_in_4bit") else "int8")
    bits = inside.get("bits") or inside.get("w_bit")
    return _integer_or_float_width(bits, False, inside.get("group_size") or inside.get("q_group_size"), bits)


def _integer_or_float_width(bits: object, floating: bool, group: object, zero_bits: object) -> Width | None:
    """Return the data type of a number of bits, with a scale and a zero of some bits for each group of weights."""
    if not isinstance(bits, int) or not 2 <= bits <= _BITS:
        return None
    if floating:
        return _width_of_type("fp8" if bits == _BITS else "nvfp4" if group == 16 else "mxfp4") if bits in (4, _BITS) else None
    zero = zero_bits / _BITS if isinstance(zero_bits, int) else 0.0
    scales = (_SCALE + zero) / group if isinstance(group, int) and group > 0 else 0.0
    return Width(f"int{bits}", bits / _BITS, scales)


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
    seen: dict[str, Counter[str]] = {}
    for module, one in apart.items():
        algorithm = str(one.get("quant_algo") if isinstance(one, Mapping) else "").lower()
        if (part := _part_of(module)) and algorithm in _METHODS:
            seen.setdefault(part, Counter())[_METHODS[algorithm]] += 1
    return {part: _width_of_type(counter.most_common(1)[0][0]) for part, counter in seen.items()}
