"""Compare answers of single equations with roots in 120 digits: in practice, far beyond it, and at crossovers."""

from random import Random

from campaigns import precision
from derive.solving.engine.one_equation import sides_agree

ASKED = 250
"""Of the fifty thousand in `.ci/long`."""


def test_numbers_that_meet_an_equation_agree_with_it_and_others_do_not():
    random = Random(4)
    for equation, name in precision.PAIRS[::10]:
        for case in precision.cases(equation, name, ("usual",), random):
            values = {**case.given, case.unknown: case.drawn}
            assert sides_agree(case.equation, values, 1e-12), case
            left = case.equation.symbols[0]
            assert not sides_agree(case.equation, {**values, left: 2 * values[left] or 0.5}, 1e-6), case


def test_over_sixty_orders_of_magnitude_and_beside_crossovers_answers_have_their_digits():
    found = precision.campaign(precision.KINDS, ASKED, seed=20261123)
    assert sum(number for end, number in found.items() if "right" not in end) == 0, found
    assert sum(number for end, number in found.items() if end.endswith(" right")) > 0.7 * ASKED, "most questions have an answer"
