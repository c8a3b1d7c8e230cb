"""Open models with their list prices and prices at hosts, as rows for the fits of a size."""

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median

from derive.immutable import immutable
from derive.preset_rows import Architecture, OpenModel
from derive.tables.problems import Problem
from derive.tables.rows import AnyRecord, TableRow
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators.market.hosts import rented_host_prices, spread_of_output_input_ratio
from invert.sheets.read import last_day
from invert.sheets.tables import DisclosedSize, HostPrice, KnowledgeScore, ListPrice

DATED: Mapping[type[TableRow], str] = {
    **dict.fromkeys((Architecture, OpenModel), "release_date"),
    **dict.fromkeys((ListPrice, HostPrice, DisclosedSize, KnowledgeScore), "date"),
}
"""The tables for fits, baselines and their tests, with the column of their day."""


def dated_late(row: TableRow, data: Data) -> Problem | None:
    """Return the problem of a row with a release or price later than the newest price, or None if there is no problem."""
    column = DATED[type(row)]
    day, newest = getattr(row, column), last_day(data)
    return (
        Problem(origin=f"{row.TABLE}.csv", row=row.place, column=column, message=f"{day} is after the prices were read, on {newest}")
        if day > newest
        else None
    )


def rows_so_far(data: Data, record: type[AnyRecord]) -> tuple[AnyRecord, ...]:
    """Return the sound rows of a table up to the day of the newest price."""
    newest = last_day(data)
    return tuple(row for row in data.tables.rows_of(record) if getattr(row, DATED[record]) <= newest)


@immutable
class Priced(OpenModel):
    """An open model with its base prices [USD/Mtoken], of its maker or the median over hosts."""

    input_price: float
    output_price: float
    cache_read_price: float | None


@cache_with_data
def listed_models(data: Data) -> tuple[Priced, ...]:
    """Return the open models at the list prices of their makers. A price without a sound row of its model is not used."""
    known = {one.model: one for one in rows_so_far(data, OpenModel)}
    return tuple(
        _priced(known[row.model], row.input_price, row.output_price, row.cache_read_price)
        for row in rows_so_far(data, ListPrice)
        if row.model in known
    )


@cache_with_data
def hosted_models(data: Data, assumptions: Assumptions = USUAL) -> tuple[Priced, ...]:
    """Return the open models that enough hosts of rented accelerators sell, at the median price of these hosts."""
    known = {one.model: one for one in rows_so_far(data, OpenModel)}
    return tuple(
        _priced(known[model], _middle([row.input_price for row in rows]), _middle([row.output_price for row in rows]), None)
        for model, rows in rented_host_prices(rows_so_far(data, HostPrice), assumptions.least_hosts).items()
        if model in known
    )


@cache_with_data
def ratio_spread(data: Data, assumptions: Assumptions = USUAL) -> float:
    """Return the spread of ln(output/input) between hosts of one model [nat]."""
    return spread_of_output_input_ratio(rows_so_far(data, HostPrice), assumptions.least_hosts).pooled


def _middle(prices: Sequence[float]) -> float:
    return exp(median(log(price) for price in prices))


def _priced(model: OpenModel, input_price: float, output_price: float, cache_read_price: float | None) -> Priced:
    prices = {"input_price": input_price, "output_price": output_price, "cache_read_price": cache_read_price}
    return Priced.of({**vars(model), **prices}, model.place)
