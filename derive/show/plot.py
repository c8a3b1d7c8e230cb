"""Describe sweeps and rooflines as charts: one for each question, a line for each deployment. Two questions also get a Pareto front."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from derive.answers import BOUGHT, COUNTED, POINTS, Interval, Result, Series, Spread, Sweep, same_bound
from derive.catalogue import equation
from derive.errors import WrongValue
from derive.immutable import immutable
from derive.quantities import NEUTRAL_DEFAULTS
from derive.show.chart import Axis, Chart, Mark, extent, in_units, spans_decades
from derive.show.parts import values_of
from derive.show.side_by_side import better_side
from derive.show.text import moving_defaults
from derive.show.words import COMPUTE_BOUND, MEMORY_BOUND, plain_regime
from derive.trees import Tree, names, value_of
from derive.units import show

_PEAKS = ("peak_flops", "hbm_bandwidth")
_SHARES = ("mfu", "mbu")
"""The shares of these peaks that a step sustains."""
STEPS = ("step_time", "compute_time", "memory_time")
"""Times of a step that determine its point in the roofline."""
_ARITHMETIC: Tree = ("*", "tokens_verified_per_step", ("+", "compute_time", "attention_time"), "mfu", "peak_flops")
_READ: Tree = ("*", "memory_time", "mbu", "hbm_bandwidth")
"""FLOPs and bytes of one chip in a step, from its times at the sustained rates.

A FLOP of attention at half the rate counts as two. So all arithmetic is under one roof, and a compute-bound step is on its flat part.
"""
RATE: Tree = ("/", _ARITHMETIC, "step_time")
INTENSITY: Tree = ("/", _ARITHMETIC, _READ)
ATTAINABLE: Tree = ("Min", "peak_flops", ("*", "hbm_bandwidth", "intensity"))
"""Rate and intensity of a chip, and the largest FLOP/s that it can attain at this intensity."""
NEUTRAL = {name: NEUTRAL_DEFAULTS[name] for name in sorted({*names(INTENSITY)} & {*NEUTRAL_DEFAULTS})}
"""Values of the quantities of a step that are not given."""
_BESIDE = 10.0
"""Ratio by which the picture extends beyond the ridge and the point on either side."""
PARTS = 3
"""Number of lines of a roof: the roof, its ridge and its point."""
_MANY = 61
"""Number of places at which a roof is drawn."""


@immutable
class Roof:
    """A chip by name: FLOP/s and bytes/s that a step sustains, its intensity [FLOP/byte] and rate [FLOP/s], and the sustained shares."""

    name: str
    peak: float
    bandwidth: float
    step: str
    intensity: float
    rate: float
    shares: str = ""

    @property
    def ridge(self) -> float:
        """Return the intensity from which on arithmetic binds [FLOP/byte], by batching.ridge_point."""
        return float(equation("batching.ridge_point").right_side({"peak_flops": self.peak, "hbm_bandwidth": self.bandwidth}))

    def attainable(self, intensity: float) -> float:
        """Return the largest FLOP/s at an intensity."""
        return float(value_of(ATTAINABLE, {"peak_flops": self.peak, "hbm_bandwidth": self.bandwidth, "intensity": intensity}))


def roof_trees() -> dict[str, Any]:
    """Return the formulas of a roofline as trees by name, and as `given` the neutral values of a step."""
    _, ridge = equation("batching.ridge_point").trees
    return {"rate": RATE, "intensity": INTENSITY, "ridge": ridge, "attainable": ATTAINABLE, "given": NEUTRAL}


def known_numbers(solution: Result) -> Mapping[str, float]:
    """Return all numbers on the route to the first answer of a question."""
    return values_of(solution, solution.answers[0], solution.route) if solution.answers else {}


def roof(name: str, known: Mapping[str, float]) -> Roof | None:
    """Return the roof of a chip and the point of its step, from numbers in SI, or None if a time of the step is missing.

    >>> found = roof("", {"peak_flops": 1e15, "hbm_bandwidth": 4e12, "step_time": 0.02, "compute_time": 0.01, "memory_time": 0.02})
    >>> found and (found.ridge, found.intensity, found.rate)
    (250.0, 125.0, 500000000000000.0)
    """
    if not known.keys() >= {*_PEAKS, *STEPS} or not known["memory_time"] or not known["step_time"]:
        return None
    at = {**NEUTRAL, **known}
    return Roof(
        name=name,
        peak=at["mfu"] * at["peak_flops"],
        bandwidth=at["mbu"] * at["hbm_bandwidth"],
        step=f"step of {show('step_time', known['step_time'])}{attention_note(known)}",
        intensity=value_of(INTENSITY, at),
        rate=value_of(RATE, at),
        shares="".join(f", {share} = {show(share, at[share])}" for share in _SHARES if at[share] != 1),
    )


def attention_note(known: Mapping[str, float]) -> str:
    """Return how FLOPs of attention are counted if they run at their own rate.

    >>> attention_note({"attention_time": 0.01, "attention_rate_ratio": 0.5}), attention_note({"attention_time": 0.01})
    (', a FLOP of attention counted as 2', '')
    """
    at = {**NEUTRAL_DEFAULTS, **known}
    if not at["attention_time"] or at["attention_rate_ratio"] == 1:
        return ""
    return f", a FLOP of attention counted as {1 / at['attention_rate_ratio']:.3g}"


def roof_marks(roofs: Sequence[Roof]) -> Iterator[Mark]:
    """Yield the roofs, each with its ridge and its point in its colour, all over the same span."""
    places = [place for one in roofs for place in (one.ridge, one.intensity)]
    low, high = min(places) / _BESIDE, max(places) * _BESIDE
    for colour, one in enumerate(roofs):
        xs = sorted({one.ridge, *(low * (high / low) ** (at / (_MANY - 1)) for at in range(_MANY))})
        yield Mark(name=one.name or "roof", form="line", xs=tuple(xs), ys=tuple(map(one.attainable, xs)), colour=colour)
        ridge = f"ridge at {show('ridge_point', one.ridge)}, {show('peak_flops', one.peak)}{one.shares}"
        point = f"{one.step}: {show('peak_flops', one.rate)} at {show('ridge_point', one.intensity)}"
        for name, x, y in ((ridge, one.ridge, one.peak), (point, one.intensity, one.rate)):
            yield Mark(name=name, form="points", xs=(x,), ys=(y,), colour=colour)


_MOST_LINES = 12
"""Largest number of lines in one chart."""

_MOST_TAGGED, _ROOM = 2, 0.16
"""Largest number of fronts whose points get a text, and the smallest distance of such points as a share of the chart."""

_ENDS = ("low end", "high end")
"""Names of the two lines that bound answers which are not a single number."""

_PRICE = "chip_price"
_NO_LIMITS: Mapping[str, Sequence[str]] = MappingProxyType({})

_SUPPOSED = re.compile(r"(?:at [^:]*: )?(?:no data type is given: )?([^;.:]*\b(?:(?:is|are|computes) in|is taken as) [^;.:,(]*[^;.:,( ])")
"""A warning about an unstated assumption, after the point of a sweep that it belongs to."""

_MARKS = "*o+x#@%&=~^v"
_NOTHING_BETTER = {False: "front: no other point is better in both", True: "fronts: no other point of the same line is better in both"}
"""Line above the front of one line, and above the fronts of several."""
_MOST_MARKED = 60
"""Points of a line above which the marks would hide each other."""
_SAME_LINE = 1e-3
"""Relative distance up to which one line hides another."""
_ASIDE = 7
"""Distance of a text from its point [point]."""
_FLAT = 0.05
"""Largest change of an answer in its last regime, as a share of its whole change, up to which it is flat there."""
_BINDS = {COMPUTE_BOUND: "arithmetic binds", MEMORY_BOUND: "memory reads bind"}
_NO_STEP = " if the answer is not about a decode step on a chip"
_WIDE, _HIGH = 60, 14
"""Columns and rows of a chart that is drawn in a terminal."""


def roofline(roofs: Sequence[Roof]) -> Chart:
    """Return the rooflines of chips, each with its ridge and the point of its step. Raise WrongValue for too many."""
    if PARTS * len(roofs) > _MOST_LINES:
        raise WrongValue(f"--plot draws at most {_MOST_LINES // PARTS} roofs: name fewer chips and models")
    return Chart(
        title="Roofline: rate of one chip over arithmetic intensity",
        across=Axis(quantity="ridge_point", words="arithmetic intensity", is_logarithmic=True),
        up=Axis(quantity="peak_flops", words="rate of one chip", is_logarithmic=True),
        marks=tuple(roof_marks(roofs)),
    )


def sweep_charts(columns: Sequence[tuple[str, Sequence[Result]]]) -> list[Chart]:
    """Return a chart for each question. The sweeps are given by the names of their deployments. Raise WrongValue without a sweep.

    The last swept quantity is on the axis across, and each combination of the others has a line. Two questions have a third chart with
    their Pareto front. The first title is that of all questions.
    """
    swept = [(name, [one for one in solutions if one.sweep]) for name, solutions in columns]
    if not swept or any(not solutions for _, solutions in swept):
        raise WrongValue(f"--plot needs a sweep{_NO_STEP}: give one value as a list or a sweep, e.g. batch=1..512:log")
    tables = {one.unknown: [(name, other.sweep) for name, every in swept for other in every if other.unknown == one.unknown and other.sweep]
              for one in swept[0][1]}  # fmt: skip
    found = [_sweep_chart(unknown, own) for unknown, own in tables.items()]
    if any(len(one.marks) > _MOST_LINES for one in found):
        raise WrongValue(f"--plot draws at most {_MOST_LINES} lines: sweep one quantity, or name fewer chips and models")
    # The low end of one answer need not go with that of the other.
    single = not any(mark.name.endswith(_ENDS) for one in found for mark in one.marks)
    if len(found) == 2 and single and all(map(better_side, tables)):
        front = _front_chart(*found)
        # Where one point is best in both there is nothing to weigh.
        found += [front] if any(len(mark.xs) > 1 for mark in front.marks) else []
    every = [table for own in tables.values() for _, table in own]
    return [replace(found[0], title=_title(found[: len(tables)], every)), *found[1:]]


def sum_chart(found: Sequence[Chart], words: str) -> Chart:
    """Return one chart for quantities that add up: a line for each quantity, and their sum.

    >>> of_two = [_line_chart("batch", up, [("", (1.0,), (2.0,))]) for up in ("kv_time", "weight_time")]
    >>> [(mark.name, mark.ys) for mark in sum_chart(of_two, "time").marks]
    [('kv time', (2.0,)), ('weight time', (2.0,)), ('together', (4.0,))]
    """
    lines = [(f"{one.up.quantity.replace('_', ' ')} {mark.name}".strip(), mark.xs, mark.ys) for one in found for mark in one.marks]
    for marks in zip(*(one.marks for one in found), strict=True):
        points = [dict(zip(mark.xs, mark.ys, strict=True)) for mark in marks]
        shared = tuple(x for x in marks[0].xs if all(x in one for one in points))
        lines.append((f"together {marks[0].name}".strip(), shared, tuple(sum(one[x] for one in points) for x in shared)))
    chart = _line_chart(found[0].across.quantity, found[0].up.quantity, lines)
    chart = replace(chart, up=replace(chart.up, words=words, bound=same_bound(one.up.bound for one in found)))
    return replace(chart, title=_title([chart]))


_Lines = Sequence[tuple[str, tuple[float, ...], tuple[float, ...]]]
"""Lines by name, with the coordinates [SI] of each point that has an answer."""


def _sweep_chart(unknown: str, tables: Sequence[tuple[str, Sweep]]) -> Chart:
    """Return the chart of one question, with a title of its own."""
    sweeps = [table for _, table in tables]
    chart = _line_chart([*sweeps[0].given][-1], unknown, [line for name, table in tables for line in _lines(name, table)])
    chart = replace(chart, up=replace(chart.up, bound=same_bound(one.bound for one in sweeps)))
    return replace(chart, title=_title([chart], sweeps))


def _line_chart(across: str, up: str, lines: _Lines) -> Chart:
    """Return lines as marks: points if the quantity across is bought in whole numbers, steps if the quantity up is."""
    marks = (
        Mark(
            name=name,
            form="points" if across in BOUGHT else "steps" if up in BOUGHT and all(y == round(y) for y in ys) else "line",
            xs=xs,
            ys=ys,
            marked=len(xs) <= _MOST_MARKED,
            wide=_is_hidden(lines, place),
            colour=place,
        )
        for place, (name, xs, ys) in enumerate(lines)
    )
    return Chart(title="", across=Axis(quantity=across), up=Axis(quantity=up), marks=tuple(marks))


def _is_hidden(lines: _Lines, place: int) -> bool:
    """Return whether a later line hides this one at some of its points.

    >>> lines = (("A", (1.0, 2.0), (3.0, 4.0)), ("B", (1.0, 2.0), (3.0, 5.0)), ("C", (1.0, 2.0), (4.0, 6.0)))
    >>> [_is_hidden(lines, place) for place in range(3)]
    [True, False, False]
    """
    own = dict(zip(*lines[place][1:], strict=True))
    later = (point for _, xs, ys in lines[place + 1 :] for point in zip(xs, ys, strict=True))
    return any(x in own and math.isclose(own[x], y, rel_tol=_SAME_LINE) for x, y in later)


def _title(found: Sequence[Chart], sweeps: Sequence[Sweep] = ()) -> str:
    """Return how the answers change if each of them only rises or only falls, else the names of the axes."""
    across = found[0].across.quantity.replace("_", " ")
    answers = [one.up.words or one.up.quantity.replace("_", " ") for one in found]
    moves, ends = [*map(_trend, found)], {*map(_binding_where_flat, sweeps)}
    text = f"{' and '.join(answers)} over {across}"
    if all(moves):
        text = f"{' and '.join(map(' '.join, zip(answers, moves, strict=True)))} with {across}"
        text += f" until {ends.pop()}" if len(ends) == 1 and any(ends) else ""
    return text[0].upper() + text[1:]


def _trend(chart: Chart) -> str:
    """Return "rises" or "falls" if all lines only do that, else "".

    >>> _trend(_line_chart("batch", "step_time", [("", (1.0, 2.0), (3.0, 4.0))]))
    'rises'
    """
    heights = [[y for _, y in sorted(zip(mark.xs, mark.ys, strict=True))] for mark in chart.marks]
    steps = {after > before for ys in heights for before, after in pairwise(ys) if not math.isclose(before, after)}
    return {True: "rises", False: "falls"}[steps.pop()] if len(steps) == 1 else ""


def _binding_where_flat(table: Sweep) -> str:
    """Return the limit in the last regime of a sweep if the answer changes little in it, or ""."""
    values, places = table.values[0], table.places[0]
    others = np.flatnonzero(places != places[-1])
    if len(table.given) > 1 or not len(others) or np.isnan(values).any():
        return ""
    flat = np.ptp(values[others[-1] + 1 :]) <= _FLAT * np.ptp(values)
    return _BINDS.get(plain_regime(table.labels[places[-1]] or ""), "") if flat else ""


def _lines(name: str, table: Sweep) -> Iterator[tuple[str, tuple[float, ...], tuple[float, ...]]]:
    """Yield a line for each combination of the swept quantities except the last."""
    *others, across = table.given
    values = np.nanmin(np.vstack([table.values, np.full((1, len(table)), np.inf)]), axis=0)
    keys = list(zip(*(table.given[other].tolist() for other in others), strict=True)) if others else [()] * len(table)
    for key in dict.fromkeys(keys):
        own = [place for place, one in enumerate(keys) if one == key]
        at = [place for place in own if math.isfinite(values[place])]
        said = ", ".join(f"{other} = {show(other, value)}" for other, value in zip(others, key, strict=True))
        called = " ".join(filter(None, (name, said)))
        ends_of = {place: found[0].ends for place in own if (found := table.others.get(place, ((), None))[0])}
        between = {place: (low, high) for place, (low, high) in ends_of.items() if low and high}
        if at or not between:
            yield called, tuple(table.given[across][at].tolist()), tuple(values[at].tolist())
        for side, end in enumerate(_ENDS if between else ()):
            places = tuple(table.given[across][[*between]].tolist())
            yield ", ".join(filter(None, (called, end))), places, tuple(ends[side] for ends in between.values())


def is_front(chart: Chart) -> bool:
    """Return whether a chart compares two questions."""
    return any(mark.dashed for mark in chart.marks)


def _front_chart(first: Chart, second: Chart) -> Chart:
    """Return the Pareto front of two questions for every line, with texts at points if there are few lines."""
    ways = better_side(first.up.quantity), better_side(second.up.quantity)
    lines: list[tuple[str, tuple[float, ...], tuple[float, ...]]] = []
    places: list[tuple[float, float, float]] = []
    for mark, other in zip(first.marks, second.marks, strict=True):
        by_place = dict(zip(other.xs, other.ys, strict=True))
        made_at = {(y, by_place[x]): x for x, y in zip(mark.xs, mark.ys, strict=True) if x in by_place}
        front = sorted(_front([*made_at], ways))
        lines.append((mark.name, tuple(x for x, _ in front), tuple(y for _, y in front)))
        places += [(made_at[point], *point) for point in front]
    across = first.across.quantity
    spaced = _spaced_points(places) if len(lines) <= _MOST_TAGGED else ()
    texts = {(x, y): f"{across} {show(across, at)}" for at, x, y in spaced}
    chart = _line_chart(first.up.quantity, second.up.quantity, lines)
    # No point is on the side that is worse in both.
    aside = (-_ASIDE * ways[0], -_ASIDE * ways[1]) if texts else None
    return replace(
        chart,
        title=f"{chart.up.quantity} over {chart.across.quantity}".replace("_", " ").capitalize(),
        said=(_NOTHING_BETTER[len(lines) > 1],),
        across=first.up,
        up=second.up,
        marks=tuple(
            replace(one, form="line", dashed=True, aside=aside, beside=tuple(texts.get(point, "") for point in points) if texts else ())
            for one in chart.marks
            for points in [zip(one.xs, one.ys, strict=True)]
        ),
    )


def _spaced_points(points: Sequence[tuple[float, float, float]]) -> Iterator[tuple[float, float, float]]:
    """Yield the points that are far enough from each other for a text at each."""
    sides = [x for _, x, _ in points], [y for _, _, y in points]
    kept: list[tuple[float, ...]] = []
    for point, place in zip(points, zip(*(_axis_shares(side, side, spans_decades(side)) for side in sides), strict=True), strict=True):
        if all(math.dist(place, other) >= _ROOM for other in reversed(kept)):
            kept.append(place)
            yield point


def _front(points: Sequence[tuple[float, float]], ways: tuple[int, int]) -> Iterator[tuple[float, float]]:
    """Yield the points that no other point beats in both quantities."""
    best = -math.inf
    for one, other in sorted(points, key=lambda point: (-ways[0] * point[0], -ways[1] * point[1])):
        if ways[1] * other > best:
            best = ways[1] * other
            yield one, other


_AT_PEAKS = ": as if the chips reached their peak rates, which no chip does"
_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+(?= (?:=|of|<=|>=) )")
"""The name of a given in a text. The axes print it as words too."""
_SAID_DEFAULTS = ("chips", *_SHARES)
"""Defaults that a caption names: the number of chips, and that they sustain their peaks."""


def caption(columns: Sequence[tuple[Sequence[str], Sequence[Result]]], limits: Mapping[str, Sequence[str]] = _NO_LIMITS) -> list[str]:
    """Return the caption of a picture: shared chips and models, constant givens, important defaults, assumptions, and points without an
    answer.

    `columns` are the chips and models of every deployment with its answers, `limits` the results that were given as limits.
    """
    every = [names for names, _ in columns]
    solutions = [one for _, found in columns for one in found]
    shared = [name for name in every[0] if all(name in others for others in every)]
    stay = [_constant_givens(one, limits) for one in solutions]
    given = [text for text in dict.fromkeys(text for texts in stay for text in texts) if _is_shared_by_all(text, stay)]
    taken = dict.fromkeys(text for one in solutions for text in moving_defaults(one) if text.split(" ")[0] in _SAID_DEFAULTS)
    supposed = dict.fromkeys(found[1] for one in solutions for text in one.warnings if (found := _SUPPOSED.match(text)))
    apart = [] if any(text.startswith(_PRICE) for text in given) else [text for one in columns for text in _price_of(*one, shared)]
    ideal = f" by default{_AT_PEAKS if {text.split(' ')[0] for text in taken} & {*_SHARES} else ''}"
    of_givens = [_NAME.sub(lambda name: name[0].replace("_", " "), ", ".join(texts)) for texts in (given, apart)]
    lines = [", ".join(shared), *of_givens, f"{', '.join(taken)}{ideal}" if taken else "", "; ".join(supposed)]
    return [line for line in (*lines, _missing_points([found for _, found in columns])) if line]


def _price_of(names: Sequence[str], solutions: Sequence[Result], shared: Sequence[str]) -> Iterator[str]:
    """Yield the price of a chip of a deployment, if the deployments differ in it."""
    prices = {one.given[_PRICE]: None for one in solutions if _PRICE in one.given and not (one.sweep and _PRICE in one.sweep.given)}
    own = " ".join(name for name in names if name not in shared)
    yield from (f"{_PRICE} of {own} = {show(_PRICE, price)}" for price in prices if own)


def _missing_points(columns: Sequence[Sequence[Result]]) -> str:
    """Return the number of points without an answer, with the first one and its reason."""
    sweeps = [[one.sweep for one in found if one.sweep] for found in columns]
    missing = [{at: reason for one in of for at, (_, reason) in one.others.items() if reason} for of in sweeps]
    count, every = sum(map(len, missing)), sum(len(of[0]) for of in sweeps if of)
    if not count:
        return ""
    table, at, reason = next((of[0], *min(found.items())) for of, found in zip(sweeps, missing, strict=True) if found)
    first = ", ".join(f"{name.replace('_', ' ')} = {show(name, float(column[at]))}" for name, column in table.given.items())
    why = reason.message.splitlines()[0].partition(":")[0]
    return f"no answer at {count} of {every} points, {'first' if count > 1 else 'that'} at {first}: {why}"


def _constant_givens(solution: Result, limits: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the givens that have one value, and the price of a chip even if it is not typed."""
    swept = solution.sweep.given if solution.sweep else {}
    typed = [name for name in solution.given if solution.provenance.get(name) == "given" or name == _PRICE]
    one = [f"{name} = {show(name, solution.given[name])}" for name in typed if name not in swept and not limits.get(name)]
    if solution.spans and solution.sweep:
        one += [f"{name} = {show(name, low)} to {show(name, high)}" for name, (low, high) in solution.spans.ranges.items()]
    elif solution.spans:
        one += [f"{name} = {show(name, value)} (of a range)" for name, value in solution.spans.shown.items()]
    return one + [f"{name} {text[:2]} {text[2:]}" for name, texts in limits.items() for text in texts]


def _is_shared_by_all(text: str, stay: Sequence[Sequence[str]]) -> bool:
    """Return whether all answers have the same value of this given. Answers that do not need it are ignored."""
    name = text.split(" ", maxsplit=1)[0]
    return all(other == text for texts in stay for other in texts if other.split(" ")[0] == name)


def plotted_values(name: str, found: Spread, beside_a_sweep: bool) -> list[float] | None:
    """Return the values at which a picture shows a given that spans several values, or None if the given needs no change.

    A range is drawn as a sweep, or beside another sweep as a line at each end. A counted quantity has whole numbers only.

    >>> plotted_values("batch", Series(low=1, high=8, count=9, spacing="log"), False), plotted_values("mbu", Interval(0.6, 0.8), True)
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], [0.6, 0.8])
    """
    if isinstance(found, Interval):
        found = Series(values=found.ends) if beside_a_sweep else Series(low=found.low, high=found.high, count=POINTS, spacing="lin")
    elif not (found.count and name in COUNTED):
        return None
    values = found.array()
    drawn_at: list[float] = np.unique(np.maximum(np.round(values), 1.0) if name in COUNTED else values).tolist()
    return drawn_at


def draw_in_terminal(found: Sequence[Chart]) -> Iterator[str]:
    """Yield the charts as text, with a character for each line and the ends of both axes as numbers."""
    for place, chart in enumerate(found):
        yield from ("",) if place else ()
        yield from _draw_chart(chart)


def _draw_chart(chart: Chart) -> Iterator[str]:
    yield " over ".join(axis.words or axis.quantity for axis in (chart.up, chart.across))
    if not any(mark.xs for mark in chart.marks):
        yield "  no answer anywhere"
        return
    cells = [[" "] * _WIDE for _ in range(_HIGH)]
    (left, right), (bottom, top) = extent(chart, up=False), extent(chart, up=True)
    across, up = (bool(axis.is_logarithmic) for axis in (in_units(chart).across, in_units(chart).up))
    for sign, mark in zip(_MARKS, chart.marks, strict=False):
        for x, y in zip(_axis_shares(mark.xs, (left, right), across), _axis_shares(mark.ys, (bottom, top), up), strict=True):
            cells[_HIGH - 1 - round(y * (_HIGH - 1))][round(x * (_WIDE - 1))] = sign
    ends = {0: show(chart.up.quantity, top), _HIGH - 1: show(chart.up.quantity, bottom)}
    margin = max(map(len, ends.values()))
    yield from (f"{ends.get(at, ''):>{margin}} |{''.join(row).rstrip()}" for at, row in enumerate(cells))
    low, high = show(chart.across.quantity, left), show(chart.across.quantity, right)
    yield f"{'':>{margin}} +{'-' * _WIDE}"
    yield f"{'':>{margin}}  {low}{high:>{max(_WIDE - len(low), len(high) + 1)}}"
    yield from (f"{'':>{margin}}  {sign} {mark.name}" for sign, mark in zip(_MARKS, chart.marks, strict=False) if mark.name)


def _axis_shares(values: Sequence[float], among: Sequence[float], is_logarithmic: bool) -> list[float]:
    """Return the place of each value between the least and the greatest of all, from 0 to 1."""
    low, high = min(among), max(among)
    if low == high:
        return [0.0] * len(values)
    if is_logarithmic:
        return [math.log(value / low) / math.log(high / low) for value in values]
    return [(value - low) / (high - low) for value in values]
