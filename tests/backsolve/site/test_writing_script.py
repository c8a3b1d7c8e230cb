"""What the pages write to be pasted says what their trees say, and values as the command line writes them."""

import re
from math import isnan
from random import Random

import pytest

from backsolve.site.formulas import solvable
from derive.catalogue import by_id
from derive.evaluate import evaluate
from derive.quantities import QUANTITIES
from derive.quantities.formula import as_expression
from derive.show.typeset import value_in_latex
from derive.trees import names
from tests.tools.solver_script import NODE
from tests.tools.writing_script import told

CALLED = {"max(": "Max(", "min(": "Min(", "ln(": "log("}

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


@pytest.mark.slow
def test_a_formula_in_plain_text_is_read_again_as_it_was() -> None:
    random = Random(11)
    wholes = {id: solvable(row) for id, row in by_id().items()}
    trees = [tree for whole in wholes.values() for tree in (whole["right"], *(regime["value"] for regime in whole["regimes"]))]
    trees += [form["tree"] for whole in wholes.values() for of_name in whole["roots"].values() for forms in of_name for form in forms or ()]
    read = 0
    for tree, one in zip(trees, told({"tree": tree} for tree in trees), strict=True):
        assert one["latex"].count("{") == one["latex"].count("}") and one["latex"].count(r"\left(") == one["latex"].count(r"\right)")
        found = re.sub(r"\b(max|min|ln)\(", lambda call: CALLED[call[0]], one["text"])
        at = {name: QUANTITIES[name].at(random.uniform(0.4, 0.6)) for name in names(tree)}
        expected = evaluate(tree, at)
        if re.search(r"\d\.\d|e[+-]\d", found) or isnan(expected):
            continue  # a root may have no value at numbers that are drawn each by itself
        expression = as_expression(found)
        value = complex(expression.evalf(30, subs={symbol: at[symbol.name] for symbol in expression.free_symbols}))
        assert value.real == pytest.approx(expected, rel=1e-6, abs=1e-300), one["text"]
        read += 1
    assert read > 0.9 * len(trees)


IN_ANOTHER_FORM = {
    "experts.busiest_chip": "SymPy has no brackets around a logarithm that is raised",
    **dict.fromkeys(
        ("training.tradeoff_cost", "training.loss_law", "training.fixed_loss_optimum"), "SymPy leaves a power of a quantity above the line"
    ),
}


def test_equations_are_written_as_at_the_command_line() -> None:
    rows = [row for id, row in by_id().items() if id not in IN_ANOTHER_FORM]
    mine = [one["latex"] for one in told({"tree": solvable(row)["right"]} for row in rows)]
    assert [(row.id, text) for row, text in zip(rows, mine, strict=True) if not row.latex.endswith(f" {text}")] == []


def test_values_are_written_as_at_the_command_line() -> None:
    random = Random(5)
    values = [(name, row.at(random.random())) for name, row in QUANTITIES.items() for _ in range(2)]
    assert told({"name": name, "value": value} for name, value in values) == [value_in_latex(name, value) for name, value in values]
