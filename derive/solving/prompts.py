"""A rate of requests for decode alone, beside what it is where prompts are computed on the same chips."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import isclose

from derive.answers import DECODE_ALONE, Answer
from derive.catalogue import equation
from derive.requirements import HOLDS
from derive.solving.result import Solution

WITH_PROMPTS = "serving.requests_per_second_with_prompts"
"""The equation by which the prompts of requests take time of the chips that decode."""


def says_where_prompts_are(using: Iterable[str], variants: Mapping[str, str]) -> bool:
    """Whether a question names the variant by which prompts are counted, or not.

    >>> says_where_prompts_are([], {}), says_where_prompts_are(["serving.request_latency_with_prompts"], {})
    (False, True)
    """
    group = _group(WITH_PROMPTS)
    return group in variants or any(_group(id) == group for id in using)


def _group(id: str) -> str | None:
    variant = equation(id).variant
    return variant.group if variant else None


def beside_prompts(by: Callable[[tuple[str, ...]], Solution], using: tuple[str, ...], variants: Mapping[str, str]) -> Solution:
    """The answer by what is named, and where it is for decode alone what it is with prompts on the same chips.

    Nothing is said of prompts where the rate of requests has no part in the answer, or the answer is the same.
    """
    alone = by(using)
    if DECODE_ALONE not in alone.kinds:
        return alone
    if equation(WITH_PROMPTS).symbols[0] in alone.unused:
        return _without_doubt(alone)
    if says_where_prompts_are(using, variants) or len(alone.answers) != 1 or alone.sweep or alone.spans:
        return alone
    answers = by((*using, WITH_PROMPTS)).answers
    if len(answers) != 1:
        return alone
    return _without_doubt(alone) if _same(alone.answers[0], answers[0]) else replace(alone, with_prompts=answers[0])


def _without_doubt(solution: Solution) -> Solution:
    """An answer of which nothing is said of prompts."""
    said = {kind: text for kind, text in zip(solution.kinds, solution.warnings, strict=True) if kind != DECODE_ALONE}
    return replace(solution, warnings=tuple(said.values()), kinds=tuple(said))


def _same(one: Answer, other: Answer) -> bool:
    """Whether two answers are the same numbers."""
    pairs = [*zip(one.ends, other.ends, strict=True)]
    return one.kind == other.kind and all(a == b or (a and b and isclose(a, b, rel_tol=HOLDS)) for a, b in pairs)
