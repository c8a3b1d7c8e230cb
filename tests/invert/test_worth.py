"""What estimates are worth: a record of every estimator on models whose cache is known, without the sheet's own model."""

from dataclasses import astuple, replace
from math import log
from statistics import fmean, stdev

import pytest

from derive.shipped import read
from invert.estimators import calibration
from invert.estimators.known import judged
from invert.inference import infer
from invert.records import LeftOut, Worth
from invert.worth import or_left_out, worths
from tests.tools.data import shipped_data
from tests.tools.tables import reading


def test_a_record_is_that_of_the_estimators_on_the_known_models():
    (found,) = worths([None], shipped_data()).values()
    known = judged(shipped_data())
    assert found.models == tuple(one.member.architecture for one in known) and found.left_out == ()
    for estimator, misread in found.misreadings.items():
        errors = [log(one.kv_bytes[estimator].median / one.member.kv_bytes_per_token) for one in known]
        assert (misread.models, misread.medians) == (len(known), len(errors))
        assert (misread.bias, misread.sd) == pytest.approx((fmean(errors), stdev(errors)), rel=1e-12)


def test_what_is_left_out_moves_the_record():
    name = "Qwen3-Coder-480B-A35B"
    of_any, without = worths([None, name], shipped_data()).values()
    assert isinstance(of_any, Worth) and isinstance(without, Worth)
    assert set(without.left_out) == calibration.siblings(shipped_data(), name) and name not in without.models
    assert without.misreadings["headline"] != of_any.misreadings["headline"]
    assert set(without.class_members) < set(of_any.class_members) and without.rms == of_any.rms


def test_every_sheet_has_the_record_of_its_own_architecture():
    table = infer(["qwen3-coder-plus", "gemini-3.1-pro"])
    assert_same(table[0].worth, worths(["Qwen3-Coder-480B-A35B"], shipped_data())["Qwen3-Coder-480B-A35B"])
    assert_same(table[1].worth, worths([None], shipped_data())[None])
    assert table[1].worth.models != table[0].worth.models


def assert_same(one: Worth, other: Worth) -> None:
    """Up to the last digits of posteriors, which hang on what sheets are drawn beside."""
    assert replace(one, misreadings={}) == replace(other, misreadings={}) and one.misreadings.keys() == other.misreadings.keys()
    for name, found in one.misreadings.items():
        assert astuple(found) == pytest.approx(astuple(other.misreadings[name]), rel=1e-9), name


def test_a_table_that_cannot_be_used_is_named():
    with reading(read().edited(reference_class="architecture,family\n")):
        found = worths([None], shipped_data())[None]
    assert isinstance(found, LeftOut) and "reference_class.csv" in found.why


def test_other_mistakes_are_not_taken_for_a_bad_row():
    with pytest.raises(ZeroDivisionError):
        or_left_out(lambda: 1 / 0)
