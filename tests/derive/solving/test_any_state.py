"""Questions about consistent deployments: the true value, an interval that contains it, or a refusal."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from campaigns.generated_questions import Deployment, Question, ask, deployment_of, question_of
from derive import solve
from derive.errors import WrongValue

SEED, NUMBERS = 6, range(16, 32)
"""The questions about one deployment; two thousand in `.ci/long`."""


@pytest.fixture(scope="module")
def deployment() -> Deployment:
    return deployment_of(SEED, NUMBERS.start // len(NUMBERS))


def values_of(question: Question) -> list[float]:
    """Return the values of a question as the program answers it now."""
    return sorted(one.ends[0] for one in ask(question)[1].answers)


@pytest.mark.slow
def test_an_answer_depends_neither_on_the_order_of_facts_nor_on_earlier_questions(deployment: Deployment):
    random, compared = Random(1), 0
    for number in NUMBERS[::2]:
        question = question_of(SEED, number, deployment)
        before, facts = values_of(question), [*question.facts.items()]
        name, (sign, value) = random.choice(facts)
        with suppress(WrongValue):
            ask(replace(question, facts={**question.facts, name: (sign, 2 * value)}))
        assert values_of(replace(question, facts=dict(random.sample(facts, len(facts))))) == pytest.approx(before, rel=1e-9), number
        compared += bool(before)
    assert compared > 3


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("fleet_throughput", {"batch": 64, "step_time": "20ms", "fleet_cost": "10k USD", "chip_price": "2 USD/h", "chips": 8}),
        ("weight_time", {"hardware": "H100:fp8", "total_params": "100B", "active_params": "10B", "experts": 64, "active_experts": 8}),
    ],
)
def test_a_given_that_speaks_against_what_is_taken_is_not_left_aside(asked: str, given: dict[str, object]):
    """With one replica or with all experts read there would be an answer, and a wrong one."""
    assert solve(asked, **given).reason.code == "missing_givens"
