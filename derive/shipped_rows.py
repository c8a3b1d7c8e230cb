"""What a row of each table that ships is: a record with its columns typed, and how a cell becomes a value."""

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from math import inf
from sys import float_info
from typing import Any, ClassVar, TypeVar, get_type_hints

from derive.briefly import brief
from derive.errors import WrongData, shorten, unseen
from derive.quantities import quantity
from derive.units import parse

NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
AnyRecord = TypeVar("AnyRecord", bound="TableRow")
Fault = tuple[str | None, str]
"""A column, None for the whole row, and what is wrong with it."""


# Records: a field a column of the file, in its order. A number, count or date that may be blank is then None, a text is "".


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A sound row of a table that ships; `place` is the line of the file it stands on."""

    TABLE: ClassVar[str]
    __repr__ = brief

    place: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class AcceleratorFigure(TableRow):
    """A row of hardware.csv: one figure of an accelerator, in `unit`; of rivals for it the `preferred` one is taken."""

    TABLE = "hardware"

    accelerator: str
    quantity: str
    dtype: str
    value: float
    unit: str
    preferred: bool
    source: str
    date: datetime.date | None
    verification: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class Efficiency(TableRow):
    """A row of efficiencies.csv: what is sustained of a peak, as measured in one published run.

    A run without a quantity and its value is only held against the others. `held` says of one that is a whole step or
    prompt whether its time is inside the ranges of all others; of anything less, "part".
    """

    TABLE = "efficiencies"

    run: str
    kind: str
    phase: str
    quantity: str
    value: float | None
    ideal_ms: float
    measured_ms: float
    unknown: str
    givens: str
    held: str
    setting: str
    source: str
    source_url: str
    verification: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class MemoryTierFigure(TableRow):
    """A row of memory_tiers.csv: one figure of a memory device, in `unit`, with its span where that is known."""

    TABLE = "memory_tiers"

    tier: str
    device: str
    quantity: str
    low: float | None
    value: float
    high: float | None
    unit: str
    basis: str
    year: int | None
    source: str
    verification: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class Architecture(TableRow):
    """A row of architectures.csv: the configuration of an open model, and the KV values counted from it by hand."""

    TABLE = "architectures"

    model: str
    aliases: tuple[str, ...]
    hf_id: str
    total_params: float | None
    active_params: float | None
    params_source: str
    kv_formula: str
    layers: int
    kv_layers: int
    kv_heads: int | None
    head_dim: int | None
    latent_dim: int | None
    rope_dim: int | None
    query_heads: int | None
    nope_dim: int | None
    value_dim: int | None
    key_dim: int | None
    window_layers: int | None
    window_tokens: int | None
    window_kv_heads: int | None
    window_key_dim: int | None
    window_value_dim: int | None
    linear_layers: int | None
    state_heads: int | None
    state_key_dim: int | None
    state_value_dim: int | None
    state_bytes_per_element: float | None
    indexer_layers: int | None
    indexer_dim: int | None
    indexer_heads: int | None
    indexer_bytes_per_element: float | None
    sparse_layers: int | None
    selected_entries: int | None
    sparse_compression_ratio: int | None
    heavily_compressed_layers: int | None
    heavy_compression_ratio: int | None
    experts: int | None
    active_experts: int | None
    shared_experts: int | None
    moe_layers: int | None
    model_dim: int | None
    moe_ffn_dim: int | None
    dense_ffn_dim: int | None
    vocab_size: int | None
    kv_values_stored_per_token: int
    kv_values_read_per_context_token: int
    fixed_values_per_sequence: int | None
    native_dtype: str
    max_context: int | None
    release_date: datetime.date
    release_grade: str
    kv_family: str
    config_source: str
    verification: str
    experts_source: str
    experts_grade: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class CalibrationModel(TableRow):
    """A row of calibration_models.csv: an architecture, and the sheet of several bands that sells it."""

    TABLE = "calibration_models"

    architecture: str
    sheet: str
    sheet_date: datetime.date | None
    max_context: int | None
    grade: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class Disclosure(TableRow):
    """A row of disclosures.csv: what a vendor said; without a model or lifetime it speaks of all of them."""

    TABLE = "disclosures"

    provider: str
    model: str
    ttl_seconds: int | None
    topic: str
    quantity: str
    value: float | None
    unit: str
    disclosed_tier: str
    quote: str
    date: datetime.date | None
    date_kind: str
    source_url: str
    verification: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class ModelRow(TableRow):
    """A row of models.csv: the other names of a priced model and what is known of its size and release, with grades.

    Architecture and parameters are those of the weights that it serves before `weights_until`, where that day is known.
    """

    TABLE = "models"

    provider: str
    model: str
    aliases: tuple[str, ...]
    first_party: bool
    architecture: str
    architecture_grade: str
    max_context: int | None
    active_params: float | None
    active_params_grade: str
    total_params: float | None
    weights_until: datetime.date | None
    release_date: datetime.date | None
    release_grade: str
    source: str
    notes: str

    def on(self, day: datetime.date) -> "ModelRow":
        """What is known of the model on a day: nothing of its weights from the day on which it serves others."""
        if self.weights_until is None or day < self.weights_until:
            return self
        return replace(self, architecture="", architecture_grade="", active_params=None, active_params_grade="", total_params=None)


@dataclass(frozen=True, slots=True, repr=False)
class FxRate(TableRow):
    """A row of fx.csv: how much of a currency one US dollar bought on a day."""

    TABLE = "fx"

    currency: str
    date: datetime.date
    units_per_usd: float
    source: str
    verification: str
    notes: str


@dataclass(frozen=True, slots=True, repr=False)
class OpenModel(TableRow):
    """A row of open_models.csv: a model with open weights that has a price, its size, and who decides its price."""

    TABLE = "open_models"

    model: str
    architecture: str
    price_family: str
    vendor: str
    release_date: datetime.date
    total_params: float
    active_params: float
    params_source: str
    params_grade: str
    kv_bytes_per_token: float | None
    kv_grade: str
    bytes_per_weight: float | None


@dataclass(frozen=True, slots=True, repr=False)
class ListPrice(TableRow):
    """A row of list_prices.csv: what the maker of an open model asks for it near release [USD/Mtoken]."""

    TABLE = "list_prices"

    model: str
    date: datetime.date
    input_price: float
    output_price: float
    cache_read_price: float | None
    set_by_hand: bool
    source: str


@dataclass(frozen=True, slots=True, repr=False)
class HostPrice(TableRow):
    """A row of host_prices.csv: what a host asks for an open model [USD/Mtoken]."""

    TABLE = "host_prices"

    model: str
    host: str
    host_kind: str
    era: str
    date: datetime.date
    input_price: float
    output_price: float
    cache_read_price: float | None
    batch_input_price: float | None
    batch_output_price: float | None
    precision: str
    domestic: bool
    size_bucket: bool
    price_id: str
    source: str


@dataclass(frozen=True, slots=True, repr=False)
class DisclosedSize(TableRow):
    """A row of disclosed_sizes.csv: a size that became known of a model that no fit has seen, and its price [USD/Mtoken]."""

    TABLE = "disclosed_sizes"

    model: str
    vendor: str
    date: datetime.date
    input_price: float
    output_price: float
    active_params: float | None
    total_params: float
    grade: str
    source: str


@dataclass(frozen=True, slots=True, repr=False)
class PastPrice(TableRow):
    """A row of price_history.csv: a dated listing of an open model [USD/Mtoken]."""

    TABLE = "price_history"

    model: str
    host: str
    date: datetime.date
    input_price: float
    output_price: float
    cache_read_price: float | None
    size_bucket: bool
    price_id: str
    source: str


@dataclass(frozen=True, slots=True, repr=False)
class NaturalExperiment(TableRow):
    """A row of natural_experiments.csv: a day from which a model sold at a new price, with the weights of the day before."""

    TABLE = "natural_experiments"

    provider: str
    model: str
    date: datetime.date
    change: str
    grade: str
    source: str


@dataclass(frozen=True, slots=True, repr=False)
class Claim(TableRow):
    """A row of claims.csv: a number that the lecture says or is said to say, and what became of it when it was worked out."""

    TABLE = "claims"

    id: str
    time: str
    claim: str
    stated: str
    unit: str
    unknown: str
    givens: str
    equations: tuple[str, ...]
    tolerance: float | None
    verdict: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True, repr=False)
class WorkedProblem(TableRow):
    """A row of problems.csv: a problem that someone published with its answer, as one question, and what became of the answer."""

    TABLE = "problems"

    id: str
    problem: str
    stated: str
    unit: str
    unknown: str
    givens: str
    tolerance: float
    verdict: str
    reason: str
    arithmetic: str
    source: str
    source_url: str


RECORDS: Mapping[str, type[TableRow]] = {
    record.TABLE: record
    for record in (
        *(AcceleratorFigure, Efficiency, MemoryTierFigure, Architecture, CalibrationModel, Disclosure, ModelRow, FxRate),
        *(OpenModel, ListPrice, HostPrice, DisclosedSize, PastPrice, NaturalExperiment, Claim, WorkedProblem),
    )
}
"""By the name of the table. Prices are read with the files that people lay over them."""


def record_of(record: type[AnyRecord], cells: Mapping[str, str], place: int) -> AnyRecord | Fault:
    """The record that the cells of a row make, or the first column that does not hold what it should, and what is wrong with it."""
    values: dict[str, Any] = {}
    for column, read in _readers(record.TABLE).items():
        if column not in cells:
            return column, "there is no such column"
        try:
            values[column] = read(cells[column])
        except WrongData as error:
            return column, str(error)
    return record(**values, place=place)


@cache
def _readers(table: str) -> Mapping[str, Callable[[str], Any]]:
    """By column of a table, what makes a value of its cell."""
    hints = get_type_hints(RECORDS[table])
    return {one.name: READERS[hints[one.name]] for one in fields(RECORDS[table]) if one.name != "place"}


def in_si(name: str, value: float, unit: str) -> float:
    """A figure of a table [unit] as the quantity of that name [its unit of the registry]; raises as `parse` does.

    >>> in_si("chip_price", 36.0, "USD/h"), in_si("scale_up_size", 8.0, "1")
    (0.01, 8.0)
    """
    # A bare number would be taken for one in the unit of its quantity, whatever that is.
    bare = unit == "1" and quantity(name).unit == "1"
    return parse(name, written(value) if bare else f"{written(value)} {unit}".replace("/mtok", "/MTok"))


def written(value: float) -> str:
    """A figure as a cell has it, to the last digit.

    >>> written(80.0), written(0.794)
    ('80', '0.794')
    """
    return repr(float(value)).removesuffix(".0")


def is_known(row: TableRow, column: str) -> bool:
    """Whether a cell is not blank; zero is known."""
    return getattr(row, column) not in (None, "", ())


# Cells.


@lru_cache(4096)
def figure(text: str) -> float:
    """A plain decimal, or one with an exponent; `WrongData` for anything else, nan and infinity included.

    >>> figure("1.25"), figure("5e-1")
    (1.25, 0.5)
    """
    if not NUMBER.fullmatch(text.removeprefix("-")):
        raise WrongData(f"{shorten(text)} is not a number{unseen(text)}; write a plain 1.25 or 1e-3, without unit, sign or separator")
    if text.startswith("-"):
        raise WrongData(f"{shorten(text)} is negative")
    value = float(text)
    if value == inf or (value < float_info.min and re.match("[0.]*[1-9]", text)):
        raise WrongData(f"{shorten(text)} is {'absurdly large' if value > 1 else 'so small that it would be read as zero'}")
    return value


def whole(text: str) -> int:
    """A whole number, however it is written: `1e6` and `8.0` are some; `WrongData` for anything else.

    >>> whole("61"), whole("1e6")
    (61, 1000000)
    """
    value = figure(text)
    if not value.is_integer():
        raise WrongData(f"{value:g} is not a whole number")
    return int(value)


def truth(text: str) -> bool:
    """`true` or `false`, in any case: a spreadsheet writes them in capitals. `WrongData` for anything else.

    >>> truth("true"), truth("FALSE")
    (True, False)
    """
    if text.lower() not in ("true", "false"):
        raise WrongData(f"{shorten(text)} is no truth value; allowed: true, false" if text else "is blank; write true or false")
    return text.lower() == "true"


@lru_cache(4096)
def iso_date(text: str) -> datetime.date:
    """An ISO date; `WrongData` for anything else.

    >>> iso_date("2026-11-20")
    datetime.date(2026, 11, 20)
    """
    try:
        # `fromisoformat` alone would also take 20261120 and 2026-W47-5.
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise WrongData(f"{shorten(text)} is not an ISO date such as 2026-11-20")


def listed(text: str) -> tuple[str, ...]:
    """The items of a cell that separates them by ";".

    >>> listed("Llama3; L3;")
    ('Llama3', 'L3')
    """
    return tuple(item.strip() for item in text.split(";") if item.strip())


def _or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if text else None


READERS: Mapping[Any, Callable[[str], Any]] = {
    **{str: str, tuple[str, ...]: listed, bool: truth},
    **{float: figure, int: whole, datetime.date: iso_date},
    **{float | None: _or_none(figure), int | None: _or_none(whole), datetime.date | None: _or_none(iso_date)},
}
"""By the type of a column, what makes a value of its cell."""
