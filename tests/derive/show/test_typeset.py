"""Steps in LaTeX hold the equation, what follows from it, the numbers and the value, and say the unit of each."""

import re

import pytest

from derive import solve
from derive.quantities import QUANTITIES
from derive.show.text import render
from derive.show.typeset import substitute_in_latex, value_in_latex
from derive.units import scale, show
from tests.tools.together import in_one_test


@in_one_test("name", QUANTITIES)
def test_every_value_keeps_figure_and_unit(name: str):
    row = QUANTITIES[name]
    for value in (row.low, (row.low * row.high) ** 0.5, row.high):
        text = value_in_latex(name, value)
        size, unit = scale(name, value)
        found = re.fullmatch(r"([0-9.]+)(?: \\cdot 10\^\{(-?[0-9]+)\})?(?:\\,(\\mu)?\\text\{(.*)\})?", text)
        assert found, (show(name, value), text)
        counted = {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(unit[:1], 1.0) if size != 1 and not unit.startswith(" ") else 1.0
        assert float(found[1]) * 10 ** int(found[2] or 0) == pytest.approx(value / size * counted, rel=1e-3)


def test_what_is_raised_to_a_power_is_in_brackets():
    assert substitute_in_latex("batch**2*chips", {"batch": 2e9, "chips": 3}) == r"\left(2 \cdot 10^{9}\right)^{2} \cdot 3"
    assert substitute_in_latex("step_time**2*chips**2", {"step_time": 0.01, "chips": 3}) == r"\left(10\,\text{ms}\right)^{2} \cdot 3^{2}"
    assert substitute_in_latex("step_time/batch", {"step_time": 0.01, "batch": 4}) == r"\frac{10\,\text{ms}}{4}"


def test_what_is_no_point_is_between_its_ends_and_ranges_say_where_the_steps_are():
    assert r"t_m \leq 10\,\text{ms} \quad \text{(compute-bound)}" in render(
        solve("memory_time", compute_time=0.01, attention_time=0, step_time=0.01), "latex"
    )
    spanned = solve("balance_batch", machine_balance_ratio=300, sparsity="4..8")
    assert r"\text{at} \quad s = 6" in render(spanned, "latex") and r"1200 \leq B^{\star} \leq 2400" in render(spanned, "latex")
    assert r"$s = 4 \text{ to } 8$" in render(spanned, "markdown")


def test_an_answer_that_is_not_there_has_no_givens():
    assert "Given" not in render(solve("batch", step_time=0.001, compute_time=0.01), "latex")
