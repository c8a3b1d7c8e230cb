"""The span of an answer over ranges of its givens. Its ends are exact if it only rises or only falls with each of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from math import inf
from typing import Any, NamedTuple

import numpy as np

from derive.answers import COUNTED, Interval
from derive.expressions.curve import last_places
from derive.records import HOLDS
from derive.solving.many.arrays import Floats
from derive.solving.many.vectorised import (
    Along,
    AtPoints,
    add_directions,
    agrees_at,
    evaluate_along,
    evaluate_points,
    is_rounded,
    point_at,
    tabulate,
    tell_point,
)
from derive.solving.result import Answer, Answers, Point, Solution, Spans, Sweep, same_bound
from derive.units import show

SAMPLES = 2048
"""Random points in the box of the ranges, uniform and independent."""

_SEED = 20261121
_FLAT = 1e-6
"""Elasticity below which a given has no effect."""

_CLOSER = (16, SAMPLES // 16)
_CLOSER_ALONE = (6, 1)
"""How often the box around an extreme is halved to search there again, and at how many points, by arrays and one by one."""

_MOST_BORDERS = 16
"""Largest number of changes of regime along a range whose places are computed."""

_CORNERS = 6
"""Largest number of ranges whose corners are all asked. With more ranges only the ends of each range are."""

_CHECKED = 5
"""Points that are asked one by one, of each kind, to check the arrays: evenly spaced answers, and points without one."""

_SINGLY = 24
"""Random points that are asked one by one if arrays do not answer them."""

_FEWEST = 20
"""Fewest answers for which quantiles are computed."""

_QUANTILES = {"p05": 0.05, "p50": 0.5, "p95": 0.95}

_Ranges = Mapping[str, Interval]
_Ends = tuple[float, float]
_Solutions = Mapping[int, Solution]
"""The answers at points that were asked one by one."""


class _Box(NamedTuple):
    """Ranges, and the values at many points of them, with a row for each root."""

    ranges: _Ranges
    values: Callable[[AtPoints], Floats]
    closer: tuple[int, int]
    """How often the box around an extreme is halved to search there again, and at how many points."""


def answer_box(ask: Callable[[Point, bool], Answers], ranges: _Ranges, middle: Answers = ()) -> Answers:
    """Return the answers over all ranges at once: ends, quantiles, regimes, and the given that matters most.

    If an answer has a value everywhere and its elasticity with respect to each given has one sign, its ends are exact, at two corners.
    Otherwise they are the extremes that were seen, and `method` says so. The middle and all corners are asked alone, and random points too
    if arrays along the way of one answer do not agree with the points that are asked alone. If an answer is itself a bound, the values that
    hold at all points come first. The second argument of `ask` says that the point needs no warnings. `middle` has the answers at the
    middle of the ranges if they are known.
    """
    edges = _middle_and_corners(ranges)
    rows = {edges[0]: middle} if middle else {}

    def ask_once(point: Point) -> Answers:
        key = tuple(point.values())
        if key not in rows:
            # The middle and the corner of all least and of all greatest values have their warnings.
            rows[key] = ask(point, key not in {edges[0], edges[1], edges[-1]})
        return rows[key]

    first = ask_once(dict(zip(ranges, edges[0], strict=True)))
    if all(one.is_refused_for("missing_givens") for one in first):
        return first
    columns = _columns(ranges, edges)
    return tuple(_span(ranges, lambda at, place=place: ask_once(at)[place], columns, len(edges)) for place in range(len(first)))  # type: ignore[misc]


def _span(ranges: _Ranges, ask: Callable[[Point], Solution], columns: AtPoints, count: int) -> Solution:
    """Return one answer over ranges. The first `count` points are their middle and corners, the others are random."""
    points = _points_of({name: column[: count + _SINGLY] for name, column in columns.items()})
    looks = {at: ask(point) for at, point in enumerate(points[:count])}
    if along := _agreeing_along(ask, columns, looks):
        box = _Box(ranges, lambda at: _run_again(along, at).values, _CLOSER)
        return _span_points(box, along.table, looks, np.arange(count, count + SAMPLES), along)
    looks |= {at: ask(point) for at, point in enumerate(points)}
    given = {name: column[: len(points)] for name, column in columns.items()}
    answered = [at for at, solution in looks.items() if solution.answers]
    if not answered:
        return _refuse_everywhere(given, looks)
    if any(one.kind != "point" for at in answered for one in looks[at].answers):
        return _join_bounds(ranges, given, looks, answered)
    table = tabulate(given, [looks[at] for at in range(len(points))])
    box = _Box(ranges, lambda at: tabulate(at, [ask(point) for point in _points_of(at)]).values, _CLOSER_ALONE)
    return _span_points(box, table, looks, np.arange(count, len(points)), None)


def _agreeing_along(ask: Callable[[Point], Solution], columns: AtPoints, looks: dict[int, Solution]) -> Along | None:
    """Return the table by arrays if all points in it that are asked alone have its values. These points join the `looks`."""
    along = evaluate_along(columns, looks)
    if along is None or any(one.kind != "point" for solution in looks.values() for one in solution.answers):
        return None
    checked = {at: ask(point_at(columns, at)) for at in _points_to_check(along.table, looks)}
    if not all(agrees_at(along.table, at, solution) for at, solution in checked.items()):
        return None
    looks |= checked
    return along if any(solution.answers for solution in looks.values()) else None


def _points_of(columns: AtPoints) -> list[dict[str, float]]:
    return [dict(zip(columns, point, strict=True)) for point in zip(*(column.tolist() for column in columns.values()), strict=True)]


def _middle_and_corners(ranges: _Ranges) -> list[tuple[float, ...]]:
    """Return the middle and all corners of the box. With many ranges it has fewer corners and the ends of each range alone."""
    middle = tuple(one.shown for one in ranges.values())
    ends = [(one.low, one.high) for one in ranges.values()]
    if len(ranges) <= _CORNERS:
        return [middle, *product(*ends)]
    alone = [(*middle[:place], end, *middle[place + 1 :]) for place, pair in enumerate(ends) for end in pair]
    return [middle, *zip(*ends, strict=True), *alone]


def _columns(ranges: _Ranges, points: list[tuple[float, ...]]) -> AtPoints:
    """Return these points, then random points in the box."""
    random = np.random.default_rng(_SEED)
    drawn = {name: random.uniform(one.low, one.high, SAMPLES) for name, one in ranges.items()}
    return {name: np.concatenate([column, drawn[name]]) for name, column in zip(ranges, np.array(points).T, strict=True)}


def _points_to_check(table: Sweep, looks: _Solutions) -> list[int]:
    """Return points between the least and the greatest answer, so that each regime is among them, and points without an answer."""
    order = np.argsort(table.values[0])
    evenly = order[np.linspace(0, len(order) - 1, _CHECKED).astype(int)].tolist()
    empty = np.isnan(table.values).all(axis=0)
    unseen = empty if any(solution.answers for solution in looks.values()) else ~empty
    return [at for at in (*evenly, *np.flatnonzero(unseen)[:_CHECKED].tolist()) if at not in looks]


def _span_points(box: _Box, table: Sweep, looks: _Solutions, drawn: np.ndarray, arrays: Along | None) -> Solution:
    """Return the span of a table of points, by `arrays` along a way or asked one by one. Those at `drawn` lie anywhere in the ranges."""
    known = ~np.isnan(table.values)
    there = known.any(axis=0)
    shown, reference = next((at, solution) for at, solution in looks.items() if solution.answers)
    method, low, high = _find_ends(box, table, looks, there.all() and len(table.values) == 1)
    sides = _regimes(table, drawn, _borders(arrays) if arrays else [])
    seen = table.values[:, drawn][known[:, drawn]]
    spans = Spans(
        ranges={name: (one.low, one.high) for name, one in box.ranges.items()},
        method=method,
        low=low,
        high=high,
        quantiles={name: float(np.quantile(seen, share)) if len(seen) >= _FEWEST else None for name, share in _QUANTILES.items()},
        sides=tuple(sides) if len(sides) > 1 else tuple((label, low, high, share) for label, _, _, share in sides),
        tornado=_tornado(box),
        answered=float(there[drawn].mean()),
        samples=SAMPLES if arrays else len(looks),
        seed=_SEED,
        shown=point_at(table.given, shown),
    )
    # An exact answer is at least, and at most, what it is.
    bounds = {one.bound for solution in looks.values() for one in solution.answers} - {None}
    span = Answer(
        kind="interval",
        low=low,
        high=high,
        regime=sides[0][0] if len(sides) == 1 else None,
        elasticities=reference.answers[0].elasticities,
        bound=same_bound(bounds) if bounds else None,
    )
    where = f"in {_percent(1 - spans.answered)} of the ranges" if arrays else f"at {(~there).sum()} of {len(looks)} points of the ranges"
    missing = {} if there.all() else _tell_missing(table.given, where, looks)
    if len(bounds) > 1:
        missing["several bounds"] = "in part of the ranges the answer is at least its value, and in part at most"
    notes = () if arrays else (_tell_ranges(box.ranges, len(looks)),)
    return _replace_span(
        reference, (span,), table.given, looks, missing,
        assumptions=(*reference.assumptions, *notes), spans=spans,
    )  # fmt: skip


def _find_ends(box: _Box, table: Sweep, looks: _Solutions, one_everywhere: bool) -> tuple[str, float, float]:
    """Return the least and the greatest answer, and how they were found. A size in whole ones moves an answer in steps."""
    low, high = float(np.nanmin(table.values)), float(np.nanmax(table.values))
    ends = _exact_ends(box, looks) if one_everywhere else None
    if ends and ends[0] <= low * (1 + HOLDS) and ends[1] >= high * (1 - HOLDS):
        return ("sampled", min(low, ends[0]), max(high, ends[1])) if any(map(_has_steps, looks.values())) else ("bounds", *ends)
    low, high = (_search_closer(box, table, seek, best) for seek, best in ((np.fmin, low), (np.fmax, high)))
    return "sampled", low, high


def _has_steps(solution: Solution) -> bool:
    """Return whether an answer is a whole number, or at a size in whole ones that nobody gave."""
    return any(source.startswith("at ") for source in solution.provenance.values()) or (
        solution.unknown in COUNTED and any(one.bound and one.point == round(one.point) for one in solution.answers)
    )


def _exact_ends(box: _Box, looks: _Solutions) -> _Ends | None:
    """Return the answers at the two corners to which the signs of the elasticities point, or None if one of them changes its sign."""
    answers, ranges = [one for solution in looks.values() for one in solution.answers], box.ranges
    rises = {name: {one.elasticities[name] > 0 for one in answers if abs(one.elasticities.get(name, 0.0)) > _FLAT} for name in ranges}
    if any(len(signs) > 1 for signs in rises.values()):
        return None
    corners = {name: np.array(one.ends if True in rises[name] else one.ends[::-1]) for name, one in ranges.items()}
    low, high = box.values(corners)[0].tolist()
    return low, high


def _run_again(along: Along, columns: AtPoints) -> Sweep:
    """Return more points by a way that is known to have a closed form everywhere."""
    found = evaluate_points(along.asked, columns, along.way)
    assert found is not None, "a route with a closed form at other points has no closed form here"
    return add_directions(along.asked, along.way, found[0]) if is_rounded(along.asked) else found[0]


def _search_closer(box: _Box, table: Sweep, seek: np.ufunc, best: float) -> float:
    """Return the extreme answer that was seen, improved in smaller and smaller boxes around it."""
    random = np.random.default_rng(_SEED)
    where = int(np.flatnonzero(table.values == best)[0]) % table.values.shape[1]
    centre = point_at(table.given, where)
    halvings, count = box.closer
    for halving in range(halvings):
        reach = {name: (one.high - one.low) / 2 ** (halving + 1) for name, one in box.ranges.items()}
        near = {
            name: np.clip(centre[name] + random.uniform(-reach[name], reach[name], count), one.low, one.high)
            for name, one in box.ranges.items()
        }
        found = seek.reduce(box.values(near), axis=0)
        extreme = float(seek.reduce(found))
        if seek(extreme, best) != best:
            best, at = extreme, int(np.flatnonzero(found == extreme)[0])
            centre = point_at(near, at)
    return best


def _regimes(table: Sweep, drawn: np.ndarray, borders: list[tuple[str | None, float]]) -> list[tuple[str | None, float, float, float]]:
    """Return each regime with its least and greatest answer and its share of the points drawn, the largest share first."""
    found = []
    for place, label in enumerate(table.labels):
        inside = (table.places == place) & ~np.isnan(table.values)
        if inside.any():
            seen = [*table.values[inside], *(value for name, value in borders if name == label)]
            found.append((label, float(min(seen)), float(max(seen)), float(inside[:, drawn].any(axis=0).mean())))
    return sorted(found, key=lambda side: -side[3])


def _borders(along: Along) -> list[tuple[str | None, float]]:
    """Return the answers along a single range where one regime ends and another begins, one for each."""
    table = along.table
    if len(table.given) > 1 or len(table.values) > 1:
        return []
    ((name, column),) = table.given.items()
    order = np.argsort(column)
    labels, values = _labels_of(table)[order], table.values[0][order]
    at = np.flatnonzero((labels[1:] != labels[:-1]) & ~np.isnan(values[1:] + values[:-1]))
    found: list[tuple[str | None, float]] = []
    for one in at if len(at) <= _MOST_BORDERS else ():
        inside, outside = column[order[[one, one + 1]]].tolist()
        here = partial(_has_regime, along, name, labels[one])
        (last,) = last_places(np.array([inside]), np.array([outside]), here).tolist()
        met = float(_run_again(along, {name: np.array([last])}).values[0][0])
        found += [(side, met) for side in labels[[one, one + 1]]] if met == met else []
    return found


def _has_regime(along: Along, name: str, label: str | None, places: np.ndarray) -> np.ndarray:
    return np.asarray(_labels_of(_run_again(along, {name: places})) == label)


def _labels_of(table: Sweep) -> np.ndarray:
    """Return the regime of the first answer at each point."""
    return np.asarray(np.array(table.labels, dtype=object)[table.places[0]])


def _tornado(box: _Box) -> tuple[tuple[str, float, float], ...]:
    """Return the answer at both ends of each range, the other ranges at their middle, the largest change first."""
    columns = {name: np.array([one.shown] * 2 * len(box.ranges)) for name, one in box.ranges.items()}
    for place, (name, one) in enumerate(box.ranges.items()):
        columns[name][2 * place : 2 * place + 2] = one.low, one.high
    ends = box.values(columns)[0].reshape(-1, 2).tolist()
    rows = [(name, low, high) for name, (low, high) in zip(box.ranges, ends, strict=True) if low == low and high == high]
    return tuple(sorted(rows, key=lambda row: -abs(row[2] - row[1])))


def _join_bounds(ranges: _Ranges, columns: AtPoints, looks: _Solutions, answered: list[int]) -> Solution:
    """Return the values that all points leave if the answers are bounds, else the least and the greatest of all points."""
    reference = looks[answered[0]]
    answers = [one for at in answered for one in looks[at].answers]
    labels = {one.regime for one in answers}
    held = [[_stretch(one) for one in looks[at].answers] for at in answered]
    low, high = min(low for one in held for low, _ in one), _finite(max(high for one in held for _, high in one))
    loose = Answer(kind="loose", regime=labels.pop() if len(labels) == 1 else None, loose_low=low, loose_high=high)
    notes = [] if {one.kind for one in answers} == {"interval"} else ["it has a value in one part, and only bounds in the other"]
    both = [(low, high or inf)] if notes else _common(held)
    common = [replace(loose, kind="interval", low=least, high=_finite(most)) for least, most in both]
    without = len(looks) - len(answered)
    missing = _tell_missing(columns, f"at {without} of {len(looks)} points of the ranges", looks) if without else {}
    told = (*reference.assumptions, *notes, _tell_ranges(ranges, len(looks)))
    return _replace_span(reference, tuple(common) or (loose,), columns, looks, missing, assumptions=told, route=(), spans=None)


def _stretch(found: Answer) -> _Ends:
    least, most = found.ends
    return least, inf if most is None else most


def _finite(end: float) -> float | None:
    return None if end == inf else end


def _common(held: list[list[_Ends]]) -> list[_Ends]:
    """Return the intervals that the answers of all points have in common.

    >>> _common([[(1.0, 3.0)], [(2.0, inf)]]), _common([[(1.0, 2.0)], [(3.0, 4.0)]])
    ([(2.0, 3.0)], [])
    """
    left, *others = held
    for stretches in others:
        both = ((max(a, c), min(b, d)) for a, b in left for c, d in stretches)
        left = [(low, max(low, high)) for low, high in both if low <= high * (1 + HOLDS)]
    return left


def _refuse_everywhere(columns: AtPoints, looks: _Solutions) -> Solution:
    """Return the reason at the middle if no point has an answer."""
    solution = looks[0]
    message = f"no answer at any of {len(looks)} points of the ranges. {tell_point(columns, 0)}: {solution.refusal.message}"
    return replace(solution, reason=replace(solution.refusal, message=message))


def _tell_missing(columns: AtPoints, where: str, looks: _Solutions) -> dict[str, str]:
    """Return in what share of the ranges there is no answer, and why at one of the points."""
    failed = next(((at, solution.refusal) for at, solution in looks.items() if solution.reason), None)
    why = f"; {tell_point(columns, failed[0])}: {failed[1].message.splitlines()[0]}" if failed else ""
    return {"no answer": f"no answer {where}{why}"}


def _tell_ranges(ranges: _Ranges, count: int) -> str:
    """Return the ranges, and at how many points of them the question was asked."""
    over = " and ".join(f"{name} from {show(name, one.low)} to {show(name, one.high)}" for name, one in ranges.items())
    corners = "all corners" if len(ranges) <= _CORNERS else "both ends of each alone, but not all corners,"
    return f"{over}: computed at {count} points, including {corners}"


def _percent(share: float) -> str:
    if 0.0005 <= share <= 0.9995:
        return f"{100 * share:.3g} %"
    return "more than 99.9 %" if share > 0.5 else "less than 0.1 %"


def _replace_span(
    reference: Solution, found: tuple[Answer, ...], columns: AtPoints, looks: _Solutions, missing: dict[str, str], **rest: Any
) -> Solution:
    """Return the reference answer with the span of all points, the warnings of the first point that has some, and what is missing."""
    at, warned = next(((at, one) for at, one in looks.items() if one.warnings), (0, looks[0]))
    told = {kind: f"{tell_point(columns, at)}: {text}" for kind, text in warned.doubts.items()} | missing
    given = {name: value for name, value in reference.given.items() if name not in columns}
    chips = {one.beside["deploy"] for one in looks.values() if one.deployments}
    lead = (f"{reference.unknown} >= {min(chips):.0f} to {max(chips):.0f}   whole replicas",) if chips else ()
    return replace(
        reference, answers=found, given=given, warnings=tuple(told.values()), kinds=tuple(told), said=(), lead=lead,
        with_prompts=None, deployments=(), **rest,
    )  # fmt: skip
