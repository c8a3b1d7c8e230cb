"""Closed forms without SymPy: roots where SymPy has them, and the same ones."""

import pytest

from derive.expressions.closed_roots import closed_roots
from derive.trees import text, tree_of

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
