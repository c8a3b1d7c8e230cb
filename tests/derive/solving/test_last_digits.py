"""Answers of single equations against a referee that works with 80 digits: in practice, far beyond it, and at crossovers."""

from collections import Counter
from dataclasses import replace

import pytest

from derive.solving.one_equation import agrees, solve_equation
from tests.tools import referee
from tests.tools.referee import KINDS, cases, verdict

CASES = 300


@pytest.mark.slow
def test_no_root_is_missing_none_is_wrong_and_all_have_their_digits():
    asked = list(cases(CASES, seed=20261121))
    ends = [(case, verdict(case)) for case in asked]
    faults = [(case, end) for case, end in ends if not end.startswith("right")]
    assert not faults, (len(faults), faults[0])
    assert sum(end == "right" for _, end in ends) > 0.98 * CASES, "most questions have an answer"
    assert min(Counter(case.kind for case in asked)[kind] for kind in KINDS) > CASES / 6


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda answers: (), "missing"),
        (lambda answers: [replace(one, value=one.value * (1 + 1e-8)) for one in answers], "missing"),
        (lambda answers: [*answers, replace(answers[0], value=answers[0].value * 3)], "wrong"),
        (lambda answers: [*answers, answers[0]], "twice"),
    ],
    ids=["no answer", "another one", "one more", "the same again"],
)
def test_the_referee_sees_what_is_wrong(monkeypatch, spoil, fault):
    def spoilt(*question):
        answers, reason = solve_equation(*question)
        return spoil(answers), reason

    # At a crossover the digits given may leave no root, and then none is missing.
    asked = [case for case in cases(60, seed=3) if case.kind != "crossover" and _are_points(case)]
    monkeypatch.setattr(referee, "solve_equation", spoilt)
    monkeypatch.setattr(referee, "message", lambda reason: "")
    ends = Counter(verdict(case).split(":")[0] for case in asked)
    assert len(asked) > 20 and ends[fault] == len(asked), ends


def _are_points(case) -> bool:
    answers, _ = solve_equation(case.equation, case.unknown, case.given)
    return bool(answers) and all(one.kind == "point" and sum(map(abs, one.elasticities.values())) < 100 for one in answers)


def test_numbers_that_meet_an_equation_agree_with_it_and_others_do_not():
    for case in cases(200, seed=4):
        values = {**case.given, case.unknown: case.drawn}
        if case.kind != "crossover":
            assert agrees(case.equation, values, 1e-12), case
            left = case.equation.symbols[0]
            assert not agrees(case.equation, {**values, left: 2 * values[left]}, 1e-6), case
