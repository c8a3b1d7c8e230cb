"""Rows of the tables that presets are made of: chips, what is sustained of them, and open models.

A field is a column of the file, in its order. A number, count or date that may be blank is then None, a text is "".
"""

import datetime
from collections.abc import Mapping

from derive.immutable import immutable
from derive.shipped_rows import TableRow


@immutable
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


@immutable
class Efficiency(TableRow):
    """A row of efficiencies.csv: one published run, and what the calibrated efficiency says of it.

    The fit uses the rows that say so, with the ideal time of arithmetic and of reads. `low` and `high` are predicted in the
    unit of what was measured: by the fit without the run in question, or by the question itself for a run that the fit never sees.
    """

    TABLE = "efficiencies"

    run: str
    use: str
    kind: str
    chips: int
    phase: str
    engine_year: int
    measured: float
    unit: str
    unknown: str
    givens: str
    layers: int | None
    arithmetic_ms: float | None
    memory_ms: float | None
    low: float | None
    high: float | None
    setting: str
    source: str
    source_url: str
    verification: str
    notes: str


@immutable
class FittedEfficiency(TableRow):
    """A row of efficiency_fit.csv: what models of a kind sustain on so many chips, with the ends of its range."""

    TABLE = "efficiency_fit"

    kind: str
    deployment: str
    quantity: str
    low: float
    value: float
    high: float
    unit: str
    runs: int


@immutable
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
    kv_shards: str
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
    tied_embeddings: bool | None
    kv_values_stored_per_token: int
    kv_values_read_per_context_token: int
    fixed_values_per_sequence: int | None
    native_dtype: str
    stored_bytes: tuple[str, ...]
    stored_source: str
    max_context: int | None
    release_date: datetime.date
    release_grade: str
    kv_family: str
    kv_vote: bool
    config_source: str
    verification: str
    experts_source: str
    experts_grade: str
    notes: str


@immutable
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


@immutable
class ShortName(TableRow):
    """A row of short_names.csv: the beginning of a name, and the accelerator or model that it means although others begin so."""

    TABLE = "short_names"

    text: str
    accelerator: str
    model: str


PRESET_RECORDS: Mapping[str, type[TableRow]] = {
    record.TABLE: record for record in (AcceleratorFigure, Efficiency, FittedEfficiency, Architecture, OpenModel, ShortName)
}
"""By the name of the table."""
