"""The fast and the standard sheet of a model: batches and a slow mode that follow from their prices and speeds."""

from collections.abc import Mapping

from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS
from invert.data import Data
from invert.records import FastMode
from invert.sheets.rows import SheetKey
from invert.sheets.tables import Disclosure
from invert.steps import solve_steps

_FAST = "fast"
"""The service tier of a fast mode."""
_SPEED = "fast_speed_ratio"


def pair_fast_mode(standard: SheetKey, output_input_ratio: float, asked: Mapping[SheetKey, float], data: Data) -> FastMode | None:
    """Return the fast mode of a standard sheet, or None if no fast sheet has a higher price.

    `asked` are the input prices [USD/token] of all sheets of the day. The vendor states the speed ratio.
    """
    provider, model, region, tier = standard
    base, fast = asked.get(standard), asked.get((provider, model, region, _FAST))
    if tier != "standard" or not base or not fast or fast <= base:
        return None
    # A converted price is a product of rounded numbers.
    price_ratio = float(f"{fast / base:.12g}")
    rows = (row for row in data.tables.rows_of(Disclosure) if (row.provider, row.model, row.quantity) == (provider, model, _SPEED))
    stated = next(rows, None)
    if stated is None or stated.value is None:
        return FastMode(price_ratio=price_ratio)
    speed_ratio = stated.value
    return FastMode(
        price_ratio=price_ratio,
        speed_ratio=speed_ratio,
        speed_source=stated.source_url,
        batch_ratio=solve_steps(
            [("batching.fast_batch_ratio", "fast_batch_ratio")], {"fast_price_ratio": price_ratio, _SPEED: speed_ratio}
        ).value,
        slow_mode_floor=slow_mode_floor(output_input_ratio, speed_ratio),
    )


def slow_mode_floor(output_input_ratio: float, fast_speed_ratio: float) -> float:
    """Return the lowest possible cost of a slow mode over the standard price: max(1, R - 1/sigma)/R.

    R, output over input price, is the cost of a token over its compute cost. The standard mode has sigma balance batches. In a slow mode
    any number of sequences share the weight reads, and only arithmetic and KV reads remain.

    >>> round(slow_mode_floor(5.0, 2.5), 12), slow_mode_floor(1.0, 2.5)
    (0.92, 1.0)
    """
    if output_input_ratio <= 1:
        return 1.0
    # At sigma balance batches the time for the weights is 1/sigma of the time for the arithmetic.
    # Without drafts and overhead the compute time has no effect.
    given = {"compute_time": 1.0, "weight_compute_ratio": 1 / fast_speed_ratio}
    found = solve_steps([("serving.normalised_cost", "kv_compute_ratio")], {"normalised_cost": output_input_ratio, **given})
    values = {**NEUTRAL_DEFAULTS, **given, "weight_compute_ratio": 0.0, "kv_compute_ratio": found.value}
    return float(equation("serving.normalised_cost").right_side(values)) / output_input_ratio
