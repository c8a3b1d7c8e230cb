"""What moved, as records: numbers are compared where they are of one kind."""

from math import log

import pytest

from invert.comparison_records import Moved, log_change
from invert.records import Estimate


def test_a_bound_and_a_median_are_not_compared_as_numbers():
    bound, median = Estimate(kind="upper", high=4.0), Estimate(kind="interval", median=2.0, low=1.0, high=4.0)
    assert log_change(median, bound) is None and log_change(None, median) is None
    assert log_change(bound, Estimate(kind="upper", high=8.0)) == pytest.approx(log(2))


def test_an_inference_without_a_range_moved_by_no_share_of_it():
    point, later = Estimate(kind="point", median=2.0), Estimate(kind="point", median=4.0)
    one = Moved(quantity="q", estimator="joint", before=point, after=later, prices=())
    assert (one.times, one.share_of_range) == (pytest.approx(2), None)
