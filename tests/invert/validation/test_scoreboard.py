"""The scoreboard, against figures of an earlier calculation by other code."""

import json
from dataclasses import replace
from itertools import product
from math import log
from statistics import fmean, stdev

import pytest

from invert.assumptions import USUAL
from invert.estimate_text import KV_NAMES, estimate_text, kv_heading, round_digits
from invert.estimators.cases import assumptions_of
from invert.estimators.known import judged as models_of_known_cache
from invert.estimators.known import records
from invert.estimators.prediction import coverage_at
from invert.inference import infer
from invert.records import Record
from invert.report.table import glance
from invert.validation import scoreboard
from invert.validation import scoreboard as truth
from invert.validation.candidates import CANDIDATES, LEFT_OUT
from invert.validation.scoreboard_text import SHOWN, rendered_sections
from invert.validation.simulation import RANKED
from tests.tools.data import shipped_data
from tests.tools.together import in_one_test, some

SOLD = {  # known models that a shipped sheet sells, by the name it is sold under
    "Qwen3-Coder-480B-A35B": "qwen3-coder-plus", "Qwen3-30B-A3B": "qwen3-coder-flash", "Qwen3.5-397B-A17B": "qwen3.5-plus",
}  # fmt: skip


@in_one_test(("architecture", "anchors"), [*product(some(SOLD, 3), [{}, {"overlap": 0.0, "machine_balance_ratio": 150.0}])])
def test_the_scoreboard_scores_what_is_printed(architecture: str, anchors: dict[str, float]):
    """The very estimates of the table, every column and digit of them, over the cache that is known."""
    table = infer([SOLD[architecture]], anchors=anchors)
    (printed,) = table.inferences
    (row,) = [row for row in truth.known_models(shipped_data(), assumptions_of(anchors)) if row["model"] == architecture]
    (judged,) = [
        known for known in models_of_known_cache(shipped_data(), assumptions_of(anchors)) if known.member.architecture == architecture
    ]
    text = " ".join(glance(table, 100, [f"kv_bytes_per_token_{estimator}_range" for estimator in KV_NAMES]).split())
    assert row["KV bytes"] == printed.known.read == judged.member.kv_bytes_per_token and len(printed.sheet.bands) > 1
    for estimator in KV_NAMES:
        six = [round_digits(getattr(one.kv_bytes[estimator], end)) for one in (printed, judged) for end in ("median", "low", "high")]
        assert six[:3] == six[3:]
        assert row[kv_heading(estimator)] == float(f"{printed.kv_bytes[estimator].median / printed.known.read:.3g}")
        assert estimate_text("kv_bytes_per_token", judged.kv_bytes[estimator]) in text


def test_the_bias_and_spread_of_each_estimate_are_those_of_its_ratios_to_known_models():
    *rows, bias, sd = truth.known_models(shipped_data())
    for label in map(kv_heading, KV_NAMES):
        logs = [log(row[label]) for row in rows]
        assert (bias[label], sd[label]) == pytest.approx((fmean(logs), stdev(logs)), abs=0.011)


@pytest.fixture(scope="module")
def skill() -> dict[tuple[object, object], dict[str, object]]:
    return {(row["estimate"], row["left out"]): row for row in truth.skill(shipped_data())}


def test_every_estimator_candidate_and_fit_has_a_row_of_one_form(skill):
    rows = truth.skill(shipped_data())
    assert len(rows) == len(skill) and {tuple(row) for row in rows} == {truth.SKILL} and set(SHOWN["skill"]) < set(truth.SKILL)
    names = [name for name, _ in skill]
    assert [kv_heading(name) for name in KV_NAMES if name != "typical"] == names[: len(KV_NAMES) - 1]
    assert {("KV read", "later"), ("KV stored", "later"), ("KV read, premium", "family")} < set(skill)
    for candidate, of in CANDIDATES.items():
        assert {*LEFT_OUT} == {left for name, left in skill if name == f"KV {of}, {candidate}"}
    assert sum(left == "vendor" for _, left in skill) == 5


def test_what_each_estimator_has_got_right_is_its_record(skill):
    """KV from premium knows less than the class, and the other readings less than those."""
    known = records(models_of_known_cache(shipped_data()), shipped_data())
    for name in (name for name in KV_NAMES if name != "typical"):
        row = skill[kv_heading(name), "family"]
        assert (row["models"], row["families"], row["rms"]) == (9, 6, round(known[name].rms, 2))
        assert row["gain"] == pytest.approx(known[name].gain, abs=0.005) and row["weight"] is None
        assert row["in 90%"] == round(known[name].coverage[1].right / 9, 2) and row["in 90%, low"] <= row["in 90%"] <= row["in 90%, high"]
    gains = [skill[kv_heading(name), "family"]["gain"] for name in ("from_all_prices", "from_premium_at_cost", "from_premium")]
    assert gains == sorted(gains) and gains[-1] < -0.3


def test_numbers_are_numbers_and_the_text_of_a_gain_has_its_sign(skill):
    rows = list(skill.values())
    for row in rows:
        assert {type(value) for name, value in row.items() if name not in ("estimate", "left out", "verdict")} <= {int, float, type(None)}
    read = json.loads(rendered_sections({"skill": rows}, "json"))["skill"]
    assert next(row for row in read if row["estimate"] == "KV read")["gain"] == 0.39
    (line,) = [line for line in rendered_sections({"skill": rows}, "text").splitlines() if line.startswith("KV read  ")]
    assert line.split()[-3:] == ["+0.39", "0.43", "0.79"]
    assert ",0.39," in rendered_sections({"skill": rows}, "csv")


def test_closed_models_have_rows_of_their_own(skill):
    active, everything = (skill[f"{name}, closed, list", "model"] for name in ("active", "all"))
    assert [active[name] for name in ("models", "families", "rms", "in 90%")] == [7, 7, 0.23, 1.0]
    assert [everything[name] for name in ("models", "families", "rms", "in 90%")] == [9, 5, 0.71, 1.0]


def test_the_nodes_of_a_day_are_held_against_the_number_disclosed():
    (row,) = truth.section_rows("production")
    assert (row["disclosed"], row["computed"]) == (226.75, pytest.approx(226.75, rel=2e-3))


def test_the_calibration_of_the_sampler_finds_the_fault_and_no_other():
    rows = truth.recorded_calibration(shipped_data())[: 2 * len(RANKED)]
    sound, broken = ([str(row["verdict"]) for row in rows if (row["run"] == "calibrated") is good] for good in (True, False))
    assert all(one.startswith("sound") for one in sound) and any(one.startswith("detected") for one in broken)


def test_a_calibration_ends_with_a_verdict_on_every_estimator_that_has_a_record(skill):
    rows = [row for row in truth.recorded_calibration(shipped_data()) if row["run"] == truth.MODELS_LEFT_OUT]
    told = {(one.estimate, one.left_out) for one in truth.scored(shipped_data()) if one.baseline}
    scored = {key: row for key, row in skill.items() if key in told}
    assert [(row["quantity"], row["shape"]) for row in rows] == [*scored]
    for row, of in zip(rows, scored.values(), strict=True):
        trusted = of["in 90%, high"] >= 0.9 and of["gain"] >= 0
        assert str(row["verdict"]).startswith("trusted" if trusted else "not trusted"), row
        assert float(row["coverage_90"]) == pytest.approx(of["in 90%"], abs=0.0051) and row["sheets"] == str(of["models"])


def record(count: int, of: int, gain: float) -> Record:
    known = {"rms": 1.0, "rms_of_baseline": 1.0, "standard_error": 0.2, "interval": (gain - 0.4, gain + 0.4)}
    return Record(count=of, groups=of, gain=gain, coverage=(coverage_at(0.9, count, of),), **known)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            record(0, 9, 1.0),
            "not trusted: its ranges were right for 0 of 9, and at most 23% of these ranges are right, but 90% is promised",
        ),
        (record(9, 9, -0.4), "not trusted: its ranges were right for 9 of 9, but it knows less than the class does, by 0.40 nats"),
        (
            record(9, 9, 0.1),
            "trusted: its ranges were right for 9 of 9 where 90% is promised, and it knows 0.10 nats more than the class, for no more",
        ),
        (record(8, 9, 0.3), "trusted: its ranges were right for 8 of 9 where 90% is promised, and it knows 0.30 nats more than the class"),
    ],
)
def test_a_record_is_trusted_by_what_it_held_and_what_it_knows(one: Record, said: str):
    assert scoreboard.judge_record(one, "the class").startswith(said)
    assert "not trusted" in scoreboard.judge_record(one, "the class", replace(USUAL, level=0.8))


def test_how_many_standard_errors_a_gain_must_exceed_is_an_assumption():
    one = record(9, 9, 0.3)
    assert scoreboard.judge_record(one, "the class").endswith("0.30 nats more than the class")
    said = scoreboard.judge_record(one, "the class", replace(USUAL, least_gain_in_errors=2.0))
    assert said.endswith("0.30 nats more than the class, for no more than 2 standard errors")
    assert one.has_skill() and one.has_skill(1.4) and not one.has_skill(1.6)


def test_a_fault_that_is_put_in_is_found_out_by_ranks_and_a_sound_run_is_not():
    assert scoreboard.judge_ranks(0.9, 0.02, False).startswith("sound")
    assert scoreboard.judge_ranks(0.9, 0.01, False).startswith("unsound")
    assert scoreboard.judge_ranks(0.9, 0.02, True) == "the built-in error is not visible here"
