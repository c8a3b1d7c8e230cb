"""The calibrated efficiency: the fit is that of the table, runs are what the catalogue makes of them, and ranges are judged on other runs.

Below are the figures of peers.csv that somebody measured, and further published rates, each against the range of `--efficiency
calibrated`: those outside are named, with the reason.
"""

import csv
from pathlib import Path
from statistics import median

import pytest

from derive.preset_record import MODEL_KINDS
from derive.preset_rows import FIT, HELD_OUT, Efficiency
from derive.presets import DEPLOYMENTS, is_inside, model
from derive.solving.api import solve
from derive.tables.questions import read_givens
from derive.tables.shipped import read, rows_of
from invert.validation.efficiency import efficiency_rows, fit_efficiencies, fitted_rows, predicted_of_question, predicted_without_run
from tests.tools.together import in_one_test, some
from tests.validation.test_peers import CASES

ROWS = rows_of(Efficiency)
FITTED, KEPT = ([pytest.param(row, id=row.run) for row in ROWS if row.use == use] for use in (FIT, HELD_OUT))
RUNS = [row for row in ROWS if row.use == FIT]


def times(solution):
    """The least and the most of an answer [ms]."""
    assert solution.reason is None, solution.reason
    (answer,) = solution.answers
    ends = (solution.spans.low, solution.spans.high) if solution.spans else (answer.point, answer.point)
    return tuple(1e3 * end for end in ends)


def ideal(unknown, row):
    given = read_givens(row.givens)
    return solve(unknown, **given.rows, given=given.texts, anyway=True).answers[0].value


@in_one_test("row", some(FITTED, 6))
def test_the_ideal_times_of_a_run_are_those_of_the_catalogue(row):
    if row.phase == "decode":
        arithmetic, reads = ideal("compute_time", row) + ideal("attention_time", row), ideal("memory_time", row)
    else:
        arithmetic, reads = ideal("prefill_time", row), row.memory_ms / 1e3
    given = read_givens(row.givens)
    layers = float(given.texts.get("layers", 0)) or model(given.rows["model"]).givens["layers"]
    assert (1e3 * arithmetic, 1e3 * reads, layers) == pytest.approx((row.arithmetic_ms, row.memory_ms, row.layers), rel=1e-3)


def test_the_fit_is_that_of_the_table_and_predicts_as_recorded():
    """Nothing in it is random: the same runs give the same figures, whatever the fit begins with."""
    fit = fit_efficiencies(RUNS)
    lines = read().content("efficiency_fit.csv").decode().splitlines()
    assert [",".join(row.values()) for row in fitted_rows(fit, RUNS)] == lines[1:]
    assert fit_efficiencies(RUNS, fit) == pytest.approx(fit, abs=0.02)


@pytest.mark.slow
def test_the_fit_without_a_run_predicts_what_is_recorded_of_it():
    found = predicted_without_run(RUNS, fit_efficiencies(RUNS))
    for row in RUNS:
        assert found[row.run] == pytest.approx((row.low, row.high), rel=0.02), row.run


@in_one_test("row", some(KEPT, 12))
def test_a_run_that_the_fit_never_sees_has_the_range_that_is_recorded(row):
    assert predicted_of_question(row) == pytest.approx((row.low, row.high), rel=1e-3)


def test_the_range_of_the_fit_is_that_of_the_question():
    """max(arithmetic / mfu, reads / mbu) + layers * layer_time, which the fit takes, is the step of the catalogue."""
    row = next(row for row in RUNS if row.run == "Llama-3-70B, 8 H100")
    given = read_givens(row.givens)
    sustained = {"mfu": 0.4, "mbu": 0.8, "layer_time": "100 us"}
    (found,) = solve("step_time", **given.rows, given={**given.texts, **sustained}).answers
    assert 1e3 * found.value == pytest.approx(max(row.arithmetic_ms / 0.4, row.memory_ms / 0.8) + 0.1 * row.layers, rel=1e-3)


def test_most_runs_that_the_fit_never_saw_are_inside_ranges_of_a_factor_of_three():
    kept = [row for row in ROWS if row.use == HELD_OUT]
    assert sum(map(is_inside, kept)) >= 27 / 36 * len(kept)
    assert median(row.high / row.low for row in kept) < 3


def test_the_record_counts_every_run_once_and_names_those_outside():
    rows = efficiency_rows(ROWS)
    for label, use in (("never seen", HELD_OUT), ("left out", FIT)):
        some_rows = [row for row in ROWS if row.use == use]
        groups = [row for row in rows if row["runs"] == label and row["group"].startswith(tuple(MODEL_KINDS))]
        inside, of = (sum(int(row["inside"].split()[at]) for row in groups) for at in (0, 2))
        assert (inside, of) == (sum(map(is_inside, some_rows)), len(some_rows))
        assert sum(row["outside"].count(";") + 1 for row in groups if row["outside"]) == of - inside
    assert {part for row in rows for part in DEPLOYMENTS if part in row["group"]} == {*DEPLOYMENTS}


def test_an_answer_prints_the_record_of_its_own_group():
    chips = {"hardware": "8xH100:fp8", "model": "Llama-3.3-70B", "efficiency": "calibrated"}
    step = solve("step_time", **chips, batch=8, context_length=2000).said
    prompt = solve("time_to_first_token", **chips, prompt_tokens=2000).said
    assert any("3 of 5" in text and "(dense, one node, decode)" in text for text in step)
    assert any("4 of 4" in text and "(dense, one node, prefill)" in text for text in prompt)


# -- published times, each against the range of such a model ------------------------------------------------------------------------

MEASURED = ("aiconfigurator SILICON", "InferSim", "DeepSeek itself")
"""Of peers.csv: the sums of measured kernels, and what was measured as a whole."""
TIMED = ("step_time", "compute_time + attention_time")

with (Path(__file__).parent / "peers.csv").open(encoding="utf-8", newline="") as stream:
    PEERS = [row for row in csv.DictReader(stream) if row["tool"] in MEASURED and row["quantity"] in TIMED]

PROMPTS = {"PF L70": 1, "PF DSV3": 1}
"""Cases that are one prompt of 8,192 tokens."""
NETWORK = ("moe_layers", "model_dim", "link_bandwidth", "dispatch_bytes_per_element", "combine_bytes_per_element")
PEERS_OUTSIDE = {"PF DSV3, InferSim 1250": "a simulation: its prompts are 2 % faster than the fastest that were measured"}
"""By case, tool and figure: why."""


def of_case(row):
    """The range of a row of peers.csv [ms], with the cache of the row."""
    given = {name: value for name, value in CASES[row["case"]].items() if name not in ("anyway", *NETWORK)}
    model = given.pop("model")
    if "bytes_per_element=1" in row["convention"]:
        given["bytes_per_element"] = 1
    if row["case"] in PROMPTS:
        given = {name: value for name, value in given.items() if name not in ("batch", "context_length", "attention_flops_per_pair")}
        given |= {"prompt_tokens": 8192, "prefill_batch": 8 if "batch=65536" in row["convention"] else 1}
    unknown = "prefill_time" if row["case"] in PROMPTS else "step_time"
    return times(solve(unknown, model=model, given=given, efficiency="calibrated", anyway=True))


@pytest.mark.slow
def test_a_time_of_the_peers_is_inside_or_named():
    outside = set()
    for row in PEERS:
        least, most = of_case(row)
        if not least <= float(row["figure"]) <= most:
            outside.add(f"{row['case']}, {row['tool']} {row['figure']}")
    assert len(PEERS) == 12 and outside == set(PEERS_OUTSIDE)


def test_the_published_day_decodes_inside_and_computes_prompts_below():
    """A node of 8 chips wrote 14,800 token/s and read 73,700. It computed 32,206 of these: half of the rate of its own profile."""
    chip = {"hardware": "H800:fp8", "model": "DeepSeek-V3", "efficiency": "calibrated"}
    written = solve("throughput", **chip, chips=144, batch=88 * 144, context_length=4989, bytes_per_element=1).spans
    assert written.low / 18 < 14_800 < written.high / 18
    computed = solve("prefill_rate_per_chip", **chip, chips=32).spans
    assert 32_206 < 8 * computed.low < 1.5 * 32_206
