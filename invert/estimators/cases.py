"""One sheet prepared for its estimators: its observables, and the facts from outside, each with its source.

The facts are anchors from the user, the size and cache of its model, and the costs of a rented chip.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from itertools import pairwise
from math import inf, log
from numbers import Real

from derive import presets
from derive.catalogue import equation
from derive.errors import NotCovered, UnknownName, WrongValue, shorten
from derive.immutable import immutable
from derive.preset_rows import Architecture
from derive.presets import hardware
from derive.quantities import NAME_OF_SYMBOL, NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.tables.lines import BadRow, Problem
from derive.tables.shipped import Tables, in_si
from derive.units import parse, show
from invert.assumptions import ANCHORS, ASSUMED, RIDGE_POINT, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators.panel import Priced
from invert.estimators.size import ByPrice, size_at_price, size_by_price
from invert.posterior.points import PriceData, price_data_of
from invert.records import OF_ARCHITECTURE, Anchors, KnownCache, Observable, Observables, Tariff
from invert.sheets.models import context_below, first_shipped_days
from invert.sheets.observables import band_edges, longest_context, observables
from invert.sheets.read import last_day
from invert.sheets.rows import Disclosure, ModelRow
from invert.sheets.sheet import PriceSheet
from invert.storage.tariffs import tariffs


def given_anchors(anchors: Mapping[str, float | str], assumptions: Assumptions = USUAL) -> dict[str, float]:
    """Convert anchors as typed to SI. Only anchors that a reading uses are allowed."""
    read = {}
    for name, value in anchors.items():
        if name not in QUANTITIES and name not in NAME_OF_SYMBOL:
            raise UnknownName("anchor", name, ANCHORS)  # the nearest name is one that may be given
        row = quantity(name)
        if row.name in ASSUMED:
            held = show(row.name, assumptions.held[row.name])
            raise WrongValue(f"{row.name} cannot be given: it is held at {held} in every reading and estimate")
        if row.name not in ANCHORS:
            raise UnknownName("anchor", name, ANCHORS)
        if not isinstance(value, str | Real):
            raise WrongValue(f"anchor {row.name} = {shorten(str(value))}: one number, or a text with its unit")
        read[row.name] = parse(row.name, value) if isinstance(value, str) else row.check(float(value))
    return read


def assumptions_of(given: Mapping[str, float], assumptions: Assumptions = USUAL) -> Assumptions:
    """Return the assumptions of a run with these outside facts [SI] in place of its own."""
    return assumptions.with_fields({**given, "given": tuple(dict.fromkeys([*assumptions.given, *given]))})


def common_anchors(assumptions: Assumptions) -> Anchors:
    """Return the anchors that all sheets of a run share. They include active_params only if it was given."""
    values = {**assumptions.facts, "ridge_point": assumptions.ridge_point}
    origin = {name: "given" if name in assumptions.given else "assumed" if name in ASSUMED else "default" for name in values}
    return Anchors(values, {**origin, "ridge_point": RIDGE_POINT})


BY_PRICE, ASSUMED_SIZE = "input price", "assumed"
UNKNOWN = (BY_PRICE, ASSUMED_SIZE)
"""Sources of active_params that no table states: the input price, or else the lecture's assumption."""


def anchors_of(model: ModelRow | None, row: Architecture | None, listed: Priced | None, assumptions: Assumptions) -> Anchors:
    """Return the anchors of one sheet. If active_params is not given, use the parameters of its model or of public weights, else assumed
    ones.
    """
    common = common_anchors(assumptions)
    if "active_params" in common.values:
        return common
    if model and model.active_params:
        return with_size(common, model.active_params, f"models.csv ({model.active_params_grade})")
    if row and row.active_params:
        return with_size(common, row.active_params, OF_ARCHITECTURE)
    if listed and same_weights(listed, model):
        return with_size(common, listed.active_params, f"open_models.csv ({listed.params_grade})")
    return with_size(common, assumptions.assumed_active_params, ASSUMED_SIZE)


def with_size(anchors: Anchors, active_params: float, origin: str) -> Anchors:
    """Return the anchors with the active parameters from a table or a price."""
    return Anchors({**anchors.values, "active_params": active_params}, {**anchors.origin, "active_params": origin})


def lecture_anchors(anchors: Anchors, assumptions: Assumptions) -> dict[str, float]:
    """Return the anchors of the lecture's reading. A model of unstated size gets the size that the lecture assumes."""
    size = assumptions.assumed_active_params if anchors.origin["active_params"] in UNKNOWN else anchors.values["active_params"]
    return {**anchors.values, "active_params": size}


@cache_with_data
def rental(data: Data, assumptions: Assumptions = USUAL) -> Anchors:
    """Return the cost of a byte read from HBM [USD/byte] and of a FLOP [USD] on a rented chip at its data-sheet peaks, with the source.

    It uses the assumptions of increments at cost: price/cost 1, and the facts of the run about prompts. The rent is the lease that
    DeepSeek assumed for its own service. Raise `UnknownName` for a `rent_chip` that is not in hardware.csv.

    >>> from invert.data import read_data
    >>> values = rental(read_data()).values
    >>> f"{values['price_per_hbm_byte']:.3g} {values['price_per_flop']:.3g}"
    '1.66e-16 5.62e-19'
    """
    tables, chip = data.tables, assumptions.rent_chip
    try:
        preset = hardware(chip, tables)
    except (UnknownName, NotCovered) as error:
        if chip != USUAL.rent_chip:
            raise
        # The user did not type the name of the usual chip: if it is missing, the table is wrong.
        raise BadRow(Problem(origin="hardware.csv", message=str(error))) from None
    price, stated = production_figure(tables, "chip_price")
    rent, said = in_si("chip_price", price, stated.unit), f"disclosures.csv {stated.provider}: {stated.source_url}"
    at_cost = {"increment_price_cost_ratio": 1.0} | {
        name: assumptions.facts[name] for name in ("prompt_position", "prefill_decode_flops_ratio")
    }
    values = {name: float(value) for name, value in NEUTRAL_DEFAULTS.items()} | at_cost | preset.givens | {"chip_price": rent}
    origin = dict.fromkeys(values, "default") | dict(preset.provenance) | {"chip_price": said}
    for name, id in (("price_per_hbm_byte", "serving.price_per_hbm_byte"), ("price_per_flop", "serving.price_per_flop")):
        values[name], origin[name] = equation(id).right_side(values), id
    return Anchors(values, origin)


def production_figure(tables: Tables, quantity: str) -> tuple[float, Disclosure]:
    """Return a number that a provider states for its own production [unit of the row], and its row."""
    for row in tables.rows_of(Disclosure):
        if (row.topic, row.quantity) == ("production", quantity) and row.value is not None:
            return row.value, row
    raise BadRow(Problem(origin="disclosures.csv", message=f"no {quantity} of a production"))


_UNVERIFIED = ("models.csv (assumed)", "models.csv (unverified)", "open_models.csv (assumed)")
"""Sources of active_params that are not verified."""


@immutable(eq=False)
class Case:
    """The input of the estimators: ratios, anchors, write tariffs, the storage price (sold, or from two write prices), and price data.

    `size_price` is the price that gives its size, and `no_size` the reason if there is no such price.
    `released` is the day of its model, or None if it is unknown. `first_mention` is then the earliest day that a table has
    for it. `kv_family` is the family with the same design of a cache, if that is public."""

    sheet: PriceSheet
    model: ModelRow | None
    observables: Observables
    anchors: Anchors
    tariffs: tuple[Tariff, ...]
    storage_price: Observable | None
    price_data: PriceData
    size_price: ByPrice | None
    no_size: str
    released: date | None
    kv_family: str
    assumptions: Assumptions
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
    _refuse_contexts(sheet, seen, model, data, assumptions)
    of_price = size_by_price(sheet, model, data, assumptions)
    by_price, no_size = (None, of_price) if isinstance(of_price, str) else (of_price, "")
    row = next((row for row in data.tables.rows_of(Architecture) if model and row.model == model.architecture), None)
    anchors, suggested = anchors_of(model, row, by_price.listed if by_price else None, assumptions), None
    if anchors.origin["active_params"] == ASSUMED_SIZE and by_price:
        suggested = size_at_price(by_price, "active_params", data, assumptions)
        anchors = with_size(anchors, suggested.median, BY_PRICE)
    tariff = tariffs(sheet.bands[0].input.usd_per_token, seen.cache_write_premiums, assumptions)
    by_tariff = next((one.storage_price for one in tariff if not one.problem), None)
    storage = (by_tariff.low, by_tariff.high) if by_tariff and by_tariff.low > 0 else None
    given = assumptions.kv_bytes_per_token
    kv = (log(given), assumptions.given_kv_spread) if given else None
    by_origin = {ASSUMED_SIZE: assumptions.assumed_size_spread, **dict.fromkeys(_UNVERIFIED, assumptions.unverified_size_spread)}
    spread = suggested.spread if suggested else by_origin.get(anchors.origin["active_params"], assumptions.known_size_spread)
    size = log(anchors.values["active_params"]), spread
    price_data = price_data_of(sheet, seen, max_context, assumptions, size, storage, kv)
    # The input price that gave the size of the model is not used twice.
    price_data = replace(price_data, size_by_price=suggested is not None)
    released = sheet.release_date or (model.release_date if model else None) or (row.release_date if row else None)
    # A model is not sold before its release.
    starts = (row.effective_date for row in sheet.rows if row.date_kind == "start")
    named = first_shipped_days(data).get((model.provider, model.model)) if model else None
    known_by = None if released else min((day for day in (named, *starts) if day), default=None)
    return Case(
        sheet=sheet,
        model=model,
        observables=seen,
        anchors=anchors,
        tariffs=tariff,
        storage_price=seen.storage_price or by_tariff,
        price_data=price_data,
        size_price=by_price,
        no_size=no_size,
        released=released,
        kv_family=row.kv_family if row else "",
        assumptions=assumptions,
        first_mention=known_by,
    )


def _refuse_contexts(sheet: PriceSheet, seen: Observables, model: ModelRow | None, data: Data, assumptions: Assumptions) -> None:
    """Raise if models.csv gives a context below the last band, or if a mean context is outside its band."""
    last, max_context = sheet.bands[-1].threshold_tokens, longest_context(sheet, model)
    if model and not sheet.max_context and sheet.as_of >= last_day(data) and (fault := context_below(model, last)):
        row = sheet.bands[-1].input
        above = f"{last:,} tokens is above {model.max_context:,}, the longest context in models.csv row {model.place}"
        raise BadRow(fault if row.ships else row.problem("threshold_tokens", above))
    edges = (0.0, *band_edges(sheet.bands, max_context, assumptions))
    for name, mean, (low, high) in zip(("short_context", "long_context"), seen.contexts, pairwise(edges), strict=False):
        # Without a longest context the end of the last band is not known.
        known = high if high <= last or (max_context or 0) > last else inf
        if not low < mean < known:
            end = f" and below {show(name, known)}" if known < inf else ""
            raise WrongValue(f"{name} {show(name, mean)} is outside its band: it must be above {show(name, low)}{end}")


def same_weights(listed: Priced, model: ModelRow | None) -> bool:
    """Return whether a sheet sells the open model that has its name. It does not if the architecture of that model is known but models.csv
    gives none, because the id now has other weights. The open model is still left out of the fits for the sheet, because the two prices are
    related.
    """
    return not listed.architecture or (model is not None and listed.architecture == model.architecture)


def known_cache(model: ModelRow | None, data: Data, assumptions: Assumptions = USUAL) -> KnownCache | None:
    """Return the KV bytes of a model of public architecture, stored and read, by the equations of its attention at `bytes_per_kv_value`."""
    if model is None or not model.architecture:
        return None
    try:
        stored, read = presets.kv_bytes(presets.architecture(model.architecture, data.tables), assumptions.bytes_per_kv_value)
    except NotCovered:
        return None
    return KnownCache(architecture=model.architecture, grade=model.architecture_grade, stored=stored, read=read)
