"""Observables that may predict KV bytes better than the typical KV of the release date. Each one is tested on models with a known cache."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from math import log
from statistics import fmean

import numpy as np

from derive.immutable import immutable
from invert.assumptions import USUAL, Assumptions
from invert.data import Data, cache_with_data
from invert.estimators.market.typical_kv import DAYS, Bytes, Cache, TypicalKV, typical_kv
from invert.estimators.panel import Priced, listed_models
from invert.estimators.prediction import fit, grouped, pool_verdict
from invert.estimators.size import SIZES_JUDGED_SINCE
from invert.records import Verdict


@immutable(kw_only=False)
class Candidate:
    """A method to predict KV bytes (read or stored). `observed` returns its input numbers for a cache, or None if they are not known. Its
    arguments are the cache, the listed model with this architecture (or None), and all listed models.
    """

    name: str
    of: Bytes
    observed: Callable[[Cache, Priced | None, Sequence[Priced]], tuple[float, ...] | None]


def _kv_of_vendor(_: Cache, row: Priced | None, rows: Sequence[Priced]) -> tuple[float, ...] | None:
    """Return the mean ln KV bytes of the earlier models of other families that the vendor sells."""
    sold = [one for one in rows if row and one.vendor == row.vendor and one.release_date < row.release_date]
    others = [log(one.kv_bytes_per_token) for one in sold if row and one.kv_bytes_per_token and one.price_family != row.price_family]
    return (fmean(others),) if others else None


CANDIDATES = (
    Candidate(
        "cache_read_ratio",
        "stored",
        lambda _, row, __: (log(row.cache_read_price / row.input_price),) if row and row.cache_read_price else None,
    ),
    Candidate("output_input_ratio", "read", lambda _, row, __: (log(row.output_price / row.input_price),) if row else None),
    Candidate("input_price", "read", lambda _, row, __: (log(row.input_price),) if row else None),
    Candidate("output_price", "read", lambda _, row, __: (log(row.output_price),) if row else None),
    Candidate("vendor", "read", _kv_of_vendor),
    Candidate("release_date", "read", lambda cache, _, __: (cache.released.toordinal() / DAYS,)),
    Candidate(
        "release_date and max_context",
        "read",
        lambda cache, _, __: (cache.released.toordinal() / DAYS, log(cache.max_context)) if cache.max_context else None,
    ),
)
"""Prices, KV bytes of other models of the vendor, and lines through the dates and contexts of all architectures.

A candidate replaces the typical KV if it passes both with families left out and on later models."""
LEFT_OUT: Mapping[str, date | None] = {"family": None, "later": date.min, f"since {SIZES_JUDGED_SINCE.year}": SIZES_JUDGED_SINCE}
"""What a prediction does not use: the family of the model, or also all later releases, for models released from a day on."""


def judge_candidate(
    candidate: Candidate, priced: Sequence[Priced], typical: TypicalKV, since: date | None, assumptions: Assumptions = USUAL
) -> Verdict | None:
    """Return the gain of a candidate over typical KV, on the caches for which it has numbers, or None for too few caches."""
    listed = {row.architecture: row for row in reversed(priced)}
    found = [(one, candidate.observed(one, listed.get(one.architecture), priced)) for one in typical.caches]
    return judge_predictors([(one, numbers) for one, numbers in found if numbers is not None], typical, since, assumptions)


def judge_predictors(
    rows: Sequence[tuple[Cache, tuple[float, ...]]], typical: TypicalKV, since: date | None, assumptions: Assumptions = USUAL
) -> Verdict | None:
    """Return the gain of one number per cache. Each cache is predicted by a line through other families. With `since`, only caches released
    from that day on are tested, each by a line through the caches released before it.
    """
    judged = [(one, numbers) for one, numbers in rows if since is None or one.released >= since]
    by_line = np.full(len(judged), np.nan)
    for place, (one, numbers) in enumerate(judged):
        others = [(other, x) for other, x in rows if other.family != one.family and (since is None or other.released < one.released)]
        if len({other.family for other, _ in others}) >= assumptions.least_to_learn:
            truths, families = [other.ln_kv for other, _ in others], [other.family for other, _ in others]
            line = fit(grouped(truths, families, *zip(*(x for _, x in others), strict=True), assumptions=assumptions))
            by_line[place] = line.predict(np.array([[1.0, *numbers]])).judge(np.array([one.ln_kv])).log_density[0]
    by_baseline = typical.judge([one for one, _ in judged]).log_density
    return pool_verdict([one.family for one, _ in judged], by_line, by_baseline, assumptions)


@cache_with_data
def verdicts(data: Data, assumptions: Assumptions = USUAL) -> Mapping[tuple[str, str], Verdict | None]:
    """Return the test result of each candidate, by its name and by the left-out group."""
    priced, typical = listed_models(data), typical_kv(data, assumptions)
    return {
        (one.name, left_out): judge_candidate(one, priced, typical[one.of], since, assumptions)
        for one in CANDIDATES
        for left_out, since in LEFT_OUT.items()
    }
