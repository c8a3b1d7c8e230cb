"""What the catalogue says is recorded as it is written: with numbers it comes to the same as the relation itself."""

import pytest

from derive.catalogue import by_id
from derive.quantities import quantity
from derive.requirements import compared, named
from derive.trees import value_of
from derive.written import tree_of_function
from tests.tools.together import in_one_test

ROWS = [pytest.param(row, id=row.id) for row in by_id().values()]


@in_one_test("row", ROWS)
def test_a_relation_comes_to_the_same_as_its_tree(row):
    values = {name: quantity(name).at(0.3 + 0.01 * place) for place, name in enumerate(row.symbols)}
    left, right = tree_of_function(row.relation)
    assert left == row.symbols[0]
    try:
        expected = row.right_side(values)
    except ArithmeticError:
        return
    if not isinstance(expected, complex):
        assert value_of(right, values) == pytest.approx(expected, rel=1e-12)
    for needed in row.requires:
        sign, larger, smaller = tree_of_function(needed.holds)
        held = {">=": float.__ge__, ">": float.__gt__, "<=": float.__le__, "<": float.__lt__}[sign]
        known = {name: values[name] for name in named(needed)}
        assert held(float(value_of(larger, known)), float(value_of(smaller, known))) == bool(compared(needed, known))
