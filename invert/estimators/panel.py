"""Models of public size: list prices, prices at hosts and what differs between hosts, as rows for fits."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log, sqrt
from statistics import NormalDist, median, variance

from derive.catalogue import equation
from derive.errors import WrongData
from derive.immutable import immutable
from derive.preset_rows import Architecture, OpenModel
from derive.tables.lines import Problem
from derive.tables.shipped import AnyRecord, TableRow
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.sheets.read import last_day
from invert.sheets.rows import DisclosedSize, HostPrice, KnowledgeScore, ListPrice, grouped

DATED: Mapping[type[TableRow], str] = {
    **dict.fromkeys((Architecture, OpenModel), "release_date"),
    **dict.fromkeys((ListPrice, HostPrice, DisclosedSize, KnowledgeScore), "date"),
}
"""The tables for fits, baselines and their tests, with the column of their day."""


def dated_late(row: TableRow, data: Data) -> Problem | None:
    """Return the problem of a row with a release or price later than the newest price, or None if there is no problem."""
    column = DATED[type(row)]
    day, newest = getattr(row, column), last_day(data)
    return row.problem_in(column, f"{day} is after the prices were read, on {newest}") if day > newest else None


def rows_so_far(data: Data, record: type[AnyRecord]) -> tuple[AnyRecord, ...]:
    """Return the sound rows of a table up to the day of the newest price."""
    newest = last_day(data)
    return tuple(row for row in data.tables.rows_of(record) if getattr(row, DATED[record]) <= newest)


class Priced(OpenModel):
    """An open model with its base prices [USD/Mtoken], of its maker or the median over hosts."""


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

    def middle(prices: Iterable[float]) -> float:
        return exp(median(log(price) for price in prices))

    return tuple(
        _priced(known[model], middle(row.input_price for row in rows), middle(row.output_price for row in rows), None)
        for model, rows in rented_host_prices(rows_so_far(data, HostPrice), assumptions.least_hosts).items()
        if model in known
    )


@cache_with_data
def ratio_spread(data: Data, assumptions: Assumptions = USUAL) -> float:
    """Return the spread of ln(output/input) between hosts of one model [nat]."""
    return spread_of_output_input_ratio(rows_so_far(data, HostPrice), assumptions.least_hosts).pooled


def _priced(model: OpenModel, input_price: float, output_price: float, cache_read_price: float | None) -> Priced:
    prices = {"input_price": input_price, "output_price": output_price, "cache_read_price": cache_read_price}
    return Priced(**{**vars(model), **prices})


@immutable
class SpreadWithin:
    """The spread [nat] of a value between hosts of one model: pooled over models, and for the median model."""

    pooled: float
    middle: float
    models: int
    prices: int


def rented_host_prices(prices: Iterable[HostPrice], least: float = 1) -> Mapping[str, list[HostPrice]]:
    """Return the prices of hosts of rented accelerators by model, if enough hosts sell it.

    Lists for the Chinese market, listings of 2024, and hosts with prices by size are left out, because a price by size is not an
    independent evidence.
    """
    usable = (row for row in prices if row.host_kind == "gpu" and row.era != "old" and not row.size_bucket and not row.domestic)
    return {model: rows for model, rows in grouped((row.model, row) for row in usable).items() if len(rows) >= least}


def spread_within(groups: Iterable[Sequence[float]]) -> SpreadWithin:
    """Return the spread of values within groups. Each group has its own mean, and all have one variance."""
    known = [values for values in groups if len(values) > 1]
    if not known:
        raise WrongData("host_prices.csv: the spread between hosts needs a model with usable prices of two hosts")
    variances = [variance(values) for values in known]
    freedom = [len(values) - 1 for values in known]
    return SpreadWithin(
        pooled=sqrt(sum(one * of for one, of in zip(variances, freedom, strict=True)) / sum(freedom)),
        middle=median(sqrt(one) for one in variances),
        models=len(known),
        prices=sum(map(len, known)),
    )


def spread_of_output_input_ratio(prices: Iterable[HostPrice], least_hosts: float) -> SpreadWithin:
    """Return the spread of ln(output/input) between hosts of one model [nat], over models with at least this many hosts.

    All of them sell the same weights, so the spread does not come from the model. Hosts with the same price for input and output are left
    out.
    """
    hosts = rented_host_prices((row for row in prices if row.output_price != row.input_price), least_hosts).values()
    return spread_within([log(row.output_price / row.input_price) for row in rows] for rows in hosts)


def fraction_span(output_input_ratio: float, spread: float, level: float) -> tuple[float, float]:
    """Return the ends of the bandwidth-bound fraction at a ratio with this spread [nat].

    readings.bandwidth_bound_fraction at the ends of the ratio. A ratio below one has a fraction of zero.
    """
    reach, reading = NormalDist().inv_cdf((1 + level) / 2) * spread, equation("readings.bandwidth_bound_fraction")
    ratios = (output_input_ratio * exp(end) for end in (-reach, reach))
    low, high = (float(reading.right_side({"output_input_ratio": ratio})) if ratio > 1 else 0.0 for ratio in ratios)
    return low, high
