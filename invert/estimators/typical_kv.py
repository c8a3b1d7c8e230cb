"""Typical KV: the caches of models released before a day, one mean per family, with more weight for younger ones.

Given the values v_f of families (the means of ln k and of the release over its members released before t), the prediction for a
target released at t is Student's t of n + 2 degrees of freedom about m, with scale s sqrt(1 + 1/n):

    w_f = exp(-(t - t_f)/h), normalised
    n = 1/sum w_f^2
    m = sum w_f v_f
    s^2 = (n sum w_f (v_f - m)^2 + N_0 s_0^2)/(n + 2)
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import exp, inf, isfinite, log
from typing import Literal

import numpy as np

from derive import presets
from derive.errors import NotCovered
from derive.immutable import Records, immutable
from derive.preset_rows import Architecture
from invert.arrays import Array
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators.panel import rows_so_far
from invert.estimators.prediction import Judged, Student, record
from invert.records import FamilyWeight, FamilyWeights, Record
from invert.sheets.rows import grouped

Bytes = Literal["read", "stored"]
"""The bytes that a step reads (decode), or the bytes that stay in memory (storage)."""
READ_OR_STORED: tuple[Bytes, ...] = ("read", "stored")
DAYS = 365.25


@immutable
class Cache:
    """The cache of one architecture: its family, its release, ln KV bytes in bf16, and its longest context [token]."""

    architecture: str
    family: str
    released: date
    ln_kv: float
    max_context: float | None = None


@immutable
class TypicalKV:
    """Known caches, the e-folding time h [year] of their weights, and a prior spread s_0 [nat] that counts as N_0 families."""

    caches: tuple[Cache, ...]
    horizon: float
    spread: float
    prior_families: float

    @property
    def by_name(self) -> Mapping[str, Cache]:
        """Return the caches by the name of the architecture."""
        return {one.architecture: one for one in self.caches}

    def predict(self, targets: Sequence[Cache]) -> Student:
        """Return the typical KV of each target at its release, without its own family. It is nan for fewer than two families."""
        means, _, shares, counted = self._weigh_families(targets)
        with np.errstate(divide="ignore"):
            count = np.where(counted.sum(1) > 1, 1 / (shares**2).sum(1), np.nan)
        centre = np.where(np.isnan(count), np.nan, (shares * means).sum(1))
        spread = count * (shares * (means - centre[:, None]) ** 2).sum(1) + self.prior_families * self.spread**2
        freedom = count + self.prior_families - 1
        return Student(centre=centre, scale=np.sqrt(spread / freedom * (1 + 1 / count)), freedom=freedom)

    def judge(self, targets: Sequence[Cache]) -> Judged:
        """Return the typical KV of each target with its true KV bytes."""
        return self.predict(targets).judge(np.array([one.ln_kv for one in targets]))

    def at(self, day: date, family: str = "") -> tuple[Student | None, FamilyWeights]:
        """Return the typical KV of a release day without one family, and the families behind it, the heaviest first.

        It is None if fewer than two families are earlier.
        """
        targets = [Cache(architecture="", family=family, released=day, ln_kv=0.0)]
        found = self.predict(targets).first
        numbers = (of_target[0].tolist() for of_target in self._weigh_families(targets))
        by_family = zip(dict.fromkeys(one.family for one in self.caches), *numbers, strict=True)
        weights = [
            FamilyWeight(family=name, released=date.fromordinal(round(mean * DAYS)), kv_bytes=exp(ln_kv), weight=weight)
            for name, ln_kv, mean, weight, counted in by_family
            if counted
        ]
        families = FamilyWeights(
            effective=1 / sum(one.weight**2 for one in weights) if weights else 0.0,
            weights=Records(sorted(weights, key=lambda one: one.weight, reverse=True)),
        )
        return found if isfinite(found.centre) else None, families

    def _weigh_families(self, targets: Sequence[Cache]) -> tuple[Array, Array, Array, Array]:
        """Return by target and family: mean ln KV bytes, mean day [year], share of all weight, and whether it is earlier and another."""
        numbers = {family: place for place, family in enumerate(dict.fromkeys(one.family for one in self.caches))}
        families = np.array([numbers[one.family] for one in self.caches], dtype=int)
        of_family = np.eye(len(numbers))[families]
        days, values = np.array([one.released.toordinal() for one in self.caches]) / DAYS, np.array([one.ln_kv for one in self.caches])
        when = np.array([one.released.toordinal() for one in targets]) / DAYS
        others = families != np.array([numbers.get(target.family, -1) for target in targets])[:, None]
        earlier = (others & (days < when[:, None])).astype(float)
        members = earlier @ of_family
        with np.errstate(invalid="ignore", divide="ignore"):
            means, dates = (np.nan_to_num(earlier @ (of_family * of[:, None]) / members) for of in (values, days))
            heaviness = np.exp(-(when[:, None] - dates) / self.horizon) * (members > 0)
            shares = heaviness / heaviness.sum(1, keepdims=True)
        return means, dates, shares, members > 0


@cache_with_data
def typical_kv(data: Data, assumptions: Assumptions = USUAL) -> Mapping[Bytes, TypicalKV]:
    """Return the typical KV of the caches of architectures.csv, with the horizon that predicts later models best.

    Only rows with `in_typical_kv` count. The horizon is chosen on models released before `judged_since`, over read and stored
    bytes together. If none of them can be predicted, it is the first one.
    """
    rows, before = (row for row in rows_so_far(data, Architecture) if row.in_typical_kv), judged_since(assumptions)
    known = []
    for row in rows:
        try:
            stored, read = presets.kv_bytes(row, assumptions.bytes_per_kv_value)
        except NotCovered:
            values = row.kv_values_stored_per_token, row.kv_values_read_per_context_token
            stored, read = (assumptions.bytes_per_kv_value * value for value in values)
        known.append((row, {"read": read, "stored": stored}))
    first, spread, count = assumptions.typical_kv_horizons[0], assumptions.typical_kv_spread, assumptions.typical_kv_prior_families
    both = {}
    for of in READ_OR_STORED:
        caches = (
            Cache(architecture=row.model, family=row.kv_family, released=row.release_date, ln_kv=log(kv[of]), max_context=row.max_context)
            for row, kv in known
        )
        both[of] = TypicalKV(caches=tuple(caches), horizon=first, spread=spread, prior_families=count)

    def log_density(horizon: float) -> float:
        ways = (replace(one, horizon=horizon) for one in both.values())
        densities = [mean_by_family(one.caches, one.judge(one.caches).log_density, before=before) for one in ways]
        return float(sum(found.mean() for found in densities if found.size))

    horizon = max(assumptions.typical_kv_horizons, key=log_density)
    return {of: replace(one, horizon=horizon) for of, one in both.items()}


def mean_by_family(known: Sequence[Cache], values: Array, since: date = date.min, before: date = date.max) -> Array:
    """Return the mean of the values that are known, for each family released between two days."""
    pairs = ((one, value) for one, value in zip(known, values, strict=True) if since <= one.released < before and isfinite(value))
    return np.array([np.mean(found) for found in grouped((one.family, value) for one, value in pairs).values()])


def judged_since(assumptions: Assumptions = USUAL) -> date:
    """Return the day from which on models test the horizon."""
    return date.fromisoformat(assumptions.horizon_chosen_before)


@cache_with_data
def typical_at(data: Data, of: Bytes, day: date, family: str, assumptions: Assumptions = USUAL) -> tuple[Student | None, FamilyWeights]:
    """Return the typical KV of a release day without one family, and the families behind it. Many sheets share both."""
    return typical_kv(data, assumptions)[of].at(day, family)


def usual_stored(data: Data, day: date, assumptions: Assumptions = USUAL, family: str = "") -> tuple[float, float] | None:
    """Return the typical KV stored: median [byte/token] and spread of its logarithm [nat], or None with fewer than two earlier families."""
    found, _ = typical_at(data, "stored", day, family, assumptions)
    return (exp(found.centre), found.spread) if found else None


@cache_with_data
def record_of_typical_kv(data: Data, of: Bytes, assumptions: Assumptions = USUAL, at: date | None = None) -> Record | None:
    """Return the record of the typical KV on models released since its horizon was chosen, or None if they are too few.

    Each model is predicted from earlier ones. With `at`, the typical KV of this day predicts all earlier models, as for a model with an
    unknown release. The gain is relative to a typical KV with equal weights of all earlier families. Each family counts once.
    """
    typical, since = typical_kv(data, assumptions)[of], judged_since(assumptions)
    judged = [one for one in typical.caches if since <= one.released < (at or date.max)]
    targets = [replace(one, released=at) if at else one for one in judged]
    weighted, equal = (one.judge(targets) for one in (typical, replace(typical, horizon=inf)))
    return record(weighted, equal, [one.family for one in judged], by_families=True)


def known_kv_bytes(data: Data, assumptions: Assumptions = USUAL) -> dict[str, float]:
    """Return the KV bytes that a step reads for each model with a known cache [byte/token], in bf16."""
    return {one.architecture: exp(one.ln_kv) for one in typical_kv(data, assumptions)["read"].caches}
