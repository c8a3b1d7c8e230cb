"""Sweeps and rooflines as pictures: a panel a question, a line a deployment, and of two questions the front of what is best in both."""

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from derive.answers import Result, Sweep
from derive.errors import WrongValue
from derive.quantities import QUANTITIES
from derive.show.roofline import Roof, roof_lines
from derive.show.side_by_side import better_way
from derive.units import show

FORMS = ("svg", "png")
DECADE = 10.0
"""From which ratio of the greatest to the least on an axis is one of ratios."""

MOST_LINES = 12
"""Lines in one panel beyond which nobody tells them apart."""

MOST_MARKED = 200
"""Points of a line beyond which marks would run into each other."""

MARKS = "*o+x#@%&=~^v"
NO_STEP = " where the answer is of no decode step on a chip"
WIDE, HIGH = 60, 14
"""Columns and rows of a panel that is drawn in a terminal."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: what is along its axes, and its lines by name, each as (x, y) where there is an answer.

    `called` are the axes in words where they are not the quantities themselves; the single points of such a picture are named beside.
    """

    across: str
    up: str
    lines: tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...]
    joined: bool = True
    called: tuple[str, str] = ("", "")


def roofline(roofs: Sequence[Roof]) -> Panel:
    """The roofs of chips, each with its ridge and the point its step works at; WrongValue for more of them than can be told apart.

    >>> [name for name, *_ in roofline([Roof("", 1e15, 4e12, "step of 20 ms", 125.0, 5e14)]).lines]
    ['roof', 'ridge at 250 FLOP/byte, 1 PFLOP/s', 'step of 20 ms: 500 TFLOP/s at 125 FLOP/byte']
    """
    lines = tuple(roof_lines(roofs))
    if len(lines) > MOST_LINES:
        raise WrongValue(f"--plot draws at most {MOST_LINES // 3} roofs: name fewer chips and models")
    return Panel("ridge_point", "peak_flops", lines, called=("FLOPs for each byte read", "FLOP/s of one chip"))


def panels(columns: Sequence[tuple[str, Sequence[Result]]]) -> list[Panel]:
    """The panels of sweeps, by the name of the deployment they are of; WrongValue for what is no sweep or too much of one.

    The last swept quantity is across; every combination of the others has a line. Two questions have a third panel, with the
    front of the points at which nothing is better in both.
    """
    swept = [(name, [one for one in solutions if one.sweep]) for name, solutions in columns]
    if not swept or any(not solutions for _, solutions in swept):
        raise WrongValue(f"--plot takes a sweep{NO_STEP}: give one value as a list or a sweep, e.g. batch=1..512:log")
    unknowns = [one.unknown for one in swept[0][1]]
    found = [_panel(unknown, [(name, one) for name, all_ in swept for one in all_ if one.unknown == unknown]) for unknown in unknowns]
    if any(len(one.lines) > MOST_LINES for one in found):
        raise WrongValue(f"--plot draws at most {MOST_LINES} lines: sweep one quantity, or name fewer chips and models")
    if len(found) == 2 and all(better_way(unknown) for unknown in unknowns):
        front = _fronts(*found)
        # Where one point is best in both there is nothing to weigh.
        found += [front] if any(len(xs) > 1 for _, xs, _ in front.lines) else []
    return found


def _panel(unknown: str, solutions: Sequence[tuple[str, Result]]) -> Panel:
    lines = tuple(line for name, one in solutions if one.sweep for line in _lines(name, one.sweep))
    first = next(one.sweep for _, one in solutions if one.sweep)
    return Panel([*first.given][-1], unknown, lines)


def _lines(name: str, table: Sweep) -> Iterator[tuple[str, tuple[float, ...], tuple[float, ...]]]:
    """A line for each combination of what is swept but for the last."""
    *others, across = table.given
    values = np.nanmin(np.vstack([table.values, np.full((1, len(table)), np.inf)]), axis=0)
    keys = list(zip(*(table.given[other].tolist() for other in others), strict=True)) if others else [()] * len(table)
    for key in dict.fromkeys(keys):
        at = [place for place, one in enumerate(keys) if one == key and math.isfinite(values[place])]
        said = ", ".join(f"{other} = {show(other, value)}" for other, value in zip(others, key, strict=True))
        yield " ".join(filter(None, (name, said))), tuple(table.given[across][at].tolist()), tuple(values[at].tolist())


def _fronts(first: Panel, second: Panel) -> Panel:
    """Of two questions the points of every line at which none of that line is better in both."""
    ways = better_way(first.up), better_way(second.up)
    lines = []
    for (name, xs, ys), (_, other_xs, other_ys) in zip(first.lines, second.lines, strict=True):
        by_place = dict(zip(other_xs, other_ys, strict=True))
        front = sorted(_front([(one, by_place[x]) for x, one in zip(xs, ys, strict=True) if x in by_place], ways))
        lines.append((name, tuple(x for x, _ in front), tuple(y for _, y in front)))
    return Panel(first.up, second.up, tuple(lines), joined=False)


def _front(points: Sequence[tuple[float, float]], ways: tuple[int, int]) -> Iterator[tuple[float, float]]:
    """The points that none beats in both: from the best in the first on, those that are better in the second than all before."""
    best = -math.inf
    for one, other in sorted(points, key=lambda point: (-ways[0] * point[0], -ways[1] * point[1])):
        if ways[1] * other > best:
            best = ways[1] * other
            yield one, other


def picture(found: Sequence[Panel], form: str) -> bytes:
    """The panels below each other as SVG or PNG; WrongValue where matplotlib is not installed."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise WrongValue("pictures take matplotlib: pip install 'backsolve[plot]'; --plot - draws in the terminal") from None
    # The same picture for the same answers: no date in it, and names of its parts that are not drawn by lot.
    with rc_context({"svg.hashsalt": "backsolve"}):
        figure = Figure(figsize=(7.0, 3.6 * len(found)), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, panel in zip(figure.subplots(len(found), squeeze=False)[:, 0], found, strict=True):
            for name, xs, ys in panel.lines:
                named = panel.called != ("", "")
                marker = "o" if len(xs) <= (1 if named else MOST_MARKED) else None
                axes.plot(xs, ys, marker=marker, markersize=3, linestyle="-" if panel.joined else ":", label=name)
                if named and len(xs) == 1:
                    # Where a roof leaves room: above it on the left of its ridge, and below it on its slope.
                    right = _place(xs[0], [x for _, places, _ in panel.lines for x in places], WIDE) > WIDE // 2
                    side = {"xytext": (0, 5), "ha": "right"} if right else {"xytext": (5, -10), "ha": "left"}
                    axes.annotate(name, (xs[0], ys[0]), textcoords="offset points", fontsize="x-small", **side)
            axes.set_xlabel(_axis(panel.across, panel.called[0]))
            axes.set_ylabel(_axis(panel.up, panel.called[1]))
            axes.set_xscale("log" if _is_wide([x for _, xs, _ in panel.lines for x in xs]) else "linear")
            axes.set_yscale("log" if _is_wide([y for _, _, ys in panel.lines for y in ys]) else "linear")
            axes.grid(visible=True, alpha=0.3)
            if any(name for name, _, _ in panel.lines):
                axes.legend(fontsize="small")
        out = io.BytesIO()
        figure.savefig(out, format=form, metadata={"Date": None} if form == "svg" else None, dpi=150)
    return out.getvalue()


def _axis(name: str, called: str) -> str:
    unit = QUANTITIES[name].unit
    return called or (name if unit == "1" else f"{name} [{unit}]")


def _is_wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > DECADE


def drawing(found: Sequence[Panel]) -> Iterator[str]:
    """The panels as text, a mark a line of the sweep; the ends of both axes are written out."""
    for place, panel in enumerate(found):
        yield from ("",) if place else ()
        yield from _drawn(panel)


def _drawn(panel: Panel) -> Iterator[str]:
    xs = [x for _, across, _ in panel.lines for x in across]
    ys = [y for _, _, up in panel.lines for y in up]
    yield f"{panel.called[1] or panel.up} over {panel.called[0] or panel.across}"
    if not xs:
        yield "  no answer anywhere"
        return
    cells = [[" "] * WIDE for _ in range(HIGH)]
    for mark, (_, across, up) in zip(MARKS, panel.lines, strict=False):
        for x, y in zip(across, up, strict=True):
            cells[HIGH - 1 - _place(y, ys, HIGH)][_place(x, xs, WIDE)] = mark
    ends = [show(panel.up, max(ys)), show(panel.up, min(ys))]
    margin = max(map(len, ends))
    for at, row in enumerate(cells):
        label = ends[0] if at == 0 else ends[1] if at == HIGH - 1 else ""
        yield f"{label:>{margin}} |{''.join(row).rstrip()}"
    low, high = show(panel.across, min(xs)), show(panel.across, max(xs))
    yield f"{'':>{margin}} +{'-' * WIDE}"
    yield f"{'':>{margin}}  {low}{high:>{max(WIDE - len(low), len(high) + 1)}}"
    yield from (f"{'':>{margin}}  {mark} {name}" for mark, (name, _, _) in zip(MARKS, panel.lines, strict=False) if name)


def _place(value: float, among: Sequence[float], size: int) -> int:
    """Which of so many cells a value is in, by ratios where they span much."""
    low, high = min(among), max(among)
    if low == high:
        return 0
    share = math.log(value / low) / math.log(high / low) if _is_wide(among) else (value - low) / (high - low)
    return min(size - 1, max(0, round(share * (size - 1))))
