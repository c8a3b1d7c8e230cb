"""Typical KV: the caches of models released before a day, with read and stored bytes apart."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import exp, inf, isfinite, log
from typing import Literal

import numpy as np

from derive import presets
from derive.errors import NotCovered, WrongData
from derive.preset_rows import Architecture
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators.market.panel import rows_so_far
from invert.estimators.market.recency import Cache, Forgetting, classes, judge_classes, votes_for
from invert.estimators.market.record import record
from invert.estimators.market.student import Floats, Judged, Student
from invert.records import Record, Votes
from invert.sheets.read import cached_beside_prices

Bytes = Literal["read", "stored"]
"""The bytes of a context that a step reads, which decode pays for, or that it leaves in memory, which storage pays for."""
READ_OR_STORED: tuple[Bytes, ...] = ("read", "stored")


@cached_beside_prices
def known_caches(data: Data, assumptions: Assumptions = USUAL) -> Mapping[Bytes, tuple[Cache, ...]]:
    """Return the caches of architectures.csv that have a vote, by read and stored bytes, by the equation of each or its hand count."""
    known = [(row, _bytes(row, assumptions.bytes_per_kv_value)) for row in rows_so_far(data, Architecture) if row.kv_vote]
    return {of: tuple(_cache(row, both[of]) for row, both in known) for of in READ_OR_STORED}


def _cache(row: Architecture, kv_bytes: float) -> Cache:
    return Cache(architecture=row.model, family=row.kv_family, released=row.release_date, ln_kv=log(kv_bytes), max_context=row.max_context)


def _bytes(row: Architecture, bytes_per_value: float) -> Mapping[Bytes, float]:
    try:
        stored, read = presets.kv_bytes(row, bytes_per_value)
    except NotCovered:
        stored, read = (bytes_per_value * values for values in (row.kv_values_stored_per_token, row.kv_values_read_per_context_token))
    return {"read": read, "stored": stored}


def by_family(
    known: Sequence[Cache], judged: Judged, since: date = date.min, before: date = date.max, level: float = USUAL.level
) -> tuple[Floats, Floats]:
    """Return the mean log density [nat] of each family released between two days, and the share of its models inside a range."""
    of_family: dict[str, list[int]] = {}
    for place, one in enumerate(known):
        if since <= one.released < before and np.isfinite(judged.log_density[place]):
            of_family.setdefault(one.family, []).append(place)
    densities, inside = judged.log_density, judged.nearer < level
    of_each = [(densities[places].mean(), inside[places].mean()) for places in of_family.values()]
    return np.array([mean for mean, _ in of_each]), np.array([share for _, share in of_each])


@cached_beside_prices
def forgetting(data: Data, assumptions: Assumptions = USUAL) -> Forgetting:
    """Return how fast votes lose weight: the horizon with the best predictions of later models, over read and stored bytes together.

    It is chosen on models released before `judged_since`. If none of them can be predicted, it is the first horizon.
    """
    before, spread, votes = judged_since(assumptions), assumptions.class_spread, assumptions.class_votes
    ways = [Forgetting(horizon=horizon, spread=spread, votes=votes) for horizon in assumptions.class_horizons]

    def foresight(way: Forgetting) -> float:
        kinds = known_caches(data, assumptions).values()
        densities = [by_family(known, judge_classes(known, known, way), before=before)[0] for known in kinds]
        return float(sum(of_kind.mean() for of_kind in densities if of_kind.size))

    return max(ways, key=foresight)


def judged_since(assumptions: Assumptions = USUAL) -> date:
    """Return the day from which models judge the horizon."""
    return date.fromisoformat(assumptions.horizon_chosen_before)


@cached_beside_prices
def class_at(data: Data, of: Bytes, day: date, family: str, assumptions: Assumptions = USUAL) -> Student | None:
    """Return the typical KV of a release day without one family, or None if fewer than two families are earlier."""
    found = classes(known_caches(data, assumptions)[of], [_target(day, family)], forgetting(data, assumptions))
    centre, scale, freedom = (float(np.atleast_1d(values)[0]) for values in (found.centre, found.scale, found.freedom))
    return Student(centre=centre, scale=scale, freedom=freedom) if isfinite(centre) else None


@cached_beside_prices
def votes_at(data: Data, of: Bytes, day: date, family: str, assumptions: Assumptions = USUAL) -> Votes:
    """Return the families of that typical KV, with the value and the weight of each."""
    return votes_for(known_caches(data, assumptions)[of], _target(day, family), forgetting(data, assumptions))


def _target(released: date, family: str) -> Cache:
    """Return a model of that day with an unknown cache."""
    return Cache(architecture="", family=family, released=released, ln_kv=0.0)


def usual_stored(data: Data, day: date, assumptions: Assumptions = USUAL, family: str = "") -> tuple[float, float]:
    """Return the typical KV stored: median [byte/token] and spread of its logarithm [nat]."""
    of_class = class_at(data, "stored", day, family, assumptions)
    if of_class is None:
        raise WrongData("architectures.csv: fewer than two families were released earlier, and a spread needs two")
    return exp(of_class.centre), of_class.spread


@cached_beside_prices
def class_record(data: Data, of: Bytes, assumptions: Assumptions = USUAL, at: date | None = None) -> Record | None:
    """Return the record of the typical KV on models released since its horizon was chosen, or None if they are too few.

    It is by rolling origin, or by the typical KV of the day `at` for all released before it, as for a model of unknown
    release. The gain has one vote per family and is over a typical KV with equal weights of earlier families.
    """
    known, way, since = known_caches(data, assumptions)[of], forgetting(data, assumptions), judged_since(assumptions)
    judged = [one for one in known if since <= one.released < (at or date.max)]
    targets = [replace(one, released=at) if at else one for one in judged]
    of_time, of_all = (judge_classes(known, targets, one) for one in (way, replace(way, horizon=inf)))
    return record(of_time, of_all, [one.family for one in judged], by_votes=True)
