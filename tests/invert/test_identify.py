"""What prices can and cannot say, against a table worked out by hand and against brute force.

The table: rank, nullity, and the fewest outside facts that pin each target, by regime. The rows of facts
and targets are written down again here by hand, and every subset of facts is tried, so that neither the search nor the
substitution of equations vouches for itself.
"""

from itertools import combinations
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invert.forward_model import forward
from invert.identify import _PRICES, FACTS_OF, PRIMITIVES, SPAN, gradients, identified, identify, primitives_at
from tests.tools.together import in_one_test

SINGLE, BANDS = ("input", "output"), ("input", "output", "long_input", "long_output")
EVERY = tuple(_PRICES)
MEMORY_BOUND = {"balance_context": 1e5, "weight_compute_ratio": 6.0, "attention_context": 1e5}
# Base band: memory .3 + .2 beside compute 1.02; long band: .3 + 3 beside 1.3.
LECTURE = {"balance_context": 1e5, "weight_compute_ratio": 0.3, "attention_context": 1e6}
COMPUTE_BOUND = {"balance_context": 1e7, "weight_compute_ratio": 0.3, "attention_context": 1e6}
REVERSED = {"balance_context": 1e6, "weight_compute_ratio": 2.0, "attention_context": 1e5}

RHO, RATIOS, ALPHA, LO, HI = (
    "prefill_decode_flops_ratio", "output_price_cost_ratio/input_price_cost_ratio", "prompt_position", "short_context", "long_context",
)  # fmt: skip
RIDGE, PARAMS = "ridge_point", "active_params"
TABLE = [  # target; at maximum; added up
    ("attention_intensity/ridge_point", {RHO, RATIOS, ALPHA}, {RHO, RATIOS, ALPHA}),
    ("attention_context", {LO, HI, ALPHA}, {LO, HI, ALPHA}),
    ("balance_context", {RHO, RATIOS, LO, HI}, {RHO, RATIOS, LO, HI, ALPHA}),
    ("attention_intensity", {RHO, RATIOS, ALPHA, RIDGE}, {RHO, RATIOS, ALPHA, RIDGE}),
    ("weight_compute_ratio", {RHO, RATIOS, LO, HI}, {RHO, RATIOS, LO, HI}),
    ("kv_bytes_per_token", {PARAMS, RIDGE, RHO, RATIOS, LO, HI}, {PARAMS, RIDGE, RHO, RATIOS, LO, HI, ALPHA}),
    (
        "kv_bytes_per_token_in_dollars",
        {"price_per_hbm_byte", "increment_price_cost_ratio", SPAN},
        {"price_per_hbm_byte", "increment_price_cost_ratio", SPAN, "attention_flops_per_pair*price_per_flop"},
    ),
]


@in_one_test(("target", "at_maximum", "added_up"), TABLE, ids=[row[0] for row in TABLE])
def test_the_facts_that_are_missing_where_memory_binds(target: str, at_maximum: set, added_up: set):
    for overlap, expected in ((1.0, at_maximum), (0.0, added_up), (0.5, added_up)):
        found = identify(BANDS, overlap=overlap, values=MEMORY_BOUND)
        assert found.regime == "memory-bound in both bands"
        assert set(found.missing_facts[target]) == expected, overlap
        assert target not in found.degenerate_with


LECTURE_COLUMN = [  # on the lecture's board
    ("attention_intensity/ridge_point", None, "weight_bytes/batch"),
    ("attention_context", {LO, HI, ALPHA}, None),
    ("balance_context", None, "weight_bytes/batch"),
    ("attention_intensity", None, "weight_bytes/batch"),
    ("weight_compute_ratio", None, "kv_bytes_per_token"),
    ("kv_bytes_per_token", None, "weight_bytes/batch"),
    # Three facts pin k only if the price/cost is over the KV reads alone: see the test of that below.
    ("kv_bytes_per_token_in_dollars", None, "weight_bytes/batch"),
]


@in_one_test(("target", "facts", "degenerate"), LECTURE_COLUMN, ids=[row[0] for row in LECTURE_COLUMN])
def test_the_facts_that_are_missing_in_the_lectures_regime(target: str, facts: set | None, degenerate: str | None):
    found = identify(BANDS, overlap=1.0, values=LECTURE)
    assert found.regime == "compute-bound in the base band, memory-bound in the long one"
    assert found.missing_facts[target] == facts or set(found.missing_facts[target]) == facts
    assert found.degenerate_with.get(target) == degenerate
    if degenerate:
        assert found.verdict(target) == f"not determined: cannot be separated from {degenerate}"


def test_what_is_degenerate_can_be_moved_without_any_price_moving():
    """In the lecture's regime a quarter more KV bytes with less weight read make the very same sheet; in the other they do not."""

    def prices(w: float, balance: float) -> np.ndarray:
        hidden = {"active_params": 1e11, "attention_flops_per_pair": 2e5, "balance_context": balance, "weight_compute_ratio": w}
        hidden |= {"prompt_position": 0.5, "prefill_decode_flops_ratio": 1.0, "overlap": 1.0, "sweep_time": 0.024, "holding_cost_ratio": 1}
        found = forward(hidden, (2e4, 3e5), 1e-6)
        return np.array([*found["input"], *found["output"]])

    np.testing.assert_allclose(prices(2.0 - 1.5, 2e5), prices(2.0 - 1.2, 2.5e5), rtol=1e-14)
    assert not np.allclose(prices(7.0 - 1.5, 2e5), prices(7.0 - 1.2, 2.5e5), rtol=1e-3)


# -- brute force ----------------------------------------------------------------------------------------------------

BY_HAND = {
    RIDGE: {"peak_flops": 1, "hbm_bandwidth": -1},
    RATIOS: {"output_price_cost_ratio": 1, "input_price_cost_ratio": -1},
    "sweep_time": {"hbm_capacity": 1, "hbm_bandwidth": -1},
    "holding_cost_ratio*storage_price_cost_ratio/input_price_cost_ratio": {
        "holding_cost_ratio": 1,
        "storage_price_cost_ratio": 1,
        "input_price_cost_ratio": -1,
    },
    "attention_intensity": {"attention_flops_per_pair": 1, "kv_bytes_per_token": -1},
    "attention_intensity/ridge_point": {"attention_flops_per_pair": 1, "kv_bytes_per_token": -1, "peak_flops": -1, "hbm_bandwidth": 1},
    "attention_context": {"active_params": 1, "attention_flops_per_pair": -1},
    "balance_context": {"active_params": 1, "hbm_bandwidth": 1, "peak_flops": -1, "kv_bytes_per_token": -1},
    "weight_compute_ratio": {"peak_flops": 1, "weight_bytes": 1, "hbm_bandwidth": -1, "active_params": -1, "batch": -1},
    "kv_bytes_per_token_in_dollars": {"kv_bytes_per_token": 1},
    "price_per_hbm_byte": {"chip_price": 1, "hbm_bandwidth": -1},
    "price_per_flop": {"chip_price": 1, "peak_flops": -1},
    "increment_price_cost_ratio": {"output_price_cost_ratio": 1},
    "attention_flops_per_pair*price_per_flop": {"attention_flops_per_pair": 1, "chip_price": 1, "peak_flops": -1},
    "chip_price/hbm_capacity": {"chip_price": 1, "hbm_capacity": -1},
    "active_params_times_price_cost_ratio": {"active_params": 1, "input_price_cost_ratio": 1},
    "input_price_cost_ratio*price_per_flop/prefill_decode_flops_ratio": {
        "input_price_cost_ratio": 1,
        "chip_price": 1,
        "peak_flops": -1,
        RHO: -1,
    },
    SPAN: {HI: 15 / 14, LO: -1 / 14},  # 2e4 and 3e5
}


def row(name: str) -> np.ndarray:
    powers = BY_HAND.get(name, {name: 1})
    return np.array([powers.get(primitive, 0.0) for primitive in PRIMITIVES])


def pins(known: np.ndarray, target: np.ndarray) -> bool:
    weights = np.linalg.lstsq(known.T, target, rcond=1e-11)[0]
    return bool(np.abs(known.T @ weights - target).max() < 1e-8)


@in_one_test("values", [MEMORY_BOUND, LECTURE, COMPUTE_BOUND, REVERSED], ids=["memory", "lecture", "compute", "reversed"])
@in_one_test("components", [SINGLE, (*SINGLE, "storage"), BANDS, EVERY], ids=len)
@in_one_test("overlap", [1.0, 0.3])
def test_no_smaller_set_of_facts_pins_a_target(values: dict, components: tuple, overlap: float):
    found = identify(components, overlap=overlap, values=values)
    prices = gradients(components, primitives_at(values, overlap))
    for target, facts in FACTS_OF.items():
        if target == "implied_drain_time":
            continue
        everything = np.vstack([prices, *(row(name) for name in facts)])
        chosen = found.missing_facts[target]
        assert pins(everything, row(target)) == (chosen is not None), target
        if chosen is None:
            continue
        assert pins(np.vstack([prices, *(row(name) for name in chosen)]), row(target)), target
        if chosen:
            smaller = combinations(facts, len(chosen) - 1)
            assert not any(pins(np.vstack([prices, *(row(name) for name in some)]), row(target)) for some in smaller), target


@pytest.mark.parametrize("values", [MEMORY_BOUND, LECTURE, COMPUTE_BOUND], ids=["memory", "lecture", "compute"])
def test_what_is_pinned_is_in_the_row_space_and_the_rest_is_not(values: dict):
    found = identify(EVERY, overlap=1.0, values=values)
    prices = gradients(EVERY, primitives_at(values, 1.0))
    products = {  # the increments in dollars and their ratio, and what storage pays for
        f"kv_bytes_per_token*output_price_cost_ratio*price_per_hbm_byte*{SPAN}":
            row("kv_bytes_per_token") + row("output_price_cost_ratio") + row("price_per_hbm_byte") + row(SPAN),
        f"attention_flops_per_pair*prompt_position*input_price_cost_ratio*price_per_flop/prefill_decode_flops_ratio*{SPAN}":
            row("attention_flops_per_pair") + row(ALPHA) + row("input_price_cost_ratio") + row("price_per_flop") - row(RHO) + row(SPAN),
        "attention_intensity/ridge_point*prompt_position/prefill_decode_flops_ratio*input_price_cost_ratio/output_price_cost_ratio":
            row("attention_intensity/ridge_point") + row(ALPHA) - row(RHO) - row(RATIOS),
        "kv_bytes_per_token*holding_cost_ratio*storage_price_cost_ratio*chip_price/hbm_capacity":
            row("kv_bytes_per_token") + row("holding_cost_ratio") + row("storage_price_cost_ratio") + row("chip_price/hbm_capacity"),
    }  # fmt: skip
    assert {name for name, product in products.items() if pins(prices, product)} == set(found.pinned)
    assert len(found.pinned) == (4 if values is MEMORY_BOUND else 2)


# -- rank -----------------------------------------------------------------------------------------------------------


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(np.log(low), np.log(high)).map(lambda power: float(np.exp(power)))


POINTS = st.fixed_dictionaries(
    {
        "active_params": between(1e9, 1e12),
        "balance_context": between(1e3, 1e6),
        "attention_context": between(3e3, 1e7),
        "weight_compute_ratio": between(0.1, 30),
        "prompt_position": st.floats(0.3, 1),
        "prefill_decode_flops_ratio": between(0.4, 2.5),
        "ridge_point": between(100, 1000),
        "short_context": between(1e3, 5e4),
        "suffix_tokens": between(10, 1e4),
        "tier_read_cost_ratio": between(0.3, 100),
    }
)


@settings(max_examples=20)
@given(POINTS, between(3, 30), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_rank_is_the_number_of_prices_at_any_point(values: dict, stretch: float, overlap: float):
    values = {**values, "long_context": stretch * values["short_context"]}
    for count in (2, 4, 5, 6):
        found = identify(EVERY[:count], overlap=overlap, values=values)
        assert (found.rank, found.nullity) == (count, 20 - count)
    if found.regime == "memory-bound in both bands":
        without = identify(BANDS, overlap=overlap, values=values)
        for target, at_maximum, added_up in TABLE:
            assert set(without.missing_facts[target]) == (at_maximum if overlap == 1 else added_up)


# -- other sheets ---------------------------------------------------------------------------------------------------


def test_a_model_without_a_cache_is_identified_at_a_typical_one():
    anchors, joint = {"overlap": 0.0, "active_params": 1e11}, {"balance_context": inf, "kv_bytes_per_token": 0.0}
    found = identified(("input_price", "output_input_ratio"), (), anchors, joint)
    assert found == identified(("input_price", "output_input_ratio"), (), anchors, {})
