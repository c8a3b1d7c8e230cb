"""The cost of a byte of HBM and of a FLOP on a rented chip: the only prices in dollars that do not come from a price sheet."""

from derive.catalogue import equation
from derive.errors import BacksolveError, WrongData, shorten, suggest
from derive.preset_record import Preset
from derive.presets import hardware, hardware_names
from derive.quantities import NEUTRAL_DEFAULTS
from derive.tables.problems import BadRow, Problem
from derive.tables.rows import in_si
from derive.tables.shipped import Tables
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.records import Anchors
from invert.sheets.tables import Disclosure


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
    for quantity, id in (("price_per_hbm_byte", "serving.price_per_hbm_byte"), ("price_per_flop", "serving.price_per_flop")):
        values[quantity], origin[quantity] = equation(id).right_side(values), id
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
