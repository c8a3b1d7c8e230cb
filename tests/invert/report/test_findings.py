"""What the full report of a sheet says: estimates, doubts, what prices cannot tell, tiers; whole lines, and numbers only."""

import re
from dataclasses import replace
from functools import cache
from math import exp, log
from statistics import fmean, stdev

import pytest

from invert.assumptions import USUAL
from invert.estimate_text import middle_text
from invert.estimators import calibration
from invert.estimators.known import judged as models_of_known_cache
from invert.estimators.names import KV_NAMES
from invert.inference import infer
from invert.posterior.weights import RELIABLE
from invert.records import Verdict
from invert.report.findings import findings, firmness, held_in_words, premium_in_words
from invert.report.layout import Table
from invert.report.sheet import report
from invert.result import Inference, InferenceTable
from invert.validation import scoreboard as truth
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test

pytestmark = pytest.mark.usefixtures("tiered_sonnet")

UNBROKEN = 10_000
"""Columns in which no line of a report is broken."""
NAMED = ("gemini-3.1-pro-preview", "kimi-k3", "claude-sonnet-4-5")
NO_NUMBER = re.compile(r"(?<![\w-])-?(nan|inf|infinity|None)(?![\w-])")


@cache
def everything() -> InferenceTable:
    return infer(everything=True)


@cache
def reports() -> dict[str, str]:
    """The report of every shipped sheet of every tier."""
    return {
        f"{one.sheet.provider}/{one.sheet.model} {one.sheet.service_tier}": report(one, everything(), UNBROKEN)
        for one in everything().inferences
    }


@cache
def one(name: str) -> Inference:
    return next(one for one in everything().inferences if one.sheet.model == name and one.sheet.service_tier == "standard")


@cache
def text(name: str) -> str:
    return report(one(name), everything(), UNBROKEN)


def words(text: str) -> str:
    """The text on one line, as a reader takes a filled paragraph."""
    return " ".join(text.split())


def changed(name: str, **prices: str) -> str:
    table = infer([name], changes={component.replace("_at_", "@"): amount for component, amount in prices.items()})
    return report(table.inferences[0], table, UNBROKEN)


# -- all sheets -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_report_of_a_shipped_sheet_prints_what_is_no_number():
    assert len(reports()) == len(everything().inferences) > 33
    found = {name: line for name, text in reports().items() for line in text.splitlines() if NO_NUMBER.search(line)}
    assert found == {}


def test_what_is_no_number_would_be_seen():
    assert all(NO_NUMBER.search(line) for line in ("Pareto-k inf (trusted", "factor: nan.", "a None b", "log evidence -inf"))
    assert not any(NO_NUMBER.search(line) for line in ("none of them a reading", "information", "nano", "infer"))


@pytest.mark.slow
def test_no_line_is_cut_and_no_name_is_broken():
    for found in everything().inferences:
        said = reports()[f"{found.sheet.provider}/{found.sheet.model} {found.sheet.service_tier}"]
        assert "\u2026" not in said and not any(line.endswith((" ", "...")) for line in said.splitlines())
        for estimate in (*found.kv_bytes.values(), *found.estimates.values()):
            assert any(estimate.because in line for line in said.splitlines())
        learnt = calibration.learn(shipped_data(), found.model.architecture or None if found.model else None)
        for name in (*learnt.kv_ratios, *learnt.left_out):
            assert name in words(said), (found.sheet.model, name)


def test_every_report_has_the_three_estimators_with_their_numbers():
    for found in everything().inferences:
        lines = findings(found, everything())
        for key, of in KV_NAMES.items():
            (row,) = [row for text in lines if isinstance(text, Table) for row in text.rows if row.get("") == of.heading]
            assert row["estimate"] == middle_text("kv_bytes_per_token", found.kv_bytes[key])


def test_the_rank_line_is_what_identifiability_finds():
    for found in everything().inferences:
        told = found.identifiability
        said = reports()[f"{found.sheet.provider}/{found.sheet.model} {found.sheet.service_tier}"]
        assert f"{told.regime}: {told.rank} prices pin {told.rank} combinations of 20 hidden quantities, {told.nullity} stay free." in said
        for name in told.missing_facts:
            assert any(line.startswith(name) and line.endswith(told.verdict(name)) for line in said.splitlines()), name


# -- what the known models say --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMED)
def test_how_far_each_anchor_misreads_known_models_is_computed(name: str):
    found, said = one(name), words(text(name))
    learnt = calibration.learn(shipped_data(), found.model.architecture or None)
    kept = [known for known in models_of_known_cache(shipped_data()) if known.member.architecture in learnt.kv_ratios]
    errors = [known.error("one_markup") for known in kept]
    bias = fmean(errors)
    assert f"KV from all prices reads {exp(bias):.2g} of the true cache (bias {bias:+.2f}, sd {stdev(errors):.2f} nats)" in said
    logs = [log(ratio) for ratio in learnt.kv_ratios.values()]
    assert f"KV from premium at cost {exp(fmean(logs)):.2g} of it (bias {fmean(logs):+.2f}, sd {stdev(logs):.2f})" in said
    assert [known.error("at_rent") for known in kept] == pytest.approx(logs)
    # Of nobody's model, they are the figures of the scoreboard.
    if not learnt.left_out:
        (row,) = [row for row in truth.known_models(shipped_data()) if row["model"] == "bias (nats)"]
        assert (row["one mark-up"], row["increments at rental cost"]) == (round(fmean(errors), 2), round(fmean(logs), 2))
    # The headline has the record that stands beside it, of more models, and no other.
    assert f"{found.worth.value.misreadings['headline'].bias:+.2f}, sd {found.worth.value.misreadings['headline'].sd:.2f}" not in said
    for estimator, record in found.worth.value.records.items():
        estimate = found.kv_bytes[estimator]
        if estimator != "headline":
            assert held_in_words(estimate).endswith(f" of {record.count}" if estimate.kind == "interval" else ("-", "unknown", "of 9"))


def test_the_figures_go_with_what_is_left_out():
    """qwen3-coder-plus teaches nothing about itself: seven sheets are left, and another factor."""
    learnt = calibration.learn(shipped_data(), "Qwen3-Coder-480B-A35B")
    said = words(text("qwen3-coder-plus"))
    assert f"On {len(learnt.kv_ratios)} sheets of several bands" in said and len(learnt.kv_ratios) == 7
    assert f"KV from premium at cost {exp(fmean(map(log, learnt.kv_ratios.values()))):.2g} of it" in said
    assert "Not calibrated on: " + ", ".join(learnt.left_out) in said
    assert "Not calibrated on" not in text("gemini-3.1-pro-preview")


def test_how_far_the_readings_lie_apart():
    medians = [estimate.median for name, estimate in one("gemini-3.1-pro-preview").kv_bytes.items() if name != "headline"]
    apart = max(medians) / min(medians)
    assert f"differ by a factor of {apart:.3g} ({log(apart):.2g} nats)" in words(text("gemini-3.1-pro-preview"))
    assert "Without an output premium prices only bound KV bytes" in words(text("kimi-k3"))


@pytest.mark.parametrize(("by_price", "gain", "said"), [(-1.8, 0.0, "worse"), (-1.0, 0.3, "a weight of 0.70")])
def test_what_the_premium_has_earned_is_one_sentence(by_price: float, gain: float, said: str):
    found = Verdict(count=9, families=6, by_class=-1.4, by_price=by_price, gain_of_pool=gain, standard_error=0.1, stacked=0.7)
    assert said in premium_in_words(found) and premium_in_words(found).count(". ") == 0
    assert premium_in_words(None) == ""


def test_the_convention_is_reported_with_its_counts():
    said = words(text("gemini-3.1-pro-preview"))
    (counts,) = re.findall(r"; (\d+) of (\d+) other vendors with a premium have one in the same cells", said)
    assert 1 <= int(counts[0]) < int(counts[1])
    assert float(re.search(r"Bayes factor for a convention: (\S+?)\.(?: |$)", said).group(1)) > 10
    assert "convention" not in text("kimi-k3")


# -- sheets that fit badly ------------------------------------------------------------------------------------------


def test_a_contradiction_ends_the_doubts_and_is_not_clipped():
    table = infer(["claude-sonnet-4-5"], anchors={"overlap": 0, "prompt_position": 0.5, "prefill_decode_flops_ratio": 1.3})
    said = report(table.inferences[0], table, UNBROKEN)
    assert said.count("$7.5/MTok < $7.8/MTok") == 2 and "Nothing is clipped" in said
    assert "what would change it" not in said and not NO_NUMBER.search(said)


@pytest.mark.slow
@in_one_test(
    "prices",
    [
        {"input_at_200k": "0.5"},  # no draw fits
        {"input_at_200k": "1"},
        {"output": "0.2", "output_at_200k": "0.3"},
        {"output_at_200k": "12"},  # an output premium of 1: no slope to swing
        {"input_at_200k": "2", "output_at_200k": "12"},
        {"output_at_200k": "10"},
        {"output_at_200k": "1200"},
    ],
)
def test_odd_prices_are_reported_in_full_and_in_numbers(prices: dict[str, str]):
    said = changed("gemini-3.1-pro", **prices)
    assert not NO_NUMBER.search(said)
    assert all(of.heading in said for of in KV_NAMES.values()) and "What the prices can tell at all" in said


def test_a_sheet_that_no_draw_fits_says_so():
    said = changed("gemini-3.1-pro", input_at_200k="0.5")
    assert "none of the draws fits the prices" in said
    assert "they contradict the model; no attention_flops_per_pair >= 0 satisfies bands.premium_in" in said


# -- tiers ----------------------------------------------------------------------------------------------------------


def test_a_negative_intercept_is_reported_and_not_clipped():
    """Kimi K3: 3 for five minutes, 6 for an hour. The line through both is below zero for no time at all."""
    (tariff,) = one("kimi-k3").tariffs
    assert tariff.write_charge.value < 0 and tariff.drain_time is None
    (line,) = [line for line in text("kimi-k3").splitlines() if line.startswith("write prices of 5 min and 1 h")]
    assert line.endswith(tariff.problem) and "write_charge is $-0.2727/MTok" in line
    assert "no tariff of a write and storage for the lifetime holds" in line
    (sound,) = [line for line in text("claude-sonnet-4-5").splitlines() if line.startswith("write prices of 5 min and 1 h")]
    assert sound.endswith("intercept over slope 13.3 min")  # 800 s


def test_the_ends_of_an_input_are_those_of_the_level():
    usual, other = (infer(["gemini-3.1-pro"], assumptions=replace(USUAL, level=level)) for level in (0.9, 0.8))
    for table, ends in ((usual, "at 5 and 95 %"), (other, "at 10 and 90 %")):
        said = " ".join(firmness(table[0], table))
        assert f"with one input {ends} of what it may be" in said


def test_the_bound_on_pareto_k_is_that_of_the_sampler(monkeypatch: pytest.MonkeyPatch):
    table = infer(["gemini-3.1-pro"])
    assert f"(trusted below {RELIABLE:g})" in " ".join(firmness(table[0], table))
    monkeypatch.setattr("invert.posterior.summary.RELIABLE", 0.65)
    assert "(trusted below 0.65)" in " ".join(firmness(table[0], table))
