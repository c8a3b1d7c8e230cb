"""A price sheet as numbers: log cells of prices, the ends of their bands, and prior knowledge of the model's size."""

from collections.abc import Hashable, Mapping
from math import log
from typing import TypeAlias

from derive.immutable import immutable
from invert.assumptions import Assumptions
from invert.records import Observables
from invert.sheets.contexts import band_edges
from invert.sheets.observables import ratio, rounding_cell
from invert.sheets.sheet import PriceSheet

Pair: TypeAlias = tuple[float, float]
"""Low and high end, or centre and spread."""
_DIGITS = 12
"""Digits to which logs of ratios must agree: equal ratios of other amounts have other last digits."""


@immutable
class PriceData:
    """Rounding cells (in logs) of the prices of a sheet, the ends of its bands, and the known size of its model.

    cells: by observable, low and high ends in logs. Both premiums have a cell for each band above the base,
    and are missing without such a band. Any other price has one cell.
    edges: thresholds and the top of the last band in tokens. For one band, a nominal threshold and the top.
    log_active_params: natural log and spread in nats. log_kv_bytes: the same for KV bytes, if they are known.
    size_by_price: the known size comes from the input price, which is then not used again.
    """

    cells: Mapping[str, tuple[Pair, ...]]
    edges: tuple[float, ...]
    log_active_params: Pair
    log_kv_bytes: Pair | None = None
    size_by_price: bool = False

    @property
    def level_tells(self) -> bool:
        """Return whether the input price still carries information."""
        return "input_price" in self.cells and not self.size_by_price

    @property
    def key(self) -> Hashable:
        """Return a key that is equal for sheets with the same prices to the last digit."""
        return self.size_by_price, self.edges, tuple(self.cells.items()), self.log_active_params, self.log_kv_bytes

    @property
    def key_of_weights(self) -> Hashable:
        """Return a key that is equal for sheets with the same weights of draws.

        Price and size may differ if neither the input price nor known KV bytes inform the size.
        """
        if self.level_tells or self.log_kv_bytes:
            return self.key
        ratios = ((name, cells) for name, cells in self.cells.items() if name != "input_price")
        rounded = ((name, *(round(end, _DIGITS) for cell in cells for end in cell)) for name, cells in ratios)
        return self.size_by_price, self.edges, tuple(rounded)


def price_data_of(
    sheet: PriceSheet, seen: Observables, max_context: int | None, assumptions: Assumptions, size: Pair,
    storage_cell: Pair | None = None, kv_bytes: Pair | None = None,
) -> PriceData:  # fmt: skip
    """Return a sheet as price data: prices above the base band as ratios to it, and other prices as ratios to the input price.

    `size` and `kv_bytes` are natural logs of active_params and of known KV bytes, with their spreads. `storage_cell` [USD/token/s] is a
    storage price that follows from write prices, if storage is not sold alone. A sheet with one band has no threshold: its mean context is
    drawn below a nominal threshold, a share of its longest context.
    """
    base, above = sheet.bands[0], sheet.bands[1:]
    scale = base.input.usd_per_token / base.input.amount
    low, high = rounding_cell(base.input.amount, assumptions)
    ends: dict[str, list[Pair]] = {
        "input_price": [(scale * low, scale * high)],
        "output_input_ratio": [(seen.output_input_ratio.low, seen.output_input_ratio.high)],
    }
    if above:
        ends["premium_in"] = [rounding_cell(ratio(band.input, base.input), assumptions) for band in above]
        ends["premium_out"] = [rounding_cell(ratio(band.output, base.output), assumptions) for band in above]
    if seen.cache_read_ratio:
        ends["cache_read_ratio"] = [(seen.cache_read_ratio.low, seen.cache_read_ratio.high)]
    storage = (seen.storage_price.low, seen.storage_price.high) if seen.storage_price else storage_cell
    if storage:
        ends["storage_ratio"] = [(storage[0] / base.input.usd_per_token, storage[1] / base.input.usd_per_token)]
    top = float(max_context or assumptions.nominal_context)
    return PriceData(
        cells={name: tuple((log(low), log(high)) for low, high in cells) for name, cells in ends.items()},
        edges=band_edges(sheet.bands, max_context, assumptions) or (assumptions.nominal_threshold_share * top, top),
        log_active_params=size,
        log_kv_bytes=kv_bytes,
    )
