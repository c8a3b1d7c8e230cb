"""What an answer and an equation look like: bounds said in words, defaults in one line, versions with what changed."""

import csv
import json
from dataclasses import replace

import pytest

from derive import symbols
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


def test_chips_that_are_too_few_are_rounded_up_and_what_is_at_most_so_many_is_not():
    step = {**MACHINE, "kv_bytes_per_token": 3e5, "context_length": 4000, "batch": 64}
    assert first_line("chips", **step, step_time=0.02).startswith("chips = 3 or more (from 2.447)   where")
    run = {"pretrain_flops": 3.2856e24, "mfu": 0.35, "peak_flops": 1.979e15, "training_time": "60days"}
    assert first_line("training_chips", **run) == "training_chips = 915 (so 916 whole ones)"
    rate = {**TIMES, "batch": 64, "chip_price": 5e-4, "cost_per_token": 5e-7}
    assert first_line("chips", **rate).startswith("chips = 3.2 or less   where")


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


def test_the_route_of_a_bound_is_that_of_its_end():
    """80 GB of each of 8 chips less 70.6 GB of weights, over 16.4 GB a sequence: 34.76; not half of it, the middle of what is left open."""
    given = {"model": "Llama-3.1-70B", "hardware": "H100-SXM:fp8", "chips": 8, "bytes_per_element": 1, "context_length": 100_000}
    solution = solve("batch", **given)
    (bound,) = solution.answers
    assert bound.ends == (0.0, pytest.approx((8 * 80e9 - 70_553_706_496) / (1e5 * 2 * 8 * 128 * 80)))
    text = render(solution, "table")
    assert text.startswith("batch = 34 or less (from 34.76)\n") and "\nat batch = 34.76:\n" in text and "17.4" not in text
    assert {step.unknown: step.value for step in solution.route}["sequences_in_flight"] == pytest.approx(bound.high)


def test_a_bound_that_nothing_follows_is_shown_at_no_value():
    solution = solve("kv_compute_ratio", compute_utilisation=1, weight_compute_ratio=0.25, attention_compute_ratio=0)
    assert solution.answers[0].high == pytest.approx(0.75) and "\nat kv_compute_ratio" not in render(solution, "table")


def test_a_formula_for_an_answer_says_its_unit_in_front():
    symbolic = solve("compute_time", batch=symbols.batch, active_params=37e9, peak_flops=1e15)
    assert render(symbolic, "table").startswith("compute_time [s] = 37*batch/500000 or more\n")
