"""The prices of a sheet in its hidden primitives: gradients against differences of the forward model, and what gives a point."""

import numpy as np
import pytest

from derive.errors import UnknownName, WrongValue
from derive.evaluate import evaluate
from invert.forward_model import forward
from invert.identify.identifiability import identify
from invert.identify.primitives import (
    _COMPONENTS,
    _HAIR,
    _PLACE,
    GIVEN_AS,
    PRIMITIVES,
    SPAN,
    TYPICAL,
    build_tree,
    drain_time_row,
    gradients,
    ordered,
    primitives_at,
    regime_in_words,
)  # fmt: skip
from tests.tools.together import in_one_test

BANDS = ("input", "output", "long_input", "long_output")
MEMORY_BOUND = {"balance_context": 1e5, "weight_compute_ratio": 6.0, "attention_context": 1e5}
RHO, ALPHA, LO, HI = "prefill_decode_flops_ratio", "prompt_position", "short_context", "long_context"


def prices_of(at: dict[str, float], overlap: float) -> np.ndarray:
    """All six prices from the primitives by `invert.forward_model.forward`, each component at its own mark-up."""
    ridge, double = at["peak_flops"] / at["hbm_bandwidth"], 2 * at["active_params"]
    hidden = {name: at[name] for name in ("active_params", "attention_flops_per_pair", ALPHA, RHO, "holding_cost_ratio")}
    hidden |= {"overlap": overlap, "sweep_time": at["hbm_capacity"] / at["hbm_bandwidth"]}
    hidden |= {"balance_context": double / (ridge * at["kv_bytes_per_token"])}
    hidden |= {"weight_compute_ratio": ridge * at["weight_bytes"] / (double * at["batch"])}
    y = at["attention_flops_per_pair"] / double
    floor = at["input_markup"] * at["chip_price"] * double / (at["peak_flops"] * at[RHO])
    found = forward(hidden, (at[LO], at[HI]), floor * (1 + at[ALPHA] * y * at[LO]))
    markups = [at[name] / at["input_markup"] for name in ("output_markup", "storage_markup")]
    hit = at["cache_read_markup"] * (found["cache_read_price"] * at["tier_read_cost_ratio"] + floor * at["suffix_tokens"] * y)
    base_input, long_input = found["input"]
    base_output, long_output = (price * markups[0] for price in found["output"])
    return np.array([base_input, base_output, long_input, long_output, hit, found["storage_price"] * markups[1]])


# Values off 1, so that no power hides; weight bytes and KV bytes set the regime.
SOMEWHERE = {**TYPICAL, "chip_price": 7e-4, "input_markup": 3.0, "output_markup": 2.0, "storage_markup": 5.0, "cache_read_markup": 0.7}
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
    assert identify(_COMPONENTS, overlap=overlap, values=values).regime == regime
    exact = gradients(_COMPONENTS, primitives_at(values, overlap))
    for place, name in enumerate(PRIMITIVES):
        up, down = (np.log(prices_of({**values, name: values[name] * np.exp(step)}, overlap)) for step in (1e-4, -1e-4))
        np.testing.assert_allclose(exact[:, place], (up - down) / 2e-4, atol=1e-7, err_msg=name)


def test_elasticities_by_hand():
    """Memory-bound, L* = 100 k, w = 6, y = 1e-5: output 6 + .2 and 6 + 3, input 1 + .1 and 1 + 1.5."""
    found = gradients(BANDS, primitives_at(MEMORY_BOUND, 1.0))
    of = {name: found[:, place] for place, name in enumerate(PRIMITIVES)}
    expected = {
        "kv_bytes_per_token": [0, 0.2 / 6.2, 0, 3 / 9],
        "weight_bytes": [0, 6 / 6.2, 0, 6 / 9],
        "batch": [0, -6 / 6.2, 0, -6 / 9],
        "attention_flops_per_pair": [0.1 / 1.1, 0, 1.5 / 2.5, 0],
        "active_params": [1 / 1.1, 0, 1 / 2.5, 0],
        "short_context": [0.1 / 1.1, 0.2 / 6.2, 0, 0],
        "long_context": [0, 0, 1.5 / 2.5, 3 / 9],
        "hbm_bandwidth": [0, -1, 0, -1],
        "peak_flops": [-1, 0, -1, 0],
        "input_markup": [1, 0, 1, 0],
        "output_markup": [0, 1, 0, 1],
    }
    for name, column in expected.items():
        np.testing.assert_allclose(of[name], column, atol=1e-14, err_msg=name)
    np.testing.assert_allclose(of["chip_price"], 1, rtol=1e-14)


# -- the dollar-anchored reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regime", "overlap", "whole"),
    [
        ("memory-bound in both bands", 1.0, True),
        ("memory-bound in both bands", 0.0, False),
        ("compute-bound in the base band, memory-bound in the long one", 1.0, False),
    ],
)
def test_the_increment_is_kv_reads_at_the_output_markup_only_at_maximum_and_memory_bound(regime: str, overlap: float, whole: bool):
    """Why the row of dollars has 3 facts there, one more where attention is added, and none that help in the lecture's regime.

    Over the KV reads alone the increment has a mark-up in any regime, and that mark-up with the price of a byte and the
    span gives k by definition, 3 facts and no more: it is the output mark-up only where the increment pays for nothing else.
    """
    at = {**SOMEWHERE, **REGIMES[regime]}
    _, base, _, long, *_ = prices_of(at, overlap)
    reads = at["chip_price"] / at["hbm_bandwidth"] * at["kv_bytes_per_token"] * (at[HI] - at[LO])
    assert ((long - base) / reads == pytest.approx(at["output_markup"], rel=1e-9)) == whole
    if overlap == 0:
        attention = at["chip_price"] / at["peak_flops"] * at["attention_flops_per_pair"] * (at[HI] - at[LO])
        assert (long - base) / (reads + attention) == pytest.approx(at["output_markup"], rel=1e-9)


# -- a point --------------------------------------------------------------------------------------------------------


@in_one_test("name", GIVEN_AS)
def test_a_point_that_is_given_by_a_quantity_has_it(name: str):
    for value in (0.3, 7e4):
        at = primitives_at({name: value, "active_params": 3e10}, 1.0)
        assert evaluate(build_tree(name), at) == pytest.approx(value, rel=1e-12)
        moved = {one for one in PRIMITIVES if at[one] != primitives_at({"active_params": 3e10}, 1.0)[one]}
        assert moved == {GIVEN_AS[name]}, "nothing else moves"


@in_one_test(
    ("values", "overlap", "said"),
    [
        ({"batch": 0.0}, 1.0, "batch = 0"),
        ({"balance_context": float("inf")}, 1.0, "balance_context = inf"),
        ({"ridge_point": -1.0}, 1.0, "ridge_point = -1"),
        ({HI: 2e4, LO: 2e4}, 1.0, "long_context = 20000: must be above short_context = 20000"),
        ({}, 1.5, "overlap"),
    ],
)
def test_a_point_that_cannot_be_is_refused(values: dict, overlap: float, said: str):
    with pytest.raises(WrongValue, match=said):
        primitives_at(values, overlap)


def test_attention_of_nothing_is_a_hair_of_compute():
    """It has no logarithm: its column is that of a billionth of a thousandth of compute, in units of it."""
    at = primitives_at({**MEMORY_BOUND, "attention_context": 1e5, "attention_flops_per_pair": 0.0}, 1.0)
    assert at["attention_flops_per_pair"] * at[HI] == pytest.approx(2 * _HAIR * at["active_params"], rel=1e-12)
    column = gradients(BANDS, at)[:, _PLACE["attention_flops_per_pair"]]
    assert column == pytest.approx([at[ALPHA] * at[LO] / at[HI], 0, at[ALPHA], 0], rel=1e-9)


def test_components_come_in_one_order_and_a_name_that_is_none_is_refused():
    assert ordered(set(_COMPONENTS)) == ordered(_COMPONENTS[::-1]) == _COMPONENTS and ordered(["output", "input"]) == ("input", "output")
    with pytest.raises(UnknownName, match=r"component 'outputs'; did you mean 'output'"):
        ordered(["outputs"])
    with pytest.raises(UnknownName, match="a sheet has at least one price"):
        ordered([])


# -- what is built of primitives ------------------------------------------------------------------------------------


def test_a_product_by_name_is_the_product_of_its_parts():
    at = primitives_at({}, 1.0)
    assert evaluate(build_tree("chip_price/hbm_capacity*batch"), at) == pytest.approx(
        at["chip_price"] / at["hbm_capacity"] * at["batch"], rel=1e-14
    )
    assert evaluate(build_tree(SPAN), at) == at[HI] - at[LO]
    assert build_tree("active_params_times_markup") == ("*", "active_params", "input_markup")
    assert build_tree("no_such_thing") == "no_such_thing"


@in_one_test("regime", REGIMES)
def test_the_regime_is_said_of_both_bands_or_of_the_one_there_is(regime: str):
    at = primitives_at({**SOMEWHERE, **REGIMES[regime]}, 1.0)
    assert regime_in_words(BANDS, at) == regime
    assert regime_in_words(("input", "output"), at) == regime.removesuffix(" in both bands").partition(" in the base band")[0]


def test_the_drain_time_that_prices_imply_moves_as_they_do():
    """The increment of output over the price of storage and the span, by differences of the forward model."""
    values = {**SOMEWHERE, **REGIMES["memory-bound in both bands"]}

    def implied(at: dict[str, float]) -> float:
        _, output, _, long_output, _, storage = prices_of(at, 1.0)
        return float((long_output - output) / (storage * (at[HI] - at[LO])))

    row = drain_time_row(primitives_at(values, 1.0))
    for place, name in enumerate(PRIMITIVES):
        up, down = (np.log(implied({**values, name: values[name] * np.exp(step)})) for step in (1e-4, -1e-4))
        assert row[place] == pytest.approx((up - down) / 2e-4, abs=1e-6), name
