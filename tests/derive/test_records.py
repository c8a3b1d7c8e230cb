"""An equation from Python: put to numbers by name, and shown as mathematics."""

import pytest

from derive import equation, symbols
from derive.errors import UnknownName, WrongUnit, WrongValue


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
