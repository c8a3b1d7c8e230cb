"""Price sheets as arrays: log cells of prices, the ends of their bands, and prior knowledge of the model's size."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from derive.immutable import immutable
from invert.arrays import Array
from invert.assumptions import Assumptions
from invert.records import Observables
from invert.sheets.contexts import band_edges
from invert.sheets.observables import ratio, rounding_cell
from invert.sheets.sheet import PriceSheet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Pair: TypeAlias = tuple[Array, Array]
"""Low and high ends, or centres and spreads."""
_DIGITS = 12
"""Digits to which logs of ratios must agree: equal ratios of other amounts have other last digits."""


@immutable
class PriceData:
    """Sheets of one shape: the log cells of their prices, the ends of their bands, and the known size of their models.

    cells: by observable, low and high ends in logs [sheets], and for premiums [sheets, bands above the base].
    edges: thresholds and the top of the last band [sheets, bands] in tokens. For one band, a nominal threshold and the top.
    log_active_params: natural log and spread in nats [sheets]. log_kv_bytes: the same for KV bytes, if they are known.
    size_by_price: the known size comes from the input price, which is then not used again.
    """

    cells: Mapping[str, Pair]
    edges: Array
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
        return self._hashable_key(
            {**self.cells, "size": self.log_active_params, **({"kv": self.log_kv_bytes} if self.log_kv_bytes else {})}
        )

    @property
    def key_of_weights(self) -> Hashable:
        """Return a key that is equal for sheets with the same weights of draws.

        Price and size may differ if neither the input price nor known KV bytes inform the size.
        """
        if self.level_tells or self.log_kv_bytes:
            return self.key
        ratios = {name: ends for name, ends in self.cells.items() if name != "input_price"}
        return self._hashable_key({name: (low.round(_DIGITS), high.round(_DIGITS)) for name, (low, high) in ratios.items()})

    def _hashable_key(self, pairs: Mapping[str, Pair]) -> Hashable:
        said = tuple((name, np.asarray(low).tobytes(), np.asarray(high).tobytes()) for name, (low, high) in pairs.items())
        return self.size_by_price, self.edges.shape, self.edges.tobytes(), said

    def __len__(self) -> int:
        return len(self.edges)

    def rows(self, index: slice) -> "PriceData":
        """Return some of the sheets."""

        def part(ends: Pair) -> Pair:
            return ends[0][index], ends[1][index]

        return replace(
            self,
            cells={name: part(ends) for name, ends in self.cells.items()},
            edges=self.edges[index],
            log_active_params=part(self.log_active_params),
            log_kv_bytes=part(self.log_kv_bytes) if self.log_kv_bytes else None,
        )


def column(end: Array) -> Array:
    """Return the cell of the first band above the base for a premium, and any other cell unchanged."""
    return end[:, 0] if end.ndim == 2 else end


def price_data_of(
    sheet: PriceSheet, seen: Observables, max_context: int | None, assumptions: Assumptions, size: tuple[float, float],
    storage_cell: tuple[float, float] | None = None, kv_bytes: tuple[float, float] | None = None,
) -> PriceData:  # fmt: skip
    """Return one sheet as price data: prices above the base band as ratios to it, and other prices as ratios to the input price.

    `size` and `kv_bytes` are natural logs of active_params and of known KV bytes, with their spreads. `storage_cell`
    [USD/token/s] replaces a storage price that is not sold as such but follows from write prices. A sheet with one band has
    no threshold: its mean context is drawn below a nominal threshold, a share of its longest context.
    """
    base = sheet.bands[0]
    scale = base.input.usd_per_token / base.input.amount
    ends: dict[str, Iterable[ArrayLike]] = {
        "input_price": [scale * end for end in rounding_cell(base.input.amount, assumptions)],
        "output_input_ratio": (seen.output_input_ratio.low, seen.output_input_ratio.high),
    }
    above = sheet.bands[1:]
    if above:
        ends["premium_in"] = np.transpose([rounding_cell(ratio(band.input, base.input), assumptions) for band in above])
        ends["premium_out"] = np.transpose([rounding_cell(ratio(band.output, base.output), assumptions) for band in above])
    if seen.cache_read_ratio:
        ends["cache_read_ratio"] = (seen.cache_read_ratio.low, seen.cache_read_ratio.high)
    storage = (seen.storage_price.low, seen.storage_price.high) if seen.storage_price else storage_cell
    if storage:
        ends["storage_ratio"] = [end / base.input.usd_per_token for end in storage]
    cells = {name: (np.log(low)[None], np.log(high)[None]) for name, pair in ends.items() for low, high in [map(np.asarray, pair)]}
    edges = np.array([_edges(sheet, max_context, assumptions)])
    return PriceData(
        cells=cells, edges=edges, log_active_params=_arrays_of_pair(size), log_kv_bytes=_arrays_of_pair(kv_bytes) if kv_bytes else None
    )


def _arrays_of_pair(pair: tuple[float, float]) -> Pair:
    return np.array([pair[0]]), np.array([pair[1]])


def _edges(sheet: PriceSheet, max_context: int | None, assumptions: Assumptions) -> tuple[float, ...]:
    """Return the edges of the bands [token]. A sheet with one band has its longest context, or a nominal one, as the top edge."""
    top = float(max_context or assumptions.nominal_context)
    return band_edges(sheet.bands, max_context, assumptions) or (assumptions.nominal_threshold_share * top, top)


def by_shape(sheets: Sequence[PriceData]) -> Iterator[tuple[list[int], PriceData]]:
    """Yield sheets of one shape stacked into one, with their places."""
    groups: dict[tuple[tuple[str, ...], int, bool, bool], list[int]] = {}
    for place, one in enumerate(sheets):
        groups.setdefault((tuple(sorted(one.cells)), one.edges.shape[1], one.log_kv_bytes is None, one.size_by_price), []).append(place)

    def stacked(pairs: Iterable[Pair]) -> Pair:
        low, high = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
        return low, high

    for places in groups.values():
        members = [sheets[place] for place in places]
        first = members[0]
        yield (
            places,
            PriceData(
                cells={name: stacked([one.cells[name] for one in members]) for name in first.cells},
                edges=np.concatenate([one.edges for one in members]),
                log_active_params=stacked([one.log_active_params for one in members]),
                log_kv_bytes=None if first.log_kv_bytes is None else stacked([one.log_kv_bytes for one in members if one.log_kv_bytes]),
                size_by_price=first.size_by_price,
            ),
        )
