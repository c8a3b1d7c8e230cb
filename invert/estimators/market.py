"""The market: how big a model is by its input price, learnt from open models, and the mark-up that its price then holds."""

from dataclasses import replace

from derive.catalogue import equation
from invert.anchors import UNKNOWN
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.cases import Case
from invert.market.by_price import ByPrice
from invert.records import Estimate, LeftOut, interval, or_undetermined, references, undetermined
from invert.rent import rental

MARKUP = ("bands.active_params_times_markup", "serving.price_per_flop")
PARAMS = ("active_params", "total_params")


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Active and total parameters by the input price, and the mark-up of input: over cost where the parameters are known."""
    found = case.by_price
    return {**{name: _params(found, name, assumptions) for name in PARAMS}, "input_markup": _markup(case, data, assumptions)}


def _params(found: ByPrice | LeftOut, name: str, assumptions: Assumptions) -> Estimate:
    if isinstance(found, LeftOut):
        return undetermined(assumptions, found.why)
    size = found.sizes[name]
    return replace(
        interval(assumptions, size.low, size.median, size.high, found.because, equations=()),
        record=None if found.extrapolated else found.records[name],
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
        size, record = found.sizes["active_params"], None if found.extrapolated else found.records["active_params"]
        params = (size.high, size.median, size.low)
    because = f"input over its cost at rent, {'with the parameters known' if known else 'by the size that the price itself suggests'}"
    low, median, high = (total / one for one in params)
    one = interval(assumptions, low, median, high, because, equations=references(*MARKUP), anchors=("active_params",))
    return replace(one, record=record)
