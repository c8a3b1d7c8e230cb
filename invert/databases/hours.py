"""Hours of a day at which a price holds, in minutes of UTC."""

from collections.abc import Iterable

A_DAY = 24 * 60
"""Minutes."""


def between(windows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the minutes of a day outside these windows, which ascend.

    >>> between([(60, 240), (360, 600)])
    [(0, 60), (240, 360), (600, 1440)]
    """
    found, at = [], 0
    for start, end in windows:
        if start > at:
            found.append((at, start))
        at = max(at, end)
    return [*found, (at, A_DAY)] if at < A_DAY else found


def hours_text(windows: Iterable[tuple[int, int]]) -> str:
    """Return windows in minutes as prices.csv writes them.

    >>> hours_text([(60, 240), (360, 1440)])
    '01:00-04:00;06:00-24:00'
    """
    return ";".join(f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}" for start, end in windows)
