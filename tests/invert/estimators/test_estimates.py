"""What a sheet implies of KV bytes: four estimators side by side, of several kinds, and nothing made up where prices allow nothing.

Figures to compare with come from an earlier calculation by other code; the method: docs/explanation/three-estimators.md.
"""

import io
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from invert.assumptions import USUAL
from invert.estimators import at_rent as increments
from invert.estimators import calibration
from invert.estimators.cases import Case, case_of
from invert.estimators.market import panel
from invert.estimators.names import KV_NAMES
from invert.inference import infer
from invert.posterior.sobol import MOST
from invert.posterior.summary import summarise
from invert.records import Estimate
from invert.report.columns import flat
from invert.report.contract import sheet_records
from invert.result import Inference, InferenceTable
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

ESTIMATORS = tuple(KV_NAMES)
NUMBERS = {"interval": {"median", "low", "high"}, "upper": {"high"}, "lower": {"low"}, "undetermined": set()}


@cache
def everything() -> InferenceTable:
    return infer(everything=True)


@cache
def table(name: str, **anchors: float | str) -> InferenceTable:
    return infer([name], anchors=anchors)


def one(name: str, **anchors: float | str) -> Inference:
    (found,) = table(name, **anchors).inferences
    return found


def own(*rows: str) -> Inference:
    """A sheet `acme/m` of one's own: component, amount, threshold."""
    text = "\n".join(["provider,model,component,amount,threshold_tokens", *(f"acme,m,{row}" for row in rows), ""])
    (found,) = infer(["acme/m"], prices=io.StringIO(text)).inferences
    return found


def case(name: str, **anchors: float | str) -> Case:
    """A sheet as its estimators read it, but for the posterior."""
    found = one(name, **anchors)
    return case_of(found.sheet, found.model, shipped_data(), table(name, **anchors).assumptions)


def at_rent(read: Case, **anchors: float | str) -> Estimate:
    return increments.estimates(read, shipped_data(), table("gemini-3.1-pro", **anchors).assumptions)["kv_bytes_per_token"]


def width(estimate: Estimate) -> float:
    return log(estimate.high / estimate.low)


def present(estimate: Estimate) -> set[str]:
    return {name for name in ("median", "low", "high") if getattr(estimate, name) is not None}


# -- kinds ----------------------------------------------------------------------------------------------------------


def test_all_estimators_stand_side_by_side_for_every_sheet():
    """Never one number alone, and every kind with the numbers it has and no other."""
    for found in everything().inferences:
        assert tuple(found.kv_bytes) == ESTIMATORS
        # The class is of no equation, nor is what is not estimated from a premium that is not there.
        uncited = [found.kv_bytes["headline"], found.kv_bytes_stored["headline"]]
        uncited += [found.estimates[f"total_params_by_{name}"] for name in ("knowledge", "price_and_knowledge")]
        uncited += [] if found.kv_bytes["at_rent"].median else [found.kv_bytes["increment"]]
        for estimate in (*found.kv_bytes.values(), *found.kv_bytes_stored.values(), *found.estimates.values()):
            assert present(estimate) == NUMBERS[estimate.kind]
            assert estimate.level == (0.90 if estimate.record or estimate.bounds else None)
            assert estimate.because and bool(estimate.equations) != (estimate in uncited)
            assert estimate.kind != "interval" or 0 <= estimate.low < estimate.median < estimate.high
            assert estimate.contraction is None or estimate.contraction <= 1


def test_a_premium_makes_an_interval_and_none_a_bound():
    """The headline is an interval all the same: it hangs on no price."""
    kinds = {found.sheet: kinds_of(found) for found in everything().inferences}
    assert {len(sheet.bands) for sheet in kinds} >= {1, 2, 4}
    for sheet, found in kinds.items():
        premium = case_of(sheet, None, shipped_data(), USUAL).has_premium
        assert found == (PREMIUM if premium else NO_PREMIUM), sheet


NO_PREMIUM = {"one_markup": "upper", "at_rent": "upper", "increment": "undetermined", "headline": "interval"}
PREMIUM = dict.fromkeys(NO_PREMIUM, "interval")


def kinds_of(found: Inference) -> dict[str, str]:
    """The kinds of these four estimates; what another estimator says is for its own tests."""
    return {name: found.kv_bytes[name].kind for name in NO_PREMIUM}


@pytest.mark.parametrize(
    "rows",
    [
        ("input,2,", "output,12,"),
        ("input,2,", "output,12,", "input,2,200000", "output,12,200000"),
        ("input,2,", "output,12,", "input,4,200000", "output,12,200000"),
        ("input,2,", "output,12,", "input,4,200000", "output,9,200000"),
    ],
    ids=["one band", "premiums of 1", "an output premium of 1", "an output premium below 1"],
)
def test_without_an_output_premium_prices_bound_and_the_class_stands(rows: tuple[str, ...]):
    found = own(*rows)
    assert kinds_of(found) == NO_PREMIUM
    assert all(present(found.kv_bytes[name]) == {"high"} and found.kv_bytes[name].high > 0 for name in ("one_markup", "at_rent"))
    with_a_premium = own("input,2,", "output,12,", "input,4,200000", "output,18,200000").kv_bytes["headline"]
    assert found.kv_bytes["headline"] == with_a_premium


def test_an_input_premium_of_one_leaves_no_attention_and_is_said_to_be_undetermined():
    """No draw fits: below an input premium of 1 attention would have to cost less than nothing."""
    found = own("input,2,", "output,12,", "input,0.5,200000", "output,18,200000")
    assert found.summary.feasible_fraction == 0 and "inconsistent" in found.flags
    assert found.kv_bytes["one_markup"].kind == "undetermined" and "contradict" in found.kv_bytes["one_markup"].because
    assert {name for name, estimate in found.estimates.items() if estimate.kind == "undetermined"} == {
        "memory_time_share", "balance_context", "attention_intensity", "active_params_times_markup", "batch_multiple",
        "total_params_by_knowledge", "total_params_by_price_and_knowledge",
    }  # fmt: skip
    assert {found.kv_bytes[estimator].kind for estimator in ("at_rent", "increment", "headline")} == {"interval"}


# -- a contradiction ------------------------------------------------------------------------------------------------

BROKEN = {"overlap": 0.0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3}


def test_a_contradiction_names_the_inequality_with_both_figures_and_clips_nothing():
    """Claude Sonnet 4.5, costs added up: $7.5 more for output is less than 1.3/0.5 x $3 more for input."""
    found, usual = one("claude-sonnet-4-5", **BROKEN), one("claude-sonnet-4-5")
    broken = found.kv_bytes["one_markup"]
    assert (broken.kind, present(broken), broken.contraction) == ("undetermined", set(), None)
    assert broken.because == found.contradiction and found.contradiction.startswith("inconsistent: ")
    assert "output_increment >= input_increment*prefill_decode_flops_ratio/prompt_position" in broken.because
    assert "$7.5/MTok < $7.8/MTok" in broken.because and "bands.increments_of_a_sum@1" in broken.because
    for estimator in ("at_rent", "increment", "headline"):
        without = replace(found.kv_bytes[estimator], record=None)
        assert without == replace(usual.kv_bytes[estimator], record=None) and without.kind == "interval"
    (record,) = sheet_records(table("claude-sonnet-4-5", **BROKEN))
    assert record["contradiction"] == found.contradiction
    for name, estimate in {**record["estimates"], "kv": record["estimates"]["kv_bytes_per_token"]["one_markup"]}.items():
        if estimate.get("kind") == "undetermined":
            assert [estimate[end] for end in ("median", "low", "high", "contraction")] == [None] * 4, name
    row = flat(found)
    assert row["kv_bytes_per_token_one_markup_kind"] == "undetermined"
    assert row["kv_bytes_per_token_one_markup"] is row["kv_bytes_per_token_one_markup_low"] is None


# -- figures of an earlier calculation ----------------------------------------------------------------------------------------------

# KV bytes in kB at 5, 50 and 95 %, at rent.
AT_RENT = {
    "gemini-3.1-pro": (55, 112, 220), "claude-sonnet-4-5": (69, 140, 274), "gpt-5.4": (61, 118, 222), "gemini-2.5-pro": (46, 94, 182),
    "gpt-6-sol": (40, 79, 148), "MiniMax-M3": (7, 12, 21), "qwen3-coder-plus": (315, 596, 1088),
}  # fmt: skip
SHARES = {"gemini-2.5-pro": (0.73, 0.86, 0.93), "gemini-3.1-pro": (0.69, 0.84, 0.92), "claude-sonnet-4-5": (0.63, 0.81, 0.91),
          "gpt-5.4": (0.67, 0.83, 0.92)}  # fmt: skip
WITHIN, ENDS_WITHIN = 1.15, 1.30


def near(estimate: Estimate, published: tuple[float, float, float]) -> None:
    low, median, high = (1e3 * end for end in published)
    assert abs(log(estimate.median / median)) <= log(WITHIN), (estimate, published)
    for end, said in ((estimate.low, low), (estimate.high, high)):
        assert abs(log(end / said)) <= log(ENDS_WITHIN), (estimate, published)


@in_one_test(("name", "published"), AT_RENT.items())
def test_kv_bytes_at_rent_against_an_earlier_calculation(name: str, published: tuple[float, float, float]):
    near(one(name).kv_bytes["at_rent"], published)


@pytest.mark.parametrize(("name", "published"), SHARES.items())
def test_memory_time_shares_worked_out_apart(name: str, published: tuple[float, float, float]):
    """At as many draws as there are; a run has fewer, and its ends are good to a hundredth."""
    summary = summarise(one(name).price_data, USUAL, count=MOST)
    sure, found = summary.marginals["memory_time_share"], one(name).estimates["memory_time_share"]
    assert (sure.low, sure.median, sure.high) == pytest.approx(published, abs=0.06)
    assert (found.low, found.median, found.high) == pytest.approx((sure.low, sure.median, sure.high), abs=0.01)


# -- what is learned and from whom ----------------------------------------------------------------------------------


def test_a_model_is_not_calibrated_on_itself():
    """qwen3-coder-plus is dearer than its cache: with its own rows allowed, the mark-up learned would take part of that out."""
    found = one("qwen3-coder-plus")
    at_cost, architecture = log(found.kv_bytes["at_rent"].median), found.model.architecture
    without, allowed = (calibration.learn(shipped_data(), left_out) for left_out in (architecture, None))
    by_others, by_all = (known.predict(at_cost).range(0.9) for known in (without, allowed))
    said = found.kv_bytes["increment"]
    assert (said.low, said.median, said.high) == pytest.approx(by_others, rel=1e-12)
    assert by_all[1] < 0.9 * by_others[1] and log(by_all[2] / by_all[0]) < width(said)
    # Itself and qwen3-coder-flash, of one family.
    assert architecture in without.left_out and len(allowed.kv_ratios) - len(without.kv_ratios) == 2
    assert set(allowed.families) - set(without.families) == {"qwen3"}


def test_every_headline_is_flagged_as_its_prior_for_no_price_enters():
    for found, record in zip(everything().inferences, sheet_records(everything()), strict=True):
        headline = found.kv_bytes["headline"]
        assert (headline.kind, headline.contraction, headline.prior_dominated) == ("interval", 0.0, True)
        assert "KV PRIOR-DOMINATED" in found.flags and "KV PRIOR-DOMINATED" in record["flags"]
        assert record["estimates"]["kv_bytes_per_token"]["headline"]["contraction"] == 0.0


# -- outside facts --------------------------------------------------------------------------------------------------


def test_known_parameters_narrow_what_depends_on_them_and_nothing_else():
    assumed, known = one("gemini-3.1-pro"), one("gemini-3.1-pro", active_params="100B")
    before, after = assumed.kv_bytes["one_markup"], known.kv_bytes["one_markup"]
    assert width(after) < 0.8 * width(before) and after.contraction > before.contraction
    # What is left is what it was without the parameters: their spread of 1 nat, less what the price level knew of it.
    assert width(before) ** 2 - width(after) ** 2 < (2 * USUAL.reach) ** 2
    for estimator in ("at_rent", "increment", "headline"):
        assert replace(known.kv_bytes[estimator], record=None) == replace(assumed.kv_bytes[estimator], record=None)
    assert known.kv_bytes_stored["headline"] == assumed.kv_bytes_stored["headline"]
    for name in ("balance_context", "attention_intensity"):
        assert known.estimates[name].median == pytest.approx(assumed.estimates[name].median, rel=0.05)


def test_a_known_cache_is_known_to_the_posterior():
    found, usual = one("gemini-3.1-pro", kv_bytes_per_token="70kB"), one("gemini-3.1-pro")
    assert found.kv_bytes["one_markup"].kind == found.kv_bytes["headline"].kind == "given"
    # The posterior takes it as known, and finds it again.
    assert found.summary.marginals["kv_bytes_per_token"].median == pytest.approx(70e3, rel=0.15)
    # Many times what it was read at: the size of the model gives way more than the ratios do.
    assert 0.3 < found.estimates["balance_context"].median / usual.estimates["balance_context"].median < 1
    for estimator in ("at_rent", "increment"):
        assert replace(found.kv_bytes[estimator], record=None) == replace(usual.kv_bytes[estimator], record=None)


# -- how estimates move with prices ---------------------------------------------------------------------------------


@settings(max_examples=20)
@given(premium=st.floats(1.05, 5), factor=st.floats(1.1, 4), held=st.booleans())
def test_at_rent_kv_goes_with_the_increment(premium: float, factor: float, held: bool):
    """Doubling the output increment doubles KV bytes, at every draw and therefore at every end."""
    found = one("gemini-3.1-pro")

    def read(premium: float) -> Estimate:
        level = ((log(premium), log(premium)),)
        given = {"short_context": 2e4, "long_context": 3e5} if held else {}
        price_data = replace(found.price_data, cells={**found.price_data.cells, "premium_out": level})
        return at_rent(replace(case("gemini-3.1-pro", **given), price_data=price_data), **given)

    less, more = read(premium), read(1 + factor * (premium - 1))
    for end in ("low", "median", "high"):
        assert getattr(more, end) == pytest.approx(factor * getattr(less, end), rel=1e-9)


PRICES = {"input": 2, "output": 12, "input@200k": 4, "output@200k": 18, "cache_read": 0.2, "cache_read@200k": 0.4, "cache_storage": 4.5}


@pytest.mark.parametrize("factor", [0.1, 10])
def test_a_scale_of_all_prices_moves_dollars_and_leaves_a_common_mark_up(factor: float):
    """By tens, so that the numbers vendors round to stay the same; with parameters known, for a price level hints at them."""
    changes = {component: f"{factor * amount:.10g}" for component, amount in PRICES.items()}
    (scaled,) = infer(["gemini-3.1-pro"], anchors={"active_params": "100B"}, changes=changes).inferences
    usual = one("gemini-3.1-pro", active_params="100B")
    for end in ("low", "median", "high"):
        of_dollars = (getattr(found.kv_bytes["at_rent"], end) for found in (scaled, usual))
        assert next(of_dollars) == pytest.approx(factor * next(of_dollars), rel=1e-9)
    # The draws are 1,400 effective ones with a spread of 0.6 nats; the level also weighs how much of the input price is attention.
    assert scaled.kv_bytes["one_markup"].median == pytest.approx(usual.kv_bytes["one_markup"].median, rel=0.08)
    level = (found.estimates["active_params_times_markup"].median for found in (scaled, usual))
    assert next(level) == pytest.approx(factor * next(level), rel=0.08)


# -- other estimates ------------------------------------------------------------------------------------------------


def test_shares_are_shares_and_the_lecture_s_reading_is_as_wide_as_hosts_of_one_model():
    """A ratio over what hosts ask apart at the 1.645 of 90 %: half of it and twice, whoever asks it."""
    apart = exp(stats.norm.ppf(0.95) * panel.ratio_spread(shipped_data()))
    assert 1.55 < apart < 1.6
    for found in everything().inferences:
        ratio, share = found.observables.output_input_ratio.value, found.estimates["bandwidth_bound_fraction"]
        assert found.estimates["memory_time_share"].low >= 0 and found.estimates["memory_time_share"].high <= 1
        if ratio > 1:
            assert (share.low, share.median, share.high) == pytest.approx(
                (1 - 1 / max(1, ratio / apart), 1 - 1 / ratio, 1 - 1 / (ratio * apart))
            )


# -- the same numbers however it is run -----------------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_give_the_table_of_one():
    with ProcessPoolExecutor(2) as pool:
        parallel = infer(everything=True, executor=pool)
    assert parallel == everything()
    assert [found.summary for found in parallel.inferences] == [found.summary for found in everything().inferences]


def test_a_sheet_is_the_same_alone_and_among_others():
    """Draws do not depend on what else is inferred; sums over a stack may differ by rounding."""
    among = {(found.sheet.provider, found.sheet.model, found.sheet.service_tier): found for found in everything().inferences}
    for name in ("gemini-3.1-pro", "kimi-k3"):
        alone = one(name)
        other = among[alone.sheet.provider, alone.sheet.model, alone.sheet.service_tier]
        for estimator in ESTIMATORS:
            for end in present(alone.kv_bytes[estimator]):
                assert getattr(alone.kv_bytes[estimator], end) == pytest.approx(getattr(other.kv_bytes[estimator], end), rel=1e-9)


# -- sheets of many bands -------------------------------------------------------------------------------------------


def of_bands(count: int, tmp_path) -> InferenceTable:
    """A sheet whose prices rise by a half over 200,000 tokens in `count` bands, and another of two bands beside it."""
    steps = [(band, round(200_000 * band / count)) for band in range(count)]
    prices = (("input", 2), ("output", 10))
    rows = [f"p,m,{name},{at},{base * (1 + 0.5 * band / count):.4g}" for band, at in steps for name, base in prices]
    rows += [f"q,n,{name},{at},{base + at / 1e5}" for at in (0, 200_000) for name, base in prices]
    path = tmp_path / f"bands-{count}.csv"
    path.write_text("\n".join(["provider,model,component,threshold_tokens,amount", *rows]))
    return infer(["p/m", "q/n"], prices=path)


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, 11, 17, 64])
def test_a_sheet_of_many_bands_is_estimated_as_one_of_nine(count: int, tmp_path):
    nine, other = of_bands(9, tmp_path).inferences
    found, beside = of_bands(count, tmp_path).inferences
    assert len(found.sheet.bands) == count and not of_bands(count, tmp_path).problems
    assert [beside.kv_bytes[estimator] for estimator in ESTIMATORS] == [other.kv_bytes[estimator] for estimator in ESTIMATORS]
    for end in ("low", "median", "high"):
        assert getattr(found.kv_bytes["at_rent"], end) == pytest.approx(getattr(nine.kv_bytes["at_rent"], end), rel=0.35)
