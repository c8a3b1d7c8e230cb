"""Rows of the tables of what prices are held against: models and their prices elsewhere, disclosures, devices, claims.

A field is a column of the file, in its order. A number, count or date that may be blank is then None, a text is "".
"""

import datetime
from collections.abc import Mapping
from dataclasses import replace

from derive.immutable import immutable
from derive.shipped_rows import TableRow


@immutable
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


@immutable
class CalibrationModel(TableRow):
    """A row of calibration_models.csv: an architecture, and the sheet of several bands that sells it."""

    TABLE = "calibration_models"

    architecture: str
    sheet: str
    sheet_date: datetime.date | None
    max_context: int | None
    grade: str
    notes: str


@immutable
class Disclosure(TableRow):
    """A row of disclosures.csv: what a vendor said. Without a model or lifetime it speaks of all of them."""

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


@immutable
class ModelRow(TableRow):
    """A row of models.csv: the other names of a priced model and what is known of its size and release, with grades.

    Architecture and parameters are those of the weights that it serves before `weights_until`, where that day is known.
    """

    TABLE = "models"

    provider: str
    model: str
    aliases: tuple[str, ...]
    first_party: bool
    flagship: bool = False
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


@immutable
class FxRate(TableRow):
    """A row of fx.csv: how much of a currency one US dollar bought on a day."""

    TABLE = "fx"

    currency: str
    date: datetime.date
    units_per_usd: float
    source: str
    verification: str
    notes: str


@immutable
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


@immutable
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


@immutable
class DisclosedSize(TableRow):
    """A row of disclosed_sizes.csv: a size that became known of a model that no fit has seen, and its price [USD/Mtoken].

    `closed` says whether nobody else had its weights when it was sold, `bound` which of the sizes is a bound.
    """

    TABLE = "disclosed_sizes"

    model: str
    vendor: str
    date: datetime.date
    input_price: float
    output_price: float
    active_params: float | None
    total_params: float
    closed: bool
    bound: str
    grade: str
    source: str

    def exactly(self, params: str) -> float | None:
        """Return its active or total parameters, or None if they are not known or only a bound is."""
        value: float | None = getattr(self, params)
        return None if self.bound.startswith(params.partition("_")[0]) else value


@immutable
class KnowledgeScore(TableRow):
    """A row of knowledge_scores.csv: the share of a benchmark that a model answered, and the share it refused."""

    TABLE = "knowledge_scores"

    model: str
    benchmark: str
    variant: str
    accuracy: float
    refusals: float | None
    date: datetime.date
    source: str
    grade: str


@immutable
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


@immutable
class NaturalExperiment(TableRow):
    """A row of natural_experiments.csv: a day from which a model sold at a new price, with the weights of the day before."""

    TABLE = "natural_experiments"

    provider: str
    model: str
    date: datetime.date
    change: str
    grade: str
    source: str


@immutable
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


@immutable
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


PRICE_RECORDS: Mapping[str, type[TableRow]] = {
    record.TABLE: record
    for record in (
        *(MemoryTierFigure, CalibrationModel, Disclosure, ModelRow, FxRate, ListPrice, HostPrice),
        *(DisclosedSize, KnowledgeScore, PastPrice, NaturalExperiment, Claim, WorkedProblem),
    )
}
"""By the name of the table."""
