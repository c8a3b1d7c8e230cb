"""Prices by the hour of the day. Hours are windows in minutes of UTC."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from invert.databases.records import Offer, Rates, WrongField

A_DAY = 24 * 60
"""Minutes."""
Window = tuple[int, int]


def windows_between(start: int, end: int) -> list[Window]:
    """Return the hours from a minute to another one, which is on the next day if it is not later."""
    return [(start, end)] if start < end else [window for window in ((0, end), (start, A_DAY)) if window[0] < window[1]]


def between(windows: Iterable[Window]) -> list[Window]:
    """Return the minutes of a day outside these windows, which ascend."""
    found, at = [], 0
    for start, end in windows:
        if start > at:
            found.append((at, start))
        at = max(at, end)
    return [*found, (at, A_DAY)] if at < A_DAY else found


def offers_by_hour(
    outside: Mapping[int, Rates], by_hour: Sequence[Mapping[int, Rates]], windows: Iterable[Window], field: str, weekdays: str = ""
) -> Iterator[Offer]:
    """Yield the peak and the off-peak offer of prices outside and inside windows. The higher input price is the peak, in its own hours."""
    inside, hours = by_hour[0], sorted(windows)
    if any(others != inside for others in by_hour):
        raise WrongField(field, "has more than two prices a day")
    if inside[0].get(("input", None), 0) < outside[0].get(("input", None), 0):
        if weekdays:
            raise WrongField(field, "has a lower price on some weekdays only")
        outside, inside, hours = inside, outside, between(hours)
    written = ";".join(f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}" for start, end in hours)
    yield Offer(bands=inside, service_tier="peak", utc_hours=written, weekdays=weekdays)
    yield Offer(bands=outside, service_tier="off_peak")
