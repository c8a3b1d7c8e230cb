"""Questions about consistent states of the whole catalogue: the state's value, an interval that holds it, or a refusal."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from tests.tools.campaign import FALSE, QUESTIONS, ended
from tests.tools.states import questions, states

STATES = 8
"""Six hundred in `.ci/long`."""

LONGEST = 10.0
"""Seconds of processor time that no question takes, five times what the campaign allows: a shared machine has slow hours."""


@pytest.mark.slow
def test_no_question_about_a_state_has_a_false_answer():
    random = Random(20261121)
    ends: Counter[str] = Counter()
    for state in islice(states(random), STATES):
        for asked in questions(random, state, QUESTIONS):
            end = ended(asked, LONGEST)
            assert not end.startswith(FALSE), (end, asked)
            ends[end] += 1
    assert ends["right"] > 0.3 * STATES * QUESTIONS, "a good part of the questions has an answer"


def test_the_same_state_is_drawn_again():
    first, second = (next(states(Random(1))) for _ in range(2))
    assert first.values == second.values and first.using == second.using
    assert all(not row.violated(first.values) for row in first.rows)
