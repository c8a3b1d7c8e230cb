"""The exact inverse of the forward model for arrays of draws, and its Jacobian. Both use the formulas of the catalogue.

Given the nuisances, the three ratios of a two-band sheet and the three hidden numbers (attention FLOPs, balance context,
weight_compute_ratio) determine each other in sequence. premium_in gives the attention FLOPs, and the output prices give the
decode cost of both bands. Each decode cost gives its memory ratio, and two memory ratios give the other two numbers. So the
Jacobian is triangular, and its determinant is a product of the slopes of the catalogue's closed forms. Everything is per
active parameter (active_params = 1), because no ratio of prices depends on it.
"""

from collections.abc import Mapping
from functools import cache
from math import nan
from typing import NamedTuple

import numpy as np

from derive.catalogue import equation
from derive.evaluate import arrays, evaluate_arrays, slope_at_arrays
from derive.expressions.branches import branches
from derive.trees import Tree, names, slopes
from invert.arrays import Values
from invert.forward_model import closed_form

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


def attention_from_premium(premium_in: Values, at: _Arrays) -> Values:
    """Return attention FLOPs per pair and active parameter from the input premium, or NaN if no positive value gives it."""
    found = solved("bands.premium_in", "attention_flops_per_pair", {**at, "premium_in": premium_in})
    return np.where((found > 0) & np.isfinite(found), found, np.nan)


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


def structure_of_costs(costs: Costs, at: _Arrays) -> tuple[Values, Values]:
    """Return the balance context and weight_compute_ratio that two memory ratios determine."""
    known = {**at, "memory_ratio_short": costs.memory_short, "memory_ratio_long": costs.memory_long}
    balance = equation("bands.balance_context").right_side(known)
    return balance, weight_of_cost(costs, {**at, "balance_context": balance})


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
