"""A given result that an answer leaves out: values of the unknown are tried, and each leads to the result as in a question of its own.

At a trial value all that depends on it follows, also links, layouts and copies that equations alone do not have.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import exp, log
from typing import Any

from derive.answers import COUNTED
from derive.catalogue import by_id, equation
from derive.errors import WrongValue
from derive.quantities import quantity
from derive.records import LOWER, UPPER
from derive.solving.explain.caveats import counted_in_parts
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import is_limit, is_symbolic
from derive.solving.result import Answer, RouteStep, Solution, WhenRead

_PLACES = 16
"""Into how many parts the usual range of the unknown is divided at first."""
_CLOSE = 1e-6
"""Relative difference of a result from the given one up to which a trial value leads to it. A jump over it is no answer."""
_CLOSE_AT_WHOLE = 1e-4
"""The same at a whole number of what is counted: a time with four digits leads to 8 chips and not to 8.0003."""
_LACKING = ("missing_givens", "not_identified")
"""Codes of refusals after which a trial may find more."""

Ask = Callable[[str, Mapping[str, Any], Switches], Solution]


def answer_by_trial(ask: Ask, found: Solution, unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return the values of the unknown at which a given result is as given, if the answer found leaves that out, or None.

    An answer by a stand-in alone leaves out all results.
    """
    open_ = found.is_refused_for(*_LACKING) or (found.equations and all(equation(id).stand_in for id in found.equations))
    left_out = () if unknown in given or any(map(is_limit, given.values())) else given if open_ else found.unused
    bare = replace(switches, silent=True, anyway=True)
    for name in (name for name in left_out if name in given and name in _results_of(unknown)):
        wanted = 0.0 if is_symbolic(given[name]) else switches.conventions.read(name, given[name])
        if not wanted > 0:
            continue
        others = {other: value for other, value in given.items() if other != name}

        def result_at(trial: float, switches: Switches = bare, name: str = name, others: Mapping[str, Any] = others) -> Solution | None:
            with suppress(WrongValue):
                there = ask(name, {**others, unknown: trial}, switches)
                return there if there.first_value and len(there.answers) == 1 and unknown in there.given else None
            return None

        solutions = [there for root in dict.fromkeys(_find_roots(unknown, wanted, result_at)) if (there := result_at(root, switches))]
        if solutions:
            return _join_answers(unknown, name, wanted, solutions)
    return None


@cache
def _results_of(unknown: str) -> frozenset[str]:
    """Return the quantities that equations may compute from this one."""
    found = {unknown}
    while new := {row.symbols[0] for row in by_id().values() if row.sense == "=" and not found.isdisjoint(row.inputs)} - found:
        found |= new
    return frozenset(found - {unknown})


def _find_roots(unknown: str, wanted: float, result_at: Callable[[float], Solution | None]) -> Iterator[float]:
    """Yield the values at which a result is the wanted one, whether memory suffices there or not."""
    from scipy.optimize import brentq

    def height(place: float) -> float:
        there = result_at(exp(place))
        if there is None:
            raise WrongValue("there is no result")
        return log((there.first_value or 0.0) / wanted)

    row = quantity(unknown)
    places = [2.0**power for power in range(_PLACES + 1)] if unknown in COUNTED else [row.at(k / _PLACES) for k in range(_PLACES + 1)]
    if result_at(places[_PLACES // 2]) is None:
        return
    heights: list[tuple[float, float]] = []
    for place in (log(place) for place in places if place > 0):
        with suppress(WrongValue, ValueError):
            heights.append((place, height(place)))
    moves = {other > one for (_, one), (_, other) in pairwise(heights) if abs(other - one) > _CLOSE}
    if len(moves) != 1 or sum(abs(one) <= _CLOSE for _, one in heights) > 1:
        # Where the result rises and falls, a root may be between two places. Where it stays as given, the unknown may have any value.
        return
    for (low, one), (high, other) in pairwise(heights):
        if unknown in COUNTED and min(abs(one), abs(other)) <= _CLOSE_AT_WHOLE:
            yield float(round(exp(low if abs(one) < abs(other) else high)))
        elif one * other <= 0 and one != other:
            with suppress(WrongValue, ValueError):
                place = float(brentq(height, low, high, xtol=1e-13, rtol=1e-13))
                if abs(height(place)) <= _CLOSE:
                    yield exp(place)


def _join_answers(unknown: str, name: str, wanted: float, solutions: list[Solution]) -> Solution:
    """Return the solutions of a result at its trial values as one of the unknown."""
    first, *others = solutions
    answers = [_turn_answer(unknown, one) for one in solutions]
    return replace(
        first.with_doubts({kind: text for kind, text in first.doubts.items() if kind != counted_in_parts.__name__}),
        unknown=unknown,
        unit=quantity(unknown).unit,
        answers=tuple(answers),
        given={**{other: value for other, value in first.given.items() if other != unknown}, name: wanted},
        provenance={**{other: source for other, source in first.provenance.items() if other != unknown}, name: "given"},
        route=_turn_route(unknown, name, answers[0], first),
        further=tuple(_turn_route(unknown, name, answer, one) for answer, one in zip(answers[1:], others, strict=True)),
        with_prompts=None,
    )


def _turn_route(unknown: str, name: str, answer: Answer, there: Solution) -> tuple[RouteStep, ...]:
    """Return the steps that lead from a trial value to the result, and the one that finds the value."""
    *before, last = there.route
    return (*before, replace(last, unknown=unknown, value=answer.value, formula=None, forwards=name))


def _turn_answer(unknown: str, there: Solution) -> Answer:
    """Return a trial value as an answer, with the elasticities and the bound that follow from those of the result."""
    (one,), value = there.answers, there.given[unknown]

    def moved() -> dict[str, float]:
        steep = one.elasticities.get(unknown, 0.0)
        rest = {name: -slope / steep for name, slope in one.elasticities.items() if name != unknown} if steep else {}
        return {**rest, there.unknown: 1 / steep} if steep else rest

    rises = one.elasticities.get(unknown, 0.0) > 0
    bound = one.bound and (UPPER if (one.bound == LOWER) == rises else LOWER)
    return Answer(kind="point", value=value, bound=bound, regime=one.regime, residual=0.0, elasticities=WhenRead(moved))
