"""A price sheet as numbers, and the hidden quantities and nuisances at draws.

The hidden quantities are given, or come from un-rounded ratios by the exact inverse of the forward model, for arrays of draws. The inverse
and its Jacobian use the formulas of the catalogue.

Given the nuisances, the three ratios of a two-band sheet and the three hidden numbers (attention FLOPs, balance context,
weight_compute_ratio) determine each other in sequence. premium_in gives the attention FLOPs, and the output prices give the
decode cost of both bands. Each decode cost gives its memory ratio, and two memory ratios give the other two numbers. So the
Jacobian is triangular, and its determinant is a product of the slopes of the catalogue's closed forms. Everything is per
active parameter (active_params = 1), because no ratio of prices depends on it.
"""

from collections.abc import Hashable, Mapping
from functools import cache
from math import hypot, log, nan
from typing import NamedTuple, TypeAlias

import numpy as np

from derive.catalogue import equation
from derive.expressions.branches import branches
from derive.immutable import immutable
from derive.trees import Tree, arrays, evaluate_arrays, names, slope_at_arrays, slopes
from invert.arrays import Array, Values
from invert.assumptions import NUISANCES, STRUCTURE, Assumptions
from invert.forward_model import closed_form
from invert.posterior.draws import normals, uniforms
from invert.records import Observables
from invert.sheets.observables import band_edges, mean_contexts, ratio, rounding_cell
from invert.sheets.sheet import PriceSheet

_Arrays = Mapping[str, Values]
PER_PARAMETER = {"active_params": 1.0, "mfu": 1.0, "mbu": 1.0}
"""No ratio of prices gives the size of a model. Ridge points here are sustained ones."""
_MEMORY = "memory_ratio_short"
_SOLVED_FOR = ("balance_context", "weight_compute_ratio")
"""The quantities that two memory ratios determine."""


class Costs(NamedTuple):
    """Costs of a prompt token and of a decoded token in units of linear compute, and memory ratios, at both band means.

    The values at the mean of a long band are NaN for a sheet without a long band.
    """

    prefill_short: Values
    decode_short: Values
    decode_long: Values
    memory_short: Values
    memory_long: Values


def solve_ratios(ratios: _Arrays, at: _Arrays) -> tuple[dict[str, Values], Costs]:
    """Return the nuisances with attention FLOPs (NaN if no positive value gives the input premium), balance context and
    weight_compute_ratio from all three ratios, and the costs.
    """
    attention = solved("bands.premium_in", "attention_flops_per_pair", {**at, "premium_in": ratios["premium_in"]})
    known = {**at, "attention_flops_per_pair": np.where((attention > 0) & np.isfinite(attention), attention, np.nan)}
    costs = costs_of_ratios(ratios["output_input_ratio"], ratios["premium_out"], known)
    memory = {"memory_ratio_short": costs.memory_short, "memory_ratio_long": costs.memory_long}
    known["balance_context"] = equation("bands.balance_context").right_side({**known, **memory})
    return {**known, "weight_compute_ratio": weight_of_cost(costs, known)}, costs


def costs_of_ratios(output_input_ratio: Values, premium_out: Values | None, at: _Arrays) -> Costs:
    """Return costs and memory ratios from the published ratios at known attention FLOPs, or NaN if no memory ratio gives the cost."""
    known = {**at, "output_input_ratio": output_input_ratio, **PER_PARAMETER}
    known["decode_cost_short"] = equation("bands.output_input_ratio").right_side(known)
    prefill = known["decode_cost_short"] / output_input_ratio
    short = _memory_ratio("short", known["decode_cost_short"], known)
    decode: Values = nan
    memory: Values = nan
    if premium_out is not None:
        decode = equation("bands.premium_out").right_side({**known, "premium_out": premium_out})
        memory = _memory_ratio("long", decode, known)
    return Costs(prefill, known["decode_cost_short"], decode, short, memory)


def weight_of_cost(costs: Costs, at: _Arrays) -> Values:
    """Return weight_compute_ratio from the memory ratio of the base band at a known balance context."""
    return solved("bands.memory_ratio_short", "weight_compute_ratio", {**at, "memory_ratio_short": costs.memory_short})


def costs_of_structure(at: _Arrays) -> Costs:
    """Return costs and memory ratios at the hidden quantities."""
    known = {**at, **PER_PARAMETER}
    short, long = ({**known, "context_length": known[name]} for name in ("short_context", "long_context"))
    memory = {**known, "short_context": known["long_context"]}
    return Costs(
        prefill_short=equation("bands.prefill_cost").right_side(short),
        decode_short=equation("bands.decode_cost").right_side(short),
        decode_long=equation("bands.decode_cost").right_side(long),
        memory_short=equation("bands.memory_ratio_short").right_side(known),
        memory_long=equation("bands.memory_ratio_short").right_side(memory),
    )


def log_jacobian_of_attention(at: _Arrays) -> Values:
    """Return ln |d ln attention_flops_per_pair / d ln premium_in|."""
    known = {**at, **PER_PARAMETER}
    right, slope = slope_at_arrays(equation("bands.premium_in").trees[1], "attention_flops_per_pair", known)
    found: Values = -np.log(np.abs(slope * known["attention_flops_per_pair"] / right))
    return found


def log_jacobian_of_weight(costs: Costs, at: _Arrays) -> Values:
    """Return ln |d ln weight_compute_ratio / d ln output_input_ratio| at a given balance context and attention FLOPs."""
    return np.log(_memory_slope("short", costs.memory_short, at) * costs.decode_short / at["weight_compute_ratio"])


def log_jacobian_of_both(costs: Costs, at: _Arrays) -> Values:
    """Return ln |d (ln balance_context, ln weight_compute_ratio) / d (ln output_input_ratio, ln premium_out)|."""
    by_balance, by_weight = _memory_ratio_slopes("short", at)
    long_by_balance, long_by_weight = _memory_ratio_slopes("long", at)
    lines = by_balance * long_by_weight - long_by_balance * by_weight
    costs_of_time = _memory_slope("short", costs.memory_short, at) * _memory_slope("long", costs.memory_long, at)
    return np.log(costs_of_time * costs.decode_short * costs.decode_long / np.abs(lines))


def _memory_ratio_slopes(end: str, at: _Arrays) -> tuple[Values, Values]:
    """Return d memory ratio / d ln balance_context, and / d ln weight_compute_ratio."""
    _, found = slopes(equation("bands.memory_ratio_short").trees[1], _ending(end, at), arrays(), frozenset(_SOLVED_FOR))
    by_balance, by_weight = (np.asarray(found[name]) * at[name] for name in _SOLVED_FOR)
    return by_balance, by_weight


def solved(id: str, unknown: str, at: _Arrays) -> Values:
    """Return the one closed form of an unknown of an equation at arrays, per active parameter and at sustained rates."""
    return np.asarray(evaluate_arrays(closed_form(id, unknown), {**PER_PARAMETER, **at}))


def _ending(end: str, at: _Arrays) -> dict[str, Values]:
    """Return the values with the short or the long end of the bands under the names of the short one."""
    return {**at, **PER_PARAMETER, "short_context": at[f"{end}_context"]}


@cache
def _regimes() -> tuple[Tree, Tree, Tree]:
    """Return the memory ratio at a decode cost, if memory takes longer and if arithmetic does, and the time of arithmetic."""
    found = {_MEMORY in names(one.regime.wins[0][0]): one for one in branches(equation("bands.decode_cost_short"), _MEMORY)}
    (by_memory,), (by_compute,) = found[True].roots or (), found[False].roots or ()
    return by_memory, by_compute, found[True].regime.wins[0][1]


def _memory_ratio(end: str, cost: Values, at: _Arrays) -> Values:
    with np.errstate(all="ignore"):
        values = {**_ending(end, at), "decode_cost_short": cost}
        by_memory, by_compute, compute = (np.asarray(evaluate_arrays(row, values)) for row in _regimes())
    below = np.where((by_compute > 0) & (by_compute <= compute), by_compute, np.nan)
    return np.where(by_memory >= compute, by_memory, below)


def _memory_slope(end: str, memory: Values, at: _Arrays) -> Values:
    """Return d memory ratio / d decode cost in the regime that applies."""
    _, slope = slope_at_arrays(equation("bands.decode_cost_short").trees[1], _MEMORY, {**_ending(end, at), _MEMORY: memory})
    with np.errstate(divide="ignore"):
        return np.asarray(1 / slope)


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


# Hidden quantities at draws.

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
    normal, uniform, factors = normals(count, seed), uniforms(count, seed), wider(assumptions)
    drawn = {name: factors.get(name, 1.0) * normal[:, place] for place, name in enumerate(NUISANCES)}
    ratios, spare = {}, {}
    for place, name in enumerate(RATIOS):
        noise = spare[name] = normal[:, NOISY + place]
        if name in price_data.cells:
            low, high = price_data.cells[name][0]
            ratios[name] = np.exp(low + (high - low) * uniform[:, LATENT + place] + assumptions.noise[name] * noise)
    return inverted(ratios, nuisances(drawn, price_data, assumptions), spare, drawn, price_data, assumptions)


def nuisances(drawn: Mapping[str, Array], price_data: PriceData, assumptions: Assumptions) -> dict[str, Values]:
    """Return the nuisances of a sheet at standard normal draws, with the fixed ones.

    The mean contexts of its bands are shares of the bands, unless they are given.
    """
    values = {name: assumptions.priors[name].at(normal) for name, normal in drawn.items() if name not in ("short_context", "long_context")}
    first, second = price_data.edges[:2]
    short, long = mean_contexts((first, second), assumptions, drawn["short_context"], drawn["long_context"])
    contexts = {"short_context": short, "long_context": long, "band_share": (long - first) / (second - first)}
    return {**assumptions.held, **values, **contexts}


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
        at, costs = solve_ratios(ratios, at)
        at["kv_bytes_per_token"] = solved("context.balance_context", "kv_bytes_per_token", at)
    else:
        (kv, spread), intensity = kv_prior(price_data, assumptions), assumptions.priors["attention_intensity"]
        at["kv_bytes_per_token"] = np.exp(kv + spread * spare["premium_out"])
        at["balance_context"] = equation("context.balance_context").right_side({**PER_PARAMETER, **at})
        at["attention_flops_per_pair"] = at["kv_bytes_per_token"] * intensity.at(spare["premium_in"])
        costs = costs_of_ratios(ratios["output_input_ratio"], None, at)
        at["weight_compute_ratio"] = weight_of_cost(costs, at)
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
    return _with_logs(drawn, at, costs_of_structure(at))


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
