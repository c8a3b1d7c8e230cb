"""What would change a reading of KV bytes, and whether a premium is a cost or a convention."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import exp, isfinite

import numpy as np

from invert.arrays import Array
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators.at_rent import DRAWS, weighted_line
from invert.estimators.calibration import learn
from invert.estimators.densities import student_quantile
from invert.posterior.data import Evidence, column
from invert.posterior.parameters import RATIOS, drawn_contexts, inverted, nuisances
from invert.posterior.sampler import posterior
from invert.posterior.sobol import DEFAULT, normals
from invert.posterior.summary import in_chunks
from invert.priors import NUISANCES
from invert.records import Convention, Swing

OF_A_HIT = ("tier_read_cost_ratio", "suffix_tokens")
"""Nuisances of the price of a cache hit, which the joint reading does not use."""


def swings_of_one_markup(evidence: Evidence, assumptions: Assumptions) -> tuple[Swing, ...]:
    """The joint reading of a two-band sheet with each nuisance at 5 and 95 % of its prior and each price at the ends of its cell."""
    free = [name for name in NUISANCES if name not in OF_A_HIT and assumptions.priors[name].spread]
    moved = [*free, *RATIOS]
    rows = 2 * len(moved) + 1
    drawn = {name: np.zeros(rows) for name in NUISANCES}
    ends = {name: [column(end)[0] for end in evidence.cells[name]] for name in RATIOS}
    ratios = {name: np.tile(np.mean(ends[name]), rows) for name in RATIOS}
    for place, name in enumerate(moved):
        for row, sign, end in ((2 * place + 1, -1, 0), (2 * place + 2, 1, 1)):
            if name in drawn:
                drawn[name][row] = sign * assumptions.reach
            else:
                ratios[name][row] = ends[name][end]
    with np.errstate(all="ignore"):
        at = nuisances(drawn, evidence, assumptions)
        points = inverted({name: np.exp(logs)[None] for name, logs in ratios.items()}, at, {}, drawn, evidence, assumptions)
        factors = np.exp(points.logs["kv_bytes_per_token"][0] - points.logs["kv_bytes_per_token"][0, 0])
    found = [Swing(name, _number(factors[2 * place + 1]), _number(factors[2 * place + 2])) for place, name in enumerate(moved)]
    spread = evidence.log_active_params[1][0]
    found.append(Swing("active_params", exp(-assumptions.reach * spread), exp(assumptions.reach * spread)))
    return tuple(sorted(found, key=lambda swing: -swing.width))


def swings_of_headline(evidence: Evidence, data: Data, assumptions: Assumptions, architecture: str | None) -> tuple[Swing, ...]:
    """What moves the increments' reading: each factor of bands.kv_bytes_from_increment over its 90 % range, all of elasticity one."""
    learnt = learn(data, architecture, assumptions).increments
    tails = ((1 - assumptions.level) / 2, (1 + assumptions.level) / 2)
    markup = exp(student_quantile(learnt.degrees_of_freedom, tails[1]) * learnt.predictive_sd)
    rent = exp(assumptions.reach * assumptions.rent_spread)
    low, high = (np.exp(end[0]) for end in evidence.cells["premium_out"])
    middle = np.sqrt(low * high)
    contexts = drawn_contexts(evidence, assumptions, normals(DRAWS))

    def slope(places: Array, premiums: Array) -> float:
        return float(weighted_line(places, np.concatenate([[1.0], premiums]))[1])

    central = np.median(contexts, axis=0)
    base = slope(central, middle)
    by_contexts = np.quantile(weighted_line(contexts, np.broadcast_to(np.concatenate([[1.0], middle]), contexts.shape))[1] / base, tails)
    found = [
        Swing("increment_markup", 1 / markup, markup),
        Swing("price_per_hbm_byte", 1 / rent, rent),
        Swing("premium_out", slope(central, low) / base, slope(central, high) / base),
        Swing("band means", *(float(end) for end in by_contexts)),
    ]
    return tuple(sorted(found, key=lambda swing: -swing.width))


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def probabilities_by_cost(sheets: Sequence[Evidence], log_evidence: Sequence[float], assumptions: Assumptions) -> list[float | None]:
    """How likely the cost model makes the premiums of each sheet, all of its other prices known; None where it makes nothing of those.

    `log_evidence` is the log marginal likelihood of all prices of each: less that of the other prices, it is that of the premiums.
    """
    others = in_chunks(partial(_log_evidence, assumptions=assumptions), [_without_premiums(one) for one in sheets], DEFAULT)
    return [exp(whole - rest) if isfinite(rest) else None for whole, rest in zip(log_evidence, others, strict=True)]


def _without_premiums(evidence: Evidence) -> Evidence:
    cells = {name: ends for name, ends in evidence.cells.items() if not name.startswith("premium")}
    return replace(evidence, cells=cells)


def _log_evidence(sheets: Evidence, assumptions: Assumptions) -> list[float]:
    """Of sheets of one shape."""
    return [float(one) for one in posterior(sheets, assumptions).weights.log_evidence]


def convention(
    pair: tuple[float, float], by_cost: float, others: Sequence[tuple[float, float]], assumptions: Assumptions = USUAL
) -> Convention:
    """Premiums in and out that are so likely as a cost, against how often other vendors ask the same pair.

    `others` are the pairs of other providers' sheets, one a provider and pair; the habit's probability is a count with
    `convention_count` added for this pair and for any other.

    >>> found = convention((2.0, 1.5), 0.01, [(2.0, 1.5), (2.0, 1.5), (1.5, 1.5)])
    >>> found.same, found.probability_by_habit, round(found.bayes_factor)
    (2, 0.6, 60)
    """
    same = sum(all(abs(a - b) < assumptions.same_premium_within for a, b in zip(one, pair, strict=True)) for one in others)
    each = assumptions.convention_count
    return Convention(*pair, by_cost, (same + each) / (len(others) + 2 * each), same, len(others))
