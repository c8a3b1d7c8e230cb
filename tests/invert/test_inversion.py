"""SciPy inverts the forward model: there and back on random sheets, against the closed forms, and what prices leave open."""

import random
from functools import partial

import pytest

from derive.catalogue import equation
from invert.estimators.all_prices import JOINT_STEPS, invert_pair
from invert.estimators.lecture import bandwidth_bound_fraction
from invert.forward_model import crossover_context, forward, invert_price, invert_prices
from invert.inference import infer
from invert.steps import solve_steps

CONTEXTS = (1.6e4, 3.7e5)
ANCHORS = {
    "active_params": 1e11, "ridge_point": 600.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.0, "overlap": 1.0,
    "tokens_per_step": 1.0, "kv_replication": 1.0,
}  # fmt: skip


def sheet_of(hidden: dict[str, float]) -> dict[str, float]:
    found = forward({**hidden, "sweep_time": 1.0, "holding_cost_ratio": 1.0}, CONTEXTS)
    prices = {
        "premium_in": found["premium_in"][1],
        "premium_out": found["premium_out"][1],
        "output_input_ratio": found["output_input_ratio"],
    }
    return {name: float(price) for name, price in prices.items()} | {"short_context": CONTEXTS[0], "long_context": CONTEXTS[1]}


@pytest.mark.parametrize("seed", range(3))
def test_prices_to_parameters_and_back_on_random_sheets(seed: int):
    """Memory-bound decode: both bands then say how long a step reads."""
    draw = random.Random(seed)
    for _ in range(20):
        anchors = {**ANCHORS, "overlap": draw.random(), "prompt_position": draw.uniform(0.3, 1)}
        attention = draw.uniform(0, 2e5)
        # Reads at the long context exceed arithmetic there.
        balance = draw.uniform(1e4, 5e4)
        hidden = {"attention_flops_per_pair": attention, "balance_context": balance, "weight_compute_ratio": draw.uniform(2, 9)}
        prices = sheet_of(anchors | hidden)
        found = invert_pair(anchors | prices)
        assert found.solved and not found.undetermined
        kv = crossover_context(1.0, anchors) / hidden.pop("balance_context")
        assert found.values == pytest.approx({**hidden, "kv_bytes_per_token": kv}, rel=1e-9)
        closed = solve_steps(JOINT_STEPS, anchors | prices)
        assert found.values["kv_bytes_per_token"] == pytest.approx(closed.value, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_one_price_gives_what_the_closed_form_gives(seed: int):
    draw = random.Random(seed)
    for _ in range(20):
        ratio, threshold = draw.uniform(1.01, 20), draw.uniform(1e4, 1e6)
        closed = equation("readings.bandwidth_bound_fraction").right_side({"output_input_ratio": ratio})
        assert bandwidth_bound_fraction(ratio).values["bandwidth_bound_fraction"] == pytest.approx(closed, rel=1e-14)
        anchors = {"active_params": draw.uniform(1e9, 1e12), "ridge_point": draw.uniform(200, 1200)}
        found = invert_price(partial(crossover_context, anchors=anchors), threshold)
        assert found == pytest.approx(2 * anchors["active_params"] / anchors["ridge_point"] / threshold, rel=1e-14)


def test_a_price_that_no_value_leads_to_has_no_inverse():
    assert invert_price(lambda value: 1 + value, 0.5) is None


def test_too_few_prices_leave_a_direction_open_and_name_it():
    def predict(at):
        return {"output": at["weights"] + at["cache"]}

    found = invert_prices(predict, {"output": 6.0}, {"weights": 1.0, "cache": 1.0})
    assert found.solved and found.undetermined == (("weights", "cache"),)


def test_a_parameter_that_moves_no_price_is_open_alone():
    found = invert_prices(lambda at: {"input": at["input_price"]}, {"input": 1.0}, {"input_price": 1.0, "kv_bytes_per_token": 1.0})
    assert found.undetermined == (("kv_bytes_per_token",),)


def test_prices_that_contradict_the_model_keep_a_residual():
    found = invert_prices(lambda at: {"one": at["size"], "other": at["size"]}, {"one": 1.0, "other": 2.0}, {"size": 1.0})
    assert not found.solved


def test_infer_reproduces_the_prices_that_its_readings_use():
    for one in infer():
        for pair in one.pairs:
            used = [check for check in (*pair.lecture_checks, *pair.joint_checks) if check.used_by_reading]
            assert all(check.predicted == pytest.approx(check.published, rel=1e-12) for check in used)
