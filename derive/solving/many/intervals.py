"""The span of an answer over ranges of its givens. Its ends are exact if it only rises or only falls with each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import inf
from typing import Any

import numpy as np

from derive.expressions.curve import last_places
from derive.immutable import immutable
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.engine.plan import Way
from derive.solving.limits.answering import answer, answer_with_way
from derive.solving.many.vectorised import AtPoints, agrees_at, evaluate_points, pose_at_point, sweep_way, tabulate
from derive.solving.question.questions import Question, pose_at
from derive.solving.result import Answer, Solution, Spans, Sweep, same_bound
from derive.spreads import Interval
from derive.units import show

SAMPLES = 2048
"""Random points in the box of the ranges, uniform and independent."""

_SEED = 20261121
_STEP = 1e-6
"""Relative step of a given for the sign of the elasticity."""

_FLAT = 1e-6
"""Elasticity below which a given has no effect."""

_CLOSER = 16
"""How often the box around an extreme is halved, to search there again."""

_MOST_BORDERS = 16
"""Largest number of changes of regime along a range whose places are computed."""

_CORNERS = 6
"""Largest number of ranges whose corners are all asked. With more ranges only the ends of each range are."""

_EVENLY = 8
"""Points beside the corners that are asked one by one to check the arrays."""

_SINGLY = 16
"""Points beside the corners that are asked one by one if there are no arrays, or if they differ."""

_ASKED_AGAIN = 8
"""Largest number of points without a value in the arrays that are asked one by one."""

_FEWEST = 20
"""Fewest answers for which quantiles are computed."""

_QUANTILES = {"p05": 0.05, "p50": 0.5, "p95": 0.95}

_Ranges = Mapping[str, Interval]
_Ends = tuple[float, float]


@immutable(kw_only=False)
class _Look:
    """One point, asked singly."""

    at: int
    solution: Solution
    way: Way | None


def answer_ranges(asked: Question, ranges: _Ranges) -> Solution:
    """Return the answer over all ranges at once: ends, quantiles, regimes, and the given that matters most.

    If the answer has a value everywhere and its elasticity with respect to each given has one sign, its ends are exact, at two corners.
    Otherwise they are the extremes that were seen, and `method` says so. If the answer is itself a bound, the values that hold at all
    points come first. Warnings come from the middle and the corners.
    """
    middle_and_ends = _middle_and_ends(ranges)
    columns = _columns(ranges, middle_and_ends)
    first = _look(asked, columns, 0)
    if first.solution.reason and first.solution.reason.code == "missing_givens":
        return first.solution
    few = len(middle_and_ends) + _SINGLY
    beside = replace(asked, silent=True)
    ends = [first, *(_look(asked, columns, at) for at in range(1, len(middle_and_ends)))]
    through = _table_of_points(asked, columns, ends)
    looks = [*ends, *(_look(beside, columns, at) for at in _evenly(through[0], len(ends)))] if through else ends
    if through is None or not all(agrees_at(through[0], look.at, look.solution) for look in looks):
        looks = [*ends, *(_look(beside, columns, at) for at in range(len(ends), few))]
        through = _table_of_points(asked, columns, looks)
    if through is not None:
        looks += [_look(beside, columns, at) for at in _doubtful(through[0], looks, len(ends))]
    kinds = {one.kind for look in looks for one in look.solution.answers}
    if not kinds:
        return _refuse_everywhere(columns, looks)
    if not any(look.solution.answers for look in looks[: len(middle_and_ends)]):
        # The warnings come from the first answer.
        at = next(place for place, look in enumerate(looks) if look.solution.answers)
        looks[at] = _look(asked, columns, looks[at].at)
    drawn = slice(len(middle_and_ends), len(middle_and_ends) + SAMPLES)
    if through is None or "interval" in kinds or not all(agrees_at(through[0], look.at, look.solution) for look in looks):
        looks += [_look(beside, columns, at) for at in range(few, few + 2 * _SINGLY)]
        return _span_of_looks(ranges, columns, looks, drawn)
    table, way = through
    return _span_of_table(asked, ranges, columns, way, table, looks, drawn)


def _look(asked: Question, columns: AtPoints, at: int) -> _Look:
    return _Look(at, *answer_with_way(pose_at_point(asked, columns, at)))


def _middle_and_ends(ranges: _Ranges) -> list[tuple[float, ...]]:
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


def _table_of_points(asked: Question, columns: AtPoints, looks: list[_Look]) -> tuple[Sweep, Way] | None:
    """Return all points, solved by the way that most of the points that were asked singly agree with."""
    ways = {id(look.way): look.way for look in sorted(looks, key=lambda look: not look.solution.answers) if look.way}
    tables = [(found[0], way) for way in ways.values() if (found := sweep_way(asked, columns, way)) is not None]
    return max(tables, key=lambda one: sum(agrees_at(one[0], look.at, look.solution) for look in looks), default=None)


def _run_again(asked: Question, columns: AtPoints, way: Way) -> Sweep:
    """Return more points, without directions, by a way that is known to have a closed form everywhere."""
    found = evaluate_points(asked, columns, way)
    assert found is not None, "a way that had a closed form at other points has no closed form here"
    return found[0]


def _evenly(table: Sweep, first: int) -> list[int]:
    """Return a few points between the least and the greatest of the arrays, so that each regime is among them."""
    order = np.argsort(table.values[0][first:]) + first
    return [int(at) for at in order[np.linspace(0, len(order) - 1, _EVENLY).astype(int)]]


def _doubtful(table: Sweep, looks: list[_Look], first: int) -> list[int]:
    """Return points without a number in the arrays. If none has an answer so far, points with one."""
    there = ~np.isnan(table.values).all(axis=0)
    wanted = ~there if any(look.solution.answers for look in looks) else there
    seen = {look.at for look in looks}
    return [int(at) for at in np.flatnonzero(wanted) if at >= first and at not in seen][:_ASKED_AGAIN]


def _span_of_table(
    asked: Question, ranges: _Ranges, columns: AtPoints, way: Way, table: Sweep, looks: list[_Look], drawn: slice
) -> Solution:
    """Return what the arrays span."""
    reference = next(look for look in looks if look.solution.answers)
    values = table.values
    there = ~np.isnan(values).all(axis=0)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    ends = _corner_answers(asked, ranges, columns, way, values, looks) if there.all() and len(values) == 1 else None
    if ends is None or ends[0] > low * (1 + HOLDS) or ends[1] < high * (1 - HOLDS):
        low, high = (_closer(asked, ranges, columns, way, table, seek, best) for seek, best in ((np.fmin, low), (np.fmax, high)))
        method = "sampled"
    else:
        (low, high), method = ends, "bounds"
    borders = _borders(asked, ranges, way, table)
    spans = _spans_of(ranges, table, drawn, (low, high), method, borders, _tornado(asked, ranges, way), SAMPLES, reference.at)
    regime = spans.sides[0][0] if len(spans.sides) == 1 else None
    elasticities = reference.solution.answers[0].elasticities
    # Within a limit the answers themselves say on which side it is met.
    on_side = same_bound(one.bound for look in looks for one in look.solution.answers) if asked.limits else None
    bound = on_side or table.bound
    span = Answer(kind="interval", low=low, high=high, regime=regime, elasticities=elasticities, bound=bound)
    missing = {} if there.all() else _missing(columns, f"in {_percent(1 - spans.answered)} of the ranges", looks)
    return _replace_span(reference.solution, (span,), columns, _warnings(columns, looks) | missing, spans=spans)


def _quantiles(values: Sequence[float] | np.ndarray) -> dict[str, float | None]:
    """Return the quantiles of the answers that were seen, or None if they are too few. `np.quantile` takes 12 ms to import.

    >>> _quantiles(range(21))
    {'p05': 1.0, 'p50': 10.0, 'p95': 19.0}
    """
    if len(values) < _FEWEST:
        return dict.fromkeys(_QUANTILES)
    ordered, last = np.sort(np.asarray(values)), len(values) - 1
    return {name: float(np.interp(share * last, np.arange(last + 1), ordered)) for name, share in _QUANTILES.items()}


def _corner_answers(asked: Question, ranges: _Ranges, columns: AtPoints, way: Way, values: np.ndarray, looks: list[_Look]) -> _Ends | None:
    """Return the answers at the two corners to which the signs of the elasticities point, or None if one of them changes its sign."""
    rises = _signs(asked, columns, way, values)
    if None in rises.values():
        return None
    corners = [{name: _end(one, rises[name] == up) for name, one in ranges.items()} for up in (False, True)]
    seen = {tuple(float(column[look.at]) for column in columns.values()): look.solution for look in looks}
    found = [(seen.get((*corner.values(),)) or answer(pose_at(asked, corner))).answers for corner in corners]
    return None if any(len(one) != 1 or one[0].kind != "point" for one in found) else (found[0][0].point, found[1][0].point)


def _end(interval: Interval, high: bool) -> float:
    return interval.high if high else interval.low


def _signs(asked: Question, columns: AtPoints, way: Way, values: np.ndarray) -> dict[str, bool | None]:
    """Return whether the answer rises with each given, or falls, or None where it does both."""
    signs: dict[str, bool | None] = {}
    for name, column in columns.items():
        below, above = (_run_again(asked, {**columns, name: column * factor}, way).values[:1] for factor in (1 - _STEP, 1 + _STEP))
        with np.errstate(all="ignore"):
            slope = (above - below) / (2 * _STEP * np.abs(values))
        rises, falls = bool((slope > _FLAT).any()), bool((slope < -_FLAT).any())
        signs[name] = None if rises and falls else rises
    return signs


def _closer(asked: Question, ranges: _Ranges, columns: AtPoints, way: Way, table: Sweep, seek: np.ufunc, best: float) -> float:
    """Return the extreme answer that was seen, improved in smaller and smaller boxes around it."""
    random = np.random.default_rng(_SEED)
    where = int(np.flatnonzero(table.values == best)[0]) % table.values.shape[1]
    centre = {name: float(column[where]) for name, column in columns.items()}
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


def _borders(asked: Question, ranges: _Ranges, way: Way, table: Sweep) -> list[tuple[str | None, float]]:
    """Return the answers along a single range where one regime ends and another begins, one for each."""
    if len(ranges) > 1 or len(table.values) > 1:
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


def _spans_of(
    ranges: _Ranges,
    table: Sweep,
    drawn: slice | np.ndarray,
    ends: _Ends,
    method: str,
    borders: Sequence[tuple[str | None, float]],
    tornado: tuple[tuple[str, float, float], ...],
    samples: int,
    shown: int,
) -> Spans:
    """Return the span of a table of points. Quantiles and shares are those of the points drawn anywhere in the ranges."""
    known = ~np.isnan(table.values)
    sides = []
    for place, label in enumerate(table.labels):
        inside = (table.places == place) & known
        if inside.any():
            seen = [*table.values[inside], *(value for name, value in borders if name == label)]
            sides.append((label, float(min(seen)), float(max(seen)), float(inside[:, drawn].any(axis=0).mean())))
    sides.sort(key=lambda side: -side[3])
    return Spans(
        ranges={name: (one.low, one.high) for name, one in ranges.items()},
        method=method,
        low=ends[0],
        high=ends[1],
        quantiles=_quantiles(table.values[:, drawn][known[:, drawn]]),
        sides=tuple(sides) if len(sides) > 1 else tuple((label, *ends, share) for label, _, _, share in sides),
        tornado=tornado,
        answered=float(known.any(axis=0)[drawn].mean()),
        samples=samples,
        seed=_SEED,
        shown={name: float(column[shown]) for name, column in table.given.items()},
    )


def _tornado(asked: Question, ranges: _Ranges, way: Way) -> tuple[tuple[str, float, float], ...]:
    """Return the answer at both ends of each range, the other ranges at their middle, the largest change first."""
    names = list(ranges)
    columns = {name: np.array([one.shown] * 2 * len(names)) for name, one in ranges.items()}
    for place, name in enumerate(names):
        columns[name][2 * place : 2 * place + 2] = ranges[name].low, ranges[name].high
    ends = _run_again(asked, columns, way).values[0].reshape(-1, 2)
    rows = [(name, float(low), float(high)) for name, (low, high) in zip(names, ends, strict=True)]
    return tuple(sorted((row for row in rows if row[1] == row[1] and row[2] == row[2]), key=lambda row: -abs(row[2] - row[1])))


def _span_of_looks(ranges: _Ranges, columns: AtPoints, looks: list[_Look], drawn: slice) -> Solution:
    """Return the span of points that were asked singly, if the answer is itself a bound or has no closed form.

    For bounds, return first the values that all of them leave.
    """
    answering = [look for look in looks if look.solution.answers]
    reference = answering[0].solution
    held = [[_stretch(one) for one in look.solution.answers] for look in answering]
    low, top = min(low for one in held for low, _ in one), max(high for one in held for _, high in one)
    high = _finite(top)
    kinds = {one.kind for look in answering for one in look.solution.answers}
    labels = {one.regime for look in answering for one in look.solution.answers}
    label = labels.pop() if len(labels) == 1 else None
    spans = _spans_of_looks(ranges, columns, looks, drawn, (low, top)) if kinds == {"point"} else None
    if kinds == {"interval"}:
        loose = Answer(kind="loose", regime=label, loose_low=low, loose_high=high)
        common = [replace(loose, kind="interval", low=least, high=_finite(most)) for least, most in _common(held)]
        found = tuple(common) or (loose,)
    else:
        bound = same_bound(_errs(one) for look in answering for one in look.solution.answers)
        found = (Answer(kind="interval", low=low, high=high, bound=bound),)
    without = len(looks) - len(answering)
    missing = _missing(columns, f"at {without} of {len(looks)} points of the ranges", looks) if without else {}
    warnings = _warnings(columns, looks) | missing
    mixed = ("in part it has a value, in part only bounds",) if len(kinds) > 1 else ()
    where = (f"throughout where {label}",) if label and kinds != {"interval"} else ()
    notes = (*reference.assumptions, *mixed, *where, _looked_at(ranges, looks))
    return _replace_span(reference, found, columns, warnings, assumptions=notes, route=(), spans=spans)


def _spans_of_looks(ranges: _Ranges, columns: AtPoints, looks: list[_Look], drawn: slice, ends: _Ends) -> Spans:
    """Return the span of points that were asked singly."""
    places = np.array([look.at for look in looks])
    table = tabulate({name: column[places] for name, column in columns.items()}, [look.solution for look in looks])
    anywhere = (places >= drawn.start) & (places < drawn.stop)
    method = "bounds" if _only_rises_or_falls(ranges, looks) else "sampled"
    shown = next(place for place, look in enumerate(looks) if look.solution.answers)
    return _spans_of(ranges, table, anywhere, ends, method, (), (), len(looks), shown)


def _only_rises_or_falls(ranges: _Ranges, looks: list[_Look]) -> bool:
    """Return whether the answer moves one way with every given at all points that were asked. Then its ends are at corners."""
    answers = [one for look in looks for one in look.solution.answers]
    if len(answers) != len(looks) or len(ranges) > _CORNERS or not all(one.elasticities for one in answers):
        return False
    slopes = ([one.elasticities.get(name, 0.0) for one in answers] for name in ranges)
    return all(len({slope > 0 for slope in each if abs(slope) > _FLAT}) <= 1 for each in slopes)


def _errs(found: Answer) -> str | None:
    """Return the bound that an answer is, for an interval its only end."""
    if found.kind == "point":
        return found.bound
    return LOWER if found.low and found.high is None else UPPER if found.high and not found.low else None


def _looked_at(ranges: _Ranges, looks: list[_Look]) -> str:
    over = " and ".join(f"{name} from {show(name, one.low)} to {show(name, one.high)}" for name, one in ranges.items())
    corners = "all corners" if len(ranges) <= _CORNERS else "both ends of each by itself, not all corners,"
    return f"{over}: looked at in {len(looks)} points, {corners} among them"


def _stretch(found: Answer) -> _Ends:
    if found.kind == "point":
        return found.point, found.point
    return found.least, inf if found.high is None else found.high


def _finite(end: float) -> float | None:
    return None if end == inf else end


def _common(held: list[list[_Ends]]) -> list[_Ends]:
    """Return the intervals that the answers of all points have in common."""
    left, *others = held
    for stretches in others:
        both = ((max(a, c), min(b, d)) for a, b in left for c, d in stretches)
        left = [(low, max(low, high)) for low, high in both if low <= high * (1 + HOLDS)]
    return left


def _refuse_everywhere(columns: AtPoints, looks: list[_Look]) -> Solution:
    """Return the reason at the middle if no point has an answer."""
    solution = looks[0].solution
    message = f"no answer at any of {len(looks)} points of the ranges. {_point(columns, 0)}: {solution.refusal.message}"
    return replace(solution, reason=replace(solution.refusal, message=message))


def _missing(columns: AtPoints, where: str, looks: list[_Look]) -> dict[str, str]:
    """Return in what share of the ranges there is no answer, and why at one of the points."""
    failed = next((look for look in looks if look.solution.reason), None)
    why = f"; {_point(columns, failed.at)}: {failed.solution.refusal.message.splitlines()[0]}" if failed else ""
    return {"no answer": f"no answer {where}{why}"}


def _percent(share: float) -> str:
    if 0.0005 <= share <= 0.9995:
        return f"{100 * share:.3g} %"
    return "more than 99.9 %" if share > 0.5 else "less than 0.1 %"


def _warnings(columns: AtPoints, looks: list[_Look]) -> dict[str, str]:
    """Return the warnings by kind, each of the first point that has it."""
    warned = next((look for look in looks if look.solution.warnings), looks[0])
    said = zip(warned.solution.kinds, warned.solution.warnings, strict=True)
    return {kind: f"{_point(columns, warned.at)}: {text}" for kind, text in said}


def _point(columns: AtPoints, at: int) -> str:
    return "at " + ", ".join(f"{name} = {show(name, float(column[at]))}" for name, column in columns.items())


def _replace_span(reference: Solution, found: tuple[Answer, ...], columns: AtPoints, said: Mapping[str, str], **rest: Any) -> Solution:
    """Return the reference answer with the span of all points, and with the warnings of some."""
    given = {name: value for name, value in reference.given.items() if name not in columns}
    return replace(reference, answers=found, given=given, warnings=tuple(said.values()), kinds=tuple(said), said=(), **rest)
