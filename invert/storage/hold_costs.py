"""The cost of a cache in every memory tier over its hold time, to compare with the lifetimes that are sold."""

import numpy as np

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.records import HoldCosts
from invert.storage.tiers import BASES, cost_of_keeping, tier_parameters

_SHORTEST, _LONGEST, _PLACES = 1e-2, 1e6, 25
"""Hold times [s] from a step of decode to more than a week, and the number of times with a cost."""


def hold_costs(data: Data, kv_bytes: float, assumptions: Assumptions = USUAL) -> HoldCosts:
    """Return the cost of keeping a token of `kv_bytes`, by tier and cost basis, at the hardware prices of the last year.

    >>> from invert.data import read_data
    >>> found = hold_costs(read_data(), 44e3)
    >>> [*found.costs], found.costs["hbm", "rented"][-1] > found.costs["hbm", "owned"][-1]
    ([('hbm', 'rented'), ('hbm', 'owned'), ('ddr', 'owned'), ('flash', 'owned'), ('hdd', 'owned')], True)
    """
    times, year, costs = np.geomspace(_SHORTEST, _LONGEST, _PLACES).tolist(), assumptions.price_years[-1], {}
    by_basis = {basis: tier_parameters(data, basis, year, assumptions) for basis in BASES}
    for tier in by_basis["owned"]:
        for basis, tiers in by_basis.items():
            own = tiers[tier]
            # A tier without a rent in the table has the owned price on both bases.
            if basis == "owned" or own.holding_price != by_basis["owned"][tier].holding_price:
                medians = own.drain_time.median, own.holding_price.median
                costs[tier, basis] = tuple(float(cost_of_keeping(*medians, time, kv_bytes, assumptions)) for time in times)
    return HoldCosts(kv_bytes=kv_bytes, year=year, times=tuple(times), costs=costs)
