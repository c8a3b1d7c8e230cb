"""Charts drawn by matplotlib, one below the other, as the bytes of an SVG or PNG file."""

import io
import logging
import os
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from backsolve.figures.axes import COLOURS, axis_ends, axis_ticks, colour_number
from derive.errors import WrongData, WrongValue, shorten
from derive.files import write
from derive.show.chart import Chart, Mark, chart_in_words, extent, in_units, row_offset

_SHAPES = "os^DvPX*<>ph"
"""A shape of points for each mark, so that they can be told apart in grey too."""
_DASHES = ("-", "--")
"""The strokes of lines: the second one once all colours are used."""
_WIDE, _HIGH, _HIGH_OF_SEVERAL = 8.0, 5.0, 3.8
"""Width of a picture, height of one chart, and of each of several [inch]."""
_ROW_HEIGHT, _AROUND_ROWS, _LEGEND_LINE = 0.4, 2.2, 0.2
"""Height of a row of a chart of things, of all else in it, and of a line of the legend [inch]."""
_DOTS_PER_INCH = 150
_TEXT_WIDTH, _BESIDE_ROWS, _ROW_WIDTH = 92, 72, 30
"""Characters of a line below the title, of one beside the names of rows, and of the name of a row."""
_SMALL = {"fontsize": 8.5, "color": "0.25"}
_NAME_HEIGHT, _NAME_LEVELS = 12, 2
"""Height of the name of a rule [point], and the number of heights of such names."""
_BELOW_AXES = 0.55
"""Distance of a legend from the axes above it [inch]."""


def refuse_picture(option: str, place: str) -> None:
    """Raise WrongValue for a file that is not a picture."""
    if not place.lower().endswith((".svg", ".png")):
        raise WrongValue(f"{option} {shorten(place)[1:-1]}: write to a file that ends in .svg or .png")


def draw_picture(place: str, charts: Sequence[Chart]) -> None:
    """Write charts as a picture. Its form is the end of the name of the file."""
    write(place, picture(charts, place.lower()[-3:]))


def picture(charts: Sequence[Chart], form: str) -> bytes:
    """Return charts one below the other as "svg" or "png". The same charts give the same bytes. Raise WrongValue without matplotlib.

    Settings of the user do not change them.
    """
    for name in ("MPLBACKEND", "SOURCE_DATE_EPOCH"):
        os.environ.pop(name, None)
    # It logs a folder that cannot store its list of fonts, and a file of settings that it cannot read.
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
    try:
        from matplotlib import rc_context, rcdefaults, rcParams
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise WrongValue("pictures need matplotlib: pip install 'backsolve[plot]'. solve --plot - draws in the terminal") from None
    except UnicodeDecodeError as error:
        raise WrongData(f"matplotlibrc of this folder or of yours cannot be read: {error}") from None
    charts = [*map(in_units, charts)]
    heights = [_height(chart, len(charts)) for chart in charts]
    # No date and no random names, so that the bytes are the same each time. A $ is a dollar.
    with rc_context():
        rcdefaults()
        rcParams.update({"svg.hashsalt": "backsolve", "svg.fonttype": "none", "text.parse_math": False})
        figure = Figure(figsize=(_WIDE, sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        title = figure.suptitle(charts[0].title, x=0.01, horizontalalignment="left", fontsize=14, fontweight="bold")
        every = figure.subplots(len(charts), squeeze=False, height_ratios=heights)[:, 0]
        for axes, chart in zip(every, charts, strict=True):
            _draw_chart(axes, chart)
        if layout := figure.get_layout_engine():
            layout.execute(figure)
        if not charts[0].up.rows:
            title.set_x(every[0].get_position().x0)
        # One layout is enough: with many points it takes as long as drawing them.
        figure.set_layout_engine("none")
        out = io.BytesIO()
        metadata = {"Description": " ".join(map(chart_in_words, charts)), **({"Date": None} if form == "svg" else {})}
        figure.savefig(out, format=form, metadata=metadata, dpi=_DOTS_PER_INCH)
    return out.getvalue()


def _height(chart: Chart, charts: int) -> float:
    plane = _AROUND_ROWS + _ROW_HEIGHT * len(chart.up.rows) if chart.up.rows else _HIGH if charts == 1 else _HIGH_OF_SEVERAL
    names = _legend_names(chart)
    return plane + _LEGEND_LINE * sum(name.count("\n") + 1 for name in names) / _legend_columns(names)


def _legend_names(chart: Chart) -> list[str]:
    return [fill(mark.name.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"), _TEXT_WIDTH) for mark in chart.marks if mark.name]


def _legend_columns(names: Sequence[str]) -> int:
    return 1 if max(map(len, names), default=0) > _TEXT_WIDTH / 2 else 2


def _draw_chart(axes: Any, chart: Chart) -> None:
    from matplotlib.transforms import ScaledTranslation

    levels = min(_NAME_LEVELS, sum(not rule.up for rule in chart.rules))
    text = "\n".join(fill(line, _BESIDE_ROWS if chart.up.rows else _TEXT_WIDTH) for line in chart.said)
    axes.set_title(text, loc="left", fontsize=9, color="0.3", pad=8 + _NAME_HEIGHT * levels)
    _draw_axis(axes, chart, up=False)
    _draw_axis(axes, chart, up=True)
    axes.grid(visible=True, alpha=0.3, axis="x" if chart.up.rows else "both")
    axes.spines[["top", "right"]].set_visible(False)
    drawn = [_draw_mark(axes, chart, place) for place in range(len(chart.marks))]
    _draw_rules(axes, chart)
    if names := _legend_names(chart):
        handles = [one for one, mark in zip(drawn, chart.marks, strict=True) if mark.name]
        below = axes.transAxes + ScaledTranslation(0, -_BELOW_AXES, axes.figure.dpi_scale_trans)
        look = {"frameon": False, "fontsize": 9, "borderaxespad": 0.0}
        axes.legend(handles, names, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=_legend_columns(names), **look)


def _draw_axis(axes: Any, chart: Chart, up: bool) -> None:
    """Set the scale, the words and the ticks of one axis."""
    from matplotlib.ticker import FixedFormatter, FixedLocator

    axis, side = (chart.up, axes.yaxis) if up else (chart.across, axes.xaxis)
    (axes.set_ylabel if up else axes.set_xlabel)(axis.words, fontsize=11)
    if axis.rows:
        ticks = [(float(row), fill(name, _ROW_WIDTH)) for row, name in enumerate(axis.rows)]
        axes.set_ylim(len(axis.rows) - 0.5, -0.5)
    else:
        (axes.set_yscale if up else axes.set_xscale)("log" if axis.is_logarithmic else "linear")
        (axes.set_ylim if up else axes.set_xlim)(*axis_ends(chart, up))
        ticks = axis_ticks(axis, *extent(chart, up))
    side.set_major_locator(FixedLocator([at for at, _ in ticks]))
    side.set_major_formatter(FixedFormatter([text for _, text in ticks]))
    side.set_minor_locator(FixedLocator([]))


def _draw_mark(axes: Any, chart: Chart, place: int) -> Any:
    """Draw one mark, and return its handle for the legend."""
    mark, number = chart.marks[place], colour_number(chart, place)
    colour, shape = COLOURS[number], _SHAPES[place % len(_SHAPES)]
    if mark.form in ("area", "bars"):
        lows, highs = zip(*mark.ends, strict=True)
        if mark.form == "bars":
            return axes.barh(mark.ys, [high - low for low, high in zip(lows, highs, strict=True)], left=lows, height=0.36, color=colour)
        fill_between = axes.fill_betweenx if chart.up.rows else axes.fill_between
        return fill_between(mark.ys if chart.up.rows else mark.xs, lows, highs, color=colour, alpha=0.18, linewidth=0)
    ys = [y + row_offset(chart, mark) for y in mark.ys]
    if mark.ends:
        _draw_ranges(axes, chart, mark, ys, colour)
    _write_beside(axes, mark, ys)
    if mark.form == "points":
        return axes.plot(mark.xs, ys, color=colour, marker=shape, linestyle="", markersize=6, zorder=3)[0]
    stroke = _DASHES[mark.dashed or (mark.colour or 0) // len(COLOURS) % 2]
    look = {"linewidth": 5.0, "alpha": 0.5, "markersize": 9} if mark.wide else {"linewidth": 1.8, "markersize": 5}
    drawstyle = "steps-pre" if mark.form == "steps" else "default"
    return axes.plot(mark.xs, ys, color=colour, linestyle=stroke, drawstyle=drawstyle, marker=shape if mark.marked else "", **look)[0]


def _write_beside(axes: Any, mark: Mark, ys: Sequence[float]) -> None:
    """Write the texts at points: on the side that the mark names, or towards the middle."""
    for x, y, text in zip(mark.xs, ys, mark.beside, strict=False):
        right = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))[0] > 1 / 2
        across, up = mark.aside or (-8 if right else 8, 5)
        place = {"xytext": (across, up), "horizontalalignment": "right" if across < 0 else "left"}
        axes.annotate(text, (x, y), textcoords="offset points", verticalalignment="center" if mark.aside else "baseline", **place, **_SMALL)


def _draw_ranges(axes: Any, chart: Chart, mark: Mark, ys: Sequence[float], colour: str) -> None:
    """Draw the ranges of a mark with a stop at either end. In a chart with rows, an unknown end is an arrow at the edge."""
    from matplotlib.markers import CARETLEFT, CARETRIGHT

    if not chart.up.rows:
        lows, highs = zip(*mark.ends, strict=True)
        axes.vlines(mark.xs, lows, highs, color=colour, linewidth=1.5)
        axes.plot([*mark.xs, *mark.xs], [*lows, *highs], color=colour, linestyle="", marker="_", markersize=7)
        return
    least, most = axes.get_xlim()
    stops = [(least, y, CARETLEFT) if low is None else (low, y, "|") for (low, _), y in zip(mark.ends, ys, strict=True)]
    stops += [(most, y, CARETRIGHT) if high is None else (high, y, "|") for (_, high), y in zip(mark.ends, ys, strict=True)]
    axes.hlines(ys, [x for x, *_ in stops[: len(ys)]], [x for x, *_ in stops[len(ys) :]], color=colour, linewidth=2.2)
    for shape in dict.fromkeys(shape for *_, shape in stops):
        across, up = zip(*((x, y) for x, y, one in stops if one == shape), strict=True)
        axes.plot(across, up, color=colour, linestyle="", marker=shape, markersize=9)


def _draw_rules(axes: Any, chart: Chart) -> None:
    """Draw lines from edge to edge, each named at its end. Names beside each other are at two heights."""
    for place, rule in enumerate(sorted(chart.rules, key=lambda rule: rule.at)):
        (axes.axhline if rule.up else axes.axvline)(rule.at, color="0.35", linewidth=1.1, linestyle=":")
        if rule.up:
            axes.annotate(rule.name, (0.01, rule.at), (0, 3), axes.get_yaxis_transform(), "offset points", **_SMALL)
        else:
            above = (0, 3 + _NAME_HEIGHT * (place % _NAME_LEVELS))
            axes.annotate(rule.name, (rule.at, 1), above, axes.get_xaxis_transform(), "offset points", ha="center", **_SMALL)
