"""Compare answers of single equations with roots in 120 digits: in practice, far beyond it, and at crossovers."""

from dataclasses import replace
from random import Random

import pytest

from campaigns import precision
from derive.catalogue import by_id
from derive.solving.engine.one_equation import sides_agree, solve_equation

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


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda answers: (), "missing"),
        (lambda answers: tuple(replace(one, value=one.point * (1 + 1e-10)) for one in answers), "missing"),
        (lambda answers: (*answers, replace(answers[0], value=3 * answers[0].point)), "wrong"),
        (lambda answers: (*answers, answers[0]), "twice"),
    ],
    ids=["none", "another", "one more", "the same again"],
)
def test_wrong_answers_are_seen(monkeypatch, spoil, fault):
    def solve_wrongly(*question):
        answers, reason = solve_equation(*question)
        return spoil(answers), reason

    equation = by_id()["roofline.compute_time"]
    asked = [one for name in equation.symbols for one in precision.cases(equation, name, ("usual",), Random(1))]
    right = [one for one in asked if precision.verdict(one) == "right"]
    monkeypatch.setattr(precision, "solve_equation", solve_wrongly)
    ends = {precision.verdict(one).partition(":")[0] for one in right}
    assert len(right) > 2 and ends == {fault}
