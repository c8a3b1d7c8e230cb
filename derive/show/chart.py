"""Describe a chart as plain numbers: axes in the units that people use, and marks on them. Every drawing is made of the same chart."""

from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from typing import Literal

from derive.immutable import immutable
from derive.records import LOWER, UPPER
from derive.units import scale

Form = Literal["line", "steps", "points", "area", "bars"]
_End = float | None
_MOST_IN_WORDS = 20
"""Largest number of points that the description in words names one by one."""
_ROW_GAP, _ROW_WIDTH = 0.3, 0.8
"""Distance between the points of one row, and of the first from the last, as shares of the row."""
_DECADE = 10.0
"""Ratio of the greatest to the least value above which an axis is logarithmic."""
_BOUNDS = {LOWER: ", at least", UPPER: ", at most", None: ""}


@immutable
class Axis:
    """An axis: its label with the unit, whether it is logarithmic, and its ticks unless they are at round numbers.

    An axis of categories has `rows`, the first one on top. A mark on it is at the number of its row.
    """

    words: str
    is_logarithmic: bool = True
    ticks: tuple[tuple[float, str], ...] = ()
    rows: tuple[str, ...] = ()


@immutable
class Mark:
    """A line, steps, points, an area or bars with one name.

    `ends` are the ranges of the points along `up`, or along `across` if the chart has rows. None is an end that is not known. An area and a
    bar reach from end to end. `beside` are texts at the points, `aside` is the offset of these texts [point], `names` are the names of the
    points, which a drawing shows if there is room. `marked` shows every point of a line, `wide` shows a line below another one, and marks
    with one `colour` number have one colour.
    """

    name: str
    form: Form
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    ends: tuple[tuple[_End, _End], ...] = ()
    beside: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dashed: bool = False
    marked: bool = False
    wide: bool = False
    colour: int | None = None
    aside: tuple[int, int] | None = None


@immutable
class Rule:
    """A line from edge to edge of the chart at one value of an axis."""

    name: str
    at: float
    up: bool = False


@immutable
class Chart:
    """A figure as data: title, lines below the title, axes, marks and rules."""

    title: str
    said: tuple[str, ...] = ()
    across: Axis
    up: Axis
    marks: tuple[Mark, ...]
    rules: tuple[Rule, ...] = ()


def known_range(values: Iterable[_End]) -> tuple[float, float]:
    """Return the least and the greatest of the known values, and 1 and 1 if none is known.

    >>> known_range([2.0, None, 8.0])
    (2.0, 8.0)
    """
    known = [value for value in values if value is not None]
    return min(known, default=1.0), max(known, default=1.0)


def extent(chart: Chart, up: bool) -> tuple[float, float]:
    """Return the least and the greatest value on an axis of numbers.

    >>> one = Mark(name="", form="points", xs=(2.0, 4.0), ys=(0.0, 1.0), ends=((1.0, None), (3.0, 9.0)))
    >>> extent(Chart(title="", across=Axis(words=""), up=Axis(words="", rows=("a", "b")), marks=(one,)), up=False)
    (1.0, 9.0)
    """
    own = [value for mark in chart.marks for value in (mark.ys if up else mark.xs)]
    own += [end for mark in chart.marks for ends in mark.ends for end in ends if end is not None] if up != bool(chart.up.rows) else []
    return known_range([*own, *(rule.at for rule in chart.rules if rule.up == up)])


def row_offset(chart: Chart, mark: Mark) -> float:
    """Return the offset of a mark from the middle of its row, as a share of the row, so that no point hides another."""
    others = [one for one in chart.marks if one.form == "points" and {*one.ys} & {*mark.ys}]
    return min(_ROW_GAP, _ROW_WIDTH / len(others)) * (others.index(mark) - (len(others) - 1) / 2) if chart.up.rows else 0.0


def chart_in_words(chart: Chart) -> str:
    """Return a chart as text for readers who cannot see it: every point, and only both ends of a line or of many points.

    >>> one = Mark(name="median", form="points", xs=(2.0,), ys=(0.0,), ends=((1.0, 4.0),))
    >>> chart_in_words(Chart(title="Sizes", across=Axis(words="size [B]"), up=Axis(words="", rows=("by price",)), marks=(one,)))
    'Sizes. size [B]. median: by price 2 (1 to 4).'
    """
    axes = [axis.words for axis in (chart.up, chart.across) if axis.words]
    named = [f"{rule.name}: {rule.at:.3g}" for rule in chart.rules]
    marks = [f"{mark.name}: {', '.join(_point_words(chart, mark)) or 'no answer'}" for mark in chart.marks]
    return " ".join(f"{text.rstrip('.')}." for text in (chart.title, *chart.said, " against ".join(axes), *marks, *named) if text)


def _point_words(chart: Chart, mark: Mark) -> Iterator[str]:
    rows = chart.up.rows
    if rows and mark.form == "area":
        low, high = mark.ends[0]
        yield f"{_end_text(low)} to {_end_text(high)}"
        return
    if mark.form == "points" and len(mark.xs) > _MOST_IN_WORDS:
        low, high = min(mark.xs), max(mark.xs)
        yield f"{len(mark.xs)} points from {low:.3g} to {high:.3g}"
        return
    for place, (x, y) in enumerate(zip(mark.xs, mark.ys, strict=True)):
        if mark.form in ("line", "steps", "area") and 0 < place < len(mark.xs) - 1:
            continue
        low, high = mark.ends[place] if mark.ends else (None, None)
        between = f" ({_end_text(low)} to {_end_text(high)})" if mark.ends else ""
        thing = rows[int(y)] if rows else f"at {x:.3g}"
        named = (mark.beside or mark.names)[place] if mark.beside or mark.names else ""
        yield f"{named or thing} {x if rows else y:.3g}{between}"


def _end_text(value: _End) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def chart_axis(name: str, values: Sequence[float], called: str = "", bound: str | None = None) -> tuple[Axis, float]:
    """Return the axis of a quantity, and the size of its unit, by which the values are divided.

    >>> chart_axis("cost_per_token", [3e-7, 1e-5], bound="lower")
    (Axis(words='cost per token, at least [$/MTok]', is_logarithmic=True, ticks=(), rows=()), 1e-06)
    """
    is_logarithmic = spans_decades(values)
    typical = sqrt(min(values) * max(values)) if is_logarithmic else max(values, default=1.0)
    size, unit = scale(name, typical) if values else (1.0, "")
    unit = unit.strip().replace("USD", "$")
    words = f"{called or name.replace('_', ' ')}{_BOUNDS[bound]}{f' [{unit}]' if unit else ''}"
    return Axis(words=words, is_logarithmic=is_logarithmic), size


def spans_decades(values: Sequence[float]) -> bool:
    """Return whether an axis with these values is logarithmic.

    >>> spans_decades([1.0, 512.0]), spans_decades([0.0, 512.0])
    (True, False)
    """
    return bool(values) and min(values) > 0 and max(values) / min(values) > _DECADE
