"""Small functions of `invert.validation` on examples."""

from invert.validation.experiments import round_nats


def test_round_nats():
    assert round_nats(-0.001) == 0.0
    assert round_nats(-0.286) == -0.29
