"""A price sheet as numbers, and the hidden quantities and nuisances at draws.

The hidden quantities are given, or come from un-rounded ratios by the exact inverse of the forward model, for arrays of draws. The inverse
uses the formulas of the catalogue, and its Jacobian their slopes.

Given the nuisances, the three ratios of a two-band sheet and the three hidden numbers (attention FLOPs, balance context,
weight_compute_ratio) determine each other in sequence. premium_in gives the attention FLOPs, and the output prices give the
decode cost of both bands. Each decode cost gives its memory ratio, and two memory ratios give the other two numbers.
Everything is per active parameter (active_params = 1), because no ratio of prices depends on it.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from math import hypot, log
from typing import TypeAlias

import numpy as np

from derive.catalogue import equation
from derive.expressions.branches import branches
from derive.immutable import immutable
from derive.trees import Tree, arrays, evaluate_arrays, names, slopes
from invert.arrays import Array, Values
from invert.assumptions import NUISANCES, STRUCTURE, Assumptions
from invert.forward_model import closed_form
from invert.posterior.draws import normals, uniforms
from invert.records import Observables
from invert.sheets.observables import band_edges, mean_contexts, ratio, rounding_cell
from invert.sheets.sheet import PriceSheet

_Arrays = Mapping[str, Values]
PER_PARAMETER = {"active_params": 1.0, "mfu": 1.0, "mbu": 1.0, "input_price": 1.0}
"""No ratio of prices gives the size of a model or its input price. Ridge points here are sustained ones."""
_MEMORY = "memory_ratio_short"
_SOLVED_FOR = ("balance_context", "weight_compute_ratio")
"""The quantities that two memory ratios determine."""


def solve_ratios(ratios: _Arrays, at: _Arrays) -> dict[str, Values]:
    """Return the values with attention FLOPs, balance context and weight_compute_ratio from all three ratios, or NaN if none fit.

    Without premiums, the values have attention FLOPs and a balance context, and only weight_compute_ratio is solved for.
    """
    known = {**at, **ratios}
    if "premium_in" in ratios:
        attention = solved("bands.premium_in", "attention_flops_per_pair", known)
        known["attention_flops_per_pair"] = np.where((attention > 0) & np.isfinite(attention), attention, np.nan)
    cost = equation("bands.output_input_ratio").right_side(known)
    known[_MEMORY] = _memory_ratio(cost, known, "short_context")
    if "premium_out" in ratios:
        known["memory_ratio_long"] = _memory_ratio(cost * ratios["premium_out"], known, "long_context")
        known["balance_context"] = equation("bands.balance_context").right_side(known)
        known["kv_bytes_per_token"] = solved("context.balance_context", "kv_bytes_per_token", known)
    return {**known, "weight_compute_ratio": solved("bands.memory_ratio_short", "weight_compute_ratio", known)}


def log_jacobian(at: _Arrays, premiums: bool) -> Values:
    """Return ln |d ln(hidden quantities) / d ln(ratios)|, of weight_compute_ratio and output/input alone without premiums."""
    short = _elasticities("bands.decode_cost", {**at, "context_length": at["short_context"]}, *_SOLVED_FOR)
    if not premiums:
        return -np.log(short[1])
    long = _elasticities("bands.decode_cost", {**at, "context_length": at["long_context"]}, *_SOLVED_FOR)
    (attention,) = _elasticities("bands.premium_in", at, "attention_flops_per_pair")
    return -np.log(np.abs(attention * (short[0] * long[1] - short[1] * long[0])))


def _elasticities(id: str, at: _Arrays, *wanted: str) -> list[Values]:
    """Return d ln(right side of an equation) / d ln(quantity) for each wanted quantity."""
    value, found = slopes(equation(id).trees[1], at, arrays(), frozenset(wanted))
    return [found[name] * at[name] / value for name in wanted]


def predict_price(name: str, place: int, at: _Arrays, edges: Sequence[float]) -> Values:
    """Return a price at one price/cost: the premium of a band above the base, by its place, or another price over the input price."""
    bottom, top = edges[place : place + 2]

    def cost(of: str, context: Values) -> Values:
        found: Values = equation(f"bands.{of}_cost").right_side({**at, "context_length": context})
        return found

    if name == "premium_in":
        return cost("prefill", bottom + (top - bottom) * at["band_share"]) / at["prefill_cost_ratio"]
    if name == "premium_out":
        return cost("decode", bottom + (top - bottom) * at["band_share"]) / cost("decode", at["short_context"])
    if name == "output_input_ratio":
        return cost("decode", at["short_context"]) / at["prefill_cost_ratio"]
    found: Values = equation("bands.storage_price" if name == "storage_ratio" else "bands.cache_read_ratio").right_side(at)
    return found


def solved(id: str, unknown: str, at: _Arrays) -> Values:
    """Return the one closed form of an unknown of an equation at arrays, per active parameter and at sustained rates."""
    return np.asarray(evaluate_arrays(closed_form(id, unknown), {**PER_PARAMETER, **at}))


@cache
def _regimes() -> tuple[Tree, Tree, Tree]:
    """Return the memory ratio at a decode cost, if memory takes longer and if arithmetic does, and the time of arithmetic."""
    found = {_MEMORY in names(one.regime.wins[0][0]): one for one in branches(equation("bands.decode_cost_short"), _MEMORY)}
    (by_memory,), (by_compute,) = found[True].roots or (), found[False].roots or ()
    return by_memory, by_compute, found[True].regime.wins[0][1]


def _memory_ratio(cost: Values, at: _Arrays, context: str) -> Values:
    """Return the memory ratio at a decode cost and at one of the mean contexts, or NaN if no memory ratio gives the cost."""
    with np.errstate(all="ignore"):
        values = {**at, "short_context": at[context], "decode_cost_short": cost}
        by_memory, by_compute, compute = (np.asarray(evaluate_arrays(row, values)) for row in _regimes())
    below = np.where((by_compute > 0) & (by_compute <= compute), by_compute, np.nan)
    return np.where(by_memory >= compute, by_memory, below)


Pair: TypeAlias = tuple[float, float]
"""Low and high end, or centre and spread."""


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


def log_cells(cells: Iterable[Pair], scale: float = 1.0) -> tuple[Pair, ...]:
    """Return the logs of both ends of cells, times a scale."""
    return tuple((log(scale * low), log(scale * high)) for low, high in cells)


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
    price = base.input.usd_per_token
    cells = {"input_price": log_cells([rounding_cell(base.input.amount, assumptions)], price / base.input.amount)}
    cells["output_input_ratio"] = log_cells([(seen.output_input_ratio.low, seen.output_input_ratio.high)])
    if above:
        cells["premium_in"] = log_cells(rounding_cell(ratio(band.input, base.input), assumptions) for band in above)
        cells["premium_out"] = log_cells(rounding_cell(ratio(band.output, base.output), assumptions) for band in above)
    if seen.cache_read_ratio:
        cells["cache_read_ratio"] = log_cells([(seen.cache_read_ratio.low, seen.cache_read_ratio.high)])
    if storage := (seen.storage_price.low, seen.storage_price.high) if seen.storage_price else storage_cell:
        cells["storage_ratio"] = log_cells([storage], 1 / price)
    top = float(max_context or assumptions.nominal_context)
    return PriceData(
        cells=cells,
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

    `drawn` are the standard normals of the nuisances and of the three structural quantities, `logs` the logs of the latter.
    """

    drawn: Mapping[str, Array]
    at: Mapping[str, Values]
    logs: Mapping[str, Array]


def points_at(drawn: Mapping[str, Array], at: _Arrays, price_data: PriceData, assumptions: Assumptions) -> Points:
    """Return points with what follows from their hidden quantities. The log of a quantity that is not positive is NaN."""
    found = {
        **at,
        "attention_intensity": equation("architecture.attention_intensity").right_side(at),
        "prefill_cost_ratio": equation("bands.prefill_cost").right_side({**at, "context_length": at["short_context"]}),
        _MEMORY: equation("bands.memory_ratio_short").right_side(at),
    }
    logs = dict(zip(STRUCTURE, np.broadcast_arrays(*(np.log(found[name]) for name in STRUCTURE)), strict=True))
    priors = structure_priors(price_data, assumptions).items()
    return Points(drawn={**{name: (logs[name] - centre) / spread for name, (centre, spread) in priors}, **drawn}, at=found, logs=logs)


def wider(assumptions: Assumptions) -> dict[str, float]:
    """Return the nuisances that are drawn wider than their priors, with the factor. A nuisance with a fixed value is left out."""
    return {name: factor for name, factor in WIDER.items() if assumptions.priors[name].spread}


def triangular_points(price_data: PriceData, assumptions: Assumptions, count: int, seed: int) -> Points:
    """Return the nuisances and un-rounded ratios at `count` draws, and the hidden quantities that they determine.

    Without premiums, the coordinates of their noise draw KV bytes and attention from the prior instead.
    """
    normal, uniform, factors = normals(count, seed), uniforms(count, seed), wider(assumptions)
    drawn = {name: factors.get(name, 1.0) * normal[:, place] for place, name in enumerate(NUISANCES)}
    at, ratios = nuisances(drawn, price_data, assumptions), {}
    for place, name in enumerate(RATIOS):
        noise = normal[:, NOISY + place]
        if name in price_data.cells:
            low, high = price_data.cells[name][0]
            ratios[name] = np.exp(low + (high - low) * uniform[:, LATENT + place] + assumptions.noise[name] * noise)
    if "premium_out" not in ratios:
        kv, attention = (normal[:, NOISY + RATIOS.index(name)] for name in ("premium_out", "premium_in"))
        at = hidden_at({"kv_bytes_per_token": kv, "attention_intensity": attention}, at, price_data, assumptions)
    return points_at(drawn, solve_ratios(ratios, at), price_data, assumptions)


def nuisances(drawn: Mapping[str, Array], price_data: PriceData, assumptions: Assumptions) -> dict[str, Values]:
    """Return the nuisances of a sheet at standard normal draws. One without draws has its median.

    The mean contexts of its bands are shares of the bands, unless they are given.
    """
    normal: dict[str, Values] = {name: drawn.get(name, 0.0) for name in NUISANCES}
    values = {name: assumptions.priors[name].at(draws) for name, draws in normal.items()}
    first, second = price_data.edges[:2]
    short, long = mean_contexts((first, second), assumptions, normal["short_context"], normal["long_context"])
    contexts = {"short_context": short, "long_context": long, "band_share": (long - first) / (second - first)}
    return {**assumptions.held, **PER_PARAMETER, **values, **contexts}


def hidden_at(drawn: Mapping[str, Array], at: _Arrays, price_data: PriceData, assumptions: Assumptions) -> dict[str, Values]:
    """Return the values with structural quantities at standard normals, and attention FLOPs and balance context that follow from them."""
    priors = structure_priors(price_data, assumptions).items()
    found = {**at, **{name: np.exp(centre + spread * drawn[name]) for name, (centre, spread) in priors if name in drawn}}
    found["attention_flops_per_pair"] = found["attention_intensity"] * found["kv_bytes_per_token"]
    found["balance_context"] = equation("context.balance_context").right_side(found)
    return found


def structure_priors(price_data: PriceData, assumptions: Assumptions) -> dict[str, Pair]:
    """Return centre and spread of the log of each structural quantity, with known KV bytes over the size in place of their prior."""
    priors = {name: assumptions.priors[name].normal for name in STRUCTURE}
    if price_data.log_kv_bytes is not None:
        (kv, spread), (size, size_spread) = price_data.log_kv_bytes, price_data.log_active_params
        priors["kv_bytes_per_token"] = kv - size, hypot(spread, size_spread)
    return priors


def forward_points(drawn: Mapping[str, Array], price_data: PriceData, assumptions: Assumptions) -> Points:
    """Return points at standard normals of the nuisances and of the structural quantities, by the forward model."""
    at = hidden_at(drawn, nuisances(drawn, price_data, assumptions), price_data, assumptions)
    return points_at(drawn, at, price_data, assumptions)


def prior_points(price_data: PriceData, assumptions: Assumptions, normal: Array) -> Points:
    """Return points with everything drawn from its prior. No price is used."""
    places = [*enumerate(NUISANCES), *enumerate(STRUCTURE, start=NOISY)]
    return forward_points({name: normal[:, place] for place, name in places}, price_data, assumptions)


def drawn_contexts(price_data: PriceData, assumptions: Assumptions, normal: Array) -> Array:
    """Return the mean context of every band of one sheet at draws of the nuisances alone [draws, bands], in tokens."""
    drawn = {name: normal[:, place] for place, name in enumerate(NUISANCES)}
    means = mean_contexts(price_data.edges, assumptions, drawn["short_context"], drawn["long_context"])
    return np.column_stack([np.broadcast_to(one, len(normal)) for one in means])
