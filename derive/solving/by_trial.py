"""Find an unknown from a given result that an answer leaves out, by questions for that result at trial values of the unknown.

All that depends on a trial value follows from it, also links, layouts and copies, which equations alone do not have.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from math import exp, inf, log
from typing import Any, NamedTuple

from derive.answers import COUNTED, next_whole
from derive.catalogue import by_id, equation
from derive.errors import WrongValue
from derive.quantities import quantity
from derive.records import LOWER, UPPER
from derive.solving.checks.targets import is_within
from derive.solving.explain.caveats import counted_in_parts
from derive.solving.limits.best_size import answer_at_end, best_end, drop_results
from derive.solving.limits.limits import FREE, SIZED
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import as_typed, is_limit, is_symbolic, read_limits
from derive.solving.question.propagation import results_of
from derive.solving.result import Answer, Reason, RouteStep, Solution, WhenRead
from derive.units import show

_PLACES = 16
"""Into how many parts the usual range of the unknown is divided at first."""
_CLOSE = 1e-6
"""Relative difference from the given result up to which a trial value is an answer. A larger one is a jump over the result."""
_CLOSE_AT_WHOLE = 1e-4
"""The same at a whole number of what is counted: a time with four digits leads to 8 chips and not to 8.0003."""
_WELL_BEYOND = 1.1
"""Factor from an end to the trial value that shows on which side of the end a limit is met."""
_LACKING = ("missing_givens", "not_identified")
"""Codes of refusals after which a trial may find more."""

Ask = Callable[[str, Mapping[str, Any], Switches], Solution]


def answer_by_trial(ask: Ask, found: Solution, unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return the values of the unknown at which a given result is as given, if the answer found leaves that out, or None.

    An answer by a stand-in alone leaves out all results. A limit on a result is a limit on the unknown itself.
    """
    limits = read_limits(given)[1]
    open_ = found.is_refused_for(*_LACKING) or (found.equations and all(equation(id).stand_in for id in found.equations))
    left_out = () if unknown in given else found.unused if limits or not open_ else given
    every = tuple(by_id().values())
    trials = [_Trial(ask, unknown, name, given, switches) for name in left_out if name in given and name in results_of(unknown, every)]
    for one in (one for one in trials if one.name not in limits and (open_ or not one.agrees_with(found))):
        roots = one.find_roots(one.wanted)
        if solutions := [there for root in roots or () if (there := one.at(root))]:
            return _join_answers(unknown, one.name, one.wanted, solutions)
        if roots == [] and found.answers and not one.reach[0] <= one.wanted <= one.reach[1]:
            runs = " to ".join(show(one.name, end) for end in one.reach)
            message = f"no value of {unknown} leads to {one.name} = {show(one.name, one.wanted)}: it runs from {runs} over usual values"
            return _refuse(found, one.name, message)
    free = unknown not in SIZED and unknown not in given and FREE not in given
    if of_batch := [name for name in found.unused if free and name in limits and name in results_of(FREE, every)]:
        return _answer_at_best_size(ask, unknown, given, switches, of_batch)
    ends = [end for one in trials for side in limits.get(one.name, ()) if (end := one.find_end(side, found))]
    return _answer_within_ends(ask, found, unknown, given, switches, ends) if ends else None


def _answer_at_best_size(ask: Ask, unknown: str, given: Mapping[str, Any], switches: Switches, names: list[str]) -> Solution | None:
    """Return the answer at the better end of the batch that limits on its results leave, or None if they leave no end."""
    known = drop_results(given, [unknown])
    sized = ask(FREE, known, switches)
    end = best_end(answer_by_trial(ask, sized, FREE, known, switches) or sized)
    others = {name: value for name, value in given.items() if name not in names}
    return answer_at_end(lambda name, values: ask(name, values, switches), unknown, others, end) if end else None


class _End(NamedTuple):
    """The value of the unknown at which a limit binds, and the side on which it is met. The side is "" if all values meet it, or none."""

    trial: "_Trial"
    value: float
    side: str
    words: str
    is_met: bool


class _Trial:
    """A given result at trial values of the unknown, beside the other givens without their limits."""

    def __init__(self, ask: Ask, unknown: str, name: str, given: Mapping[str, Any], switches: Switches):
        self.ask, self.unknown, self.name, self.switches = ask, unknown, name, switches
        plain, self.limits = read_limits({name: given[name]})
        self.wanted = 0.0 if is_symbolic(plain[name]) else switches.conventions.read(name, plain[name])
        self.others = {other: value for other, value in given.items() if other != name and not is_limit(value)}
        self.bare = replace(switches, silent=True, anyway=True)
        self.reach = (0.0, inf)

    def at(self, value: float, bare: bool = False) -> Solution | None:
        """Return the result at a value of the unknown, or None if it has none or does not depend on it."""
        with suppress(WrongValue):
            there = self.ask(self.name, {**self.others, self.unknown: value}, self.bare if bare else self.switches)
            return there if there.first_value and len(there.answers) == 1 and self.unknown in there.given else None
        return None

    def agrees_with(self, found: Solution) -> bool:
        """Return whether the result at the answer found is a bound that what was given keeps to."""
        there = self.at(found.value, bare=True) if [one.kind for one in found.answers] == ["point"] else None
        side = there.answers[0].bound if there else None
        return bool(there and side and is_within(LOWER if side == UPPER else UPPER, there.value, self.wanted))

    def find_end(self, side: str, found: Solution) -> _End | None:
        """Return the end of the unknown at which a limit binds, or None if that cannot be seen."""
        wanted = self.switches.conventions.read(self.name, self.limits[self.name][side])
        words = f"{self.name} {'<=' if side == UPPER else '>='} {show(self.name, wanted)}"
        roots = self.find_roots(wanted, over_jumps=True)
        place = roots[0] * _WELL_BEYOND if roots else _nearer_end(found)
        there = self.at(place, bare=True) if place and roots is not None and len(roots) < 2 else None
        if there is None:
            return None
        is_met = bool(is_within(side, there.value, wanted))
        if not roots:
            return _End(self, there.value, "", words, is_met)
        return _End(self, roots[0], LOWER if is_met else UPPER, words, is_met)

    def find_roots(self, wanted: float, over_jumps: bool = False) -> list[float] | None:
        """Return the values at which the result is the wanted one, whether memory suffices or not. With `over_jumps` it may jump past it.

        Return None if the result rises and falls, because roots may be missed, or if it is as wanted at several places.
        """
        from scipy.optimize import brentq

        def height(place: float) -> float:
            there = self.at(exp(place), bare=True)
            if there is None:
                raise WrongValue("there is no result")
            return log(there.value / wanted)

        row, counted = quantity(self.unknown), self.unknown in COUNTED
        places = [2.0**power for power in range(_PLACES + 1)] if counted else [row.at(k / _PLACES) for k in range(_PLACES + 1)]
        heights: list[tuple[float, float]] = []
        if not wanted > 0 or self.at(places[_PLACES // 2], bare=True) is None:
            return None
        for place in (log(place) for place in places if place > 0):
            with suppress(WrongValue, ValueError):
                heights.append((place, height(place)))
        ends = [wanted * exp(height) for _, height in heights]
        self.reach = (min(ends, default=0.0), max(ends, default=inf))
        moves = {other > one for (_, one), (_, other) in pairwise(heights) if abs(other - one) > _CLOSE}
        if len(moves) != 1 or sum(abs(one) <= _CLOSE for _, one in heights) > 1:
            return None
        found: list[float] = []
        for (low, one), (high, other) in pairwise(heights):
            if counted and min(abs(one), abs(other)) <= _CLOSE_AT_WHOLE:
                found.append(float(round(exp(low if abs(one) < abs(other) else high))))
            elif one * other <= 0 and one != other:
                with suppress(WrongValue, ValueError):
                    place = float(brentq(height, low, high, xtol=1e-13, rtol=1e-13))
                    found += [exp(place)] if over_jumps or abs(height(place)) <= _CLOSE else []
        return [*dict.fromkeys(found)]


def _refuse(found: Solution, name: str, message: str) -> Solution:
    """Return the refusal of a question because no value of the unknown leads to a given result."""
    return replace(found, answers=(), route=(), said=(), reason=Reason(code="no_solution", violated=(name,), message=message))


def _nearer_end(found: Solution) -> float:
    """Return the first end of an answer that is a number, or 0 without an answer."""
    return next((end for one in found.answers for end in one.ends if end), 0.0)


def _answer_within_ends(
    ask: Ask, found: Solution, unknown: str, given: Mapping[str, Any], switches: Switches, ends: list[_End]
) -> Solution | None:
    """Return the answer with limits on the unknown itself in place of limits on its results."""
    if missed := next((end for end in ends if not end.side and not end.is_met), None):
        nearest = f"it is {show(missed.trial.name, missed.value)} at {unknown} = {show(unknown, _nearer_end(found))}"
        message = f"no value of {unknown} meets {missed.words}: {nearest}"
        return _refuse(found, missed.trial.name, message)
    met = tuple(f"{end.words} is met: it is {show(end.trial.name, end.value)}" for end in ends if not end.side)
    bounds = {side: [end for end in ends if end.side == side] for side in (LOWER, UPPER)}
    tightest = [pick(some, key=lambda end: end.value) for pick, some in ((max, bounds[LOWER]), (min, bounds[UPPER])) if some]
    names = {end.trial.name for end in ends}
    others = {other: value for other, value in given.items() if other not in names}
    limit = " ".join(f"{'>=' if end.side == LOWER else '<='}{as_typed(unknown, end.value, switches)!r}" for end in tightest)
    solution = ask(unknown, {**others, **({unknown: limit} if limit else {})}, switches)
    told = [f"{'from' if end.side == LOWER else 'to'} {show(unknown, end.value)}, where {end.words} binds" for end in tightest]
    for end in tightest:
        here = end.trial.at(end.value)
        if here and [one.ends[end.side == UPPER] for one in solution.answers] in ([end.value], [next_whole(end.value, end.side)]):
            turned = _join_answers(unknown, end.trial.name, end.trial.wanted, [here])
            alone = len(tightest) == 1 and not solution.answers[0].ends[end.side == LOWER]
            whole = next_whole(end.value, end.side) if unknown in COUNTED else end.value
            at_end = replace(turned.answers[0], value=whole, bound=end.side, residual=None)
            answers = (at_end,) if alone else tuple(replace(one, elasticities=at_end.elasticities) for one in solution.answers)
            solution = replace(turned, answers=answers, said=solution.said)
    said = (*told, *met, *(text for text in solution.said if not text.startswith(f"{unknown} is limited")))
    given_too = {end.trial.name: end.trial.wanted for end in ends}
    return replace(
        solution,
        said=said,
        given={**solution.given, **given_too},
        provenance={**solution.provenance, **dict.fromkeys(given_too, "given")},
        unused=tuple(name for name in solution.unused if name not in names),
    )


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
