"""A question put together by somebody who tries: givens come and go, one is mistyped, and every answer is that of the state behind them."""

from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from campaigns.campaign import FALSE, ask, ended
from campaigns.states import Asked, State, questions, states, untrue_defaults
from derive import solve
from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.solving.result import Solution
from tests.derive.solving.test_any_state import LONGEST

DRAWS = st.randoms(use_true_random=False)


@cache
def some_states() -> tuple[State, ...]:
    return tuple(islice(states(Random(20261123)), 4))


class Questions(RuleBasedStateMachine):
    """A state of the catalogue, what is given of it, and what was answered so far."""

    @initialize(state=st.deferred(lambda: st.sampled_from(some_states())), random=DRAWS)
    def begin(self, state: State, random: Random) -> None:
        self.state, self.answered = state, {}
        self.turn_to_another(random)

    @rule(random=DRAWS)
    def turn_to_another(self, random: Random) -> None:
        (asked,) = questions(random, self.state, 1)
        self.unknown, self.given = asked.unknown, {*asked.given}

    def asked(self) -> Asked:
        """The question, with all that would be supposed otherwise than the state has it."""
        chosen = self.given - {self.unknown}
        while untrue := untrue_defaults(self.state, self.unknown, chosen):
            chosen |= untrue
        return Asked(self.state, self.unknown, {name: self.state.values[name] for name in sorted(chosen)})

    @rule(random=DRAWS, count=st.integers(1, 8))
    def give(self, random: Random, count: int) -> None:
        """What an equation of the unknown takes, or anything."""
        near = [name for row in self.state.rows if self.unknown in row.symbols for name in row.symbols]
        self.given |= {random.choice(near if near and random.random() < 0.7 else sorted(self.state.values)) for _ in range(count)}

    @precondition(lambda self: self.given)
    @rule(random=DRAWS)
    def withdraw(self, random: Random) -> None:
        self.given -= {random.choice(sorted(self.given))}

    @precondition(lambda self: self.given)
    @rule(random=DRAWS)
    def turn_it_round(self, random: Random) -> None:
        """What was asked is given, and one of the givens to be found."""
        before, self.unknown = self.unknown, random.choice(sorted(self.given))
        self.given |= {before}

    @rule()
    def ask(self) -> None:
        asked = self.asked()
        assert not ended(asked, LONGEST).startswith(FALSE), asked
        self.keep(asked, ask(asked))

    @rule(random=DRAWS)
    def ask_in_another_order(self, random: Random) -> None:
        asked = self.asked()
        order = random.sample(sorted(asked.given), len(asked.given))
        self.keep(asked, ask(Asked(self.state, self.unknown, {name: asked.given[name] for name in order})))

    @rule(random=DRAWS, times=st.sampled_from([0.5, 3.0]))
    def mistype_one(self, random: Random, times: float) -> None:
        """A value that is not the state's may be refused or answered otherwise; the right question is then answered as before."""
        asked = self.asked()
        if not asked.given:
            return
        before, name = ask(asked), random.choice(sorted(asked.given))
        row, wrong = QUANTITIES[name], asked.given[name] * times
        low, high = row.limits()
        if low <= wrong <= high:
            # More of a part than of its whole, or less than a sequence as a batch, is refused as such.
            with suppress(WrongValue):
                solve(asked.unknown, using=self.state.using, variants=self.state.variants, **{**asked.given, name: wrong})
        self.keep(asked, before)
        self.keep(asked, ask(asked))

    def keep(self, asked: Asked, solution: Solution) -> None:
        """The values, which a question has once and for all; a state that is refuted was none."""
        assert solution.answers or solution.reason.code != "contradiction", asked
        values = tuple(sorted(one.value if one.kind == "point" else one.low for one in solution.answers))
        before = self.answered.setdefault((asked.unknown, frozenset(asked.given)), values)
        assert values == pytest.approx(before, rel=1e-9), asked


Questions.TestCase.settings = settings(max_examples=30, stateful_step_count=12, derandomize=True, deadline=None)
test_whatever_is_asked_one_after_another = pytest.mark.slow(Questions.TestCase)


def test_an_answer_that_is_not_the_states_is_found_out():
    machine, random = Questions(), Random(1)
    machine.begin(some_states()[0], random)
    while not (solution := ask(machine.asked())).answers:
        machine.turn_to_another(random)
    machine.keep(machine.asked(), solution)
    true, machine.state = machine.state, replace(machine.state, values={**machine.state.values, machine.unknown: 1e-30})
    with pytest.raises(AssertionError):
        machine.ask()
    machine.state = true
    with pytest.raises(AssertionError):
        machine.keep(machine.asked(), replace(solution, answers=(replace(solution.answers[0], value=1e-30),)))
