"""Every estimator is a function of a case and the assumptions: it is what is printed, what is scored, and all that a column is."""

import io
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from invert.assumptions import USUAL, Prior
from invert.estimate_text import KV_NAMES
from invert.estimators import lecture, other_prices, size
from invert.estimators.cases import Case, assumptions_of, case_of
from invert.estimators.known import ESTIMATORS, judged, side_by_side
from invert.inference import infer
from invert.records import Estimate
from invert.result import Inference
from invert.storage.tariffs import disclosed_cases
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test, some

SHEETS = ("gemini-3.1-pro", "qwen3-coder-plus", "kimi-k3", "gpt-5.4")
GIVEN = {"nothing": {}, "overlap": {"overlap": 0.4}, "KV": {"kv_bytes_per_token": 7e4}, "contexts": {"short_context": 5e3}}


@cache
def table(start: str) -> tuple[Inference, ...]:
    return infer(SHEETS, anchors=GIVEN[start]).inferences


def cases(start: str) -> list[Case]:
    assumptions = assumptions_of(GIVEN[start])
    return [case_of(one.sheet, one.model, shipped_data(), assumptions) for one in table(start)]


def as_estimated(printed: Mapping[str, Estimate], estimated: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Without the record that is looked up beside an estimate which brings none, what a bound says of others like it, and all that follows
    from the assumptions of the run.
    """
    assert all(bool(one.level) == bool(one.record or one.bounds) for one in printed.values())
    finished = {name: {of: getattr(estimated[name], of) for of in ("level", "quantity", "prior_dominated")} for name in printed}
    levelled = {name: replace(one, **finished[name]) for name, one in printed.items()}
    without = {name: one if estimated[name].record else replace(one, record=None) for name, one in levelled.items()}
    assert all(one.bounds is None or one.because.startswith(f"{estimated[name].because}; ") for name, one in without.items())
    return {name: replace(one, bounds=None, because=estimated[name].because) if one.bounds else one for name, one in without.items()}


@in_one_test("start", some(GIVEN, 2))
def test_an_estimator_with_a_column_gives_kv_bytes_and_no_quantity_that_another_gives(start: str):
    assumptions = assumptions_of(GIVEN[start])
    for case in cases(start):
        found = [ESTIMATORS[name](case, shipped_data(), assumptions) for name in KV_NAMES]
        assert all(estimates["kv_bytes_per_token"].kind in ("interval", "upper", "undetermined", "given") for estimates in found)
        beside = [name for estimates in found for name in estimates if name != "kv_bytes_per_token"]
        assert len(set(beside)) == len(beside)
        assert set(beside) & set(other_prices.estimate_by_storage(case, shipped_data(), assumptions)) <= {"kv_bytes_stored_per_token"}


@in_one_test("start", GIVEN)
def test_what_is_printed_is_what_the_estimators_say(start: str):
    assumptions = assumptions_of(GIVEN[start])
    for case, printed in zip(cases(start), table(start), strict=True):
        found = {name: estimates(case, shipped_data(), assumptions) for name, estimates in ESTIMATORS.items()}
        kv_bytes, others = side_by_side(case, shipped_data(), assumptions)
        assert kv_bytes == {name: found[name]["kv_bytes_per_token"] for name in KV_NAMES}
        assert kv_bytes == as_estimated(printed.kv_bytes, kv_bytes)
        assert all(one.record for one in printed.kv_bytes.values() if one.kind == "interval")
        stored = found["typical"]["kv_bytes_stored_per_token"]
        assert others == {
            **{name: one for name, one in found["from_all_prices"].items() if name != "kv_bytes_per_token"},
            "kv_bytes_stored_per_token": stored,
        }  # fmt: skip
        by_storage = other_prices.estimate_by_storage(case, shipped_data(), assumptions)
        by_price = {"by_storage_price": by_storage.pop("kv_bytes_stored_per_token")} if case.storage_price else {}
        of_both = {"typical": stored, **by_price}
        assert as_estimated(printed.kv_bytes_stored, of_both) == of_both
        beside = {name: one for name, one in others.items() if name != "kv_bytes_stored_per_token"} | by_storage
        beside |= {"bandwidth_bound_fraction": lecture.bandwidth_bound(case, shipped_data(), assumptions)}
        for name, priced in (("total_params_by_knowledge", False), ("total_params_by_price_and_knowledge", True)):
            beside[name] = size.total_params_by_knowledge(case, shipped_data(), assumptions, priced)
        assert beside == as_estimated(printed.estimates, beside)


def test_what_is_scored_is_what_the_estimators_say():
    scored = judged(shipped_data())
    estimated = [side_by_side(one.member.case, shipped_data(), USUAL)[0] for one in scored]
    assert [one.kv_bytes for one in scored] == estimated and len(scored) > 5


def test_sheets_that_publish_the_same_share_one_posterior_and_others_do_not():
    rows = ["provider,model,component,amount"]
    rows += [f"acme,{name},input,2" for name in "abc"] + ["acme,a,output,8", "acme,b,output,8", "acme,c,output,9"]
    a, b, c = infer(["acme/a", "acme/b", "acme/c"], prices=rows).inferences
    assert a.summary is b.summary and a.summary != c.summary
    otherwise = replace(a.price_data, size_by_price=not a.price_data.size_by_price)
    assert a.price_data.key == b.price_data.key != c.price_data.key and otherwise.key != a.price_data.key
    alone = infer(["acme/c"], prices=rows).inferences[0]
    assert (alone.summary.log_evidence, alone.summary.ess) == pytest.approx((c.summary.log_evidence, c.summary.ess), rel=1e-9)


def test_other_assumptions_are_those_of_every_estimator():
    """Half as firm a rent, and a wider level: what rests on them moves, and what does not stays."""
    case = cases("nothing")[0]
    loose = replace(USUAL, rent_spread=0.5)
    before, after = side_by_side(case, shipped_data(), USUAL)[0], side_by_side(case, shipped_data(), loose)[0]
    assert (
        after["from_premium_at_cost"].high > before["from_premium_at_cost"].high and after["from_all_prices"] == before["from_all_prices"]
    )
    wide = replace(USUAL, level=0.98)
    for name, estimate in side_by_side(case, shipped_data(), wide)[0].items():
        assert estimate.low < before[name].low and estimate.high > before[name].high


def test_given_contexts_of_one_model_are_not_those_of_a_disclosed_lifetime():
    assert disclosed_cases(shipped_data(), assumptions_of({"short_context": 1e3, "long_context": 3e5})) == disclosed_cases(shipped_data())


def test_the_assumptions_of_a_run_are_those_of_its_sheets():
    sheet = io.StringIO("provider,model,component,amount\nacme,m,input,1\nacme,m,output,4\n")
    run = infer(
        ["acme/m"],
        prices=sheet,
        anchors={"overlap": 0.5},
        assumptions=replace(USUAL, extra_price_cost_ratio_prior=Prior(centre=2.0, spread=0.6)),
    )
    assert run.assumptions == assumptions_of({"overlap": 0.5}, replace(USUAL, extra_price_cost_ratio_prior=Prior(centre=2.0, spread=0.6)))
    usual = infer(["acme/m"], prices=io.StringIO(sheet.getvalue())).inferences[0]
    assert (
        run.inferences[0].anchors.values["active_params"] < usual.anchors.values["active_params"] and run.anchors.values["overlap"] == 0.5
    )
