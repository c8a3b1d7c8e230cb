"""Return rows of the shipped data as givens: the numbers of an accelerator and of a model, each with its source."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING

from derive import preset_record as record
from derive.catalogue import definitions, equation, variants_of
from derive.errors import BacksolveError, NoRent, NotCovered, UnknownName, WrongValue, shorten, suggest
from derive.preset_record import Preset, Published
from derive.preset_rows import (
    FIXED_PARTS,
    HELD_OUT,
    PUBLISHED_BYTES,
    AcceleratorFigure,
    Architecture,
    Efficiency,
    FittedEfficiency,
    OpenModel,
    ShortName,
    published_types,
)
from derive.quantities import NEUTRAL_DEFAULTS, data_types, quantity
from derive.quantities.data_types import LEFT_OUT, RELEASE, STORED, TYPES
from derive.quantities.defaults import DEFAULTS
from derive.tables import shipped
from derive.tables.cells import NUMBER, read_list
from derive.tables.lines import BadRow, Problem
from derive.tables.shipped import Tables, in_si, is_known, rows_of
from derive.units import DATA_TYPES

if TYPE_CHECKING:
    from derive.model_config import ConfigModel

SELECTING = ("mla_indexed", "gqa_indexed", "compressed")
"""KV formulas of attention that selects what it reads."""
_LATENT = ("mla", "mla_hybrid", "mla_indexed")
"""KV formulas of latent attention. Decode absorbs its projections. Prefill expands the latents, unless it selects some."""
ALL_GROWS = ("context.balance_context", "context.balance_context_with_attention")
"""Equations that are used by default but are wrong if some reads of a step do not grow with the context."""
DENSE_ONLY = (*ALL_GROWS, "architecture.attention_intensity")
"""These, and equations that are wrong for a model that reads less than it stores."""
_MEAN_WIDTH = "experts.mean_bytes_per_weight"
OF_DATA_TYPE = ("peak_flops", "bytes_per_weight")
"""Quantities that the data type of a chip sets."""
RENT = "rental"
"""Words in the notes of a price that is a rent."""
_SCALES = {"fp4": 1 / 32, "mxfp4": 1 / 32, "int4": 2 / 32}
"""Bytes that scales add to one weight: 32 weights share one scale."""
_LINKS_AND_POWER = ("scale_up_size", "scale_up_link_bandwidth", "scale_out_link_bandwidth", "chip_power")
"""Quantities of a chip that not every chip has in hardware.csv."""
_COPIES = {"kv_heads": "heads", "1": "latents"}
"""The variant of kv_replication by kv_shards, the number of chips that share one cache."""
_INSTEAD = "; without a row, give {}=, {}= and {}="
_MISWRITTEN = {r"(?s)\s*([0-9]*[.][0-9]+)\s*[x×*]\s*([A-Za-z].*)": 1, r"(?s)\s*([A-Za-z].*\w)\s*[x×*]\s*([0-9]+)\s*": -1}
"""A part of a chip, as 0.5xH100, and a number of chips behind its name, as H100x8. Both are refused."""
_SIZE = r"(?<![a-z0-9.])[0-9.]+(?:x[0-9]+)?(?:gb|b|t)(?![a-z0-9])"
"""A number of parameters or bytes in a name."""
_ATTENTION_INPUTS = ("query_heads", "nope_dim", "value_dim")
_SELECTION_INPUTS = ("query_heads", "indexer_heads", "indexer_bytes_per_element")
_OTHER_INPUTS = ("state_bytes_per_element", "layers", "model_dim")
"""Columns that a preset sets if the table has them, besides the parameters, the inputs of its KV formula and the router."""

PHASES = (record.DECODE, record.PREFILL, record.BOTH)
_ONE_CHIP, ONE_NODE, _SEVERAL_NODES = DEPLOYMENTS = ("one chip", "one node", "several nodes")
"""Numbers of chips that share a model, as classes for efficiencies."""
_CHIPS_OF_A_NODE = 8

_TRAINED = ("training_state_bytes_per_chip", "gradient_bytes_per_param", "optimizer_bytes_per_param")
"""Quantities of trained weights, which are in the data type of the chip and not in the published one."""


def hardware_names(tables: Tables | None = None) -> tuple[str, ...]:
    """Return the accelerators of hardware.csv, in its order."""
    return tuple(dict.fromkeys(row.accelerator for row in (tables or shipped.read()).rows_of(AcceleratorFigure)))


def model_names(tables: Tables | None = None) -> tuple[str, ...]:
    """Return the models of architectures.csv, in its order, including those that no equation covers."""
    return tuple(dict.fromkeys(row.model for row in (tables or shipped.read()).rows_of(Architecture)))


def named_models() -> tuple[str, ...]:
    """Return all models that `--model` accepts by name, also those with known parameters alone."""
    return (*model_names(), *_without_architecture(shipped.read()))


def hardware(text: str, tables: Tables | None = None, published: Collection[Published] = (), dtype: str = "") -> Preset:
    """Return the givens of a chip from `NAME[:dtype]` of hardware.csv: peak FLOP/s, memory, links, power, and bytes per weight.

    If weights are narrower than bf16, attention is supposed to run in bf16, at the relative rate of the table. Without a data type it is
    the type of the published models if the chip computes in it, otherwise bf16, with a text in `unsaid`. 8xH100:fp8 sets the chips too. KV
    bytes and the price of a chip are never set. `dtype` replaces the data type of the text. If the chip has no rate of a data type, its
    arithmetic runs in bf16, as `supposed` says. Raises UnknownName for the accelerator or data type, NotCovered for an accelerator without
    a rate in any of the data types of `BYTES_PER_WEIGHT`, and WrongData for a row that cannot be used.

    >>> hardware("8xH100:fp8").givens["hbm_bandwidth"], hardware("8xH100:fp8").givens["chips"]
    (3350000000000.0, 8.0)
    """
    tables = tables or shipped.read()
    if (several := re.match(record.SEVERAL, text)) is not None:
        count, one = several.groups()
        chips = {"chips": quantity("chips").check(float(count))}
        return hardware(one, tables, published, dtype).add_givens(chips, f"--hardware {text}")
    given, _, asked = text.partition(":")
    name = chip_name(given, tables)
    chosen = {(row.quantity, row.dtype): row for row in tables.rows_of(AcceleratorFigure, "accelerator", name) if row.preferred}
    known = [of_type for called, of_type in chosen if called == "peak_flops" and of_type in record.BYTES_PER_WEIGHT]
    asked = (dtype or asked or next((one.dtype for one in published if one.origin), "")).strip().lower()
    dtype = _data_type(name, asked, known, published)
    stored = asked or dtype
    place = f"{record.HARDWARE}.csv {name}"
    found = Preset().add_givens({"bytes_per_weight": DATA_TYPES[stored]}, f"{place}: weights stored as {stored}")
    for wanted in (*record.HARDWARE_GIVENS, *_LINKS_AND_POWER):
        if row := chosen.get((wanted, dtype if wanted == "peak_flops" else "")):
            origin = f"{place} {wanted} {row.dtype}".rstrip() + f": {row.source} ({row.verification})"
            found = found.add_givens({wanted: in_si(wanted, row.value, row.unit)}, origin)
    wide = record.ATTENTION_DTYPE
    narrower = record.BYTES_PER_WEIGHT[dtype] < record.BYTES_PER_WEIGHT[wide]
    if narrower and (attention := chosen.get(("peak_flops", wide))):
        ratio = in_si("peak_flops", attention.value, attention.unit) / found.givens["peak_flops"]
        found = found.add_givens({"attention_rate_ratio": ratio}, f"{place} peak_flops {wide} over {dtype}: in {wide}, unless given")
    other = next((one for one in known if one != dtype), None)
    unsaid = {} if asked or known == [wide] else dict.fromkeys(OF_DATA_TYPE, _supposed_text(name, dtype, other))
    if other and chosen["peak_flops", other].value == chosen["peak_flops", dtype].value:
        # With the same rate in both, only the width of the weights matters.
        unsaid.pop("peak_flops", None)
    supposed = {"hbm_capacity": notes} if (notes := chosen["hbm_capacity", ""].notes) else {}
    if DATA_TYPES[stored] < record.BYTES_PER_WEIGHT[dtype]:
        supposed["peak_flops"] = f"weights in {stored} are computed in {dtype}, because {name} has no rate for {stored}"
    return replace(found, unsaid=unsaid, supposed=supposed)


def chip_name(text: str, tables: Tables | None = None) -> str:
    """Return the accelerator of hardware.csv that a text names, with any number and data type. Raises as `hardware` does.

    >>> chip_name("8xTPU-v5e:int8")
    'TPU-v5e'
    """
    several = re.match(record.SEVERAL, text)
    text = (several[2] if several else text).partition(":")[0]
    for pattern, order in _MISWRITTEN.items():
        if found := re.fullmatch(pattern, text):
            count, one = found.groups()[::order]
            raise WrongValue(f"{shorten(text)}: a number of chips is written as {ceil(float(count))}x{shorten(one)[1:-1]}")
    tables = tables or shipped.read()
    rows = [row for row in tables.raw_rows(record.HARDWARE) if row.get("accelerator")]
    known = [(name, name) for name in dict.fromkeys(row["accelerator"] for row in rows)]
    sizes = ((row["accelerator"], row["value"]) for row in rows if row.get("quantity") == "hbm_capacity" and NUMBER.fullmatch(row["value"]))
    known += [(f"{name}-{float(size) / unit:.0f}GB", name) for name, size in sizes for unit in (1e9, 2**30)]
    name = _match("accelerator", text, known, tables, "backsolve list --hardware shows them" + _INSTEAD.format(*record.HARDWARE_GIVENS))
    tables.rows_of(AcceleratorFigure, "accelerator", name)
    return name


def has_data_type(text: str, dtype: str, tables: Tables | None = None) -> bool:
    """Return whether hardware.csv has the rate of a chip in a data type."""
    tables = tables or shipped.read()
    name, asked = chip_name(text, tables), dtype.strip().lower()
    rates = (row for row in tables.rows_of(AcceleratorFigure, "accelerator", name) if row.quantity == "peak_flops")
    return any(row.preferred and row.dtype == asked for row in rates)


def rent(text: str, tables: Tables | None = None) -> Preset:
    """Return the rent of a chip: the median of the rents in hardware.csv, for all terms. Raises NoRent if there is none.

    >>> round(rent("H100:fp8").givens["chip_price"] * 3600, 2)
    2.35
    """
    from statistics import median

    rows = rents(text, tables)
    values, terms = [row.value for row in rows], sorted({term_of(row) for row in rows})
    told = f"median of {len(rows)} rents, {min(values):g} to {max(values):g} {rows[0].unit}"
    place = f"{record.HARDWARE}.csv {rows[0].accelerator} chip_price: {told} ({_list(row.verification for row in rows)})"
    middle = in_si("chip_price", median(values), rows[0].unit)
    supposed = {"chip_price": f"{told}, over terms: {', '.join(terms)}"} if len(terms) > 1 else {}
    return Preset(givens={"chip_price": middle}, provenance={"chip_price": place}, supposed=supposed)


def rents(text: str, tables: Tables | None = None) -> list[AcceleratorFigure]:
    """Return the rents of a chip, row by row. Raises NoRent if the table has no rent."""
    name = chip_name(text, tables)
    rows = [row for row in prices_of(name, tables) if RENT in row.notes]
    if not rows:
        raise NoRent(f"{record.HARDWARE}.csv has no rent for {name}: give chip_price=...")
    return rows


def term_of(rent: AcceleratorFigure) -> str:
    """Return the term of a rent in the words of its notes: on-demand, one-year, three-year."""
    notes: str = rent.notes
    return notes.partition(RENT)[0].strip()


def prices_of(name: str, tables: Tables | None = None) -> list[AcceleratorFigure]:
    """Return all prices of an hour of a chip in hardware.csv: rents, and the costs of owners."""
    return [row for row in (tables or shipped.read()).rows_of(AcceleratorFigure, "accelerator", name) if row.quantity == "chip_price"]


def _data_type(name: str, asked: str, known: list[str], published: Iterable[Published]) -> str:
    """Return the data type that a chip computes in: the requested one, or bf16 if the chip has no rate for it and it is no wider.

    Without a request, it is the type of the published models, bf16, or the first type of the chip.
    """
    if not known:
        raise NotCovered(f"{record.HARDWARE}.csv {name}: no peak_flops in any of {', '.join(record.BYTES_PER_WEIGHT)}")
    if asked:
        kind = data_types.ROWS.get(asked, data_types.DataType(inf))
        if (computed_in := kind.computed_in or asked) in known:
            return computed_in
        if kind.size <= record.BYTES_PER_WEIGHT[record.ATTENTION_DTYPE] and record.ATTENTION_DTYPE in known:
            return record.ATTENTION_DTYPE
        stored = f" bytes_per_weight={asked} for weights that are stored in this type" if asked in DATA_TYPES else ""
        hint = f"{name} computes in {', '.join(known)}: write e.g. --hardware {name}:{known[0]}{stored}"
        raise UnknownName("data type", asked, () if stored else known, hint)
    own = [row.computed_in or model.dtype for model in published if (row := data_types.ROWS.get(model.dtype))]
    return next((one for one in (*own, record.ATTENTION_DTYPE) if one in known), known[0])


def _supposed_text(name: str, dtype: str, other: str | None) -> str:
    """Return the text on an assumed data type: it names another data type, or the way to give wider weights if there is none."""
    told = f"no data type is given: {name} computes in {dtype}"
    if other:
        return f"{told}, for another write --hardware {name}:{other}"
    wide = f"give bytes_per_weight={record.BYTES_PER_WEIGHT[record.ATTENTION_DTYPE]:g} and the peak_flops of {record.ATTENTION_DTYPE}"
    return f"{told}, the only rate in {record.HARDWARE}.csv. For wider weights {wide}"


def model(text: str, tables: Tables | None = None) -> Preset:
    """Return the givens of a model from architectures.csv: parameters, router, and inputs of its KV formula, without bytes per element.

    The text is a name, an alias or a Hugging Face id, or the path of a config.json, its folder, or an id in the cache of huggingface_hub.
    `variants` names the formula, one of `KV_INPUTS`. A model with selective attention gets the KV time of its reads, and no equation for
    dense attention. A model with windows or states gets their sizes and reads, and no balance context, because not all of its reads grow. A
    model of open_models.csv without an architecture has only parameters. A data type in the name, such as -FP8, is the type of the weights.
    Raises UnknownName for an unknown model, NotCovered if no equation covers its attention, and WrongData for a row or file that cannot be
    used.

    >>> preset = model("deepseek-v3")
    >>> preset.givens["active_params"], preset.givens["latent_dim"], preset.variants["kv_bytes_per_token"]
    (37000000000.0, 512.0, 'mla')
    """
    tables = tables or shipped.read()
    if found := own_model(text, tables):
        return _config_preset(found)
    name = model_name(text, tables)
    alone = name in _without_architecture(tables)
    return _stored(_parameters_alone(name, tables) if alone else of_architecture(architecture(name, tables)), text)


def own_model(text: str, tables: Tables) -> "ConfigModel | None":
    """Return the model of a config.json that a text names by its path, its folder, or an id in the cache of huggingface_hub, or None.

    A path comes first, then a name of the tables, then a folder without a separator and an id. Raises WrongData for an unusable file.
    """
    if "/" not in text and os.sep not in text and not text.endswith(".json") and not os.path.isdir(text):
        return None
    from derive.model_config import local_place, place_of, read_config

    place = place_of(text)
    if place is None:
        with suppress(UnknownName):
            model_name(text, tables)
            return None
        place = local_place(text)
    return read_config(place) if place else None


def _config_preset(found: "ConfigModel") -> Preset:
    """Return the preset of a model by its config.json. Raises NotCovered as `model` does."""
    preset, row = of_architecture(found.row), found.row
    provenance = {name: row.params_source if name in record.PARAMETERS else row.config_source for name in preset.givens}
    (plain,) = preset.published
    place = f"{row.config_source} quantization"
    published = replace(plain, **found.stored._asdict(), place=place)
    cache = {} if found.cache_bytes is None else {"bytes_per_element": found.cache_bytes}
    noted = replace(preset, provenance=provenance, notes=(found.remark,) if found.remark else ())
    return noted.add_givens(cache, place, published=(published,))


def _stored(preset: Preset, text: str) -> Preset:
    """Return the preset of a model, with its weights in the data type that its name says."""
    if not (dtype := stored_as(text)):
        return preset
    row, place = data_types.ROWS[dtype], f"--model {text}"
    named = preset.published or [Published(model=name, dtype=dtype, max_context=inf, place=place) for name in preset.parameters_only]
    narrowest = min(row.size, DATA_TYPES[row.computed_in or dtype])
    each = [(one, one.stored.get(row.size, row.size)) for one in named]
    stored = (replace(one, dtype=dtype, of_experts=size, of_others=size, bytes_per_weight=size) for one, size in each)
    return replace(preset, published=tuple(replace(one, narrowest=narrowest, place=place, origin=place) for one in stored))


def model_name(text: str, tables: Tables | None = None) -> str:
    """Return the model that a name, an alias or a Hugging Face id names. Raises UnknownName."""
    tables = tables or shipped.read()
    # The names of bad rows are included, so that they do not match as the beginning of another name.
    spellings = [
        (spelled, row["model"])
        for row in tables.raw_rows(record.ARCHITECTURES)
        if row.get("model")
        for spelled in (row["model"], *read_list(row.get("aliases", "")), row.get("hf_id", ""))
        if spelled
    ]
    spellings += [(name, name) for name in _without_architecture(tables)]
    lacks = "it is not in the local cache of huggingface_hub; " if "/" in text else ""
    hint = f"{lacks}backsolve list --models shows them, and a config.json works too" + _INSTEAD.format(
        *record.PARAMETERS, "kv_bytes_per_token"
    )
    return _match("model", text, spellings, tables, hint)


def _without_architecture(tables: Tables) -> list[str]:
    """Return the models of open_models.csv with known parameters and no known architecture."""
    with suppress(BadRow):
        return [row["model"] for row in tables.raw_rows(record.OPEN_MODELS) if row.get("model") and not row.get("architecture")]
    return []


def of_architecture(row: Architecture) -> Preset:
    """Return the preset of a row of architectures.csv. Raises as `model` does."""
    formula = row.kv_formula
    if not formula:
        why = row.notes.split(";")[0] or "its KV cache is not described"
        raise NotCovered(f"{row.model}: no equation of this version covers its attention: {why}")
    selects = formula in SELECTING
    parts = {part for part, (layers, *_) in FIXED_PARTS.items() if is_known(row, layers)}
    fixed = [column for part, of_part in FIXED_PARTS.items() if part in parts for column in of_part]
    router = record.ROUTER if row.experts else ()
    others = (*(_SELECTION_INPUTS if selects else _ATTENTION_INPUTS), *_OTHER_INPUTS, *router)
    wanted = dict.fromkeys((*record.PARAMETERS, *record.KV_INPUTS[formula], *others, *fixed))
    columns = {column: column for column in wanted if is_known(row, column)}
    if row.dense_ffn_dim and not row.experts:
        # In a mixture of experts it is the width of few layers or none.
        columns["ffn_dim"] = "dense_ffn_dim"
    givens = {name: _checked_figure(row, column, name) for name, column in columns.items()}
    return Preset(
        givens=givens,
        provenance={name: _provenance_of_model(row, column) for name, column in columns.items()},
        variants={
            **_formula_variants(formula),
            **({"window_flops_per_token": "shared_values"} if row.window_value_dim == 0 else {}),
            **({"kv_time": "fixed"} if parts else {}),
            "kv_replication": _COPIES[row.kv_shards],
        },
        left_out=DENSE_ONLY if selects else ALL_GROWS if parts else (),
        published=(_published(row, givens),),
    )


def _parameters_alone(name: str, tables: Tables) -> Preset:
    """Return the parameters of a model of open_models.csv without an architecture."""
    row = next(iter(tables.rows_of(OpenModel, "model", name)))
    place = f"{record.OPEN_MODELS}.csv {row.model}"
    return Preset(
        givens={column: quantity(column).check(float(getattr(row, column))) for column in record.PARAMETERS},
        provenance={column: f"{place} {column}: {row.params_source} ({row.params_grade})" for column in record.PARAMETERS},
        parameters_only=(row.model,),
    )


def architecture(name: str, tables: Tables | None = None) -> Architecture:
    """Return the row of architectures.csv with exactly that name. Raises BadRow for a wrong row, and UnknownName if there is none."""
    tables = tables or shipped.read()
    row = next(iter(tables.rows_of(Architecture, "model", name)), None)
    if row is None:
        raise UnknownName("architecture", name, model_names(tables))
    return row


def kv_bytes(row: Architecture, bytes_per_value: float) -> tuple[float, float]:
    """Return the KV bytes per token that a model stores and that a step reads [byte/token], all values in one data type.

    Index keys are values too. Raises as `model` does.

    >>> kv_bytes(architecture("DeepSeek-V3"), 2.0), kv_bytes(architecture("DeepSeek-V3.2"), 2.0)
    ((70272.0, 70272.0), (85888.0, 15616.0))
    """
    preset = of_architecture(row)
    widths = dict.fromkeys(("bytes_per_element", "indexer_bytes_per_element"), bytes_per_value)
    followed = {one.quantity: preset.givens[one.follows[0]] for one in DEFAULTS if one.always and one.follows[0] in preset.givens}
    values = {**NEUTRAL_DEFAULTS, **followed, **preset.givens, **widths}
    for name in ("kv_bytes_per_token", "selected_entry_width", "kv_read_bytes_per_token"):
        formula = variants_of(name)[preset.variants[name]] if name in preset.variants else definitions()[name]
        # A part that the model does not have has no layers.
        values[name] = float(formula.right_side(dict.fromkeys(formula.symbols, 0.0) | values))
    return values["kv_bytes_per_token"], values["kv_read_bytes_per_token"]


def counted_params(row: Architecture) -> tuple[dict[str, float], str]:
    """Return total and active parameters by the dimensions of a row, or an empty record and the column that the row lacks.

    Only equal layers are counted: attention with grouped queries in each of them.

    >>> counted_params(architecture("DeepSeek-V3"))
    ({}, 'query_latent_dim')
    """
    if row.latent_dim:
        return {}, "query_latent_dim"
    windows = (row.window_layers or 0, {row.window_kv_heads, row.kv_heads}, {row.window_key_dim, row.window_value_dim, row.head_dim})
    alike = not windows[0] or len(windows[1]) == len(windows[2]) == 1
    if row.linear_layers or row.key_dim or row.sparse_layers or not alike or row.kv_layers + windows[0] != row.layers:
        return {}, "an equation of attention with different layers"
    known = {name: float(value) for name in record.ARCHITECTURE_COUNTS if (value := getattr(row, name)) is not None}
    widths = {"ffn_dim": row.dense_ffn_dim or row.moe_ffn_dim, "moe_ffn_dim": row.moe_ffn_dim}
    known |= {name: float(value) for name, value in widths.items() if value}
    if row.tied_embeddings and "vocab_size" in known:
        # The equations count one embedding matrix at the input and one at the output.
        known["vocab_size"] /= 2
    attention = variants_of("attention_params_per_layer")["gqa"]
    formulas = [attention, *(definitions()[name] for name in record.PARAMETERS)]
    if not row.experts:
        known |= dict.fromkeys((*record.ROUTER, "moe_ffn_dim", "shared_experts"), 0.0)
    if lacking := sorted({name for formula in formulas for name in formula.inputs} - {attention.symbols[0], *known}):
        return {}, ", ".join(lacking)
    for formula in formulas:
        known[formula.symbols[0]] = float(formula.right_side(known))
    return {name: known[name] for name in record.PARAMETERS}, ""


def _checked_figure(row: Architecture, column: str, name: str) -> float:
    """Return a figure of the configuration, within the domain of its quantity."""
    try:
        return quantity(name).check(float(getattr(row, column)))
    except BacksolveError as fault:
        origin = f"{record.ARCHITECTURES}.csv" if row.place else row.config_source
        raise BadRow(Problem(origin=origin, row=row.place or None, column=column, message=str(fault))) from None


def _published(row: Architecture, givens: Mapping[str, float]) -> Published:
    checkpoints = [one.split() for one in row.stored_bytes if row.total_params]
    plain = Published(
        model=row.model,
        dtype=row.native_dtype,
        max_context=float(row.max_context or inf),
        place=f"{record.ARCHITECTURES}.csv {row.model} native_dtype",
        stored={PUBLISHED_BYTES[of_type]: float(size) / givens["total_params"] for of_type, size in checkpoints},
    )
    if not row.native_dtype:
        return plain
    types = published_types(row.native_dtype)
    of_experts, of_others = (PUBLISHED_BYTES[one] + _SCALES.get(one, 0.0) for one in types)
    routed, mean = equation("experts.routed_params"), equation(_MEAN_WIDTH)
    known = {"total_params": 1.0, **givens, "expert_bytes_per_weight": of_experts, "shared_bytes_per_weight": of_others}
    # If the weights in the experts cannot be counted, all weights are in experts.
    counted = routed.inputs <= givens.keys() and not routed.violated(givens)
    known["routed_params"] = routed.right_side(givens) if counted else known["total_params"]
    return replace(
        plain,
        of_experts=of_experts,
        of_others=of_others,
        bytes_per_weight=mean.right_side(known),
        narrowest=min(PUBLISHED_BYTES[one] for one in types),
    )


def usual_value(name: str, kinds: Collection[str], deployment: str, dtype: str) -> float | None:
    """Return the usual value of a quantity in the tables that ship, for a kind of model, a deployment and the data type of a chip."""
    if name == "experts":
        # Experts per used expert, in the sparsest router of the table.
        routers = (row for row in rows_of(Architecture) if row.experts and row.active_experts)
        return max(float(row.experts / row.active_experts) for row in routers)
    if name == "attention_rate_ratio":
        # On most accelerators the rate doubles if the width is halved.
        bytes_of = record.BYTES_PER_WEIGHT
        return None if dtype == record.ATTENTION_DTYPE else bytes_of[dtype] / bytes_of[record.ATTENTION_DTYPE]
    fitted = fitted_efficiencies(kinds, (deployment,))
    if name in fitted:
        return fitted[name][1]
    # The value that most accelerators have, among those with a value in the table.
    of_name, _ = shipped.read().checked(AcceleratorFigure, "quantity", name)
    return Counter(float(row.value) for row in of_name if row.preferred).most_common(1)[0][0]


def as_published(preset: Preset, settled: Set[str] = frozenset()) -> Preset:
    """Return the presets of a question with weights as the model was published, if the chip's data type is no narrower.

    A chip computes in the data type in its name, and converts weights that are stored in fewer bytes. Weights are stored in a wider type
    than the published one only for training. `settled` is the set of given and requested quantities. Raises WrongValue for two models that
    were published differently.
    """
    if not settled.isdisjoint(_TRAINED):
        return preset
    if not settled.isdisjoint(record.WIDTHS):
        return _complete_widths(preset, settled)
    chip = preset.givens.get("bytes_per_weight", inf)
    named = [one for one in preset.published if one.origin and one.narrowest <= chip]
    if chip == inf and not named:
        return preset
    if not named and (model := next((one for one in preset.published if chip in one.stored), None)):
        place = f"{record.ARCHITECTURES}.csv {model.model} stored_bytes: published weights of this type, with embeddings and scales"
        return preset.add_givens({"bytes_per_weight": model.stored[chip]}, place)
    fit = named or [one for one in preset.published if one.narrowest <= chip != one.bytes_per_weight]
    if not fit:
        narrower = any(chip < one.narrowest < inf for one in preset.published)
        return replace(preset, supposed={**preset.supposed, **record.STORED_WIDER}) if narrower else preset
    first, *others = fit
    for other in others:
        if other.bytes_per_weight != first.bytes_per_weight and "bytes_per_weight" not in settled:
            raise WrongValue(f"weights are {first.dtype} in {first.model} and {other.dtype} in {other.model}: give bytes_per_weight=...")
    why = f"weights stored as {'its name says' if first.origin else 'published'}, {first.dtype}"
    if first.origin and first.bytes_per_weight not in first.stored.values():
        why += f"; {record.STORED_WIDER['bytes_per_weight']}"
    widths = first.widths if "bytes_per_weight" not in settled else {}
    found = {"bytes_per_weight": first.bytes_per_weight, **widths}
    return preset.add_givens(
        found,
        f"{first.place}: {why}",
        # These widths determine the mean, whatever else is given or requested.
        left_out=(*preset.left_out, *((_MEAN_WIDTH,) if widths else ())),
        unsaid={name: text for name, text in preset.unsaid.items() if name != "bytes_per_weight"},
        supposed={**preset.supposed, **dict.fromkeys(found if first.origin else widths, why)},
    )


def _complete_widths(preset: Preset, settled: Set[str]) -> Preset:
    """Return the presets of a question that gives one of the two widths. The other width keeps its default, and no mean is set."""
    plain = as_published(preset, settled - {*record.WIDTHS})
    if "bytes_per_weight" in settled or not plain.givens.keys() >= {"bytes_per_weight", *record.ROUTER[:2]}:
        return plain
    kept = {**plain.givens}
    mean = kept.pop("bytes_per_weight")
    widths = {name: kept.get(name, mean) for name in record.WIDTHS}
    left_out = tuple(id for id in plain.left_out if id != _MEAN_WIDTH)
    return replace(plain, givens=kept).add_givens(widths, plain.provenance["bytes_per_weight"], left_out=left_out)


def _formula_variants(formula: str) -> dict[str, str]:
    """Return the variants that go with a KV formula."""
    return {
        "kv_bytes_per_token": formula,
        "attention_flops_per_pair": f"{formula}_absorbed" if formula in _LATENT else formula,
        **({"prefill_attention_flops_per_pair": formula} if formula in _LATENT and formula not in SELECTING else {}),
        **(dict.fromkeys(("selected_entry_width", "selected_flops_per_entry"), formula) if formula in SELECTING else {}),
    }


def deployment_of(chips: float) -> str:
    """Return whether a model runs on one chip, on one node, or on several.

    >>> deployment_of(1), deployment_of(8), deployment_of(72)
    ('one chip', 'one node', 'several nodes')
    """
    return _ONE_CHIP if chips <= 1 else ONE_NODE if chips <= _CHIPS_OF_A_NODE else _SEVERAL_NODES


def calibrated(
    kinds: Collection[str], deployments: Collection[str], phases: Collection[str] = (record.DECODE,), tables: Tables | None = None
) -> Preset:
    """Return the ranges of mfu, mbu and layer time in published runs of these kinds of model on this number of chips.

    `record` is the coverage on runs outside the fit, of the same kinds, deployments and phases. Raises WrongData for an unusable row.
    """
    tables = tables or shipped.read()
    ends = fitted_efficiencies(kinds, deployments, tables)
    kept = [row for row in tables.rows_of(Efficiency) if row.use == HELD_OUT and row.low is not None and row.phase in phases]
    alike = [row for row in kept if row.kind in kinds and deployment_of(row.chips) in deployments]
    found = f"fitted to published runs of {_list(record.MODEL_KINDS[kind] for kind in kinds)} on {_list(deployments)}"
    return Preset(
        givens={name: value for name, (_, value, _) in ends.items()},
        provenance=dict.fromkeys(ends, f"{FittedEfficiency.TABLE}.csv: {found}"),
        ranges={name: (low, high) for name, (low, _, high) in ends.items()},
        record=record_of_runs(alike, _list((*kinds, *deployments, *phases))),
    )


def fitted_efficiencies(
    kinds: Collection[str], deployments: Collection[str], tables: Tables | None = None
) -> dict[str, tuple[float, float, float]]:
    """Return the low end, the fitted value and the high end of every fitted efficiency [SI]. The value for several groups is their mean.

    >>> fitted_efficiencies(kinds=["dense"], deployments=["one chip"])["mbu"]
    (0.65, 0.8, 0.98)
    """
    tables = tables or shipped.read()
    found: dict[str, list[list[float]]] = {}
    for row in tables.rows_of(FittedEfficiency):
        if row.kind in kinds and row.deployment in deployments:
            found.setdefault(row.quantity, []).append([in_si(row.quantity, one, row.unit) for one in (row.low, row.value, row.high)])
    columns = {name: [*zip(*rows, strict=True)] for name, rows in found.items()}
    return {name: (min(low), sum(value) / len(value), max(high)) for name, (low, value, high) in columns.items()}


def record_of_runs(rows: Collection[Efficiency], group: str) -> str:
    """Return how many published runs were inside their predicted ranges, the median width of these ranges, and predicted over measured
    times.
    """
    if not rows:
        return f"record: no published run like this was left out of the fit ({group})"
    ratios = sorted(predicted_over_measured(row) for row in rows)
    inside = sum(is_inside(row) for row in rows)
    from statistics import median

    width = median((row.high or 0.0) / (row.low or 1.0) for row in rows)
    spread = f"{ratios[0]:.2g} to {ratios[-1]:.2g}" if len(rows) > 1 else f"{ratios[0]:.2g}"
    return (
        f"record: {inside} of {len(rows)} published runs that the fit did not use were inside ranges of a factor of {width:.2g}"
        f" (median), predicted/measured time {spread} ({group})"
    )


def is_inside(row: Efficiency) -> bool:
    """Return whether a measured run lies inside its predicted range."""
    return row.low is not None and row.high is not None and row.low <= row.measured <= row.high


def predicted_over_measured(row: Efficiency) -> float:
    """Return the predicted time, in the geometric middle of its range, over the measured one. A rate counts as its reciprocal."""
    ratio: float = sqrt((row.low or 0.0) * (row.high or 0.0)) / row.measured
    return ratio if row.unit == "ms" else 1 / ratio


def _list(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))


def _provenance_of_model(row: Architecture, column: str) -> str:
    place = f"{record.ARCHITECTURES}.csv {row.model} {column}"
    if column in record.PARAMETERS:
        # The grade belongs to the configuration. A source of parameters says its own.
        return f"{place}: {row.params_source}"
    if column in (*record.ROUTER, "model_dim"):
        return f"{place}: {row.experts_source} ({row.experts_grade})"
    return f"{place}: {row.config_source} ({row.verification})"


def _match(kind: str, given: str, spellings: Iterable[tuple[str, str]], tables: Tables, hint: str) -> str:
    """Return the one thing that a text names: by exact name, else by another spelling, else by the beginning of a name up to a "-".

    Case, separators, the organisation before a "/" and the words of `LEFT_OUT` do not count. If two things have the same spelling, the
    first one matches. short_names.csv has other spellings. Suggestions have the sizes in the text.
    """
    given, pairs = given.strip(), list(spellings)
    names = {name for _, name in pairs}
    other = tables.raw_rows(ShortName.TABLE)
    short = [(row["text"], name) for row in other if (name := row.get("accelerator") or row.get("model")) in names]
    if hit := next((hit for hits in _same_spelling(given, pairs, short) for hit in hits), None):
        return hit
    forms = [*filter(None, _forms(given))]
    usual = {name for text, name in short if any(f"{form}-".startswith(f"{_dashed(text)}-") for form in forms)}
    for form in forms:
        begun = {name for spelled, name in pairs if _dashed(spelled).startswith(f"{form}-")}
        meant = usual & begun
        if len(meant) == 1 or len(begun) == 1:
            return (meant or begun).pop()
        if begun:
            raise UnknownName(kind, given, sorted(begun)[:5], f"{len(begun)} names begin like this. Write more of the name")
    sizes = {*re.findall(_SIZE, given.lower())}
    alike = [*dict.fromkeys(spelled for spelled, _ in (*pairs, *short) if sizes <= {*re.findall(_SIZE, spelled.lower())})]
    raise UnknownName(kind, given, alike if not sizes or suggest(given, alike, lists=False) else (), hint)


def _same_spelling(given: str, pairs: Collection[tuple[str, str]], short: Collection[tuple[str, str]]) -> Iterator[list[str]]:
    """Yield the matches of a text for one comparison after the other, the strictest first. A later release of a short name may be another
    model.
    """
    yield [name for spelled, name in pairs if spelled == name == given]
    yield [name for spelled, name in pairs if spelled == given]
    yield [name for spelled, name in short if _dashed(spelled) == _dashed(given)]
    *_, plain = forms = _forms(given)
    for form, others in (*((one, short) for one in forms), (re.sub(RELEASE, "", plain), ())):
        yield [name for spelled, name in (*pairs, *others) if form and not _keys(_dashed(spelled)).isdisjoint(_keys(form))]


def _forms(given: str) -> tuple[str, str, str]:
    """Return a text in full, without its organisation, and without the words that change no meaning or name a data type."""
    own = _dashed(given.rpartition("/")[2])
    return _dashed(given), own, re.sub(LEFT_OUT, "", re.sub(STORED, "", own)).lstrip("-")


@lru_cache(4096)
def _dashed(text: str) -> str:
    """Return a name in lower case, with "-" for every separator and a plus sign in words."""
    return re.sub(r"[\s_/:-]+|(?<![0-9])[.]|[.](?![0-9])", "-", text.strip().lower().replace("+", "-plus"))


@lru_cache(4096)
def _keys(dashed: str) -> frozenset[str]:
    """Return the keys of a name: its letters and digits, and its sorted words, with and without words that change no meaning."""
    forms = (dashed, re.sub(LEFT_OUT, "", dashed).lstrip("-") or dashed)
    return frozenset(key for form in forms for key in (re.sub("[-.]", "", form), "-".join(sorted(form.split("-")))))


def stored_as(text: str) -> str:
    """Return the data type of stored weights that the name of a model says, or an empty text."""
    found = [TYPES[word] for word in re.findall(STORED, _dashed(text.rpartition("/")[2]))]
    # Of two words for the same bits, as in GPTQ-Int4, the one with scales counts.
    alike = [dtype for dtype in found if round(2 * DATA_TYPES[dtype]) == round(2 * DATA_TYPES[found[-1]])]
    return max(alike, key=lambda dtype: DATA_TYPES[dtype], default="")
