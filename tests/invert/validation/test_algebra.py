"""The two algebras agree, and where one is spoilt that is seen."""

import pytest

from derive.catalogue import by_id, equation
from derive.expressions import branches as ours
from derive.expressions.branches import closed_roots
from invert.validation import algebra
from invert.validation.algebra import algebra_problems, algebra_rows
from tests.tools.together import some

SOME = some(by_id().values(), 24)


def test_both_solve_the_same_regimes_and_agree():
    *chapters, whole = algebra_rows(SOME)
    assert algebra_problems(chapters) == [] and whole["both"] > 40
    assert whole["regimes"] == whole["both"] + whole["none"] and whole["SymPy alone"] == whole["ours alone"] == 0
    assert {row["chapter"] for row in chapters} == {row.chapter for row in SOME}


def test_a_root_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch):
    row = equation("serving.plain_step_time")

    def spoilt(height, unknown):
        return tuple(("*", 2, root) for root in closed_roots(height, unknown))

    with monkeypatch.context() as patched:
        patched.setattr(ours, "closed_roots", spoilt)
        patched.setattr(algebra, "branches", ours.branches.__wrapped__)
        rows = algebra_rows([row])
    (problem,) = algebra_problems(rows)
    assert "serving.plain_step_time for kv_time" in problem.message
