"""Compute what would change a reading of KV bytes."""

from math import exp, isfinite

import numpy as np
from scipy.special import stdtrit

from invert.arrays import Array
from invert.assumptions import Assumptions
from invert.estimators.market.student import Student
from invert.estimators.premium_at_cost import DRAWS, weighted_line
from invert.posterior.data import PriceData
from invert.posterior.parameters import RATIOS, drawn_contexts, inverted, nuisances
from invert.posterior.sobol import normals
from invert.priors import NUISANCES
from invert.records import Swing

_OF_A_HIT = ("tier_read_cost_ratio", "suffix_tokens")
"""Nuisances of the price of a cache hit, which the joint reading does not use."""


def swings_of_all_prices(price_data: PriceData, assumptions: Assumptions) -> tuple[Swing, ...]:
    """Solve the joint reading of a two-band sheet with each nuisance at both tails of its prior and each price at both ends of its cell."""
    free = [name for name in NUISANCES if name not in _OF_A_HIT and assumptions.priors[name].spread]
    moved = [*free, *RATIOS]
    rows = 2 * len(moved) + 1
    drawn = {name: np.zeros(rows) for name in NUISANCES}
    ends = {name: price_data.cells[name][0] for name in RATIOS}
    ratios = {name: np.tile(np.mean(ends[name]), rows) for name in RATIOS}
    for place, name in enumerate(moved):
        for row, sign, end in ((2 * place + 1, -1, 0), (2 * place + 2, 1, 1)):
            if name in drawn:
                drawn[name][row] = sign * assumptions.reach
            else:
                ratios[name][row] = ends[name][end]
    with np.errstate(all="ignore"):
        at = nuisances(drawn, price_data, assumptions)
        points = inverted({name: np.exp(logs) for name, logs in ratios.items()}, at, {}, drawn, price_data, assumptions)
        factors = np.exp(points.logs["kv_bytes_per_token"] - points.logs["kv_bytes_per_token"][0])
    found = [Swing(name, _number(factors[2 * place + 1]), _number(factors[2 * place + 2])) for place, name in enumerate(moved)]
    spread = price_data.log_active_params[1]
    found.append(Swing("active_params", exp(-assumptions.reach * spread), exp(assumptions.reach * spread)))
    return tuple(sorted(found, key=lambda swing: -swing.width))


def swings_of_premium(price_data: PriceData, learnt: Student, assumptions: Assumptions) -> tuple[Swing, ...]:
    """Return the swings of the increment reading: each factor of bands.kv_bytes_from_increment over its range, each with elasticity 1."""
    tails = assumptions.tails
    price_cost = exp(learnt.scale * float(stdtrit(learnt.freedom, tails[1])))
    rent = exp(assumptions.reach * assumptions.rent_spread)
    low, high = np.exp(np.transpose(price_data.cells["premium_out"]))
    middle = np.sqrt(low * high)
    contexts = drawn_contexts(price_data, assumptions, normals(DRAWS))

    def slope(places: Array, premiums: Array) -> float:
        return float(weighted_line(places, np.concatenate([[1.0], premiums]))[1])

    central = np.median(contexts, axis=0)
    base = slope(central, middle)
    by_contexts = np.quantile(weighted_line(contexts, np.broadcast_to(np.concatenate([[1.0], middle]), contexts.shape))[1] / base, tails)
    found = [
        Swing("increment_markup", 1 / price_cost, price_cost),
        Swing("price_per_hbm_byte", 1 / rent, rent),
        Swing("premium_out", slope(central, low) / base, slope(central, high) / base),
        Swing("band means", *(float(end) for end in by_contexts)),
    ]
    return tuple(sorted(found, key=lambda swing: -swing.width))


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None
