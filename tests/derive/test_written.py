"""What the catalogue says is recorded as it is written: with numbers it comes to the same as the relation itself."""

import pytest

from derive.catalogue import by_id
from derive.catalogue.arithmetic import logarithm, maximum, minimum, power
from derive.quantities import quantity
from derive.records import in_place, solved_claim
from derive.requirements import compared, named
from derive.trees import text, value_of
from derive.written import argument_names, tree_of_function
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


def test_every_operation_is_recorded():
    def all_of_them(a, b):
        return -a + 1 - b * 2 / 3**a, 1 + a, 2 * b, 1 / a, 1 - b, a**2, maximum(a, 1), minimum(1, b), logarithm(a), power(b, 2, 3)

    assert [text(one) for one in tree_of_function(all_of_them)] == [
        *("-a + 1 - b*2/3**a", "1 + a", "2*b", "1/a", "1 - b", "a**2", "Max(a, 1)", "Min(1, b)", "log(a)", "b**(2/3)"),
    ]
    assert tree_of_function(lambda a, b: a >= b) == (">=", "a", "b") and tree_of_function(lambda a: a < 1) == ("<", "a", 1)
    assert tree_of_function(lambda a, b: a <= 2 * b) == ("<=", "a", ("*", 2, "b"))


def test_the_names_are_the_parameters_that_are_left():
    assert argument_names(lambda batch, chips: batch / chips) == ("batch", "chips")
    assert argument_names(in_place(lambda batch, chips, layers: batch / chips, {"chips": 8, "layers": "batch"})) == ("batch",)
    claim = solved_claim(lambda memory_time, kv_time: (memory_time, kv_time), "kv_time", "memory_time")
    assert argument_names(claim) == ("kv_time", "memory_time")
