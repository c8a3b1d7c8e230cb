"""Every estimator is a function of a case and the assumptions: it is what is printed, what is scored, and all that a column is."""

import io
from dataclasses import replace
from functools import cache
from inspect import signature

import pytest

from derive.errors import WrongData
from invert.anchors import assumptions_of
from invert.assumptions import USUAL, Assumptions
from invert.estimators import ESTIMATORS, WITH_RANGE, kv_bytes_by_estimator, storage_price
from invert.estimators.cases import Case, case_of, with_posteriors
from invert.estimators.known import judged
from invert.inference import infer
from invert.priors import Prior
from invert.records import Estimate
from invert.report.layout import COLUMNS_OF_KV
from invert.report.layout import ESTIMATORS as LABELS
from invert.result import Inference
from invert.storage.tariffs import disclosed_cases
from tests.tools.together import in_one_test

SHEETS = ("gemini-3.1-pro", "qwen3-coder-plus", "kimi-k3", "gpt-5.4")
GIVEN = {"nothing": {}, "overlap": {"overlap": 0.4}, "KV": {"kv_bytes_per_token": 7e4}, "contexts": {"short_context": 5e3}}


@cache
def table(start: str) -> tuple[Inference, ...]:
    return infer(SHEETS, anchors=GIVEN[start]).inferences


def cases(start: str) -> list[Case]:
    assumptions = assumptions_of(GIVEN[start])
    return with_posteriors([case_of(one.sheet, one.model, assumptions) for one in table(start)], assumptions)


def test_every_estimator_has_one_signature():
    assert tuple(ESTIMATORS) == ("lecture", "joint_point", "one_markup", "at_rent", "headline")
    for estimator in (*ESTIMATORS.values(), storage_price.estimates):
        assert [(name, one.annotation) for name, one in signature(estimator).parameters.items()] == [
            ("case", Case), ("assumptions", Assumptions),
        ]  # fmt: skip
        assert signature(estimator).return_annotation == dict[str, Estimate]
    assert set(WITH_RANGE) == set(LABELS) == set(COLUMNS_OF_KV) < set(ESTIMATORS)


@in_one_test("start", GIVEN)
def test_what_is_printed_is_what_the_estimators_say(start: str):
    assumptions = assumptions_of(GIVEN[start])
    for case, printed in zip(cases(start), table(start), strict=True):
        found = {name: estimator(case, assumptions) for name, estimator in ESTIMATORS.items()}
        assert (
            kv_bytes_by_estimator(case, assumptions) == printed.kv_bytes == {name: found[name]["kv_bytes_per_token"] for name in WITH_RANGE}
        )
        beside = {**found["one_markup"], **storage_price.estimates(case, assumptions)} | {
            "bandwidth_bound_fraction": found["lecture"]["bandwidth_bound_fraction"]
        }
        assert {name: one for name, one in beside.items() if name != "kv_bytes_per_token"} == printed.estimates
        for name in ("lecture", "joint_point"):
            point = found[name]["kv_bytes_per_token"]
            reading = printed.pairs and getattr(printed.pairs[0], name.removesuffix("_point")).values
            assert (point.kind, point.median) == (("point", reading["kv_bytes_per_token"]) if reading else ("undetermined", None))


def test_what_is_scored_is_what_the_estimators_say():
    scored = judged()
    read = with_posteriors([one.member.sold.case for one in scored], USUAL)
    assert [one.kv_bytes for one in scored] == [kv_bytes_by_estimator(case, USUAL) for case in read] and len(read) > 5


def test_a_case_without_a_posterior_has_no_estimate_of_one_mark_up():
    case = replace(cases("nothing")[0], summary=None)
    with pytest.raises(WrongData, match="no posterior was drawn"):
        ESTIMATORS["one_markup"](case, USUAL)
    assert ESTIMATORS["headline"](case, USUAL) == {"kv_bytes_per_token": table("nothing")[0].kv_bytes["headline"]}


def test_other_assumptions_are_those_of_every_estimator():
    """Half as firm a rent, and a wider level: what rests on them moves, and what does not stays."""
    case = cases("nothing")[0]
    loose = replace(USUAL, rent_spread=0.5)
    before, after = kv_bytes_by_estimator(case, USUAL), kv_bytes_by_estimator(case, loose)
    assert after["at_rent"].high > before["at_rent"].high and after["one_markup"] == before["one_markup"]
    wide = replace(USUAL, level=0.98)
    (again,) = with_posteriors([case], wide)
    for name, estimate in kv_bytes_by_estimator(again, wide).items():
        assert estimate.level == 0.98 and estimate.low < before[name].low and estimate.high > before[name].high


def test_given_contexts_of_one_model_are_not_those_of_a_disclosed_lifetime():
    assert disclosed_cases(assumptions_of({"short_context": 1e3, "long_context": 3e5})) == disclosed_cases()


def test_the_assumptions_of_a_run_are_those_of_its_sheets():
    sheet = io.StringIO("provider,model,component,amount\nacme,m,input,1\nacme,m,output,4\n")
    run = infer(["acme/m"], prices=sheet, anchors={"overlap": 0.5}, assumptions=replace(USUAL, extra_markup_prior=Prior(2.0, 0.6, "")))
    assert run.assumptions == assumptions_of({"overlap": 0.5}, replace(USUAL, extra_markup_prior=Prior(2.0, 0.6, "")))
    usual = infer(["acme/m"], prices=io.StringIO(sheet.getvalue())).inferences[0]
    assert (
        run.inferences[0].anchors.values["active_params"] < usual.anchors.values["active_params"] and run.anchors.values["overlap"] == 0.5
    )
