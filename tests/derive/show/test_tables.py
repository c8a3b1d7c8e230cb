"""Answers over ranges and sweeps as tables: ends, quantiles and sides of a range, a line a point of a sweep."""

import csv
import io
import json

import numpy as np
import pytest

from derive import answers
from derive.answers import Answer, Reason, Spans, Sweep
from derive.show.tables import spans_record, sweep_cells, sweep_head
from derive.show.text import lines, render, solution_record
from derive.solving.api import solve
from derive.solving.result import Solution

TIMES = {"compute_time": 0.01, "memory_time": 0.02}


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


@pytest.mark.parametrize("at_once", [1, 2, 4096])
def test_points_are_written_as_if_each_were_alone(at_once: int, monkeypatch: pytest.MonkeyPatch):
    """What stands around the numbers is made once for all points that are alike, of which no more than so many are taken together."""
    monkeypatch.setattr(answers, "_AT_ONCE", at_once)
    numbers = np.array([[1.5, np.nan, np.nan, 4.0, 5e-324, 1e300, np.nan, 0.1], [2.0, *[np.nan] * 3, 1 / 3, 8.0, np.nan, np.nan]])
    places = np.array([[0, 0, 0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 1, 0, 0]])
    given = {"batch": np.arange(8.0), "context_length": np.full(8, 1e15)}
    shown = {"given": given, "values": numbers, "places": places, "labels": ('of "100 %r", all', None)}
    solution = Solution(unknown="step_time", unit="s", answers=(Answer(kind="interval", low=0.1, bound="lower"),), sweep=table(**shown))
    assert render(solution, "json") == json.dumps(solution_record(solution), indent=2)
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
