"""A rate of requests for decode alone, beside what it is where prompts are computed on the same chips."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

from derive.answers import DECODE_ALONE, Answer
from derive.catalogue import equation
from derive.errors import WrongValue
from derive.quantities import quantity
from derive.quantities.aliases import PROMPTS_BETWEEN
from derive.requirements import HOLDS
from derive.solving.result import Solution
from derive.solving.whole_numbers import BEST

WITH_PROMPTS = "serving.requests_per_second_with_prompts"
"""The equation by which the prompts of requests take time of the chips that decode."""

_STEP, _TOKEN = "step_time", "time_per_output_token"
"""The same number for a user of decode alone, but not where prompts come between steps."""
_MORE_THAN_A_STEP = ("tokens_per_step", "draft_tokens", "acceptance_rate", "pipeline_stages", "hop_latency", "token_latency")
"""Beside these a token takes another time than a step, with or without prompts."""


def says_where_prompts_are(using: Iterable[str], variants: Mapping[str, str]) -> bool:
    """Whether a question names the variant by which prompts are counted, or not.

    >>> says_where_prompts_are([], {}), says_where_prompts_are(["serving.request_latency_with_prompts"], {})
    (False, True)
    """
    return _variant_of_prompts(using, variants) is not None


def unwritten(
    using: Iterable[str],
    variants: Mapping[str, str],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
) -> tuple[str, ...]:
    """What stands beside the words of a question unwritten: the time of prompts that it counts on the same chips, the width of weights
    where a chip is named with a data type, and the layers of a model.

    >>> unwritten([], {}), unwritten(["serving.request_latency_with_prompts"], {}, "H100:fp8", "Llama-3.1-8B")
    ((), ('prompt_time_share', 'bytes_per_weight', 'layers'))
    """
    variant = equation(WITH_PROMPTS).variant
    prompts = (PROMPTS_BETWEEN,) if variant and _variant_of_prompts(using, variants) == variant.name else ()
    chips = (hardware,) if isinstance(hardware, str) else tuple(hardware or ())
    weights = ("bytes_per_weight",) if any(":" in chip for chip in chips) else ()
    return prompts + weights + (("layers",) if model else ())


def _variant_of_prompts(using: Iterable[str], variants: Mapping[str, str]) -> str | None:
    """The variant that is named of those which tell where prompts are computed."""
    of_prompts = equation(WITH_PROMPTS).variant
    group = of_prompts.group if of_prompts else ""
    named = [variant.name for id in using if (variant := equation(id).variant) and variant.group == group]
    return next(iter(named), variants.get(group))


def beside_prompts(
    by: Callable[[tuple[str, ...], Mapping[str, Any]], Solution],
    given: Mapping[str, Any],
    using: tuple[str, ...],
    variants: Mapping[str, str],
) -> Solution:
    """The answer by what is named, and where it is for decode alone what it is with prompts on the same chips.

    Nothing is said of prompts where the rate of requests has no part in the answer, or the answer is the same, and no number
    where what is said of a step cannot be asked of a token as a user sees it, prompts between.
    """
    alone = by(using, given)
    if DECODE_ALONE not in alone.kinds:
        return alone
    if equation(WITH_PROMPTS).symbols[0] in alone.unused:
        return _without_doubt(alone)
    if says_where_prompts_are(using, variants) or len(alone.answers) != 1 or alone.sweep or alone.spans:
        return alone
    both = _with_prompts(by, given, using)
    if both is None or len(both.answers) != 1:
        return alone
    if _same(alone.answers[0], both.answers[0]):
        return _without_doubt(alone)
    unused = tuple(name for name in alone.unused if name in both.unused)
    return replace(alone, with_prompts=both.answers[0], said=_said_of_each(alone.said, both.said), unused=unused)


def _said_of_each(alone: Sequence[str], both: Sequence[str]) -> tuple[str, ...]:
    """What is said of an answer for decode alone, and of the one with prompts: which of the two, where it is not of both.

    >>> _said_of_each(["with a batch of 73 to 241", "best: chips = 3"], ["with a batch of 52 to 90"])
    ('decode alone: with a batch of 73 to 241', 'with prompts: with a batch of 52 to 90')
    """
    shared = {*alone} & {*both}
    each = [(text, "decode alone: ") for text in alone] + [(text, "with prompts: ") for text in both if text not in shared]
    # The best of either is what it is headed with.
    return tuple(text if text in shared else f"{which}{text}" for text, which in each if not text.startswith((BEST, "so ")))


def _with_prompts(
    by: Callable[[tuple[str, ...], Mapping[str, Any]], Solution], given: Mapping[str, Any], using: tuple[str, ...]
) -> Solution | None:
    """The answer with prompts on the same chips: what is said of a step holds for a token as a user sees it."""
    names = {spelled: quantity(spelled).name for spelled in given}
    if _STEP not in names.values():
        return by((*using, WITH_PROMPTS), given)
    if not {_TOKEN, *_MORE_THAN_A_STEP}.isdisjoint(names.values()):
        return None
    try:
        return by((*using, WITH_PROMPTS), {_TOKEN if names[spelled] == _STEP else spelled: value for spelled, value in given.items()})
    except WrongValue:
        return None


def _without_doubt(solution: Solution) -> Solution:
    """An answer of which nothing is said of prompts."""
    said = {kind: text for kind, text in zip(solution.kinds, solution.warnings, strict=True) if kind != DECODE_ALONE}
    return replace(solution, warnings=tuple(said.values()), kinds=tuple(said))


def _same(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same numbers."""
    pairs = [*zip(one.ends, other.ends, strict=True)]
    return one.kind == other.kind and all(a == b or (a and b and isclose(a, b, rel_tol=HOLDS)) for a, b in pairs)
