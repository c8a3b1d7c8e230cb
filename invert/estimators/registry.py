"""The estimators that give a range of KV bytes: the function of each, by its key in `names`."""

from collections.abc import Callable, Iterable, Mapping

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import all_prices, premium
from invert.estimators.cases import Case
from invert.estimators.names import KV_NAMES
from invert.records import Estimate

ESTIMATORS: Mapping[str, Callable[[Case, Data, Assumptions], dict[str, Estimate]]] = {
    "from_all_prices": all_prices.estimates,
    "from_premium_at_cost": premium.estimate_at_cost,
    "from_premium": premium.estimate_calibrated,
    "typical": premium.estimate_typical,
}
"""Each function uses only a sheet as read, the data and the assumptions of the run.

It returns its estimates from the prices by the name of the quantity.
"""


def side_by_side(
    case: Case, data: Data, assumptions: Assumptions, names: Iterable[str] = tuple(KV_NAMES)
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return KV bytes of one sheet by these estimators, by default by all, and their other estimates by quantity."""
    kv_bytes, beside = {}, dict[str, Estimate]()
    for name in names:
        beside |= ESTIMATORS[name](case, data, assumptions)
        kv_bytes[name] = beside.pop("kv_bytes_per_token")
    return kv_bytes, beside
