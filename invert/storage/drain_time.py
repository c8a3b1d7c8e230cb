"""The hold time for which a storage price equals the price of one read."""

from functools import lru_cache

from invert.assumptions import USUAL, Assumptions
from invert.records import BandPair, Reading, unanswered
from invert.steps import solve_steps


# Models of one vendor share a tariff, and each sheet calls this twice.
@lru_cache
def implied_drain_time(pair: BandPair, output_price: float, storage_price: float, assumptions: Assumptions = USUAL) -> Reading:
    """Return the hold time [s] with the price of one read, from the output premium [USD/token] and the storage price [USD/token/s]."""
    given = {name: value for name, value in pair.values.items() if name in ("premium_out", "short_context", "long_context")}
    given |= {**assumptions.held, "output_price": output_price, "storage_price": storage_price}
    solution = solve_steps([("cache.implied_drain_time", "implied_drain_time")], given)
    if not solution.answers or (hold := solution.answers[0].value) is None:
        return unanswered("storage", solution)
    return Reading(name="storage", values={"implied_drain_time": hold}, solution=solution)
