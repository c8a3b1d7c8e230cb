"""Runs of numbers, such as the minutes of a day."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from invert.databases.records import A_DAY, runs


@given(st.sets(st.integers(0, A_DAY)))
def test_runs_hold_every_number_once_and_do_not_touch(numbers: set[int]):
    found = runs(numbers)
    assert [number for first, last in found for number in range(first, last + 1)] == sorted(numbers)
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(found))
