"""Trees are read from what SymPy prints, print it again, and come to what SymPy makes of it."""

import pytest

from derive.catalogue import by_id
from derive.trees import slopes, text, tree_of, value_of
from tests.tools.derivation_check import in_sympy
from tests.tools.together import in_one_test

WRITTEN = (
    "-a**2",
    "(-a)**b",
    "a**(-b)",
    "a**(1/3)",
    "-2*a*(b - c)",
    "a - (b - c)",
    "1/(a*b)",
    "a/b*c",
    "sqrt(a + 1)",
    "Max(a, -b)",
    "-(a + b)",
)


@in_one_test("id", by_id())
@in_one_test("place", [0, 1])
def test_what_sympy_prints_is_printed_again(id, place):
    row = by_id()[id]
    side = in_sympy(row.relation)[place]
    assert row.sides[place] == side and text(tree_of(str(side))) == str(side)


@pytest.mark.parametrize("said", WRITTEN)
def test_what_a_person_writes_is_printed_again(said):
    values = {"a": 2.0, "b": 3.0, "c": 5.0}
    assert text(tree_of(said)) == said and value_of(tree_of(said), values) == eval(said, {"sqrt": lambda x: x**0.5, "Max": max, **values})


@pytest.mark.parametrize("said", ["a and b", "f(a)", "a.b", "a[0]", "__import__('os')", "a if b else c", "'a'", "lambda: a", "a @ b"])
def test_what_is_no_formula_is_not_read(said):
    with pytest.raises(ValueError, match="not a formula of quantities"):
        tree_of(said)


def test_the_largest_term_alone_moves_the_largest():
    assert slopes(tree_of("Max(2*a, b)"), {"a": 1.0, "b": 1.0}) == (2.0, {"a": 2.0, "b": 0.0})
