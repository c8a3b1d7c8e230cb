"""Usual values for the missing inputs of a question, tried until they answer it."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import Any

from derive.catalogue import by_id
from derive.errors import BacksolveError
from derive.immutable import immutable
from derive.quantities import QUANTITIES, quantity
from derive.roles import Memory
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.explain.refusals import OF_A_CHIP, OF_A_MODEL
from derive.solving.limits.best_size import best_end
from derive.solving.result import Reason, Solution
from derive.units import parse

_CHIP, _MODEL = "H100-SXM:fp8", "Llama-3.1-70B"
"""The chip and the model of an example if none is named."""

_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")

_TRIES = 3
"""How often it is tried: with what is missing, with what is then, and with as many chips as hold it."""


@immutable(kw_only=False)
class Enough:
    """Values that answer a question together with the givens and the presets."""

    given: Mapping[str, str]
    hardware: tuple[str, ...]
    model: tuple[str, ...]


Ask = Callable[[Mapping[str, Any], Sequence[str], Sequence[str]], Callable[[str], Solution]]
"""A question by what is given, chips and models; then what is asked for."""


_Presets = tuple[tuple[str, ...], tuple[str, ...]]


def sufficient_givens(
    ask: Ask, unknown: str, given: Mapping[str, Any], presets: _Presets, why: Reason, beside: Enough | None = None
) -> Enough | None:
    """Return usual values, chips and models that complete a question, or None if a few of them do not suffice.

    `beside` is what another question took already.
    """
    found = beside or Enough({}, *presets)
    if found.given or (found.hardware, found.model) != presets:
        solution = ask({**given, **found.given}, found.hardware, found.model)(unknown)
        if solution.answers:
            return found
        why = solution.refusal
    for _ in range(_TRIES):
        wider = _chips_that_hold(ask, found, given) if why.code == SHORT_OF_MEMORY else _with_what_is_missing(found, why.missing)
        if wider is None or wider == found or not given.keys().isdisjoint(wider.given):
            return None
        found = wider
        try:
            solution = ask({**given, **found.given}, found.hardware, found.model)(unknown)
        except BacksolveError:
            return None
        if solution.answers:
            return found
        why = solution.refusal
    return None


def find_answered_beside(ask: Ask, may_be: Callable[[str], bool], unknown: str, given: Mapping[str, Any], presets: _Presets) -> str | None:
    """Return the first quantity that the registry distinguishes from the unknown and that has an answer to this question."""
    for name in _NAME.findall(quantity(unknown).unlike):
        with suppress(BacksolveError):
            if name in QUANTITIES and may_be(name) and ask(given, *presets)(name).answers:
                return str(name)
    return None


def _with_what_is_missing(found: Enough, missing: Sequence[str]) -> Enough | None:
    """Return the presets that supply some of what is missing, and examples from the catalogue for the rest."""
    chip, model = (not named and not names.isdisjoint(missing) for named, names in ((found.hardware, OF_A_CHIP), (found.model, OF_A_MODEL)))
    by_preset = {*(OF_A_CHIP if chip else ()), *(OF_A_MODEL if model else ())}
    rest = [name for name in missing if name not in by_preset]
    if not {*rest} <= least_of_examples().keys():
        return None
    return Enough(
        given={**found.given, **{name: least_of_examples()[name] for name in rest}},
        hardware=(_CHIP,) if chip else found.hardware,
        model=(_MODEL,) if model else found.model,
    )


def _chips_that_hold(ask: Ask, found: Enough, given: Mapping[str, Any]) -> Enough | None:
    """Return the values with the fewest chips that have enough memory, or None if there is no such number."""
    try:
        end = best_end(ask({**given, **found.given}, found.hardware, found.model)(Memory.bought))
    except BacksolveError:
        return None
    return replace(found, given={**found.given, Memory.bought: f"{end.value:.0f}"}) if end else None


@cache
def least_of_examples() -> dict[str, str]:
    """Return the smallest value of each quantity in the examples of the catalogue, as typed there.

    >>> least_of_examples()["context_length"], least_of_examples()["chip_price"]
    ('8k', '2 USD/h')
    """
    texts: dict[str, set[str]] = {}
    for row in by_id().values():
        for name, text in row.example.items():
            texts.setdefault(name, set()).add(text)
    return {name: min(sorted(some), key=partial(parse, name)) for name, some in texts.items()}
