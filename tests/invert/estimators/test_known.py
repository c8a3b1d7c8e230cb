"""The estimators on models whose cache is known, and the record that their ranges have."""

from dataclasses import replace
from functools import cache
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from invert.anchors import assumptions_of
from invert.assumptions import USUAL
from invert.data import Data, read_data
from invert.estimators.known import (
    Judged,
    bounds_at_rent,
    error_of_lecture,
    judge_ranges,
    judged,
    judgements,
    record_of_storage_price,
    records,
    records_beside,
    told_by_others,
    verdict_on_having_a_premium,
)
from invert.estimators.market.regression import fit, grouped
from invert.estimators.market.typical_kv import typical_kv
from invert.estimators.names import KV_NAMES
from invert.inference import infer
from invert.records import Estimate, interval, undetermined, upper
from tests.tools.data import shipped_data
from tests.tools.inferred import current
from tests.tools.remembered import drawing_anew


@cache
def known() -> tuple[Judged, ...]:
    return judged(shipped_data())


def printed(low: float, median: float, high: float, level: float = 0.9) -> Estimate:
    return interval(replace(USUAL, level=level), low, median, high, "so", equations=())


def saying(estimates: list[Estimate], of: tuple[Judged, ...] | None = None) -> tuple[Judged, ...]:
    """The known models with one estimator, which says this of each."""
    return tuple(replace(one, kv_bytes={"made": said}) for one, said in zip(of or known(), estimates, strict=True))


def by_class(one: Judged) -> tuple[float, float]:
    """ln density [1/nat] of the true cache by the class of its time, and how far off its centre is, by scipy."""
    law = typical_kv(shipped_data())["read"].at(one.member.case.released, one.member.family)
    truth = log(one.member.kv_bytes_per_token)
    return float(stats.t(law.freedom, law.centre, law.scale).logpdf(truth)), law.centre - truth


@pytest.mark.slow
def test_what_is_known_of_models_does_not_depend_on_the_facts_given_for_one():
    anew, sized, expected = Data(shipped_data().tables), assumptions_of({"active_params": 60e9}), [one.kv_bytes for one in known()]
    with drawing_anew() as drawn:
        assert [one.kv_bytes for one in judged(anew, sized)] == expected
        assert judged(anew, sized) is judged(anew, USUAL) and len(drawn) == len(known())


# A range as a density.


def judge_one(estimate: Estimate, at: float) -> tuple[float, float, float]:
    """Return the error, ln density and nearer probability of one range at a logarithm."""
    error, ln_density, nearer = (float(one[0]) for one in judge_ranges([estimate], np.array([at])))
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
    "estimate", [undetermined(USUAL, "so"), upper(USUAL, 1e5, "so"), printed(0.0, 1e4, 2e4)], ids=["undetermined", "a bound", "down to 0"]
)
def test_what_has_no_range_has_no_density(estimate):
    assert np.isnan(judge_one(estimate, 9.0)[1])


# Records.


def test_every_estimator_of_a_range_has_the_record_of_nine_sheets_of_six_families():
    found = records(known(), shipped_data())
    assert list(found) == list(KV_NAMES)
    for one in found.values():
        assert (one.count, one.groups, len(one.held)) == (9, 6, 2)
        assert one.rms_of_class == pytest.approx(np.sqrt(np.mean([by_class(judged)[1] ** 2 for judged in known()])), rel=1e-9)
        assert one.interval[0] <= one.gain <= one.interval[1]


@pytest.mark.parametrize("estimator", KV_NAMES)
def test_a_record_counts_what_the_printed_ranges_held(estimator):
    """Counted here by the printed ends, the errors from the printed medians; a family has one vote in the gain alone."""
    found, votes = records(known(), shipped_data())[estimator], {}
    inside = [one.kv_bytes[estimator].low < one.member.kv_bytes_per_token < one.kv_bytes[estimator].high for one in known()]
    assert (found.held[1].level, found.held[1].held, found.held[1].count) == (0.9, sum(inside), 9)
    errors = [log(one.kv_bytes[estimator].median / one.member.kv_bytes_per_token) for one in known()]
    assert found.rms == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-9)
    for one in known():
        gained = judge_one(one.kv_bytes[estimator], log(one.member.kv_bytes_per_token))[1] - by_class(one)[0]
        votes.setdefault(one.member.family, []).append(gained)
    assert found.gain == pytest.approx(np.mean([np.mean(gains) for gains in votes.values()]), rel=1e-9)


def test_no_reading_of_prices_knows_more_than_the_class():
    found = records(known(), shipped_data())
    assert not any(one.has_skill() for name, one in found.items() if name != "headline")
    counted = {"one_markup": 0, "at_rent": 2, "increment": 7, "headline": 8}
    assert {name: found[name].held[1].held for name in counted} == counted
    # The headline is the class: what is left is Student's t against normal halves of the same ends.
    assert abs(found["headline"].gain) < 0.05 and found["headline"].rms == pytest.approx(found["headline"].rms_of_class)


def test_an_estimator_that_knew_would_have_skill():
    found = records(saying([printed(at / 1.2, at, 1.2 * at) for at in (one.member.kv_bytes_per_token for one in known())]), shipped_data())
    assert found["made"].has_skill() and found["made"].rms == pytest.approx(0, abs=1e-9) and found["made"].held[1].held == 9
    assert found["made"].gain > 2


def test_models_without_a_range_are_not_counted_and_none_at_all_is_no_record():
    bound = upper(USUAL, 1e6, "so")
    some = [printed(1e4, 1e5, 1e6) if one.member.family in ("qwen3", "glm5") else bound for one in known()]
    assert (records(saying(some), shipped_data())["made"].count, records(saying(some), shipped_data())["made"].groups) == (3, 2)
    assert records(saying([bound] * 9), shipped_data()) == {}


def test_more_sheets_of_a_family_weigh_no_more_in_the_gain_but_count_in_the_ranges():
    said = [printed(1e4, 1e5, 1e6) for _ in known()]
    first = next(place for place, one in enumerate(known()) if one.member.family == "glm5")
    once = records(saying(said), shipped_data())["made"]
    twice = records(saying([*said, said[first]], (*known(), known()[first])), shipped_data())["made"]
    assert (twice.count, twice.groups) == (once.count + 1, once.groups)
    assert twice.gain == pytest.approx(once.gain) and twice.rms != once.rms


# Beside KV bytes.


def by_hand(quantity: str, one: Judged) -> float | None:
    """A byte of cache at the ridge point of 600 FLOP a byte, 300 of them at a byte a weight; attention FLOPs a byte of cache."""
    if quantity == "balance_context":
        return 2 * one.member.active_params / (600 * one.member.kv_bytes_per_token)
    return one.member.attention_flops_per_pair and one.member.attention_flops_per_pair / one.member.kv_bytes_per_token


@pytest.mark.parametrize(("quantity", "models", "held"), [("balance_context", 9, 0), ("attention_intensity", 7, 3)])
def test_what_an_architecture_says_judges_ranges_beside_kv_bytes(quantity: str, models: int, held: int):
    found, rows = records_beside(known())[quantity], [(one, by_hand(quantity, one)) for one in known() if by_hand(quantity, one)]
    inside = [one.beside[quantity].low < truth < one.beside[quantity].high for one, truth in rows]
    assert (found.count, found.held[1].held, found.held[1].level) == (models, held, 0.9) and sum(inside) == held
    errors = [log(one.beside[quantity].median / truth) for one, truth in rows]
    assert found.rms == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-9)
    of_family: dict[str, list[float]] = {}
    for one, truth in rows:
        of_family.setdefault(one.member.family, []).append(log(truth))
    centres = {family: np.mean([np.mean(logs) for other, logs in of_family.items() if other != family]) for family in of_family}
    assert found.rms_of_class == pytest.approx(np.sqrt(np.mean([(centres[one.member.family] - log(truth)) ** 2 for one, truth in rows])))
    assert not found.has_skill()


@pytest.mark.slow
def test_the_record_of_storage_prices_is_that_of_every_sheet_of_known_cache_that_has_one():
    found, sold = record_of_storage_price(shipped_data()), {}
    for one in current():
        if one.known and "storage_price" in one.kv_bytes_stored:
            sold[one.name] = one.kv_bytes_stored["storage_price"], one.known.stored
    assert found.count == len(sold) == 6 and found.held[1].held == sum(of.low < stored < of.high for of, stored in sold.values()) == 0
    errors = [log(of.median / stored) for of, stored in sold.values()]
    assert found.rms == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-9) and not found.has_skill()


def test_estimates_bear_those_records_where_ranges_like_them_were_judged():
    several, one_band = infer(["gemini-3.1-pro", "claude-opus-5"])
    beside, alone = several.worth.value.beside, records_beside(known())
    assert {name: (one.count, one.groups, one.held) for name, one in beside.items()} == {
        name: (one.count, one.groups, one.held) for name, one in alone.items()
    }
    # The same draws beside those of other sheets: sums may differ in their last digit.
    assert [one.rms for one in beside.values()] == pytest.approx([one.rms for one in alone.values()], rel=1e-12)
    assert several.estimates["balance_context"].record == several.worth.value.beside["balance_context"]
    assert several.estimates["attention_intensity"].level == 0.9 and several.estimates["memory_time_share"].level is None
    assert one_band.estimates["balance_context"].record is None and one_band.estimates["balance_context"].level is None
    assert one_band.kv_bytes_stored["storage_price"].record == record_of_storage_price(shipped_data())


# Whether there is a premium.


def with_and_without() -> list[tuple[str, str, float, bool]]:
    """Architecture, family, ln KV bytes and whether a premium is asked, of what is on sale and of what is learned from."""
    sold = {
        (one.sheet.provider, one.sheet.model): (one.known.architecture, any(pair.pair.premium_out.value > 1 for pair in one.pairs))
        for one in current()
        if one.known
    }
    learned = [(one.member.case.sheet, one.member.architecture) for one in known()]
    sold |= {(sheet.provider, sheet.model): (name, sheet.bands[1].output.amount > sheet.bands[0].output.amount) for sheet, name in learned}
    caches = typical_kv(shipped_data())["read"].by_name
    return [(name, caches[name].family, caches[name].ln_kv, asked) for name, asked in sold.values()]


@pytest.mark.slow
def test_having_a_premium_foretells_the_mean_of_those_that_have_one_or_of_those_that_have_none():
    """By numpy: weighted by one over the root of a family's size, each family left out; the pool is judged elsewhere."""
    found, rows = verdict_on_having_a_premium(shipped_data()), with_and_without()
    assert (found.count, found.families) == (len(rows), len({family for _, family, _, _ in rows}))
    by_family: dict[str, list[float]] = {}
    for _, family, truth, asked in rows:
        others = [(value, x, of) for _, of, value, x in rows if of != family]
        weights = np.array([1 / np.sqrt(sum(of == name for _, _, name in others)) for _, _, of in others])
        alike = np.array([x == asked for _, x, _ in others])
        values = np.array([value for value, _, _ in others])
        line = fit(grouped(values, [of for _, _, of in others], [float(x) for _, x, _ in others]))
        centre = np.average(values[alike], weights=weights[alike])
        assert line.coefficients @ [1.0, asked] == pytest.approx(centre, abs=2e-3)  # but for the ridge
        by_family.setdefault(family, []).append(stats.t(line.freedom, centre, line.scale).logpdf(truth))
    assert found.by_price == pytest.approx(np.mean([np.mean(logs) for logs in by_family.values()]), abs=2e-3)
    assert found.by_price < found.by_class and not found.enters and found.weight == 0


# Bounds.


@cache
def over_the_cache() -> dict[str, float]:
    """The bound over the cache that decode reads, by sheet, as a run over all of them prints both."""
    of = {one.name: (one.kv_bytes["at_rent"], one.known) for one in current()}
    return {name: bound.high / known.read for name, (bound, known) in of.items() if known and bound.kind == "upper"}


@pytest.mark.slow
def test_the_record_of_bounds_is_that_of_every_sheet_without_a_premium():
    found, factors = bounds_at_rent(shipped_data()), sorted(over_the_cache().values())
    assert found.count == len(factors) >= 9
    assert (found.least, found.most) == pytest.approx((factors[0], factors[-1])) and found.median == pytest.approx(np.median(factors))
    assert found.held == sum(factor >= 1 for factor in factors) and found.held_at_one_byte == sum(factor >= 0.5 for factor in factors)


def test_what_is_no_bound_says_nothing_of_bounds():
    (one,) = infer(["gemini-3.1-pro"])
    assert one.kv_bytes["at_rent"].kind == "interval" and one.kv_bytes["at_rent"].bounds is None
    assert all(estimate.bounds is None for name, estimate in infer(["claude-opus-5"])[0].kv_bytes.items() if name != "at_rent")
    nothing = undetermined(USUAL, "so")
    assert told_by_others(nothing, bounds_at_rent(shipped_data())) is nothing
    bound = upper(USUAL, 1e3, "so")
    assert told_by_others(bound, None) is bound


def test_judgements_hold_as_often_as_the_record_of_their_estimator():
    """But for the headline, whose record is of more models, and bounds, which have another."""
    data = read_data()
    found, known = judgements(data), records(judged(data), data)
    for name in ("at_rent", "increment"):
        own = [one for one in found if one.by == KV_NAMES[name].name]
        record = known[name].at(USUAL.level)
        assert record and own and (sum(one.held for one in own), len(own)) == (record.held, record.count)


def test_the_error_of_the_lecture_is_over_every_sheet_where_both_are_known():
    times = [one.times_reading.lecture for one in infer() if one.known and one.times_reading]
    found = error_of_lecture(shipped_data())
    assert found and (found.low, found.high) == (min(times), max(times)) and found.median == pytest.approx(np.median(times))
    assert error_of_lecture(shipped_data(), assumptions_of({"active_params": 1e9})) == found, "what is given of one model is of no other"
