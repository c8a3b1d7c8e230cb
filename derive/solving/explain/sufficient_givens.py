"""Usual values for the missing inputs of a question, tried until they answer it."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

from derive.catalogue import by_id
from derive.errors import BacksolveError
from derive.immutable import immutable
from derive.quantities import quantity
from derive.roles import Memory
from derive.solving.api import Given, respond, respond_all
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.explain.lacking import OF_A_CHIP, OF_A_MODEL
from derive.solving.limits.best_size import best_end
from derive.solving.question.conventions import Switches
from derive.units import parse

_CHIP, _MODEL = "H100-SXM:fp8", "Llama-3.1-70B"
"""The chip and the model of an example if none is named."""

_NAME = re.compile(r"[a-z]+(?:_[a-z]+)+")

_TRIES = 4
"""Number of attempts: as given, with what is missing, with what is missing then, and with the chips that memory needs."""


@immutable(kw_only=False)
class Enough:
    """Values that answer a question together with the givens, and its switches, with a chip and a model if it needs them."""

    given: Mapping[str, str]
    switches: Switches


def sufficient_givens(unknown: str, given: Mapping[str, Given], found: Enough, strict: bool = False) -> Enough | None:
    """Return usual values, chips and models that complete a question, or None if a few of them do not suffice.

    `found` is what another question took already.
    """
    for _ in range(_TRIES):
        try:
            solution = respond_all((unknown,), {**given, **found.given}, found.switches, strict)[0]
        except BacksolveError:
            return None
        if solution.answers:
            # An example that leaves a given out answers another question.
            return found if given.keys().isdisjoint(solution.unused) else None
        short = solution.is_refused_for(SHORT_OF_MEMORY)
        wider = _with_chips_that_hold(found, given) if short else _with_what_is_missing(found, solution.refusal.missing)
        if wider is None or wider == found:
            return None
        found = wider
    return None


def find_answered_beside(unknown: str, given: Mapping[str, Given], switches: Switches) -> str | None:
    """Return the first quantity that the registry distinguishes from the unknown and that has an answer to this question."""
    for name in _NAME.findall(quantity(unknown).unlike):
        with suppress(BacksolveError):
            if respond(name, given, switches).answers:
                return str(name)
    return None


def _with_what_is_missing(found: Enough, missing: Sequence[str]) -> Enough | None:
    """Return the presets that supply some of what is missing, and examples from the catalogue for the rest."""
    switches = found.switches
    chip, model = not (switches.hardware or OF_A_CHIP.isdisjoint(missing)), not (switches.model or OF_A_MODEL.isdisjoint(missing))
    by_preset = {*(OF_A_CHIP if chip else ()), *(OF_A_MODEL if model else ())}
    rest = [name for name in missing if name not in by_preset]
    if not {*rest} <= least_of_examples().keys():
        return None
    return Enough(
        given={**found.given, **{name: least_of_examples()[name] for name in rest}},
        switches=replace(switches, hardware=(_CHIP,) if chip else switches.hardware, model=(_MODEL,) if model else switches.model),
    )


def _with_chips_that_hold(found: Enough, given: Mapping[str, Given]) -> Enough | None:
    """Return the values with the fewest chips that have enough memory, or None if chips are given or there is no such number."""
    if Memory.bought in given:
        return None
    try:
        end = best_end(respond(Memory.bought, {**given, **found.given}, found.switches))
    except BacksolveError:
        return None
    return replace(found, given={**found.given, Memory.bought: f"{end.value:.0f}"}) if end else None


@cache
def least_of_examples() -> dict[str, str]:
    """Return the smallest value of each quantity in the examples of the catalogue, as typed there, or as the result of one.

    >>> least_of_examples()["context_length"], least_of_examples()["chip_price"]
    ('8k', '2 USD/h')
    """
    texts: dict[str, set[str]] = {}
    rows = [*by_id().values()]
    for name, text in (one for row in rows for one in row.example.items()):
        texts.setdefault(name, set()).add(text)
    for row in (row for row in rows if row.sense == "=" and row.symbols[0] not in texts):
        texts[row.symbols[0]] = {row.result}
    return {name: min(sorted(some), key=partial(parse, name)) for name, some in texts.items()}
