"""The fields of what a question came to: what is worked out when it is read travels with them."""

import pickle

import pytest

from derive.solving.api import solve

STEP = {"hardware": "H100:fp8", "model": "DeepSeek-V3", "batch": 2048, "context_length": 4000, "bytes_per_element": 1, "chips": 16}


def test_a_pickled_solution_keeps_its_elasticities():
    solution = solve("cost_per_token", **STEP, chip_price="2 USD/h")
    again = pickle.loads(pickle.dumps(solution))
    assert again == solution
    slopes = again.answers[0].elasticities
    assert slopes == solution.answers[0].elasticities and slopes["chip_price"] == pytest.approx(1)
