"""Small functions of `invert.estimators` on examples."""

from invert.data import read_data
from invert.estimators.known import bounds_at_cost, told_by_others
from invert.estimators.names import new_column_key
from invert.records import Bounds, Estimate


def test_bounds_at_cost():
    found = bounds_at_cost(read_data())
    assert found.count == 9
    assert found.right == 6
    assert found.right_at_one_byte == 9
    assert f"{found.least:.2g} to {found.most:.2g}" == "0.6 to 84"


def test_told_by_others():
    of = Bounds(count=9, right=6, right_at_one_byte=9, least=0.6, median=5.5, most=84.0)
    assert (
        told_by_others(Estimate(kind="upper", high=2000.0, because="no premium"), of).because
        == "no premium; on 9 sheets with known KV the bound was 0.6 to 84 times the truth (median 5.5): "
        "right for 6 in bf16 and for 9 at one byte"
    )


def test_new_column_key():
    assert new_column_key("kv_bytes_per_token_headline_held") == "kv_bytes_per_token_typical_right"
    assert new_column_key("premium_in") == "premium_in"
