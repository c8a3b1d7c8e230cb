"""Small functions of `invert.posterior` on examples."""

import numpy as np

from invert.posterior.summary import contracted
from invert.posterior.weights import log_mean


def test_contracted():
    assert contracted(0.5, 1.0) == 0.75


def test_log_mean():
    assert round(float(np.exp(log_mean(np.log([1.0, 3.0])))), 12) == 2.0
