"""The estimators: a record each, of the function and of what it is called, in the order of the tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import at_rent, headline, increment, input_price, joint_point, lecture, one_markup
from invert.estimators.cases import Case
from invert.records import Estimate

_Estimates = Callable[[Case, Data, Assumptions], dict[str, Estimate]]


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """A function of a sheet as read, the data and the assumptions of the run, and nothing else, and what its numbers are called.

    It gives an estimate by the name of each quantity that it makes of the prices. `name` is that of the estimator in full,
    `remark` what stands behind it. `heading` stands over the column of its KV bytes, which then have a range: they stand side
    by side with those of the others in every output, and are scored on models whose cache is known. Without a heading it gives
    KV bytes without a range, or none. `paid_with` is what it holds a long-context premium to be paid for with.

    >>> ESTIMATORS["at_rent"].name, ESTIMATORS["at_rent"].heading, ESTIMATORS["lecture"].heading
    ('increments at rental cost', 'KV at rent', '')
    """

    estimates: _Estimates
    name: str
    remark: str = ""
    heading: str = ""
    paid_with: str = ""


ESTIMATORS: Mapping[str, Estimator] = {
    "lecture": Estimator(estimates=lecture.estimates, name="the lecture's readings"),
    "joint_point": Estimator(estimates=joint_point.estimates, name="one mark-up, every anchor as it stands"),
    "one_markup": Estimator(
        estimates=one_markup.estimates,
        name="one mark-up",
        remark="what the lecture assumes: no vendor prices context by another rule than the rest",
        heading="KV one mark-up",
        paid_with="one mark-up on everything",
    ),
    "at_rent": Estimator(
        estimates=at_rent.estimates,
        name="increments at rental cost",
        remark="no mark-up on context",
        heading="KV at rent",
        paid_with="rental cost",
    ),
    "increment": Estimator(
        estimates=increment.estimates,
        name="increments at the mark-up of known models",
        remark="a reading, its families few",
        heading="KV increment",
        paid_with="the mark-up that models of known architecture show",
    ),
    "headline": Estimator(
        estimates=headline.estimates,
        name="class of its time",
        remark="models released before it; a price enters by its record alone",
        heading="KV read",
    ),
    "market": Estimator(estimates=input_price.estimates, name="size by input price"),
}
"""By the name that stands in JSON and CSV."""
KV_ESTIMATORS: Mapping[str, Estimator] = {name: one for name, one in ESTIMATORS.items() if one.heading}
"""Those whose KV bytes have a range."""


def side_by_side(case: Case, data: Data, assumptions: Assumptions) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """KV bytes of one sheet by every estimator that gives a range, and what else these estimate, by quantity."""
    found = {name: one.estimates(case, data, assumptions) for name, one in KV_ESTIMATORS.items()}
    kv_bytes = {name: estimates["kv_bytes_per_token"] for name, estimates in found.items()}
    beside = {quantity: one for estimates in found.values() for quantity, one in estimates.items() if quantity != "kv_bytes_per_token"}
    return kv_bytes, beside
