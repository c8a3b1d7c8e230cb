"""The tables of accelerators and open models as people compare them: rates by type, memory, ridge, rent; size, cache, what is missing."""

from collections.abc import Iterable, Iterator

from derive import presets, shipped
from derive.errors import BacksolveError
from derive.presets import PARAMETERS, RENT
from derive.shipped import Tables
from derive.shipped_rows import AcceleratorFigure, Architecture, in_si
from derive.shipped_rules import BYTES_PER_WEIGHT
from derive.units import show

BYTES_PER_VALUE = 1.0
"""Bytes of a value of the cache in the table of models: one, so that two bytes are twice as much."""

USUAL = "fp8"
"""The data type that an example is given in."""

WANTED = ("query_heads", *PARAMETERS)
"""What questions about a model need besides its cache."""

ABSENT = "-"


def hardware_lines(tables: Tables | None = None) -> list[str]:
    """A row an accelerator: dense PFLOP/s by data type, memory, the ridge point of the first of these types, rents.

    >>> hardware_lines()[2].split()[:8]
    ['H100-SXM', '0.989', '1.979', '1.979', '-', '3.35', '80', '295']
    """
    tables = tables or shipped.read()
    types = [*BYTES_PER_WEIGHT]
    head = ["chip", *types, "TB/s", "GB", "ridge", "rent, USD/h"]
    rows = [head, *(_chip_cells(name, types, tables) for name in presets.hardware_names(tables))]
    said = "dense PFLOP/s by type; ridge point in FLOP/byte of the first; --price rent takes the median rent"
    return [*_aligned(rows, left=(0, len(head) - 1)), said]


def _chip_cells(name: str, types: Iterable[str], tables: Tables) -> list[str]:
    figures = {(row.quantity, row.dtype): row for row in tables.rows_of(AcceleratorFigure) if row.accelerator == name and row.preferred}
    peaks = [_in_unit(figures.get(("peak_flops", one)), 1e15) for one in types]
    bandwidth, capacity = (figures.get((quantity, "")) for quantity in ("hbm_bandwidth", "hbm_capacity"))
    first = next((row for one in types if (row := figures.get(("peak_flops", one)))), None)
    ridge = f"{first.value / bandwidth.value:.0f}" if first and bandwidth else ABSENT
    return [name, *peaks, _in_unit(bandwidth, 1e12), _in_unit(capacity, 1e9), ridge, _price(name, tables)]


def _in_unit(row: AcceleratorFigure | None, size: float) -> str:
    value = in_si(row.quantity, row.value, row.unit) / size if row else 0.0
    return f"{value:.{4 if value >= 1 else 3}g}" if row else ABSENT


def _price(name: str, tables: Tables) -> str:
    """The rents from the least to the most, and how they are known."""
    rents = [row for row in presets.prices_of(name, tables) if RENT in row.notes]
    if not rents:
        return ABSENT
    values = sorted(row.value for row in rents)
    span = f"{values[0]:g}" if values[0] == values[-1] else f"{values[0]:g}-{values[-1]:g}"
    return f"{span} ({', '.join(dict.fromkeys(row.verification.replace('_', ' ') for row in rents))})"


def chip_lines(name: str, tables: Tables | None = None) -> list[str]:
    """All that the table has of one accelerator: every data type with its ridge point, memory, links, power, and every price.

    >>> [line.split()[1] for line in chip_lines("H100-SXM")[1:4]]
    ['bf16', 'fp8', 'int8']
    """
    tables = tables or shipped.read()
    rows = [row for row in tables.rows_of(AcceleratorFigure) if row.accelerator == name]
    bandwidth = next((row.value for row in rows if row.quantity == "hbm_bandwidth" and row.preferred), None)
    types = [row.dtype for row in rows if row.quantity == "peak_flops" and row.preferred]
    usable = [one for one in types if one in BYTES_PER_WEIGHT]
    named = USUAL if USUAL in usable else usable[-1] if usable else ""
    lines = [f"{name}   --hardware {name}{f':{named}' if len(usable) > 1 else ''}"]
    for row in (row for row in rows if row.preferred):
        ridge = f"{row.value / bandwidth:.3g} FLOP/byte" if row.quantity == "peak_flops" and bandwidth else ""
        lines.append(f"{f'{row.quantity} {row.dtype}'.strip():<26}{_figure(row):<16}{ridge:<16}{row.source} ({row.verification})")
    prices = presets.prices_of(name, tables)
    lines += [f"{row.quantity:<26}{_figure(row):<16}{'':<16}{row.notes}: {row.source}, {row.date} ({row.verification})" for row in prices]
    return lines


def _figure(row: AcceleratorFigure) -> str:
    return show(row.quantity, in_si(row.quantity, row.value, row.unit))


def model_lines(tables: Tables | None = None) -> list[str]:
    """A row an open model: parameters, experts, KV bytes of a token read and stored at a byte a value, context, what is missing.

    >>> next(line.split()[:7] for line in model_lines() if line.startswith("DeepSeek-V3 "))
    ['DeepSeek-V3', '671B', '37B', '8/256', '35.14', '35.14', '163.8k']
    """
    tables = tables or shipped.read()
    head = ["model", "total", "active", "experts", "KV read", "stored", "context", "missing"]
    rows = [head, *(_model_cells(row) for row in tables.rows_of(Architecture))]
    return [*_aligned(rows, left=(0, len(head) - 1)), "KV in kB of a token of context, a byte a value: twice as much in bf16"]


def _model_cells(row: Architecture) -> list[str]:
    total, active = (show(name, value) if (value := getattr(row, name)) else ABSENT for name in PARAMETERS)
    experts = f"{row.active_experts}/{row.experts}" if row.experts and row.active_experts else ABSENT
    context = show("context_length", row.max_context).removesuffix(" tokens") if row.max_context else ABSENT
    try:
        stored, read = (f"{value / 1e3:.4g}" for value in presets.kv_bytes(row, BYTES_PER_VALUE))
        covered = []
    except BacksolveError:
        stored = read = ABSENT
        covered = ["an equation of its cache"]
    missing = [*covered, *(name for name in WANTED if not getattr(row, name))]
    return [row.model, total, active, experts, read, stored, context, ", ".join(missing) or ABSENT]


def _aligned(rows: list[list[str]], left: tuple[int, ...]) -> list[str]:
    """Columns side by side, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def cells(row: list[str]) -> Iterator[str]:
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            yield cell.ljust(width) if place in left else cell.rjust(width)

    return [" ".join(cells(row)).rstrip() for row in rows]
