"""The cost of a cache in every memory tier over its hold time, to compare with the lifetimes that are sold."""

import numpy as np

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.storage.tiers import BASES, cost_of_keeping, tier_parameters

HOLD_TIMES = tuple(np.geomspace(1e-2, 1e6, 25).tolist())
"""Hold times [s] from a step of decode to more than a week."""


def hold_costs(data: Data, kv_bytes: float, assumptions: Assumptions = USUAL) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the cost [USD/token] of keeping a token of `kv_bytes` for each of HOLD_TIMES and of reading it once, by tier and cost basis.

    The hardware prices are those of the last year.

    >>> from invert.data import read_data
    >>> found = hold_costs(read_data(), 44e3)
    >>> [*found], found["hbm", "rented"][-1] > found["hbm", "owned"][-1]
    ([('hbm', 'rented'), ('hbm', 'owned'), ('ddr', 'owned'), ('flash', 'owned'), ('hdd', 'owned')], True)
    """
    costs = {}
    by_basis = {basis: tier_parameters(data, basis, assumptions.price_years[-1], assumptions) for basis in BASES}
    for tier in by_basis["owned"]:
        for basis, tiers in by_basis.items():
            own = tiers[tier]
            # A tier without a rent in the table has the owned price on both bases.
            if basis == "owned" or own.holding_price != by_basis["owned"][tier].holding_price:
                medians = own.drain_time.median, own.holding_price.median
                costs[tier, basis] = tuple(float(cost_of_keeping(*medians, time, kv_bytes, assumptions)) for time in HOLD_TIMES)
    return costs
