"""The record of a preset, and the names and figures that presets share. `derive.presets` reads presets from the tables."""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import field, fields, replace
from math import inf
from typing import Any

from derive.errors import WrongValue
from derive.immutable import immutable
from derive.units import DATA_TYPES, show

HARDWARE, ARCHITECTURES, OPEN_MODELS = "hardware", "architectures", "open_models"
"""The tables of chips, of models with their configuration, and of models with their parameter counts alone."""
BYTES_PER_WEIGHT = {name: DATA_TYPES[name] for name in ("bf16", "fp8", "int8", "fp4")}
"""Bytes of one weight in the data types that chips compute in."""
HARDWARE_GIVENS = ("peak_flops", "hbm_bandwidth", "hbm_capacity")
"""What a chip sets."""
KV_INPUTS = {
    "gqa": ("layers", "kv_heads", "head_dim"),
    "hybrid": ("kv_layers", "kv_heads", "head_dim"),
    "mla": ("layers", "latent_dim", "rope_dim"),
    "mla_hybrid": ("kv_layers", "latent_dim", "rope_dim"),
    "gqa_unequal": ("kv_layers", "kv_heads", "key_dim", "value_dim"),
    "mla_indexed": ("layers", "latent_dim", "rope_dim", "indexer_layers", "indexer_dim"),
    "gqa_indexed": ("layers", "kv_heads", "head_dim", "indexer_layers", "indexer_dim"),
    "compressed": (
        *("sparse_layers", "head_dim", "indexer_dim", "sparse_compression_ratio"),
        *("heavily_compressed_layers", "heavy_compression_ratio"),
    ),
}
"""Columns for the KV bytes of a token, by the KV formula of a model."""
ROUTER = ("experts", "active_experts", "moe_layers")
"""Quantities that are set only for a mixture of experts."""
PARAMETERS = ("total_params", "active_params")
ARCHITECTURE_COUNTS = ("vocab_size", "model_dim", "layers", "head_dim", "query_heads", "kv_heads", *ROUTER, "shared_experts")
"""Columns for the count of parameters, besides the widths of the feed-forward parts."""
OF_CONFIGURATION = ("kv_bytes_per_token", "kv_read_bytes_per_token", "fixed_kv_bytes_per_sequence", "attention_flops_per_pair")
"""Quantities that only the configuration of a model gives."""
ATTENTION_DTYPE = "bf16"
"""The data type of attention if weights are narrower, as in the published decode steps."""
OF_MIXTURES = ("experts", "active_experts", "shared_experts", "sparsity", "routed_params", "shared_params", "dense_equivalent_params")
"""Quantities that a dense model does not need."""
WIDTHS = ("expert_bytes_per_weight", "shared_bytes_per_weight")
"""Bytes of a weight inside and outside the experts."""
STORED_WIDER = {"bytes_per_weight": "embeddings and scales may add 10 to 25 %"}
"""Remark on weights in fewer bytes than published, if the table has no such checkpoint."""
LESS_IS_MORE = ("layer_time",)
"""Sustained quantities whose lowest value is the best."""
MODEL_KINDS = {"dense": "dense models", "mixture": "mixtures of experts"}
"""Kinds of model with separately measured efficiency, with their names."""
DECODE, PREFILL, BOTH = "decode", "prefill", "both"
SEVERAL = r"(?s)\s*([0-9]+)\s*[x×*]\s*(?![0-9]+\s*[x×*])(?=[A-Za-z0-9])(.+)"
"""A number of chips: 8xH100:fp8."""


@immutable
class Published:
    """A published model: the data types of its weights, and its longest context [token].

    `of_experts` and `of_others` are the bytes of a weight in the routed experts and of any other weight. `bytes_per_weight` is the average
    over all weights. They include scales. `narrowest` leaves scales out, as the data types of chips do. `stored` has the average bytes of a
    weight in other checkpoints, by the bytes of their data type. Unknown bytes are infinite. `place` is the source of the data type.
    `origin` is the name of the model if it says the data type, or blank.
    """

    model: str
    dtype: str
    of_experts: float = inf
    of_others: float = inf
    bytes_per_weight: float = inf
    narrowest: float = inf
    max_context: float
    place: str
    origin: str = ""
    stored: Mapping[float, float] = field(default_factory=dict, compare=False)

    @property
    def widths(self) -> dict[str, float]:
        """Return the bytes of a weight in the experts and of other weights, if they differ and the numbers of both kinds are known."""
        counted = self.bytes_per_weight not in (self.of_experts, self.of_others)
        return dict(zip(WIDTHS, (self.of_experts, self.of_others), strict=True)) if counted else {}


@immutable
class Preset:
    """Givens by registry name [SI], with their sources, the variants that fit, and the equations that do not.

    `published` says how a model was published. `parameters_only` has the name of a model without a known configuration. `ranges` has the
    ends of every given with a range. `record` says how often such ranges contained the measurement. `unsaid` has a text for every assumed
    data type, with the way to give it. `supposed` gives the reason for each other supposed value. `notes` are remarks on the source as a
    whole.
    """

    givens: dict[str, float] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    variants: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    published: tuple[Published, ...] = ()
    parameters_only: tuple[str, ...] = ()
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    record: str = ""
    unsaid: dict[str, str] = field(default_factory=dict)
    supposed: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def add_givens(self, values: Mapping[str, float], origin: str, **changed: Any) -> "Preset":
        """Return the preset with givens of one origin added, and other fields changed."""
        provenance = {**self.provenance, **dict.fromkeys(values, origin)}
        return replace(self, givens={**self.givens, **values}, provenance=provenance, **changed)


def merge(named: Iterable[tuple[str, Preset]], settled: Set[str]) -> Preset:
    """Merge labelled presets into one. Raise WrongValue if two set a quantity differently and no given decides."""
    merged, owner = Preset(), dict[str, str]()
    for label, preset in named:
        for name, value in preset.givens.items():
            if name not in settled and merged.givens.get(name, value) != value:
                both = f"{show(name, merged.givens[name])} by {owner[name]} and {show(name, value)} by {label}"
                raise WrongValue(f"{name} is {both}: give {name}=..., or leave one of the two out. A comma compares chips or models")
            owner[name] = label
        for group, variant in preset.variants.items():
            if merged.variants.get(group, variant) != variant:
                raise WrongValue(f"{group} is {merged.variants[group]} and {variant} by {label}: leave one of the two out")
        merged = Preset(**{one.name: _joined(getattr(merged, one.name), getattr(preset, one.name)) for one in fields(Preset)})
    return merged


def _joined(first: Any, second: Any) -> Any:
    """Return two values of one field of presets as one. Of two texts it is the first one that is not blank."""
    return first | second if isinstance(first, dict) else first + second if isinstance(first, tuple) else first or second


def names_count(text: str) -> bool:
    """Return whether a text gives the number of chips, such as 8xH100:fp8."""
    return re.match(SEVERAL, text) is not None


def stored_bytes(published: Iterable[Published], width: float) -> tuple[float, str]:
    """Return the bytes of a weight in a checkpoint of a data type of this width, and a remark if the table has no such checkpoint."""
    models = [*published]
    found = next((one.stored[width] for one in models if width in one.stored), width)
    wider = found == width and any(width < one.narrowest < inf for one in models)
    return found, STORED_WIDER["bytes_per_weight"] if wider else ""
