"""Derivations as they are told: every step with its premises, in words and in LaTeX."""

import pytest

from derive.catalogue import by_id, equation
from derive.derivations import parents
from derive.show.narration import derivation_in_latex, derivation_lines
from tests.tools.together import in_one_test, some

DERIVED = some([pytest.param(row, id=row.id) for row in by_id().values() if row.steps], every=4)


@in_one_test("row", DERIVED)
def test_a_derivation_reads_from_its_premises_to_the_equation(row):
    lines = derivation_lines(row)
    left, right = row.sides
    assert lines[-1].strip() == f"{left} {row.sense} {right}"
    assert [line.split(".")[0] for line in lines if line[0].isdigit()] == [str(n + 1) for n in range(len(row.steps))]
    for id in parents(row):
        assert any(id in line for line in lines)


@in_one_test("row", DERIVED)
def test_the_latex_is_balanced_and_has_an_item_a_step(row):
    text = derivation_in_latex(row)
    assert text.count(r"\item") == len(row.steps)
    assert text.count("{") == text.count("}") and text.count(r"\[") == text.count(r"\]")
    assert text.count("$") % 2 == 0
    assert text.count(r"\begin") == text.count(r"\end")


def test_a_definition_has_its_formula_and_no_steps():
    row = equation("roofline.kv_time")
    assert derivation_lines(row) == []
    assert r"\item" not in derivation_in_latex(row) and r"t_{\mathrm{kv}} = " in derivation_in_latex(row)
