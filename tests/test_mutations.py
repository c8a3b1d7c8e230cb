"""Wrong formulas are seen; and the check that says so can tell a wrong one from one that is only written otherwise."""

import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from campaigns import mutation_check, mutations
from derive.catalogue import by_id
from derive.quantities import CONSTANTS
from derive.records import in_sympy
from tests.tools.dimensions import check as check_dimensions

HERE = Path(__file__).parent

ANOTHER_QUANTITY = {
    *("active_for_total_parameters", "total_for_active_parameters", "query_heads_for_kv_heads", "layers_for_kv_layers"),
    *("mfu_where_mbu_belongs_in_the_weight_time", "mfu_where_mbu_belongs_in_the_kv_time"),
}
"""The faults that consist in taking the wrong quantity."""


SOME = ("max_for_sum", "factor_two_dropped_everywhere", "experts_of_one_token", "efficiency_upside_down_everywhere", "an_older_bandwidth")
"""One fault of each kind: one that a published figure sees and one that none can, of a constant, of two equations, of a table."""


@pytest.mark.slow
def test_wrong_formulas_are_seen():
    """All of them, and that a right one is not, are tried by `.ci/long`."""
    done = subprocess.run(
        [sys.executable, "-m", "campaigns.mutation_check", *SOME], cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def changed():
    """Name, right equation and wrong relation of every fault in a formula."""
    return [(name, by_id()[id], wrong) for name, fault in mutation_check.MUTATIONS.items() for id, wrong in fault.relations.items()]


def test_the_faults_are_wrong_and_of_the_same_quantities():
    """Other quantities only where that is the fault; the control is the same mathematics."""
    for name, row, wrong in changed():
        left, right = in_sympy(wrong)
        assert left == row.sides[0]
        assert (right == row.sides[1]) is (name == mutation_check.CONTROL), name
        assert (set(signature(wrong).parameters) - set(CONSTANTS) == set(row.symbols)) is (name not in ANOTHER_QUANTITY), name
    assert {name for name, *_ in changed()} >= ANOTHER_QUANTITY


def test_the_faults_are_of_the_same_dimensions(monkeypatch):
    monkeypatch.setattr(mutations, "maximum", max)
    for _, _, wrong in changed():
        check_dimensions(wrong)


def test_the_tests_that_may_not_see_a_fault_exist():
    text = "\n".join(file.read_text(encoding="utf-8") for file in (HERE / "validation").glob("test_*.py"))
    for name in mutation_check.FOR_ONE_FAULT_ALONE:
        assert f"def {name}(" in text


SEEN = {
    kind: [{"kind": kind, "test": "tests/validation/a.py::test_a", "said": "assert 1 == 2"}] for kind in ("published", "derived", "crashed")
}


@pytest.mark.parametrize(
    ("name", "red", "said"),
    [
        ("max_for_sum", SEEN["published"], "max_for_sum: red"),
        ("max_for_sum", [], "max_for_sum: SURVIVED"),
        ("max_for_sum", SEEN["crashed"], "max_for_sum: SURVIVED"),
        ("max_for_sum", SEEN["derived"], "max_for_sum: NO PUBLISHED FIGURE SEES IT"),
        ("experts_of_one_token", SEEN["derived"], "experts_of_one_token: red"),
        ("experts_of_one_token", SEEN["published"], "experts_of_one_token: A PUBLISHED FIGURE SEES IT"),
        ("written_otherwise", [], "written_otherwise: green"),
        ("written_otherwise", SEEN["crashed"], "written_otherwise: RED WITHOUT A FAULT"),
        ("max_for_sum", None, "max_for_sum: THE TESTS DID NOT RUN"),
    ],
)
def test_what_is_amiss_is_said_and_fails(monkeypatch, capsys, name, red, said):
    monkeypatch.setattr(mutation_check, "run", lambda _: red)
    status = mutation_check.main([name])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(said)
    assert status == (0 if lines[0].endswith(("red", "green")) else 1)
    assert lines[-1] == f"{1 - status} of 1 as they should be"


def test_a_fault_that_does_not_exist_is_refused(capsys):
    assert mutation_check.main(["max_for_sums"]) == 2
    assert "max_for_sums; allowed: written_otherwise, factor_two_dropped" in capsys.readouterr().err
