"""The exact inverse of a pair of bands, the pricing rules, and what neither may do: clip a number into being.

Method: docs/explanation/inversion.md, "From prices to a model". E2, E8: tests/validation/notes.csv.
"""

import pytest

from invert.assumptions import USUAL
from invert.estimators.all_prices import joint_reading, pricing_rules
from invert.records import BandPair
from tests.tools.bands import pair
from tests.tools.together import in_one_test

ANCHORS = {"active_params": 1e11, "ridge_point": 600.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.0, "overlap": 1.0}
ANCHORS |= USUAL.held


# -- the joint closed form ------------------------------------------------------------------------------------------

JOINT = [  # pair, anchors, L_star, KV bytes, weight_compute_ratio, attention FLOPs, source
    (pair(6, 1, 1.5), {}, 1e5, 10000 / 3, 5, 0, "E8: L* = 100 k, 3.3 KB, B = B*/5"),
    # y = 1/(.5 (400k - 200k)) = 1e-5, A_lo = 6 x 1.5 = 9, A_hi = 13.5, x = 4.5/300k, w = 9 - 1.5
    (pair(6, 2, 1.5), {}, 2e5 / 3, 5000, 7.5, 2e6, "3.2 by hand: 66.67 k once the input premium pays for attention"),
    (pair(6, 1, 1.5, 2e4, 3e5), {}, 280000 / 3, 2e11 * 3 / 600 / 280000, 6 - 3 * 20 / 280, 0, "E8: 20 k and 300 k, 3.6 KB"),
    (pair(6, 1, 1.5, 1e5, 6e5), {}, 5e5 / 3, 2000, 5.4, 0, "E8: 100 k and 600 k, 2.0 KB"),
    (pair(6, 1, 1.5, 1e5, 3e5), {}, 2e5 / 3, 5000, 4.5, 0, "E8: 100 k and 300 k, 5.0 KB"),
    (pair(5, 1, 1.4), {"overlap": 0.0}, 1.5e5, 2e11 / 600 / 1.5e5, 4 - 2 / 3, 0, "3.2 by hand: memory 4 and 6 beside compute 1"),
    (pair(5, 1, 1.4), {"overlap": 0.5}, 1.5e5, 2e11 / 600 / 1.5e5, 4.5 - 2 / 3, 0, "3.2 by hand: memory 4.5 and 6.5"),
    (pair(6.5, 1, 1.5), {"prefill_decode_flops_ratio": 1.3}, 1.2e5, 2e11 / 600 / 1.2e5, 5 - 1 / 1.2, 0, "3.2 by hand: A of 5 and 7.5"),
    (pair(6, 1, 1.5), {"active_params": 6e10}, 1e5, 2000, 5, 0, "linear in the parameters"),
    (pair(6, 1, 1.5), {"ridge_point": 300.0}, 1e5, 20000 / 3, 5, 0, "3.1: half the ridge, twice the bytes"),
    # Compute-bound at 100k, memory-bound at 400k and partly hidden: (1.2 - 1)/.5 = .4 and 2.5 - .5 = 2
    (pair(1.2, 1, 2.5 / 1.2), {"overlap": 0.5}, 3e5 / 1.6, 2e11 / 600 * 1.6 / 3e5, None, 0, "3.2 by hand: either side of the knee, w < 0"),
]


@in_one_test(("seen", "changed", "balance", "kv", "weights", "attention", "source"), JOINT, ids=[row[-1] for row in JOINT])
def test_the_joint_reading(seen: BandPair, changed: dict, balance: float, kv: float, weights: float | None, attention: float, source: str):
    found = joint_reading(seen, ANCHORS | changed)
    if weights is None:
        assert found.values == {} and "memory_ratio_short > short_context/balance_context" in found.problem
        return
    assert found.problem is None
    assert found.values["balance_context"] == pytest.approx(balance, rel=1e-12)
    assert found.values["kv_bytes_per_token"] == pytest.approx(kv, rel=1e-12)
    assert found.values["weight_compute_ratio"] == pytest.approx(weights, rel=1e-12)
    assert found.values["attention_flops_per_pair"] == pytest.approx(attention, rel=1e-12)


def test_memory_time_share():
    """Memory over memory and compute time at the short context: .833 at R = 5 without attention, where 1 - 1/R is .8."""
    assert joint_reading(pair(5, 1, 1.5), ANCHORS).values["memory_time_share"] == pytest.approx(5 / 6, rel=1e-12)
    # R = 6, premium 2: memory 9 beside compute 1 + 1e-5 x 1e5 = 2
    assert joint_reading(pair(6, 2, 1.5), ANCHORS).values["memory_time_share"] == pytest.approx(9 / 11, rel=1e-12)


# Prices that cannot come from the model, and the inequality each breaks.
IMPOSSIBLE = [
    (
        pair(5, 2, 1.5, 2e4, 3e5), {"overlap": 0.0, "prefill_decode_flops_ratio": 1.3}, "memory_ratio_long > memory_ratio_short",
        "Claude Sonnet 4.5, additive: alpha dP_out <= rho dP_in",
    ),
    (pair(6, 2, 1.0), {}, "memory_ratio_long > memory_ratio_short", "no output premium: no slope"),
    (pair(6, 2, 0.9), {}, "memory_ratio_long > memory_ratio_short", "output cheaper above the threshold"),
    (pair(6, 4, 1.5), {}, "premium_in*short_context < long_context", "input premium above what any attention can cost"),
    (pair(6, 5, 1.5), {}, "premium_in*short_context < long_context", "the same, beyond it"),
    (pair(6, 1, 5), {}, "memory_ratio_short > short_context/balance_context", "steeper than from nothing: no weight read left"),
]  # fmt: skip


@in_one_test(("seen", "changed", "violated", "source"), IMPOSSIBLE, ids=[row[-1] for row in IMPOSSIBLE])
def test_an_inconsistent_sheet_gives_no_number_and_names_the_inequality(seen: BandPair, changed: dict, violated: str, source: str):
    found = joint_reading(seen, ANCHORS | changed)
    assert found.values == {}
    # SymPy may write either side first.
    left, sign, right = violated.partition(" > " if ">" in violated else " < ")
    turned = right + (" < " if ">" in sign else " > ") + left
    assert violated in found.problem or turned in found.problem
    assert "\n" not in found.problem


@pytest.mark.parametrize("premium_out", [1.0, 1.5, 2.0])
def test_a_pair_of_which_only_bounds_are_known_gives_no_reading_and_says_so(premium_out: float):
    """R = 1 without an input premium: the memory time of the base band is hidden, whatever it is up to 1."""
    found = joint_reading(pair(1, 1, premium_out), ANCHORS)
    assert found.values == {} and found.name == "joint"
    assert "bounds" in found.problem and ("memory_ratio_short" in found.problem or "kv_bytes_per_token" in found.problem)


# -- pricing rules --------------------------------------------------------------------------------------------------

GEMINI = pair(6, 2, 1.5, 2e4, 3e5)
AT_300 = ANCHORS | {"ridge_point": 300.0}

# 3.1, Gemini 3.1 Pro, N_a = 100 B, ridge 300, m_lo = .1 T, m_hi = 1.5 T, in kB. The table does not say its longest
# context; .48 is that of one million tokens (Gemini's own 1,048,576 gives .45).
PRINTED = {"knee": 3.33, "threshold": 1.67, "upper end": 0.48, "band means": 1.23, "Lloyd-Max": 0.95}


def test_the_rules_give_the_printed_table():
    found = pricing_rules(GEMINI, AT_300, 1_000_000).solutions
    assert {rule: round(found[rule].answers[0].value / 1e3, 2) for rule in PRINTED} == PRINTED
    exact = {"knee": 1 / 2e5, "threshold": 1 / 4e5, "upper end": 1 / 1.4e6, "band means": 1 / 5.4e5, "Lloyd-Max": 1 / 7e5}
    for rule, over_scale in exact.items():
        assert found[rule].answers[0].value == pytest.approx(2e11 / 300 * over_scale, rel=1e-12), rule
    assert round(pricing_rules(GEMINI, AT_300, 1_048_576).solutions["upper end"].answers[0].value / 1e3, 2) == 0.45
