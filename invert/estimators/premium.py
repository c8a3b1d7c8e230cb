"""KV from premium: the extra price of long context, at the price/cost of models with known architecture."""

from math import log

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import calibration, premium_at_cost
from invert.estimators.cases import Case
from invert.estimators.prediction import Student
from invert.estimators.premium_at_cost import MEANS
from invert.records import Estimate, interval, references, undetermined

CITED = references(*premium_at_cost.INCREMENT)


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the KV bytes from the output increments at the price/cost of other families. All families have equal weight."""
    found = predict_by_premium(case, data, assumptions)
    if found is None:
        return {"kv_bytes_per_token": undetermined(assumptions, "no output premium that rises with length")}
    families = calibration.learn(data, case.architecture, assumptions).families
    because = f"assumes the price/cost of premiums of {len(families)} families with known KV"
    ends = found.range(assumptions.level)
    return {"kv_bytes_per_token": interval(assumptions, *ends, because, equations=CITED, anchors=MEANS)}


def predict_by_premium(case: Case, data: Data, assumptions: Assumptions) -> Student | None:
    """Return ln KV bytes as the premium predicts them, or None if output does not cost more with length."""
    at_cost = premium_at_cost.estimates(case, data, assumptions)["kv_bytes_per_token"].median
    return None if at_cost is None else calibration.learn(data, case.architecture, assumptions).predict(log(at_cost))
