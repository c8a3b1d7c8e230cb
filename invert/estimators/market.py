"""The market: how big a model is by its input price, learnt from open models, and the mark-up that its price then holds."""

from dataclasses import replace

from derive.catalogue import equation
from derive.errors import WrongData
from invert.assumptions import Assumptions
from invert.estimators.cases import Case
from invert.market import learnt
from invert.market.panel import Priced
from invert.market.size import HIGHEST, LOWEST, Size
from invert.records import Estimate, Record, interval, references, undetermined
from invert.rent import rental

PER_MTOK = 1e6
LISTS = ("standard", "off_peak")
"""Service tiers whose price is the list's: a vendor with hours asks its usual price off peak."""
MARKUP = ("bands.active_params_times_markup", "serving.price_per_flop")
NAMES = ("active_params", "total_params", "input_markup")


def estimates(case: Case, assumptions: Assumptions) -> dict[str, Estimate]:
    """Active and total parameters, and the mark-up of input; all undetermined where the price says nothing of a size."""
    if case.sheet.service_tier not in LISTS:
        because = f"a {case.sheet.service_tier.replace('_', '-')} price says nothing of a size: the standard one does"
        return {name: undetermined(assumptions, because) for name in NAMES}
    try:
        return _estimates(case, assumptions)
    except WrongData as error:
        return {name: undetermined(assumptions, str(error)) for name in NAMES}


def _estimates(case: Case, assumptions: Assumptions) -> dict[str, Estimate]:
    price = case.sheet.bands[0].input.usd_per_token * PER_MTOK
    row, closed = _open_model(case), _is_closed(case)
    if case.model and not case.model.first_party:
        hosted = next((one for one in learnt.hosted() if row and one.model == row.model), None)
        if hosted is None:
            because = "the price of one host: too few sell the model for their median to say how big it is"
            return {name: undetermined(assumptions, because) for name in NAMES}
        price = hosted.input_price
        uses = {"active_params": ("closed", True), "total_params": ("total", True)}
    else:
        uses = {"active_params": ("closed" if closed else "any", False), "total_params": ("total", False)}
    without = row.price_family if row else ""
    sizes = {
        name: (learnt.sizes(use, without, hosts, closed, assumptions).size(price, assumptions.level), learnt.record_of(use, hosts))
        for name, (use, hosts) in uses.items()
    }
    because = _because(price, closed, uses["active_params"][1])
    found = {name: _interval(size, because, record, assumptions) for name, (size, record) in sizes.items()}
    return {**found, "input_markup": _markup(case, *sizes["active_params"], assumptions)}


def _is_closed(case: Case) -> bool:
    """Whether nobody has the weights; so it is taken to be where a model is in no table."""
    return case.architecture is None


def _open_model(case: Case) -> Priced | None:
    """The row of the open model that the sheet sells, to be left out of what is learnt for it."""
    return next((one for one in learnt.listed() if case.architecture and one.architecture == case.architecture), None)


def _because(price: float, closed: bool, hosts: bool) -> str:
    """What the size rests on, in one clause."""
    of = "the median of hosts" if hosts else "the list price of input"
    extra = ", less an extra mark-up that is a stated prior" if closed else ""
    beyond = "; extrapolated: few open models are priced so" if not LOWEST <= price <= HIGHEST else ""
    return f"{of}, as open models are priced by size{extra}{beyond}"


def _interval(size: Size, because: str, record: Record, assumptions: Assumptions) -> Estimate:
    return replace(interval(assumptions, size.low, size.median, size.high, because, equations=()), record=record)


def _markup(case: Case, size: Size, record: Record, assumptions: Assumptions) -> Estimate:
    """The input price over what a prompt token costs at rent: by the parameters where they are known, else by their estimate."""
    known = case.anchors.origin["active_params"] != "assumed"
    params = (case.anchors.values["active_params"],) * 3 if known else (size.high, size.median, size.low)
    given = {**rental(assumptions).values, "input_price": case.sheet.bands[0].input.usd_per_token, "prefill_cost_ratio": 1.0}
    total = equation(MARKUP[0]).right_side(given)
    because = f"input over its cost at rent, {'with the parameters known' if known else 'by the size that the price itself suggests'}"
    low, median, high = (total / one for one in params)
    one = interval(assumptions, low, median, high, because, equations=references(*MARKUP), anchors=("active_params",))
    return one if known else replace(one, record=record)
