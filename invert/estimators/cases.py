"""One sheet prepared for its estimators: its observables, and the facts that the estimators use."""

from dataclasses import replace
from datetime import date
from itertools import pairwise
from math import log

from derive import presets
from derive.errors import NotCovered, UnknownName, WrongData, WrongValue
from derive.immutable import immutable
from derive.preset_rows import Architecture
from derive.quantities import quantity
from derive.units import show
from invert.anchors import ASSUMED_SIZE, BY_PRICE, anchors_of, with_size
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators.panel import Priced
from invert.estimators.size import ByPrice, Size, size_at_price, size_by_price
from invert.posterior.points import PriceData, price_data_of
from invert.records import OF_ARCHITECTURE, Anchors, KnownCache, Observable, Observables, Tariff
from invert.sheets.models import first_mention
from invert.sheets.observables import longest_context, observables
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import ModelRow
from invert.storage.tariffs import tariffs

_UNVERIFIED = ("models.csv (assumed)", "models.csv (unverified)", "open_models.csv (assumed)")
"""Sources of active_params that are not verified."""


@immutable(eq=False)
class Case:
    """The input of the estimators: ratios, anchors, write tariffs, the storage price (sold, or from two write prices), and price data.

    `no_size` is the reason if its price gives no size.
    `released` is the day of its model, or None if it is unknown. `first_mention` is then the earliest day that a table has
    for it. `kv_family` is the family with the same design of a cache, if that is public."""

    sheet: PriceSheet
    model: ModelRow | None
    seen: Observables
    anchors: Anchors
    tariffs: tuple[Tariff, ...]
    storage_price: Observable | None
    price_data: PriceData
    by_price: ByPrice | None
    no_size: str
    released: date | None
    kv_family: str
    first_mention: date | None = None

    @property
    def max_context(self) -> int | None:
        """Return the longest context [token] of the model, if it is known."""
        return longest_context(self.sheet, self.model)

    @property
    def architecture(self) -> str | None:
        """Return the name of its row of architectures.csv, if it is public."""
        return (self.model.architecture or None) if self.model else None

    @property
    def day(self) -> date:
        """Return the day for its typical KV: its release or, if unknown, the earliest day in the tables, up to the day of the prices."""
        return min(self.released or self.first_mention or self.sheet.as_of, self.sheet.as_of)


def case_of(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> Case:
    """Return a sheet with the facts of a run."""
    model = model and model.known_on(sheet.as_of)
    max_context = longest_context(sheet, model)
    seen = observables(sheet, max_context, assumptions)
    quantity("output_input_ratio").check(seen.output_input_ratio.value)
    contexts = seen.contexts
    if contexts and contexts[0] >= contexts[1]:
        short, long = (show(name, value) for name, value in zip(("short_context", "long_context"), contexts, strict=False))
        raise WrongValue(f"short_context {short} must be below long_context {long}. Give both with --anchor, or a smaller one")
    if any(low >= high for low, high in pairwise(contexts)):
        means = ", ".join(show("long_context", mean) for mean in contexts[1:])
        raise WrongValue(f"long_context puts the means of the long bands at {means}, which must ascend. Give one that is in its band")
    of_price = size_by_price(sheet, model, data, assumptions)
    by_price, no_size = (None, of_price) if isinstance(of_price, str) else (of_price, "")
    row = next((row for row in data.tables.rows_of(Architecture) if model and row.model == model.architecture), None)
    listed = by_price.listed if by_price else None
    anchors, suggested = anchors_of(model, assumptions, _stated_size(row, listed if same_weights(listed, model) else None)), None
    if anchors.origin["active_params"] == ASSUMED_SIZE and by_price:
        suggested = size_at_price(by_price, "active_params", data, assumptions)
    if suggested:
        anchors = with_size(anchors, suggested.median, BY_PRICE)
    tariff = tariffs(sheet.bands[0].input.usd_per_token, seen.cache_write_premiums, assumptions)
    by_tariff = next((one.storage_price for one in tariff if not one.problem), None)
    storage = (by_tariff.low, by_tariff.high) if by_tariff and by_tariff.low > 0 else None
    given = assumptions.kv_bytes_per_token
    kv = (log(given), assumptions.given_kv_spread) if given else None
    price_data = price_data_of(sheet, seen, max_context, assumptions, size_of(anchors, assumptions, suggested), storage, kv)
    if anchors.origin["active_params"] == BY_PRICE:
        # The input price already gave the size of the model, so it is not used twice.
        price_data = replace(price_data, size_by_price=True)
    released = sheet.release_date or (model.release_date if model else None) or (row.release_date if row else None)
    known_by = first_mention(model, data) if model and not released else None
    return Case(
        sheet=sheet,
        model=model,
        seen=seen,
        anchors=anchors,
        tariffs=tariff,
        storage_price=seen.storage_price or by_tariff,
        price_data=price_data,
        by_price=by_price,
        no_size=no_size,
        released=released,
        kv_family=row.kv_family if row else "",
        first_mention=known_by,
    )


def same_weights(listed: Priced | None, model: ModelRow | None) -> bool:
    """Return whether a sheet sells the open model that has its name. It does not if the architecture of that model is known but models.csv
    gives none, because the id now has other weights. The open model is still left out of the fits for the sheet, because the two prices are
    related.
    """
    return listed is not None and (not listed.architecture or (model is not None and listed.architecture == model.architecture))


def _stated_size(row: Architecture | None, listed: Priced | None) -> tuple[float, str] | None:
    """Return the active parameters of public weights, and the table that has them, with its grade if there is one."""
    if row and row.active_params:
        return row.active_params, OF_ARCHITECTURE
    return (listed.active_params, f"open_models.csv ({listed.params_grade})") if listed else None


def size_of(anchors: Anchors, assumptions: Assumptions, suggested: Size | None = None) -> tuple[float, float]:
    """Return ln active_params and its spread [nat], by the source of the number."""
    origin = anchors.origin["active_params"]
    if origin == BY_PRICE and suggested:
        spread = suggested.spread
    elif origin == ASSUMED_SIZE:
        spread = assumptions.assumed_size_spread
    else:
        spread = assumptions.unverified_size_spread if origin in _UNVERIFIED else assumptions.known_size_spread
    return log(anchors.values["active_params"]), spread


def known_cache(model: ModelRow | None, data: Data, assumptions: Assumptions = USUAL) -> KnownCache | None:
    """Return the KV bytes of a model of public architecture, stored and read, by the equations of its attention at `bytes_per_kv_value`."""
    if model is None or not model.architecture:
        return None
    try:
        stored, read = presets.kv_bytes(presets.architecture(model.architecture, data.tables), assumptions.bytes_per_kv_value)
    except NotCovered:
        return None
    except UnknownName as error:
        raise WrongData(f"models.csv {model.provider}/{model.model}: {error}") from None
    return KnownCache(architecture=model.architecture, grade=model.architecture_grade, stored=stored, read=read)
