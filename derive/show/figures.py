"""Panels as a picture for a page or a slide: what is shown of what deployment above, plain numbers in people's units along the axes."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from math import isclose, sqrt
from textwrap import wrap
from typing import Any

from derive.answers import BOUGHT
from derive.errors import WrongValue
from derive.records import LOWER, UPPER
from derive.show.plot import Panel, spans_decades
from derive.show.side_by_side import better_way
from derive.units import scale, show

_WIDE, _HIGH, _HIGH_OF_SEVERAL = 10.0, 6.0, 4.6
"""Width, height of a picture of one panel, and of each of several [inch]."""
_DOTS = 150
"""Dots for an inch."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Of Okabe and Ito, without the yellow that is faint on white: told apart whichever colours an eye does not see."""
SHAPES = "os^DvPX*<>ph"
"""A mark for every line, so that they are told apart in grey too."""
_DASHES = ("-", "--")
_POINTS_OF_ROOFS = ("", "D", "o")
"""Marks of a roof, of its ridge and of the step."""

_MOST_MARKED = 60
"""Points of a line beyond which marks would run into each other."""
FEW_DECADES = 1e3
"""Ratio on an axis up to which 2 and 5 have a tick beside 1 and 10."""
_AS_WIDE = 1e-3
"""Up to which share of it lines are apart that are drawn over each other."""
_NAME_WIDTH, _CAPTION_WIDTH = 34, 125
"""Characters of a line of the legend, and of the lines below the title."""

_NOTHING_BETTER = {False: "the front: no other point is better in both", True: "fronts: no other point of the same line is better in both"}
"""What is said above the best of both, of one line and of several."""
_ASIDE, _MARGIN = 7, 0.13
"""How far a text is from its point [point], and room at the sides of a picture with such texts, of its width."""

_KEPT = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
_AT = {LOWER: ", at least", UPPER: ", at most", None: ""}


def picture_title(found: Sequence[Panel]) -> str:
    """What the panels show: the answers over what is swept, or a roofline.

    >>> picture_title([Panel(across="batch", up="cost_per_token", lines=())])
    'Cost per token over batch'
    """
    first = found[0]
    answers = [_words(one.up, one.called[1]) for one in found if one.joined or len(found) == 1]
    said = f"{' and '.join(answers)} over {_words(first.across, first.called[0])}"
    return f"{'Roofline: ' if first.called[0] else ''}{said if first.called[0] else said[0].upper() + said[1:]}"


def axis_label(name: str, values: Sequence[float], called: str = "", bound: str | None = None) -> tuple[str, float]:
    """What stands along an axis, and by what the values are divided for it to be true.

    >>> axis_label("cost_per_token", [3e-7, 1e-5], bound="lower"), axis_label("context_length", [2e4, 2e5])
    (('cost per token, at least [$/MTok]', 1e-06), ('context length [k tokens]', 1000.0))
    """
    size, unit = scale(name, _typical(values)) if values else (1.0, "")
    unit = unit.strip().replace("USD", "$")
    return f"{_words(name, called)}{_AT[bound]}{f' [{unit}]' if unit else ''}", size


def tick_text(value: float) -> str:
    """A number at a tick: no powers of ten.

    >>> tick_text(40.0), tick_text(0.002), tick_text(20000.0)
    ('40', '0.002', '20,000')
    """
    return f"{value:,.10f}".rstrip("0").rstrip(".") if 1e-9 < abs(value) < 1e12 else f"{value:g}"


def _words(name: str, called: str) -> str:
    return called or name.replace("_", " ")


def _typical(values: Sequence[float]) -> float:
    return sqrt(min(values) * max(values)) if spans_decades(values) else max(values)


def picture(found: Sequence[Panel], form: str, caption: Sequence[str] = ()) -> bytes:
    """The panels below each other as SVG or PNG, below their title what they are of; WrongValue where matplotlib is not installed."""

    def draw(figure: Any) -> None:
        title = figure.suptitle(picture_title(found), horizontalalignment="left", fontsize=15, fontweight="bold")
        every = figure.subplots(len(found), squeeze=False)[:, 0]
        for axes, panel in zip(every, found, strict=True):
            _draw(axes, panel)
            axes.set_title("" if panel.joined else _NOTHING_BETTER[len(panel.lines) > 1], loc="left", fontsize=10)
        if caption:
            lines = (line for text in caption for line in _folded(text, _CAPTION_WIDTH))
            every[0].set_title("\n".join(lines), loc="left", fontsize=8.5, color="0.3", pad=8)
        # It begins where its axes do, as what is said below it.
        figure.get_layout_engine().execute(figure)
        title.set_x(min(axes.get_position().x0 for axes in every))
        # Laid out once: of many points that takes as long as drawing them.
        figure.set_layout_engine("none")

    described = " ".join(f"{text}." for text in (picture_title(found), *caption, *(line for panel in found for line in _lines_said(panel))))
    return figure_bytes(draw, (_WIDE, _HIGH if len(found) == 1 else _HIGH_OF_SEVERAL * len(found)), form, described)


def _lines_said(panel: Panel) -> Iterator[str]:
    """Both ends of every line in words.

    >>> list(_lines_said(Panel(across="batch", up="step_time", lines=(("A", (1.0, 8.0), (0.002, 0.004)),))))
    ['A: step time 2 ms at batch 1, 4 ms at batch 8']
    """
    for name, xs, ys in panel.lines:
        points = [*zip(xs, ys, strict=True)]
        across = _words(panel.across, panel.called[0])
        ends = [f"{show(panel.up, y)} at {across} {show(panel.across, x)}" for x, y in dict.fromkeys((*points[:1], *points[-1:]))]
        said = ", ".join(ends) or "no answer"
        yield f"{f'{name}: ' if name else ''}{_words(panel.up, panel.called[1])} {said}"


def figure_bytes(draw: Callable[[Any], None], sides: tuple[float, float], form: str, described: str = "") -> bytes:
    """A figure of these sides [inch] as SVG or PNG, the same bytes for the same drawing; WrongValue where matplotlib is not installed.

    `described` is what it shows in words, which goes into the file.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise WrongValue("pictures take matplotlib: pip install 'backsolve[plot]'; solve --plot - draws in the terminal") from None
    # No date in it, and names of its parts that are not drawn by lot. A $ is a dollar.
    with rc_context({"svg.hashsalt": "backsolve", "svg.fonttype": "none", "text.parse_math": False}):
        figure = Figure(figsize=sides, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        out = io.BytesIO()
        metadata = {"Description": described} if described else {}
        figure.savefig(out, format=form, metadata={"Date": None, **metadata} if form == "svg" else metadata, dpi=_DOTS)
    return out.getvalue()


def _draw(axes: Any, panel: Panel) -> None:
    """A panel: its lines in units that people use, and beside them, not over them, what they are called."""
    across = [x for _, xs, _ in panel.lines for x in xs]
    up = [y for _, _, ys in panel.lines for y in ys]
    words, wide = axis_label(panel.across, across, panel.called[0], panel.bounds[0])
    axes.set_xlabel(words, fontsize=11)
    words, high = axis_label(panel.up, up, panel.called[1], panel.bounds[1])
    axes.set_ylabel(words, fontsize=11)
    for place, (name, xs, ys) in enumerate(panel.lines):
        axes.plot([x / wide for x in xs], [y / high for y in ys], label=_legend(panel, place, name), **_look(panel, place))
    if panel.tags:
        # On the side that is worse in both no point lies.
        aside = [-_ASIDE * better_way(name) for name in (panel.across, panel.up)]
        side = {"xytext": aside, "horizontalalignment": "left" if aside[0] > 0 else "right", "verticalalignment": "center"}
        axes.margins(x=_MARGIN)
        for text, x, y in panel.tags:
            axes.annotate(text, (x / wide, y / high), textcoords="offset points", fontsize=8.5, color="0.25", **side)
    for axis, scaled, values in ((axes.xaxis, axes.set_xscale, across), (axes.yaxis, axes.set_yscale, up)):
        scaled("log" if panel.by_ratios(values) else "linear")
        _ticks(axis, values, panel.by_ratios(values))
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if any(name for name, *_ in panel.lines):
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False, fontsize=9)


def _look(panel: Panel, place: int) -> dict[str, Any]:
    """Colour, mark and stroke of a line: what is bought whole goes up in steps, and between two numbers of it there is nothing."""
    own, part = divmod(place, panel.of_one)
    _, xs, ys = panel.lines[place]
    look: dict[str, Any] = {"color": COLOURS[own % len(COLOURS)], "linestyle": _DASHES[own // len(COLOURS) % 2], "linewidth": 1.8}
    if panel.of_one > 1:
        return look | {"marker": _POINTS_OF_ROOFS[part], "markersize": 9, "markerfacecolor": "white" if part == 1 else look["color"]}
    look |= {"marker": SHAPES[own] if len(xs) <= _MOST_MARKED else "", "markersize": 5}
    if _is_covered(panel, place):
        look |= {"linewidth": 5.0, "markersize": 9, "alpha": 0.5}
    if panel.across in BOUGHT and panel.joined:
        return look | {"marker": SHAPES[own], "linestyle": ""}
    if not panel.joined:
        return look | {"linestyle": ":", "linewidth": 1.2}
    if panel.up in BOUGHT and all(y == round(y) for y in ys):
        # So many are needed up to this point, from the one before on.
        return look | {"drawstyle": "steps-pre"}
    return look


def _is_covered(panel: Panel, place: int) -> bool:
    """Whether a line that is drawn later lies on this one at some of its points, so that it has to show on both sides.

    >>> lines = (("A", (1.0, 2.0), (3.0, 4.0)), ("B", (1.0, 2.0), (3.0, 5.0)), ("C", (1.0, 2.0), (4.0, 6.0)))
    >>> [_is_covered(Panel(across="batch", up="step_time", lines=lines), place) for place in range(3)]
    [True, False, False]
    """
    own = dict(zip(*panel.lines[place][1:], strict=True))
    later = (point for _, xs, ys in panel.lines[place + 1 :] for point in zip(xs, ys, strict=True))
    return any(x in own and isclose(own[x], y, rel_tol=_AS_WIDE) for x, y in later)


def _legend(panel: Panel, place: int, name: str) -> str:
    """The name of a line, of the parts of a roof without that of its chip again; each of its parts on a line."""
    first = panel.lines[place - place % panel.of_one][0]
    parts = re.split(r"(?<=[:,]) ", name.removeprefix(f"{first}: "))
    return "\n".join(line for part in parts for line in _folded(part, _NAME_WIDTH))


def _folded(text: str, width: int) -> list[str]:
    """Lines of some width, in which a name and its value stay together."""
    return wrap(text.replace(" = ", _KEPT), width)


def _ticks(axis: Any, values: Sequence[float], by_ratios: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if by_ratios:
        few = max(values) / min(values) <= FEW_DECADES
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=50))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
