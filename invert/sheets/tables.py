"""Rows of the tables beside prices: models, exchange rates, prices of open models, disclosures. Each record has its rules."""

import datetime
from collections.abc import Iterator
from dataclasses import replace

from derive.errors import shorten, suggest
from derive.immutable import immutable
from derive.tables.rows import Fault, TableRow, misplaced, more_active, partly_filled, unit_faults

DISCLOSED = {
    "cache_tier": {"storage_tier": ""},
    "fast_mode": {"fast_speed_ratio": "1", "fast_price_ratio": "1"},
    "production": {
        **dict.fromkeys(("input_tokens_per_day", "cached_input_tokens_per_day", "output_tokens_per_day"), "token/day"),
        **dict.fromkeys(("prefill_throughput_per_node", "decode_throughput_per_node"), "token/s"),
        **dict.fromkeys(("nodes", "peak_nodes", "chips_per_node", "cache_hit_share"), "1"),
        **dict.fromkeys(("input_price", "cache_read_price", "output_price"), "USD/mtok"),
        **{"context_length": "token", "chip_price": "USD/h"},
    },
}
"""The quantities that vendors disclose, by topic, with their units. A tier has no unit."""


@immutable
class ModelRow(TableRow):
    """A row of models.csv: the other names of a priced model and its known size and release, with grades.

    Architecture and parameters describe the weights that it serves before `weights_until`, if that day is known.
    """

    TABLE = "models"

    provider: str
    model: str
    aliases: tuple[str, ...] = ()
    first_party: bool
    flagship: bool = False
    architecture: str
    architecture_grade: str
    max_context: int | None = None
    active_params: float | None = None
    active_params_grade: str = ""
    total_params: float | None = None
    weights_until: datetime.date | None = None
    release_date: datetime.date | None = None
    release_grade: str = ""

    def faults(self) -> Iterator[Fault]:
        for known in ("architecture", "active_params"):
            yield from partly_filled(self, known, f"{known}_grade")
        yield from partly_filled(self, "release_date", "release_grade")
        yield from more_active(self.active_params, self.total_params)
        if self.weights_until is not None:
            if not self.architecture and self.active_params is None:
                yield "weights_until", "ends the known weights, but architecture and size are unknown"
            elif self.release_date is not None and self.weights_until <= self.release_date:
                yield "weights_until", f"is not after the release, on {self.release_date}"

    def known_on(self, day: datetime.date) -> "ModelRow":
        """Return the known facts of the model on a day, without its weights from the day on which it serves others."""
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

    def faults(self) -> Iterator[Fault]:
        if not 1e-9 < self.units_per_usd < 1e9:
            yield "units_per_usd", f"{self.units_per_usd:g} is not a rate of exchange"


@immutable
class Disclosure(TableRow):
    """A row of disclosures.csv: a statement of a vendor. Without a model or lifetime it applies to all of them."""

    TABLE = "disclosures"

    provider: str
    model: str
    ttl_seconds: int | None
    topic: str
    quantity: str
    value: float | None
    unit: str
    disclosed_tier: str
    date: datetime.date | None
    date_kind: str
    source_url: str

    def faults(self) -> Iterator[Fault]:
        known = DISCLOSED[self.topic]
        if self.quantity not in known:
            yield "quantity", f"{shorten(self.quantity)} is not a quantity of {self.topic}{suggest(self.quantity, known)}"
            return
        unit = known[self.quantity]
        if self.unit != unit:
            yield "unit", f"{self.quantity} is in {unit or 'no unit'}, not {shorten(self.unit)}"
        elif (self.value is not None) != bool(unit):
            yield "value", "is blank" if unit else f"{self.quantity} is a tier, not a number"
        elif unit:
            yield from unit_faults(self.quantity, self.unit, value=self.value)
        yield from partly_filled(self, "date", "date_kind")
        yield from misplaced(self, "disclosed_tier", self.quantity == "storage_tier", self.quantity)


@immutable
class CalibrationModel(TableRow):
    """A row of calibration_models.csv: an architecture, and the sheet of several bands that sells it."""

    TABLE = "calibration_models"

    architecture: str
    sheet: str
    sheet_date: datetime.date | None
    max_context: int | None


@immutable
class ListPrice(TableRow):
    """A row of list_prices.csv: the maker's price of an open model near release [USD/Mtoken]."""

    TABLE = "list_prices"

    model: str
    date: datetime.date
    input_price: float
    output_price: float
    cache_read_price: float | None


@immutable
class HostPrice(TableRow):
    """A row of host_prices.csv: a host's price of an open model [USD/Mtoken]."""

    TABLE = "host_prices"

    model: str
    host_kind: str
    era: str
    date: datetime.date
    input_price: float
    output_price: float
    cache_read_price: float | None
    batch_input_price: float | None
    domestic: bool
    size_bucket: bool
    price_id: str


@immutable
class DisclosedSize(TableRow):
    """A row of disclosed_sizes.csv: a published size of a model that no fit has seen, and its price [USD/Mtoken].

    `closed`: only the vendor had the weights when the model was sold. `bound`: the size that is a bound.
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

    def faults(self) -> Iterator[Fault]:
        yield from more_active(self.active_params, self.total_params)

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


@immutable
class NaturalExperiment(TableRow):
    """A row of natural_experiments.csv: a day from which a model sold at a new price, with the weights of the day before."""

    TABLE = "natural_experiments"

    provider: str
    model: str
    date: datetime.date
