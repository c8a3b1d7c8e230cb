"""What might tell KV bytes beside the class of the time, each held against that class on models whose cache is known."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, log
from statistics import fmean

import numpy as np

from derive.immutable import immutable
from invert.assumptions import USUAL, Assumptions
from invert.estimators.market.kv_class import Bytes
from invert.estimators.market.panel import Priced
from invert.estimators.market.pool import Foresight, pool_verdict
from invert.estimators.market.recency import DAYS, Cache, Forgetting, classes
from invert.estimators.market.regression import fit, grouped
from invert.estimators.market.student import Student
from invert.records import Verdict


@immutable
class Candidate:
    """Something known of a model beside its cache, the bytes it might tell, and its value, given all other rows; None without one."""

    name: str
    of: Bytes
    observed: Callable[[Priced, Sequence[Priced]], float | None]


def _cache_read_ratio(row: Priced, _: Sequence[Priced]) -> float | None:
    return log(row.cache_read_price / row.input_price) if row.cache_read_price else None


def _of_its_vendor(row: Priced, rows: Sequence[Priced]) -> float | None:
    """ln KV bytes of the other families that its vendor sells."""
    others = [log(one.kv_bytes_per_token) for one in rows if one.kv_bytes_per_token and _is_elder_cousin(one, row)]
    return fmean(others) if others else None


def _is_elder_cousin(one: Priced, row: Priced) -> bool:
    return one.vendor == row.vendor and one.price_family != row.price_family and one.released < row.released


CANDIDATES = (
    Candidate(name="cache_read_ratio", of="stored", observed=_cache_read_ratio),
    Candidate(name="output_input_ratio", of="read", observed=lambda row, _: log(row.output_price / row.input_price)),
    Candidate(name="input_price", of="read", observed=lambda row, _: log(row.input_price)),
    Candidate(name="output_price", of="read", observed=lambda row, _: log(row.output_price)),
    Candidate(name="vendor", of="read", observed=_of_its_vendor),
    Candidate(name="release_date", of="read", observed=lambda row, _: row.released.toordinal() / DAYS),
)
"""Prices; what the vendor's other models have; and a line through dates, which a class of its time might be a worse form of."""


def weighed(
    candidate: Candidate, priced: Sequence[Priced], known: Mapping[Bytes, Sequence[Cache]], forgetting: Forgetting, earlier_only: bool,
    assumptions: Assumptions = USUAL,
) -> Verdict | None:  # fmt: skip
    """What it has earned beside the class, on listed models of known architecture; None of too few."""
    of_name = {one.architecture: one for one in known[candidate.of]}
    listed = [row for row in priced if row.architecture in of_name]
    rows = [(of_name[row.architecture], seen) for row in listed if (seen := candidate.observed(row, priced)) is not None]
    return weighed_rows(rows, known[candidate.of], forgetting, earlier_only, assumptions)


def weighed_rows(
    rows: Sequence[tuple[Cache, float]], known: Sequence[Cache], forgetting: Forgetting, earlier_only: bool,
    assumptions: Assumptions = USUAL,
) -> Verdict | None:  # fmt: skip
    """What a number beside each of some caches has earned, every cache foretold by a line through those of other families.

    `earlier_only`: by those released before it alone, as it would have been at the time.
    """
    of_class = log_density_of_class([one for one, _ in rows], known, forgetting)
    found = []
    for (one, seen), by_class in zip(rows, of_class, strict=True):
        others = [(other, x) for other, x in rows if other.family != one.family and not (earlier_only and other.released >= one.released)]
        if len({other.family for other, _ in others}) >= assumptions.least_to_learn and isfinite(by_class):
            by_price = _through(others, seen, assumptions).log_density(one.ln_kv)
            found.append(Foresight(family=one.family, by_price=by_price, by_class=by_class))
    return pool_verdict(found, assumptions)


def log_density_of_class(rows: Sequence[Cache], known: Sequence[Cache], forgetting: Forgetting) -> list[float]:
    """ln of the density [1/nat] that the class of its time has at each cache; nan where there is no class."""
    values = np.array([one.ln_kv for one in rows])
    return [float(density) for density in classes(known, rows, forgetting).log_density(values)]


def _through(others: Sequence[tuple[Cache, float]], seen: float, assumptions: Assumptions) -> Student:
    """What a line through the others foretells at this number."""
    truths, families = [other.ln_kv for other, _ in others], [other.family for other, _ in others]
    line = fit(grouped(truths, families, [x for _, x in others], assumptions=assumptions))
    return Student(centre=line.intercept + line.slopes[0] * seen, scale=line.scale, freedom=line.freedom)
