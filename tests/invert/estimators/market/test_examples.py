"""Small functions of `invert.estimators.market` on examples."""

import numpy as np

from invert.data import read_data
from invert.estimators.market.line import known_kv_bytes
from invert.estimators.market.record import spread_of_mean
from invert.estimators.market.student import Student, predict_one_more


def test_known_kv_bytes():
    found = known_kv_bytes(read_data())
    assert min(found.values()) < 20000.0 < found["Llama-3.1-70B"]


def test_spread_of_mean():
    error, (low, high) = spread_of_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    assert round(error, 2) == 0.35
    assert low == 0.0
    assert high == 1.0


def test_predict_one_more():
    assert predict_one_more([1.0, 2.0, 3.0]) == Student(centre=2.0, scale=1.1547005383792515, freedom=2)
