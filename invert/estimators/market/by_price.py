"""The size of a model by its price: the fit for its kind of price, without its family, and the record of this fit."""

from derive.immutable import immutable
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.market.size import Params, Size, SizeForm, size_at, size_record
from invert.estimators.panel import Priced, hosted_models, listed_models
from invert.records import HIGHER_PRICE_COST, Record
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import ModelRow

PER_MTOK = 1e6
_LISTS = ("standard", "off_peak")
"""Service tiers at the list price. A vendor with peak hours charges its usual price in off-peak hours."""


@immutable
class ByPrice:
    """The price [USD/Mtoken] that predicts a size, from the lists of makers or the median of hosts, with the reason in `because`. `closed`:
    the sizes include the extra price/cost of a closed vendor. `listed` is the open model that the sheet sells, which is left out of the
    fit.
    """

    price: float
    hosts: bool
    because: str
    closed: bool
    extrapolated: bool
    listed: Priced | None


def size_by_price(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> ByPrice | str:
    """Return the price that predicts a size from a sheet, or the reason why it does not predict one."""
    if sheet.service_tier not in _LISTS:
        return f"a {sheet.service_tier.replace('_', '-')} price gives no size. The standard price does"
    hosts = model is not None and not model.first_party
    of_hosts = (one for one in hosted_models(data, assumptions) if model and one.architecture == model.architecture != "")
    row = next(of_hosts, None) if hosts else _open_model(model, data)
    if hosts and row is None:
        return "the price of one host. Too few hosts sell the model for a median price"
    # A vendor that is in no table counts as closed.
    closed = row is None and not (model and model.architecture)
    price = row.input_price if hosts and row else sheet.bands[0].input.usd_per_token * PER_MTOK
    because = "by the median price of hosts for models with known size" if hosts else "by the input price of open models with known size"
    because += f", {HIGHER_PRICE_COST}" * closed + ". The model is in no table, so its vendor counts as closed" * (model is None)
    lowest, highest = assumptions.size_prices
    extrapolated = not lowest <= price <= highest
    because += ". Extrapolated: few open models have such a price" * extrapolated
    return ByPrice(price=price, hosts=hosts, because=because, closed=closed, extrapolated=extrapolated, listed=row)


def size_at_price(found: ByPrice, params: Params, data: Data, assumptions: Assumptions) -> Size:
    """Return the active or total parameters at that price. Raise `WrongData` if too few models are left for the fit."""
    without = found.listed.price_family if found.listed else ""
    return size_at(data, form_of(found, params), found.price, without, found.closed, assumptions)


def record_of_size(found: ByPrice, params: Params, data: Data, assumptions: Assumptions) -> Record:
    """Return the record of these sizes: on closed models for a closed model, else on left-out open models."""
    return size_record(data, form_of(found, params), "closed vendor" if found.closed else "family", assumptions)


def form_of(found: ByPrice, params: Params) -> SizeForm:
    """Return the form of the fit. For hosts it is fitted to today's sparse models, which are like those of closed vendors."""
    return SizeForm(params=params, sparse=params == "total_params" or found.closed or found.hosts, hosts=found.hosts)


def _open_model(model: ModelRow | None, data: Data) -> Priced | None:
    """Return the open model that a sheet sells, by architecture or name, which its fit leaves out."""
    if model is None:
        return None
    names = {name.casefold() for name in (model.model, *model.aliases)}
    named = (one for one in listed_models(data) if one.architecture == (model.architecture or None) or one.model.casefold() in names)
    return next(named, None)
