"""The headline: KV bytes from increments at the mark-up of models of known architecture, combined with the KV bytes they have."""

from math import exp, log

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import at_rent, calibration, densities
from invert.estimators.cases import Case
from invert.estimators.densities import Belief
from invert.posterior.summary import contracted
from invert.records import Estimate, given_value, interval, or_undetermined, upper

ONE_SD = (0.16, 0.84)
"""Quantiles between which a density is as wide as two standard deviations of a normal."""


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """KV bytes calibrated on known models; given ones stand in their place."""
    return {"kv_bytes_per_token": _kv_bytes(case, data, assumptions)}


@or_undetermined
def _kv_bytes(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    if assumptions.kv_bytes_per_token is not None:
        return given_value(assumptions, assumptions.kv_bytes_per_token, "kv_bytes_per_token")
    return calibrated_on_known(at_rent.estimates(case, data, assumptions)["kv_bytes_per_token"], case.architecture, data, assumptions)


def calibrated_on_known(at_cost: Estimate, architecture: str | None, data: Data, assumptions: Assumptions) -> Estimate:
    """What an estimate at rental cost says once the models of known architecture are heard, this one and its siblings apart.

    An undetermined one stays as it is.
    """
    if at_cost.high is None:
        return at_cost
    learnt = calibration.learn(data, architecture, assumptions)
    equations, anchors = at_cost.equations, (*at_cost.anchors, "kv_bytes_per_token")
    bound, median_at_cost = log(at_cost.high), at_cost.median
    belief = calibration.bounded(bound, learnt) if median_at_cost is None else calibration.combined(log(median_at_cost), learnt)
    contraction = contracted(_width(belief), _width(calibration.reference_only(learnt)))
    if median_at_cost is not None:
        low, median, high = (exp(end) for end in densities.central_interval(belief, assumptions.level))
        because = f"increments at the mark-up of {learnt.increments.count} known sheets, and {learnt.reference.count} known caches"
        return interval(assumptions, low, median, high, because, equations=equations, contraction=contraction, anchors=anchors)
    because = f"no output premium: {learnt.reference.count} known caches, and what the price pays for"
    high = exp(belief.quantile(assumptions.level))
    return upper(assumptions, high, because, equations=equations, contraction=contraction, anchors=anchors)


def _width(belief: Belief) -> float:
    low, high = ONE_SD
    return belief.quantile(high) - belief.quantile(low)
