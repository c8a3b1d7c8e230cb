"""The estimators of KV bytes on sheets of models whose cache is known, by the very functions that read any other sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from invert.assumptions import UNLESS_GIVEN, USUAL, Assumptions
from invert.data import Data
from invert.estimators import side_by_side
from invert.estimators.calibration import Member, members
from invert.estimators.cases import Case, with_posteriors
from invert.records import Estimate


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
    of_run, assumptions = assumptions, assumptions.apart_from(UNLESS_GIVEN)
    done = {(case.sheet, case.model): case for case in drawn} if assumptions == of_run else {}
    known = [(member, member.sold.case) for member in members(data, assumptions) if member.sold]
    new = with_posteriors([case for _, case in known if (case.sheet, case.model) not in done], data, assumptions)
    done |= {(case.sheet, case.model): case for case in new}
    return tuple(Judged(member, side_by_side(done[case.sheet, case.model], data, assumptions)[0]) for member, case in known)
