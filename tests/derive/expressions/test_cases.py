"""A Max or a Min is cut into its regimes, and each is the whole where its terms win."""

from math import isnan
from random import Random

import pytest

from derive.catalogue import by_id
from derive.evaluate import evaluate
from derive.expressions.branches import regimes_of
from derive.expressions.cases import Regime, smooth_cases
from derive.quantities import quantity
from derive.trees import names, tree_of


def test_every_equation_has_as_many_regimes_as_sympy_finds_and_is_one_of_them_anywhere():
    random = Random(3)
    for row in by_id().values():
        right = row.trees[1]
        found = smooth_cases(right)
        assert len(found) <= len(regimes_of(row)), row.id
        at = {name: quantity(name).at(random.uniform(0.2, 0.8)) for name in sorted(names(right))}
        there = [one for one in found if not any(evaluate(larger, at) < evaluate(smaller, at) for larger, smaller in one.wins)]
        whole = evaluate(right, at)
        assert isnan(whole) or evaluate(there[0].expression, at) == pytest.approx(whole, rel=1e-9), row.id


def test_no_regime_contradicts_itself():
    found = smooth_cases(tree_of("Max(batch, chips) - Min(batch, chips)"))
    assert {one.wins for one in found} == {(("batch", "chips"),), (("chips", "batch"),)}
    assert smooth_cases(tree_of("batch*chips")) == (Regime(tree_of("batch*chips")),)
