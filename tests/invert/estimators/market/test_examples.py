"""Small functions of `invert.estimators.market` on examples."""

from invert.data import read_data
from invert.estimators.market.line import known_kv_bytes


def test_known_kv_bytes():
    found = known_kv_bytes(read_data())
    assert min(found.values()) < 20000.0 < found["Llama-3.1-70B"]
