"""The estimators on models whose cache is known, and the record that their ranges have."""

from functools import cache
from inspect import signature
from math import exp, log
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from invert.assumptions import USUAL, Assumptions
from invert.data import Data, read_data
from invert.estimate_text import KV_NAMES, kv_heading
from invert.estimators import other_prices
from invert.estimators.cases import Case, assumptions_of
from invert.estimators.known import (
    ESTIMATORS,
    Judged,
    error_of_lecture,
    judge_ranges,
    judged,
    predictions_of_known,
    record_of_storage_price,
    records,
    records_beside,
    reliabilities,
)
from invert.estimators.typical_kv import record_of_typical_kv, typical_kv
from invert.inference import Extent, infer, run_of
from invert.records import Estimate
from tests.tools.data import shipped_data
from tests.tools.remembered import drawing_anew


@cache
def known() -> tuple[Judged, ...]:
    return judged(shipped_data())


def printed(low: float, median: float, high: float, level: float = 0.9) -> Estimate:
    return Estimate(kind="interval", median=median, low=low, high=high, level=level)


def by_baseline(one: Judged) -> tuple[float, float]:
    """ln density [1/nat] of the true cache by the class of its time, and how far off its centre is, by scipy."""
    law = typical_kv(shipped_data())["read"].at(one.member.case.released, one.member.family)[0]
    truth = log(one.member.kv_bytes_per_token)
    return float(stats.t(law.freedom, law.centre, law.scale).logpdf(truth)), law.centre - truth


@pytest.mark.slow
def test_what_is_known_of_models_does_not_depend_on_the_facts_given_for_one():
    anew, sized, expected = Data(shipped_data().tables), assumptions_of({"active_params": 60e9}), [one.kv_bytes for one in known()]
    with drawing_anew() as drawn:
        assert [one.kv_bytes for one in judged(anew, sized)] == expected
        assert judged(anew, sized) == judged(anew, USUAL) and len(drawn) == len(known())


# A range as a density.


def judge_one(estimate: Estimate, at: float) -> tuple[float, float, float]:
    """Return the error, ln density and nearer probability of one range at a logarithm."""
    error, ln_density, nearer = (float(one[0]) for one in judge_ranges([estimate], np.array([at]), estimate.level or 0.0))
    return error, ln_density, nearer


def density(at: float, estimate: Estimate) -> float:
    return exp(judge_one(estimate, at)[1])


@pytest.mark.parametrize(("truth", "side"), [(5e3, "below"), (14e3, "above")])
def test_a_range_is_a_normal_density_on_either_side_of_its_median(truth, side):
    """1 to 20 kB about 10: ten times below and twice above, at the 1.645 of 90 %."""
    z = stats.norm.ppf(0.95)
    below, above = log(10) / z, log(2) / z
    spread = below if side == "below" else above
    error, ln_density, nearer = judge_one(printed(1e3, 1e4, 2e4), log(truth))
    assert error == pytest.approx(log(1e4 / truth))
    # Two halves of normal densities that meet at the median: each is scaled by its share of both spreads.
    scaled = stats.norm(log(1e4), spread).pdf(log(truth)) * 2 * spread / (below + above)
    assert ln_density == pytest.approx(log(scaled))
    assert nearer == pytest.approx(2 * stats.norm.cdf(abs(error) / spread) - 1)


@given(st.floats(0.05, 3), st.floats(0.05, 3), st.sampled_from([0.5, 0.9, 0.98]))
def test_its_density_is_one_in_all_and_its_ends_are_at_its_level(below: float, above: float, level: float):
    said = printed(exp(9 - below), exp(9), exp(9 + above), level)
    total = sum(integrate.quad(density, *ends, args=(said,))[0] for ends in ((9 - 12 * below / 0.6, 9), (9, 9 + 12 * above / 0.6)))
    assert total == pytest.approx(1, abs=1e-6)
    assert [judge_one(said, end)[2] for end in (9 - below, 9, 9 + above)] == pytest.approx([level, 0, level], abs=1e-9)


@pytest.mark.parametrize(
    "estimate",
    [Estimate(kind="undetermined"), Estimate(kind="upper", high=1e5), printed(0.0, 1e4, 2e4)],
    ids=["undetermined", "a bound", "down to 0"],
)
def test_what_has_no_range_has_no_density(estimate):
    assert np.isnan(judge_one(estimate, 9.0)[1])


# Records.


def test_every_estimator_of_a_range_has_the_record_of_nine_sheets_of_six_families():
    found = records(known(), shipped_data())
    assert list(found) == list(KV_NAMES)
    for one in found.values():
        assert (one.count, one.groups, len(one.coverage)) == (9, 6, 2)
        assert one.rms_of_baseline == pytest.approx(np.sqrt(np.mean([by_baseline(judged)[1] ** 2 for judged in known()])), rel=1e-9)
        assert one.interval[0] <= one.gain <= one.interval[1]


@pytest.mark.parametrize("estimator", KV_NAMES)
def test_a_record_counts_what_the_printed_ranges_held(estimator):
    """Counted here by the printed ends, the errors from the printed medians; a family has one vote in the gain alone."""
    found, votes = records(known(), shipped_data())[estimator], {}
    inside = [one.kv_bytes[estimator].low < one.member.kv_bytes_per_token < one.kv_bytes[estimator].high for one in known()]
    assert (found.coverage[1].level, found.coverage[1].right, found.coverage[1].count) == (0.9, sum(inside), 9)
    errors = [log(one.kv_bytes[estimator].median / one.member.kv_bytes_per_token) for one in known()]
    assert found.rms == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-9)
    for one in known():
        gained = judge_one(one.kv_bytes[estimator], log(one.member.kv_bytes_per_token))[1] - by_baseline(one)[0]
        votes.setdefault(one.member.family, []).append(gained)
    assert found.gain == pytest.approx(np.mean([np.mean(gains) for gains in votes.values()]), rel=1e-9)


# Beside KV bytes.


def test_estimates_bear_those_records_where_ranges_like_them_were_judged():
    several, one_band = infer(["gemini-3.1-pro", "claude-opus-5"])
    beside, alone = several.reliability.beside, records_beside(known())
    assert {name: (one.count, one.groups, one.coverage) for name, one in beside.items()} == {
        name: (one.count, one.groups, one.coverage) for name, one in alone.items()
    }
    # The same draws beside those of other sheets: sums may differ in their last digit.
    assert [one.rms for one in beside.values()] == pytest.approx([one.rms for one in alone.values()], rel=1e-12)
    assert several.estimates["balance_context"].record == several.reliability.beside["balance_context"]
    assert several.estimates["attention_intensity"].level == 0.9 and several.estimates["memory_time_share"].level is None
    assert one_band.estimates["balance_context"].record is None and one_band.estimates["balance_context"].level is None
    assert one_band.kv_bytes_stored["by_storage_price"].record == record_of_storage_price(shipped_data())


# Bounds.


def test_judgements_hold_as_often_as_the_record_of_their_estimator():
    """But for the headline, whose record is of more models, and bounds, which have another."""
    data = read_data()
    found, known = predictions_of_known(data), records(judged(data), data)
    for name in ("from_premium_at_cost", "from_premium"):
        own = [one for one in found if one.by == kv_heading(name)]
        record = known[name].at(USUAL.level)
        assert record and own and (sum(one.right for one in own), len(own)) == (record.right, record.count)


def test_the_error_of_the_lecture_is_over_every_sheet_where_both_are_known():
    times = [one.times_reading["lecture"] for one in infer() if one.known and one.times_reading]
    found = error_of_lecture(shipped_data())
    assert found and (found.low, found.high) == (min(times), max(times)) and found.median == pytest.approx(np.median(times))
    assert error_of_lecture(shipped_data(), assumptions_of({"active_params": 1e9})) == found, "what is given of one model is of no other"


def test_every_estimator_has_one_signature():
    for estimator in (*ESTIMATORS.values(), other_prices.estimate_by_input, other_prices.estimate_by_storage):
        assert [(name, one.annotation) for name, one in signature(estimator).parameters.items()] == [
            ("case", Case), ("data", Data), ("assumptions", Assumptions),
        ]  # fmt: skip
        assert signature(estimator).return_annotation == dict[str, Estimate]


def test_every_estimator_is_named_and_every_name_is_of_one():
    assert list(ESTIMATORS) == list(KV_NAMES)


def test_the_default_table_draws_no_posterior():
    with drawing_anew() as drawn:
        table = run_of((), Extent(estimators=("from_premium_at_cost", "from_premium", "typical")), most_flagships=1000)[2]
        assert table.inferences and not drawn
    for one in table:
        assert one.summary is None and one.kv_bytes.keys() == {"from_premium_at_cost", "from_premium", "typical"}


def test_a_record_is_that_of_the_estimators_on_the_known_models():
    found = reliabilities([None], shipped_data())[None]
    known = judged(shipped_data())
    assert found.models == tuple(one.member.architecture for one in known) and found.left_out == ()
    for estimator, misread in found.misreadings.items():
        errors = [log(one.kv_bytes[estimator].median / one.member.kv_bytes_per_token) for one in known]
        assert (misread.models, misread.medians) == (len(known), len(errors))
        assert (misread.bias, misread.sd) == pytest.approx((fmean(errors), stdev(errors)), rel=1e-12)


def test_every_estimate_of_a_sheet_bears_its_record():
    """The readings that of the known models left in, the class of the time its own, of more models than are sold by length."""
    (found,) = infer(["qwen3-coder-plus"]).inferences
    for estimator in ("from_all_prices", "from_premium_at_cost", "from_premium"):
        assert found.kv_bytes[estimator].record == found.reliability.records[estimator]
    assert found.kv_bytes["typical"].record == record_of_typical_kv(shipped_data(), "read")
    assert found.kv_bytes_stored["typical"].record == record_of_typical_kv(shipped_data(), "stored")
    assert found.kv_bytes["typical"].record.count > found.reliability.records["typical"].count == 7
