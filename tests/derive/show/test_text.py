"""What an answer and an equation look like: bounds said in words, defaults in one line, versions with what changed."""

import csv
import json

import pytest

from derive.show.text import render
from derive.solving.api import solve

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
