"""Answers as data frames, and points of sweeps by their number."""

import pytest

import derive
from derive.errors import NoSingleValue


def test_a_sweep_is_a_frame_and_is_indexed_by_point():
    sweep = derive.solve("balance_batch", machine_balance_ratio=[100, 200, 300], sparsity=8)
    assert sweep.to_frame()["balance_batch"].tolist() == [800, 1600, 2400]
    given, (answer,) = sweep[-1]
    assert (given["machine_balance_ratio"], answer.value) == (300, 2400)
    with pytest.raises(IndexError):
        sweep[3]


def test_a_single_answer_is_a_frame_and_not_indexed():
    one = derive.solve("balance_batch", machine_balance_ratio=300, sparsity=8)
    assert one.to_frame()["balance_batch"].tolist() == [2400]
    with pytest.raises(NoSingleValue):
        one[0]
