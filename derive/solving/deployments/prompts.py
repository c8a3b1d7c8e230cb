"""An answer for decode alone, with the same answer if the same chips also compute the prompts."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from derive.answers import DECODE_ALONE
from derive.catalogue import by_id, equation
from derive.errors import WrongValue
from derive.roles import BETTER, DecodeStep, Prompts, Replica, Tokens
from derive.solving.checks.targets import better_side, is_within
from derive.solving.engine.engine import are_equal
from derive.solving.limits.limits import NotMadeOf
from derive.solving.question.conventions import Switches, variant_of_prompts
from derive.solving.question.givens import is_limit
from derive.solving.question.propagation import results_of
from derive.solving.result import Solution

_TOGETHER = "prompts are on the chips that decode, because decode alone leads to no answer"
_PAID_ANYWAY = "prompts are on the chips that decode, which are paid for this rate anyway. Chips of their own would cost more"
_OF_A_STEP = f"the limit on {DecodeStep.time} is for decode alone. With prompts between the steps a user waits longer for a token"

_Ask = Callable[[Mapping[str, Any], Switches], Solution]
"""A question about the unknown: the givens by name, and the switches."""


def answer_beside_prompts(ask: _Ask, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return the answer. If it is for decode alone, also the answer with prompts on the same chips.

    It has no warning on prompts if they do not change it. It has no second number if a limit on a step cannot be a limit on the time per
    token. If decode alone leads to no answer, or the same chips are paid for a rate anyway, it is the answer with prompts.
    """
    together, named = equation(Prompts.together), variant_of_prompts(switches.using, switches.variants)
    paid = results_of(Prompts.paid, tuple(by_id().values()))
    alone: Solution | None = None
    with suppress(NotMadeOf):
        alone = ask(given, switches)
    if alone is None or alone.is_refused_for("missing_givens"):
        both = _answer_together(ask, given, switches) if Tokens.prompt in given and not named else None
        if both and both.answers and any(equation(id).variant == together.variant for id in both.equations):
            return both.warn(answer_beside_prompts.__name__, _TOGETHER)
        return alone or ask(given, switches)
    if alone.answers and is_limit(given.get(DecodeStep.time)) and Tokens.prompt in (*given, alone.unknown):
        alone = alone.warn(DECODE_ALONE, _OF_A_STEP) if not paid.isdisjoint((alone.unknown, *given)) else alone
    if DECODE_ALONE not in alone.kinds:
        return alone
    both = _answer_together(ask, given, switches) if not named and len(alone.answers) == 1 else None
    if both is None or len(both.answers) != 1:
        return alone
    if not {alone.unknown, *given}.isdisjoint(Replica.sized_by) and (_is_better(both, alone) or not paid.isdisjoint(given)):
        return both.warn(answer_beside_prompts.__name__, _PAID_ANYWAY)
    if are_equal(alone.answers[0], both.answers[0]):
        return alone.with_doubts({kind: text for kind, text in alone.doubts.items() if kind != DECODE_ALONE})
    unused = tuple(name for name in alone.unused if name in both.unused)
    return replace(alone, with_prompts=both.answers[0], said=_label_lines(alone.said, both.said), unused=unused)


def _is_better(both: Solution, alone: Solution) -> bool:
    """Return whether an answer is better with prompts on the same chips, because these are paid for a given rate anyway."""
    side, with_prompts, without = better_side(alone.unknown, BETTER), both.first_value, alone.first_value
    if side is None or with_prompts is None or without is None or are_equal(alone.answers[0], both.answers[0]):
        return False
    return bool(is_within(side, with_prompts, without))


def _answer_together(ask: _Ask, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return the answer with prompts on the same chips, or None if the givens allow none."""
    of_a_token = given_with_prompts(given)
    with suppress(WrongValue):
        return ask(of_a_token, switches.join(*switches.using, Prompts.together)) if of_a_token else None
    return None


def _label_lines(alone: Sequence[str], both: Sequence[str]) -> tuple[str, ...]:
    """Return the first lines of both answers, which tell their size, and the other lines once: both meet the same limits.

    >>> _label_lines(["batch 73 to 241", "throughput >= 5000 token/s is met"], ["batch 52 to 90"])
    ('batch 73 to 241 for decode alone', 'batch 52 to 90 with prompts', 'throughput >= 5000 token/s is met')
    """
    if alone[:1] == both[:1]:
        return tuple(alone)
    sizes = (f"{text} {which}" for which, told in (("for decode alone", alone), ("with prompts", both)) for text in told[:1])
    return (*sizes, *alone[1:])


def given_with_prompts(given: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the givens with each value per step converted to a value per token, or None if that is not possible."""
    if DecodeStep.time not in given:
        return given
    if not given.keys().isdisjoint((Prompts.token, *Prompts.more_than_a_step)):
        return None
    return {Prompts.token if name == DecodeStep.time else name: value for name, value in given.items()}
