"""Questions about consistent states of the whole catalogue: the state's value, an interval that holds it, or a refusal."""

from itertools import islice
from random import Random
from time import process_time

import pytest
from states import Asked, holds_the_state, questions, states

from derive import solve
from derive.solutions import Solution

STATES = 50
QUESTIONS = 10
SLOW = 2.0
"""Seconds of processor time above which a question takes too long."""

CANCELS = " cancels: "


def ask(asked: Asked, **more: float) -> Solution:
    return solve(asked.unknown, using=asked.state.using, variants=asked.state.variants, **{**asked.given, **more})


@pytest.mark.slow
def test_no_question_about_a_state_has_a_false_answer():
    random = Random(20261121)
    for state in islice(states(random), STATES):
        for asked in questions(random, state, QUESTIONS):
            start = process_time()
            solution = ask(asked)
            assert process_time() - start < SLOW, asked
            assert bool(solution.answers) != bool(solution.reason), asked
            assert not solution.answers or holds_the_state(asked, solution.answers), (asked, solution.answers)
            assert_what_cancels_does_not_matter(asked, solution)


def assert_what_cancels_does_not_matter(asked: Asked, solution: Solution) -> None:
    """What is said to cancel, given as in the state, leaves the answer where it was."""
    for name in (text.split(CANCELS)[0] for text in solution.assumptions if CANCELS in text):
        if name in asked.state.values:
            again = ask(asked, **{name: asked.state.values[name]})
            assert holds_the_state(asked, again.answers), (asked, name, again.answers, again.reason)


def test_the_same_state_is_drawn_again():
    first, second = (next(states(Random(1))) for _ in range(2))
    assert first.values == second.values and first.using == second.using
    assert all(row.sense != "=" or not row.violated(first.values) for row in first.rows)
