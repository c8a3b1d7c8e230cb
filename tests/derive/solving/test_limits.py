"""Results given as limits, at most or at least so much: how they are read, and which are none."""

from math import ceil

import pytest

from derive.errors import WrongValue
from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

CHIP = {"peak_flops": 1e15, "hbm_bandwidth": 3e12, "hbm_capacity": 80e9, "bytes_per_weight": 1}
MODEL = {"active_params": 60e9, "total_params": 60e9, "kv_bytes_per_token": 100e3, "context_length": 10_000}
HELD = 60e9 + 64 * 1e9
"""Weights of a byte each, and 64 caches of 10,000 tokens of 100 kB: in chips of 80 GB, which read 3 TB/s."""


@pytest.mark.parametrize(
    ("unknown", "limit", "value", "bound"),
    [
        ("chips", {"throughput": "<=8000", "batch": 64}, 5, "upper"),
        ("batch", {"token_latency": ">=10ms", "chips": 8}, 180, "lower"),
    ],
)
def test_a_limit_on_the_slow_side_is_met_from_where_the_computed_result_meets_it(unknown, limit, value, bound):
    (found,) = solve(unknown, **CHIP, **MODEL, **limit).answers
    assert (found.value, found.bound) == (value, bound)


def test_a_limit_that_has_no_part_in_the_answer_is_not_used():
    found = solve("step_time", **CHIP, **MODEL, chips=8, batch=15, chip_price="<=2 USD/h")
    assert found.value == solve("step_time", **CHIP, **MODEL, chips=8, batch=15).value and found.unused == ("chip_price",)


@pytest.mark.parametrize(
    ("unknown", "given", "value", "bound"),
    [
        ("cost_per_token", {"chip_price": "<=0.001", "chips": 8, "throughput": 4000}, 2e-6, "upper"),
        ("cost_per_token", {"chip_price": "<=0.001", "chips": 8, "throughput": ">=4000"}, 2e-6, "upper"),
        ("balance_batch", {"machine_balance_ratio": ">=300", "sparsity": 8}, 2400, "lower"),
        ("memory_demand", {"weight_bytes": 8e9, "kv_bytes_per_sequence": 1e9, "sequences_in_flight": "<=20"}, 28e9, "upper"),
        ("fleet_sequences_in_flight", {"replicas": 4, "sequences_in_flight": ">=20"}, 80, "lower"),
        ("throughput", {**CHIP, **MODEL, "chips": 8, "batch": "<=15"}, 15 * 24e12 / 75e9, "upper"),
        ("throughput", {**CHIP, **MODEL, "chips": 8, "context_length": ">=10000"}, 580 * 24e12 / 640e9, "upper"),
        ("training_time", {"training_flops": 8.64e25, "training_chips": "<=1000", "peak_flops": 1e18, "mfu": 1}, 86400, "lower"),
    ],
)
def test_a_limit_on_an_input_bounds_the_answer(unknown, given, value, bound):
    (found,) = solve(unknown, **given).answers
    assert (found.value, found.bound) == (pytest.approx(value), bound)


def test_limits_from_both_sides_on_an_input_are_a_range():
    solution = solve("cost_per_token", chip_price=">=0.001 <=0.002", chips=8, throughput=4000)
    assert solution.answers[0].ends == (pytest.approx(2e-6), pytest.approx(4e-6))


def test_limits_on_inputs_that_leave_both_sides_open_are_no_answer():
    reason = solve("cost_per_token", chip_price=">=0.001", chips=8, throughput=">=4000").reason
    assert reason.code == "not_identified" and {*reason.violated} == {"chip_price", "throughput"}


def test_a_limit_is_held_against_an_unknown_that_is_found_backwards():
    given = {"attention_flops_per_pair": "20 MFLOP", "kv_bytes_per_token": "4 kB", "chips": 8, "throughput": 4000}
    met = solve("chip_price", cost_per_token="$2/Mtok", attention_intensity="<=6000", **given)
    assert met.value == pytest.approx(0.001) and met.answers[0].kind == "point"


def test_a_limit_on_a_result_that_the_other_givens_determine_is_only_compared():
    request = {"prompt_tokens": 4000, "output_tokens": 40, "price_per_request": 0.005}
    priced = solve("output_price", **request, output_input_ratio="<=25", blended_price=">=9e-7")
    assert priced.value == pytest.approx(0.005 / (4000 / 25 + 40)) and priced.answers[0].bound == "upper"


def test_a_result_at_the_largest_batch_is_no_bound_where_smaller_ones_move_it_the_other_way():
    """A pass of 180 sequences fills 10 ms. Its arithmetic lasts longer below the peak, and shorter with fewer sequences."""
    served = {**CHIP, **MODEL, "chips": 8, "step_time": "<=10ms"}
    demand = solve("memory_demand", **served)
    assert demand.answers[0].ends == pytest.approx((61e9, 240e9), rel=1e-3)
    assert solve("throughput", **served).answers[0].bound == "upper"


def test_limits_over_lists_and_ranges():
    by_speed = [HELD / 3e12 * rate / 64 for rate in (2000, 8000)]
    listed = solve("chips", **CHIP, **MODEL, batch=64, throughput=">=2000,8000").sweep
    assert listed.values[0].tolist() == [ceil(HELD / 80e9), ceil(by_speed[1])] and listed.bound == "lower"
    both = solve("chips", **CHIP, **MODEL, batch=64, throughput=">=2000,8000", step_time="<=10ms").sweep
    assert both.values[0].tolist() == [ceil(HELD / 3e12 / 0.01), ceil(by_speed[1])]
    spans = solve("chips", **CHIP, **MODEL, batch=64, throughput=">=2000..8000")
    assert (spans.spans.low, spans.spans.high, spans.answers[0].bound) == (ceil(HELD / 80e9), ceil(by_speed[1]), "lower")


def test_two_limits_from_the_same_side_are_refused():
    with pytest.raises(WrongValue, match="step_time is given twice"):
        solve("batch", **CHIP, **MODEL, chips=8, step_time="<=30ms", t="<=10ms")
    with pytest.raises(WrongValue, match="step_time is given twice"):
        solve("batch", **CHIP, **MODEL, chips=8, step_time="<=30ms", t="10ms")
