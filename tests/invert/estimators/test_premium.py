"""KV from premium at the price/cost of known models."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from math import log, sqrt
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from derive import presets
from derive.catalogue import equation
from derive.errors import UnknownName, WrongData
from derive.solving.api import solve
from derive.tables import shipped
from derive.tables.lines import BadRow
from invert.assumptions import USUAL, Assumptions
from invert.data import Data
from invert.estimators import premium
from invert.estimators.cases import Case, case_of, rental
from invert.estimators.premium import Member, kv_bytes_at_cost, learn, learned, members, siblings, weighted_line
from invert.estimators.typical_kv import typical_kv
from invert.inference import infer
from invert.records import Estimate, Verdict
from invert.result import Inference
from invert.sheets.assemble import sheets
from invert.sheets.read import load
from invert.sheets.sheet import with_amounts
from tests.tools.data import shipped_data
from tests.tools.tables import reading, with_cells
from tests.tools.together import in_one_test


@cache
def one(name: str) -> Inference:
    return infer(name)[0]


def case(name: str = "gemini-3.1-pro") -> Case:
    return case_of(one(name).sheet, one(name).model, shipped_data(), USUAL)


def read(of: Case, assumptions: Assumptions = USUAL, data: Data | None = None) -> Estimate:
    return premium.estimate_calibrated(of, data or shipped_data(), assumptions)["kv_bytes_per_token"]


def priced(*outputs: float) -> Case:
    """Gemini's sheet with other output prices in its bands [USD/Mtok]."""
    sheet = with_amounts(one("gemini-3.1-pro").sheet, dict(zip(("output", "output@200k"), map(repr, outputs), strict=True)))
    return case_of(sheet, one("gemini-3.1-pro").model, shipped_data(), USUAL)


def of_families(left_out: str = "") -> list[float]:
    """ln(KV bytes at cost / true), each family by the mean of its sheets."""
    by_family: dict[str, list[float]] = {}
    for member in premium.members(shipped_data()):
        if member.family != left_out:
            by_family.setdefault(member.family, []).append(np.log(member.premium_at_cost.median / member.kv_bytes_per_token))
    return [fmean(logs) for logs in by_family.values()]


@pytest.mark.parametrize(
    ("name", "family", "count"),
    [("gemini-3.1-pro", "", 6), ("qwen3-coder-plus", "qwen3", 5), ("MiniMax-M3", "minimax-m3", 5), ("qwen3.5-plus", "qwen3-next", 5)],
)
def test_increments_are_taken_at_the_mark_up_of_other_families(name, family, count):
    """One more of so many families: Student's t of scipy about their mean, sd sqrt(1 + 1/n), a degree less than families."""
    logs = of_families(family)
    law = stats.t(count - 1, np.log(at_rent_of(case(name))) - fmean(logs), stdev(logs) * np.sqrt(1 + 1 / count))
    found = read(case(name))
    assert len(logs) == count and f"{count} families" in found.because and found.kind == "interval"
    assert np.log([found.low, found.median, found.high]) == pytest.approx(law.ppf([0.05, 0.5, 0.95]), abs=1e-4)
    assert found.contraction is None and not found.prior_dominated
    assert set(found.anchors) == {"short_context", "long_context"} and "bands.kv_bytes_from_increment@1" in found.equations


def at_rent_of(of: Case) -> float:
    return premium.estimate_at_cost(of, shipped_data(), USUAL)["kv_bytes_per_token"].median


@settings(max_examples=15)
@given(low=st.floats(1.05, 3), more=st.floats(1.01, 2))
def test_a_higher_premium_never_means_less_kv(low: float, more: float):
    less, above, most = (read(priced(12, 12 * premium)).median for premium in (low, low * more, 3 * low))
    assert less <= above and less < most


@pytest.mark.parametrize("outputs", [(12, 12), (12, 9)], ids=["a premium of 1", "a premium below 1"])
def test_without_a_premium_it_says_nothing(outputs):
    found = read(priced(*outputs))
    assert (found.kind, found.median, found.low, found.high) == ("undetermined", None, None, None)
    assert "no output premium that rises with length" in found.because


SHEETS = {sheet.model: sheet for sheet in sheets(load(), date(2026, 11, 20))}
GEMINI = SHEETS["gemini-3.1-pro-preview"]
CONTEXTS, PRICES = (8e3, 64e3, 181e3, 506e3), (5e-6, 9e-6, 15e-6, 60e-6)


def test_a_line_through_many_bands_is_the_exact_minimum_of_squared_relative_errors():
    places, levels = [Fraction(place) for place in CONTEXTS], [Fraction(level) for level in PRICES]
    weights = [1 / level**2 for level in levels]
    total, one, two = (sum(weight * place**power for weight, place in zip(weights, places, strict=True)) for power in (0, 1, 2))
    zero_price, one_price = (
        sum(weight * place**power * level for weight, place, level in zip(weights, places, levels, strict=True)) for power in (0, 1)
    )
    determinant = total * two - one**2
    exact = (two * zero_price - one * one_price) / determinant, (total * one_price - one * zero_price) / determinant
    assert weighted_line(CONTEXTS, PRICES) == pytest.approx([float(number) for number in exact], rel=1e-13)
    by_numpy = np.polynomial.polynomial.polyfit(CONTEXTS, PRICES, 1, w=1 / np.array(PRICES))
    assert weighted_line(CONTEXTS, PRICES) == pytest.approx(by_numpy, rel=1e-10)


def test_two_bands_are_met_exactly_and_equal_prices_have_no_slope():
    at_none, slope = weighted_line([50e3, 400e3], [12e-6, 18e-6])
    assert slope == pytest.approx(6e-6 / 350e3, rel=1e-14) and at_none + 50e3 * slope == pytest.approx(12e-6, rel=1e-14)
    for price in (0.1, 1 / 3, 7e-7):
        assert weighted_line(CONTEXTS, [price] * 4) == (price, 0.0)


def test_many_draws_at_once_are_each_as_one():
    draws = np.random.default_rng(1).uniform(0.5, 2, (50, 4)) * CONTEXTS
    at_none, slope = weighted_line(draws, PRICES)
    assert at_none.shape == slope.shape == (50,)
    assert (at_none[7], slope[7]) == pytest.approx(weighted_line(draws[7], PRICES), rel=1e-14)
    at_cost = kv_bytes_at_cost(np.abs(slope), rental(shipped_data()).values)
    assert at_cost.shape == (50,) and at_cost[7] == pytest.approx(kv_bytes_at_cost(float(abs(slope[7])), rental(shipped_data()).values))


def output_line(sheet, contexts):
    return weighted_line(contexts, [band.output.usd_per_token for band in sheet.bands])


def test_the_slope_of_two_bands_is_their_increment():
    low, high = 50e3, sqrt(200e3 * 1e6)
    _, slope = output_line(GEMINI, (low, high))
    given = rental(shipped_data()).values | {"output_increment": 6e-6, "long_context": high, "short_context": low}
    expected = equation("bands.kv_bytes_from_increment").right_side(given)
    assert kv_bytes_at_cost(slope, rental(shipped_data()).values) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(91.1e3, rel=1e-3)


AS_SHIPPED = learn(shipped_data())
FAMILIES = ("qwen3", "glm-4.5", "minimax-m1", "qwen3-next", "glm5", "minimax-m3")


def edited(architecture: str, column: str, text: str) -> shipped.Tables:
    """The tables with one cell of one row of calibration_models.csv another."""
    content = shipped.read().content("calibration_models.csv").decode()
    changed = with_cells(content, lambda row: row | {column: text} if row["architecture"] == architecture else row)
    return shipped.read().edited(calibration_models=changed)


def with_ratio(member: Member, ratio: float) -> Member:
    """The member with a sheet whose increments pay for so many times its cache at cost."""
    return replace(member, premium_at_cost=replace(member.premium_at_cost, median=ratio * member.kv_bytes_per_token))


# What is learned.


def test_kv_bytes_and_attention_of_members_follow_from_their_architecture():
    for member in members(shipped_data()):
        given = {"model": member.architecture, "bytes_per_element": 2}
        if "indexer_bytes_per_element" in presets.model(member.architecture).givens:
            given["indexer_bytes_per_element"] = 2
        assert member.kv_bytes_per_token == solve("kv_read_bytes_per_token", **given).answers[0].value
    by_name = {member.architecture: member for member in members(shipped_data())}
    assert by_name["GLM-4.7"].attention_flops_per_pair == 4 * 92 * 96 * 128
    assert by_name["Qwen3-30B-A3B"].attention_flops_per_pair == 4 * 48 * 32 * 128
    # 10 layers of 80 read all of the context, and 15 of 60.
    assert by_name["MiniMax-M1"].attention_flops_per_pair == 4 * 10 * 64 * 128
    assert by_name["Qwen3.5-397B-A17B"].attention_flops_per_pair == 4 * 15 * 32 * 256
    for name, flops in (("DeepSeek-V3", 61 * 128 * 2 * (192 + 128)), ("gpt-oss-120b", 4 * 18 * 64 * 64)):
        assert replace(member, preset=presets.model(name)).attention_flops_per_pair == flops
    assert by_name["MiniMax-M3"].attention_flops_per_pair is None


def test_members_are_sold_by_length_and_their_family_is_that_of_their_cache():
    found = members(shipped_data())
    assert len(found) == 9 and {member.family for member in found} == set(FAMILIES) == set(AS_SHIPPED.families)
    for member in found:
        assert len(member.case.sheet.bands) > 1 and member.case.sheet.has_premium
        assert member.architecture in siblings(shipped_data(), member.architecture) and member.case.kv_family == member.family


def test_a_family_has_one_vote():
    """Six votes of nine sheets: mean -0.43 and, for one more, sd sqrt(7/6) of theirs at five degrees of freedom."""
    votes = [fmean(log(member.kv_ratio) for member in members(shipped_data()) if member.family == family) for family in AS_SHIPPED.families]
    found = AS_SHIPPED.increments
    assert (len(votes), found.freedom) == (6, 5)
    assert (found.centre, found.scale) == pytest.approx((fmean(votes), stdev(votes) * (7 / 6) ** 0.5), rel=1e-12)
    # By hand, from the ratios of the nine sheets to three digits.
    by_hand = [
        log(2.09 * 1.17) / 2, log(0.0928 * 0.220 * 0.0637) / 3, log(1.18), log(0.281), log(2.27), log(0.592),
    ]  # fmt: skip
    assert (found.centre, found.scale) == pytest.approx((np.mean(by_hand), np.std(by_hand, ddof=1) * (7 / 6) ** 0.5), abs=0.005)


@in_one_test(
    ("architecture", "sheets", "families"),
    [("GLM-4.5", 6, 5), ("GLM-4.6", 6, 5), ("Qwen3-30B-A3B", 7, 5), ("DeepSeek-V3.1", 9, 6), ("MiniMax-M1", 8, 5), ("GLM-5.1", 8, 5)],
)
def test_the_inferred_model_and_its_siblings_teach_nothing(architecture, sheets, families):
    found = learn(shipped_data(), architecture)
    assert (len(found.kv_ratios), len(found.families), found.increments.freedom) == (sheets, families, families - 1)
    assert architecture in found.left_out and not set(found.left_out) & set(found.kv_ratios)
    family = presets.architecture(architecture).kv_family
    assert family not in found.families and set(found.families) == set(FAMILIES) - {family}


def test_an_unknown_architecture_and_too_few_members_are_refused():
    with pytest.raises(UnknownName, match=r"unknown architecture 'GLM-4\.55'"):
        learn(shipped_data(), "GLM-4.55")
    with pytest.raises(WrongData, match=r"calibration_models\.csv: 1 families with sheets of several bands are left"):
        learned([member for member in members(shipped_data()) if member.family == "glm-4.5"], frozenset())
    two = [member for member in members(shipped_data()) if member.family in ("glm-4.5", "glm5")]
    assert learned(two, frozenset()).increments.freedom == 1


@pytest.mark.slow
@in_one_test(
    ("column", "text", "message"),
    [
        ("architecture", "GPT-9", "architecture: 'GPT-9' is not in architectures.csv"),
        ("sheet", "alibaba/qwen-9", "sheet: 'alibaba/qwen-9' has no sheet of several bands"),
        ("sheet", "qwen-9", "sheet: 'qwen-9' does not have the form of alibaba/qwen3-coder-plus"),
        ("sheet", "", "sheet: is blank"),
        ("sheet_date", "2025-07-27", "sheet: 'alibaba-cn/glm-4.5' has no sheet of several bands on 2025-07-27"),
        ("sheet_date", "2062-07-28", "sheet_date: 2062-07-28 is later than the newest prices here, which were read on 2026-"),
        ("sheet_date", "July", "sheet_date: 'July' is not an ISO date"),
        ("max_context", "long", "max_context: 'long' is not a whole number"),
        ("sheet", "alibaba-cn/glm-4.5\0", "sheet: the cell holds a NUL byte, which is invisible"),
        ("sheet", "alibaba-cn/glm\u200b-4.5", "sheet: the cell holds the character U+200B (zero width space), which is invisible"),
    ],
)
def test_a_bad_row_is_named(column, text, message):
    with reading(edited("GLM-4.5", column, text)), pytest.raises(BadRow) as caught:
        members(shipped_data())
    assert str(caught.value).startswith(f"calibration_models.csv row 4, column {message}") and len(caught.value.problems) == 1
    assert len(members(shipped_data())) == 9


# What increments foretell.


@pytest.mark.parametrize("left_out", [None, "GLM-4.5", "MiniMax-M3"])
def test_an_increment_foretells_by_what_increments_of_others_lie_off_it(left_out):
    known = learn(shipped_data(), left_out)
    found, votes = known.predict(log(91e3)), known.increments
    theirs = stats.t(len(known.families) - 1, log(91e3) - votes.centre, votes.scale)
    assert found.judge(11.0).log_density == pytest.approx(theirs.logpdf(11.0))
    assert np.log(found.range(0.9)) == pytest.approx(theirs.ppf([0.05, 0.5, 0.95]), abs=1e-4)


def verdict_of(ratios: Callable[[Member], float], monkeypatch: pytest.MonkeyPatch) -> Verdict:
    """The verdict where increments of the known sheets pay for other ratios of their cache."""
    known = tuple(with_ratio(member, ratios(member)) for member in members(shipped_data()))
    monkeypatch.setattr(premium, "members", lambda data, assumptions=USUAL: known)
    return premium.verdict_on_premium(Data(shipped_data().tables))


def test_premiums_have_earned_nothing_so_far():
    """Each known model by Student's t of other families, and by the class of its time: by scipy, a family one vote."""
    known, by_family = members(shipped_data()), {}
    for one in known:
        others = [fmean(log(member.kv_ratio) for member in known if member.family == family) for family in set(FAMILIES) - {one.family}]
        scale, at_cost = stdev(others) * (1 + 1 / len(others)) ** 0.5, log(one.premium_at_cost.median)
        of_class = typical_kv(shipped_data())["read"].at(one.case.released, one.family)[0]
        truth = log(one.kv_bytes_per_token)
        by_family.setdefault(one.family, []).append((
            stats.t(4, at_cost - fmean(others), scale).logpdf(truth),
            stats.t(of_class.freedom, of_class.centre, of_class.scale).logpdf(truth),
        ))  # fmt: skip
    by_price, by_baseline = np.mean([np.mean(rows, axis=0) for rows in by_family.values()], axis=0)
    found = premium.verdict_on_premium(shipped_data())
    assert (found.count, found.families) == (9, 6)
    assert (found.by_price, found.by_baseline) == pytest.approx((by_price, by_baseline), rel=1e-9)
    assert found.by_price < found.by_baseline and (found.enters, found.weight, found.gain_of_pool) == (
        False,
        0.0,
        pytest.approx(0.0, abs=1e-12),
    )


@pytest.mark.parametrize("price_cost", [0.02, 1.0, 50.0], ids=["far below cost", "at cost", "far above"])
def test_the_gate_opens_when_premiums_tell(price_cost, monkeypatch):
    """Whatever increments are sold at, so long as all families sell them alike, to a tenth."""
    random = np.random.default_rng(5)
    found = verdict_of(lambda _: price_cost * np.exp(random.normal(0, 0.1)), monkeypatch)
    assert found.enters and found.weight > 0.9 and found.gain_of_pool > max(0.5, 3 * found.standard_error)
