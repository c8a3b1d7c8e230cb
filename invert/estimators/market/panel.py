"""Open models with their prices on the lists of makers and at hosts, as rows to learn a size from."""

from collections.abc import Iterable, Sequence
from datetime import date
from math import exp, log
from statistics import median

from derive.immutable import immutable
from derive.preset_rows import OpenModel
from invert.estimators.market.hosts import rented_host_prices
from invert.sheets.tables import HostPrice, ListPrice


@immutable
class Priced:
    """An open model and the price of its base input [USD/Mtoken], of its maker or the median over hosts."""

    model: str
    architecture: str
    price_family: str
    vendor: str
    released: date
    input_price: float
    output_price: float
    cache_read_price: float | None
    active_params: float
    total_params: float
    params_grade: str
    kv_bytes_per_token: float | None


def by_list_price(models: Iterable[OpenModel], prices: Iterable[ListPrice]) -> tuple[Priced, ...]:
    """Return one row per model at the price of its maker. A price without a sound row of its model is not used."""
    known = {one.model: one for one in models}
    return tuple(_priced(known[row.model], row.input_price, row.output_price, row.cache_read_price) for row in prices if row.model in known)


def by_host_price(models: Iterable[OpenModel], prices: Iterable[HostPrice], least_hosts: float) -> tuple[Priced, ...]:
    """Return one row per model that enough hosts of rented accelerators sell, at their median price."""
    known = {one.model: one for one in models}
    enough = {model: rows for model, rows in rented_host_prices(prices, least_hosts).items() if model in known}
    return tuple(
        _priced(known[model], _middle([row.input_price for row in rows]), _middle([row.output_price for row in rows]), None)
        for model, rows in enough.items()
    )


def _middle(prices: Sequence[float]) -> float:
    return exp(median(log(price) for price in prices))


def _priced(model: OpenModel, input_price: float, output_price: float, cache_read_price: float | None) -> Priced:
    return Priced(
        model=model.model,
        architecture=model.architecture,
        price_family=model.price_family,
        vendor=model.vendor,
        released=model.release_date,
        input_price=input_price,
        output_price=output_price,
        cache_read_price=cache_read_price,
        active_params=model.active_params,
        total_params=model.total_params,
        params_grade=model.params_grade,
        kv_bytes_per_token=model.kv_bytes_per_token,
    )
