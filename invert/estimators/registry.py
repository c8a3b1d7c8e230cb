"""The estimators: the function of each, by its key in `names`."""

from collections.abc import Callable, Iterable, Mapping

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import at_rent, headline, increment, input_price, joint_point, lecture, one_markup
from invert.estimators.cases import Case
from invert.estimators.names import KV_NAMES
from invert.records import Estimate

ESTIMATORS: Mapping[str, Callable[[Case, Data, Assumptions], dict[str, Estimate]]] = {
    "lecture": lecture.estimates,
    "joint_point": joint_point.estimates,
    "one_markup": one_markup.estimates,
    "at_rent": at_rent.estimates,
    "increment": increment.estimates,
    "headline": headline.estimates,
    "market": input_price.estimates,
}
"""Each function uses only a sheet as read, the data and the assumptions of the run.

It returns its estimates from the prices by the name of the quantity.
"""


def side_by_side(
    case: Case, data: Data, assumptions: Assumptions, names: Iterable[str] = tuple(KV_NAMES)
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return KV bytes of one sheet by estimators that give a range, by default by all, and their other estimates by quantity."""
    found = {name: ESTIMATORS[name](case, data, assumptions) for name in names}
    kv_bytes = {name: estimates["kv_bytes_per_token"] for name, estimates in found.items()}
    beside = {quantity: one for estimates in found.values() for quantity, one in estimates.items() if quantity != "kv_bytes_per_token"}
    return kv_bytes, beside
