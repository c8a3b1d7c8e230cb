"""The size of a model by its price: the applicable fit, learnt without its family, and the record of that fit."""

from derive.errors import WrongData
from derive.immutable import immutable
from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators.market.panel import Priced, hosted_models, listed_models
from invert.estimators.market.size import Params, Size, SizeForm, size_at, size_record
from invert.records import EXTRA_MARKUP, Part, Record
from invert.sheets.sheet import PriceSheet
from invert.sheets.tables import ModelRow

PER_MTOK = 1e6
_LISTS = ("standard", "off_peak")
"""Service tiers at the list price: a vendor with peak hours charges its usual price off peak."""


@immutable
class ByPrice:
    """The price [USD/Mtoken] that predicts a size, from the lists of makers or the median of hosts, with the reason in `because`.

    `closed` is whether the extra mark-up of a closed vendor is in the sizes. `listed` is the open model that the sheet sells,
    which is left out of the fit.
    """

    price: float
    hosts: bool
    because: str
    closed: bool
    extrapolated: bool
    listed: Priced | None


def size_by_price(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> Part[ByPrice]:
    """Return the price that predicts a size from a sheet, or the reason why it does not predict one."""
    if sheet.service_tier not in _LISTS:
        return Part(left_out=f"a {sheet.service_tier.replace('_', '-')} price does not tell the size, the standard one does")
    try:
        if model is not None and not model.first_party:
            return _host_price(model, data, assumptions)
        return Part(value=_list_price(sheet, model, data, assumptions))
    except WrongData as error:
        return Part(left_out=str(error))


def _list_price(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> ByPrice:
    """Return the price of the maker. A vendor that is in no table counts as closed."""
    row = _open_model(model, data)
    closed = row is None and not (model and model.architecture)
    price = sheet.bands[0].input.usd_per_token * PER_MTOK
    because = "the list price of input, as open models are priced by size" + f", {EXTRA_MARKUP}" * closed
    because += ". No table has the model, so its vendor counts as closed" * (model is None)
    return _price_with_model(price, row, False, closed, because, assumptions)


def _host_price(model: ModelRow, data: Data, assumptions: Assumptions) -> Part[ByPrice]:
    """Return the median price of the hosts that sell the model."""
    hosted = hosted_models(data, assumptions)
    row = next((one for one in hosted if model.architecture and one.architecture == model.architecture), None)
    if row is None:
        return Part(left_out="the price of one host: too few sell the model for their median to say how big it is")
    return Part(
        value=_price_with_model(row.input_price, row, True, False, "the median of hosts, as they price models by size", assumptions)
    )


def _price_with_model(price: float, row: Priced | None, hosts: bool, closed: bool, because: str, assumptions: Assumptions) -> ByPrice:
    lowest, highest = assumptions.size_prices
    extrapolated = not lowest <= price <= highest
    return ByPrice(
        price=price,
        hosts=hosts,
        because=because + ". Extrapolated: few open models are priced so" * extrapolated,
        closed=closed,
        extrapolated=extrapolated,
        listed=row,
    )


def size_at_price(found: ByPrice, params: Params, data: Data, assumptions: Assumptions) -> Size:
    """Return the active or total parameters at that price. Raise `WrongData` if too few models are left to learn from."""
    without = found.listed.price_family if found.listed else ""
    return size_at(data, form_of(found, params), found.price, without, found.closed, assumptions)


def record_of_size(found: ByPrice, params: Params, data: Data, assumptions: Assumptions) -> Record:
    """Return the record of such sizes: on closed models for a closed one, else on open models that were left out.

    Raise `WrongData` where too few are known.
    """
    return size_record(data, form_of(found, params), "closed vendor" if found.closed else "family", assumptions)


def form_of(found: ByPrice, params: Params) -> SizeForm:
    """Return the form of the fit. Hosts sell sparse models of today, as closed vendors do."""
    return SizeForm(params=params, sparse=params == "total_params" or found.closed or found.hosts, hosts=found.hosts)


def _open_model(model: ModelRow | None, data: Data) -> Priced | None:
    """Return the open model that a sheet sells, by architecture or name, which its fit leaves out."""
    if model is None:
        return None
    names = {name.casefold() for name in (model.model, *model.aliases)}
    return next(
        (
            one
            for one in listed_models(data)
            if (one.architecture and one.architecture == model.architecture) or one.model.casefold() in names
        ),
        None,
    )
