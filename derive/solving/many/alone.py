"""Lists and ranges by the law that they follow: each point has the answer that it has alone.

Arrays answer many points at once if they agree with points that are asked alone. Otherwise every point is asked alone, with its own
sizes, targets and limits.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import isclose
from typing import Any

from derive.answers import same_bound
from derive.quantities import quantity
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.limits.best_size import replace_given
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import is_limit, read_limits, spread
from derive.solving.question.switches import list_spreads
from derive.solving.result import Answers, Point, Solution
from derive.spreads import Interval, OneByOne, Series, Spread
from derive.units import signed

Ask = Callable[[Mapping[str, Any], Switches], Answers]
"""One question or several: the givens and the switches lead to an answer each."""
Again = Callable[[Ask, Mapping[str, Any], Switches], Answers]
"""The same over the lists and ranges that remain."""


def answer_as_points(again: Again, ask: Ask, given: Mapping[str, Any], switches: Switches, found: Answers | OneByOne) -> Answers:
    """Return the answers over all lists and ranges: those that arrays `found` if points agree, else each point `again` alone."""
    if isinstance(found, OneByOne):
        return _answer_alone(again, ask, given, switches, found.ranges)
    many = next(one for one in found if one.sweep or one.spans)
    if _agree_with_points(ask, given, switches, found, many):
        return found
    return _answer_alone(again, ask, given, switches, _ranges_of(many))


def _answer_alone(again: Again, ask: Ask, given: Mapping[str, Any], switches: Switches, ranges: Mapping[str, Interval]) -> Answers:
    """Return the answers with every point asked alone, also over ranges that nobody typed."""
    spreads = _list_typed(given, switches)
    series = {name: one for name, one in spreads.items() if isinstance(one, Series)}
    if series:
        from derive.solving.many.sweeps import answer_list

        return answer_list(lambda at: again(ask, *_pose_at(given, switches, at)), series, switches.zipped)
    from derive.solving.many.intervals import answer_box

    box = {name: one for name, one in spreads.items() if isinstance(one, Interval)}
    while True:
        wider = box | {_typed_name(name, one.ends, spreads): one for name, one in ranges.items()}
        try:
            return answer_box(lambda at, silent: ask(*_pose_at(given, switches, at, silent)), wider)
        except OneByOne as error:
            box, ranges = wider, error.ranges
            if {_typed_name(name, one.ends, spreads) for name, one in ranges.items()} <= box.keys():
                raise


def _list_typed(given: Mapping[str, Any], switches: Switches) -> dict[str, Spread]:
    """Return the ranges, lists and sweeps that were typed, by registry name, with a limit from both sides as a range."""
    plain, sides = read_limits(given)
    found = {quantity(spelled).name: one for spelled, one in list_spreads(plain, switches).items()}
    read = switches.conventions.read
    single = {name: texts for name, texts in sides.items() if not any(spread(name, text, read) for text in texts.values())}
    both = {name: Interval(read(name, texts[LOWER]), read(name, texts[UPPER])) for name, texts in single.items() if len(texts) > 1}
    return {**both, **found}


def _typed_name(name: str, ends: tuple[float, float], spreads: Mapping[str, Spread]) -> str:
    """Return the name that was typed for a given that has another one on the way: a rate of one replica may be that of all."""
    alike = (typed for typed, one in spreads.items() if all(map(isclose, one.ends, ends)))
    return name if name in spreads else next(alike, name)


def _ranges_of(solution: Solution) -> dict[str, Interval]:
    return {name: Interval(*ends) for name, ends in solution.spans.ranges.items()} if solution.spans else {}


def _pose_at(given: Mapping[str, Any], switches: Switches, at: Point, silent: bool = False) -> tuple[Mapping[str, Any], Switches]:
    """Return the givens and switches at one point. A given limit stays a limit. A range of presets has its value in the switches."""
    typed = {quantity(spelled).name: value for spelled, value in given.items()}
    there = {name: _given_at(typed[name], name, value, switches) for name, value in at.items() if name in typed}
    others = {name: value for name, value in at.items() if name not in typed}
    return replace_given(given, there), replace(switches, at={**switches.at, **others}, silent=silent or switches.silent)


def _given_at(typed: Any, name: str, value: float, switches: Switches) -> Any:
    """Return one value of a given as it is read: a limit over several values keeps its sign, between two limits lie plain values."""
    read = switches.conventions.read
    number = value / (read(name, value) / value) if value else value
    parts = signed(typed) if is_limit(typed) else ()
    over = [one for one in parts if spread(name, one[2:], read)]
    return " ".join(f"{one[:2]}{number!r}" if one in over else one for one in parts) if over else number


def _agree_with_points(ask: Ask, given: Mapping[str, Any], switches: Switches, found: Answers, many: Solution) -> bool:
    """Return whether answers by arrays agree with some of their points that are asked alone."""
    others = ({*many.sweep.given} if many.sweep else {*_ranges_of(many)}) - {quantity(spelled).name for spelled in given}
    spreads = _list_typed(given, switches) if others else {}
    typed = {name: _typed_name(name, _ends_of(many, name), spreads) for name in others}
    probes = [(at, {typed.get(name, name): value for name, value in point.items()}) for at, point in _list_probes(many)]
    looks = [(at, ask(*_pose_at(given, switches, point, silent=True))) for at, point in probes]
    return all(_agrees(one, [(at, alone[place]) for at, alone in looks]) for place, one in enumerate(found))


def _ends_of(solution: Solution, name: str) -> tuple[float, float]:
    """Return the least and the greatest value of a given."""
    if solution.sweep:
        return float(solution.sweep.given[name].min()), float(solution.sweep.given[name].max())
    assert solution.spans
    return solution.spans.ranges[name]


def _list_probes(solution: Solution) -> Iterator[tuple[int, Point]]:
    """Yield some points of a sweep with their places, or the middle and two corners of ranges."""
    if solution.sweep:
        for at in sorted({0, len(solution.sweep) // 2, len(solution.sweep) - 1}):
            yield at, {name: float(column[at]) for name, column in solution.sweep.given.items()}
    elif solution.spans:
        ends = solution.spans.ranges
        yield 0, {name: (low + high) / 2 for name, (low, high) in ends.items()}
        yield from ((1 + high, {name: pair[high] for name, pair in ends.items()}) for high in (False, True))


def _agrees(found: Solution, there: list[tuple[int, Solution]]) -> bool:
    """Return whether the answer over many points has the values and the bounds that some of them have alone."""
    if found.sweep:
        return all(_is_at(found, at, alone) for at, alone in there)
    answers = [one for _, alone in there for one in alone.answers]
    if not found.spans or any(one.kind != "point" for one in answers):
        return not (answers or found.spans)
    low, high = found.spans.low, found.spans.high
    slack = HOLDS * max(abs(low), abs(high))
    inside = all(low - slack <= one.point <= high + slack for one in answers)
    return inside and same_bound(one.bound for one in answers) == found.answers[0].bound


def _is_at(found: Solution, at: int, alone: Solution) -> bool:
    """Return whether a sweep has the answer of one of its points."""
    assert found.sweep
    table = found.sweep
    numbers = zip(table.values[:, at].tolist(), table.places[:, at].tolist(), strict=True)
    ours = sorted((value, table.bounds[place]) for value, place in numbers if value == value)
    theirs = sorted((one.point, one.bound) for one in alone.answers if one.kind == "point")
    same = [isclose(a, b, rel_tol=HOLDS) and side == other for (a, side), (b, other) in zip(ours, theirs, strict=False)]
    return len(ours) == len(theirs) and all(same)
