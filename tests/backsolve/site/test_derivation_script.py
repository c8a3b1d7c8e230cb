"""What the pages write to be pasted is what the command line writes: closed forms in symbols, and values."""

from random import Random

import pytest

from backsolve.site.formulas import quantities_data, solvable
from campaigns.solver_script import NODE, SCRIPT
from derive.catalogue import by_id
from derive.quantities import QUANTITIES
from derive.quantities.formula import tree_in_latex
from derive.show.typeset import value_in_latex
from tests.tools.line_by_line import answering
from tests.tools.together import some

pytestmark = pytest.mark.skipif(NODE is None, reason="node, which runs the script of the pages, is not there")


def test_closed_forms_and_values_are_written_as_at_the_command_line() -> None:
    random = Random(5)
    values = [(name, row.at(random.random())) for name, row in QUANTITIES.items()]
    roots = [root for row in some(by_id().values(), every=4) for root in solvable(row)["roots"].values()]
    forms = [form for regimes in roots for found in regimes for form in found or ()]
    with answering(SCRIPT.with_name("derivation_script.js")) as ask:
        ask(quantities_data())
        assert [ask({"name": name, "value": value}) for name, value in values] == [value_in_latex(name, value) for name, value in values]
        assert [ask({"latex": form["latex"]}) for form in forms] == [tree_in_latex(form["tree"]) for form in forms]
