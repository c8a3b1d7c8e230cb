"""How long a storage price says that a cache is held for what one read costs."""

from derive.solving.api import solve
from invert.assumptions import USUAL, Assumptions
from invert.records import BandPair, Reading, unanswered


def implied_drain_time(pair: BandPair, output_price: float, storage_price: float, assumptions: Assumptions = USUAL) -> Reading:
    """The hold time [s] sold for as much as one read, from the output premium [USD/token] and the storage price [USD/token/s]."""
    given = {name: value for name, value in pair.values.items() if name in ("premium_out", "short_context", "long_context")}
    given |= {**assumptions.held, "output_price": output_price, "storage_price": storage_price}
    solution = solve("implied_drain_time", using=["cache.implied_drain_time"], **given)
    if not solution.answers or solution.answers[0].kind != "point":
        return unanswered("storage", solution)
    return Reading("storage", {"implied_drain_time": solution.answers[0].value}, solution)
