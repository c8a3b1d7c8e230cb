"""Estimates from the storage price: the implied drain time, and the KV bytes with this storage cost."""

from math import exp, hypot

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.posterior import inverse
from invert.records import Estimate, Observable, interval, references
from invert.storage import tiers
from invert.storage.tariffs import drain_time_of


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the implied drain time and the stored KV bytes."""
    found, price = {}, case.storage_price
    if drain := drain_time(case, assumptions):
        median, reach = drain[0], exp(assumptions.reach * drain[1])
        because = "storage price over premium. The parameters and the base price/cost cancel"
        cited, anchors = references("cache.implied_drain_time"), ("short_context", "long_context")
        ends = median / reach, median, median * reach
        found["implied_drain_time"] = interval(assumptions, *ends, because, equations=cited, anchors=anchors)
    if price and price.value > 0:
        found["kv_bytes_stored_per_token"] = kv_bytes_stored(price, data, assumptions)
    return found


def drain_time(case: Case, assumptions: Assumptions) -> tuple[float, float] | None:
    """Return the implied drain time of the first premium: median [s] and spread [nat]."""
    if not case.seen.pairs or not case.storage_price:
        return None
    return drain_time_of(case.seen.pairs[0], case.sheet.bands[0].output.usd_per_token, case.storage_price, assumptions)


def kv_bytes_stored(storage_price: Observable, data: Data, assumptions: Assumptions) -> Estimate:
    """Return the KV bytes whose storage in rented HBM costs the storage price.

    The unknown price/cost of storage makes this a weak estimate.
    """
    price_cost = assumptions.storage_price_cost_ratio_prior
    holding = tiers.tier_parameters(data, "rented", assumptions.price_years[-1], assumptions)["hbm"].holding_price
    priced = {"storage_price": storage_price.value / price_cost.centre, "tier_price": holding.median, "tier_capacity": 1.0}
    median = float(inverse.solved("cache.storage_price_is_hold_cost", "kv_bytes_per_token", priced))
    reach = exp(assumptions.reach * hypot(holding.sd, price_cost.spread))
    because = "assumes storage in rented HBM. But vendors charge one storage price for caches of different sizes"
    return interval(assumptions, median / reach, median, median * reach, because, equations=references("cache.storage_price_is_hold_cost"))
