"""Every entry of the catalogue is worked once with digits: they are what its right side makes of them, and lead back."""

import re
from dataclasses import replace
from decimal import Decimal
from math import isclose

import pytest

from derive.catalogue import by_id, equation
from derive.quantities import symbol
from derive.records import Equation
from derive.solving.engine.one_equation import solve_equation
from derive.solving.result import Answer
from derive.units import parse
from tests.tools.compiled import scalar
from tests.tools.together import in_one_test, some

ROWS = tuple(by_id().values())
ALL = [pytest.param(row, id=row.id) for row in ROWS]
DIGITS = 4
FIGURE = re.compile(r"[0-9.]+(e[+-]?[0-9]+)?")


def read(row: Equation) -> tuple[dict[str, float], float]:
    """What an example gives [SI], and what the right side of its equation makes of it, unrounded."""
    given = {name: parse(name, text) for name, text in row.example.items()}
    return given, float(row.right_side(given))


def figure(text: str) -> Decimal:
    """The figure before a unit."""
    return Decimal(FIGURE.match(text)[0])


def half_of_the_last_digit(name: str, text: str) -> float:
    """Half a unit of the fourth digit of a figure, in the unit that it is written in [SI]."""
    written = figure(text)
    return float(Decimal(10) ** (written.adjusted() - DIGITS + 1) / 2 / written) * parse(name, text)


def is_right(row: Equation) -> bool:
    """Whether the result is what its right side comes to, to four digits."""
    found, text = read(row)[1], row.result
    return abs(parse(row.symbols[0], text) - found) <= half_of_the_last_digit(row.symbols[0], text) * (1 + 1e-9)


def slopes(row: Equation, values: dict[str, float]) -> dict[str, float]:
    """How the right side moves with each quantity on it, per percent of it; what has no effect is left out."""
    right = row.sides[1]
    at = {name: right.diff(symbol(name)) * symbol(name) / right for name in row.symbols[1:]}
    found = {name: abs(scalar(slope, row.symbols[1:])(*(values[name] for name in row.symbols[1:]))) for name, slope in at.items()}
    return {name: slope for name, slope in found.items() if slope > 1e-6}


def leads_back(answers: tuple[Answer, ...], value: float, share: float) -> bool:
    """Whether one of the answers is a value, or begins or ends there."""
    ends = [end for one in answers for end in (one.value, one.low, one.high) if end is not None]
    return any(isclose(end, value, rel_tol=share) for end in ends)


@in_one_test("row", some(ALL, 6))
def test_an_example_is_what_its_equation_says_and_leads_back_to_each_of_its_givens(row):
    assert row.result, "an entry is worked once"
    assert list(row.example) == list(row.symbols[1:]), "it gives all that stands on the right"
    given, found = read(row)
    assert is_right(row), f"{row.result}, where the right side is {found:.6g}"
    assert len(figure(row.result).normalize().as_tuple().digits) <= DIGITS
    values = {**given, row.symbols[0]: found}
    assert row.violated(values) == [], "the equation may be used there"
    moving = slopes(row, given)
    assert moving, "nothing that it gives has an effect"
    for name, slope in moving.items():
        answers, reason = solve_equation(row, name, values)
        assert leads_back(answers, given[name], 1e-9 * max(1, 1 / slope)), (name, given[name], answers, reason)


def test_no_example_is_of_ones():
    """A count, a share or a factor of one hides whether it multiplies or divides; a byte is what fp8 stores a number in."""
    given = [(row.id, name, text) for row in ROWS for name, text in row.example.items() if "bytes" not in name]
    ones = {f"{id} {name}" for id, name, text in given if parse(name, text) == 1}
    assert ones == {"cache.storage_price_from_lifetimes longer_cache_write_premium"}, "twice the input price, as published"


def test_a_digit_that_is_wrong_is_seen():
    row = equation("roofline.compute_time")
    assert row.result == "3.274 ms"
    for wrong in ("3.275 ms", "3.27 ms", "3.3 ms", "6.547 ms"):
        assert not is_right(replace(row, result=wrong))
