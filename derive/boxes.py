"""What an answer spans while givens take any value of their ranges: exact ends where it only rises or falls."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from derive.along import Columns, as_arrays, at_point
from derive.chain import answer, answered
from derive.questions import Question
from derive.routes import Route
from derive.solutions import Answer, Solution, Spans, Sweep
from derive.spreads import Interval

SAMPLES = 2048
"""Points of the box that are looked at beside its corners, all ranges independent and uniform."""

SEED = 20261121
STEP = 1e-6
"""Relative step of a given for the sign of the elasticity."""

FLAT = 1e-6
"""Elasticity below which a given does nothing."""

HALVINGS = 50
"""How often the stretch between two samples is halved to find where a regime ends."""

CORNERS = 10
"""Up to how many ranges their corners are looked at too."""

QUANTILES = {"p05": 0.05, "p50": 0.5, "p95": 0.95}

Ranges = Mapping[str, Interval]


def spanned(asked: Question, ranges: Ranges) -> Solution:
    """The question over all ranges at once: ends, quantiles, regimes met, and which given matters most.

    Where the answer has a value everywhere and its elasticity with respect to each given has one sign, its ends are at
    two corners and are answered there; else they are the extremes of the samples, and `method` says so.
    """
    reference, way = _reference(asked, ranges)
    if way is None:
        return reference
    if reference.answers[0].kind != "point":
        return _of_bounds(asked, ranges, reference)
    columns = _samples(ranges)
    table = as_arrays(asked, columns, way)
    if table is None:
        return _of_bounds(asked, ranges, reference)
    values = table.values
    there = ~np.isnan(values).all(axis=0)
    rises = _signs(asked, columns, way, values)
    if there.all() and len(values) == 1 and None not in rises.values():
        corners = [{name: _end(ranges[name], rises[name] == up) for name in ranges} for up in (False, True)]
        low, high = (answer(_at(asked, corner)).answers[0].value for corner in corners)
        method = "bounds"
    else:
        low, high, method = float(np.nanmin(values)), float(np.nanmax(values)), "sampled"
    inside = values[:, -SAMPLES:]
    spans = Spans(
        ranges={name: (one.low, one.high) for name, one in ranges.items()},
        method=method,
        low=low,
        high=high,
        quantiles={name: float(np.nanquantile(inside, share)) for name, share in QUANTILES.items()},
        sides=_sides(values, table.places, table.labels, _borders(asked, ranges, way, table)),
        tornado=_tornado(asked, ranges, way),
        answered=float(there.mean()),
        samples=SAMPLES,
        seed=SEED,
    )
    return _told(asked, reference, columns, there, spans)


def _reference(asked: Question, ranges: Ranges) -> tuple[Solution, Route | None]:
    """The question at the middle of all ranges, or at an end of all of them where that has no answer."""
    outcomes = [answered(_at(asked, {name: one.middle for name, one in ranges.items()}))]
    for high in (False, True) if outcomes[0][1] is None else ():
        outcomes.append(answered(_at(asked, {name: _end(one, high) for name, one in ranges.items()})))
    return next((outcome for outcome in outcomes if outcome[1]), outcomes[0])


def _at(asked: Question, given: Mapping[str, float]) -> Question:
    return replace(asked, known={**asked.known, **given})


def _end(interval: Interval, high: bool) -> float:
    return interval.high if high else interval.low


def _samples(ranges: Ranges) -> Columns:
    """The corners of the box, then points anywhere in it."""
    random = np.random.default_rng(SEED)
    drawn = {name: random.uniform(one.low, one.high, SAMPLES) for name, one in ranges.items()}
    if len(ranges) > CORNERS:
        return drawn
    corners = np.array(list(product(*((one.low, one.high) for one in ranges.values())))).T
    return {name: np.concatenate([corner, drawn[name]]) for name, corner in zip(ranges, corners, strict=True)}


def _signs(asked: Question, columns: Columns, way: Route, values: np.ndarray) -> dict[str, bool | None]:
    """Whether the answer rises with each given, or falls; None where it does both."""
    signs: dict[str, bool | None] = {}
    for name, column in columns.items():
        beside = [as_arrays(asked, {**columns, name: column * factor}, way) for factor in (1 - STEP, 1 + STEP)]
        below, above = (table.values[: len(values)] for table in beside)
        slope = (above - below) / (2 * STEP * np.abs(values))
        rises, falls = bool((slope > FLAT).any()), bool((slope < -FLAT).any())
        signs[name] = None if rises and falls else rises
    return signs


def _borders(asked: Question, ranges: Ranges, way: Route, table: Sweep) -> list[tuple[str | None, float]]:
    """Along a single range: the answer where one regime gives way to another, once for each of the two."""
    if len(ranges) > 1 or len(table.values) > 1:
        return []
    ((name, column),) = table.given.items()
    order = np.argsort(column)
    places = table.places[0][order]
    found: list[tuple[str | None, float]] = []
    for at in np.flatnonzero(np.diff(places)):
        below, above = column[order[at]], column[order[at + 1]]
        for _ in range(HALVINGS):
            middle = (below + above) / 2
            here = as_arrays(asked, {name: np.array([middle])}, way)
            below, above = (middle, above) if here.places[0, 0] == places[at] else (below, middle)
        found += [(table.labels[place], float(here.values[0, 0])) for place in (places[at], places[at + 1])]
    return found


def _sides(
    values: np.ndarray, places: np.ndarray, labels: tuple[str | None, ...], borders: list[tuple[str | None, float]]
) -> tuple[tuple[str | None, float, float, float], ...]:
    """Every regime that is met: the least and the most of the answer in it, and its share of the points."""
    found = []
    for place, label in enumerate(labels):
        inside = values[(places == place) & ~np.isnan(values)]
        if len(inside):
            ends = [*(float(end) for end in (inside.min(), inside.max())), *(value for name, value in borders if name == label)]
            found.append((label, min(ends), max(ends), len(inside) / values.size))
    return tuple(sorted(found, key=lambda side: -side[3]))


def _tornado(asked: Question, ranges: Ranges, way: Route) -> tuple[tuple[str, float, float], ...]:
    """The answer at both ends of each range, the others at their middle; the one that moves it most comes first."""
    names = list(ranges)
    columns = {name: np.array([one.middle] * 2 * len(names)) for name, one in ranges.items()}
    for place, name in enumerate(names):
        columns[name][2 * place : 2 * place + 2] = ranges[name].low, ranges[name].high
    ends = as_arrays(asked, columns, way).values[0].reshape(-1, 2)
    rows = [(name, float(low), float(high)) for name, (low, high) in zip(names, ends, strict=True)]
    return tuple(sorted((row for row in rows if row[1] == row[1] and row[2] == row[2]), key=lambda row: -abs(row[2] - row[1])))


def _of_bounds(asked: Question, ranges: Ranges, reference: Solution) -> Solution:
    """Where the answer is itself a bound, or has to be searched for: what its corners and its middle span."""
    columns = _samples(ranges)
    count = min(len(next(iter(columns.values()))) - SAMPLES, 2**CORNERS) + 32
    solutions = [reference, *(answer(at_point(asked, columns, at)) for at in range(count))]
    found = [one for solution in solutions for one in solution.answers]
    lows = [one.value if one.kind == "point" else one.low for one in found]
    highs = [one.value if one.kind == "point" else one.high for one in found]
    span = Answer("interval", low=min(lows), high=None if None in highs else max(highs), regime=found[0].regime)
    note = f"the ranges were looked at in {len(solutions)} points"
    return replace(reference, answers=(span,), route=(), assumptions=(*reference.assumptions, note))


def _told(asked: Question, reference: Solution, columns: Columns, there: np.ndarray, spans: Spans) -> Solution:
    """The reference with the span for its answer, and what is wrong where there is none."""
    warnings = reference.warnings
    if not there.all():
        reason = answer(at_point(asked, columns, int(np.flatnonzero(~there)[0]))).reason
        missing = f"no answer in {100 * (1 - spans.answered):.2g} % of the ranges"
        warnings = (*warnings, f"{missing}: {reason.message.splitlines()[0]}" if reason else missing)
    regime = spans.sides[0][0] if len(spans.sides) == 1 else None
    first = reference.answers[0]
    span = Answer("interval", low=spans.low, high=spans.high, regime=regime, elasticities=first.elasticities)
    given = {name: value for name, value in reference.given.items() if name not in columns}
    return replace(reference, answers=(span,), given=given, warnings=warnings, spans=spans)
