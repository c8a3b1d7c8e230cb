"""A price sheet as numbers, and the hidden quantities and nuisances at draws.

The hidden quantities are given, or come from un-rounded ratios by the exact inverse.
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache
from math import hypot, log
from typing import TypeAlias

import numpy as np

from derive.catalogue import equation
from derive.immutable import immutable
from invert.arrays import Array, Values
from invert.assumptions import NUISANCES, STRUCTURE, Assumptions
from invert.posterior import inverse
from invert.posterior.draws import normals, uniforms
from invert.posterior.inverse import PER_PARAMETER, Costs
from invert.records import Observables
from invert.sheets.observables import band_edges, mean_contexts, ratio, rounding_cell
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


RATIOS = ("output_input_ratio", "premium_in", "premium_out")
WIDER = {"short_context": 1.75, "long_context": 1.1}
"""Factors that widen the priors of nuisances for the draws, for posteriors in the tail of the prior."""

LATENT, NOISY, SIZE = len(NUISANCES), len(NUISANCES) + len(RATIOS), len(NUISANCES) + 2 * len(RATIOS)
"""The coordinates of the draws: nuisances, positions in the rounding cells, noise, and the size of the model."""


@immutable
class Points:
    """Hidden quantities and nuisances at draws, per active parameter, and derived quantities [draws].

    `drawn` are the standard normals of the nuisances, `logs` the logs of the three structural quantities.
    """

    drawn: Mapping[str, Array]
    at: Mapping[str, Values]
    costs: Costs
    logs: Mapping[str, Array]


def wider(assumptions: Assumptions) -> dict[str, float]:
    """Return the nuisances that are drawn wider than their priors, with the factor. A nuisance with a fixed value is left out."""
    return {name: factor for name, factor in WIDER.items() if assumptions.priors[name].spread}


def triangular_points(price_data: PriceData, assumptions: Assumptions, count: int, seed: int) -> Points:
    """Return the nuisances and un-rounded ratios at `count` draws, and the hidden quantities that they determine."""
    normal, uniform = normals(count, seed), uniforms(count, seed)
    drawn, usual = _drawn_nuisances(assumptions, count, seed)
    ratios, spare = {}, {}
    for place, name in enumerate(RATIOS):
        noise = spare[name] = normal[:, NOISY + place]
        if name in price_data.cells:
            low, high = price_data.cells[name][0]
            ratios[name] = np.exp(low + (high - low) * uniform[:, LATENT + place] + assumptions.noise[name] * noise)
    return inverted(ratios, _with_contexts(usual, drawn, price_data, assumptions), spare, drawn, price_data, assumptions)


# All sheets have the same draws of what is not a fact of the sheet.
@lru_cache(4)
def _drawn_nuisances(assumptions: Assumptions, count: int, seed: int) -> tuple[Mapping[str, Array], Mapping[str, Values]]:
    """Return the standard normals of the nuisances, some wider than their priors, and their values before contexts are known."""
    factors = wider(assumptions)
    drawn = {name: factors.get(name, 1.0) * normals(count, seed)[:, place] for place, name in enumerate(NUISANCES)}
    return drawn, _values_of_nuisances(drawn, assumptions)


def _values_of_nuisances(drawn: Mapping[str, Array], assumptions: Assumptions) -> dict[str, Values]:
    return assumptions.held | {name: assumptions.priors[name].at(drawn[name]) for name in drawn if name not in _CONTEXTS}


_CONTEXTS = ("short_context", "long_context")


def _with_contexts(
    values: Mapping[str, Values], drawn: Mapping[str, Array], price_data: PriceData, assumptions: Assumptions
) -> dict[str, Values]:
    """Return the nuisances with the mean contexts of the bands of a sheet. Unless given, these are shares of the bands."""
    first, second = price_data.edges[:2]
    short, long = mean_contexts((first, second), assumptions, *(drawn[name] for name in _CONTEXTS))
    return {**values, "short_context": short, "long_context": long, "band_share": (long - first) / (second - first)}


def nuisances(drawn: Mapping[str, Array], price_data: PriceData, assumptions: Assumptions) -> dict[str, Values]:
    """Return the nuisances of a sheet at standard normal draws, with the fixed ones."""
    return _with_contexts(_values_of_nuisances(drawn, assumptions), drawn, price_data, assumptions)


def inverted(
    ratios: Mapping[str, Values],
    at: dict[str, Values],
    spare: Mapping[str, Values],
    drawn: Mapping[str, Array],
    price_data: PriceData,
    assumptions: Assumptions,
) -> Points:
    """Return hidden quantities from the ratios. Without premiums, their coordinates draw from the prior instead."""
    if "premium_out" in ratios:
        at["attention_flops_per_pair"] = inverse.attention_from_premium(ratios["premium_in"], at)
        costs = inverse.costs_of_ratios(ratios["output_input_ratio"], ratios["premium_out"], at)
        at["balance_context"], at["weight_compute_ratio"] = inverse.structure_of_costs(costs, at)
        at["kv_bytes_per_token"] = inverse.solved("context.balance_context", "kv_bytes_per_token", at)
    else:
        (kv, spread), intensity = kv_prior(price_data, assumptions), assumptions.priors["attention_intensity"]
        at["kv_bytes_per_token"] = np.exp(kv + spread * spare["premium_out"])
        at["balance_context"] = equation("context.balance_context").right_side({**PER_PARAMETER, **at})
        at["attention_flops_per_pair"] = at["kv_bytes_per_token"] * intensity.at(spare["premium_in"])
        costs = inverse.costs_of_ratios(ratios["output_input_ratio"], None, at)
        at["weight_compute_ratio"] = inverse.weight_of_cost(costs, at)
    return _with_logs(drawn, at, costs)


def _with_logs(drawn: Mapping[str, Array], at: dict[str, Values], costs: Costs) -> Points:
    """Return points with the attention intensity and the logs of quantities with a prior, or NaN if a quantity is not positive."""
    at["attention_intensity"] = equation("architecture.attention_intensity").right_side(at)
    shape = np.shape(next(iter(drawn.values())))
    return Points(drawn=drawn, at=at, costs=costs, logs={name: np.broadcast_to(np.log(at[name]), shape) for name in STRUCTURE})


def kv_prior(price_data: PriceData, assumptions: Assumptions) -> tuple[float, float]:
    """Return centre and spread of ln KV bytes per active parameter, by the prior, or by known KV bytes over the size."""
    if price_data.log_kv_bytes is None:
        return assumptions.priors["kv_bytes_per_token"].normal
    (kv, spread), (size, size_spread) = price_data.log_kv_bytes, price_data.log_active_params
    return kv - size, hypot(spread, size_spread)


def forward_points(drawn: Mapping[str, Array], hidden: Mapping[str, Values], price_data: PriceData, assumptions: Assumptions) -> Points:
    """Return points at given nuisances and structural quantities, by the forward model."""
    at = {**nuisances(drawn, price_data, assumptions), **hidden}
    at["attention_flops_per_pair"] = hidden["attention_intensity"] * hidden["kv_bytes_per_token"]
    at["balance_context"] = equation("context.balance_context").right_side({**PER_PARAMETER, **at})
    return _with_logs(drawn, at, inverse.costs_of_structure(at))


def prior_points(price_data: PriceData, assumptions: Assumptions, normal: Array) -> Points:
    """Return points with everything drawn from its prior. No price is used."""
    drawn = {name: normal[:, place] for place, name in enumerate(NUISANCES)}
    kv, spread = kv_prior(price_data, assumptions)
    hidden = {"kv_bytes_per_token": np.exp(kv + spread * normal[:, NOISY])}
    for place, name in enumerate(STRUCTURE[1:], start=1):
        hidden[name] = assumptions.priors[name].at(normal[:, NOISY + place])
    return forward_points(drawn, hidden, price_data, assumptions)


def drawn_contexts(price_data: PriceData, assumptions: Assumptions, normal: Array) -> Array:
    """Return the mean context of every band of one sheet at draws of the nuisances alone [draws, bands], in tokens."""
    drawn = {name: normal[:, place] for place, name in enumerate(NUISANCES)}
    means = mean_contexts(price_data.edges, assumptions, drawn["short_context"], drawn["long_context"])
    return np.column_stack([np.broadcast_to(one, len(normal)) for one in means])
