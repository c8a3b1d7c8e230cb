"""Lists and ranges: each of their points has the answer that it has alone. Arrays repeat the way of one point if other points agree."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from derive.errors import WrongValue
from derive.records import LOWER, UPPER
from derive.solving.many.intervals import answer_box
from derive.solving.many.sweeps import answer_series
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import is_limit, is_symbolic, read_limits, spread
from derive.solving.question.propagation import rows_behind
from derive.solving.question.switches import as_typed, list_spreads
from derive.solving.result import Answers, Point, Solution
from derive.spreads import Interval, Series, Spread
from derive.units import signed

Ask = Callable[[Mapping[str, Any], Switches], Answers]
"""One question or several: the givens and the switches lead to an answer each."""


def answer_many(ask: Ask, given: Mapping[str, Any], switches: Switches) -> Answers:
    """Return the answers at every point of the lists and sweeps, each over all ranges, also over those of presets."""
    spreads = _list_typed(given, switches)
    if symbols := [name for name, value in given.items() if is_symbolic(value)]:
        raise WrongValue(f"{min(spreads)} is a range or a list. With symbols ({symbols[0]}), each given must be one number")
    if series := {name: one for name, one in spreads.items() if isinstance(one, Series)}:
        return answer_series(lambda at, silent: _answer_ranges(ask, *_pose_at(given, switches, at, silent)), series, switches.zipped)
    return _answer_ranges(ask, given, switches)


def _answer_ranges(ask: Ask, given: Mapping[str, Any], switches: Switches) -> Answers:
    """Return the answers over all ranges that were typed, and over those of presets on which the answers at their middle rest."""
    box = {name: one for name, one in _list_typed(given, switches).items() if isinstance(one, Interval)}
    middle = ask(*_pose_at(given, switches, {name: one.shown for name, one in box.items()}))
    of_presets = {name: one for solution in middle for name, one in _ranges_of_presets(solution).items()}
    box |= of_presets
    if not box or all(one.is_refused_for("missing_givens") for one in middle):
        return middle
    found = answer_box(lambda at, silent: ask(*_pose_at(given, switches, at, silent)), box, () if of_presets else middle)
    records = {one.along[0].record for one in middle if one.along} if of_presets else set[str]()
    return tuple(replace(one, said=(*one.said, *filter(None, records))) if one.spans else one for one in found)


def _ranges_of_presets(solution: Solution) -> dict[str, Interval]:
    """Return the ranges of presets on which an answer rests, or a limit that does not bind it."""
    if not solution.along or not solution.along[0].ranges:
        return {}
    asked, _ = solution.along
    behind = {name for row in rows_behind((*asked.limits,), asked.active) for name in row.inputs}
    return {name: one for name, one in asked.ranges.items() if name in solution.given or name in behind}


def _list_typed(given: Mapping[str, Any], switches: Switches) -> dict[str, Spread]:
    """Return the ranges, lists and sweeps that were typed, by registry name. Beside one of them a limit from both sides is a range too."""
    plain, sides = read_limits(given)
    found = list_spreads(plain, switches)
    read = switches.conventions.read
    single = {name: texts for name, texts in sides.items() if not any(spread(name, text, read) for text in texts.values())}
    both = {name: Interval(read(name, texts[LOWER]), read(name, texts[UPPER])) for name, texts in single.items() if len(texts) > 1}
    return {**both, **found} if found else {}


def _pose_at(given: Mapping[str, Any], switches: Switches, at: Point, silent: bool = False) -> tuple[Mapping[str, Any], Switches]:
    """Return the givens and switches at one point. A given limit stays a limit. A range of presets has its value in the switches."""
    there = {name: _given_at(given[name], name, value, switches) for name, value in at.items() if name in given}
    others = {name: value for name, value in at.items() if name not in given}
    return {**given, **there}, replace(switches, at={**switches.at, **others}, silent=silent or switches.silent)


def _given_at(typed: Any, name: str, value: float, switches: Switches) -> Any:
    """Return one value of a given as it is read: a limit over several values keeps its sign, between two limits lie plain values."""
    number = as_typed(name, value, switches)
    parts = signed(typed) if is_limit(typed) else ()
    over = [one for one in parts if spread(name, one[2:], switches.conventions.read)]
    return " ".join(f"{one[:2]}{number!r}" if one in over else one for one in parts) if over else number
