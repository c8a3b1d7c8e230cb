"""Facts from outside the price sheet, with the source of each: anchors from the user, and the costs of a rented chip."""

from collections.abc import Mapping
from numbers import Real

from derive.catalogue import equation
from derive.errors import BacksolveError, UnknownName, WrongData, WrongValue, shorten, suggest
from derive.preset_record import Preset
from derive.presets import hardware, hardware_names
from derive.quantities import NAME_OF_SYMBOL, NEUTRAL_DEFAULTS, QUANTITIES, quantity
from derive.tables.problems import BadRow, Problem
from derive.tables.rows import in_si
from derive.tables.shipped import Tables
from derive.units import parse, show
from invert.assumptions import ANCHORS, ASSUMED, RIDGE_POINT, USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.records import Anchors
from invert.sheets.tables import Disclosure, ModelRow


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


def anchors_of(model: ModelRow | None, assumptions: Assumptions, stated: tuple[float, str] | None = None) -> Anchors:
    """Return the anchors of one sheet. If active_params is not given, use the parameters of its model, else assumed ones."""
    common = common_anchors(assumptions)
    if "active_params" in common.values:
        return common
    if model is not None and model.active_params:
        value, origin = model.active_params, f"models.csv ({model.active_params_grade})"
    elif stated:
        value, origin = stated
    else:
        value, origin = assumptions.assumed_active_params, ASSUMED_SIZE
    return with_size(common, value, origin)


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
    preset = hardware(chip, tables) if chip != USUAL.rent_chip else _usual_chip(tables)
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


def _usual_chip(tables: Tables) -> Preset:
    """Return the usual chip of hardware.csv. The user did not type its name: if it is missing, the table is wrong."""
    try:
        return hardware(USUAL.rent_chip, tables)
    except WrongData:
        raise
    except BacksolveError:
        name, _, dtype = USUAL.rent_chip.partition(":")
        names = hardware_names(tables)
        column = "dtype" if name in names else "accelerator"
        lacks = f"{shorten(name)} has no peak_flops in {dtype}" if name in names else f"there is no {shorten(name)}{suggest(name, names)}"
        raise BadRow(Problem(origin="hardware.csv", column=column, message=lacks)) from None


def production_figure(tables: Tables, quantity: str) -> tuple[float, Disclosure]:
    """Return a number that a provider states for its own production [unit of the row], and its row."""
    for row in tables.rows_of(Disclosure):
        if (row.topic, row.quantity) == ("production", quantity) and row.value is not None:
            return row.value, row
    raise BadRow(Problem(origin="disclosures.csv", message=f"no {quantity} of a production"))
