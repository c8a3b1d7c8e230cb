"""The gate: what a price adds is judged by families whose weight it did not choose."""

from dataclasses import replace

import numpy as np
import pytest

from invert.assumptions import USUAL
from invert.estimators.market.pool import pool_verdict


def known(by_price, by_baseline):
    return [str(n) for n in range(len(by_price))], np.array(by_price), np.array(by_baseline)


def test_a_price_that_says_less_than_the_class_has_no_weight():
    one = pool_verdict(*known([-3.0] * 8, [-1.5] * 8))
    assert (one.stacked, one.weight, one.enters, one.gain_of_pool) == (0.0, 0.0, False, 0.0)


def test_one_family_that_a_price_fits_well_does_not_open_the_gate():
    """Its own gain is judged by the weight that the others choose, which is none."""
    one = pool_verdict(*known([2.0, *[-4.0] * 7], [-1.5] * 8))
    assert not one.enters and one.weight == 0.0 and one.gain_of_pool < 0.1


def test_a_price_that_says_more_enters_at_the_weight_of_the_best_pool():
    random = np.random.default_rng(2)
    by_baseline = random.normal(-1.6, 0.3, 12)
    one = pool_verdict(*known(by_baseline + random.normal(0.5, 0.2, 12), by_baseline))
    assert one.enters and one.weight == one.stacked > 0.8
    assert one.gain_of_pool == pytest.approx(0.5, abs=0.15) and one.gain_of_pool > one.standard_error


def test_the_gate_opens_at_so_many_standard_errors():
    by_baseline = np.full(12, -1.5)
    gains = by_baseline + np.random.default_rng(1).normal(0.5, 0.2, 12)
    usual = pool_verdict(*known(gains, by_baseline))
    strict = pool_verdict(*known(gains, by_baseline), replace(USUAL, least_gain_in_errors=2 * usual.gain_of_pool / usual.standard_error))
    assert usual.enters and usual.weight > 0 and not strict.enters and strict.weight == 0
    assert (strict.gain_of_pool, strict.stacked) == (usual.gain_of_pool, usual.stacked)
