"""The reliability of the estimates of a sheet: errors of the same estimators on models of known cache."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import log
from statistics import fmean, stdev

from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import premium
from invert.estimators.known import Judged, judged, records, records_beside
from invert.estimators.names import KV_NAMES
from invert.records import Misreading, Reliability


def reliabilities(
    architectures: Iterable[str | None], data: Data, assumptions: Assumptions = USUAL, names: tuple[str, ...] = tuple(KV_NAMES)
) -> dict[str | None, Reliability]:
    """Return the accuracy of these estimators on sheets of each of these architectures."""
    known = judged(data, assumptions, names)

    # Most architectures leave the same models, so their results are computed once.
    @cache
    def scored(models: tuple[str, ...], left_out: tuple[str, ...]) -> Reliability:
        kept = [one for one in known if one.member.architecture in models]
        return Reliability(
            models=models,
            left_out=left_out,
            misreadings=_misreadings(kept),
            records=records(kept, data, assumptions),
            beside=records_beside(kept, assumptions),
        )

    def reliability(architecture: str | None) -> Reliability:
        learnt = premium.learn(data, architecture, assumptions)
        return scored(tuple(learnt.kv_ratios), learnt.left_out)

    return {one: reliability(one) for one in dict.fromkeys(architectures)}


def _misreadings(kept: Sequence[Judged]) -> Mapping[str, Misreading]:
    """Return the errors of the medians by estimator."""
    found = {}
    for estimator in dict.fromkeys(name for one in kept for name in one.kv_bytes):
        errors = [log(ratio) for one in kept if (ratio := one.ratio(estimator))]
        bias, sd = (fmean(errors), stdev(errors)) if len(errors) > 1 else (None, None)
        found[estimator] = Misreading(models=len(kept), medians=len(errors), bias=bias, sd=sd)
    return found
