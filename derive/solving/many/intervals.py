"""The span of an answer over ranges of its givens. Its ends are exact if it only rises or only falls with each of them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from math import inf
from typing import Any

import numpy as np

from derive.expressions.curve import last_places
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.engine.plan import Way
from derive.solving.limits.answering import answer
from derive.solving.many.vectorised import AtPoints, Looks, agrees_at, evaluate_points, look_at, sweep_along_way, tabulate, tell_point
from derive.solving.question.questions import Question, pose_at
from derive.solving.result import Answer, Solution, Spans, Sweep, same_bound
from derive.spreads import Interval
from derive.units import show

SAMPLES = 2048
"""Random points in the box of the ranges, uniform and independent."""

_SEED = 20261121
_FLAT = 1e-6
"""Elasticity below which a given has no effect."""

_CLOSER = 16
"""How often the box around an extreme is halved, to search there again."""

_MOST_BORDERS = 16
"""Largest number of changes of regime along a range whose places are computed."""

_CORNERS = 6
"""Largest number of ranges whose corners are all asked. With more ranges only the ends of each range are."""

_CHECKED = 7
"""Points that are asked one by one, of each kind, to check the arrays: random ones, evenly spaced answers, and points without one."""

_SINGLY = 48
"""Random points that are asked one by one if arrays do not answer them."""

_FEWEST = 20
"""Fewest answers for which quantiles are computed."""

_QUANTILES = {"p05": 0.05, "p50": 0.5, "p95": 0.95}

_Ranges = Mapping[str, Interval]
_Ends = tuple[float, float]


def answer_ranges(asked: Question, ranges: _Ranges) -> Solution:
    """Return the answer over all ranges at once: ends, quantiles, regimes, and the given that matters most.

    If the answer has a value everywhere and its elasticity with respect to each given has one sign, its ends are exact, at two corners.
    Otherwise they are the extremes that were seen, and `method` says so. If the answer is itself a bound, the values that hold at all
    points come first. Warnings come from the middle and the corners.
    """
    edges = _middle_and_corners(ranges)
    columns = _columns(ranges, edges)
    first = look_at(asked, columns, [0])
    if (reason := first[0][0].reason) and reason.code == "missing_givens":
        return first[0][0]
    beside = replace(asked, silent=True)
    looks = first | look_at(asked, columns, range(1, len(edges))) | look_at(beside, columns, range(len(edges), len(edges) + _CHECKED))
    found = sweep_along_way(asked, columns, looks)
    if found:
        looks |= look_at(beside, columns, _points_to_check(found.table, looks))
    if not found or not all(agrees_at(found.table, at, solution) for at, (solution, _) in looks.items()):
        found, looks = None, looks | look_at(beside, columns, range(len(edges) + _CHECKED, len(edges) + _SINGLY))
    answered = [at for at, (solution, _) in looks.items() if solution.answers]
    if not answered:
        return _refuse_everywhere(columns, looks)
    if answered[0] >= len(edges):
        # The warnings come from the first answer.
        looks |= look_at(asked, columns, answered[:1])
    if {one.kind for at in answered for one in looks[at][0].answers} != {"point"}:
        return _join_bounds(ranges, columns, looks, answered)
    if found:
        return _span_points(asked, ranges, found.table, looks, np.arange(len(edges), len(edges) + SAMPLES), found.way)
    places = np.array([*looks])
    table = tabulate({name: column[places] for name, column in columns.items()}, [solution for solution, _ in looks.values()])
    return _span_points(asked, ranges, table, dict(enumerate(looks.values())), np.flatnonzero(places >= len(edges)), None)


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


def _points_to_check(table: Sweep, looks: Looks) -> list[int]:
    """Return points between the least and the greatest answer, so that each regime is among them, and points without an answer."""
    order = np.argsort(table.values[0])
    evenly = order[np.linspace(0, len(order) - 1, _CHECKED).astype(int)].tolist()
    empty = np.isnan(table.values).all(axis=0)
    unseen = empty if any(solution.answers for solution, _ in looks.values()) else ~empty
    return [at for at in (*evenly, *np.flatnonzero(unseen)[:_CHECKED].tolist()) if at not in looks]


def _span_points(asked: Question, ranges: _Ranges, table: Sweep, looks: Looks, drawn: np.ndarray, way: Way | None) -> Solution:
    """Return the span of a table of points, by arrays along a `way` or asked one by one. Those at `drawn` lie anywhere in the ranges."""
    known = ~np.isnan(table.values)
    there = known.any(axis=0)
    shown, reference = next((at, solution) for at, (solution, _) in looks.items() if solution.answers)
    low, high, method = float(np.nanmin(table.values)), float(np.nanmax(table.values)), "sampled"
    ends = _exact_ends(asked, ranges, looks) if there.all() and len(table.values) == 1 else None
    if ends and ends[0] <= low * (1 + HOLDS) and ends[1] >= high * (1 - HOLDS):
        low, high, method = *ends, "bounds"
    elif way:
        low, high = (_search_closer(asked, ranges, way, table, seek, best) for seek, best in ((np.fmin, low), (np.fmax, high)))
    sides = _regimes(table, drawn, _borders(asked, way, table) if way else [])
    seen = table.values[:, drawn][known[:, drawn]]
    spans = Spans(
        ranges={name: (one.low, one.high) for name, one in ranges.items()},
        method=method,
        low=low,
        high=high,
        quantiles={name: float(np.quantile(seen, share)) if len(seen) >= _FEWEST else None for name, share in _QUANTILES.items()},
        sides=tuple(sides) if len(sides) > 1 else tuple((label, low, high, share) for label, _, _, share in sides),
        tornado=_tornado(asked, ranges, way) if way else (),
        answered=float(there[drawn].mean()),
        samples=SAMPLES if way else len(looks),
        seed=_SEED,
        shown={name: float(column[shown]) for name, column in table.given.items()},
    )
    # Within a limit the answers themselves say on which side it is met.
    on_side = same_bound(one.bound for solution, _ in looks.values() for one in solution.answers) if asked.limits else None
    span = Answer(
        kind="interval",
        low=low,
        high=high,
        regime=sides[0][0] if len(sides) == 1 else None,
        elasticities=reference.answers[0].elasticities,
        bound=on_side or table.bound,
    )
    where = f"in {_percent(1 - spans.answered)} of the ranges" if way else f"at {(~there).sum()} of {len(looks)} points of the ranges"
    missing = {} if there.all() else _tell_missing(table.given, where, looks)
    notes = () if way else (_tell_ranges(ranges, len(looks)),)
    return _replace_span(
        reference, (span,), table.given, _warnings(table.given, looks) | missing,
        assumptions=(*reference.assumptions, *notes), spans=spans,
    )  # fmt: skip


def _exact_ends(asked: Question, ranges: _Ranges, looks: Looks) -> _Ends | None:
    """Return the answers at the two corners to which the signs of the elasticities point, or None if one of them changes its sign."""
    answers = [one for solution, _ in looks.values() for one in solution.answers]
    if not all(one.elasticities for one in answers):
        return None
    rises = {name: {one.elasticities[name] > 0 for one in answers if abs(one.elasticities.get(name, 0.0)) > _FLAT} for name in ranges}
    if any(len(signs) > 1 for signs in rises.values()):
        return None
    corners = [tuple(one.high if (True in rises[name]) == up else one.low for name, one in ranges.items()) for up in (False, True)]
    known = {corner: looks[at][0] for at, corner in enumerate(_middle_and_corners(ranges)) if at in looks}
    found = [(known.get(one) or answer(pose_at(asked, dict(zip(ranges, one, strict=True))))).answers for one in corners]
    return None if any(len(one) != 1 or one[0].kind != "point" for one in found) else (found[0][0].point, found[1][0].point)


def _run_again(asked: Question, columns: AtPoints, way: Way) -> Sweep:
    """Return more points, without directions, by a way that is known to have a closed form everywhere."""
    found = evaluate_points(asked, columns, way)
    assert found is not None, "a way that had a closed form at other points has no closed form here"
    return found[0]


def _search_closer(asked: Question, ranges: _Ranges, way: Way, table: Sweep, seek: np.ufunc, best: float) -> float:
    """Return the extreme answer that was seen, improved in smaller and smaller boxes around it."""
    random = np.random.default_rng(_SEED)
    where = int(np.flatnonzero(table.values == best)[0]) % table.values.shape[1]
    centre = {name: float(column[where]) for name, column in table.given.items()}
    for halving in range(_CLOSER):
        reach = {name: (one.high - one.low) / 2 ** (halving + 1) for name, one in ranges.items()}
        near = {
            name: np.clip(centre[name] + random.uniform(-reach[name], reach[name], SAMPLES // 16), one.low, one.high)
            for name, one in ranges.items()
        }
        found = seek.reduce(_run_again(asked, near, way).values, axis=0)
        extreme = float(seek.reduce(found))
        if extreme == extreme and seek(extreme, best) != best:
            best, at = extreme, int(np.flatnonzero(found == extreme)[0])
            centre = {name: float(column[at]) for name, column in near.items()}
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


def _borders(asked: Question, way: Way, table: Sweep) -> list[tuple[str | None, float]]:
    """Return the answers along a single range where one regime ends and another begins, one for each."""
    if len(table.given) > 1 or len(table.values) > 1:
        return []
    ((name, column),) = table.given.items()
    order = np.argsort(column)
    labels, values = _labels_of(table)[order], table.values[0][order]
    at = np.flatnonzero((labels[1:] != labels[:-1]) & ~np.isnan(values[1:] + values[:-1]))
    found: list[tuple[str | None, float]] = []
    for one in at if len(at) <= _MOST_BORDERS else ():
        inside, outside = column[order[[one, one + 1]]].tolist()
        here = partial(_has_regime, asked, name, way, labels[one])
        (last,) = last_places(np.array([inside]), np.array([outside]), here).tolist()
        met = float(_run_again(asked, {name: np.array([last])}, way).values[0][0])
        found += [(side, met) for side in labels[[one, one + 1]]] if met == met else []
    return found


def _has_regime(asked: Question, name: str, way: Way, label: str | None, places: np.ndarray) -> np.ndarray:
    return np.asarray(_labels_of(_run_again(asked, {name: places}, way)) == label)


def _labels_of(table: Sweep) -> np.ndarray:
    """Return the regime of the first answer at each point."""
    return np.asarray(np.array(table.labels, dtype=object)[table.places[0]])


def _tornado(asked: Question, ranges: _Ranges, way: Way) -> tuple[tuple[str, float, float], ...]:
    """Return the answer at both ends of each range, the other ranges at their middle, the largest change first."""
    columns = {name: np.array([one.shown] * 2 * len(ranges)) for name, one in ranges.items()}
    for place, (name, one) in enumerate(ranges.items()):
        columns[name][2 * place : 2 * place + 2] = one.low, one.high
    ends = _run_again(asked, columns, way).values[0].reshape(-1, 2).tolist()
    rows = [(name, low, high) for name, (low, high) in zip(ranges, ends, strict=True) if low == low and high == high]
    return tuple(sorted(rows, key=lambda row: -abs(row[2] - row[1])))


def _join_bounds(ranges: _Ranges, columns: AtPoints, looks: Looks, answered: list[int]) -> Solution:
    """Return the values that all points leave if the answers are bounds, else the least and the greatest of all points."""
    reference = looks[answered[0]][0]
    answers = [one for at in answered for one in looks[at][0].answers]
    kinds, labels = {one.kind for one in answers}, {one.regime for one in answers}
    held = [[_stretch(one) for one in looks[at][0].answers] for at in answered]
    low, high = min(low for one in held for low, _ in one), _finite(max(high for one in held for _, high in one))
    label = labels.pop() if len(labels) == 1 else None
    if kinds == {"interval"}:
        loose = Answer(kind="loose", regime=label, loose_low=low, loose_high=high)
        common = [replace(loose, kind="interval", low=least, high=_finite(most)) for least, most in _common(held)]
        found, notes = tuple(common) or (loose,), list[str]()
    else:
        found = (Answer(kind="interval", low=low, high=high, bound=same_bound(map(_open_side, answers))),)
        notes = ["in part it has a value, in part only bounds", *([f"throughout where {label}"] if label else [])]
    without = len(looks) - len(answered)
    missing = _tell_missing(columns, f"at {without} of {len(looks)} points of the ranges", looks) if without else {}
    told = (*reference.assumptions, *notes, _tell_ranges(ranges, len(looks)))
    return _replace_span(reference, found, columns, _warnings(columns, looks) | missing, assumptions=told, route=(), spans=None)


def _open_side(found: Answer) -> str | None:
    """Return the bound that an answer is, for an interval its only end."""
    if found.kind == "point":
        return found.bound
    return LOWER if found.low and found.high is None else UPPER if found.high and not found.low else None


def _stretch(found: Answer) -> _Ends:
    if found.kind == "point":
        return found.point, found.point
    return found.least, inf if found.high is None else found.high


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


def _refuse_everywhere(columns: AtPoints, looks: Looks) -> Solution:
    """Return the reason at the middle if no point has an answer."""
    solution, _ = looks[0]
    message = f"no answer at any of {len(looks)} points of the ranges. {tell_point(columns, 0)}: {solution.refusal.message}"
    return replace(solution, reason=replace(solution.refusal, message=message))


def _tell_missing(columns: AtPoints, where: str, looks: Looks) -> dict[str, str]:
    """Return in what share of the ranges there is no answer, and why at one of the points."""
    failed = next(((at, solution.refusal) for at, (solution, _) in looks.items() if solution.reason), None)
    why = f"; {tell_point(columns, failed[0])}: {failed[1].message.splitlines()[0]}" if failed else ""
    return {"no answer": f"no answer {where}{why}"}


def _tell_ranges(ranges: _Ranges, count: int) -> str:
    """Return the ranges, and at how many points of them the question was asked."""
    over = " and ".join(f"{name} from {show(name, one.low)} to {show(name, one.high)}" for name, one in ranges.items())
    corners = "all corners" if len(ranges) <= _CORNERS else "both ends of each by itself, not all corners,"
    return f"{over}: looked at in {count} points, {corners} among them"


def _percent(share: float) -> str:
    if 0.0005 <= share <= 0.9995:
        return f"{100 * share:.3g} %"
    return "more than 99.9 %" if share > 0.5 else "less than 0.1 %"


def _warnings(columns: AtPoints, looks: Looks) -> dict[str, str]:
    """Return the warnings of the first point that has some, by kind."""
    at, solution = next(((at, solution) for at, (solution, _) in looks.items() if solution.warnings), (0, looks[0][0]))
    return {kind: f"{tell_point(columns, at)}: {text}" for kind, text in solution.doubts.items()}


def _replace_span(reference: Solution, found: tuple[Answer, ...], columns: AtPoints, told: Mapping[str, str], **rest: Any) -> Solution:
    """Return the reference answer with the span of all points, and with the warnings of some."""
    given = {name: value for name, value in reference.given.items() if name not in columns}
    return replace(reference, answers=found, given=given, warnings=tuple(told.values()), kinds=tuple(told), said=(), **rest)
