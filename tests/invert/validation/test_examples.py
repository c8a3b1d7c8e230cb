"""Small functions of `invert.validation` on examples."""

from invert.data import read_data
from invert.validation.candidates import HAVING_A_PREMIUM, verdicts
from invert.validation.experiments import round_nats


def test_round_nats():
    assert round_nats(-0.001) == 0.0
    assert round_nats(-0.286) == -0.29


def test_verdict_on_having_a_premium():
    found = verdicts(read_data())[HAVING_A_PREMIUM, "family"]
    assert found
    assert found.count == 18
    assert found.families == 11
    assert not found.enters
