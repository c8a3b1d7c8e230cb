"""What an equation requires: where it is met, where it is met but for rounding, and what it says in the terms of SymPy."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Ge, Le, true

from derive.catalogue import by_id
from derive.catalogue.arithmetic import maximum
from derive.quantities import QUANTITIES, symbol
from derive.requirements import HOLDS, Requirement, as_relation, at_its_bound, bounding_sides, met, named
from tests.tools.together import in_one_test

WITHIN = Requirement(holds=lambda active_experts, experts: active_experts <= experts)
BELOW = Requirement(holds=lambda active_experts, experts: active_experts < experts)
LARGEST = Requirement(holds=lambda batch, chips: batch >= maximum(chips, 8))
ALWAYS = Requirement(holds=lambda batch: batch > 0)
POWER = Requirement(holds=lambda overlap, batch: (overlap - 1) ** batch >= 0)


@given(st.floats(1, 1e6), st.floats(-5, 5))
def test_what_may_be_equal_is_met_a_billionth_beyond_its_bound_and_no_further(experts: float, billionths: float):
    values = {"experts": experts, "active_experts": experts * (1 + billionths * 1e-9)}
    if abs(abs(billionths) - 1) > 1e-3:
        assert met(WITHIN, values) == (billionths < 1)
        assert at_its_bound(WITHIN, values) == (abs(billionths) < 1)
    assert met(BELOW, values) == (values["active_experts"] < experts), "what must be less has no room"
    assert not at_its_bound(BELOW, values)


def test_a_bound_of_several_quantities_is_met_at_the_one_that_binds():
    assert met(LARGEST, {"batch": 8 * (1 - HOLDS / 2), "chips": 2}) and met(LARGEST, {"batch": 20 * (1 - HOLDS / 2), "chips": 20})
    assert not met(LARGEST, {"batch": 8 * (1 - 3 * HOLDS), "chips": 2}) and not met(LARGEST, {"batch": 8, "chips": 20})


def test_a_bound_of_one_quantity_has_room_above_it_and_below():
    at_most, at_least = Requirement(holds=lambda batch: batch <= 8), Requirement(holds=lambda batch: batch >= 8)
    for side in (1, -1):
        assert met(at_most, {"batch": 8 * (1 + side * HOLDS / 2)}) and met(at_least, {"batch": 8 * (1 + side * HOLDS / 2)})
        assert met(at_most, {"batch": 8 * (1 + side * HOLDS * 1.5)}) == (side < 0)
        assert met(at_least, {"batch": 8 * (1 + side * HOLDS * 1.5)}) == (side > 0)


def test_what_cannot_be_compared_is_not_met():
    assert met(POWER, {"overlap": 0.5, "batch": 2.0}) and not met(POWER, {"overlap": 0.5, "batch": 0.5}), "a root of what is below zero"
    assert not met(Requirement(holds=lambda batch: 10.0**batch > 1), {"batch": 1e9}), "a power that overflows"


def test_as_sympy_has_it():
    assert as_relation(WITHIN) == Le(symbol("active_experts"), symbol("experts"))
    assert as_relation(ALWAYS) == true, "every batch is positive"
    assert bounding_sides(WITHIN) == ("active_experts", "experts")
    assert bounding_sides(BELOW) is bounding_sides(ALWAYS) is None


def drawn_near(name: str, random: Random) -> float:
    """A value that is met in practice, or one half as far beyond; now and then nothing, where that is a value."""
    nothing = QUANTITIES[name].may_be_zero and random.random() < 0.1
    return 0.0 if nothing else max(QUANTITIES[name].at(random.uniform(-0.5, 1.5)), 0.0)


@in_one_test("row", [pytest.param(row, id=row.id) for row in by_id().values() if row.requires])
def test_what_an_entry_requires_is_met_by_some_values_and_not_by_all(row):
    random = Random(row.id)
    drawn = [{name: drawn_near(name, random) for name in row.symbols} for _ in range(400)]
    for requirement in row.requires:
        assert set(named(requirement)) <= set(row.symbols)
        assert {met(requirement, values) for values in drawn} == {True, False}, named(requirement)
        assert bounding_sides(requirement) is None or isinstance(as_relation(requirement), Ge | Le)
