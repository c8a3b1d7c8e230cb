"""The estimators, each a function of a sheet as read and the assumptions of the run, and nothing else: in the order of the tables."""

from collections.abc import Callable, Mapping

from invert.assumptions import Assumptions
from invert.estimators import at_rent, headline, joint_point, lecture, market, one_markup
from invert.estimators.cases import Case
from invert.records import Estimate

Estimator = Callable[[Case, Assumptions], dict[str, Estimate]]
ESTIMATORS: Mapping[str, Estimator] = {
    "lecture": lecture.estimates,
    "joint_point": joint_point.estimates,
    "one_markup": one_markup.estimates,
    "at_rent": at_rent.estimates,
    "headline": headline.estimates,
    "market": market.estimates,
}
"""Each gives KV bytes, and whatever else it makes of the prices, by the name of the quantity."""
WITH_RANGE = ("one_markup", "at_rent", "headline")
"""Those whose KV bytes have a range: they stand side by side in every output, and are scored on models whose cache is known."""


def kv_bytes_by_estimator(case: Case, assumptions: Assumptions) -> dict[str, Estimate]:
    """KV bytes of one sheet by every estimator that gives a range, by its name."""
    return {name: ESTIMATORS[name](case, assumptions)["kv_bytes_per_token"] for name in WITH_RANGE}
