"""The gain of a linear pool of a candidate with the typical KV, and the weight of the candidate.

The pool is w p + (1 - w) c, with the density p from a price and the density c of the typical KV. A product of the two would need
independence, which is not established. Each family counts once. Its prediction uses the weight that is best for the other families.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from invert.arrays import Array
from invert.assumptions import USUAL, Assumptions
from invert.records import Verdict

_WEIGHTS = np.linspace(0.0, 1.0, 101)


def pool_verdict(of_rows: Sequence[str], by_price: Array, by_baseline: Array, assumptions: Assumptions = USUAL) -> Verdict | None:
    """Return the gain of the pool on families left out, or None if there are fewer than `least_families`.

    The rows have a family and the log densities [nat] of the candidate and of the typical KV at a known cache. Rows without a
    density are left out.
    """
    judged = np.isfinite(by_price) & np.isfinite(by_baseline)
    by_price, by_baseline, of_judged = by_price[judged], by_baseline[judged], np.array([*of_rows])[judged]
    families = np.unique(of_judged)
    if len(families) < assumptions.least_families:
        return None
    per_family = (of_judged == families[:, None]).astype(float)
    per_family /= per_family.sum(1, keepdims=True)
    # The log density of the pool at each model and weight.
    with np.errstate(divide="ignore"):
        pooled = per_family @ np.logaddexp(by_price[:, None] + np.log(_WEIGHTS), by_baseline[:, None] + np.log1p(-_WEIGHTS))
    others = pooled.sum(0) - pooled
    left_out = np.take_along_axis(pooled, others.argmax(1)[:, None], axis=1)[:, 0]
    gains = left_out - per_family @ by_baseline
    return Verdict(
        count=len(by_price),
        families=len(families),
        by_baseline=float((per_family @ by_baseline).mean()),
        by_price=float((per_family @ by_price).mean()),
        gain_of_pool=float(gains.mean()),
        standard_error=float(gains.std(ddof=1) / sqrt(len(families))),
        stacked=float(_WEIGHTS[pooled.sum(0).argmax()]),
        least_gain=assumptions.least_gain_in_errors,
    )
