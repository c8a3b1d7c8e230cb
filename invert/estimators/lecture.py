"""The lecture's three readings, exactly as stated, under their own names."""

from collections.abc import Mapping
from functools import cache
from math import log
from types import MappingProxyType

from derive.catalogue import equation
from derive.errors import WrongData
from derive.quantities import NEUTRAL_DEFAULTS, QUANTITIES
from derive.shipped import cell, number, once_a_reading, refuse_bad, table
from derive.solving.api import solve
from invert.records import TIER_NAMES, BandPair, Reading


def kv_bytes_from_threshold(pair: BandPair, anchors: Mapping[str, float]) -> Reading:
    """KV bytes per token if the threshold is where KV reads overtake compute: N_a b_w/(rho L_thr) [byte/token].

    The premium is not used. Lecture 1:36:01 to 1:38:27.
    """
    solution = solve(
        "kv_bytes_per_token",
        using=["readings.threshold_is_crossover"],
        long_context_threshold=pair.long_context_threshold,
        **{name: anchors[name] for name in ("active_params", "bytes_per_weight", "machine_balance_ratio")},
    )
    return Reading("lecture", {"kv_bytes_per_token": solution.answers[0].value}, solution)


def output_input_ratio_claimed(pair: BandPair, batch_multiple: float = 2.0) -> float:
    """The output/input ratio the threshold reading makes of the short context, at a batch of two balance batches.

    The larger of 1 and 1/m + L_lo/L_thr: far below the ratios that sheets ask, which is the contradiction.
    """
    kv_compute_ratio = pair.short_context / pair.long_context_threshold
    values = {**NEUTRAL_DEFAULTS, "weight_compute_ratio": 1 / batch_multiple, "kv_compute_ratio": kv_compute_ratio}
    return equation("serving.normalised_cost").right_side(values)


@cache
def bandwidth_bound_fraction(output_input_ratio: float) -> Reading:
    """The share of compute that decode leaves idle, 1 - 1/R; no reading where R <= 1, which it excludes.

    Lecture 1:47:56 to 1:48:23.

    >>> bandwidth_bound_fraction(5.0).values
    {'bandwidth_bound_fraction': 0.8}
    """
    solution = solve("bandwidth_bound_fraction", using=["readings.bandwidth_bound_fraction"], output_input_ratio=output_input_ratio)
    if not solution.answers:
        return Reading("lecture", {}, solution, solution.reason.message)
    return Reading("lecture", {"bandwidth_bound_fraction": solution.answers[0].value}, solution)


def tier_of_lifetime(ttl_seconds: float, device: str = "lecture") -> str:
    """The tier whose drain time is nearest to a cache lifetime, by ratio. Lecture 2:00:37 to 2:03:33.

    `device` picks the drain times: `lecture` those it names, `range` the middle of those of real devices.

    >>> tier_of_lifetime(300), tier_of_lifetime(3600), tier_of_lifetime(3600, "range")
    ('flash', 'disk', 'flash')
    """
    times = drain_times(device)
    return min(times, key=lambda tier: abs(log(ttl_seconds / times[tier])))


@once_a_reading
def drain_times(device: str) -> Mapping[str, float]:
    """Drain times [s] by tier, from the rows of memory_tiers.csv for `lecture` or for `range` (real devices)."""
    refuse_bad("memory_tiers", device=device, quantity="drain_time")
    found = {}
    for row in table("memory_tiers"):
        if cell("memory_tiers", row, "device") == device and cell("memory_tiers", row, "quantity") == "drain_time":
            tier, value = cell("memory_tiers", row, "tier"), cell("memory_tiers", row, "value")
            if tier not in TIER_NAMES:
                raise WrongData(f"memory_tiers.csv {device}: unknown tier {tier!r}; allowed: {', '.join(TIER_NAMES)}")
            if value:
                found[TIER_NAMES[tier]] = QUANTITIES["drain_time"].check(number("memory_tiers", f"{tier} {device}", "value", value))
    return MappingProxyType(found)
