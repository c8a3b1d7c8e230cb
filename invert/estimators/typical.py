"""Typical KV of a sheet: KV bytes that a step reads, and KV bytes that are stored. A price counts only if its record is good."""

from dataclasses import replace

from invert.assumptions import Assumptions
from invert.data import Data
from invert.estimators import calibration, premium
from invert.estimators.cases import Case
from invert.estimators.prediction import pooled_range
from invert.estimators.premium_at_cost import MEANS
from invert.estimators.typical_kv import Bytes, record_of_typical_kv, typical_at
from invert.records import Estimate, given_value, interval, undetermined


def estimates(case: Case, data: Data, assumptions: Assumptions) -> dict[str, Estimate]:
    """Return the KV bytes that a step reads (baseline, and premium weighted by its gain) and the stored KV bytes (baseline).

    Given KV bytes replace the estimate of bytes read.
    """
    return {
        "kv_bytes_per_token": _read(case, data, assumptions),
        "kv_bytes_stored_per_token": _typical_kv("stored", case, data, assumptions),
    }


def _read(case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    if assumptions.kv_bytes_per_token is not None:
        return given_value(assumptions, assumptions.kv_bytes_per_token, "kv_bytes_per_token")
    verdict = calibration.verdict_on_premium(data, assumptions)
    by_price = premium.predict_by_premium(case, data, assumptions) if verdict and verdict.enters else None
    typical, families = typical_at(data, "read", case.day, case.kv_family, assumptions)
    if verdict is None or typical is None or by_price is None:
        return replace(_typical_kv("read", case, data, assumptions), anchors=_GIVEN)
    ends = pooled_range(verdict.weight, by_price, typical, assumptions.level)
    because = f"typical of models released before {case.day}, and with weight {verdict.weight:.2f} the estimate from its premium"
    return replace(interval(assumptions, *ends, because, equations=premium.CITED, anchors=(*MEANS, *_GIVEN)), families=families)


_GIVEN = ("kv_bytes_per_token",)
"""Given KV bytes replace the typical ones."""
_TOO_FEW_FAMILIES = "fewer than two families with known KV were released earlier"


def _typical_kv(of: Bytes, case: Case, data: Data, assumptions: Assumptions) -> Estimate:
    typical, families = typical_at(data, of, case.day, case.kv_family, assumptions)
    if typical is None:
        return undetermined(assumptions, _TOO_FEW_FAMILIES)
    because = f"typical of models released before {case.day}{_unless_released(case)}. Uses no price"
    found = interval(assumptions, *typical.range(assumptions.level), because, equations=(), contraction=0.0)
    record = record_of_typical_kv(data, of, assumptions, None if case.released else case.sheet.as_of)
    return replace(found, record=record, families=families)


def _unless_released(case: Case) -> str:
    """Return a remark on the day and on the record if the release is not known, or an empty text."""
    if case.released:
        return ""
    by_then = ", the earliest day that a table has of it" if case.day < case.sheet.as_of else ""
    return f"{by_then} (release not known. Its record is of known models with typical KV of {case.sheet.as_of})"
