"""What an answer and an equation look like: bounds said in words, defaults in one line, versions with what changed."""

import csv
import json
from dataclasses import replace

import pytest

from derive.catalogue import equation
from derive.quantities import NEUTRAL_DEFAULTS
from derive.show.entry import card
from derive.show.text import render
from derive.solving.api import solve

pytestmark = pytest.mark.usefixtures("chips_of_80_gb")

TIMES = {"compute_time": 0.01, "memory_time": 0.02}
MACHINE = {"peak_flops": 2e15, "hbm_bandwidth": 3e12, "bytes_per_weight": 1, "active_params": 7e10, "total_params": 7e10}


def first_line(unknown: str, **given) -> str:
    return render(solve(unknown, **given), "table").splitlines()[0]


def test_a_bound_is_said_behind_its_value():
    assert first_line("step_time", **TIMES) == "step_time = 20 ms or more   where memory-bound (memory_time >= compute_time)"
    assert (
        first_line("throughput", **TIMES, batch=64)
        == "throughput = 3200 token/s or less   where memory-bound (memory_time >= compute_time)"
    )
    assert first_line("throughput", step_time=0.02, batch=64) == "throughput = 3200 token/s"
    assert repr(solve("step_time", **TIMES)) == "Solution(step_time [s]: 0.02 or more)"


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


# -- defaults ------------------------------------------------------------------------------------------------------


def test_defaults_stand_in_one_line_before_what_is_assumed():
    solution = solve("step_time", **MACHINE, batch=64, context_length=4000, kv_bytes_per_token=3e5)
    lines = render(solution, "table").splitlines()
    (place,) = (place for place, line in enumerate(lines) if line.startswith("defaults"))
    used = [name for name in NEUTRAL_DEFAULTS if name in solution.given]
    assert {"chips", "mfu", "mbu"} <= {*used}
    assert lines[place] == f"defaults    {', '.join(f'{name} = {NEUTRAL_DEFAULTS[name]:g}' for name in used)}"
    assert lines[place + 1].startswith("assumes     ") and "(default)" not in "\n".join(lines)
    assert json.loads(render(solution, "json"))["assumptions"][: len(used)] == [
        f"{name} = {NEUTRAL_DEFAULTS[name]:g} (default)" for name in used
    ]
    assert "\ndefaults " not in render(solve("sparsity", total_params=6e11, active_params=3e10), "table")


# -- equations -----------------------------------------------------------------------------------------------------


def test_a_card_says_kind_direction_and_what_each_version_changed():
    row = equation("roofline.step_time")
    later = replace(row, changes=("drafting is counted", "attention is counted"))
    text = card(later)
    assert text.startswith(f"roofline.step_time@3   {row.title}   (lower bound)\n")
    assert "changed     version 2: drafting is counted\n            version 3: attention is counted\n" in text
    assert card(equation("roofline.step_time_serial")).splitlines()[0].endswith("(estimate)")
    assert "changed" not in card(replace(row, changes=()))
