"""Results that a run learns once from the tables of open models and of caches, with some of them left out."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from math import exp

import numpy as np

from derive.errors import WrongData
from derive.preset_rows import Architecture, OpenModel
from derive.tables.problems import Problem
from derive.tables.rows import AnyRecord, TableRow
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators.market import panel, size
from invert.estimators.market.candidates import CANDIDATES, LEFT_OUT, judge_candidate
from invert.estimators.market.hosts import spread_of_output_input_ratio
from invert.estimators.market.kv_class import Bytes, caches, chosen, class_of, judged_since, record_of_class, votes_of
from invert.estimators.market.panel import Priced
from invert.estimators.market.recency import Cache, Forgetting
from invert.estimators.market.record import LEAST_VOTES, record
from invert.estimators.market.size import ANY, CLOSED, TOTAL, Draws, Size
from invert.estimators.market.student import Student
from invert.records import CLOSED_MODELS, Record, Verdict, Votes
from invert.sheets.read import cached_beside_prices, last_day
from invert.sheets.tables import DisclosedSize, HostPrice, KnowledgeScore, ListPrice

_USES = {"closed": CLOSED, "any": ANY, "total": TOTAL}
DATED: Mapping[type[TableRow], str] = {
    **dict.fromkeys((Architecture, OpenModel), "release_date"),
    **dict.fromkeys((ListPrice, HostPrice, DisclosedSize, KnowledgeScore), "date"),
}
"""The tables that a baseline or a fit learns from or is judged by, and the column of their day."""


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


@cached_beside_prices
def listed_models(data: Data) -> tuple[Priced, ...]:
    """Return the open models at the list prices of their makers."""
    return panel.by_list_price(rows_so_far(data, OpenModel), rows_so_far(data, ListPrice))


@cached_beside_prices
def hosted_models(data: Data, assumptions: Assumptions = USUAL) -> tuple[Priced, ...]:
    """Return the open models at the median price of their hosts."""
    return panel.by_host_price(rows_so_far(data, OpenModel), rows_so_far(data, HostPrice), assumptions.least_hosts)


@cached_beside_prices
def ratio_spread(data: Data, assumptions: Assumptions = USUAL) -> float:
    """Return the spread of ln(output/input) between hosts of one model [nat]."""
    return spread_of_output_input_ratio(rows_so_far(data, HostPrice), assumptions.least_hosts).pooled


@cached_beside_prices
def known_caches(data: Data, assumptions: Assumptions = USUAL) -> Mapping[Bytes, tuple[Cache, ...]]:
    """Return the caches of architectures.csv that have a vote, by read and stored bytes."""
    voters = (row for row in rows_so_far(data, Architecture) if row.kv_vote)
    return caches(voters, assumptions.bytes_per_kv_value)


@cached_beside_prices
def forgetting(data: Data, assumptions: Assumptions = USUAL) -> Forgetting:
    """Return how fast votes lose weight, as chosen on models released before a day."""
    return chosen(known_caches(data, assumptions).values(), assumptions)


@cached_beside_prices
def class_at(data: Data, of: Bytes, day: date, family: str, assumptions: Assumptions = USUAL) -> Student | None:
    """Return the typical KV of a release day without one family, or None if fewer than two families are earlier."""
    return class_of(known_caches(data, assumptions)[of], day, family, forgetting(data, assumptions))


@cached_beside_prices
def votes_at(data: Data, of: Bytes, day: date, family: str, assumptions: Assumptions = USUAL) -> Votes:
    """Return the families of that typical KV, with the value and the weight of each."""
    return votes_of(known_caches(data, assumptions)[of], day, family, forgetting(data, assumptions))


@cached_beside_prices
def usual_stored(data: Data, day: date, assumptions: Assumptions = USUAL, family: str = "") -> tuple[float, float]:
    """Return the typical KV stored: median [byte/token] and spread of its logarithm [nat]."""
    of_class = class_at(data, "stored", day, family, assumptions)
    if of_class is None:
        raise WrongData("architectures.csv: fewer than two families were released earlier, and a spread needs two")
    return exp(of_class.centre), of_class.spread


@cached_beside_prices
def class_record(data: Data, of: Bytes, assumptions: Assumptions = USUAL, at: date | None = None) -> Record | None:
    """Return the record of the typical KV on models released since its horizon was chosen, or None if they are too few."""
    return record_of_class(known_caches(data, assumptions)[of], forgetting(data, assumptions), judged_since(assumptions), at)


def _rows_for(data: Data, use: str, hosts: bool, without: str, by: str, assumptions: Assumptions) -> tuple[Priced, ...]:
    """Return the rows that a size is learnt from. Raise `WrongData` if they have too few groups for a line."""
    rows = size.rows_for(_USES[use], hosted_models(data, assumptions) if hosts else listed_models(data), without, assumptions)
    if len({getattr(row, by) for row in rows}) < assumptions.least_to_learn:
        table = (HostPrice if hosts else ListPrice).TABLE
        raise WrongData(f"{table}.csv: fewer than {assumptions.least_to_learn} values of {by} are left to learn a size from")
    return rows


@cached_beside_prices
def size_draws(data: Data, use: str, without: str, hosts: bool, closed: bool, assumptions: Assumptions) -> Draws:
    """Return draws of the size at a price, learnt without a price family, with the extra price/cost of a closed vendor."""
    rows = _rows_for(data, use, hosts, without, "price_family", assumptions)
    return size.drawn_sizes(_USES[use], rows, extra_markup(data, use, assumptions) if closed else (0.0, 0.0), assumptions=assumptions)


@cached_beside_prices
def extra_markup(data: Data, use: str, assumptions: Assumptions, without: str = "") -> tuple[float, float]:
    """Return mean and spread [nat] of the extra price/cost of closed vendors, by the closed models of known size of all but one vendor."""
    sizes = [one for one in _closed_sizes(data, use, assumptions) if one.vendor != without]
    return size.fitted_extra_markup(_USES[use], _rows_for(data, use, False, "", "price_family", assumptions), sizes, assumptions)


def _closed_sizes(data: Data, use: str, assumptions: Assumptions) -> list[DisclosedSize]:
    """Return the closed models of known size. Those of known total parameters are of today, as the fit is that they are for."""
    of_today = (one for one in rows_so_far(data, DisclosedSize) if use == "closed" or one.date.year >= assumptions.sparse_since)
    return [one for one in of_today if one.closed and one.exactly(_USES[use].params)]


@cached_beside_prices
def size_at(data: Data, use: str, price: float, without: str, hosts: bool, closed: bool, assumptions: Assumptions) -> Size:
    """Return the size at one price [USD/Mtoken], which many sheets share."""
    return size_draws(data, use, without, hosts, closed, assumptions).size(price, assumptions.level)


@cached_beside_prices
def verdicts(data: Data, assumptions: Assumptions = USUAL) -> Mapping[tuple[str, str], Verdict | None]:
    """Return the verdict on each candidate, by its name and by what its predictions leave out."""
    priced, known = listed_models(data), known_caches(data, assumptions)
    return {
        (one.name, left_out): judge_candidate(one, priced, known, forgetting(data, assumptions), since, assumptions)
        for one in CANDIDATES
        for left_out, since in LEFT_OUT.items()
    }


@cached_beside_prices
def size_record(data: Data, use: str, hosts: bool = False, by: str = "price_family", assumptions: Assumptions = USUAL) -> Record:
    """Return the record of a fit on open models, with one group left out at a time."""
    rows = _rows_for(data, use, hosts, "", by, assumptions)
    return record(*size.predict_left_out(_USES[use], rows, by, assumptions))


@cached_beside_prices
def size_record_in_order(data: Data, use: str, assumptions: Assumptions = USUAL) -> Record:
    """Return the record of predictions of the sizes of open models by the list prices of earlier ones.

    Raise `WrongData` if too few are known.
    """
    found, without_price = size.predict_later(_USES[use], _rows_for(data, use, False, "", "price_family", assumptions), assumptions)
    if np.unique(found.groups).size < LEAST_VOTES:
        raise WrongData(f"list_prices.csv: fewer than {LEAST_VOTES} families were released since {size.SIZES_JUDGED_SINCE}")
    return record(found, without_price)


@cached_beside_prices
def closed_record(data: Data, use: str, assumptions: Assumptions = USUAL) -> Record:
    """Return how well the estimate that is printed for a closed model predicts closed models, each vendor left out.

    Raise `WrongData` if the sizes of models of fewer than two vendors are known.
    """
    rows, sizes = _rows_for(data, use, False, "", "price_family", assumptions), _closed_sizes(data, use, assumptions)
    if len({one.vendor for one in sizes}) < LEAST_VOTES:
        raise WrongData("disclosed_sizes.csv: sizes of closed models of fewer than two vendors are known")
    return replace(record(*size.predict_closed(_USES[use], rows, sizes, assumptions)), of=CLOSED_MODELS)


@cached_beside_prices
def shuffled_record(data: Data, use: str, seed: int, assumptions: Assumptions = USUAL) -> Record:
    """Return the record of a fit to shuffled prices, which must have no gain."""
    rows = _rows_for(data, use, False, "", "price_family", assumptions)
    prices = np.random.default_rng(seed).permutation([row.input_price for row in rows])
    shuffled = [replace(row, input_price=float(price)) for row, price in zip(rows, prices, strict=True)]
    return record(*size.predict_left_out(_USES[use], shuffled, assumptions=assumptions))
