"""The estimators of KV bytes on sheets of models whose cache is known, by the very functions that read any other sheet."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from invert.anchors import common_anchors, held_beliefs
from invert.estimators.calibration import Member, members
from invert.estimators.cases import case_of, kv_estimates
from invert.estimators.readings import read_pair
from invert.posterior.summary import QUANTITIES, prior_spreads, summarise
from invert.records import Estimate

OF_ONE_MODEL = ("active_params", "short_context", "long_context", "kv_bytes_per_token")
"""Outside facts that are about one model or its traffic: given for another, they say nothing of a known one."""


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


def judged(anchors: Mapping[str, float]) -> tuple[Judged, ...]:
    """Every known model that a sheet of several bands sells, read on anchors [SI] as a run of `infer` with them reads it.

    >>> first = judged({})[0]
    >>> first.member.architecture, f"{first.ratio('dollar_anchored'):.2f}"
    ('Qwen3-Coder-480B-A35B', '2.09')
    """
    given = {name: value for name, value in anchors.items() if name not in OF_ONE_MODEL}
    common = common_anchors(given)
    held, known = held_beliefs(common, given), [(member, member.sold) for member in members() if member.sold]
    cases = [case_of(sold.sheet, sold.model, common, given, held) for _, sold in known]
    evidence = [case.evidence for case in cases]
    found, priors = summarise(evidence, held), prior_spreads(evidence, held, QUANTITIES)
    read = []
    for (member, _), case, summary, prior in zip(known, cases, found, priors, strict=True):
        first = (read_pair(case.sheet, case.seen, 0, case.anchors.values),)
        read.append(Judged(member, kv_estimates(case, first, summary, prior, held, given)))
    return tuple(read)
