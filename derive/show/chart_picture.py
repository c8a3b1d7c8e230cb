"""A chart as SVG or PNG: rows of things one below the other, ranges with their ends, and below all what each mark is."""

from math import log10
from textwrap import fill
from typing import Any

from derive.show.chart import Axis, Chart, chart_in_words, extent, moved_aside
from derive.show.figures import COLOURS, FEW_DECADES, SHAPES, axis_label, figure_bytes, tick_text
from derive.show.plot import spans_decades

_WIDE, _HIGH = 8.0, 5.6
"""Sides of a picture [inch]."""
_ROW, _AROUND_ROWS = 0.4, 2.7
"""Height of a row of a picture of things, and of all else in it [inch]."""
_SAID_WIDTH, _BESIDE_ROWS, _ROW_WIDTH = 92, 72, 30
"""Characters of a line below the title, of one beside names of rows, and of the name of a row."""
_NAME_HIGH, _LEVELS = 12, 2
"""Height of the name of a rule [point], and at how many heights such names lie."""
_FAINT, _ROOM = 0.18, 0.04
"""How much of its colour an area has, and room at the ends of an axis, of its length."""
_BAR = 0.36
"""Height of a bar, of a row's."""
_MIDDLE = 0.5


def picture_of_chart(chart: Chart, form: str) -> bytes:
    """The chart as SVG or PNG; WrongValue where matplotlib is not installed."""
    rows = chart.up.rows

    def draw(figure: Any) -> None:
        figure.suptitle(chart.title, x=0.01, horizontalalignment="left", fontsize=14, fontweight="bold")
        axes = figure.subplots()
        levels = min(_LEVELS, sum(not rule.up for rule in chart.rules))
        said = "\n".join(fill(text, _BESIDE_ROWS if rows else _SAID_WIDTH) for text in chart.said)
        axes.set_title(said, loc="left", fontsize=9, color="0.3", pad=8 + _NAME_HIGH * levels)
        _axes(axes, chart)
        named = [_mark(axes, chart, place) for place in range(len(chart.marks))]
        _rules(axes, chart)
        legend = [(handle, mark.name) for handle, mark in zip(named, chart.marks, strict=True) if mark.name]
        if legend:
            handles, names = zip(*legend, strict=True)
            columns = 1 if max(map(len, names)) > _SAID_WIDTH / 2 else 2
            figure.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False, fontsize=9.5)

    return figure_bytes(draw, (_WIDE, _AROUND_ROWS + _ROW * len(rows) if rows else _HIGH), form, chart_in_words(chart))


def _axes(axes: Any, chart: Chart) -> None:
    """Scales, words and ticks of both axes, before anything is drawn on them."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    for up, axis in ((False, chart.across), (True, chart.up)):
        (axes.set_ylabel if up else axes.set_xlabel)(axis.words, fontsize=11)
        side = axes.yaxis if up else axes.xaxis
        if axis.rows:
            side.set_major_locator(FixedLocator(range(len(axis.rows))))
            side.set_major_formatter(FixedFormatter([fill(name, _ROW_WIDTH) for name in axis.rows]))
            axes.set_ylim(len(axis.rows) - 0.5, -0.5)
            continue
        low, high = extent(chart, up)
        (axes.set_yscale if up else axes.set_xscale)("log" if axis.by_ratios else "linear")
        (axes.set_ylim if up else axes.set_xlim)(*_with_room(axis, low, high))
        if axis.ticks:
            within = [(at, text) for at, text in axis.ticks if low <= at <= high]
            side.set_major_locator(FixedLocator([at for at, _ in within]))
            side.set_major_formatter(FixedFormatter([text for _, text in within]))
            side.set_minor_locator(FixedLocator([]))
        else:
            _round_ticks(side, axis, low, high)
    axes.grid(visible=True, alpha=0.3, axis="x" if chart.up.rows else "both")
    axes.spines[["top", "right"]].set_visible(False)


def _with_room(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """The ends of an axis that leave room on both sides."""
    if not axis.by_ratios:
        room = _ROOM * (high - low)
        return low - room, high + room
    factor = 10 ** (_ROOM * max(log10(high / low), 1.0))
    return low / factor, high * factor


def _round_ticks(side: Any, axis: Axis, low: float, high: float) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if axis.by_ratios:
        side.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low <= FEW_DECADES else (1.0,), numticks=50))
        side.set_minor_formatter(NullFormatter())
    side.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def _mark(axes: Any, chart: Chart, place: int) -> Any:
    """Draws one mark, and hands back what stands for it beside its name."""
    mark, colour = chart.marks[place], COLOURS[place % len(COLOURS)]
    stroke = {"color": colour, "linestyle": "--" if mark.dashed else "-", "linewidth": 1.8}
    if mark.form == "line":
        return axes.plot(mark.xs, mark.ys, **stroke)[0]
    if mark.form == "area":
        lows, highs = zip(*mark.ends, strict=True)
        fill_between = axes.fill_betweenx if chart.up.rows else axes.fill_between
        return fill_between(mark.ys if chart.up.rows else mark.xs, lows, highs, color=colour, alpha=_FAINT, linewidth=0)
    if mark.form == "bars":
        lows, highs = zip(*mark.ends, strict=True)
        widths = [high - low for low, high in zip(lows, highs, strict=True)]
        return axes.barh(mark.ys, widths, left=lows, height=_BAR, color=colour)
    ys = [y + moved_aside(chart, mark) for y in mark.ys]
    for x, y, ends in zip(mark.xs, ys, mark.ends, strict=False):
        _range(axes, chart, (x, y), ends, colour)
    for x, y, text in zip(mark.xs, ys, mark.beside, strict=False):
        # Towards the middle, where there is room.
        right = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))[0] > _MIDDLE
        aside = {"xytext": (-8 if right else 8, 5), "horizontalalignment": "right" if right else "left"}
        axes.annotate(text, (x, y), textcoords="offset points", fontsize=8.5, color="0.25", **aside)
    look = {"color": colour, "marker": SHAPES[place % len(SHAPES)], "linestyle": "", "markersize": 6, "zorder": 3}
    return axes.plot(mark.xs, ys, **look)[0]


def _range(axes: Any, chart: Chart, at: tuple[float, float], ends: tuple[float | None, float | None], colour: str) -> None:
    """A range with a stop at either end; an end that is not known is an arrow."""
    from matplotlib.markers import CARETLEFT, CARETRIGHT

    low, high = ends
    if not chart.up.rows:
        axes.plot([at[0]] * 2, [low, high], color=colour, linewidth=1.5, marker="_", markersize=7)
        return
    least, most = axes.get_xlim()
    left, right = least if low is None else low, most if high is None else high
    axes.plot([left, right], [at[1]] * 2, color=colour, linewidth=2.2, solid_capstyle="butt")
    axes.plot([left], [at[1]], color=colour, marker=CARETLEFT if low is None else "|", markersize=9)
    axes.plot([right], [at[1]], color=colour, marker=CARETRIGHT if high is None else "|", markersize=9)


def _rules(axes: Any, chart: Chart) -> None:
    """Lines all across, each named at its end."""
    small = {"fontsize": 8.5, "color": "0.25"}
    for place, rule in enumerate(sorted(chart.rules, key=lambda rule: rule.at)):
        (axes.axhline if rule.up else axes.axvline)(rule.at, color="0.35", linewidth=1.1, linestyle=":")
        if rule.up:
            axes.annotate(rule.name, (0.01, rule.at), (0, 3), axes.get_yaxis_transform(), "offset points", **small)
            continue
        # Names of rules beside each other lie at two heights.
        above = (0, 3 + _NAME_HIGH * (place % _LEVELS))
        axes.annotate(rule.name, (rule.at, 1), above, axes.get_xaxis_transform(), "offset points", ha="center", **small)


def chart_axis(name: str, values: list[float], called: str = "") -> tuple[Axis, float]:
    """The axis of a quantity, and by what its values are divided.

    >>> chart_axis("kv_bytes_per_token", [2e3, 2e5])[0].words
    'kv bytes per token [kB/token]'
    """
    words, size = axis_label(name, values, called)
    return Axis(words=words, by_ratios=spans_decades(values)), size
