"""The size of a model by its input price, fitted to open models, and the price/cost of this price."""

from dataclasses import replace
from math import exp
from statistics import median

from derive.catalogue import equation
from invert.anchors import UNKNOWN
from invert.assumptions import Assumptions
from invert.data import Data, cache_with_data
from invert.estimators import panel
from invert.estimators.cases import Case
from invert.estimators.rent import rental
from invert.estimators.size import PER_MTOK, Params, record_of_size, size_at_price
from invert.records import Estimate, interval, references, undetermined

_CITED = ("bands.active_params_times_price_cost_ratio", "serving.price_per_flop")


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return active and total parameters by the input price, and the price/cost of input."""
    return {
        "active_params": _params(case, "active_params", data, assumptions),
        "total_params": _params(case, "total_params", data, assumptions),
        "input_price_cost_ratio": _price_over_cost(case, data, assumptions),
    }


def _params(case: Case, name: Params, data: Data, assumptions: Assumptions) -> Estimate:
    found = case.by_price
    if found is None:
        return undetermined(assumptions, case.no_size)
    size = size_at_price(found, name, data, assumptions)
    return replace(
        interval(assumptions, size.low, size.median, size.high, found.because, equations=()),
        record=None if found.extrapolated else record_of_size(found, name, data, assumptions),
    )


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
    known, found = case.anchors.origin["active_params"] not in UNKNOWN, case.by_price
    if not known and found is None:
        return undetermined(assumptions, case.no_size)
    total = params_times_price_cost(case.sheet.bands[0].input.usd_per_token, data, assumptions)
    if known or found is None:
        value = case.anchors.values["active_params"]
        off = exp(assumptions.reach * assumptions.rent_spread)
        params = value * off, value, value / off
    else:
        size = size_at_price(found, "active_params", data, assumptions)
        params = (size.high, size.median, size.low)
    by = "its parameters and the rent of chips" if known else "its active parameters by price"
    of_lists = price_cost_of_lists(data, assumptions)
    beside = f". For open models it is {of_lists:.0f} times" if of_lists else ""
    because = f"input price over its cost on a fully used rented chip, at {by}{beside}"
    low, middle, high = (total / one for one in params)
    return interval(assumptions, low, middle, high, because, equations=references(*_CITED), anchors=("active_params",))
