"""What an answer spans over ranges in a page is what `derive.solve` says it spans."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backsolve.site.formulas import quantities_data, solvable
from derive import solve
from derive.catalogue import equation
from derive.solving.result import Solution
from derive.units import parse
from tests.tools.line_by_line import answering
from tests.tools.solver_script import NODE

SCRIPT = Path(__file__).parents[2] / "tools" / "ranges_script.js"
SEEN = 1e-4
"""How far extremes that two looks have seen may lie apart, as a share of them."""

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


Both = Callable[[str, str, dict[str, str], dict[str, tuple[str, str]]], tuple[dict[str, Any], Solution]]


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    """What the page and what Python says of an equation over ranges."""
    with answering(SCRIPT) as ask:

        def asked(id: str, unknown: str, given: dict[str, str], ranges: dict[str, tuple[str, str]]) -> tuple[dict[str, Any], Solution]:
            row = equation(id)
            values = {name: parse(name, text) for name, text in given.items()}
            ends = {name: [parse(name, end) for end in pair] for name, pair in ranges.items()}
            data = {"equation": solvable(row), "quantities": quantities_data(row.symbols)}
            made = ask({"data": data, "unknown": unknown, "given": values, "ranges": ends})
            return made, solve(unknown, given={**given, **{name: f"{low}..{high}" for name, (low, high) in ranges.items()}}, using=[id])

        yield asked


MEASURED = {"tokens_verified_per_step": "1", "overhead_time": "0", "drafting_time": "0", "attention_time": "0"}


@pytest.mark.parametrize(
    ("id", "unknown", "given", "ranges"),
    [
        (
            "batching.balance_batch",
            "balance_batch",
            {"mfu": "0.5", "mbu": "0.7"},
            {"machine_balance_ratio": ("280", "320"), "sparsity": ("8", "18")},
        ),
        (
            "batching.balance_batch",
            "mbu",
            {"mfu": "0.5", "sparsity": "8", "machine_balance_ratio": "300"},
            {"balance_batch": ("1500", "2400")},
        ),
        ("roofline.step_time", "step_time", {"compute_time": "10ms", **MEASURED}, {"memory_time": ("5ms", "20ms")}),
        ("roofline.step_time", "memory_time", {"compute_time": "4ms", **MEASURED}, {"step_time": ("20ms", "30ms")}),
        ("scheduling.sweep_time", "sweep_time", {"hbm_capacity": "80GB"}, {"hbm_bandwidth": ("2TB/s", "4TB/s")}),
    ],
)
def test_ends_are_exact_where_the_answer_only_rises_or_only_falls(
    both: Both, id: str, unknown: str, given: dict[str, str], ranges: dict[str, tuple[str, str]]
) -> None:
    found, solved = both(id, unknown, given, ranges)
    assert solved.spans and solved.spans.method == "bounds"
    assert found["kind"] == "exact" and [found["low"], found["high"]] == pytest.approx([solved.spans.low, solved.spans.high], rel=1e-12)
    assert found["first"] == pytest.approx([found["low"], found["high"]]) and found["unanswered"] == 0
    assert found["bound"] == (solved.answers[0].bound or "")


def test_where_it_turns_the_extremes_are_looked_for(both: Both) -> None:
    given = {"falling_cost": "8", "falling_exponent": "1", "rising_cost": "2", "rising_exponent": "1"}
    found, solved = both("training.tradeoff_cost", "tradeoff_cost", given, {"tradeoff_variable": ("0.5", "10")})
    assert solved.spans and solved.spans.method == "sampled" and found["kind"] == "seen"
    assert [found["low"], found["high"]] == pytest.approx([solved.spans.low, solved.spans.high], rel=SEEN)
    assert found["low"] == pytest.approx(8.0, rel=SEEN) and found["first"][0] > 8.1


def test_where_part_of_the_ranges_has_no_answer_it_is_said(both: Both) -> None:
    ranges = {"step_time": ("10ms", "12ms"), "memory_time": ("5ms", "20ms")}
    found, solved = both("roofline.step_time", "compute_time", {**MEASURED, "attention_time": "1ms"}, ranges)
    assert solved.spans and found["kind"] == "seen" and found["unanswered"] == pytest.approx(1 - solved.spans.answered, abs=0.05)
    assert [found["low"], found["high"]] == pytest.approx([solved.spans.low, solved.spans.high], rel=2e-2)


def test_of_bounds_what_is_enough_all_over_the_ranges_is_told(both: Both) -> None:
    found, solved = both(
        "roofline.step_time", "compute_time", {**MEASURED, "step_time": "20ms", "memory_time": "20ms"}, {"attention_time": ("1ms", "4ms")}
    )
    (answer,) = solved.answers
    assert found["kind"] == "throughout" and answer.kind == "interval" and answer.high is not None
    assert (found["low"], found["high"]) == pytest.approx((answer.least, answer.high))
    assert answer.high == pytest.approx(16e-3)


def test_without_an_answer_anywhere_there_is_none(both: Both) -> None:
    found, solved = both("roofline.step_time", "compute_time", {**MEASURED, "step_time": "10ms"}, {"memory_time": ("15ms", "20ms")})
    assert found["kind"] == "none" and not solved.answers
