"""What estimates are reliability: a record of every estimator on models whose cache is known, without the sheet's own model."""

from math import log
from statistics import fmean, stdev

import pytest

from invert.estimators.known import judged
from invert.estimators.reliability import reliabilities
from invert.estimators.typical_kv import record_of_typical_kv
from invert.inference import infer
from tests.tools.data import shipped_data


def test_a_record_is_that_of_the_estimators_on_the_known_models():
    found = reliabilities([None], shipped_data())[None]
    known = judged(shipped_data())
    assert found.models == tuple(one.member.architecture for one in known) and found.left_out == ()
    for estimator, misread in found.misreadings.items():
        errors = [log(one.kv_bytes[estimator].median / one.member.kv_bytes_per_token) for one in known]
        assert (misread.models, misread.medians) == (len(known), len(errors))
        assert (misread.bias, misread.sd) == pytest.approx((fmean(errors), stdev(errors)), rel=1e-12)


def test_every_estimate_of_a_sheet_bears_its_record():
    """The readings that of the known models left in, the class of the time its own, of more models than are sold by length."""
    (found,) = infer(["qwen3-coder-plus"]).inferences
    for estimator in ("from_all_prices", "from_premium_at_cost", "from_premium"):
        assert found.kv_bytes[estimator].record == found.reliability.records[estimator]
    assert found.kv_bytes["typical"].record == record_of_typical_kv(shipped_data(), "read")
    assert found.kv_bytes_stored["typical"].record == record_of_typical_kv(shipped_data(), "stored")
    assert found.kv_bytes["typical"].record.count > found.reliability.records["typical"].count == 7
