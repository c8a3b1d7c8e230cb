"""A chart as SVG without matplotlib: for pages, in the colours of the reader, and for notebooks, with a style of its own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from math import inf, log10
from textwrap import wrap
from typing import NamedTuple

from backsolve.figures.axes import COLOURS, axis_ends, axis_ticks, colour_number
from derive.quantities.formula import NOTHING
from derive.show.chart import Axis, Chart, Mark, chart_in_words, extent, row_offset

SMALL, _LINE = 12, 16
"""Size of its letters, and height of a line of them [px]."""
_LETTER = 0.62
"""Width of a letter, as a share of its size."""
_SAID_WIDTH = 96
"""Characters of a line below the title."""
_GAP, _TICK, _STOP = 8, 5, 5
"""Room between things, length of a tick, and half the stop at the end of a range [px]."""
_BEFORE_NAME = _GAP + 2 * _LINE + _GAP
"""Room for the keys of a legend before their names [px]."""
_BAR = 7
"""Half the height of a bar [px]."""

_STYLE = ".chart{background:#fff}" + "".join(
    f".chart {name}{{{rule}}}"
    for name, rule in (
        ("text", "font:12px sans-serif;fill:#222"),
        (".title", "font-size:16px;font-weight:bold"),
        (".said", "fill:#555"),
        (".beside", "fill:#555;paint-order:stroke;stroke:#fff;stroke-width:3px"),
        ("polyline", "fill:none;stroke-width:1"),
        (".axis", "stroke:#777"),
        (".grid", "stroke:#ddd"),
        (".rule", "stroke:#555;stroke-dasharray:2 3"),
        *((f".c{place}", f"--c:{colour}") for place, colour in enumerate(COLOURS)),
        (".line", "stroke:var(--c);stroke-width:2"),
        (".range", "fill:none;stroke:var(--c);stroke-width:2"),
        (".dashed", "stroke-dasharray:7 4"),
        (".dots", "fill:none;stroke:var(--c);stroke-width:8;stroke-linecap:round"),
        (".bar", "fill:var(--c)"),
        (".area", "fill:var(--c);opacity:.2"),
    )
)
"""The style of a drawing outside a page. A page has its own style sheet."""

_Place = Callable[[float], float]
_Box = tuple[float, float, float, float]
"""Left, top, width and height [px]."""
_DOT = 4
"""Half the width of a dot [px]."""


class Room(NamedTuple):
    """Width of a drawing and height of its plane [px], characters of the name of a row, and least height of a row [px]."""

    wide: float
    high: float
    letters: int
    row: float


_ALONE, _ON_PAGE = Room(wide=680, high=320, letters=26, row=48), Room(wide=420, high=270, letters=20, row=48)
"""Sizes of a drawing alone and on a page. On a phone a wider drawing would be too small to read, or would scroll."""


class Drawing:
    """A chart that a notebook shows as a picture.

    >>> one = Mark(name="size", form="points", xs=(1.0, 30.0), ys=(2.0, 3.0))
    >>> Drawing(Chart(title="T", across=Axis(words="x"), up=Axis(words="y"), marks=(one,)))._repr_svg_()[:4]
    '<svg'
    """

    def __init__(self, chart: Chart):
        self.chart = chart

    def __repr__(self) -> str:
        return chart_in_words(self.chart)

    def _repr_svg_(self) -> str:
        return chart_svg(self.chart)


def chart_svg(chart: Chart, alone: bool = True, links: Mapping[str, str] = NOTHING) -> str:
    """Return the chart as an SVG element: alone with title, text and style, or for a page, which has all three.

    `links` are the addresses of named points.
    """
    rows, room = chart.up.rows, _room(chart, _ALONE if alone else _ON_PAGE)
    lines = [line for text in chart.said for line in wrap(text, _SAID_WIDTH)] if alone else []
    top = (2 * _LINE + _LINE * len(lines) if alone else 0) + _LINE * min(2, sum(not rule.up for rule in chart.rules)) + _GAP
    left = _GAP + max(map(_width, _names_up(chart, room))) + (0 if rows else _LINE) + _TICK
    bottom, right = top + (room.row * len(rows) if rows else room.high), room.wide - 2 * _GAP
    legend = [*_legend(chart, room)]
    height = bottom + 3 * _LINE + _LINE * sum(len(lines) for _, _, lines in legend) + _GAP
    across = _scale(chart.across, axis_ends(chart, up=False), left, right)
    up: _Place = (lambda row: top + room.row * (row + 1 / 2)) if rows else _scale(chart.up, axis_ends(chart, up=True), bottom, top)
    body = [
        *([_text(_GAP, _LINE, chart.title, "title")] if alone else []),
        *(_text(_GAP, _LINE * (place + 2), line, "said") for place, line in enumerate(lines)),
        *_axes(chart, room, across, up, (left, right, top, bottom)),
        *(part for place in range(len(chart.marks)) for part in _mark(chart, room, place, across, up, (left, right), links)),
        *_point_names(chart, across, up, (left, right, top, bottom)),
        *_rules(chart, room, across, up, (left, right, top, bottom)),
        *_draw_legend(chart, legend, bottom + 3 * _LINE),
    ]
    style = f"<style>{_STYLE}</style>" if alone else ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {room.wide} {height}" role="{"group" if links else "img"}">'
    return f"{head}<title>{escape(chart.title)}</title><desc>{escape(chart_in_words(chart))}</desc>{style}{''.join(body)}</svg>"


def _room(chart: Chart, room: Room) -> Room:
    """Return the room with rows high enough for the lines of their names."""
    lines = max((len(wrap(name, room.letters)) for name in chart.up.rows), default=0)
    return room._replace(row=max(room.row, _LINE * lines + _GAP))


def _names_up(chart: Chart, room: Room) -> list[str]:
    if chart.up.rows:
        return [line for name in chart.up.rows for line in wrap(name, room.letters)]
    return [text for _, text in _ticks(chart, up=True)]


def _width(text: str) -> float:
    return _LETTER * SMALL * len(text)


def _scale(axis: Axis, ends: tuple[float, float], start: float, end: float) -> _Place:
    """Return the function from a value on an axis to its place [px]."""
    low, high = (log10(value) for value in ends) if axis.is_logarithmic else ends

    def place(value: float) -> float:
        share = ((log10(value) if axis.is_logarithmic else value) - low) / (high - low)
        return round(start + share * (end - start), 1)

    return place


def _ticks(chart: Chart, up: bool) -> list[tuple[float, str]]:
    return axis_ticks(chart.up if up else chart.across, *extent(chart, up))


def _text(x: float, y: float, text: str, name: str = "", anchor: str = "") -> str:
    named, where = f' class="{name}"' if name else "", f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{where}{named}>{escape(text)}</text>'


def _text_group(anchor: str, texts: Iterable[str]) -> str:
    """Return a group of texts that are anchored at their middle or their end."""
    return f'<g text-anchor="{anchor}">{"".join(texts)}</g>'


def _grid(lines: Iterable[str]) -> str:
    return f'<path class="grid" d="{"".join(lines)}"/>'


def _line(name: str, *points: tuple[float, float]) -> str:
    return f'<polyline class="{name}" points="{" ".join(f"{x:g},{y:g}" for x, y in points)}"/>'


def _strokes(name: str, *lines: tuple[tuple[float, float], ...]) -> str:
    """Return several lines as one path."""
    return f'<path class="{name}" d="{"".join("M" + "L".join(f"{x:g} {y:g}" for x, y in points) for points in lines)}"/>'


def _spaced_texts(ticks: Iterable[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Yield the texts below an axis that do not overlap the text before them.

    >>> [*_spaced_texts([(10, "1 min"), (30, "5 min"), (70, "1 h")])]
    [(10, '1 min'), (70, '1 h')]
    """
    end = -inf
    for x, text in ticks:
        if x - _width(text) / 2 >= end:
            yield x, text
            end = x + _width(text) / 2


def _middle_inside(middle: float, text: str, room: Room) -> float:
    """Return the middle of a text, moved so that the whole text is in the drawing."""
    return min(max(middle, _width(text) / 2), room.wide - _width(text) / 2)


def _axes(chart: Chart, room: Room, across: _Place, up: _Place, sides: tuple[float, float, float, float]) -> Iterator[str]:
    left, right, top, bottom = sides
    ticks = [(across(at), text) for at, text in _ticks(chart, up=False)]
    yield _grid(f"M{x:g} {top:g}V{bottom:g}" for x, _ in ticks)
    yield _text_group("middle", (_text(x, bottom + _LINE, text) for x, text in _spaced_texts(ticks)))
    yield _text(_middle_inside((left + right) / 2, chart.across.words, room), bottom + 2 * _LINE, chart.across.words, anchor="middle")
    if chart.up.rows:
        for row, name in enumerate(chart.up.rows):
            lines = wrap(name, room.letters)
            first = up(row) + SMALL / 3 - _LINE * (len(lines) - 1) / 2
            yield _text_group("end", (_text(left - _TICK, first + _LINE * place, line) for place, line in enumerate(lines)))
    else:
        heights = [(up(at), text) for at, text in _ticks(chart, up=True)]
        yield _grid(f"M{left:g} {y:g}H{right:g}" for y, _ in heights)
        yield _text_group("end", (_text(left - _TICK, y + SMALL / 3, text) for y, text in heights))
        middle = f'transform="rotate(-90 {SMALL} {(top + bottom) / 2:g})"'
        yield _text(SMALL, (top + bottom) / 2, chart.up.words, anchor="middle").replace("<text", f"<text {middle}", 1)
    yield _line("axis", (left, top), (left, bottom), (right, bottom))


def _mark(
    chart: Chart, room: Room, place: int, across: _Place, up: _Place, sides: tuple[float, float], links: Mapping[str, str]
) -> Iterator[str]:
    mark, colour = chart.marks[place], f"c{colour_number(chart, place)}"
    offset = room.row * row_offset(chart, mark) if mark.form == "points" else 0.0
    points = [(across(x), up(y) + offset) for x, y in zip(mark.xs, mark.ys, strict=True)]
    if mark.form in ("line", "steps"):
        corners = [corner for before, after in pairwise(points) for corner in ((before[0], after[1]), after)]
        yield _line(_stroke(mark, colour), *(points if mark.form == "line" else (*points[:1], *corners)))
    elif mark.form == "area":
        yield f'<polygon class="area {colour}" points="{" ".join(f"{x:g},{y:g}" for x, y in _outline(chart, mark, across, up))}"/>'
    elif mark.form == "bars":
        for (low, high), x, (_, y) in zip(mark.ends, mark.xs, points, strict=True):
            start, end = across(low or x), across(high or x)
            yield f'<rect class="bar {colour}" x="{start:g}" y="{y - _BAR:g}" width="{end - start:g}" height="{2 * _BAR}"/>'
    else:
        for point, ends in zip(points, mark.ends, strict=False):
            yield _range(chart, point, ends, across if chart.up.rows else up, colour, sides)
        yield _dots(colour, points, mark.names, links)
    for (x, y), text in zip(points, mark.beside, strict=False):
        start, anchor = _place_beside(x, right=x <= sum(sides) / 2)
        yield _text(start, y - _GAP, text, "beside", anchor)


def _dots(colour: str, points: Sequence[tuple[float, float]], names: Sequence[str], links: Mapping[str, str]) -> str:
    """Return all points of a mark as one path, or one path for each named point, which leads to its address.

    >>> _dots("c1", [(1.5, 2), (3, 4)], (), {})
    '<path class="dots c1" d="M1.5 2h0M3 4h0"/>'
    >>> _dots("c1", [(1.5, 2)], ["A"], {"A": "a.html"})
    '<g class="dots c1"><a href="a.html" aria-label="A"><path d="M1.5 2h0"><title>A</title></path></a></g>'
    """
    drawn = [f"M{x:g} {y:g}h0" for x, y in points]
    if not names:
        return f'<path class="dots {colour}" d="{"".join(dict.fromkeys(drawn))}"/>'
    named = ((name, f'<path d="{path}"><title>{escape(name)}</title></path>') for name, path in zip(names, drawn, strict=True))
    whole = (f'<a href="{escape(links[name])}" aria-label="{escape(name)}">{path}</a>' if name in links else path for name, path in named)
    return f'<g class="dots {colour}">{"".join(whole)}</g>'


def _stroke(mark: Mark, colour: str) -> str:
    return f"line {colour}{' dashed' if mark.dashed else ''}"


def _place_beside(x: float, right: bool) -> tuple[float, str]:
    """Return the start or the end of a text beside a point, and "start" or "end"."""
    return (x + _GAP, "start") if right else (x - _GAP, "end")


def _text_box(x: float, y: float, text: str, anchor: str) -> _Box:
    """Return the box of a text from its anchor point."""
    return (x - _width(text) if anchor == "end" else x), y - SMALL, _width(text), float(SMALL)


def _point_names(chart: Chart, across: _Place, up: _Place, sides: tuple[float, float, float, float]) -> Iterator[str]:
    """Yield the names of points that fit beside them without overlap with other points, ranges or texts."""
    left, right, top, bottom = sides
    drawn = [mark for mark in chart.marks if mark.form == "points" and not chart.up.rows]
    places = [[(across(x), up(y)) for x, y in zip(mark.xs, mark.ys, strict=True)] for mark in drawn]
    taken: list[_Box] = []
    dots: list[tuple[tuple[float, float], _Box]] = []
    for mark, of_mark in zip(drawn, places, strict=True):
        for text, (x, y) in zip(mark.beside, of_mark, strict=False):
            start, anchor = _place_beside(x, right=x <= (left + right) / 2)
            taken.append(_text_box(start, y - _GAP, text, anchor))
        for at, (x, y) in enumerate(of_mark):
            ends = [y if end is None else up(end) for end in mark.ends[at]] if mark.ends else [y]
            high, low = min(ends) - _DOT, max(ends) + _DOT
            dots.append(((x, y), (x - _DOT, high, 2 * _DOT, low - high)))
    for mark, of_mark in zip(drawn, places, strict=True):
        for name, (x, y) in zip(mark.names, of_mark, strict=False):
            for start, anchor in (_place_beside(x, right=True), _place_beside(x, right=False)):
                box = _text_box(start, y + SMALL / 3, name, anchor)
                within = left <= box[0] and box[0] + box[2] <= right and top <= box[1] and box[1] + box[3] <= bottom
                others = [*taken, *(other for place, other in dots if place != (x, y))]
                if within and not any(_overlap(box, other) for other in others):
                    taken.append(box)
                    yield _text(start, y + SMALL / 3, name, "beside", anchor)
                    break


def _overlap(one: _Box, other: _Box) -> bool:
    """Return whether two boxes overlap.

    >>> _overlap((0, 0, 10, 10), (9, 9, 5, 5)), _overlap((0, 0, 10, 10), (10, 0, 5, 5))
    (True, False)
    """
    return one[0] < other[0] + other[2] and other[0] < one[0] + one[2] and one[1] < other[1] + other[3] and other[1] < one[1] + one[3]


def _outline(chart: Chart, mark: Mark, across: _Place, up: _Place) -> list[tuple[float, float]]:
    """Return the corners of an area: along one side, and back along the other."""
    ends = [(low or 0.0, high or 0.0) for low, high in mark.ends]
    if chart.up.rows:
        return [*((across(low), up(y)) for y, (low, _) in zip(mark.ys, ends, strict=True))] + [
            (across(high), up(y)) for y, (_, high) in reversed([*zip(mark.ys, ends, strict=True)])
        ]
    return [*((across(x), up(low)) for x, (low, _) in zip(mark.xs, ends, strict=True))] + [
        (across(x), up(high)) for x, (_, high) in reversed([*zip(mark.xs, ends, strict=True)])
    ]


def _range(
    chart: Chart, at: tuple[float, float], ends: tuple[float | None, float | None], place: _Place, colour: str, sides: tuple[float, float]
) -> str:
    """Return a range with a stop at either end. An unknown end is an arrow at the edge."""
    if not chart.up.rows:
        low, high = (at[1] if end is None else place(end) for end in ends)
        return _strokes(f"range {colour}", ((at[0], low), (at[0], high)), *(((at[0] - _STOP, y), (at[0] + _STOP, y)) for y in (low, high)))
    low, high = (edge if end is None else place(end) for end, edge in zip(ends, sides, strict=True))
    asides = [back if end is None else 0 for end, back in zip(ends, (_STOP, -_STOP), strict=True)]
    stops = (((x + aside, at[1] - _STOP), (x, at[1]), (x + aside, at[1] + _STOP)) for x, aside in zip((low, high), asides, strict=True))
    return _strokes(f"range {colour}", ((low, at[1]), (high, at[1])), *stops)


def _rules(chart: Chart, room: Room, across: _Place, up: _Place, sides: tuple[float, float, float, float]) -> Iterator[str]:
    left, right, top, bottom = sides
    taken = [*_boxes_beside(chart, across, up, (left, right))]
    for place, rule in enumerate(sorted(chart.rules, key=lambda rule: rule.at)):
        if rule.up:
            yield _line("rule", (left, up(rule.at)), (right, up(rule.at)))
            yield _free_text(rule.name, up(rule.at), (left, right), taken)
            continue
        yield _line("rule", (across(rule.at), top), (across(rule.at), bottom))
        yield _text(_middle_inside(across(rule.at), rule.name, room), top - _TICK - _LINE * (place % 2), rule.name, "beside", "middle")


def _boxes_beside(chart: Chart, across: _Place, up: _Place, sides: tuple[float, float]) -> Iterator[_Box]:
    """Yield the boxes of the texts at points."""
    for mark in chart.marks:
        for x, y, text in zip(mark.xs, mark.ys, mark.beside, strict=False):
            start, anchor = _place_beside(across(x), right=across(x) <= sum(sides) / 2)
            yield _text_box(start, up(y) - _GAP, text, anchor)


def _free_text(text: str, y: float, sides: tuple[float, float], taken: Sequence[_Box]) -> str:
    """Return the name of a horizontal line, above or below it at its left or right end, away from other texts if possible."""
    left, right = sides
    ends = [
        (x, line, anchor)
        for line in (y - _TICK, y + _LINE, y - _TICK - _LINE)
        for x, anchor in ((left + _GAP, "start"), (right - _GAP, "end"))
    ]
    free = [(x, line, anchor) for x, line, anchor in ends if not any(_overlap(_text_box(x, line, text, anchor), box) for box in taken)]
    x, line, anchor = (free or ends)[0]
    return _text(x, line, text, "beside", anchor)


def _legend(chart: Chart, room: Room) -> Iterator[tuple[int, Mark, list[str]]]:
    """Yield the named marks, with their places among all marks and the lines of their names."""
    letters = int((room.wide - _BEFORE_NAME) / (_LETTER * SMALL))
    yield from ((place, mark, wrap(mark.name, letters)) for place, mark in enumerate(chart.marks) if mark.name)


def _draw_legend(chart: Chart, legend: Iterable[tuple[int, Mark, list[str]]], y: float) -> Iterator[str]:
    """Yield the key of each mark, and its name."""
    for place, mark, lines in legend:
        yield _key(mark, f"c{colour_number(chart, place)}", y - SMALL / 3)
        for line in lines:
            yield _text(_BEFORE_NAME, y, line)
            y += _LINE


def _key(mark: Mark, colour: str, middle: float) -> str:
    if mark.form in ("line", "steps"):
        return _line(_stroke(mark, colour), (_GAP, middle), (_GAP + 2 * _LINE, middle))
    if mark.form == "points":
        return _dots(colour, [(_GAP + _LINE, middle)], (), {})
    name = "area" if mark.form == "area" else "bar"
    return f'<rect class="{name} {colour}" x="{_GAP}" y="{middle - _BAR:g}" width="{2 * _LINE}" height="{2 * _BAR}"/>'
