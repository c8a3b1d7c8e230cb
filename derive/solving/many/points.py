"""Lists, sweeps and ranges: each of their points has the answer that it has alone.

Few points are asked one by one. For many points, arrays repeat the way of one point if other points agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from time import process_time
from typing import Any

import numpy as np

from derive.answers import DECODE_ALONE, SHORT, Interval, Series, Spread
from derive.errors import WrongValue
from derive.records import LOWER, UPPER
from derive.roles import Prompts
from derive.solving.deployments.prompts import given_with_prompts
from derive.solving.many.intervals import answer_box
from derive.solving.many.vectorised import Along, AtPoints, count_points, evaluate_along, point_at, put_in, tabulate, tell_point
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import MOST_POINTS, as_typed, is_limit, is_symbolic, list_spreads, read_limits, spread
from derive.solving.question.propagation import rows_behind
from derive.solving.result import Answer, Answers, Point, Solution, Sweep
from derive.units import signed

Ask = Callable[[Mapping[str, Any], Switches], Answers]
"""One question or several: the givens and the switches lead to an answer each."""

_AskAt = Callable[[Point, bool], Answers]
"""A question at a point of the series, and whether it needs no warnings there."""

_FEW = 64
"""Up to how many points are answered one by one."""

_EXPLAINED = 100
"""For how many points without a number the reason is looked up."""

_PROBES = 5
"""How many points of a long sweep are asked one by one to check the arrays. The first, the middle and the last one have their warnings."""

MOST_BYTES = 500_000_000
"""Memory above which a sweep is refused before it starts."""

BASE_BYTES = 200_000_000
"""Memory of the interpreter, the catalogue and the intermediate values."""

_LONGEST = 60
"""Seconds of computing above which points are not asked one by one."""

TRIED = 1.0
"""Seconds after which the time of all points is estimated."""


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
    if not box:
        return middle
    found = answer_box(lambda at, silent: ask(*_pose_at(given, switches, at, silent)), box, () if of_presets else middle)
    records = {one.along[0].record for one in middle if one.along} if of_presets else set[str]()
    found = tuple(replace(one, said=(*one.said, *filter(None, records))) if one.spans else one for one in found)
    beside = given_with_prompts(given) if any(one.with_prompts and not one.lead for one in middle) else None
    if beside is None:
        return found
    together = _answer_ranges(ask, beside, switches.join(*switches.using, Prompts.together))
    return tuple(_put_beside(*pair) for pair in zip(found, together, strict=True))


def _put_beside(alone: Solution, together: Solution) -> Solution:
    """Return the answer for decode alone over ranges, with the ends of the answer with prompts on the same chips."""
    if not (alone.spans and together.spans and DECODE_ALONE in alone.kinds):
        return alone
    return replace(alone, with_prompts=Answer(kind="interval", low=together.spans.low, high=together.spans.high))


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


def answer_series(ask: _AskAt, series: Mapping[str, Series], zipped: bool) -> Answers:
    """Return the answers at every combination of the series, the last one fastest, by arrays or each point asked alone.

    Zipped, at the first values of all series, the second ones, and so on. Raises WrongValue for series of other lengths, for too many
    points, and for too long a time.
    """
    given = _list_points(series, zipped)
    if count_points(given) > _FEW and (found := _answer_by_arrays(ask, given, series)):
        return found
    rows = _ask_each(ask, given)
    return tuple(_gather_points(given, [row[place] for row in rows]) for place in range(len(rows[0])))


def _list_points(series: Mapping[str, Series], zipped: bool) -> AtPoints:
    """Return a column for each series. Every combination is a row, unless they are zipped.

    Raise WrongValue for zipped series of different lengths, and for more points than are allowed or fit in memory.
    """
    lengths = {len(one) for one in series.values()}
    if zipped and len(lengths) > 1:
        raise WrongValue(f"{' and '.join(f'{name} ({len(one)})' for name, one in series.items())}: --zip needs lists of equal length")
    count = lengths.pop() if zipped else prod(len(one) for one in series.values())
    if count > MOST_POINTS:
        raise WrongValue(f"{' times '.join(series)} has {count:.4g} points; at most {MOST_POINTS:,} in one sweep, all series together")
    _fits_here(series, count, roots=1)
    columns = [one.array() for one in series.values()]
    grid = columns if zipped else [np.ascontiguousarray(column.ravel()) for column in np.meshgrid(*columns, indexing="ij")]
    return dict(zip(series, grid, strict=True))


def _answer_by_arrays(ask: _AskAt, given: AtPoints, series: Mapping[str, Series]) -> Answers | None:
    """Return the answers at all points through one way for each unknown, or None if arrays do not have what some points have alone."""
    probes = _probes(given)
    loud = {probes[0], probes[len(probes) // 2], probes[-1]}
    looks = {at: ask(point_at(given, at), at not in loud) for at in probes}
    found = []
    for place in range(len(looks[probes[0]])):
        alone = {at: answers[place] for at, answers in looks.items()}
        _fits_here(series, count_points(given), max(len(one.answers) for one in alone.values()))
        along = evaluate_along(given, alone, sides=True)
        if along is None:
            return None
        found.append(_table_points(lambda at, place=place: ask(point_at(given, at), False)[place], along, alone))  # type: ignore[misc]
    return tuple(found)


def _table_points(ask: Callable[[int], Solution], along: Along, looks: Mapping[int, Solution]) -> Solution:
    """Return one solution for a table by arrays, with the warnings of the points that were asked alone."""
    table, short = along.table, np.flatnonzero(along.short)
    empty = np.flatnonzero(np.isnan(table.values).all(axis=0)).tolist()
    explained = {at: ask(at) for at in empty[:_EXPLAINED]}
    warnings = {kind: _warned(table.given, *next(iter(texts.items())), 1) for kind, texts in _group_warnings(looks).items()}
    if len(short):
        # Memory has been checked at all points, not only at some.
        first = int(short[0])
        told = ask(first).doubts.get(SHORT, "does not fit")
        warnings = {SHORT: _warned(table.given, first, told, len(short))} | {kind: one for kind, one in warnings.items() if kind != SHORT}
    if len(empty) > len(explained):
        reasons = f"The reason is known for the first {len(explained):,}"
        warnings["without a number"] = f"{len(empty) - len(explained):,} more points have no number. {reasons}"
    return _tabled([*looks.values()], put_in(table, explained) if explained else table, warnings)


def _ask_each(ask: _AskAt, given: AtPoints) -> list[Answers]:
    """Return the answers of each point, or of the first one if all lack inputs."""
    count, begun = count_points(given), process_time()
    rows = [ask(point_at(given, 0), False)]

    def lacks_inputs(found: Answers) -> bool:
        return all(one.is_refused_for("missing_givens") for one in found)

    # A value of 0 has its own equations.
    zeros = np.flatnonzero(np.any([column == 0 for column in given.values()], axis=0))[:1].tolist()
    if lacks_inputs(rows[0]) and all(lacks_inputs(ask(point_at(given, at), False)) for at in zeros):
        return rows
    for at in range(1, count):
        rows.append(ask(point_at(given, at), False))
        spent = process_time() - begun
        if spent > TRIED and spent * count / len(rows) > _LONGEST:
            raise WrongValue(
                f"{rows[0][0].unknown} has different routes here or no closed form, so it is solved point by point: {count:,} points would"
                f" take about {spent * count / len(rows):,.0f} s; at most {_LONGEST} s, which are about"
                f" {int(_LONGEST * len(rows) / spent):,} points"
            )
    return rows


def _gather_points(given: AtPoints, solutions: list[Solution]) -> Solution:
    """Return the answers of all points as one solution, with a column of each size that they are answered at."""
    if all(one.is_refused_for("missing_givens") for one in solutions):
        return solutions[0]
    said = _group_warnings(dict(enumerate(solutions)))
    answered = {at for at, solution in enumerate(solutions) if solution.answers}
    warnings = {kind: _merge_warnings(given, texts, answered) for kind, texts in said.items()}
    table = tabulate(given, solutions)
    sizes = {name for one in solutions for name, source in one.provenance.items() if source.startswith(f"at {name} = ")}
    # Over ranges a point has several sizes.
    columns = {name: [one.given.get(name) if one.answers and not one.spans else None for one in solutions] for name in sorted(sizes)}
    found = {name: np.array(column, dtype=float) for name, column in columns.items() if None not in column}
    remarks = {name: np.array([one.beside.get(name, np.nan) for one in solutions]) for one in solutions for name in one.beside}
    return _tabled(solutions, replace(table, given={**table.given, **found}, beside=remarks), warnings)


def _probes(given: AtPoints) -> list[int]:
    """Return the points of a long sweep that are asked singly. A point at which a column is 0 comes after the others."""
    count = count_points(given)
    nothing = {int(np.flatnonzero(column == 0)[0]) for column in given.values() if (column == 0).any()}
    evenly = {int(at) for at in np.linspace(0, count - 1, _PROBES)}
    return sorted(evenly | nothing, key=lambda at: (any(column[at] == 0 for column in given.values()), at))


def _fits_here(series: Mapping[str, Series], count: int, roots: int) -> None:
    """Raise WrongValue if the sweep would not fit in memory: eight bytes a point and column, ten a point and root."""
    needed = BASE_BYTES + count * (8 * len(series) + 10 * roots) + 40 * sum(len(one.values) for one in series.values())
    if needed > MOST_BYTES:
        fewer = int(count * (MOST_BYTES - BASE_BYTES) / (needed - BASE_BYTES))
        raise WrongValue(
            f"{' times '.join(series)} takes {count:,} points, about {needed / 1e6:,.0f} MB of memory; at most {MOST_BYTES / 1e6:,.0f} MB:"
            f" ask for {fewer:,} points or fewer, or for one part after another"
        )


def _group_warnings(solutions: Mapping[int, Solution]) -> dict[str, dict[int, str]]:
    """Return the points of each kind of warning, with its text there."""
    found: dict[str, dict[int, str]] = {}
    for at, solution in solutions.items():
        for kind, text in zip(solution.kinds, solution.warnings, strict=True):
            found.setdefault(kind, {}).setdefault(at, text)
    return found


def _merge_warnings(given: AtPoints, texts: Mapping[int, str], answered: set[int]) -> str:
    """Return one text for all points: the common text if they agree, else the text of the first point."""
    at, text = next(iter(texts.items()))
    return text if texts.keys() >= answered and {*texts.values()} == {text} else _warned(given, at, text, len(texts))


def _warned(given: AtPoints, at: int, text: str, many: int) -> str:
    """Return a warning with its point and the number of other points that have it."""
    others = f" (and a similar reason at {many - 1:,} more point{'s' * (many > 2)})" if many > 1 else ""
    return f"{tell_point(given, at)}{others}: {text}"


def _tabled(solutions: list[Solution], table: Sweep, warnings: Mapping[str, str]) -> Solution:
    """Return one solution for all points: the span of the answers, and the table."""
    first = next((solution for solution in solutions if solution.answers), solutions[0])
    ends = [one.ends for answers, _ in table.others.values() for one in answers]
    if not np.isnan(table.values).all():
        ends.append((float(np.nanmin(table.values)), float(np.nanmax(table.values))))
    highs = [high for _, high in ends if high is not None]
    most = max(highs) if len(highs) == len(ends) > 0 else None
    span = (Answer(kind="interval", low=min(low for low, _ in ends), high=most, bound=table.bound),) if ends else ()
    kept = {name: value for name, value in first.given.items() if name not in table.given}
    ids = tuple(dict.fromkeys(id for solution in solutions for id in solution.equations))
    answered = [solution for solution in solutions if solution.answers]
    unused = tuple(name for name in first.unused if all(name in solution.unused for solution in answered))
    return replace(
        first.with_doubts(warnings), answers=span, given=kept, equations=ids, unused=unused, said=(), route=(), sweep=table,
        with_prompts=None, lead=(), deployments=(),
    )  # fmt: skip
