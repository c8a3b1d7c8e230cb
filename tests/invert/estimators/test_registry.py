"""The list of estimators: every one has one signature and words of its own. What they say of sheets: test_cases.py."""

from inspect import signature

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import input_price, storage_price
from invert.estimators.cases import Case
from invert.estimators.names import KV_NAMES
from invert.estimators.registry import ESTIMATORS
from invert.inference import Extent, run_of
from invert.records import Estimate
from tests.tools.remembered import drawing_anew


def test_every_estimator_has_one_signature():
    for estimator in (*ESTIMATORS.values(), input_price.estimates, storage_price.estimates):
        assert [(name, one.annotation) for name, one in signature(estimator).parameters.items()] == [
            ("case", Case), ("data", Data), ("assumptions", Assumptions),
        ]  # fmt: skip
        assert signature(estimator).return_annotation == dict[str, Estimate]


def test_every_estimator_is_named_and_every_name_is_of_one():
    assert list(ESTIMATORS) == list(KV_NAMES)


def test_the_default_table_draws_no_posterior():
    with drawing_anew() as drawn:
        table = run_of((), Extent(estimators=("from_premium_at_cost", "from_premium", "typical")), most_flagships=1000)[2]
        assert table.inferences and not drawn
    for one in table:
        assert one.summary is None and one.kv_bytes.keys() == {"from_premium_at_cost", "from_premium", "typical"}
