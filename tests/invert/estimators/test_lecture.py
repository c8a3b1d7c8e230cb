"""The lecture's three readings of a price sheet, each figure with the time it is said or the line that recomputes it.

Reiner Pope with Dwarkesh Patel, 29 April 2026, youtu.be/xmkSf5IS-zw. E3, E8, E14, E15: tests/validation/notes.csv.
"""

from functools import cache
from itertools import product
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.preset_rows import MemoryTierFigure
from derive.tables.shipped import rows_of
from invert.estimators.lecture import bandwidth_bound_fraction, drain_times, kv_bytes_from_threshold, tier_of_lifetime
from invert.identify import _COMPONENTS_OF_SHEET
from invert.inference import infer
from invert.records import TIER_NAMES, BandPair
from invert.result import Inference
from invert.sheets.observables import observe
from tests.tools.data import shipped_data
from tests.tools.inferred import everything_with_tiered_sonnet as everything
from tests.tools.together import in_one_test, some


def board(**changed: float) -> dict[str, float]:
    """The lecture's outside facts, with the ridge point [FLOP/byte] that they make."""
    facts = {"active_params": 100e9, "machine_balance_ratio": 300.0, "bytes_per_weight": 1.0, **changed}
    return {**facts, "ridge_point": 2 * facts["machine_balance_ratio"] / facts["bytes_per_weight"]}


def pair(threshold: int = 200_000, premium_in: float = 2, premium_out: float = 1.5, ratio: float = 6) -> BandPair:
    observed = {"output_input_ratio": ratio, "premium_in": premium_in, "premium_out": premium_out}
    return BandPair(
        long_context_threshold=threshold,
        short_context=0.1 * threshold,
        long_context=1.5 * threshold,
        **{name: observe(name, value) for name, value in observed.items()},
    )


# -- KV bytes from the threshold ------------------------------------------------------------------------------------

KV = [  # threshold, anchors against the board's, bytes per token, relative tolerance, source
    (200_000, {}, 5000 / 3, 1e-12, "1:36:01 to 1:38:27: 100 B over 300 times 200 k, almost two kilobytes"),
    (200_000, {}, 1.7e3, 0.03, "flashcard on KV bytes: 1.7 KB"),
    (200_000, {"bytes_per_weight": 0.5}, 2500 / 3, 1e-12, "E3, 2: 833 if the 300 is an fp4 ratio"),
    (200_000, {"bytes_per_weight": 2.0}, 10000 / 3, 1e-12, "E3, 2: 3,333 for bf16"),
    (200_000, {"machine_balance_ratio": 281.25}, 1778, 3e-4, "B200 fp8: 4.5 PFLOP/s over 8 TB/s"),
    (
        200_000,
        {"machine_balance_ratio": 562.5 / 1.2, "bytes_per_weight": 0.5},
        533,
        1e-3,
        "B300 fp4, 15 PFLOP/s over 8 TB/s",
    ),
    (200_000, {"active_params": 60e9}, 1000, 1e-12, "linear in the parameters"),
    (128_000, {}, 2.60e3, 2e-3, "by hand: Gemini 1.5 Pro"),
    (272_000, {}, 1.23e3, 4e-3, "by hand: GPT-5.4"),
    (256_000, {}, 1.30e3, 2e-3, "by hand: Qwen-plus"),
    (512_000, {}, 0.65e3, 2e-3, "by hand: MiniMax-M3"),
]


@in_one_test(("threshold", "changed", "kv", "tolerance", "source"), KV, ids=[row[-1] for row in KV])
def test_kv_bytes_from_the_threshold(threshold: int, changed: dict[str, float], kv: float, tolerance: float, source: str):
    found = kv_bytes_from_threshold(pair(threshold), board(**changed))
    assert found.values["kv_bytes_per_token"] == pytest.approx(kv, rel=tolerance)
    assert found.problem is None
    assert found.solution.equations == ("readings.threshold_is_crossover@1",)


def test_the_premium_is_not_used():
    """1:35:23: fifty per cent more is said, and nothing is made of it."""
    readings = [
        kv_bytes_from_threshold(pair(premium_in=p_in, premium_out=p_out, ratio=r), board()) for p_in, p_out, r in ((1, 1.1, 2), (5, 5, 8))
    ]
    assert readings[0].values == readings[1].values


# -- bandwidth-bound fraction ---------------------------------------------------------------------------------------

FRACTIONS = [  # output/input, fraction, digits printed, source
    (5, 0.8, 3, "1:47:56 to 1:48:23: at 1 and at 5; decode at a fifth of the utilisation of prefill"),
    (6, 0.833, 3, "E8: Gemini 3.1 Pro and GPT-5.4, 83 %"),
    (8, 0.875, 3, "E8: Gemini 2.5 Pro, 87.5 %"),
    (3.98, 0.749, 3, "E8: DeepSeek-R1, 75 %"),
    (2, 0.5, 3, "E8: DeepSeek V4-Flash, 50 %"),
    (4.5, 0.78, 2, "E8: Gemini 3.1 Pro above 200 k, 78 %"),
    (3, 0.67, 2, "1:41:33: 3 to 5 times, the lower end"),
]


@in_one_test(("ratio", "fraction", "digits", "source"), FRACTIONS, ids=[row[-1] for row in FRACTIONS])
def test_bandwidth_bound_fraction(ratio: float, fraction: float, digits: int, source: str):
    found = bandwidth_bound_fraction(ratio)
    assert round(found.values["bandwidth_bound_fraction"], digits) == fraction
    assert found.values["bandwidth_bound_fraction"] == pytest.approx(1 - 1 / ratio, rel=1e-15)
    assert found.problem is None


def test_output_at_the_price_of_input_leaves_nothing_idle():
    found = bandwidth_bound_fraction(1.0)
    assert (found.values, found.problem) == ({"bandwidth_bound_fraction": 0.0}, None)


@in_one_test("ratio", [0.99, 0.5, 0.02])
def test_output_below_input_gives_no_reading_and_the_reason(ratio: float):
    found = bandwidth_bound_fraction(ratio)
    assert found.values == {}
    assert "output_input_ratio >= 1" in found.problem
    assert found.solution.answers == () and found.solution.reason.violated == ("output_input_ratio >= 1",)


# -- storage tier from a lifetime -----------------------------------------------------------------------------------

TIERS = [  # lifetime [s], device, tier, source
    (300, "lecture", "flash", "2:01:52: five minutes is flash"),
    (3600, "lecture", "disk", "2:03:33: an hour is spinning disk"),
    (3600, "range", "flash", "E15: with devices of 2024 to 2026 an hour is flash; a disk drains in 7 to 21 hours"),
    (300, "range", "flash", "E15: five minutes is NVMe"),
    (86_400, "lecture", "disk", "a day is beyond every time the lecture names"),
    (86_400, "range", "disk", "E15: 20 TB at 265 MB/s take 21 hours"),
    (0.02, "lecture", "HBM", "2:01:16: 20 ms"),
    (5, "lecture", "DDR", "2:01:16: one to ten seconds"),
    (60, "lecture", "flash", "2:01:52: about a minute"),
    (1800, "lecture", "disk", "half an hour is nearer to an hour than to a minute: the middle is 465 s"),
    (464, "lecture", "flash", "just below the middle, sqrt(60 x 3600) = 464.8 s"),
    (466, "lecture", "disk", "just above it"),
]


@in_one_test(("ttl", "device", "tier", "source"), TIERS, ids=[row[-1] for row in TIERS])
def test_tier_of_a_lifetime(ttl: float, device: str, tier: str, source: str):
    assert tier_of_lifetime(shipped_data(), ttl, device) == tier


def test_drain_times_of_real_devices_lie_in_their_measured_ranges():
    spans = {TIER_NAMES[row.tier]: row for row in rows_of(MemoryTierFigure) if (row.device, row.quantity) == ("range", "drain_time")}
    found = drain_times(shipped_data(), "range")
    assert {"HBM", "DDR", "flash", "disk"} <= found.keys() == spans.keys()
    for tier, time in found.items():
        assert spans[tier].low <= time <= spans[tier].high
    assert 0.013 <= found["HBM"] <= 0.039  # E15: 13 to 39 ms
    assert found["disk"] > 7 * 3600  # E15: 7 to 21 h and more


@given(st.floats(1e-3, 1e7), st.sampled_from(["lecture", "range"]))
def test_the_nearest_tier_in_log_distance_is_taken(ttl: float, device: str):
    times = drain_times(shipped_data(), device)
    mine = abs(log(ttl / times[tier_of_lifetime(shipped_data(), ttl, device)]))
    assert all(mine <= abs(log(ttl / time)) for time in times.values())


pytestmark = pytest.mark.usefixtures("tiered_sonnet")

DECIDES = {"overlap": 0.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3}


@cache
def one(name: str, **anchors: float) -> Inference:
    (found,) = infer([name], anchors=anchors).inferences
    return found


# -- contradiction --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_shipped_sheet_contradicts_the_model_at_the_usual_anchors():
    assert all(found.contradiction is None for found in everything().inferences)


def test_the_inequality_stands_with_its_figures_and_its_equation():
    """alpha dP_out <= rho dP_in for Claude Sonnet 4.5."""
    assert one("claude-sonnet-4-5", **DECIDES).contradiction == (
        "inconsistent: output_increment >= input_increment*prefill_decode_flops_ratio/prompt_position does not hold:"
        " $7.5/MTok < $7.8/MTok (bands.increments_of_a_sum@1)"
    )


@pytest.mark.slow
@in_one_test(
    ("name", "ratio", "position"),
    some(product(["claude-sonnet-4-5", "gemini-3.1-pro", "gpt-5.4", "gpt-6-sol", "grok-4.5"], (1.0, 1.3, 1.6), (0.5, 0.7)), every=4),
)
def test_costs_that_add_up_need_the_output_to_rise_enough(name: str, ratio: float, position: float):
    """An additive model exists if and only if alpha dP_out > rho dP_in. Claude and GPT-6 have none at 1/2 and 1.3."""
    found = one(name, overlap=0.0, prompt_position=position, prefill_decode_flops_ratio=ratio)
    base, above = found.sheet.bands
    rise_in, rise_out = (
        getattr(above, side).usd_per_token - getattr(base, side).usd_per_token for side in ("input", "output")
    )  # fmt: skip
    holds = position * rise_out > ratio * rise_in
    assert (found.contradiction is None) == holds == (found.pairs[0].joint.problem is None)
    assert (found.kv_bytes["from_all_prices"].kind == "interval") == holds


# -- what the prices pin --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_price_is_one_combination_and_no_more():
    """The rank is the number of prices, the nullity what is left of twenty."""
    for found in everything().inferences:
        one = found.identifiability
        assert set(one.prices) == {_COMPONENTS_OF_SHEET[name] for name in found.price_data.cells}
        assert (one.rank, one.nullity) == (len(one.prices), 20 - len(one.prices))


@in_one_test(
    ("name", "prices"),
    [
        ("kimi-k3", ("input", "output", "cache_read")),
        ("gpt-5.4", ("input", "output", "long_input", "long_output", "cache_read")),
        ("gemini-3.1-pro", ("input", "output", "long_input", "long_output", "cache_read", "storage")),
        ("claude-sonnet-4-5", ("input", "output", "long_input", "long_output", "cache_read", "storage")),  # storage by two lifetimes
    ],
)
def test_the_prices_of_a_sheet(name: str, prices: tuple[str, ...]):
    found = one(name).identifiability
    assert found.prices == prices and found.rank == len(prices)
