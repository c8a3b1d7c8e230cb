"""Describe a figure as numbers: axes with their quantities, and marks on them in SI. Every drawing uses the same chart."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
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
    """An axis: its quantity, its label if that is not the name of the quantity, and whether its values are bounds.

    Values of a quantity are in SI, and a drawing divides them by the unit that people use. Without a quantity they are drawn as they are.
    An axis is logarithmic if its values span a decade, unless `is_logarithmic` is given. It has ticks at round numbers, or at `ticks`.
    An axis of categories has `rows`, the first one on top. A mark on it is at the number of its row.
    """

    quantity: str = ""
    words: str = ""
    bound: str | None = None
    is_logarithmic: bool | None = None
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
    """Return the least and the greatest of the known values, and 1 and 1 if none is known."""
    known = [value for value in values if value is not None]
    return min(known, default=1.0), max(known, default=1.0)


def extent(chart: Chart, up: bool) -> tuple[float, float]:
    """Return the least and the greatest value on an axis of numbers."""
    own = [value for mark in chart.marks for value in (mark.ys if up else mark.xs)]
    own += [end for mark in chart.marks for ends in mark.ends for end in ends if end is not None] if up != bool(chart.up.rows) else []
    return known_range([*own, *(rule.at for rule in chart.rules if rule.up == up)])


def row_offset(chart: Chart, mark: Mark) -> float:
    """Return the offset of a mark from the middle of its row, as a share of the row. So no point hides another."""
    others = [one for one in chart.marks if one.form == "points" and {*one.ys} & {*mark.ys}]
    return min(_ROW_GAP, _ROW_WIDTH / len(others)) * (others.index(mark) - (len(others) - 1) / 2) if chart.up.rows else 0.0


def chart_in_words(chart: Chart) -> str:
    """Return a chart as text for readers who cannot see it: every point, and only both ends of a line or of many points.

    >>> one = Mark(name="median", form="points", xs=(2.0,), ys=(0.0,), ends=((1.0, 4.0),))
    >>> chart_in_words(Chart(title="Sizes", across=Axis(words="size [B]"), up=Axis(rows=("by price",)), marks=(one,)))
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


def in_units(chart: Chart) -> Chart:
    """Return a chart ready to draw: numbers in the units of its axes, labels with these units, and the kind of each scale.

    >>> line = Mark(name="", form="line", xs=(1.0, 64.0), ys=(1e-6, 3e-7))
    >>> chart = Chart(title="", across=Axis(quantity="batch"), up=Axis(quantity="cost_per_token", bound="lower"), marks=(line,))
    >>> in_units(chart).up.words, in_units(chart).marks[0].ys
    ('cost per token, at least [$/MTok]', (1.0, 0.3))
    """
    (across, wide), (up, high) = (_axis_in_unit(chart, is_up) for is_up in (False, True))
    of_ends = wide if chart.up.rows else high
    marks = (
        replace(
            mark,
            xs=tuple(x / wide for x in mark.xs),
            ys=tuple(y / high for y in mark.ys),
            ends=tuple((low and low / of_ends, end and end / of_ends) for low, end in mark.ends),
        )
        for mark in chart.marks
    )
    rules = (replace(rule, at=rule.at / (high if rule.up else wide)) for rule in chart.rules)
    return replace(chart, across=across, up=up, marks=tuple(marks), rules=tuple(rules))


def _axis_in_unit(chart: Chart, is_up: bool) -> tuple[Axis, float]:
    """Return an axis with its unit and the kind of its scale, and the size of the unit [SI]."""
    axis, (low, high) = chart.up if is_up else chart.across, extent(chart, is_up)
    is_logarithmic = spans_decades([low, high]) if axis.is_logarithmic is None else axis.is_logarithmic
    if not axis.quantity:
        return replace(axis, is_logarithmic=is_logarithmic), 1.0
    size, unit = scale(axis.quantity, sqrt(low * high) if is_logarithmic else high)
    unit = f" [{unit.strip().replace('USD', '$')}]" if unit.strip() else ""
    words = f"{axis.words or axis.quantity.replace('_', ' ')}{_BOUNDS[axis.bound]}{unit}"
    return Axis(words=words, is_logarithmic=is_logarithmic, ticks=axis.ticks), size


def spans_decades(values: Sequence[float]) -> bool:
    """Return whether an axis with these values is logarithmic."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > _DECADE
