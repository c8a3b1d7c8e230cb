"""What estimates are worth: a record of every estimator on models whose cache is known, without the sheet's own model."""

from dataclasses import astuple
from math import log
from statistics import fmean, stdev

import numpy as np
import pytest

from derive.tables.shipped import read
from invert.estimators import calibration
from invert.estimators.known import judged
from invert.estimators.market.typical_kv import record_of_typical_kv
from invert.estimators.names import KV_NAMES
from invert.estimators.worth import worths
from invert.inference import infer
from invert.records import Misreading, Record, Worth
from tests.tools.data import shipped_data
from tests.tools.tables import reading


def test_a_record_is_that_of_the_estimators_on_the_known_models():
    found = worths([None], shipped_data())[None].value
    known = judged(shipped_data())
    assert found.models == tuple(one.member.architecture for one in known) and found.left_out == ()
    for estimator, misread in found.misreadings.items():
        errors = [log(one.kv_bytes[estimator].median / one.member.kv_bytes_per_token) for one in known]
        assert (misread.models, misread.medians) == (len(known), len(errors))
        assert (misread.bias, misread.sd) == pytest.approx((fmean(errors), stdev(errors)), rel=1e-12)


def test_what_is_left_out_moves_the_record():
    name = "Qwen3-Coder-480B-A35B"
    of_any, without = (one.value for one in worths([None, name], shipped_data()).values())
    assert isinstance(of_any, Worth) and isinstance(without, Worth)
    assert set(without.left_out) == calibration.siblings(shipped_data(), name) and name not in without.models
    assert set(without.models) == set(of_any.models) - set(without.left_out) and len(without.models) == 7
    for estimator in ("one_markup", "at_rent", "increment", "headline"):
        assert without.misreadings[estimator] != of_any.misreadings[estimator]
        assert (without.records[estimator].count, without.records[estimator].groups) == (7, 5)
        assert (of_any.records[estimator].count, of_any.records[estimator].groups) == (9, 6)


@pytest.mark.parametrize("architecture", [None, "GLM-4.5"])
def test_the_record_is_that_of_the_models_that_are_left(architecture):
    """Their printed ranges and medians, counted one by one."""
    found = worths([architecture], shipped_data())[architecture].value
    kept = [one for one in judged(shipped_data()) if one.member.family != "glm-4.5" or not architecture]
    assert list(found.records) == list(found.misreadings) == list(KV_NAMES)
    for estimator, record in found.records.items():
        held = [one.kv_bytes[estimator].low < one.member.kv_bytes_per_token < one.kv_bytes[estimator].high for one in kept]
        errors = [one.error(estimator) for one in kept]
        assert (record.count, record.held[1].level, record.held[1].held) == (len(kept), 0.9, sum(held))
        assert record.rms**2 == pytest.approx(fmean(error**2 for error in errors))
        # Bias and spread are of the same errors: rms^2 = bias^2 + sd^2 (n - 1)/n.
        misread, count = found.misreadings[estimator], len(kept)
        assert record.rms**2 == pytest.approx(misread.bias**2 + misread.sd**2 * (count - 1) / count)


def test_every_estimate_of_a_sheet_bears_its_record():
    """The readings that of the known models left in, the class of the time its own, of more models than are sold by length."""
    (found,) = infer(["qwen3-coder-plus"]).inferences
    for estimator in ("one_markup", "at_rent", "increment"):
        assert found.kv_bytes[estimator].record == found.worth.value.records[estimator]
    assert found.kv_bytes["headline"].record == record_of_typical_kv(shipped_data(), "read")
    assert found.kv_bytes_stored["headline"].record == record_of_typical_kv(shipped_data(), "stored")
    assert found.kv_bytes["headline"].record.count > found.worth.value.records["headline"].count == 7


def numbers(found: Misreading | Record) -> list[float]:
    """All of its numbers, those of its parts as well."""
    return [number for value in astuple(found) if not isinstance(value, str) for number in np.ravel(value)]


def test_a_table_that_cannot_be_used_is_named():
    with reading(read().edited(calibration_models="architecture,family\n")):
        found = worths([None], shipped_data())[None]
    assert found.value is None and "calibration_models.csv" in found.left_out
