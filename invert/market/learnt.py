"""What a run learns of the market, once: the tables of open models and of caches, and what they lead to without some of them."""

from collections.abc import Mapping
from dataclasses import replace
from math import log

import numpy as np

from derive.shipped_rows import Architecture, HostPrice, ListPrice, OpenModel
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, once_a_run
from invert.market import panel, size
from invert.market.candidates import CANDIDATES, weighed
from invert.market.kv_class import Bytes, caches, chosen
from invert.market.panel import Priced
from invert.market.pool import Verdict
from invert.market.recency import Cache, Forgetting
from invert.market.record import record
from invert.market.size import ANY, CLOSED, TOTAL, Draws, Size
from invert.records import Record

USES = {"closed": CLOSED, "any": ANY, "total": TOTAL}


@once_a_run
def listed_models(data: Data) -> tuple[Priced, ...]:
    """Open models at the list prices of their makers."""
    return panel.by_list_price(data.tables.rows_of(OpenModel), data.tables.rows_of(ListPrice))


@once_a_run
def hosted_models(data: Data, assumptions: Assumptions = USUAL) -> tuple[Priced, ...]:
    """Open models at the median of the hosts that sell them."""
    return panel.by_host_price(data.tables.rows_of(OpenModel), data.tables.rows_of(HostPrice), assumptions.least_hosts)


@once_a_run
def known_caches(data: Data, assumptions: Assumptions = USUAL) -> Mapping[Bytes, tuple[Cache, ...]]:
    """The caches of architectures.csv, read and stored."""
    return caches(data.tables.rows_of(Architecture), assumptions.bytes_per_kv_value)


@once_a_run
def forgetting(data: Data, assumptions: Assumptions = USUAL) -> Forgetting:
    """How fast a class forgets, as chosen on what was released before a day."""
    return chosen(known_caches(data, assumptions).values(), assumptions)


@once_a_run
def size_draws(data: Data, use: str, without: str, hosts: bool, closed: bool, assumptions: Assumptions) -> Draws:
    """What a price leaves possible of a size, learnt from lists or hosts without a price family; for a closed vendor with its mark-up."""
    rows = size.rows_for(USES[use], hosted_models(data, assumptions) if hosts else listed_models(data), without, assumptions)
    extra = assumptions.extra_markup_prior
    return size.drawn_sizes(USES[use], rows, (log(extra.centre), extra.spread) if closed else (0.0, 0.0))


@once_a_run
def size_at(data: Data, use: str, price: float, without: str, hosts: bool, closed: bool, assumptions: Assumptions) -> Size:
    """The same at one price [USD/Mtoken]: many sheets share theirs."""
    return size_draws(data, use, without, hosts, closed, assumptions).size(price, assumptions.level)


@once_a_run
def verdicts(data: Data, assumptions: Assumptions = USUAL) -> Mapping[tuple[str, bool], Verdict | None]:
    """What each candidate has earned beside the class of KV bytes, by its name and whether only earlier models foretell."""
    return {
        (one.name, earlier): weighed(one, listed_models(data), known_caches(data, assumptions), forgetting(data, assumptions), earlier)
        for one in CANDIDATES
        for earlier in (False, True)
    }


@once_a_run
def size_record(data: Data, use: str, hosts: bool = False, by: str = "price_family", assumptions: Assumptions = USUAL) -> Record:
    """How well that was foretold of open models that were left out."""
    rows = size.rows_for(USES[use], hosted_models(data, assumptions) if hosts else listed_models(data), assumptions=assumptions)
    return record(*size.foretold_left_out(USES[use], rows, by))


@once_a_run
def shuffled_record(data: Data, use: str, seed: int, assumptions: Assumptions = USUAL) -> Record:
    """The same with the prices of all models exchanged at random: what is found there is none."""
    rows = size.rows_for(USES[use], listed_models(data), assumptions=assumptions)
    prices = np.random.default_rng(seed).permutation([row.input_price for row in rows])
    shuffled = [replace(row, input_price=float(price)) for row, price in zip(rows, prices, strict=True)]
    return record(*size.foretold_left_out(USES[use], shuffled))
