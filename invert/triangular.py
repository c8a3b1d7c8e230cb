"""The exact inverse of the forward model at arrays of draws, and its Jacobian, both compiled from the catalogue.

Given the nuisances, the three ratios of a two-band sheet and the three hidden numbers (attention FLOPs, balance context,
weight_compute_ratio) determine each other one after the other: premium_in gives the attention FLOPs, the output prices
give the decode cost of both bands, each decode cost its memory ratio, and two memory ratios the other two. So the
Jacobian is triangular, and its determinant is a product of the slopes of the catalogue's closed forms. Everything is
per active parameter (active_params = 1), which no ratio of prices tells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from derive.catalogue import equation
from derive.compiled import right_side, vectorised
from derive.quantities import symbol
from derive.regimes import branches

Arrays = Mapping[str, Any]
PER_PARAMETER = {"active_params": 1.0, "mfu": 1.0, "mbu": 1.0}
"""No ratio of prices tells the size of a model; ridge points here are sustained ones."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of a prompt token and of a decoded token in units of linear compute, and memory ratios, at both band means."""

    prefill_short: Any
    decode_short: Any
    decode_long: Any
    memory_short: Any
    memory_long: Any

    def all(self) -> tuple[Any, ...]:
        """The fields in order."""
        return self.prefill_short, self.decode_short, self.decode_long, self.memory_short, self.memory_long


def attention_from_premium(premium_in: Any, at: Arrays) -> Any:
    """Attention FLOPs per pair and active parameter from the input premium; NaN where no positive ones give it."""
    import numpy as np

    found = solved("bands.premium_in", "attention_flops_per_pair", {**at, "premium_in": premium_in})
    return np.where((found > 0) & np.isfinite(found), found, np.nan)


def costs_of_ratios(output_input_ratio: Any, premium_out: Any, at: Arrays) -> Costs:
    """Costs and memory ratios from the published ratios, the attention FLOPs known; NaN where no memory ratio gives the cost."""
    known = {**at, "output_input_ratio": output_input_ratio, **PER_PARAMETER}
    known["decode_cost_short"] = right_side(equation("bands.output_input_ratio"), known)
    prefill = known["decode_cost_short"] / output_input_ratio
    short = _memory_ratio("short", known["decode_cost_short"], known)
    if premium_out is None:
        return Costs(prefill, known["decode_cost_short"], None, short, None)
    known["decode_cost_long"] = right_side(equation("bands.premium_out"), {**known, "premium_out": premium_out})
    long = _memory_ratio("long", known["decode_cost_long"], known)
    return Costs(prefill, known["decode_cost_short"], known["decode_cost_long"], short, long)


def structure_of_costs(costs: Costs, at: Arrays) -> tuple[Any, Any]:
    """The balance context and weight_compute_ratio that two memory ratios determine."""
    known = {**at, "memory_ratio_short": costs.memory_short, "memory_ratio_long": costs.memory_long}
    balance = right_side(equation("bands.balance_context"), known)
    return balance, weight_of_cost(costs, {**at, "balance_context": balance})


def weight_of_cost(costs: Costs, at: Arrays) -> Any:
    """weight_compute_ratio from the memory ratio of the base band, the balance context known."""
    return solved("bands.memory_ratio_short", "weight_compute_ratio", {**at, "memory_ratio_short": costs.memory_short})


def costs_of_structure(at: Arrays) -> Costs:
    """Costs and memory ratios at the hidden quantities."""
    known = {**at, **PER_PARAMETER}
    short, long = ({**known, "context_length": known[name]} for name in ("short_context", "long_context"))
    memory = {**known, "short_context": known["long_context"]}
    return Costs(
        right_side(equation("bands.prefill_cost"), short),
        right_side(equation("bands.decode_cost"), short),
        right_side(equation("bands.decode_cost"), long),
        right_side(equation("bands.memory_ratio_short"), known),
        right_side(equation("bands.memory_ratio_short"), memory),
    )


def log_jacobian_of_attention(premium_in: Any, at: Arrays) -> Any:
    """ln |d ln attention_flops_per_pair / d ln premium_in|."""
    import numpy as np

    slope = _log_slope("bands.premium_in", "attention_flops_per_pair", "premium_in")
    return np.log(np.abs(_value(slope, {**at, **PER_PARAMETER, "premium_in": premium_in})))


def log_jacobian_of_weight(costs: Costs, at: Arrays) -> Any:
    """ln |d ln weight_compute_ratio / d ln output_input_ratio| at a given balance context and attention FLOPs."""
    import numpy as np

    return np.log(_memory_slope("short", costs.memory_short, at) * costs.decode_short / at["weight_compute_ratio"])


def log_jacobian_of_both(costs: Costs, at: Arrays) -> Any:
    """ln |d (ln balance_context, ln weight_compute_ratio) / d (ln output_input_ratio, ln premium_out)|."""
    import numpy as np

    slopes = _memory_slope("short", costs.memory_short, at) * _memory_slope("long", costs.memory_long, at)
    lines = _value(_line_determinant(), {**at, "memory_ratio_short": costs.memory_short, "memory_ratio_long": costs.memory_long})
    scale = at["balance_context"] * at["weight_compute_ratio"]
    return np.log(slopes * costs.decode_short * costs.decode_long * np.abs(lines) / scale)


def solved(id: str, unknown: str, at: Arrays) -> Any:
    """The one closed form of an unknown of an equation at arrays, per active parameter and at sustained rates."""
    (root,) = _roots(id, unknown)
    return _value(root, {**PER_PARAMETER, **at})


def _value(expression: Any, values: Arrays) -> Any:
    names = tuple(sorted(part.name for part in expression.free_symbols))
    return vectorised(expression, names)(*(values[name] for name in names))


@cache
def _roots(id: str, unknown: str) -> tuple[Any, ...]:
    return tuple(root for branch in branches(equation(id), unknown) for root in branch.roots or ())


@cache
def _log_slope(id: str, unknown: str, by: str) -> Any:
    from sympy import cancel, diff

    (root,) = _roots(id, unknown)
    return cancel(diff(root, symbol(by)) * symbol(by) / root)


@cache
def _line_determinant() -> Any:
    """d (balance_context, weight_compute_ratio) / d (memory_ratio_short, memory_ratio_long)."""
    from sympy import Matrix, cancel

    (weight,) = _roots("bands.memory_ratio_short", "weight_compute_ratio")
    balance = equation("bands.balance_context").sides[1]
    solved = Matrix([balance, weight.subs(symbol("balance_context"), balance)])
    return cancel(solved.jacobian([symbol("memory_ratio_short"), symbol("memory_ratio_long")]).det())


@dataclass(frozen=True, slots=True)
class _Regimes:
    """The memory ratio that a decode cost asks for, where memory binds and where compute does, and the slope of each."""

    bound_by_memory: Any
    bound_by_compute: Any
    slope_by_memory: Any
    slope_by_compute: Any
    compute: Any


@cache
def _regimes(end: str) -> _Regimes:
    from sympy import diff

    memory, cost = f"memory_ratio_{end}", symbol(f"decode_cost_{end}")
    found = {branch.regime.wins[0][0] == symbol(memory): branch for branch in branches(equation(f"bands.decode_cost_{end}"), memory)}
    (by_memory,), (by_compute,) = found[True].roots, found[False].roots
    return _Regimes(by_memory, by_compute, diff(by_memory, cost), diff(by_compute, cost), found[True].regime.wins[0][1])


def _memory_ratio(end: str, cost: Any, at: Arrays) -> Any:
    import numpy as np

    rows, known = _regimes(end), {**at, f"decode_cost_{end}": cost, **PER_PARAMETER}
    compute, by_memory = _value(rows.compute, known), _value(rows.bound_by_memory, known)
    with np.errstate(all="ignore"):
        by_compute = _value(rows.bound_by_compute, known)
    below = np.where((by_compute > 0) & (by_compute <= compute), by_compute, np.nan)
    return np.where(by_memory >= compute, by_memory, below)


def _memory_slope(end: str, memory: Any, at: Arrays) -> Any:
    """d memory ratio / d decode cost, in the regime that holds."""
    import numpy as np

    rows, known = _regimes(end), {**at, **PER_PARAMETER}
    with np.errstate(all="ignore"):
        return np.where(memory >= _value(rows.compute, known), _value(rows.slope_by_memory, known), _value(rows.slope_by_compute, known))
