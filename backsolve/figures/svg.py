"""A chart as an SVG element of a page, which takes its colours from the style sheet of the page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from html import escape
from itertools import pairwise
from math import log10
from textwrap import wrap
from typing import Any, NamedTuple

from backsolve.figures.axes import axis_ends, axis_ticks, colour_number
from derive.show.chart import Axis, Chart, Mark, chart_in_words, extent, in_units, row_offset

SMALL, _LINE = 12, 16
"""Size of its letters, and height of a line of them [px]."""
_LETTER = 0.62
"""Width of a letter, as a share of its size."""
_GAP, _TICK, _STOP = 8, 5, 5
"""Room between things, length of a tick, and half the stop at the end of a range [px]."""
_BEFORE_NAME = _GAP + 2 * _LINE + _GAP
"""Room for the keys of a legend before their names [px]."""
_BAR = 7
"""Half the height of a bar [px]."""

_Place = Callable[[float], float]
_Point = tuple[float, float]
_Box = tuple[float, float, float, float]
"""Left, top, width and height [px]."""
_DOT = 4
"""Half the width of a dot [px]."""

_WIDE, _HIGH, _ROW, _NAME = 420, 270, 48, 20
"""Width of a drawing, height of its plane, least height of a row [px], and characters of a line of the name of a row.

On a phone a wider drawing would be too small to read, or would scroll.
"""


class Plane(NamedTuple):
    """A chart, the height of its rows, the functions from its values to places, and the edges of its axes [px]."""

    chart: Chart
    row: float
    across: _Place
    up: _Place
    left: float
    right: float
    top: float
    bottom: float


class Label(NamedTuple):
    """A text next to a point or a line, and its possible places (x, y, anchor), the best first."""

    text: str
    places: Sequence[tuple[float, float, str]]


def chart_svg(chart: Chart, links: Mapping[str, str] = {}) -> str:
    """Return the chart as an SVG element. `links` are the addresses of named points. The page has its title and the lines below it."""
    chart = in_units(chart)
    rows = [wrap(name, _NAME) for name in chart.up.rows]
    row = max([_ROW, *(_LINE * len(lines) + _GAP for lines in rows)])
    names = [line for lines in rows for line in lines] or [text for _, text in _ticks(chart, up=True)]
    left, right = _GAP + max(map(_width, names)) + (0 if rows else _LINE) + _TICK, _WIDE - 2 * _GAP
    across = _scale(chart.across, axis_ends(chart, up=False), left, right)
    rules = sorted((rule for rule in chart.rules if not rule.up), key=lambda rule: rule.at)
    named = [*_stacked_texts((across(rule.at), rule.name) for rule in rules)]
    top = _LINE * max((level + 1 for *_, level in named), default=0) + _GAP
    bottom = top + (row * len(rows) or _HIGH)
    up: _Place = (lambda place: top + row * (place + 1 / 2)) if rows else _scale(chart.up, axis_ends(chart, up=True), bottom, top)
    plane = Plane(chart, row, across, up, left, right, top, bottom)
    letters = int((_WIDE - _BEFORE_NAME) / (_LETTER * SMALL))
    legend = [(mark, f"c{colour_number(chart, place)}", wrap(mark.name, letters)) for place, mark in enumerate(chart.marks) if mark.name]
    height = bottom + 3 * _LINE + _LINE * sum(len(names) for *_, names in legend) + _GAP
    body = [
        *_axes(plane),
        *(part for place in range(len(chart.marks)) for part in _mark(plane, place, links)),
        *(_line("rule", (left, up(rule.at)), (right, up(rule.at))) for rule in chart.rules if rule.up),
        *(_line("rule", (across(rule.at), top), (across(rule.at), bottom)) for rule in rules),
        *(_text(x, top - _TICK - _LINE * level, name, "beside", "middle") for x, name, level in named),
        *_placed([*_labels(plane)], [*_obstacles(plane)]),
        *_draw_legend(legend, bottom + 3 * _LINE),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDE} {height}" role="{"group" if links else "img"}">'
    return f"{head}<title>{escape(chart.title)}</title><desc>{escape(chart_in_words(chart))}</desc>{''.join(body)}</svg>"


def chart_record(chart: Chart, links: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return a chart as the script of a page draws it: numbers, ends and ticks of `chart_svg`, and marks at their places in rows."""
    chart, rows = in_units(chart), chart.up.rows
    marks = tuple(replace(mark, ys=tuple(y + row_offset(chart, mark) for y in mark.ys)) for mark in chart.marks)
    ends = {"across": axis_ends(chart, up=False), "up": (len(rows) - 0.5, -0.5) if rows else axis_ends(chart, up=True)}
    ticks = {"across": _ticks(chart, up=False), "up": [*enumerate(rows)] or _ticks(chart, up=True)}
    return asdict(replace(chart, marks=marks)) | {"ends": ends, "ticks": ticks, "links": {**links}}


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


# -- texts -------------------------------------------------------------------------------------------------------------


def _text(x: float, y: float, text: str, name: str = "", anchor: str = "") -> str:
    named, where = f' class="{name}"' if name else "", f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{where}{named}>{escape(text)}</text>'


def _text_group(anchor: str, texts: Iterable[str]) -> str:
    """Return a group of texts that are anchored at their middle or their end."""
    return f'<g text-anchor="{anchor}">{"".join(texts)}</g>'


def _stacked_texts(texts: Iterable[tuple[float, str]]) -> Iterator[tuple[float, str, int]]:
    """Yield texts with their middle, inside the drawing, and the lowest level at which they overlap no text before them.

    >>> [*_stacked_texts([(30, "1 min"), (50, "5 min"), (90, "1 h")])]
    [(30, '1 min', 0), (50, '5 min', 1), (90, '1 h', 0)]
    """
    ends: list[float] = []
    for at, text in texts:
        half = _width(text) / 2
        middle = min(max(at, half), _WIDE - half)
        level = next((place for place, end in enumerate(ends) if end <= middle - half), len(ends))
        ends[level : level + 1] = [middle + half]
        yield middle, text, level


def _placed(labels: Iterable[Label], taken: list[_Box]) -> Iterator[str]:
    """Yield each label at its first place inside the drawing that is not taken, or else at its best one."""
    for text, places in labels:
        boxes = {(x, y, side): (x - _width(text) * (side == "end"), y - SMALL, _width(text), float(SMALL)) for x, y, side in places}
        free = (place for place, box in boxes.items() if box[0] >= 0 and box[0] + box[2] <= _WIDE and not _overlaps(box, taken))
        place = next(free, places[0])
        taken.append(boxes[place])
        yield _text(*place[:2], text, "beside", place[2])


def _overlaps(one: _Box, others: Iterable[_Box]) -> bool:
    """Return whether a box overlaps one of the others.

    >>> _overlaps((0, 0, 10, 10), [(9, 9, 5, 5)]), _overlaps((0, 0, 10, 10), [(10, 0, 5, 5)])
    (True, False)
    """
    left, top, wide, high = one
    return any(left < x + w and x < left + wide and top < y + h and y < top + high for x, y, w, h in others)


def _labels(plane: Plane) -> Iterator[Label]:
    """Yield the names of horizontal rules, and the texts at points."""
    for rule in plane.chart.rules:
        if rule.up:
            ends, y = ((plane.left + _GAP, "start"), (plane.right - _GAP, "end")), plane.up(rule.at)
            yield Label(rule.name, [(x, line, anchor) for line in (y - _TICK, y + _LINE, y - _TICK - _LINE) for x, anchor in ends])
    for mark in plane.chart.marks:
        for (x, y), text in zip(_points(plane, mark), mark.beside, strict=False):
            yield Label(text, [(at, line, anchor) for line in (y - _GAP, y + _GAP + SMALL) for at, anchor in _sides(plane, x)])


def _sides(plane: Plane, x: float) -> list[tuple[float, str]]:
    """Return the two possible starts of a text next to a point, first the start towards the middle."""
    sides = [(x + _GAP, "start"), (x - _GAP, "end")]
    return sides if x <= (plane.left + plane.right) / 2 else sides[::-1]


def _obstacles(plane: Plane) -> Iterator[_Box]:
    """Yield the boxes of points with their ranges, and of the texts on the axis up."""
    yield 0.0, plane.top, plane.left, plane.bottom - plane.top
    for mark in plane.chart.marks:
        for place, (x, y) in enumerate(_points(plane, mark) if mark.form == "points" and not plane.chart.up.rows else ()):
            ends = [y if end is None else plane.up(end) for end in mark.ends[place]] if mark.ends else [y]
            high = min(ends) - _DOT
            yield x - _DOT, high, 2 * _DOT, max(ends) + _DOT - high


# -- axes and marks ----------------------------------------------------------------------------------------------------


def _grid(lines: Iterable[str]) -> str:
    return f'<path class="grid" d="{"".join(lines)}"/>'


def _line(name: str, *points: _Point) -> str:
    return f'<polyline class="{name}" points="{_corners(points)}"/>'


def _corners(points: Iterable[_Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _strokes(name: str, *lines: tuple[_Point, ...]) -> str:
    """Return several lines as one path."""
    return f'<path class="{name}" d="{"".join("M" + "L".join(f"{x:g} {y:g}" for x, y in points) for points in lines)}"/>'


def _axes(plane: Plane) -> Iterator[str]:
    chart, _, across, up, left, right, top, bottom = plane
    ticks = [(across(at), text) for at, text in _ticks(chart, up=False)]
    yield _grid(f"M{x:g} {top:g}V{bottom:g}" for x, _ in ticks)
    yield _text_group("middle", (_text(x, bottom + _LINE, text) for x, text, level in _stacked_texts(ticks) if not level))
    ((middle, words, _),) = _stacked_texts([((left + right) / 2, chart.across.words)])
    yield _text(middle, bottom + 2 * _LINE, words, anchor="middle")
    if chart.up.rows:
        for row, name in enumerate(chart.up.rows):
            lines = wrap(name, _NAME)
            first = up(row) + SMALL / 3 - _LINE * (len(lines) - 1) / 2
            yield _text_group("end", (_text(left - _TICK, first + _LINE * place, line) for place, line in enumerate(lines)))
    else:
        heights = [(up(at), text) for at, text in _ticks(chart, up=True)]
        yield _grid(f"M{left:g} {y:g}H{right:g}" for y, _ in heights)
        yield _text_group("end", (_text(left - _TICK, y + SMALL / 3, text) for y, text in heights))
        turned = f'<text transform="rotate(-90 {SMALL} {(top + bottom) / 2:g})"'
        yield _text(SMALL, (top + bottom) / 2, chart.up.words, anchor="middle").replace("<text", turned, 1)
    yield _line("axis", (left, top), (left, bottom), (right, bottom))


def _points(plane: Plane, mark: Mark) -> Iterator[_Point]:
    """Yield the places of the points of a mark."""
    offset = plane.row * row_offset(plane.chart, mark) if mark.form == "points" else 0.0
    yield from ((plane.across(x), plane.up(y) + offset) for x, y in zip(mark.xs, mark.ys, strict=True))


def _mark(plane: Plane, place: int, links: Mapping[str, str]) -> Iterator[str]:
    mark, colour = plane.chart.marks[place], f"c{colour_number(plane.chart, place)}"
    points = [*_points(plane, mark)]
    if mark.form in ("line", "steps"):
        corners = [corner for before, after in pairwise(points) for corner in ((before[0], after[1]), after)]
        yield _line(_stroke(mark, colour), *(points if mark.form == "line" else (*points[:1], *corners)))
    elif mark.form == "area":
        yield f'<polygon class="area {colour}" points="{_corners(_outline(plane, mark))}"/>'
    elif mark.form == "bars":
        for (low, high), x, (_, y) in zip(mark.ends, mark.xs, points, strict=True):
            start, end = plane.across(low or x), plane.across(high or x)
            yield f'<rect class="bar {colour}" x="{start:g}" y="{y - _BAR:g}" width="{end - start:g}" height="{2 * _BAR}"/>'
    else:
        yield from (_range(plane, point, ends, colour) for point, ends in zip(points, mark.ends, strict=False))
        yield _dots(colour, points, mark.names, links)


def _dots(colour: str, points: Sequence[_Point], names: Sequence[str], links: Mapping[str, str]) -> str:
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


def _outline(plane: Plane, mark: Mark) -> list[_Point]:
    """Return the corners of an area: along one side, and back along the other."""
    lows, highs = (
        [
            (plane.across(end or 0.0), plane.up(y)) if plane.chart.up.rows else (plane.across(x), plane.up(end or 0.0))
            for x, y, end in zip(mark.xs, mark.ys, ends, strict=True)
        ]
        for ends in zip(*mark.ends, strict=True)
    )
    return [*lows, *reversed(highs)]


def _range(plane: Plane, at: _Point, ends: tuple[float | None, float | None], colour: str) -> str:
    """Return a range with a stop at either end. An unknown end is an arrow at the edge."""
    if not plane.chart.up.rows:
        low, high = (at[1] if end is None else plane.up(end) for end in ends)
        return _strokes(f"range {colour}", ((at[0], low), (at[0], high)), *(((at[0] - _STOP, y), (at[0] + _STOP, y)) for y in (low, high)))
    low, high = (edge if end is None else plane.across(end) for end, edge in zip(ends, (plane.left, plane.right), strict=True))
    asides = [back if end is None else 0 for end, back in zip(ends, (_STOP, -_STOP), strict=True)]
    stops = (((x + aside, at[1] - _STOP), (x, at[1]), (x + aside, at[1] + _STOP)) for x, aside in zip((low, high), asides, strict=True))
    return _strokes(f"range {colour}", ((low, at[1]), (high, at[1])), *stops)


def _draw_legend(legend: Iterable[tuple[Mark, str, list[str]]], y: float) -> Iterator[str]:
    """Yield the key of each mark, and its name."""
    for mark, colour, lines in legend:
        yield _key(mark, colour, y - SMALL / 3)
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
