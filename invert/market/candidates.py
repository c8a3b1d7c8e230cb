"""What of a price list might tell KV bytes, each held against the class of its time on models whose cache is known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from invert.market.kv_class import Bytes
from invert.market.panel import Priced
from invert.market.pool import Foresight, Verdict, pool_verdict
from invert.market.recency import Cache, Forgetting, classes
from invert.market.regression import fit, grouped, log_student_density

LEAST_TO_LEARN = 4
"""Families below which a line through them foretells nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A price observable, the bytes it might pay for, and its logarithm; None on a list that does not have it."""

    name: str
    of: Bytes
    observable: Callable[[Priced], float | None]


def _cache_read_ratio(row: Priced) -> float | None:
    return log(row.cache_read_price / row.input_price) if row.cache_read_price else None


CANDIDATES = (
    Candidate(name="cache_read_ratio", of="stored", observable=_cache_read_ratio),
    Candidate(name="output_input_ratio", of="read", observable=lambda row: log(row.output_price / row.input_price)),
    Candidate(name="input_price", of="read", observable=lambda row: log(row.input_price)),
    Candidate(name="output_price", of="read", observable=lambda row: log(row.output_price)),
)


def weighed(
    candidate: Candidate, priced: Iterable[Priced], known: Mapping[Bytes, Sequence[Cache]], forgetting: Forgetting, earlier_only: bool
) -> Verdict | None:
    """What an observable has earned on lists of known architecture, each model foretold by other families; None of too few.

    `earlier_only`: by those released before it alone, as it would have been at the time.
    """
    of_name = {one.architecture: one for one in known[candidate.of]}
    rows = [
        (of_name[row.architecture], seen)
        for row in priced
        if row.architecture in of_name and (seen := candidate.observable(row)) is not None
    ]
    by_class = classes(known[candidate.of], [one for one, _ in rows], forgetting).log_density(np.array([one.ln_kv for one, _ in rows]))
    found = []
    for (one, seen), of_class in zip(rows, by_class, strict=True):
        others = [(other, x) for other, x in rows if other.family != one.family and not (earlier_only and other.released >= one.released)]
        if len({other.family for other, _ in others}) >= LEAST_TO_LEARN and np.isfinite(of_class):
            by_price = _log_density(others, one, seen)
            found.append(Foresight(family=one.family, by_price=by_price, by_class=float(of_class)))
    return pool_verdict(found)


def _log_density(others: Sequence[tuple[Cache, float]], one: Cache, seen: float) -> float:
    """ln of the density that a line through the others has at the cache of one [1/nat]."""
    line = fit(grouped([other.ln_kv for other, _ in others], [other.family for other, _ in others], [x for _, x in others]))
    apart = (one.ln_kv - line.intercept - line.slopes[0] * seen) / line.scale
    return float(log_student_density(np.array(apart), line.freedom)) - log(line.scale)
