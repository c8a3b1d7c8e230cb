"""Find an unknown from a given result that an answer leaves out, by questions for that result at trial values of the unknown.

All that depends on a trial value follows from it, also links, layouts and copies, which equations alone do not have.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from math import exp, inf, isclose, log
from typing import Any

from derive.answers import COUNTED
from derive.catalogue import by_id
from derive.errors import WrongValue
from derive.immutable import immutable
from derive.quantities import quantity
from derive.records import LOWER, UPPER
from derive.solving.checks.targets import is_within
from derive.solving.explain.caveats import counted_in_parts
from derive.solving.limits.answering import is_by_stand_in
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import is_symbolic, read_limits
from derive.solving.question.propagation import results_of
from derive.solving.result import Answer, Reason, RouteStep, Solution, WhenRead
from derive.units import show

_PLACES = 16
"""Into how many parts the usual range of the unknown is divided at first."""
_CLOSE = 1e-6
"""Relative difference from the given result up to which a trial value is an answer. A larger one is a jump over the result."""
_CLOSE_AT_WHOLE = 1e-4
"""The same at a whole number of what is counted: a time with four digits leads to 8 chips and not to 8.0003."""
_LACKING = ("missing_givens", "not_identified")
"""Codes of refusals after which a trial may find more."""

Ask = Callable[[str, Mapping[str, Any], Switches], Solution]


def answer_by_trial(ask: Ask, found: Solution, unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return the values of the unknown at which a given result is as given, if the answer found leaves that out, or None."""
    limited = read_limits(given)[1].keys()
    open_ = found.is_refused_for(*_LACKING) or is_by_stand_in(found)
    left_out = () if unknown in given else found.unused if limited or not open_ else given
    every = tuple(by_id().values())
    others = {name: value for name, value in given.items() if name not in limited}
    for name in (name for name in left_out if name in others and name in results_of(unknown, every)):
        value = 0.0 if is_symbolic(given[name]) else switches.conventions.read(name, given[name])
        beside = {other: value for other, value in others.items() if other != name}
        one = _Trial(name=name, value=value, unknown=unknown, ask=ask, others=beside, switches=switches)
        if not open_ and one.agrees_with(found):
            continue
        roots, (least, most) = one.find_roots()
        if solutions := [there for root in roots or () if (there := one.answer_at(root))]:
            return _join_answers(one, solutions)
        if roots == [] and found.answers and not least <= one.value <= most:
            runs = f"it runs from {show(name, least)} to {show(name, most)} over usual values"
            message = f"no value of {unknown} leads to {name} = {show(name, value)}: {runs}"
            return replace(found, answers=(), route=(), said=(), reason=Reason(code="no_solution", violated=(name,), message=message))
    return None


@immutable
class _Trial:
    """A given result at trial values of the unknown, beside the other givens without limits."""

    name: str
    value: float
    unknown: str
    ask: Ask
    others: Mapping[str, Any]
    switches: Switches

    def answer_at(self, place: float, bare: bool = False) -> Solution | None:
        """Return the result at a value of the unknown, or None if it has none or does not depend on it."""
        switches = replace(self.switches, silent=True, anyway=True) if bare else self.switches
        with suppress(WrongValue):
            there = self.ask(self.name, {**self.others, self.unknown: place}, switches)
            return there if there.first_value and len(there.answers) == 1 and self.unknown in there.given else None
        return None

    def value_at(self, place: float) -> float | None:
        """Return the result at a value of the unknown, whether memory suffices or not, or None if there is none."""
        there = self.answer_at(place, bare=True)
        return there.first_value if there else None

    def agrees_with(self, found: Solution) -> bool:
        """Return whether the result at the answer found is a bound that what was given keeps to."""
        there = self.answer_at(found.value, bare=True) if [one.kind for one in found.answers] == ["point"] else None
        side = there.answers[0].bound if there else None
        return bool(there and side and is_within(LOWER if side == UPPER else UPPER, there.value, self.value))

    def find_roots(self) -> tuple[list[float] | None, tuple[float, float]]:
        """Return the values at which the result is the wanted one, whether memory suffices or not, and the ends of the results seen.

        There are None if the result rises and falls, because roots may be missed, or if it is as wanted at several places.
        """
        from scipy.optimize import brentq

        def height(place: float) -> float:
            there = self.value_at(exp(place))
            if there is None:
                raise WrongValue("there is no result")
            return log(there / self.value)

        row, counted = quantity(self.unknown), self.unknown in COUNTED
        steps = range(_PLACES + 1)
        places = [place for step in steps if (place := 2.0**step if counted else row.at(step / _PLACES)) > 0]
        heights: list[tuple[float, float]] = []
        first = {place: self.value_at(place) for place in (places[_PLACES // 2], places[0], places[-1])}
        middle, *ends = first.values()
        if not self.value > 0 or middle is None or all(end is not None and isclose(end, middle, rel_tol=_CLOSE) for end in ends):
            return None, (0.0, inf)
        for place in places:
            there = first[place] if place in first else self.value_at(place)
            if there is not None and there > 0:
                heights.append((log(place), log(there / self.value)))
        seen = [self.value * exp(height) for _, height in heights]
        reach = (min(seen, default=0.0), max(seen, default=inf))
        moves = {other > one for (_, one), (_, other) in pairwise(heights) if abs(other - one) > _CLOSE}
        if len(moves) != 1 or sum(abs(one) <= _CLOSE for _, one in heights) > 1:
            return None, reach
        found: list[float] = []
        for (low, one), (high, other) in pairwise(heights):
            if counted and min(abs(one), abs(other)) <= _CLOSE_AT_WHOLE:
                found.append(float(round(exp(low if abs(one) < abs(other) else high))))
            elif one * other <= 0 and one != other:
                with suppress(WrongValue, ValueError):
                    place = float(brentq(height, low, high, xtol=1e-13, rtol=1e-13))
                    found += [exp(place)] if abs(height(place)) <= _CLOSE else []
        return [*dict.fromkeys(found)], reach


def _join_answers(trial: _Trial, solutions: Sequence[Solution]) -> Solution:
    """Return the solutions of a result at its trial values as one of the unknown."""
    unknown, name = trial.unknown, trial.name
    first, *others = solutions
    answers = [_turn_answer(unknown, one) for one in solutions]
    return replace(
        first.with_doubts({kind: text for kind, text in first.doubts.items() if kind != counted_in_parts.__name__}),
        unknown=unknown,
        unit=quantity(unknown).unit,
        answers=tuple(answers),
        given={**{other: value for other, value in first.given.items() if other != unknown}, name: trial.value},
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
