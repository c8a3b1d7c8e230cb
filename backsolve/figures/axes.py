"""Colours, ends and ticks of an axis, the same in every drawing of a chart."""

from math import ceil, floor, log10

from derive.show.chart import Axis, Chart, extent

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""The colours of Okabe and Ito, which colour-blind people can tell apart, without the yellow that is faint on white."""
_FEW_DECADES = 1e3
"""Largest ratio of a logarithmic axis with ticks at 2 and 5, not only at 1 and 10."""
_STEPS, _LEAST_TICKS = (1, 2, 5, 10), 5
"""Round numbers between the ticks of a linear axis, and the least number of such ticks."""
_ROOM, _ROOM_FOR_TEXTS = 0.04, 0.13
"""Room inside both ends of an axis, as a share of its length, without and with texts beside points."""


def colour_number(chart: Chart, place: int) -> int:
    """Return the number of the colour of a mark."""
    colour = chart.marks[place].colour
    return (place if colour is None else colour) % len(COLOURS)


def axis_ends(chart: Chart, up: bool) -> tuple[float, float]:
    """Return the two ends of an axis of numbers, with room inside both."""
    axis, (low, high) = chart.up if up else chart.across, extent(chart, up)
    share = _ROOM_FOR_TEXTS if any(any(mark.beside) for mark in chart.marks if mark.form == "line") else _ROOM
    if axis.is_logarithmic:
        factor = 10 ** (share * max(log10(high / low), 1.0))
        return low / factor, high * factor
    room = share * (high - low) or 1.0
    return low - room, high + room


def axis_ticks(axis: Axis, low: float, high: float) -> list[tuple[float, str]]:
    """Return the ticks of an axis between two values, each with its text.

    >>> axis_ticks(Axis(is_logarithmic=True), 3.0, 40.0), axis_ticks(Axis(is_logarithmic=False), 0.0, 5.0)[:2]
    ([(5.0, '5'), (10.0, '10'), (20.0, '20')], [(0.0, '0'), (1.0, '1')])
    """
    if axis.ticks:
        return [(at, text) for at, text in axis.ticks if low <= at <= high]
    if axis.is_logarithmic:
        steps = _STEPS[:-1] if high / low <= _FEW_DECADES else _STEPS[:1]
        found = [step * 10.0**decade for decade in range(floor(log10(low)), ceil(log10(high)) + 1) for step in steps]
    elif high > low:
        size = 10.0 ** floor(log10((high - low) / _LEAST_TICKS))
        step = max(one * size for one in _STEPS if (high - low) / (one * size) >= _LEAST_TICKS)
        found = [place * step for place in range(ceil(low / step), floor(high / step) + 1)]
    else:
        found = [low]
    return [(at, tick_text(at)) for at in found if low <= at <= high]


def tick_text(value: float) -> str:
    """Return a number without powers of ten.

    >>> tick_text(40.0), tick_text(0.002), tick_text(20000.0)
    ('40', '0.002', '20,000')
    """
    return f"{value:,.10f}".rstrip("0").rstrip(".") if 1e-9 < abs(value) < 1e12 else f"{value:g}"
