"""Estimates from one other price each.

The input price gives sizes and price/cost, the storage price gives KV bytes and drain time, the price of a fast mode gives batches.
"""

from collections.abc import Mapping
from math import exp, hypot
from statistics import median

from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS
from invert.assumptions import Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel
from invert.estimators.cases import UNKNOWN, Case, rental
from invert.estimators.size import PER_MTOK, Params, closed_price_cost, record_of_size, size_at_price
from invert.posterior.points import solved
from invert.records import Estimate, FastMode, Observable, Reading, interval, references
from invert.sheets.rows import Disclosure, SheetKey
from invert.storage import tiers
from invert.storage.tariffs import drain_time_of

_CITED = ("bands.active_params_times_price_cost_ratio", "serving.price_per_flop")


def estimate_by_input(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return active and total parameters by the input price, and the price/cost of input."""
    return {
        "active_params": _params(case, "active_params", data, assumptions),
        "total_params": _params(case, "total_params", data, assumptions),
        "input_price_cost_ratio": _price_over_cost(case, data, assumptions),
    }


def _params(case: Case, name: Params, data: Data, assumptions: Assumptions) -> Estimate:
    found = case.size_price
    if found is None:
        return Estimate(kind="undetermined", because=case.no_size)
    size = size_at_price(found, name, data, assumptions)
    because = f"{found.because}. {closed_price_cost(data, name, assumptions)}" if found.closed else found.because
    record = None if found.extrapolated else record_of_size(found, name, data, assumptions)
    return interval((size.low, size.median, size.high), because, record=record)


@cache_with_data
def price_cost_of_lists(data: Data, assumptions: Assumptions) -> float | None:
    """Return the median price/cost of open models at list prices, whose parameters are known."""
    listed = panel.listed_models(data)
    found = [params_times_price_cost(row.input_price / PER_MTOK, data, assumptions) / row.active_params for row in listed]
    return median(found) if found else None


def params_times_price_cost(input_price: float, data: Data, assumptions: Assumptions) -> float:
    """Return active parameters times the price/cost of a price of input [USD/token]."""
    given = {**rental(data, assumptions).values, "input_price": input_price, "prefill_cost_ratio": 1.0}
    return float(equation(_CITED[0]).right_side(given))


def _price_over_cost(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    """Return the input price over the cost of a prompt token at rent, with the parameters if they are known, or else their estimate.

    With known parameters, its range comes from the range of rents. Otherwise it comes from the range of the parameters at the
    usual rent.
    """
    if case.anchors.origin["active_params"] not in UNKNOWN:
        value = case.anchors.values["active_params"]
        off = exp(assumptions.reach * assumptions.rent_spread)
        params, by = (value * off, value, value / off), "its parameters and the rent of chips"
    elif case.size_price:
        size = size_at_price(case.size_price, "active_params", data, assumptions)
        params, by = (size.high, size.median, size.low), "its active parameters by price"
    else:
        return Estimate(kind="undetermined", because=case.no_size)
    total = params_times_price_cost(case.sheet.bands[0].input.usd_per_token, data, assumptions)
    of_lists = price_cost_of_lists(data, assumptions)
    beside = f". The median of open models, each at its own price, is {of_lists:.0f} times" if of_lists else ""
    because = f"input price over its cost on a fully used rented chip, at {by}{beside}"
    # The cost of a FLOP on a rented chip is that of prefill.
    anchors = ("active_params", "prefill_decode_flops_ratio")
    return interval([total / one for one in params], because, equations=references(*_CITED), anchors=anchors)


def estimate_by_storage(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the implied drain time and the stored KV bytes."""
    found, price = {}, case.storage_price
    if drain := drain_time(case, assumptions):
        median, reach = drain[0], exp(assumptions.reach * drain[1])
        because = "storage price over premium. The parameters and the base price/cost cancel"
        cited, ends = references("cache.implied_drain_time"), (median / reach, median, median * reach)
        found["implied_drain_time"] = interval(ends, because, equations=cited, anchors=("short_context", "long_context"))
    if price and price.value > 0:
        found["kv_bytes_stored_per_token"] = kv_bytes_stored(price, data, assumptions)
    return found


def drain_time(case: Case, assumptions: Assumptions) -> tuple[float, float] | None:
    """Return the implied drain time of the first premium: median [s] and spread [nat]."""
    if not case.observables.pairs or not case.storage_price:
        return None
    return drain_time_of(case.observables.pairs[0], case.sheet.bands[0].output.usd_per_token, case.storage_price, assumptions)


def kv_bytes_stored(storage_price: Observable, data: Data, assumptions: Assumptions) -> Estimate:
    """Return the KV bytes whose storage in rented HBM costs the storage price.

    The unknown price/cost of storage makes this a weak estimate.
    """
    price_cost = assumptions.storage_price_cost_ratio_prior
    holding = tiers.tier_parameters(data, "rented", assumptions.price_years[-1], assumptions)["hbm"].holding_price
    priced = {"storage_price": storage_price.value / price_cost.centre, "tier_price": holding.median, "tier_capacity": 1.0}
    median = float(solved("cache.storage_price_is_hold_cost", "kv_bytes_per_token", priced))
    reach = exp(assumptions.reach * hypot(holding.sd, price_cost.spread))
    because = "assumes storage in rented HBM. But vendors charge one storage price for caches of different sizes"
    return interval((median / reach, median, median * reach), because, equations=references("cache.storage_price_is_hold_cost"))


_SPEED = "fast_speed_ratio"


def pair_fast_mode(standard: SheetKey, output_input_ratio: float, asked: Mapping[SheetKey, float], data: Data) -> FastMode | None:
    """Return the fast mode of a standard sheet, or None if no fast sheet has a higher price.

    `asked` are the input prices [USD/token] of all sheets of the day. The vendor states the speed ratio.
    """
    provider, model, region, tier = standard
    base, fast = asked.get(standard), asked.get((provider, model, region, "fast"))
    if tier != "standard" or not base or not fast or fast <= base:
        return None
    # A converted price is a product of rounded numbers.
    price_ratio = float(f"{fast / base:.12g}")
    rows = (row for row in data.tables.rows_of(Disclosure) if (row.provider, row.model, row.quantity) == (provider, model, _SPEED))
    stated = next(rows, None)
    if stated is None or stated.value is None:
        return FastMode(price_ratio=price_ratio)
    speed_ratio = stated.value
    return FastMode(
        price_ratio=price_ratio,
        speed_ratio=speed_ratio,
        speed_source=stated.source_url,
        batch_ratio=equation("batching.fast_batch_ratio").right_side({"fast_price_ratio": price_ratio, _SPEED: speed_ratio}),
        slow_mode_floor=slow_mode_floor(output_input_ratio, speed_ratio),
    )


def slow_mode_floor(output_input_ratio: float, fast_speed_ratio: float) -> float:
    """Return the lowest possible cost of a slow mode over the standard price: max(1, R - 1/sigma)/R.

    R, output over input price, is the cost of a token over its compute cost. The standard mode has sigma balance batches. In a slow mode
    any number of sequences share the weight reads, and only arithmetic and KV reads remain.

    >>> round(slow_mode_floor(5.0, 2.5), 12), slow_mode_floor(1.0, 2.5)
    (0.92, 1.0)
    """
    if output_input_ratio <= 1:
        return 1.0
    # At sigma balance batches the time for the weights is 1/sigma of the time for the arithmetic.
    # Without drafts and overhead the compute time has no effect.
    given = {"compute_time": 1.0, "weight_compute_ratio": 1 / fast_speed_ratio}
    rule, given["normalised_cost"] = "serving.normalised_cost", output_input_ratio
    kv_reads = Reading(name="slow mode", steps=((rule, "kv_compute_ratio"),), given=given).solution.value
    values = {**NEUTRAL_DEFAULTS, **given, "weight_compute_ratio": 0.0, "kv_compute_ratio": kv_reads}
    return float(equation(rule).right_side(values)) / output_input_ratio
