"""What the estimates of a sheet are worth: the same estimators on models whose cache is known, and what is learned from those."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean, stdev
from typing import TypeVar

from derive.errors import WrongData
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import calibration
from invert.estimators.cases import Case
from invert.estimators.known import Judged, judged, records, records_beside
from invert.records import LeftOut, Misreading, Worth

T = TypeVar("T")


def or_left_out(work: Callable[[], T]) -> T | LeftOut:
    """What `work` finds, or which row of the tables it rests on cannot be used."""
    try:
        return work()
    except WrongData as error:
        return LeftOut(str(error))


def worths(
    architectures: Iterable[str | None], data: Data, assumptions: Assumptions = USUAL, drawn: Sequence[Case] = ()
) -> dict[str | None, Worth | LeftOut]:
    """What the estimates are worth on sheets of each of these architectures, None being one that is not public.

    `drawn` are cases with their posteriors on these assumptions.

    >>> from invert.data import read_data
    >>> of_any, = worths([None], read_data()).values()
    >>> {name: round(found.bias, 2) for name, found in of_any.misreadings.items()}
    {'one_markup': -3.85, 'at_rent': -0.73, 'increment': -0.36, 'headline': -0.34}
    """
    known = or_left_out(lambda: judged(data, assumptions, drawn))
    return {one: or_left_out(partial(_worth, one, known, data, assumptions)) for one in dict.fromkeys(architectures)}


def _worth(architecture: str | None, known: tuple[Judged, ...] | LeftOut, data: Data, assumptions: Assumptions) -> Worth | LeftOut:
    """The record of every estimator on the models learned from without an architecture and those that share its cache."""
    learnt = calibration.learn(data, architecture, assumptions)
    if isinstance(known, LeftOut):
        return known
    kept = [one for one in known if one.member.architecture in learnt.kv_ratios]
    return Worth(
        models=tuple(learnt.kv_ratios),
        left_out=learnt.left_out,
        misreadings=_misreadings(kept),
        records=records(kept, data, assumptions),
        beside=records_beside(kept, assumptions),
    )


def _misreadings(kept: Sequence[Judged]) -> Mapping[str, Misreading]:
    """By estimator, over the medians that it gives."""
    found = {}
    for estimator in dict.fromkeys(name for one in kept for name in one.kv_bytes):
        errors = [error for one in kept if (error := one.error(estimator)) is not None]
        bias, sd = (fmean(errors), stdev(errors)) if len(errors) > 1 else (None, None)
        found[estimator] = Misreading(len(kept), len(errors), bias, sd)
    return found
