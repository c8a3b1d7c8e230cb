"""Questions about consistent states of the whole catalogue: the state's value, an interval that holds it, or a refusal."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from campaigns.campaign import FALSE, QUESTIONS, ask, ended
from campaigns.states import questions, states, untrue_defaults
from derive import solve

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


def test_a_true_given_more_turns_no_answer_into_a_refusal():
    """Nor do stand-ins contradict what is consistent."""
    random, more = Random(44), 0
    for state in islice(states(random), 2):
        for asked in questions(random, state, 12):
            answered = ask(asked)
            assert not answered.reason or answered.reason.code != "contradiction", (answered.reason, asked)
            name = random.choice(sorted(state.values.keys() - asked.given.keys() - {asked.unknown}))
            if not answered.answers or untrue_defaults(state, asked.unknown, {*asked.given, name}):
                continue
            again = ask(asked, **{name: state.values[name]})
            assert again.answers, (again.reason, asked, name)
            more += 1
    assert more > 5


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("throughput", {"batch": 64, "step_time": "20ms", "draft_tokens": 4}),
        ("fleet_throughput", {"batch": 64, "step_time": "20ms", "fleet_cost": "10k USD", "chip_price": "2 USD/h", "chips": 8}),
        ("weight_time", {"hardware": "H100:fp8", "total_params": "100B", "active_params": "10B", "experts": 64, "active_experts": 8}),
    ],
)
def test_a_given_that_speaks_against_what_is_taken_is_not_left_aside(asked: str, given: dict[str, object]):
    """Without drafts, with one replica or with all experts read there would be an answer, and a wrong one."""
    assert solve(asked, **given).reason.code == "missing_givens"
