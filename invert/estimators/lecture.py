"""The lecture's three readings, exactly as stated in the talk, beside the joint reading, and the prices that each predicts."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property, partial
from math import inf, log

from derive.catalogue import equation
from derive.immutable import immutable
from derive.preset_rows import MemoryTierFigure
from derive.quantities import NEUTRAL_DEFAULTS
from derive.tables.shipped import in_si
from invert import records
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import panel
from invert.estimators.all_prices import LEANS_UPWARD, joint_reading
from invert.estimators.cases import Case, lecture_anchors
from invert.estimators.panel import fraction_span
from invert.forward_model import Inversion, crossover_context, forward, invert_price, invert_prices, predict_output_input_ratio
from invert.sheets.observables import observe, ratio
from invert.storage.tariffs import disclosed_tiers

_THRESHOLD_ANCHORS = ("active_params", "bytes_per_weight", "machine_balance_ratio", "ridge_point")
_LEAST_FRACTION = 1e-15
"""Lowest fraction that a ratio of prices may mean. The highest fraction is 1 minus this."""
_BOUND = "cache_read_price"
"""A price with a lower bound in place of a prediction."""
_START_KV_BYTES = 1e4
"""Scale [byte/token] of KV bytes that no price determines."""


def bandwidth_bound(case: Case, data: Data, assumptions: Assumptions) -> records.Estimate:
    """Return the bandwidth-bound fraction, with the spread of output/input between hosts of one model."""
    ratio = case.observables.output_input_ratio
    cited = records.references("readings.bandwidth_bound_fraction")
    if ratio.value <= 1:
        return records.Estimate(kind="undetermined", because="output is not sold above input", equations=cited)
    low, high = fraction_span(ratio.value, panel.ratio_spread(data, assumptions), assumptions.level)
    fraction = bandwidth_bound_fraction(ratio.value).values["bandwidth_bound_fraction"]
    return records.interval((low, fraction, high), LEANS_UPWARD, equations=cited)


def kv_bytes_from_threshold(pair: records.BandPair, anchors: Mapping[str, float]) -> records.Reading:
    """Return KV bytes per token if the threshold is where KV reads overtake compute: N_a b_w/(rho L_thr) [byte/token].

    The premium is not used. Lecture 1:36:01 to 1:38:27.
    """
    threshold = float(pair.long_context_threshold)
    given = {"long_context_threshold": threshold, **{name: anchors[name] for name in _THRESHOLD_ANCHORS}}
    found = invert_price(partial(crossover_context, anchors=given), threshold)
    values = {} if found is None else {"kv_bytes_per_token": found}
    return records.Reading(name="lecture", values=values, steps=(("readings.threshold_is_crossover", "kv_bytes_per_token"),), given=given)


def invert_sheet(case: Case) -> Inversion:
    """Return the input price [USD/token], KV bytes and bandwidth-bound fraction that reproduce input, output and threshold of a sheet."""
    of_lecture, base, pairs = lecture_anchors(case.anchors, case.assumptions), case.sheet.bands[0], case.observables.pairs
    given = {name: of_lecture[name] for name in _THRESHOLD_ANCHORS}
    published = {"input": base.input.usd_per_token, "output": base.output.usd_per_token}
    start = {"input_price": published["input"], "kv_bytes_per_token": _START_KV_BYTES, "bandwidth_bound_fraction": 0.5}
    if pairs:
        published["long_context_threshold"] = float(pairs[0].long_context_threshold)
        # The threshold is inverse in KV bytes, and a distant start would send them below zero: begin at the reading of that price alone.
        start |= kv_bytes_from_threshold(pairs[0], of_lecture).values

    def predict(at: Mapping[str, float]) -> dict[str, float]:
        ratio = predict_output_input_ratio(at["bandwidth_bound_fraction"])
        return {
            "input": at["input_price"],
            "output": at["input_price"] * ratio,
            "long_context_threshold": crossover_context(at["kv_bytes_per_token"], given),
        }

    return invert_prices(predict, published, start)


def bandwidth_bound_fraction(output_input_ratio: float) -> records.Reading:
    """Return the share of compute that decode leaves idle, 1 - 1/R.

    There is no reading if R < 1.

    Lecture 1:47:56 to 1:48:23.

    >>> bandwidth_bound_fraction(5.0).values
    {'bandwidth_bound_fraction': 0.8}
    """
    found = invert_price(predict_output_input_ratio, output_input_ratio, _LEAST_FRACTION, 1 - _LEAST_FRACTION)
    if found is None and output_input_ratio == 1:
        # Prefill leaves no compute idle: an output price below the input price has no fraction.
        found = 0.0
    return records.Reading(
        name="lecture",
        values={} if found is None else {"bandwidth_bound_fraction": found},
        steps=(("readings.bandwidth_bound_fraction", "bandwidth_bound_fraction"),),
        given={"output_input_ratio": output_input_ratio},
    )


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
    return {records.TIER_NAMES[row.tier]: in_si("drain_time", row.value, row.unit) for row in rows}


# The readings of a pair of bands, and the prices that they predict.


@immutable
class PairInference:
    """All readings of one pair of bands of a case, which are computed on first use, and the prices that each reading predicts."""

    case: Case = field(compare=False)
    place: int

    @property
    def pair(self) -> records.BandPair:
        """The pair of bands."""
        return self.case.observables.pairs[self.place]

    @cached_property
    def lecture(self) -> records.Reading:
        """The lecture's reading of the threshold."""
        return kv_bytes_from_threshold(self.pair, lecture_anchors(self.case.anchors, self.case.assumptions))

    @cached_property
    def lecture_checks(self) -> tuple[records.Check, ...]:
        """The prices at the lecture's two readings as one set of hidden quantities: the KV bytes give L_star, and R the weight read."""
        values = with_balance_context({**lecture_anchors(self.case.anchors, self.case.assumptions), **self.lecture.values})
        weight = weight_of_output(values, self.pair.short_context, self.pair.output_input_ratio.value)
        hidden = {**values, "weight_compute_ratio": weight} if weight else {}
        return check_forward(self.case, self.place, hidden, ("output_input_ratio",))

    @property
    def claimed_ratio(self) -> float:
        """The output/input ratio at the short context that follows from the lecture's reading, at `lecture_batch_multiple` batches."""
        ratios = {
            "weight_compute_ratio": 1 / self.case.assumptions.lecture_batch_multiple,
            "kv_compute_ratio": self.pair.short_context / self.pair.long_context_threshold,
        }
        return float(equation("serving.normalised_cost").right_side({**NEUTRAL_DEFAULTS, **ratios, "compute_time": 1.0}))

    @cached_property
    def joint(self) -> records.Reading:
        """The joint reading of all three ratios."""
        return joint_reading(self.pair, self.case.anchors.values)

    @cached_property
    def joint_checks(self) -> tuple[records.Check, ...]:
        """The prices at the joint reading."""
        hidden = {**self.case.anchors.values, **self.joint.values} if self.joint.values else {}
        return check_forward(self.case, self.place, hidden, ("output_input_ratio", "premium_in", "premium_out"))

    @property
    def missed(self) -> tuple[int, int] | None:
        """Count of missed prices and of all predicted prices that the lecture's reading did not use, or None if there are none.

        A lower bound predicts no price.
        """
        unused = [check.inside_rounding_cell for check in self.lecture_checks if not check.used_by_reading and not check.bound]
        return (unused.count(False), len(unused)) if unused else None

    @property
    def joint_over_lecture(self) -> float | None:
        """KV bytes of the joint reading over the lecture's, or None if no KV bytes fit all prices."""
        jointly, alone = (one.values.get("kv_bytes_per_token") for one in (self.joint, self.lecture))
        return jointly / alone if jointly and alone else None


def with_balance_context(values: Mapping[str, float]) -> dict[str, float]:
    """Return hidden quantities with their balance context, at sustained rates and without attention FLOPs unless these are given."""
    known = {"mfu": 1.0, "mbu": 1.0, "attention_flops_per_pair": 0.0, **values}
    return {**known, "balance_context": crossover_context(known["kv_bytes_per_token"], known)}


def weight_of_output(values: Mapping[str, float], context: float, output_input_ratio: float) -> float | None:
    """Return the weight reads over arithmetic that remain from an output price at a context [token], or None if nothing remains."""
    return invert_price(
        lambda weight: float(forward({**values, "weight_compute_ratio": weight}, [context])["output_input_ratio"]), output_input_ratio
    )


def check_forward(case: Case, index: int, hidden: Mapping[str, float], used: tuple[str, ...]) -> tuple[records.Check, ...]:
    """Compare the forward model at hidden quantities with every price that it predicts, from the band with this index on."""
    if not hidden:
        return ()
    seen, bands = case.observables, case.sheet.bands[index:]
    base = bands[0]
    # A sheet of one band has no mean contexts: the model then predicts the price at no context.
    predicted = forward(hidden, seen.contexts[index:] or (0.0,), base.input.usd_per_token)
    ratios = (seen.pairs[index] if index else seen).output_input_ratio, predicted["output_input_ratio"]
    prices = [("output_input_ratio", base.output, *ratios)]
    for place, band in enumerate(bands[1:], start=1):
        suffix = "" if place == 1 else f"@{band.threshold_tokens}"
        into, out = (
            observe("", ratio(price, of), case.assumptions) for price, of in ((band.input, base.input), (band.output, base.output))
        )
        prices.append((f"premium_in{suffix}", band.input, into, predicted["premium_in"][place]))
        prices.append((f"premium_out{suffix}", band.output, out, predicted["premium_out"][place]))
    if seen.storage_price and case.sheet.storage and index == 0:
        prices.append(("storage_price", case.sheet.storage, seen.storage_price, predicted["storage_price"]))
    if base.cache_read and (hit := base.cache_read.usd_per_token):
        least = records.Observable(name=_BOUND, value=hit, low=-inf, high=hit)
        prices.append((_BOUND, base.cache_read, least, predicted["cache_read_price"]))
    return tuple(
        records.Check(
            component=component,
            place=price.place,
            published=published.value,
            predicted=float(value),
            used_by_reading=component in used,
            inside_rounding_cell=published.low <= float(value) <= published.high,
            bound=component == _BOUND,
        )
        for component, price, published, value in prices
    )


def tiers_of_lifetimes(case: Case, data: Data) -> tuple[records.TierReading, ...]:
    """Return the tier that each lifetime points to by the drain-time rule, and the vendor's disclosure."""
    lifetimes = [one.ttl_seconds for one in case.observables.cache_write_premiums if one.ttl_seconds]
    said = disclosed_tiers(data, case.sheet.provider, case.sheet.model, lifetimes)
    return tuple(
        records.TierReading(
            ttl_seconds=ttl,
            lecture=tier_of_lifetime(data, ttl),
            devices=tier_of_lifetime(data, ttl, "range"),
            disclosed=said.get(ttl),
        )
        for ttl in lifetimes
    )
