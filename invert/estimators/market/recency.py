"""The typical KV of a release day: one vote per earlier family, with more weight for younger ones.

Given families with votes v_f (the means of ln k and of the release over its members released before t), the prediction for a
target released at t is Student's t of n + 2 degrees of freedom about m, with scale s sqrt(1 + 1/n):

    w_f = exp(-(t - t_f)/h), normalised
    n = 1/sum w_f^2
    m = sum w_f v_f
    s^2 = (n sum w_f (v_f - m)^2 + N_0 s_0^2)/(n + 2)
"""

from collections.abc import Sequence
from datetime import date
from math import exp

import numpy as np

from derive.briefly import Records
from derive.immutable import immutable
from invert.estimators.market.student import Floats, Judged, Students
from invert.records import Vote, Votes

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
class Forgetting:
    """The loss of weight of votes: e-folding time h [year], and a prior spread s_0 [nat] that counts as N_0 votes."""

    horizon: float
    spread: float
    votes: float


def classes(caches: Sequence[Cache], targets: Sequence[Cache], forgetting: Forgetting) -> Students:
    """Return the typical KV of each target at its release, without its own family.

    >>> rows = (("a", 1, 10.0), ("b", 7, 12.0), ("c", 12, 0.0))
    >>> a, b, c = (Cache(architecture=one, family=one, released=date(2025, month, 1), ln_kv=k) for one, month, k in rows)
    >>> found = classes([a, b, c], [c], Forgetting(horizon=0.5, spread=1.0, votes=3.0))
    >>> found.centre.round(3).tolist(), found.scale.round(3).tolist(), found.freedom.round(3).tolist()
    ([11.459], [1.375], [3.652])
    """
    votes, _, shares, heard = _polled(caches, targets, forgetting)
    with np.errstate(divide="ignore"):
        count = np.where(heard.sum(1) > 1, 1 / (shares**2).sum(1), np.nan)
    centre = np.where(np.isnan(count), np.nan, (shares * votes).sum(1))
    spread = count * (shares * (votes - centre[:, None]) ** 2).sum(1) + forgetting.votes * forgetting.spread**2
    freedom = count + forgetting.votes - 1
    return Students(centre=centre, scale=np.sqrt(spread / freedom * (1 + 1 / count)), freedom=freedom)


def judge_classes(caches: Sequence[Cache], targets: Sequence[Cache], forgetting: Forgetting) -> Judged:
    """Return the typical KV of each target beside its true KV bytes."""
    return classes(caches, targets, forgetting).judge(np.array([one.ln_kv for one in targets]))


def votes_for(caches: Sequence[Cache], target: Cache, forgetting: Forgetting) -> Votes:
    """Return the votes behind the typical KV of a target, the heaviest first.

    >>> rows = (("a", 1, 10.0), ("b", 7, 12.0))
    >>> a, b = (Cache(architecture=one, family=one, released=date(2025, month, 1), ln_kv=k) for one, month, k in rows)
    >>> target = Cache(architecture="c", family="c", released=date(2025, 12, 1), ln_kv=0.0)
    >>> [(one.family, str(one.released), round(one.kv_bytes), round(one.weight, 3))
    ...  for one in votes_for([a, b], target, Forgetting(horizon=0.5, spread=1.0, votes=3.0)).cast]
    [('b', '2025-07-01', 162755, 0.729), ('a', '2025-01-01', 22026, 0.271)]
    """
    found = (of_all[0].tolist() for of_all in _polled(caches, [target], forgetting))
    by_family = zip(dict.fromkeys(one.family for one in caches), *found, strict=True)
    cast = [
        Vote(family=family, released=date.fromordinal(round(day * DAYS)), kv_bytes=exp(vote), weight=weight)
        for family, vote, day, weight, heard in by_family
        if heard
    ]
    return Votes(
        effective=1 / sum(one.weight**2 for one in cast) if cast else 0.0,
        cast=Records(sorted(cast, key=lambda one: one.weight, reverse=True)),
    )


def _polled(caches: Sequence[Cache], targets: Sequence[Cache], forgetting: Forgetting) -> tuple[Floats, Floats, Floats, Floats]:
    """Return by target and family: its vote, its day [year], its share of all weight, and whether it counts as another, earlier family."""
    numbers = {family: place for place, family in enumerate(dict.fromkeys(one.family for one in caches))}
    families = np.array([numbers[one.family] for one in caches], dtype=int)
    of_family = np.eye(len(numbers))[families]
    days, values = (np.array([one.released.toordinal() for one in caches]) / DAYS, np.array([one.ln_kv for one in caches]))
    when = np.array([one.released.toordinal() for one in targets]) / DAYS
    others = families != np.array([numbers.get(target.family, -1) for target in targets])[:, None]
    heard = (others & (days < when[:, None])).astype(float)
    members = heard @ of_family
    with np.errstate(invalid="ignore", divide="ignore"):
        votes, dates = (np.nan_to_num(heard @ (of_family * of[:, None]) / members) for of in (values, days))
        weights = np.exp(-(when[:, None] - dates) / forgetting.horizon) * (members > 0)
        shares = weights / weights.sum(1, keepdims=True)
    return votes, dates, shares, members > 0
