"""The prices of a sheet in its hidden primitives: gradients against differences of the forward model, and what gives a point."""

import numpy as np
import pytest

from invert.forward_model import forward
from invert.identify import _HAIR, _PLACE, _PRICES, PRIMITIVES, TYPICAL, gradients, identify, primitives_at
from tests.tools.together import in_one_test

BANDS = ("input", "output", "long_input", "long_output")


MEMORY_BOUND = {"balance_context": 1e5, "weight_compute_ratio": 6.0, "attention_context": 1e5}

RHO, ALPHA, LO, HI = "prefill_decode_flops_ratio", "prompt_position", "short_context", "long_context"


def prices_of(at: dict[str, float], overlap: float) -> np.ndarray:
    """All six prices from the primitives by `invert.forward_model.forward`, each component at its own price/cost."""
    ridge, double = at["peak_flops"] / at["hbm_bandwidth"], 2 * at["active_params"]
    hidden = {name: at[name] for name in ("active_params", "attention_flops_per_pair", ALPHA, RHO, "holding_cost_ratio")}
    hidden |= {"overlap": overlap, "sweep_time": at["hbm_capacity"] / at["hbm_bandwidth"]}
    hidden |= {"balance_context": double / (ridge * at["kv_bytes_per_token"])}
    hidden |= {"weight_compute_ratio": ridge * at["weight_bytes"] / (double * at["batch"])}
    y = at["attention_flops_per_pair"] / double
    floor = at["input_price_cost_ratio"] * at["chip_price"] * double / (at["peak_flops"] * at[RHO])
    found = forward(hidden, (at[LO], at[HI]), floor * (1 + at[ALPHA] * y * at[LO]))
    ratios = [at[name] / at["input_price_cost_ratio"] for name in ("output_price_cost_ratio", "storage_price_cost_ratio")]
    hit = at["cache_read_price_cost_ratio"] * (found["cache_read_price"] * at["tier_read_cost_ratio"] + floor * at["suffix_tokens"] * y)
    base_input, long_input = found["input"]
    base_output, long_output = (price * ratios[0] for price in found["output"])
    return np.array([base_input, base_output, long_input, long_output, hit, found["storage_price"] * ratios[1]])


# Values off 1, so that no power hides; weight bytes and KV bytes set the regime.
SOMEWHERE = {
    **TYPICAL,
    "chip_price": 7e-4,
    "input_price_cost_ratio": 3.0,
    "output_price_cost_ratio": 2.0,
    "storage_price_cost_ratio": 5.0,
    "cache_read_price_cost_ratio": 0.7,
}
SOMEWHERE |= {"holding_cost_ratio": 0.4, "prefill_decode_flops_ratio": 1.3, "prompt_position": 0.6, "tier_read_cost_ratio": 4.0}
REGIMES = {
    "memory-bound in both bands": {},
    "compute-bound in the base band, memory-bound in the long one": {"weight_bytes": 3e10, "attention_flops_per_pair": 2e5},
    "compute-bound in both bands": {"weight_bytes": 3e10, "kv_bytes_per_token": 100.0},
    "memory-bound in the base band, compute-bound in the long one": {"weight_bytes": 4e11, "kv_bytes_per_token": 100.0},
}


@in_one_test("overlap", [0.0, 0.4, 1.0])
@in_one_test("regime", REGIMES)
def test_the_jacobian_against_central_differences_of_the_forward_model(regime: str, overlap: float):
    values = {**SOMEWHERE, **REGIMES[regime]}
    assert identify(tuple(_PRICES), overlap=overlap, values=values).regime == regime
    exact = gradients(tuple(_PRICES), primitives_at(values, overlap))
    for place, name in enumerate(PRIMITIVES):
        up, down = (np.log(prices_of({**values, name: values[name] * np.exp(step)}, overlap)) for step in (1e-4, -1e-4))
        np.testing.assert_allclose(exact[:, place], (up - down) / 2e-4, atol=1e-7, err_msg=name)


def test_attention_of_nothing_is_a_hair_of_compute():
    """It has no logarithm: its column is that of a billionth of a thousandth of compute, in units of it."""
    at = primitives_at({**MEMORY_BOUND, "attention_context": 1e5, "attention_flops_per_pair": 0.0}, 1.0)
    assert at["attention_flops_per_pair"] * at[HI] == pytest.approx(2 * _HAIR * at["active_params"], rel=1e-12)
    column = gradients(BANDS, at)[:, _PLACE["attention_flops_per_pair"]]
    assert column == pytest.approx([at[ALPHA] * at[LO] / at[HI], 0, at[ALPHA], 0], rel=1e-9)
