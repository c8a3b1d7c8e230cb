"""An equation from Python: put to numbers by name, shown as mathematics, and used only where its requirements are met."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Ge, Le, true

from derive import equation, symbols
from derive.catalogue import by_id
from derive.catalogue.arithmetic import maximum
from derive.errors import UnknownName, WrongUnit, WrongValue
from derive.quantities import QUANTITIES, symbol
from derive.records import HOLDS, Requirement
from tests.tools.together import in_one_test


def test_subs_refuses_what_is_not_in_the_equation():
    row = equation("roofline.kv_time")
    assert row.subs(batch=3, context_length=symbols.L).rhs == row.sides[1].subs(symbols.batch, 3)
    with pytest.raises(UnknownName, match="chip_price"):
        row.subs(chip_price=3)


def test_a_text_put_into_an_equation_is_read_as_a_value_and_never_run(capfd):
    row = equation("roofline.kv_time")
    with pytest.raises(WrongUnit, match="batch is a plain number"):
        row.subs(batch="__import__('os').system('echo it ran')")
    assert capfd.readouterr().out == ""
    assert row.subs(batch="3k").rhs == row.subs(batch=3000.0).rhs


@pytest.mark.parametrize("value", [None, True, [3], 3j, float("nan"), float("inf"), -3])
def test_what_a_quantity_cannot_be_is_not_put_into_an_equation(value):
    with pytest.raises(WrongValue, match="batch = "):
        equation("roofline.kv_time").subs(batch=value)


def test_nothing_at_all_may_be_put_into_an_equation_as_a_limit():
    assert equation("roofline.kv_time").subs(batch=0).rhs == 0


def test_an_equation_is_mathematics_in_a_notebook():
    assert equation("batching.ridge_point")._repr_latex_() == r"$\beta = \frac{F}{W}$"


def test_a_right_side_without_all_its_givens_names_the_missing_one():
    row = equation("roofline.memory_time")
    assert row.right_side({"weight_time": 1.0, "kv_time": 2.0}) == 3
    with pytest.raises(KeyError, match="kv_time"):
        row.right_side({"weight_time": 1.0})


WITHIN = Requirement(holds=lambda active_experts, experts: active_experts <= experts)
BELOW = Requirement(holds=lambda active_experts, experts: active_experts < experts)
LARGEST = Requirement(holds=lambda batch, chips: batch >= maximum(chips, 8))
ALWAYS = Requirement(holds=lambda batch: batch > 0)
POWER = Requirement(holds=lambda overlap, batch: (overlap - 1) ** batch >= 0)


@given(st.floats(1, 1e6), st.floats(-5, 5))
def test_what_may_be_equal_is_met_a_billionth_beyond_its_bound_and_no_further(experts: float, billionths: float):
    values = {"experts": experts, "active_experts": experts * (1 + billionths * 1e-9)}
    if abs(abs(billionths) - 1) > 1e-3:
        assert WITHIN.is_met(values) == (billionths < 1)
        assert WITHIN.is_at_bound(values) == (abs(billionths) < 1)
    assert BELOW.is_met(values) == (values["active_experts"] < experts), "what must be less has no room"
    assert not BELOW.is_at_bound(values)


def test_a_bound_of_several_quantities_is_met_at_the_one_that_binds():
    assert LARGEST.is_met({"batch": 8 * (1 - HOLDS / 2), "chips": 2}) and LARGEST.is_met({"batch": 20 * (1 - HOLDS / 2), "chips": 20})
    assert not LARGEST.is_met({"batch": 8 * (1 - 3 * HOLDS), "chips": 2}) and not LARGEST.is_met({"batch": 8, "chips": 20})


def test_a_bound_of_one_quantity_has_room_above_it_and_below():
    at_most, at_least = Requirement(holds=lambda batch: batch <= 8), Requirement(holds=lambda batch: batch >= 8)
    for side in (1, -1):
        assert at_most.is_met({"batch": 8 * (1 + side * HOLDS / 2)}) and at_least.is_met({"batch": 8 * (1 + side * HOLDS / 2)})
        assert at_most.is_met({"batch": 8 * (1 + side * HOLDS * 1.5)}) == (side < 0)
        assert at_least.is_met({"batch": 8 * (1 + side * HOLDS * 1.5)}) == (side > 0)


def test_what_cannot_be_compared_is_not_met():
    assert POWER.is_met({"overlap": 0.5, "batch": 2.0}) and not POWER.is_met({"overlap": 0.5, "batch": 0.5}), "a root of what is below zero"
    assert not Requirement(holds=lambda batch: 10.0**batch > 1).is_met({"batch": 1e9}), "a power that overflows"


def test_as_sympy_has_it():
    assert WITHIN.relation() == Le(symbol("active_experts"), symbol("experts"))
    assert ALWAYS.relation() == true, "every batch is positive"
    assert WITHIN.bounding_sides == ("active_experts", "experts")
    assert BELOW.bounding_sides is ALWAYS.bounding_sides is None


def drawn_near(name: str, random: Random) -> float:
    """A value that is met in practice, or one half as far beyond; now and then nothing, where that is a value."""
    nothing = QUANTITIES[name].may_be_zero and random.random() < 0.1
    return 0.0 if nothing else max(QUANTITIES[name].at(random.uniform(-0.5, 1.5)), 0.0)


@in_one_test("row", [pytest.param(row, id=row.id) for row in by_id().values() if row.requires])
def test_what_an_entry_requires_is_met_by_some_values_and_not_by_all(row):
    random = Random(row.id)
    drawn = [{name: drawn_near(name, random) for name in row.symbols} for _ in range(400)]
    for requirement in row.requires:
        assert set(requirement.names) <= set(row.symbols)
        assert {requirement.is_met(values) for values in drawn} == {True, False}, requirement.names
        assert requirement.bounding_sides is None or isinstance(requirement.relation(), Ge | Le)
