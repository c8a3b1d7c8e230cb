"""What the price of one sheet says of the size of its model: by which fit, learnt without its family, and with what record."""

from collections.abc import Mapping
from dataclasses import dataclass

from derive.briefly import brief
from derive.errors import WrongData
from invert.assumptions import Assumptions
from invert.data import Data
from invert.market import learnt
from invert.market.panel import Priced
from invert.market.size import Size
from invert.records import LeftOut, PriceSheet, Record
from invert.sheets.rows import ModelRow

PER_MTOK = 1e6
LISTS = ("standard", "off_peak")
"""Service tiers whose price is the list's: a vendor with hours asks its usual price off peak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPrice:
    """Sizes and their records by quantity, `because` of what, and whether the extra mark-up of a closed vendor is in them.

    `listed` is the open model that the sheet sells, which was left out.
    """

    __repr__ = brief

    sizes: Mapping[str, Size]
    records: Mapping[str, Record]
    because: str
    closed: bool
    extrapolated: bool
    listed: Priced | None


def size_by_price(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> ByPrice | LeftOut:
    """The size that the input price of a sheet suggests; or why it says nothing of one."""
    if sheet.service_tier not in LISTS:
        return LeftOut(f"a {sheet.service_tier.replace('_', '-')} price says nothing of a size: the standard one does")
    try:
        return _by_list(sheet, model, data, assumptions) if model is None or model.first_party else _by_hosts(model, data, assumptions)
    except WrongData as error:
        return LeftOut(str(error))


def _by_list(sheet: PriceSheet, model: ModelRow | None, data: Data, assumptions: Assumptions) -> ByPrice:
    """By the list price of its maker; whoever is in no table is taken for a vendor with closed weights."""
    row = _open_model(model, data)
    closed = row is None and not (model and model.architecture)
    price = sheet.bands[0].input.usd_per_token * PER_MTOK
    because = "the list price of input, as open models are priced by size" + ", less an extra mark-up that is a stated prior" * closed
    because += "; no table has the model, so its vendor is taken for a closed one" * (model is None)
    return _found(price, "closed" if closed else "any", row, False, closed, because, data, assumptions)


def _by_hosts(model: ModelRow, data: Data, assumptions: Assumptions) -> ByPrice | LeftOut:
    """By the median of the hosts that sell the model, this one among them."""
    hosted = learnt.hosted_models(data, assumptions)
    row = next((one for one in hosted if model.architecture and one.architecture == model.architecture), None)
    if row is None:
        return LeftOut("the price of one host: too few sell the model for their median to say how big it is")
    return _found(row.input_price, "closed", row, True, False, "the median of hosts, as they price models by size", data, assumptions)


def _found(
    price: float, use: str, row: Priced | None, hosts: bool, closed: bool, because: str, data: Data, assumptions: Assumptions
) -> ByPrice:
    without, uses = row.price_family if row else "", {"active_params": use, "total_params": "total"}
    lowest, highest = assumptions.size_prices
    extrapolated = not lowest <= price <= highest
    return ByPrice(
        sizes={name: learnt.size_at(data, one, price, without, hosts, closed, assumptions) for name, one in uses.items()},
        records={name: learnt.size_record(data, one, hosts, assumptions=assumptions) for name, one in uses.items()},
        because=because + "; extrapolated: few open models are priced so" * extrapolated,
        closed=closed,
        extrapolated=extrapolated,
        listed=row,
    )


def _open_model(model: ModelRow | None, data: Data) -> Priced | None:
    """The row of the open model that a sheet sells, by its architecture or by name, to be left out of what is learnt for it."""
    if model is None:
        return None
    names = {name.casefold() for name in (model.model, *model.aliases)}
    return next(
        (
            one
            for one in learnt.listed_models(data)
            if (one.architecture and one.architecture == model.architecture) or one.model.casefold() in names
        ),
        None,
    )
