"""What answers look like: on one screen, in full, over ranges and sweeps, and several together."""

import csv
import io
import json

import numpy as np
import pytest

from derive.answers import POINTS, Answer, Reason, Spans, Sweep
from derive.show.layout import fold
from derive.show.parts import sweep_cells, sweep_head
from derive.show.text import (
    MOST_LINES,
    MOST_TABLE_LINES,
    SCREEN_WIDTH,
    height,
    lines,
    render,
    screen_lines,
    solution_record,
    spans_record,
)
from derive.solving.api import solve
from derive.solving.result import Solution
from tests.tools.commands import DEPLOYED, call, refused

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

TIMES = {"compute_time": 0.01, "memory_time": 0.02}


def test_every_form_says_which_way_a_bound_errs():
    solution = solve("throughput", **TIMES, batch=64)
    assert "| throughput | 3200 token/s or less | memory-bound |" in render(solution, "markdown")
    assert r"\theta \leq 3200\,\text{token/s}" in render(solution, "latex") and r"t \geq 20\,\text{ms}" in render(
        solve("step_time", **TIMES), "latex"
    )
    assert " = 3200\\,\\text{token/s}\n" in render(solve("throughput", step_time=0.02, batch=64), "latex")
    (row,) = csv.DictReader(render(solution, "csv").splitlines())
    assert (row["value"], row["bound"]) == ("3200.0", "upper")
    assert json.loads(render(solution, "json"))["answers"][0]["bound"] == "upper"
    exact = solve("throughput", step_time=0.02, batch=64)
    assert (
        json.loads(render(exact, "json"))["answers"][0]["bound"] is None
        and next(csv.DictReader(render(exact, "csv").splitlines()))["bound"] == ""
    )


DEEPSEEK = {"hardware": "H100-SXM:fp8", "model": "DeepSeek-V3", "bytes_per_element": 1, "context_length": "4k"}
LLAMA = {"hardware": "H100-SXM:bf16", "model": "Llama-3.1-70B", "bytes_per_element": 2, "context_length": 8192}
ASKED = {
    "a step": ("step_time", {**DEEPSEEK, "chips": 16, "batch": 64}),
    "a step with doubts": ("step_time", {**DEEPSEEK, "chips": 64, "batch": 64}),
    "a bound": ("batch", {**LLAMA, "chips": 8}),
    "backwards": ("batch", {**LLAMA, "chips": 8, "step_time": "20ms"}),
    "a limit": ("chips", {**LLAMA, "batch": 16, "step_time": "<=20ms"}),
    "a range": ("step_time", {**LLAMA, "chips": 8, "batch": "16..64"}),
    "two roots": ("draft_tokens", {"speculative_speedup": 1.5, "acceptance_rate": 0.8, "draft_cost_ratio": 0.1}),
    "money": ("cost_per_token", {**LLAMA, "chips": 8, "batch": 16, "chip_price": "2 USD/h"}),
    "prefill": ("prefill_compute_time", {**LLAMA, "chips": 8, "batch": 1, "prompt_tokens": 8192, "context_length": 8192}),
}


def text(unknown: str, given: dict) -> str:
    return "\n".join(screen_lines([solve(unknown, **given)]))


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_an_answer_fits_a_screen_and_leaves_nothing_doubtful_out(asked):
    solution = solve(asked[0], **asked[1])
    for columns in (SCREEN_WIDTH, 80):
        told = "\n".join(screen_lines([solution], columns))
        assert fold(told, columns).count("\n") + 1 <= MOST_LINES
        assert solution.warnings == () or any(warning in told for warning in solution.warnings)
        assert "\nCite  " in told and (columns < SCREEN_WIDTH or all(warning in told for warning in solution.warnings))
    told = text(*asked)
    assert fold(str(solution), SCREEN_WIDTH) == fold(told, SCREEN_WIDTH)


def test_a_short_answer_is_shown_whole():
    solution = solve("sparsity", total_params=6e11, active_params=3e10)
    assert text("sparsity", {"total_params": 6e11, "active_params": 3e10}) == solution.full


def test_a_sweep_has_a_line_for_each_point_and_few_words_below_many():
    given = {**DEEPSEEK, "chips": 16, "chip_price": "2 USD/h", "batch": "1..4096:log", "anyway": True}
    solutions = [solve(name, **given) for name in ("step_time", "throughput")]
    lines = [*screen_lines(solutions)]
    assert [lines[1].split()[0], lines[POINTS].split()[0]] == ["1", "4096"] and height(lines, 80) <= POINTS + MOST_LINES


def test_the_command_is_short_unless_it_is_asked_for_all():
    question = ("solve", "step_time", "batch=64", "context_length=4k", "chips=16", *DEPLOYED)
    short, full = call(*question).out, call(*question, "--full").out
    assert short.count("\n") <= MOST_LINES < full.count("\n")
    assert "given  " not in short and "architectures.csv DeepSeek-V3 layers" in full and "roofline.kv_time@2" in full
    assert call(*question, "--as", "json").out == call(*question, "--as", "json", "--full").out


@pytest.mark.slow
def test_an_answer_with_much_to_warn_of_is_on_a_screen_too():
    asked = ("--hardware", "H100", "--model", "DeepSeek-V3", "request_latency<=5s", "prompt_tokens=8k", "output_tokens=500", "batch=16")
    for unknown in ("chips", "chips,cost_per_token"):
        answer = call("solve", unknown, *asked, "chip_price=2 USD/h").out
        assert len(answer.splitlines()) <= MOST_TABLE_LINES, unknown
    answer = call("solve", "chips", *asked, "--efficiency", "calibrated").out
    assert len(answer.splitlines()) <= MOST_TABLE_LINES
    assert answer.count("layer_time = ") == 1


# -- sweeps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", ["1,2,64", "1..100:log:90"], ids=["asked one by one", "as arrays"])
def test_a_sweep_says_it_once_in_its_head_and_in_every_record(batch: str):
    solution = solve("throughput", **TIMES, batch=batch)
    head, first, *_ = render(solution, "table").splitlines()
    assert head.split() == ["batch", "throughput", "(or", "less)", "where"] and first.split()[:3] == ["1", "50", "token/s"]
    assert render(solution, "markdown").startswith("| batch | throughput (or less) | where |\n")
    assert {row["bound"] for row in csv.DictReader(render(solution, "csv").splitlines())} == {"upper"}
    document = json.loads(render(solution, "json"))
    assert {answer["bound"] for point in document["sweep"] for answer in point["answers"]} == {"upper"}
    assert document["answers"][0]["bound"] == "upper"


def table(**more) -> Sweep:
    """Two points of which the first has two answers and the second none, and a third that has an interval."""
    others = {
        1: ((), Reason(code="no_solution", message="no step\nmore of it")),
        2: ((Answer(kind="interval", low=0.0, high=3.0, regime="here", bound="lower"),), None),
    }
    values = np.array([[1.0, np.nan, np.nan], [2.0, np.nan, np.nan]])
    places = np.array([[0, 0, 0], [1, 0, 0]])
    labels = {"labels": ("here", "there"), "bounds": ("lower", "lower")}
    given = {"batch": np.array([1.0, 20.0, 300.0])}
    return Sweep(**{"given": given, "values": values, "places": places, "others": others, **labels, **more})


def test_a_cell_has_all_answers_of_a_point_and_where_they_hold_or_why_there_are_none():
    assert sweep_head("step_time", table()) == ["batch", "step_time (or more)", "where"]
    assert list(sweep_cells("step_time", table())) == [
        ["1", "1 s or 2 s", "here or there"],
        ["20", "-", "no step"],
        ["300", "0 to 3 s", "here"],
    ]
    one_regime = table(labels=("here", "here"))
    assert next(iter(sweep_cells("step_time", one_regime))) == ["1", "1 s or 2 s", "here"]


def test_every_point_is_written_to_the_last_bit():
    numbers = np.array([[1.5, np.nan, np.nan, 4.0, 5e-324, 1e300, np.nan, 0.1], [2.0, *[np.nan] * 3, 1 / 3, 8.0, np.nan, np.nan]])
    places = np.array([[0, 0, 0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 1, 0, 0]])
    given = {"batch": np.arange(8.0), "context_length": np.full(8, 1e15)}
    shown = {"given": given, "values": numbers, "places": places, "labels": ('of "100 %r", all', None)}
    solution = Solution(unknown="step_time", unit="s", answers=(Answer(kind="interval", low=0.1, bound="lower"),), sweep=table(**shown))
    assert json.loads(render(solution, "json")) == solution_record(solution)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = ("kind", "value", "low", "high", "regime", "formula", "bound")
    writer.writerow([*given, "unknown", "unit", *fields])
    for at, found, _ in solution.sweep.rows():
        for one in found or (Answer(kind="none"),):
            writer.writerow([*at.values(), "step_time", "s", *(getattr(one, name) for name in fields)])
    assert [*lines([solution], "csv")] == out.getvalue().splitlines()
    assert [[one.value for one in found] for _, found, _ in solution.sweep.rows()] == [
        *([1.5, 2.0], [], [None], [4.0], [5e-324, 1 / 3], [1e300, 8.0], [], [0.1]),
    ]


# -- ranges -----------------------------------------------------------------------------------------------------------


SPANS = Spans(
    ranges={"batch": (1.0, 64.0), "chips": (8.0, 16.0)},
    method="sampled",
    low=0.01,
    high=0.04,
    quantiles={"p05": 0.011, "p50": 0.02, "p95": None},
    sides=(("memory_time >= compute_time", 0.01, 0.02, 0.25), ("compute_time >= memory_time", 0.02, 0.04, 0.75), (None, 0.01, 0.04, 1.0)),
    tornado=(("batch", 0.01, 0.04), ("chips", 0.02, 0.01)),
    answered=1.0,
    samples=4096,
    seed=1,
    shown={"batch": 8.0, "chips": 8.0},
)


def test_the_record_of_a_range_has_all_of_it():
    record = spans_record(SPANS)
    assert json.loads(json.dumps(record)) == record, "lists, no tuples"
    assert (record["p05"], record["p95"], record["ranges"]["chips"]) == (0.011, None, [8.0, 16.0])
    assert record["sides"][0] == {"regime": "memory_time >= compute_time", "low": 0.01, "high": 0.02, "share": 0.25}
    assert record["tornado"][1] == {"given": "chips", "at_low": 0.02, "at_high": 0.01}
    assert {"method", "low", "high", "answered", "samples", "seed"} <= set(record)


GIVEN = (
    *("--hardware", "8xH100:fp8", "--model", "Llama-3.1-70B", "context_length=8k", "bytes_per_element=fp8"),
    *("chip_price=2USD/h", "batch=64"),
)
SEVERAL = "step_time,throughput,cost_per_token"


def test_each_answer_is_that_of_the_question_alone():
    for given in (GIVEN, (*GIVEN[:-1], "batch=1,64")):
        alone = [json.loads(call("solve", name, *given, "--as", "json").out) for name in SEVERAL.split(",")]
        assert json.loads(call("solve", SEVERAL, *given, "--as", "json").out) == alone
    rows = [*csv.DictReader(call("solve", SEVERAL, *GIVEN, "--as", "csv").out.splitlines())]
    assert [row["unknown"] for row in rows] == SEVERAL.split(",")


def test_one_without_an_answer_leaves_with_3_and_the_others_are_printed():
    said = call("solve", "step_time,chip_capex", *GIVEN)
    assert said.status == 3 and said.out.startswith("step_time = 5.763 ms") and "\nchip_capex: no answer: " in said.out
    assert "also needs depreciation_time" in said.err
    assert "unknown quantity 'step_tim'" in refused("solve", "step_tim,throughput", *GIVEN)
    assert call("solve", "step_time,step_time", *GIVEN).out == call("solve", "step_time", *GIVEN).out
