"""What runs over several values and has no part in the answer is refused: a picture of it would be a flat line."""

from typing import Any

import pytest

from derive.errors import WrongValue
from derive.solving.api import respond_all, solve

SERVED = {"hardware": "H100-SXM:fp8", "model": "Llama-3.1-70B", "chips": 4, "batch": 64, "context_length": "2k", "chip_price": "2.5 USD/h"}
GIVEN = {name: value for name, value in SERVED.items() if name not in ("hardware", "model")}


@pytest.mark.parametrize("shares", [[0.2, 1], "0.2..1:lin:9", "0.2..1:lin:200"])
def test_a_sweep_without_a_part_is_refused_with_what_it_has_a_part_in(shares: Any):
    with pytest.raises(WrongValue, match="no part in throughput: leave it out, or ask for fleet_throughput, in which"):
        respond_all(["throughput"], {**GIVEN, "fleet_utilisation": shares}, "H100-SXM:fp8", "Llama-3.1-70B")
    assert solve("throughput", **SERVED, fleet_utilisation=0.2).unused == ("chip_price", "fleet_utilisation")


def test_a_part_in_one_of_several_answers_is_enough():
    given = {**GIVEN, "fleet_utilisation": "0.2;1"}
    alone, of_fleet = respond_all(["cost_per_token", "fleet_cost_per_token"], given, "H100-SXM:fp8", "Llama-3.1-70B")
    assert alone.sweep and of_fleet.sweep
    assert of_fleet.sweep.values[0] == pytest.approx(alone.sweep.values[0] / [0.2, 1])
    with pytest.raises(WrongValue, match="no part in throughput or step_time"):
        respond_all(["throughput", "step_time"], given, "H100-SXM:fp8", "Llama-3.1-70B")


def test_what_answers_are_held_against_has_a_part_in_them():
    assert solve("step_time", **SERVED, hbm_capacity=["80GB", "141GB"]).sweep
    # In a memory of 8 GB they do not fit, and that is an answer too.
    assert solve("step_time", **SERVED, hbm_capacity=["8GB", "141GB"]).sweep
