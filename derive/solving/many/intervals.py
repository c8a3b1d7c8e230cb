"""The span of an answer over ranges of its givens. Its ends are exact if it only rises or only falls with each of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from math import inf
from typing import Any, NamedTuple

import numpy as np

from derive.answers import COUNTED, Interval
from derive.records import HOLDS
from derive.solving.many.vectorised import (
    Along,
    AtPoints,
    agrees_at,
    evaluate_along,
    is_rounded,
    join_tables,
    point_at,
    run_along,
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

_HALVINGS, _NEAR = 24, 64
"""How often the box around the extremes of a regime is halved to search there again, and at how many points around each."""

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
    """Ranges, and the points of them that come first: the middle, so many corners, and the ends of each range beside the middle.

    `columns` has these points, and then random ones.
    """

    ranges: _Ranges
    points: list[tuple[float, ...]]
    corners: int
    columns: AtPoints


def answer_box(ask: Callable[[Point, bool], Answers], ranges: _Ranges, middle: Answers = ()) -> Answers:
    """Return the answers over all ranges at once: ends, quantiles, regimes, and the given that matters most.

    If an answer has a value everywhere and its elasticity with respect to each given has one sign, its ends are exact, at two corners.
    Otherwise they are the extremes that were seen, and `method` says so. The middle and all corners are asked alone, and random points too
    if arrays along the way of one answer do not agree with the points that are asked alone. If an answer is itself a bound, the values that
    hold at all points come first. The second argument of `ask` says that the point needs no warnings. `middle` has the answers at the
    middle of the ranges if they are known.
    """
    box = _place_box(ranges)

    @cache
    def ask_once(at: int) -> Answers:
        # The middle and the corner of all least and of all greatest values have their warnings.
        return middle if middle and not at else ask(point_at(box.columns, at), at not in {0, 1, box.corners})

    first = ask_once(0)
    if all(one.is_refused_for("missing_givens") for one in first):
        return first
    return tuple(_span(box, lambda at, place=place: ask_once(at)[place]) for place in range(len(first)))  # type: ignore[misc]


def _span(box: _Box, ask: Callable[[int], Solution]) -> Solution:
    """Return one answer over ranges, by arrays or at points that are asked one by one."""
    looks = {at: ask(at) for at in range(box.corners + 1)}
    if along := _agreeing_along(ask, box.columns, looks):
        return _span_points(box, along.table, looks, along)
    looks = {at: ask(at) for at in range(len(box.points) + _SINGLY)}
    given = {name: column[: len(looks)] for name, column in box.columns.items()}
    answered = [at for at, solution in looks.items() if solution.answers]
    if not answered:
        return _refuse_everywhere(given, looks)
    if any(one.kind != "point" for at in answered for one in looks[at].answers):
        return _join_bounds(box.ranges, given, looks, answered)
    return _span_points(box, tabulate(given, [*looks.values()]), looks, None)


def _agreeing_along(ask: Callable[[int], Solution], columns: AtPoints, looks: dict[int, Solution]) -> Along | None:
    """Return the table by arrays if all points in it that are asked alone have its values. These points join the `looks`."""
    along = evaluate_along(columns, looks)
    if along is None or any(one.kind != "point" for solution in looks.values() for one in solution.answers):
        return None
    checked = {at: ask(at) for at in _points_to_check(along.table, looks)}
    if not all(agrees_at(along.table, at, solution) for at, solution in checked.items()):
        return None
    looks |= checked
    return along if any(solution.answers for solution in looks.values()) else None


def _place_box(ranges: _Ranges) -> _Box:
    """Return the box of the ranges. With many of them only two of its corners are among its points."""
    middle = tuple(one.shown for one in ranges.values())
    ends = [one.ends for one in ranges.values()]
    corners = [*(product(*ends) if len(ranges) <= _CORNERS else zip(*ends, strict=True))]
    alone = [(*middle[:place], end, *middle[place + 1 :]) for place, pair in enumerate(ends) for end in pair]
    points, random = list(dict.fromkeys([middle, *corners, *alone])), np.random.default_rng(_SEED)
    drawn = (random.uniform(one.low, one.high, SAMPLES) for one in ranges.values())
    columns = (np.concatenate(both) for both in zip(np.array(points).T, drawn, strict=True))
    return _Box(ranges, points, len(corners), dict(zip(ranges, columns, strict=True)))


def _points_to_check(table: Sweep, looks: _Solutions) -> list[int]:
    """Return points between the least and the greatest answer, so that each regime is among them, and points without an answer."""
    order = np.argsort(table.values[0])
    evenly = order[np.linspace(0, len(order) - 1, _CHECKED).astype(int)].tolist()
    empty = np.isnan(table.values).all(axis=0)
    unseen = empty if any(solution.answers for solution in looks.values()) else ~empty
    return [at for at in (*evenly, *np.flatnonzero(unseen)[:_CHECKED].tolist()) if at not in looks]


def _span_points(box: _Box, table: Sweep, looks: _Solutions, along: Along | None) -> Solution:
    """Return the span of a table of points, by arrays along a way or asked one by one. Shares and quantiles are those of random points."""
    known, drawn = ~np.isnan(table.values), np.arange(len(box.points), len(table))
    there = known.any(axis=0)
    shown, reference = next((at, solution) for at, solution in looks.items() if solution.answers)
    exact = _ends_are_exact(box, table, looks)
    whole = exact and len(_regimes_of(table)) == 1
    closer = table if along is None or whole or is_rounded(along.asked) else _look_closer(along, box.ranges)
    ends = table.values if exact else closer.values
    low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
    sides = _sides(closer, drawn)
    seen = table.values[:, drawn][known[:, drawn]]
    spans = Spans(
        ranges={name: one.ends for name, one in box.ranges.items()},
        method="bounds" if exact and not any(map(_has_steps, looks.values())) else "sampled",
        low=low,
        high=high,
        quantiles={name: float(np.quantile(seen, share)) if len(seen) >= _FEWEST else None for name, share in _QUANTILES.items()},
        sides=tuple(sides) if len(sides) > 1 else tuple((label, low, high, share) for label, _, _, share in sides),
        tornado=_tornado(box, table),
        answered=float(there[drawn].mean()),
        samples=SAMPLES if along else len(looks),
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
    where = f"in {_percent(1 - spans.answered)} of the ranges" if along else f"at {(~there).sum()} of {len(looks)} points of the ranges"
    missing = {} if there.all() else _tell_missing(table.given, where, looks)
    if len(bounds) > 1:
        missing["several bounds"] = "in part of the ranges the answer is at least its value, and in part at most"
    notes = () if along else (_tell_ranges(box.ranges, len(looks)),)
    return _replace_span(
        reference, (span,), table.given, looks, missing,
        assumptions=(*reference.assumptions, *notes), spans=spans,
    )  # fmt: skip


def _ends_are_exact(box: _Box, table: Sweep, looks: _Solutions) -> bool:
    """Return whether the least and the greatest answer are at corners, and one answer everywhere only rises or falls with each given."""
    if len(box.ranges) > _CORNERS or len(table.values) > 1 or np.isnan(table.values).any():
        return False
    values, corners = table.values[0], table.values[0][1 : box.corners + 1]
    if corners.min() > values.min() * (1 + HOLDS) or corners.max() < values.max() * (1 - HOLDS):
        return False
    slopes = [one.elasticities for solution in looks.values() for one in solution.answers]
    moves = [[by[name] for by in slopes if abs(by.get(name, 0.0)) > _FLAT] for name in box.ranges]
    return all(len({slope > 0 for slope in some}) < 2 for some in moves)


def _has_steps(solution: Solution) -> bool:
    """Return whether an answer is a whole number, or at a size in whole ones that nobody gave."""
    return any(source.startswith("at ") for source in solution.provenance.values()) or (
        solution.unknown in COUNTED and any(one.bound and one.point == round(one.point) for one in solution.answers)
    )


def _look_closer(along: Along, ranges: _Ranges) -> Sweep:
    """Return the table with further points, closer and closer to the least and the greatest answer of each regime."""
    random, table = np.random.default_rng(_SEED), along.table
    for halving in range(_HALVINGS):
        ends = ((np.where(inside, table.values, inf), np.where(inside, -table.values, inf)) for _, inside in _regimes_of(table))
        at = np.array([np.argmin(values) % len(table) for pair in ends for values in pair])
        near = {}
        for name, one in ranges.items():
            reach = (one.high - one.low) / 2 ** (halving + 1)
            beside = table.given[name][at][:, None] + random.uniform(-reach, reach, (len(at), _NEAR))
            near[name] = np.clip(beside, one.low, one.high).ravel()
        if further := run_along(along.asked, along.way, near):
            given = {name: np.concatenate([column, near[name]]) for name, column in table.given.items()}
            table = join_tables(given, [table, further.table])
    return table


def _regimes_of(table: Sweep) -> list[tuple[str | None, np.ndarray]]:
    """Return the regimes of a table, with where they have an answer."""
    found = ((label, (table.places == place) & ~np.isnan(table.values)) for place, label in enumerate(table.labels))
    return [(label, inside) for label, inside in found if inside.any()]


def _sides(table: Sweep, drawn: np.ndarray) -> list[tuple[str | None, float, float, float]]:
    """Return each regime with its least and greatest answer and its share of the points drawn, the largest share first."""
    seen = [(label, table.values[inside], inside[:, drawn].any(axis=0)) for label, inside in _regimes_of(table)]
    sides = [(label, float(values.min()), float(values.max()), float(there.mean())) for label, values, there in seen]
    return sorted(sides, key=lambda side: -side[3])


def _tornado(box: _Box, table: Sweep) -> tuple[tuple[str, float, float], ...]:
    """Return the answer at both ends of each range, the other ranges at their middle, the largest change first."""
    rows, middle = [], dict(zip(box.ranges, box.points[0], strict=True))
    for name, one in box.ranges.items():
        low, high = (float(table.values[0][box.points.index(tuple({**middle, name: end}.values()))]) for end in one.ends)
        rows += [(name, low, high)] if low == low and high == high else []
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
        reference.with_doubts(told), answers=found, given=given, said=(), lead=lead, with_prompts=None, deployments=(), **rest
    )  # fmt: skip
