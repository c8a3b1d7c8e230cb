"""A formula over one line is the same formula, and what cancels is gone from it."""

from random import Random

import pytest

from derive.catalogue import by_id
from derive.expressions.algebra import TooManyTerms, combine_fractions, is_positive, simplify, single_fraction
from derive.expressions.branches import regimes_of
from derive.quantities import quantity
from derive.trees import difference, evaluate, names, tree_of
from tests.tools.together import some


def test_a_formula_of_too_many_terms_stays_as_it_stands():
    names_of = [f"name_{number}" for number in range(90)]
    sums = [" + ".join(names_of[start : start + 30]) for start in (0, 30, 60)]
    long = tree_of(" * ".join(f"({one})" for one in sums))
    assert simplify(long) == long
    assert not is_positive(long)
    with pytest.raises(TooManyTerms):
        combine_fractions(long)


def test_formulas_of_the_catalogue_come_to_the_same_over_one_line():
    random = Random(5)
    for row in some(by_id().values(), every=5):
        for tree in (row.trees[1], *(regime.expression for regime in regimes_of(row))):
            at = {name: quantity(name).at(random.uniform(0.2, 0.8)) for name in sorted(names(tree))}
            assert evaluate(simplify(tree), at) == pytest.approx(evaluate(tree, at), rel=1e-9, nan_ok=True), row.id
            assert not single_fraction(difference(tree, simplify(tree))).above


def test_nothing_is_divided_by_nothing():
    with pytest.raises(ZeroDivisionError):
        single_fraction(tree_of("mfu/(batch - batch)"))


@pytest.mark.parametrize(
    ("written", "positive"),
    [("batch + sqrt(chips)", True), ("batch - chips", False), ("exp(batch - chips)/mfu", True), ("log(batch)", False), ("0", False)],
)
def test_what_is_positive_for_its_shape(written, positive):
    assert is_positive(tree_of(written)) == positive
