"""The forward model against hand-worked numbers and plain numpy, and there and back again through the exact inverse.

Formulas: docs/explanation/inversion.md, "From a model to prices" and back, in letters: y = a/2N_a,
x = 1/L*, w = B*/B, rho = prefill over decode FLOP/s, alpha = prompt position, o = overlap.
"""

import numpy as np
import pytest

from invert import forward
from tests.tools.together import in_one_test

HIDDEN = {
    "active_params": 1e11, "attention_flops_per_pair": 0.0, "balance_context": 1e5, "weight_compute_ratio": 5.0, "prompt_position": 0.5,
    "prefill_decode_flops_ratio": 1.0, "overlap": 1.0, "sweep_time": 0.024, "holding_cost_ratio": 1.0,
}  # fmt: skip
CONTEXTS = (1e5, 4e5)

# What changes against HIDDEN, then premium_in, output prices of both bands in input prices of the base band, storage
# price and cache read price in the same. All by hand: at 1e5 and 4e5 tokens memory is 5 + 1 and 5 + 4.
BY_HAND = [
    ({}, 1, (6, 9), 1 / 2400, 1e-5),
    ({"overlap": 0.0}, 1, (7, 10), 1 / 2400, 1e-5),  # compute is 1 in both bands and not hidden
    ({"overlap": 0.5}, 1, (6.5, 9.5), 1 / 2400, 1e-5),
    ({"prefill_decode_flops_ratio": 1.3}, 1, (7.8, 11.7), 1.3 / 2400, 1.3e-5),
    ({"holding_cost_ratio": 0.1, "sweep_time": 0.012}, 1, (6, 9), 1 / 12000, 1e-5),
    # a/2N_a = 5e-6: prefill 1.25 and 2, compute 1.5 and 3
    ({"attention_flops_per_pair": 1e6}, 1.6, (6 / 1.25, 9 / 1.25), 1 / 3000, 8e-6),
    ({"attention_flops_per_pair": 1e6, "overlap": 0.0}, 1.6, (7.5 / 1.25, 12 / 1.25), 1 / 3000, 8e-6),
    ({"attention_flops_per_pair": 1e6, "prompt_position": 1.0}, 2, (6 / 1.5, 9 / 1.5), 1 / 3600, 1e-5 / 1.5),
    # memory .1 + .1 and .1 + .4, below compute
    ({"weight_compute_ratio": 0.1, "balance_context": 1e6}, 1, (1, 1), 1 / 24000, 1e-6),
    ({"weight_compute_ratio": 0.1, "balance_context": 1e6, "overlap": 0.0}, 1, (1.2, 1.5), 1 / 24000, 1e-6),
    # the lecture's readings of Gemini 3.1 Pro, R = 6: L* = 200k, w = 6 - 20k/200k (contexts in the next test)
    ({"balance_context": 2e5, "weight_compute_ratio": 5.9}, 1, (6.4, 7.9), 1 / 4800, 5e-6),
]


@in_one_test(("changed", "premium_in", "output", "storage", "read"), BY_HAND)
def test_prices_worked_by_hand(changed: dict, premium_in: float, output: tuple[float, float], storage: float, read: float):
    found = forward(HIDDEN | changed, CONTEXTS, input_price=3e-6)
    assert found["input"] == pytest.approx([3e-6, 3e-6 * premium_in], rel=1e-14)
    assert found["output"] == pytest.approx([3e-6 * price for price in output], rel=1e-14)
    assert found["premium_in"] == pytest.approx([1, premium_in], rel=1e-14)
    assert found["premium_out"] == pytest.approx([1, output[1] / output[0]], rel=1e-14)
    assert found["output_input_ratio"] == pytest.approx(output[0], rel=1e-14)
    assert found["storage_price"] == pytest.approx(3e-6 * storage, rel=1e-14)
    assert found["cache_read_price"] == pytest.approx(3e-6 * read, rel=1e-14)


# Steps of 2 tokens share their reads, 5 + 1 and 5 + 4, and each token has arithmetic of its own, 1.
TWO_A_STEP = [({}, (3, 4.5)), ({"overlap": 0.0}, (4, 5.5)), ({"weight_compute_ratio": 0.5, "balance_context": 1e6}, (1, 1))]


@pytest.mark.parametrize(("changed", "output"), TWO_A_STEP)
def test_the_tokens_of_a_step_share_its_reads_and_not_its_arithmetic(changed: dict, output: tuple[float, float]):
    assert forward({**HIDDEN, "tokens_per_step": 2.0, **changed}, CONTEXTS)["output"] == pytest.approx(output, rel=1e-14)


def test_prices_do_not_depend_on_parameters_where_there_is_no_attention():
    assert forward(HIDDEN | {"active_params": 1e9}, CONTEXTS) == forward(HIDDEN, CONTEXTS)


def draws(count: int, seed: int, overlaps: tuple[float, ...] = (0.0, 0.5, 1.0)) -> dict[str, np.ndarray]:
    """Random truths; a tenth of them without attention FLOPs."""
    rng = np.random.default_rng(seed)

    def between(low: float, high: float) -> np.ndarray:
        return np.exp(rng.uniform(np.log(low), np.log(high), count))

    return {
        "active_params": between(1e9, 1e12),
        "attention_flops_per_pair": np.where(rng.random(count) < 0.1, 0.0, between(1e3, 3e6)),
        "balance_context": between(2e3, 1e6),
        "weight_compute_ratio": between(0.1, 30),
        "prompt_position": rng.uniform(0.3, 1, count),
        "prefill_decode_flops_ratio": between(0.4, 2.5),
        "overlap": rng.choice(overlaps, count),
        "sweep_time": between(0.013, 0.04),
        "holding_cost_ratio": between(0.01, 10),
        "short_context": between(1e3, 5e4),
        "stretch": between(2, 30),
    }


def test_arrays_against_plain_numpy():
    hidden = draws(100_000, seed=1)
    hidden["overlap"] = np.random.default_rng(2).uniform(0, 1, 100_000)
    contexts = [hidden.pop("short_context"), 1e5, 4e5]
    hidden.pop("stretch")
    price = np.random.default_rng(3).uniform(1e-7, 1e-4, 100_000)
    found = forward(hidden, contexts, price)

    y, x = hidden["attention_flops_per_pair"] / (2 * hidden["active_params"]), 1 / hidden["balance_context"]
    rho, o = hidden["prefill_decode_flops_ratio"], hidden["overlap"]
    prefill = [1 + hidden["prompt_position"] * y * m for m in contexts]
    compute, memory = [1 + y * m for m in contexts], [hidden["weight_compute_ratio"] + x * m for m in contexts]
    decode = [rho * (np.maximum(c, m) + (1 - o) * np.minimum(c, m)) for c, m in zip(compute, memory, strict=True)]
    scale = price / prefill[0]
    expected = {
        "input": [scale * cost for cost in prefill],
        "output": [scale * cost for cost in decode],
        "premium_in": [cost / prefill[0] for cost in prefill],
        "premium_out": [cost / decode[0] for cost in decode],
        "output_input_ratio": decode[0] / prefill[0],
        "storage_price": scale * rho * x * hidden["holding_cost_ratio"] / hidden["sweep_time"],
        "cache_read_price": scale * rho * x,
    }
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-12, err_msg=name)
