"""An answer for decode alone, with the same answer if the same chips also compute the prompts."""

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
"""The equation in which prompts use time of the chips that decode."""

_STEP, _TOKEN = "step_time", "time_per_output_token"
"""Equal for a user of decode alone. They differ if prompts are computed between steps."""
_MORE_THAN_A_STEP = ("tokens_per_step", "draft_tokens", "acceptance_rate", "pipeline_stages", "hop_latency", "token_latency")
"""With one of these a token lasts longer or shorter than a step, with or without prompts."""


AskWith = Callable[[tuple[str, ...], Mapping[str, Any]], Solution]
"""A question by the equations that join it, and the givens by name."""


def names_prompts(using: Iterable[str], variants: Mapping[str, str]) -> bool:
    """Return whether a question names a variant that counts prompts or leaves them out.

    >>> names_prompts([], {}), names_prompts(["serving.request_latency_with_prompts"], {})
    (False, True)
    """
    return _named_variant(using, variants) is not None


def implied_names(
    using: Iterable[str],
    variants: Mapping[str, str],
    hardware: str | Iterable[str] | None = None,
    model: str | Iterable[str] | None = None,
) -> tuple[str, ...]:
    """Return quantities that a question implies without naming them: the time of prompts on the same chips if it counts it, the width
    of weights if a chip is named with a data type, and the layers of a model.

    >>> implied_names([], {}), implied_names(["serving.request_latency_with_prompts"], {}, "H100:fp8", "Llama-3.1-8B")
    ((), ('prompt_time_share', 'bytes_per_weight', 'layers'))
    """
    variant = equation(WITH_PROMPTS).variant
    prompts = (PROMPTS_BETWEEN,) if variant and _named_variant(using, variants) == variant.name else ()
    chips = (hardware,) if isinstance(hardware, str) else tuple(hardware or ())
    weights = ("bytes_per_weight",) if any(":" in chip for chip in chips) else ()
    return prompts + weights + (("layers",) if model else ())


def _named_variant(using: Iterable[str], variants: Mapping[str, str]) -> str | None:
    """Return the named variant of those that say where prompts are computed."""
    of_prompts = equation(WITH_PROMPTS).variant
    group = of_prompts.group if of_prompts else ""
    named = [variant.name for id in using if (variant := equation(id).variant) and variant.group == group]
    return next(iter(named), variants.get(group))


def answer_beside_prompts(
    by: AskWith,
    given: Mapping[str, Any],
    using: tuple[str, ...],
    variants: Mapping[str, str],
) -> Solution:
    """Return the answer. If it is for decode alone, also the answer with prompts on the same chips.

    It has no warning on prompts if the rate of requests has no part in it, or if prompts do not change it. It has no second number if a
    limit on a step cannot be a limit on the time per token.
    """
    alone = by(using, given)
    if DECODE_ALONE not in alone.kinds:
        return alone
    if equation(WITH_PROMPTS).symbols[0] in alone.unused:
        return _drop_warning(alone)
    if names_prompts(using, variants) or len(alone.answers) != 1 or alone.sweep or alone.spans:
        return alone
    both = answer_with_prompts(by, given, using)
    if both is None or len(both.answers) != 1:
        return alone
    if _are_equal(alone.answers[0], both.answers[0]):
        return _drop_warning(alone)
    unused = tuple(name for name in alone.unused if name in both.unused)
    return replace(alone, with_prompts=both.answers[0], said=_label_lines(alone.said, both.said), unused=unused)


def _label_lines(alone: Sequence[str], both: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of both answers, each with the answer that it belongs to, unless both have it.

    >>> _label_lines(["with a batch of 73 to 241", "best: chips = 3"], ["with a batch of 52 to 90"])
    ('decode alone: with a batch of 73 to 241', 'with prompts: with a batch of 52 to 90')
    """
    shared = {*alone} & {*both}
    each = [(text, "decode alone: ") for text in alone] + [(text, "with prompts: ") for text in both if text not in shared]
    # The better end of each is printed in its first line.
    return tuple(text if text in shared else f"{which}{text}" for text, which in each if not text.startswith((BEST, "so ")))


def answer_with_prompts(by: AskWith, given: Mapping[str, Any], using: tuple[str, ...]) -> Solution | None:
    """Return the answer with prompts on the same chips, with givens of a step as givens of a token, or None if they cannot be that."""
    names = {spelled: quantity(spelled).name for spelled in given}
    if _STEP not in names.values():
        return by((*using, WITH_PROMPTS), given)
    if not {_TOKEN, *_MORE_THAN_A_STEP}.isdisjoint(names.values()):
        return None
    try:
        return by((*using, WITH_PROMPTS), {_TOKEN if names[spelled] == _STEP else spelled: value for spelled, value in given.items()})
    except WrongValue:
        return None


def _drop_warning(solution: Solution) -> Solution:
    """Return an answer without the warning on prompts."""
    return solution.with_doubts({kind: text for kind, text in solution.doubts.items() if kind != DECODE_ALONE})


def _are_equal(one: Answer, other: Answer) -> bool:
    """Return whether two answers are the same numbers."""
    pairs = [*zip(one.ends, other.ends, strict=True)]
    return one.kind == other.kind and all(a == b or (a and b and isclose(a, b, rel_tol=HOLDS)) for a, b in pairs)
