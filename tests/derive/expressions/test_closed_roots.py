"""Closed forms without SymPy: roots where SymPy has them, and the same ones."""

import pytest

from derive.catalogue import by_id
from derive.evaluate import evaluate
from derive.expressions.branches import branches
from derive.expressions.closed_roots import closed_roots, single_root
from derive.quantities import quantity
from derive.trees import text, tree_of
from tests.tools.together import some

ROOTS = [  # height, of which quantity, where it is nothing
    ("batch*chips - chips - replicas", "chips", ["replicas/(batch - 1)"]),
    ("mfu/batch - chips", "batch", ["mfu/chips"]),
    ("batch**2 - 8*chips*batch + 12*chips**2", "batch", ["2*chips", "6*chips"]),
    ("batch**2 - 2*chips*batch + chips**2", "batch", ["chips"]),
    ("batch*(batch - chips)", "batch", ["0", "chips"]),
    ("mfu*sqrt(batch) - chips", "batch", ["chips**2/mfu**2"]),
    ("experts*(1 - mfu**batch) - chips", "batch", ["log((-chips + experts)/experts)/log(mfu)"]),
    ("mfu*log(batch) - chips", "batch", ["exp(chips/mfu)"]),
    ("mfu*exp(batch) - chips", "batch", ["log(chips/mfu)"]),
    ("(1 + batch)**mfu - chips", "batch", ["chips**(1/mfu) - 1"]),
    ("batch**3 - chips", "batch", ["chips**(1/3)"]),
    ("batch + sqrt(batch) - chips", "batch", None),
    ("batch**3 + batch - chips", "batch", None),
    ("batch**batch - chips", "batch", None),
    ("chips - mfu", "batch", []),
]  # fmt: skip


@pytest.mark.parametrize(("height", "unknown", "expected"), ROOTS)
def test_where_a_formula_is_nothing(height, unknown, expected):
    found = closed_roots(tree_of(height), unknown)
    assert (found if found is None else [text(simple) for simple in found]) == expected


def test_what_may_have_two_roots_has_no_single_one():
    assert single_root(tree_of("batch**2 - 8*chips*batch + 12*chips**2"), "batch") is None
    assert single_root(tree_of("batch**2 - chips"), "batch") == (("sqrt", "chips"),)


def test_equations_have_the_roots_that_sympy_found():
    """Closed forms of the table of formulas, at one point each."""
    for row in some(by_id().values(), every=9):
        at = {name: quantity(name).at(0.4 + 0.01 * place) for place, name in enumerate(row.symbols)}
        for name in row.symbols:
            for branch in branches(row, name):
                if branch.absent or branch.roots is None:
                    continue
                stored, made = ([evaluate(root, at) for root in roots] for roots in (branch.roots, closed_roots(branch.difference, name)))
                assert sorted(made, key=str) == pytest.approx(sorted(stored, key=str), rel=1e-6, abs=1e-6, nan_ok=True), (row.id, name)
