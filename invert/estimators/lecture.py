"""The lecture's three readings, exactly as stated in the talk."""

from collections.abc import Mapping
from functools import lru_cache, partial
from math import log

from derive.catalogue import equation
from derive.preset_rows import MemoryTierFigure
from derive.quantities import NEUTRAL_DEFAULTS
from derive.tables.rows import in_si
from invert.anchors import lecture_anchors
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import panel
from invert.estimators.cases import Case
from invert.estimators.panel import fraction_span
from invert.forward_model import crossover_context, predict_output_input_ratio
from invert.inversion import Inversion, invert_price, invert_prices
from invert.records import TIER_NAMES, BandPair, Estimate, Reading, interval, references, unanswered, undetermined
from invert.steps import solve_steps

_MOST_RATIOS = 4096
"""Maximum number of output/input ratios with cached readings: a whole market has a few hundred."""
_LEAST_FRACTION = 1e-15
"""Lowest fraction that a ratio of prices may mean. The highest fraction is 1 minus this."""
_START_KV_BYTES = 1e4
"""Scale [byte/token] of KV bytes that no price determines."""
LEANS_UPWARD = "too high if output has a higher margin, or if chips or their compute are idle for other reasons"


def bandwidth_bound(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    """Return the bandwidth-bound fraction, with the spread of output/input between hosts of one model."""
    ratio = case.seen.output_input_ratio
    cited = references("readings.bandwidth_bound_fraction")
    if ratio.value <= 1:
        return undetermined(assumptions, "output is not sold above input", equations=cited)
    low, high = fraction_span(ratio.value, panel.ratio_spread(data, assumptions), assumptions.level)
    fraction = bandwidth_bound_fraction(ratio.value).values["bandwidth_bound_fraction"]
    return interval(assumptions, low, fraction, high, LEANS_UPWARD, equations=cited)


def kv_bytes_from_threshold(pair: BandPair, anchors: Mapping[str, float]) -> Reading:
    """Return KV bytes per token if the threshold is where KV reads overtake compute: N_a b_w/(rho L_thr) [byte/token].

    The premium is not used. Lecture 1:36:01 to 1:38:27.
    """
    return _read_crossover(pair.long_context_threshold, *(anchors[name] for name in _THRESHOLD_ANCHORS))


_THRESHOLD_ANCHORS = ("active_params", "bytes_per_weight", "machine_balance_ratio", "ridge_point")


@lru_cache
def _read_crossover(long_context_threshold: int, *anchors: float) -> Reading:
    given = {"long_context_threshold": float(long_context_threshold), **dict(zip(_THRESHOLD_ANCHORS, anchors, strict=True))}
    found = invert_price(lambda kv_bytes: crossover_context(kv_bytes, given), long_context_threshold)
    # The formula, the elasticities and the reason of a refusal come from the catalogue.
    solution = solve_steps([("readings.threshold_is_crossover", "kv_bytes_per_token")], given)
    return Reading(name="lecture", values={"kv_bytes_per_token": found}, solution=solution) if found else unanswered("lecture", solution)


def invert_sheet(case: Case, assumptions: Assumptions) -> Inversion:
    """Return the input price [USD/token], KV bytes and bandwidth-bound fraction that reproduce input, output and threshold of a sheet."""
    anchors, base = lecture_anchors(case.anchors, assumptions), case.sheet.bands[0]
    published = {"input": base.input.usd_per_token, "output": base.output.usd_per_token}
    if case.seen.pairs:
        published["long_context_threshold"] = float(case.seen.pairs[0].long_context_threshold)
    return _inverted(tuple(published.items()), *(anchors[name] for name in _THRESHOLD_ANCHORS))


@lru_cache(_MOST_RATIOS)
def _inverted(published: tuple[tuple[str, float], ...], *anchors: float) -> Inversion:
    facts = dict(zip(_THRESHOLD_ANCHORS, anchors, strict=True))

    def predict(at: Mapping[str, float]) -> dict[str, float]:
        ratio = predict_output_input_ratio(at["bandwidth_bound_fraction"])
        return {
            "input": at["input_price"],
            "output": at["input_price"] * ratio,
            "long_context_threshold": crossover_context(at["kv_bytes_per_token"], facts),
        }

    input_price = dict(published)["input"]
    threshold = dict(published).get("long_context_threshold")
    # The threshold is inverse in KV bytes, and a distant start would send them below zero: begin at the reading of that price alone.
    kv_bytes = invert_price(partial(crossover_context, anchors=facts), threshold) if threshold else None
    start = {"input_price": input_price, "kv_bytes_per_token": kv_bytes or _START_KV_BYTES, "bandwidth_bound_fraction": 0.5}
    return invert_prices(predict, dict(published), start)


def output_input_ratio_claimed(pair: BandPair, assumptions: Assumptions = USUAL) -> float:
    """Return the output/input ratio of the short context by the threshold reading, at `lecture_batch_multiple` balance batches."""
    kv_compute_ratio = pair.short_context / pair.long_context_threshold
    ratios = {"weight_compute_ratio": 1 / assumptions.lecture_batch_multiple, "kv_compute_ratio": kv_compute_ratio}
    values = {**NEUTRAL_DEFAULTS, **ratios, "compute_time": 1.0}
    claimed: float = equation("serving.normalised_cost").right_side(values)
    return claimed


@lru_cache(_MOST_RATIOS)
def bandwidth_bound_fraction(output_input_ratio: float) -> Reading:
    """Return the share of compute that decode leaves idle, 1 - 1/R.

    There is no reading if R <= 1.

    Lecture 1:47:56 to 1:48:23.

    >>> bandwidth_bound_fraction(5.0).values
    {'bandwidth_bound_fraction': 0.8}
    """
    solution = solve_steps([("readings.bandwidth_bound_fraction", "bandwidth_bound_fraction")], {"output_input_ratio": output_input_ratio})
    # Prefill leaves no compute idle: only an output price above the input price has a fraction.
    found = invert_price(predict_output_input_ratio, output_input_ratio, _LEAST_FRACTION, 1 - _LEAST_FRACTION)
    if found is None:
        return unanswered("lecture", solution)
    return Reading(name="lecture", values={"bandwidth_bound_fraction": found}, solution=solution)


def tier_of_lifetime(data: Data, ttl_seconds: float, device: str = "lecture") -> str:
    """Return the tier with the drain time nearest to a cache lifetime, by ratio.

    Lecture 2:00:37 to 2:03:33.

    `device` selects the drain times: `lecture` for the lecture's own, `range` for the middle of real devices.

    >>> from invert.data import read_data
    >>> data = read_data()
    >>> tier_of_lifetime(data, 300), tier_of_lifetime(data, 3600), tier_of_lifetime(data, 3600, "range")
    ('flash', 'disk', 'flash')
    """
    times = drain_times(data, device)
    return min(times, key=lambda tier: abs(log(ttl_seconds / times[tier])))


def drain_times(data: Data, device: str) -> dict[str, float]:
    """Return drain times [s] by tier, from the rows of memory_tiers.csv for `lecture` or for `range` (real devices)."""
    rows = (row for row in data.tables.rows_of(MemoryTierFigure) if (row.device, row.quantity) == (device, "drain_time"))
    return {TIER_NAMES[row.tier]: in_si("drain_time", row.value, row.unit) for row in rows}
