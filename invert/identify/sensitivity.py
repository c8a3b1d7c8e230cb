"""Compute the effect of each input on a reading of KV bytes."""

from math import exp, isfinite

import numpy as np
from scipy.special import stdtrit

from invert.arrays import Array
from invert.assumptions import Assumptions
from invert.estimators.prediction import Student
from invert.estimators.premium import DRAWS, weighted_line
from invert.posterior.draws import normals
from invert.posterior.points import RATIOS, PriceData, drawn_contexts, inverted, nuisances
from invert.priors import NUISANCES
from invert.records import Swing

_OF_A_HIT = ("tier_read_cost_ratio", "suffix_tokens")
"""Nuisances of the price of a cache hit, which the joint reading does not use."""


def swings_of_all_prices(price_data: PriceData, assumptions: Assumptions) -> tuple[Swing, ...]:
    """Solve the joint reading of a two-band sheet with each nuisance at both tails of its prior, and with each price at both ends of its
    cell.
    """
    free = [name for name in NUISANCES if name not in _OF_A_HIT and assumptions.priors[name].spread]
    moved = [*free, *RATIOS]
    # The first row is at the centre of everything. After it each input is at its lower end, then each at its upper end.
    signs = dict(zip(moved, np.vstack([np.zeros(len(moved)), -np.eye(len(moved)), np.eye(len(moved))]).T, strict=True))
    drawn = {name: assumptions.reach * signs.get(name, np.zeros(2 * len(moved) + 1)) for name in NUISANCES}
    cells = {name: price_data.cells[name][0] for name in RATIOS}
    ratios = {name: np.exp((low + high) / 2 + (high - low) / 2 * signs[name]) for name, (low, high) in cells.items()}
    with np.errstate(all="ignore"):
        points = inverted(ratios, nuisances(drawn, price_data, assumptions), {}, drawn, price_data, assumptions)
        logs = points.logs["kv_bytes_per_token"]
        lows, highs = np.split(np.exp(logs[1:] - logs[0]), 2)
    found = [Swing(name, _number(low), _number(high)) for name, low, high in zip(moved, lows, highs, strict=True)]
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
        Swing("increment_price_cost_ratio", 1 / price_cost, price_cost),
        Swing("price_per_hbm_byte", 1 / rent, rent),
        Swing("premium_out", slope(central, low) / base, slope(central, high) / base),
        Swing("band means", *(float(end) for end in by_contexts)),
    ]
    return tuple(sorted(found, key=lambda swing: -swing.width))


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None
