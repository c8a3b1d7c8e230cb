"""Trees are read from what SymPy prints and print it again. Numbers, arrays and fifty digits give the same value."""

from math import isnan

import numpy as np
import pytest
from mpmath import mp
from sympy import Max, log, sqrt

from derive.catalogue import by_id
from derive.quantities import symbol
from derive.quantities.formula import as_tree
from derive.trees import _DIGITS, arrays, evaluate, precise, precise_slopes, slopes, text, tree_of, value_of
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


B, N = symbol("batch"), symbol("chips")
SHAPES = (B / N + 1, Max(B, 2 * N) ** 2, sqrt(B) * log(1 + N), B**0 * 3)


@pytest.mark.parametrize(("expression", "at"), [(1 / B, 0.0), (log(B), -1.0), (sqrt(B - 2), 1.0), (Max(sqrt(B - 2), 1), 1.0)], ids=str)
def test_off_its_domain_an_expression_is_no_number(expression, at):
    tree = as_tree(expression)
    assert isnan(evaluate(tree, {"batch": at})) and isnan(precise(tree, {"batch": at}))


def test_many_digits_are_fifty_whatever_mpmath_is_set_to(monkeypatch):
    monkeypatch.setattr(mp, "dps", 5)
    third = precise(("/", 1, "batch"), {"batch": 3.0})
    assert abs(3 * third - 1) < 10.0 ** (1 - _DIGITS) and mp.dps == 5


FRACTION = tree_of("batch**2/(chips - 3) - 1/chips")


def test_off_its_domain_a_formula_is_no_number_and_without_a_quantity_it_has_no_slope():
    assert isnan(precise_slopes(FRACTION, {"batch": 1.0, "chips": 3.0})[0])
    assert precise_slopes(FRACTION, {"batch": 0.1, "chips": 7.0}, frozenset(["layers"]))[1] == {}


@pytest.mark.parametrize("expression", [*SHAPES[:1], *SHAPES[2:3], B**N / (1 + log(B)), 1 / (B - N) ** 2, sqrt(B * N) - B], ids=str)
def test_slopes_are_those_of_sympy(expression):
    """At numbers, at arrays and in fifty digits, by every quantity."""
    tree, values = as_tree(expression), {"batch": 2.5, "chips": 7.0}
    for name in ("batch", "chips"):
        theirs = float(expression.diff(symbol(name)).subs({B: 2.5, N: 7}))
        value, found = slopes(tree, {other: np.array([number]) for other, number in values.items()}, arrays(), frozenset([name]))
        assert value == pytest.approx(evaluate(tree, values), rel=1e-14) and found[name] == pytest.approx(theirs, rel=1e-12)
        assert float(precise_slopes(tree, values)[1][name]) == pytest.approx(theirs, rel=1e-14)
