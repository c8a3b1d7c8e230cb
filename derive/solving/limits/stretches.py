"""What facts leave of an unknown: the stretches on which all of them hold, and the fact that binds at each end."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import inf
from typing import NamedTuple

from derive.answers import BOUGHT, MEMORY_FITS, Answer
from derive.records import HOLDS, LOWER, UPPER
from derive.solving.checks.fit import MEMORY_BINDS
from derive.solving.engine.legs import Way
from derive.solving.limits.limits import LimitByEquations, list_in_words
from derive.solving.result import Reason, Solution
from derive.units import show

_ASIDE = (1e-3, 1e-6)
"""Relative distances to either side of an end at which it is seen on which side a limit is met. The second one is for a steep limit."""

NEAREST = " nearest is "
"""How the text on the nearest value to a limit that is not met begins."""

_Stretch = tuple[float, float]


class Fact(NamedTuple):
    """What a limit leaves of the unknown: its stretches, and the limit solved as an equality. Or what all else leaves, without a limit."""

    limit: LimitByEquations | None
    solution: Solution
    stretches: Sequence[_Stretch]
    way: Way | None = None

    @property
    def name(self) -> str:
        """Return what binds, in words."""
        if self.limit and self.solution.answers[0].regime != MEMORY_BINDS:
            return self.limit.words
        of_memory = self.limit or any(id.startswith(MEMORY_FITS) for id in self.solution.equations)
        return "memory" if of_memory else "what else is given"


class _End(NamedTuple):
    """An end of what facts leave of the unknown, and the fact that binds there."""

    side: str
    value: float
    fact: Fact

    def tell(self, unknown: str) -> str:
        """Return the place of the end in words."""
        return f"{'from' if self.side == LOWER else 'to'} {show(unknown, self.value)}"


def stretches_of(answers: Iterable[Answer]) -> list[_Stretch]:
    """Return the values of the unknown that an answer allows.

    >>> stretches_of([Answer(kind="point", value=8.0, bound="upper"), Answer(kind="interval", low=16.0)])
    [(0.0, 8.0), (16.0, inf)]
    """
    ends = ((one, *one.ends) for one in answers)
    return [(0.0 if one.bound == UPPER else low, inf if high is None or one.bound == LOWER else high) for one, low, high in ends]


def stretches_within(limit: LimitByEquations, answers: Sequence[Answer]) -> list[_Stretch]:
    """Return where a limit is met between its answers as an equality, or these answers if it is met on no side of them."""
    if any(one.kind != "point" for one in answers) or (len(answers) == 1 and answers[0].bound):
        return stretches_of(answers)
    points = sorted(one.point for one in answers)
    for aside in _ASIDE:
        found = list[_Stretch]()
        for low, high in pairwise((0.0, *points, inf)):
            place = low * (1 + aside) if high == inf else (low + high) / 2 if low else high * (1 - aside)
            if limit.allows(limit.value_at(place)):
                before = found.pop()[0] if found and found[-1][1] == low else low
                found.append((before, high))
        if found:
            return found
    return [(point, point) for point in points]


def join_facts(unknown: str, facts: Sequence[Fact]) -> Solution | Reason:
    """Return the stretches that all facts leave, with the fact that binds at each end, or a contradiction if they leave none."""
    kept = [(0.0, inf)]
    for one in facts:
        # Of two ends that differ by rounding the first one binds.
        both = ((c if c > a * (1 + HOLDS) else a, d if d < b * (1 - HOLDS) else b) for (a, b), (c, d) in product(kept, one.stretches))
        kept = [(low, high) for low, high in both if low <= high * (1 + HOLDS)]
    if not kept:
        return _explain_apart(unknown, facts)
    at = {end: one for one in reversed(facts) for pair in one.stretches for end in pair}
    # Zero is an end only as a point.
    at |= {low: one for one in facts for low, high in one.stretches if low == high == 0}
    parts = [
        [_End(side, end, at[end]) for side, end in zip((LOWER, UPPER), pair, strict=True) if 0 < end < inf or pair == (0, 0)]
        for pair in kept
    ]
    first = parts[0][0].fact
    if all(one.fact is first and (one.value == last.value or not last.fact.limit) for one, last in ((part[0], part[-1]) for part in parts)):
        return _show_points(unknown, first.solution, parts)
    binding = [end.fact.solution for part in parts for end in part]
    best = binding[0 if unknown in BOUGHT else -1]
    given: dict[str, float] = {}
    for one in facts:
        # A limit from both sides is given as its first.
        given |= {name: value for name, value in one.solution.given.items() if name not in given}
    moves = best.answers[0].elasticities if len(kept) == 1 else {}
    return replace(
        best,
        answers=tuple(Answer(kind="interval", low=low, high=None if high == inf else high, elasticities=moves) for low, high in kept),
        equations=tuple(dict.fromkeys(id for one in binding for id in one.equations)),
        given=given,
        provenance={name: source for one in facts for name, source in one.solution.provenance.items()},
        unused=tuple(name for name in best.unused if name not in given),
        said=(" and ".join(" ".join(f"{end.tell(unknown)} ({end.fact.name})" for end in part) for part in parts),),
    )


def _show_points(unknown: str, solution: Solution, parts: Sequence[Sequence[_End]]) -> Solution:
    """Return a limit as an equality, with the sides on which it is met, and where all else ends that."""
    if any(one.kind != "point" for one in solution.answers):
        return solution
    bounds = {one.value: None if others and others[0].value == one.value else one.side for one, *others in parts}
    ends = [end for part in parts[: len(parts) == 1] for end in part if bounds.get(end.value, end.side)]
    told = tuple(f"{end.tell(unknown)}, where {end.fact.name} binds" for end in ends)
    kept = solution.keep([one for one in solution.answers if one.point in bounds])
    return replace(kept, answers=tuple(replace(one, bound=bounds[one.point]) for one in kept.answers), said=(*told, *kept.said))


def _explain_apart(unknown: str, facts: Sequence[Fact]) -> Reason:
    """Return that facts leave no value in common."""
    limits = [one.limit for one in facts if one.limit]
    least, most = max(facts, key=lambda one: one.stretches[0][0]), min(facts, key=lambda one: one.stretches[-1][1])
    low, high = least.stretches[0][0], most.stretches[-1][1]
    code, message = "contradiction", f"no value of {unknown} meets {list_in_words(limits)}"
    if low > high and least.limit:
        # What all else leaves contradicts no limit: no value is within both.
        code = "contradiction" if most.limit else "no_solution"
        needs = f"{least.name} needs {unknown} >= {show(unknown, low)} and {most.name} allows {unknown} <= {show(unknown, high)}"
        message = f"{'contradiction: ' if most.limit else ''}{needs}{tell_nearest(least.limit, unknown, [high])}"
        limits = [one.limit for one in (least, most) if one.limit]
    return Reason(code=code, violated=tuple(dict.fromkeys(one.name for one in limits)), message=message)


def tell_nearest(limit: LimitByEquations, unknown: str, places: Iterable[float], kept: str = "") -> str:
    """Return the end of a sentence: the result that is nearest to its limit at some values of the unknown."""
    there = {place: limit.value_at(place) for place in places}
    reached = {value: place for place, value in there.items() if value is not None}
    if not reached:
        return ""
    nearest = (min if limit.side == UPPER else max)(reached)
    return f";{kept}{NEAREST}{limit.name} = {show(limit.name, nearest)} at {unknown} = {show(unknown, reached[nearest])}"
