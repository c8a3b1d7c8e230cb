"""A chart as plain numbers: axes in people's units, and marks on them. Pictures and pages draw the very same one."""

from collections.abc import Iterable, Iterator
from typing import Literal

from derive.immutable import immutable

_Form = Literal["line", "points", "area", "bars"]
_End = float | None
_MOST_SAID = 20
"""Points of a mark that are said one by one."""
_BETWEEN, _MOST_ASIDE = 0.3, 0.8
"""How far points of one row lie apart, and all of them together, as shares of it."""


@immutable
class Axis:
    """What is along an axis, with its unit, whether by ratios, and at which values it is marked where not at round ones.

    An axis of things has `rows`, the first on top, and a mark's place on it is the number of its row.
    """

    words: str
    by_ratios: bool = True
    ticks: tuple[tuple[float, str], ...] = ()
    rows: tuple[str, ...] = ()


@immutable
class Mark:
    """A line, points, an area or bars by one name.

    `ends` are the ranges of its points, along `up`, or along `across` where rows are up; None is an end that is not known. An area
    and a bar reach from end to end. `beside` are texts at the points, `names` what the points are, told where there is room and to whoever
    points at one.
    """

    name: str
    form: _Form
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    ends: tuple[tuple[_End, _End], ...] = ()
    beside: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dashed: bool = False


@immutable
class Rule:
    """A line all across a chart at one value of the axis across, or of the one up."""

    name: str
    at: float
    up: bool = False


@immutable
class Chart:
    """What a picture shows: its title, lines below it, axes, and what is drawn."""

    title: str
    said: tuple[str, ...] = ()
    across: Axis
    up: Axis
    marks: tuple[Mark, ...]
    rules: tuple[Rule, ...] = ()


def widest(values: Iterable[_End]) -> tuple[float, float]:
    """Least and greatest of what is known.

    >>> widest([2.0, None, 8.0])
    (2.0, 8.0)
    """
    known = [value for value in values if value is not None]
    return min(known), max(known)


def extent(chart: Chart, up: bool) -> tuple[float, float]:
    """The least and the greatest value on an axis of numbers.

    >>> one = Mark(name="", form="points", xs=(2.0, 4.0), ys=(0.0, 1.0), ends=((1.0, None), (3.0, 9.0)))
    >>> extent(Chart(title="", across=Axis(words=""), up=Axis(words="", rows=("a", "b")), marks=(one,)), up=False)
    (1.0, 9.0)
    """
    own = [value for mark in chart.marks for value in (mark.ys if up else mark.xs)]
    own += [end for mark in chart.marks for ends in mark.ends for end in ends if end is not None] if up != bool(chart.up.rows) else []
    return widest([*own, *(rule.at for rule in chart.rules if rule.up == up)])


def moved_aside(chart: Chart, mark: Mark) -> float:
    """How far points are moved off the middle of their rows, as a share of a row, so that no two of one row lie over each other."""
    others = [one for one in chart.marks if one.form == "points" and {*one.ys} & {*mark.ys}]
    return min(_BETWEEN, _MOST_ASIDE / len(others)) * (others.index(mark) - (len(others) - 1) / 2) if chart.up.rows else 0.0


def chart_in_words(chart: Chart) -> str:
    """What a chart shows as text, for whoever does not see it: every point by its row or its place, both ends of a line or of many points.

    >>> one = Mark(name="median", form="points", xs=(2.0,), ys=(0.0,), ends=((1.0, 4.0),))
    >>> chart_in_words(Chart(title="Sizes", across=Axis(words="size [B]"), up=Axis(words="", rows=("by price",)), marks=(one,)))
    'Sizes. size [B]. median: by price 2 (1 to 4).'
    """
    axes = [axis.words for axis in (chart.up, chart.across) if axis.words]
    named = [f"{rule.name}: {rule.at:.3g}" for rule in chart.rules]
    marks = [f"{mark.name}: {', '.join(_points(chart, mark))}" for mark in chart.marks]
    return " ".join(f"{text.rstrip('.')}." for text in (chart.title, *chart.said, " against ".join(axes), *marks, *named))


def _points(chart: Chart, mark: Mark) -> Iterator[str]:
    rows = chart.up.rows
    if rows and mark.form == "area":
        low, high = mark.ends[0]
        yield f"{_end(low)} to {_end(high)}"
        return
    if mark.form == "points" and len(mark.xs) > _MOST_SAID:
        low, high = min(mark.xs), max(mark.xs)
        yield f"{len(mark.xs)} points from {low:.3g} to {high:.3g}"
        return
    for place, (x, y) in enumerate(zip(mark.xs, mark.ys, strict=True)):
        if mark.form in ("line", "area") and 0 < place < len(mark.xs) - 1:
            continue
        low, high = mark.ends[place] if mark.ends else (None, None)
        between = f" ({_end(low)} to {_end(high)})" if mark.ends else ""
        thing = rows[int(y)] if rows else f"at {x:.3g}"
        beside = (mark.beside or mark.names)[place] if mark.beside or mark.names else thing
        yield f"{beside} {x if rows else y:.3g}{between}"


def _end(value: _End) -> str:
    return "unknown" if value is None else f"{value:.3g}"
