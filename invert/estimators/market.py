"""The market: how big a model is by its input price, learnt from open models, and the mark-up that its price then holds."""

from dataclasses import replace

from derive.catalogue import equation
from invert.anchors import UNKNOWN
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.market.by_price import ByPrice, told_record, told_size
from invert.market.size import Params
from invert.records import Estimate, LeftOut, interval, or_undetermined, references, undetermined
from invert.rent import rental

MARKUP = ("bands.active_params_times_markup", "serving.price_per_flop")


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Active and total parameters by the input price, and the mark-up of input: over cost where the parameters are known."""
    return {
        "active_params": _active_params(case, data, assumptions),
        "total_params": _total_params(case, data, assumptions),
        "input_markup": _markup(case, data, assumptions),
    }


@or_undetermined
def _active_params(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    return _params(case.by_price, "active_params", data, assumptions)


@or_undetermined
def _total_params(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    return _params(case.by_price, "total_params", data, assumptions)


def _params(found: ByPrice | LeftOut, name: Params, data: Data, assumptions: Assumptions) -> Estimate:
    if isinstance(found, LeftOut):
        return undetermined(assumptions, found.why)
    size = told_size(found, name, data, assumptions)
    return replace(
        interval(assumptions, size.low, size.median, size.high, found.because, equations=()),
        record=None if found.extrapolated else told_record(found, name, data, assumptions),
    )


@or_undetermined
def _markup(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    """The input price over what a prompt token costs at rent: by the parameters where they are known, else by their estimate."""
    known, found = case.anchors.origin["active_params"] not in UNKNOWN, case.by_price
    if not known and isinstance(found, LeftOut):
        return undetermined(assumptions, found.why)
    given = {**rental(data, assumptions).values, "input_price": case.sheet.bands[0].input.usd_per_token, "prefill_cost_ratio": 1.0}
    total = equation(MARKUP[0]).right_side(given)
    if known or isinstance(found, LeftOut):
        value, record = case.anchors.values["active_params"], None
        params = value, value, value
    else:
        size, record = told_size(found, "active_params", data, assumptions), told_record(found, "active_params", data, assumptions)
        params = (size.high, size.median, size.low)
    because = f"input over its cost at rent, {'with the parameters known' if known else 'by the size that the price itself suggests'}"
    low, median, high = (total / one for one in params)
    one = interval(assumptions, low, median, high, because, equations=references(*MARKUP), anchors=("active_params",))
    return replace(one, record=record)
