"""What stands for many values: a range (`80B..120B`, `0.4±0.1`), a list (`1,8,64`), a sweep (`1..4096:log`)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

from derive.errors import BacksolveError, WrongValue, shorten, suggest
from derive.quantities import quantity
from derive.units import parse

if TYPE_CHECKING:
    import numpy as np

POINTS = 25
"""Points of a sweep that does not say how many."""

MOST_POINTS = 10_000_000
"""Above this a sweep is refused: eight bytes a point and a column, and some seconds."""

_PLUS_MINUS = re.compile(r"±|\+/?-")
_SUFFIXES = frozenset("kKMGBTP")
_UNIT = re.compile(r"[^0-9._]*$")
_COLON = re.compile(r":([a-z]+)(?::(\S+))?$", re.IGNORECASE)
_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")


@dataclass(frozen=True, slots=True)
class Interval:
    """Any value between two [SI]."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The arithmetic mean of the ends."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Series:
    """One value after another [SI]: those of a list, or evenly spaced between two, in size or in ratio."""

    values: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    count: int = 0
    spacing: str = ""

    def __len__(self) -> int:
        return self.count or len(self.values)

    def array(self) -> "np.ndarray":
        """All values.

        >>> Series(low=1, high=4096, count=5, spacing="log").array().tolist()
        [1.0, 8.0, 64.0, 512.0, 4096.0]
        """
        import numpy as np

        if not self.count:
            return np.array(self.values)
        evenly = np.geomspace if self.spacing == "log" else np.linspace
        # To 12 digits of the smallest, so that a sweep by powers of two meets 8 and not 7.999999999999999.
        return np.round(evenly(self.low, self.high, self.count), 11 - floor(log10(self.low or self.high)))


Spread = Interval | Series
Read = Callable[[str, "float | str"], float]


def spread(name: str, given: "float | str | Sequence[float | str]", read: Read) -> "Spread | None":
    """What a given spans, read piece by piece; None where it is a single value.

    Raises WrongValue for ends in the wrong order, for counts that cannot be and for sweeps of too many points.

    >>> from derive.units import parse
    >>> spread("active_params", "80B..120B", parse), spread("mfu", "0.4±0.1", parse).high
    (Interval(low=80000000000.0, high=120000000000.0), 0.5)
    >>> len(spread("batch", "1..4096:log:13", parse)), spread("batch", "1,8,64", parse).values
    (13, (1.0, 8.0, 64.0))
    """
    if not isinstance(given, str):
        return _listed(name, given, read) if hasattr(given, "__len__") else None
    text = given.strip()
    if ".." in text:
        return _between(name, text, read)
    if _PLUS_MINUS.search(text):
        return _around(name, text, read)
    if "," not in text:
        return None
    items = text.split(",")
    if _GROUPED.fullmatch(text) and any(item.startswith("0") for item in items):
        raise WrongValue(f"{name}={text}: a comma parts a list; write {text.replace(',', '')} for one number")
    return _listed(name, _like_the_last(name, items, read), read)


def _like_the_last(name: str, items: list[str], read: Read) -> list[str]:
    """The items; the unit of the last one is that of bare ones before it, a mere suffix (64k) only where they need one."""
    *before, last = items
    unit = _UNIT.search(last.strip())[0] if last.strip()[:1].isdigit() else ""

    def completed(item: str) -> str:
        if not unit or not item.strip() or _UNIT.search(item.strip())[0]:
            return item
        if unit.strip() not in _SUFFIXES:
            return item.strip() + unit
        try:
            read(name, item)
        except BacksolveError:
            return item.strip() + unit
        return item

    return [*map(completed, before), last]


def _listed(name: str, items: "Sequence[float | str]", read: Read) -> Series:
    if not len(items):
        raise WrongValue(f"{name} is an empty list: give at least one value")
    _not_too_many(name, len(items))
    return Series(tuple(read(name, item) for item in items))


def _between(name: str, text: str, read: Read) -> Spread:
    ends, colon = text, _COLON.search(text)
    if colon:
        ends = text[: colon.start()]
    low_text, _, high_text = ends.partition("..")
    low_text, high_text = _like_the_last(name, [low_text, high_text.removeprefix(".")], read)
    low, high = read(name, low_text), read(name, high_text)
    if low >= high:
        raise WrongValue(f"{name}={shorten(ends)[1:-1]}: the first value must be below the second; write {high_text}..{low_text}")
    if not colon:
        return Interval(low, high)
    spacing, count = colon[1].lower(), colon[2]
    if spacing not in ("log", "lin"):
        raise WrongValue(f"{name}={shorten(text)[1:-1]}: a sweep is :log or :lin, not :{spacing}{suggest(spacing, ('log', 'lin'))}")
    if spacing == "log" and low == 0:
        raise WrongValue(f"{name}={shorten(text)[1:-1]}: ratios do not start from 0; write :lin")
    points = POINTS if count is None else _count(name, count)
    _not_too_many(name, points)
    return Series(low=low, high=high, count=points, spacing=spacing)


def _around(name: str, text: str, read: Read) -> Interval:
    """x±y: y in the unit of x, or a percentage of x; a unit that only one of them has is that of both."""
    middle_text, half_text = (part.strip() for part in _PLUS_MINUS.split(text, maxsplit=1))
    unit, half_unit = (_UNIT.search(part)[0] for part in (middle_text, half_text))
    if half_unit == "%" != unit:
        middle = read(name, middle_text)
        half = middle * parse("mfu", half_text)
    else:
        middle = read(name, middle_text if unit else middle_text + half_unit)
        half = read(name, half_text if half_unit else half_text + unit)
    check = quantity(name).check
    return Interval(check(middle - half), check(middle + half))


def _count(name: str, text: str) -> int:
    try:
        count = float(text)
    except ValueError:
        count = 0.0
    if not count >= 2 or count != int(count):
        raise WrongValue(f"{name}: a sweep has a whole number of points from 2 on, not {shorten(text)}; write e.g. {name}=1..4096:log:13")
    return int(count)


def _not_too_many(name: str, count: int) -> None:
    if count > MOST_POINTS:
        raise WrongValue(f"{name} takes {count:.4g} points; at most {MOST_POINTS:,} in one sweep, all series together")
