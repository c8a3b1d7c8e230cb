"""The estimators of KV bytes on sheets of models whose cache is known, by the very functions that read any other sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import erf, log, pi, sqrt
from statistics import NormalDist, median

import numpy as np

from derive.errors import WrongData
from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data, once_a_run
from invert.estimators import at_rent, side_by_side
from invert.estimators.calibration import Member, members
from invert.estimators.cases import Case, has_premium, with_posteriors
from invert.estimators.readings import known_cache
from invert.market import learnt
from invert.market.recency import classes
from invert.market.record import record_by_votes
from invert.records import Bounds, Estimate, Record
from invert.sheets.assemble import models, sheets
from invert.sheets.read import book_of


@dataclass(frozen=True, slots=True)
class Judged:
    """A model of known cache, and what every estimator makes of its sheet."""

    member: Member
    kv_bytes: Mapping[str, Estimate]

    def ratio(self, estimator: str) -> float | None:
        """The median over the true cache; None where the estimator gives no median."""
        median = self.kv_bytes[estimator].median
        return median and median / self.member.kv_bytes_per_token

    def error(self, estimator: str) -> float | None:
        """Its natural logarithm."""
        ratio = self.ratio(estimator)
        return None if ratio is None else log(ratio)


def judged(data: Data, assumptions: Assumptions = USUAL, drawn: Sequence[Case] = ()) -> tuple[Judged, ...]:
    """Every known model that a sheet of several bands sells, as a run of `infer` on these assumptions reads it.

    Facts that were given about one model or its traffic say nothing of these. `drawn` are cases with their posteriors on
    these assumptions: a known one among them is drawn no second time.

    >>> from invert.data import read_data
    >>> first = judged(read_data())[0]
    >>> first.member.architecture, f"{first.ratio('at_rent'):.2f}"
    ('Qwen3-Coder-480B-A35B', '2.09')
    """
    asked = assumptions.apart_from(UNLESS_GIVEN)
    return data.once((judged, asked), lambda: _judged(data, asked, drawn if asked == assumptions else ()))


def _judged(data: Data, assumptions: Assumptions, drawn: Sequence[Case]) -> tuple[Judged, ...]:
    done = {(case.sheet, case.model): case for case in drawn}
    known = [(member, member.sold.case) for member in members(data, assumptions)]
    new = with_posteriors([case for _, case in known if (case.sheet, case.model) not in done], data, assumptions)
    done |= {(case.sheet, case.model): case for case in new}
    return tuple(Judged(member, side_by_side(done[case.sheet, case.model], data, assumptions)[0]) for member, case in known)


def records(known: Sequence[Judged], data: Data, assumptions: Assumptions = USUAL) -> dict[str, Record]:
    """What the ranges of each estimator have got right of these models, held against the class of the time, a family one vote.

    A printed range is taken for a normal density of the logarithm on either side of its median. An estimator that gives no
    range of two families or more has no record.
    """
    caches = learnt.known_caches(data, assumptions)["read"]
    of_name = {one.architecture: one for one in caches}
    of_class = classes(caches, [of_name[one.member.architecture] for one in known], learnt.forgetting(data, assumptions))
    truths = np.array([log(one.member.kv_bytes_per_token) for one in known])
    by_class = of_class.log_density(truths)
    found: dict[str, Record] = {}
    for estimator in dict.fromkeys(name for one in known for name in one.kv_bytes):
        ranges = [_two_normals(one.kv_bytes[estimator], truth) for one, truth in zip(known, truths, strict=True)]
        kept = np.array([place for place, one in enumerate(ranges) if one and np.isfinite(by_class[place])], dtype=int)
        if kept.size:
            errors, densities, nearer = np.array([ranges[place] for place in kept]).T
            families = [known[place].member.family for place in kept]
            one = record_by_votes(densities - by_class[kept], families, errors, (of_class.centre - truths)[kept], nearer)
            found |= {estimator: one} if one else {}
    return found


@once_a_run
def bounds_at_rent(data: Data, assumptions: Assumptions = USUAL) -> Bounds | None:
    """What the bound at rental cost makes of every shipped sheet that has no output premium and whose cache is known; None of none.

    Facts that were given about one model or its traffic say nothing of these.

    >>> from invert.data import read_data
    >>> found = bounds_at_rent(read_data())
    >>> found.count, found.held, found.held_at_one_byte, f"{found.least:.2g} to {found.most:.2g}"
    (9, 6, 9, '0.6 to 84')
    """
    assumptions = assumptions.apart_from(UNLESS_GIVEN)
    described, factors = {(row.provider, row.model): row for row in models(data)}, []
    for sheet in sheets(book_of(data))[0]:
        model = described.get((sheet.provider, sheet.model))
        try:
            cache = known_cache(model, data, assumptions)
        except WrongData:
            continue
        if model and cache and not has_premium(sheet):
            factors.append(at_rent.most_within_price(sheet, model.max_context, data, assumptions) / cache.read)
    if not factors:
        return None
    return Bounds(
        count=len(factors),
        held=sum(factor >= 1 for factor in factors),
        held_at_one_byte=sum(factor * assumptions.bytes_per_kv_value >= 1 for factor in factors),
        least=min(factors),
        median=median(factors),
        most=max(factors),
    )


def told_by_others(estimate: Estimate, bounds: Bounds | None) -> Estimate:
    """A bound that says what others like it were over the true cache, or the estimate as it is.

    >>> of = Bounds(count=9, held=6, held_at_one_byte=9, least=0.6, median=5.5, most=84.0)
    >>> told_by_others(Estimate("upper", high=2e3, because="no premium"), of).because
    'no premium; on 9 sheets of known cache such bounds were 0.6 to 84 times it, 5.5 in the middle: held 6 of 9 in bf16, 9 at one byte'
    """
    if estimate.kind != "upper" or bounds is None:
        return estimate
    said = (
        f"on {bounds.count} sheets of known cache such bounds were {bounds.least:.2g} to {bounds.most:.2g} times it, {bounds.median:.2g} in"
        f" the middle: held {bounds.held} of {bounds.count} in bf16, {bounds.held_at_one_byte} at one byte"
    )
    return replace(estimate, because=f"{estimate.because}; {said}", bounds=bounds)


def _two_normals(estimate: Estimate, truth: float) -> tuple[float, float, float] | None:
    """How far off the median is [nat], ln density of the truth, and how much of the range lies nearer to its median than the truth."""
    if estimate.kind != "interval" or estimate.median is None or not estimate.low or not estimate.high:
        return None
    reach = NormalDist().inv_cdf((1 + estimate.level) / 2)
    below, above = log(estimate.median / estimate.low) / reach, log(estimate.high / estimate.median) / reach
    error = log(estimate.median) - truth
    apart = abs(error) / (below if error > 0 else above)
    return error, log(2 / (below + above)) - apart**2 / 2 - log(2 * pi) / 2, erf(apart / sqrt(2))
