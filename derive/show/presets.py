"""Print the tables of accelerators (rates, memory, ridge point, rent) and of open models (size, KV cache, and what is missing)."""

import re
from collections.abc import Iterable, Mapping
from math import inf
from shlex import quote
from typing import Any

from derive import presets
from derive.errors import BacksolveError
from derive.preset_record import BYTES_PER_WEIGHT, OF_CONFIGURATION, OPEN_MODELS, PARAMETERS, Preset
from derive.preset_rows import AcceleratorFigure, Architecture, OpenModel
from derive.presets import RENT
from derive.show.layout import align_columns
from derive.tables import shipped
from derive.tables.shipped import Tables, in_si
from derive.units import show

_BYTES_PER_VALUE = 1.0
"""Bytes of a value of the cache in the table of models. With 2 bytes the cache is twice as large."""

_USUAL = "fp8"
"""The data type of an example."""

_WANTED = ("query_heads", *PARAMETERS)
"""Quantities of a model that questions need in addition to its cache."""

_ABSENT = "-"
_HOUR = 3600
_NAMED = 3
"""Largest number of presets that are named for a word."""
_NOMINAL = "nominal"
"""Beginning of the notes of a memory size from the data sheet, if no figure of the driver is known."""
_ALL = ("in all", "active")
_NO_CACHE, _NO_CONFIGURATION = "an equation of its cache", "its configuration"
"""The missing part of a model, if questions about its cache have no answer."""


def hardware_lines(word: str = "") -> list[str]:
    """Return a row for each accelerator whose name has the word: dense PFLOP/s by data type, memory, ridge point of the first type, rents.

    >>> hardware_lines()[2].split()[:8]
    ['H100-SXM', '0.989', '1.979', '1.979', '-', '3.35', '85.52', '295']
    """
    types = [*BYTES_PER_WEIGHT]
    head = ["chip", *types, "TB/s", "GB", "ridge", "rent, USD/h"]
    rows = [head, *(_chip_cells(chip, types) for chip in hardware_records(word))]
    said = "dense PFLOP/s by type. Ridge point in FLOP/byte, for the first type. --price rent uses the median rent"
    figures = [(one["name"], one["figures"].get("hbm_capacity", {"notes": ""})) for one in hardware_records()]
    nominal = ", ".join(name for name, figure in figures if figure["notes"].startswith(_NOMINAL))
    return [*align_columns(rows, left=(0, len(head) - 1), gap=" "), f"{said}; GB as the driver reports them, or nominal: {nominal}"]


def _chip_cells(chip: Mapping[str, Any], types: Iterable[str]) -> list[str]:
    """Return the record of an accelerator as cells: peaks, bandwidth, memory, ridge point, and the rents with how they are known."""
    peaks = [chip["peak_flops"].get(one) for one in types]
    bandwidth, capacity = (chip["figures"].get(quantity, {"value": None})["value"] for quantity in ("hbm_bandwidth", "hbm_capacity"))
    first = next(filter(None, peaks), None)
    ridge = f"{first / bandwidth:.0f}" if first and bandwidth else _ABSENT
    rents = [one for one in chip["prices"] if RENT in one["notes"]]
    span = "-".join(dict.fromkeys(f"{value * _HOUR:g}" for value in sorted(one["value"] for one in rents)[:: max(len(rents) - 1, 1)]))
    grades = ", ".join(dict.fromkeys(one["verification"].replace("_", " ") for one in rents))
    sizes = [(peak, 1e15) for peak in peaks] + [(bandwidth, 1e12), (capacity, 1e9)]
    cells = [f"{value / size:.{4 if value >= size else 3}g}" if value else _ABSENT for value, size in sizes]
    return [chip["name"], *cells, ridge, f"{span} ({grades})" if rents else _ABSENT]


def hardware_records(word: str = "") -> list[dict[str, Any]]:
    """Return the accelerators whose names have the word as records in SI: preferred figures, their sources, and all prices and terms."""
    tables = shipped.read()
    return [_chip_record(name, tables) for name in presets.hardware_names(tables) if _contains(name, word)]


def listing_commands(word: str) -> list[str]:
    """Return the commands that list the accelerators and models whose names have a word.

    >>> listing_commands("maverick"), listing_commands("kv")
    (['Llama-4-Maverick: backsolve list --models maverick'], [])
    """
    tables = shipped.read()
    named = {"--hardware": presets.hardware_names(tables), "--models": presets.model_names(tables)}
    found = {switch: [name for name in names if _contains(name, word)] for switch, names in named.items()}
    return [
        f"{', '.join(names[:_NAMED])}{' ...' if len(names) > _NAMED else ''}: backsolve list {switch} {quote(word)}"
        for switch, names in found.items()
        if names
    ]


def _contains(name: str, word: str) -> bool:
    """Return whether a word is in a name, without regard to case. A separator in the word is optional in the name."""
    return re.search(r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", word))), name, re.IGNORECASE) is not None


def _chip_record(name: str, tables: Tables) -> dict[str, Any]:
    rows = [row for row in tables.rows_of(AcceleratorFigure) if row.accelerator == name and row.preferred]

    def figure(row: AcceleratorFigure, **more: Any) -> dict[str, Any]:
        told = {one: getattr(row, one) for one in ("source", "verification", "notes")}
        return {"value": in_si(row.quantity, row.value, row.unit), **more, **told}

    return {
        "name": name,
        "peak_flops": {row.dtype: in_si(row.quantity, row.value, row.unit) for row in rows if row.quantity == "peak_flops"},
        "figures": {row.quantity: figure(row) for row in rows if row.quantity != "peak_flops"},
        "prices": [figure(row, date=row.date and row.date.isoformat()) for row in presets.prices_of(name, tables)],
    }


def chip_lines(name: str) -> list[str]:
    """Return all table rows of one accelerator: every data type with its ridge point, memory, links, power, and every price."""
    tables = shipped.read()
    rows = [row for row in tables.rows_of(AcceleratorFigure) if row.accelerator == name]
    bandwidth = next((row.value for row in rows if row.quantity == "hbm_bandwidth" and row.preferred), None)
    types = [row.dtype for row in rows if row.quantity == "peak_flops" and row.preferred]
    usable = [one for one in types if one in BYTES_PER_WEIGHT]
    named = _USUAL if _USUAL in usable else usable[-1] if usable else ""
    lines = [f"{name}   --hardware {name}{f':{named}' if len(usable) > 1 else ''}"]
    for row in (row for row in rows if row.preferred):
        ridge = f"{row.value / bandwidth:.0f} FLOP/byte" if row.quantity == "peak_flops" and bandwidth else ""
        noted = f"{row.notes}: " if row.quantity == "hbm_capacity" and row.notes else ""
        lines.append(f"{f'{row.quantity} {row.dtype}'.strip():<26}{_figure(row):<16}{ridge:<16}{noted}{row.source} ({row.verification})")
    prices = presets.prices_of(name, tables)
    lines += [f"{row.quantity:<26}{_figure(row):<16}{'':<16}{row.notes}: {row.source}, {row.date} ({row.verification})" for row in prices]
    return lines


def _figure(row: AcceleratorFigure) -> str:
    return show(row.quantity, in_si(row.quantity, row.value, row.unit))


def model_lines(word: str = "") -> list[str]:
    """Return a row for each open model whose name has the word: parameters, experts, KV at 1 byte per value, context, what is missing.

    Models with known parameters and no configuration come last.

    >>> next(line.split()[:7] for line in model_lines() if line.startswith("DeepSeek-V3 "))
    ['DeepSeek-V3', '671B', '37B', '8/256', '35.14', '35.14', '163840']
    """
    head = ["model", "total", "active", "experts", "KV read", "stored", "context", "missing"]
    rows = [head, *map(_model_cells, model_records(word))]
    return [
        *align_columns(rows, left=(0, len(head) - 1), gap=" "),
        "KV in kB per token of context, at 1 byte per value with index keys. In bf16 it is twice as much",
    ]


def model_records(word: str = "") -> list[dict[str, Any]]:
    """Return the open models whose names have the word, or the one of a config.json, as records in SI. An unknown value is null.

    Caches are at 1 byte per value.
    """
    tables = shipped.read()
    if own := presets.own_model(word, tables):
        return [_architecture_record(own.row)]
    alone = [row for row in tables.rows_of(OpenModel) if not row.architecture]
    records = (*map(_architecture_record, tables.rows_of(Architecture)), *map(_parameters_record, alone))
    return [one for one in records if _contains(one["name"], word)]


def _architecture_record(row: Architecture) -> dict[str, Any]:
    counts, uncounted = presets.counted_params(row)
    try:
        caches: tuple[float | None, float | None] = presets.kv_bytes(row, _BYTES_PER_VALUE)
        covered = []
    except BacksolveError:
        caches, covered = (None, None), [_NO_CACHE]
    stored, read = caches
    return {
        "name": row.model,
        **{name: getattr(row, name) for name in PARAMETERS},
        "counted": counts or None,
        "not_counted_for": uncounted or None,
        **{name: getattr(row, name) for name in ("experts", "active_experts")},
        "kv_bytes_per_token": stored,
        "kv_read_bytes_per_token": read,
        "max_context": row.max_context,
        "missing": [*covered, *(name for name in _WANTED if not getattr(row, name))],
        "source": row.params_source,
    }


def _parameters_record(row: OpenModel) -> dict[str, Any]:
    unknown = ("counted", "experts", "active_experts", "kv_bytes_per_token", "kv_read_bytes_per_token", "max_context")
    known = {"name": row.model, **{name: getattr(row, name) for name in PARAMETERS}, **dict.fromkeys(unknown)}
    lacks = {"not_counted_for": _NO_CONFIGURATION, "missing": [_NO_CONFIGURATION]}
    return {**known, **lacks, "source": f"{row.params_source} ({row.params_grade})"}


def _model_cells(one: Mapping[str, Any]) -> list[str]:
    total, active = (show(name, one[name]) if one[name] else _ABSENT for name in PARAMETERS)
    stored, read = (f"{one[name] / 1e3:.4g}" if one[name] else _ABSENT for name in ("kv_bytes_per_token", "kv_read_bytes_per_token"))
    experts = f"{one['active_experts']}/{one['experts']}" if one["experts"] else _ABSENT
    return [one["name"], total, active, experts, read, stored, _context(one), ", ".join(one["missing"]) or _ABSENT]


def _context(one: Mapping[str, Any]) -> str:
    return show("context_length", one["max_context"]).removesuffix(" tokens") if one["max_context"] else _ABSENT


def _index_key_note(row: Architecture | None) -> str:
    """Return the note on index keys, which keep their width if the cache is in bf16."""
    width = row and row.indexer_bytes_per_element
    return f", index keys too, at {width:.4g} in solve: twice as much all in bf16" if width else ": twice as much in bf16"


def _counted_line(one: Mapping[str, Any], row: Architecture | None) -> str:
    """Return the parameters of a record as counted by its dimensions, or why they are not."""
    counts = one["counted"]
    if not counts:
        return f"counted     no count from its dimensions: the tables lack {one['not_counted_for']}"
    words = zip(counts.items(), _ALL, strict=True)
    both = [f"{show(each, value)} {word}{_difference_text(value, one[each])}" for (each, value), word in words]
    vocabulary = "one vocabulary for both ends" if row and row.tied_embeddings else "a vocabulary at both ends"
    return f"counted     {' and '.join(both)} by its dimensions, {vocabulary}"


def model_card(name: str) -> list[str]:
    """Return the data of a model in a few lines: parameters as published and as counted, experts, cache, context, what is missing.

    >>> model_card("Llama-3.1-70B")[2]
    'counted     70.55B in all (+0.0 %) and 70.55B active (+0.0 %) by its dimensions, a vocabulary at both ends'
    """
    tables = shipped.read()
    own = presets.own_model(name, tables)
    row = own.row if own else next((row for row in tables.rows_of(Architecture) if row.model == name), None)
    one = next(one for one in model_records(name if own else "") if one["name"] == name)
    total, active = (show(each, one[each]) if one[each] else _ABSENT for each in PARAMETERS)
    stored, read = (one[each] and show("kv_bytes_per_token", one[each]) for each in ("kv_bytes_per_token", "kv_read_bytes_per_token"))
    cache = f"{read} read and {stored} stored, at 1 byte per value{_index_key_note(row)}" if read and stored else _ABSENT
    routed = f"{one['active_experts']} of {one['experts']} experts per token" if one["experts"] else "all weights for every token"
    return [
        f"{name}   --model {name}",
        f"{'parameters' if own else 'published':<12}{total} in all and {active} active parameters: {one['source']}",
        *([own.remark] * bool(own.remark) if own else [_counted_line(one, row)]),
        f"router      {'not known' if one['experts'] is None else routed}",
        f"KV cache    {cache}",
        f"context     {_context(one)}",
        f"missing     {', '.join(one['missing']) or 'nothing'}",
    ]


def preset_lines(preset: Preset) -> list[str]:
    """Return the values of a chip or a model with their sources, below the card of a model."""
    cards = [line for name in (*(one.model for one in preset.published), *preset.parameters_only) for line in (*model_card(name), "")]
    rows = [(name, show(name, value), preset.provenance[name]) for name, value in preset.givens.items()]
    rows += [(group, f"by the variant {variant}", "") for group, variant in preset.variants.items()]
    for name in preset.parameters_only:
        rows.append(("not known", f"{', '.join(OF_CONFIGURATION)}: {OPEN_MODELS}.csv has the parameters of {name} alone", ""))
    for one in preset.published:
        if one.dtype:
            stored = f"{show('bytes_per_weight', one.bytes_per_weight)} per weight, unless a chip's data type is narrower"
            rows.append(("native_dtype", one.dtype, f"{one.place}: {stored}"))
        if one.max_context < inf:
            rows.append(("max_context", show("max_context", one.max_context), one.model))
    longest = max(map(len, preset.givens))
    return [*cards, *(f"{name:<{longest}}  {text:<16}  {source}".rstrip() for name, text, source in rows)]


def _difference_text(counted: float, published: float | None) -> str:
    return f" ({round(100 * (counted / published - 1), 1) or 0:+.1f} %)" if published else ""
