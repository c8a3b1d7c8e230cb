"""Small functions of `invert.estimators` on examples."""

from invert.data import read_data
from invert.estimate_text import new_column_key
from invert.estimators.known import bounds_at_cost


def test_bounds_at_cost():
    found = bounds_at_cost(read_data())
    assert found.count == 9
    assert found.right == 6
    assert found.right_at_one_byte == 9
    assert f"{found.least:.2g} to {found.most:.2g}" == "0.6 to 84"


def test_new_column_key():
    assert new_column_key("kv_bytes_per_token_headline_held") == "kv_bytes_per_token_typical_right"
    assert new_column_key("premium_in") == "premium_in"
