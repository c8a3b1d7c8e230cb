"""Givens with many values: a range (`80B..120B`, `0.4±0.1`), a list (`1,8,64` or `1;8;64`), a sweep (`1..4096:log`).

Also limits (`<=30ms`), and money of a fleet per hour, day or month.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from derive.answers import POINTS, Interval, Series, Spread
from derive.errors import BacksolveError, WrongUnit, WrongValue, shorten, suggest
from derive.quantities import meant_beside, own_unit, quantity
from derive.records import LOWER, UPPER
from derive.roles import Accrued
from derive.solving.question.conventions import Switches
from derive.units import LONGEST, SIGNS, parse, signed

if TYPE_CHECKING:
    from sympy import Expr


MOST_POINTS = 10_000_000
"""Above this a sweep is refused, whatever memory it takes: writing it out takes minutes."""

MOST_VALUES = 5_000_000
"""Above this a list is refused: some forty bytes a value, and those of the answers."""

_PLUS_MINUS = r"±|\+/?-"
_SUFFIXES = frozenset("kKMGBTP")
_BY_THE_TIME = r"(?P<money>[^/]*?)\s*(?:/|\bper\b)\s*(?P<time>[A-Za-z]+)\s*"
_GROUPED = r"(?is)\$?\s*[0-9]+(\s*,\s*[0-9]{3})+(?![0-9._])(?!\s*e[-+0-9])(?P<unit>.*)"

_SIDES = dict(zip(SIGNS, (UPPER, LOWER), strict=True))
IN_WORDS = {UPPER: "at most", LOWER: "at least"}

_T = TypeVar("_T")
_Read = Callable[[str, "float | str"], float]


def is_symbolic(value: object) -> "TypeGuard[Expr]":
    """Return whether a value is an expression of SymPy.

    >>> from derive import symbols
    >>> is_symbolic(symbols.batch + 1), is_symbolic(8.0)
    (True, False)
    """
    return bool(getattr(value, "free_symbols", ()))


def spread(name: str, given: "float | str | Collection[float | str]", read: _Read) -> "Spread | None":
    """Return the range, list or sweep of a given, or None if it is a single value.

    Raises WrongValue for ends in the wrong order, for counts that cannot be, for sweeps of too many points, and for a list
    that may as well be one number with its thousands parted.

    >>> from derive.units import parse
    >>> spread("active_params", "80B..120B", parse), spread("mfu", "0.4±0.1", parse).high
    (Interval(low=80000000000.0, high=120000000000.0), 0.5)
    >>> len(spread("batch", "1..4096:log:13", parse)), spread("batch", "1,8,64", parse).values
    (13, (1.0, 8.0, 64.0))
    """
    if not isinstance(given, str):
        return _collected(name, given, read)
    text = given.strip()
    between, around = ".." in text, any(sign in text for sign in ("±", "+-", "+/-"))
    if ";" in text and (between or around):
        raise WrongValue(f"{name}={shorten(text)[1:-1]}: a list holds single values, no ranges. Ask for one range or one list")
    if between:
        return _parse_range(name, text, read)
    if around:
        return _parse_tolerance(name, text, read)
    if "," not in text and ";" not in text:
        return None
    if any(_may_be_one_number(name, part, read) for part in text.split(";")):
        number, values = (shorten(one) for one in (_joined(text), text.replace(",", ";")))
        both = f"write {name}={number} for one number, {name}={values} for a list"
        raise WrongValue(f"{name}={shorten(text)[1:-1]}: a comma may separate thousands or list items. {both}")
    items = _like_the_last(name, re.split("[,;]", text), read)
    _not_too_many(name, len(items))
    return Series(values=tuple(read(name, item) for item in items))


def _may_be_one_number(name: str, text: str, read: _Read) -> bool:
    """Return whether every part after the first has exactly three digits, as in 12,500. Digits before a suffix (64,128k) are not grouped.

    Nobody means a batch of 64,128,256,512: of more than two parts the whole has to be one that is met in practice.
    """
    grouped, begins_with_nothing = re.fullmatch(_GROUPED, text.strip()), re.search(r",\s*0", text)
    if grouped is None or not (grouped["unit"].strip() not in _SUFFIXES or begins_with_nothing):
        return False
    if begins_with_nothing or text.count(",") == 1:
        return True
    with suppress(BacksolveError):
        return read(name, _joined(text)) <= quantity(name).high
    return False


def _joined(text: str) -> str:
    return "".join(part.strip() for part in text.split(","))


def _collected(name: str, given: "float | Collection[float | str]", read: _Read) -> Series | None:
    """Return the values of a list, tuple or array, or None for a single number or text."""
    shape = getattr(given, "shape", None)
    if shape == () or not (shape or isinstance(given, Sequence)) or isinstance(given, bytes | bytearray | memoryview):
        return None
    values: Collection[float | str] = given  # type: ignore[assignment]
    if shape and len(shape) > 1:
        raise WrongValue(f"{name} has the shape {shape}: give one row of values")
    if not len(values):
        raise WrongValue(f"{name} is an empty list: give at least one value")
    if len(values) > MOST_VALUES:
        raise WrongValue(f"{name} is a list of {len(values):,} values; at most {MOST_VALUES:,}: ask for one part after another")
    if len(values) > POINTS and (shape or all(isinstance(item, int | float) for item in values)):
        import numpy as np

        numbers = np.asarray(values)
        if numbers.dtype.kind in "iuf":
            # All at once: `read` accepts one interval and multiplies by one factor.
            read(name, float(numbers.min()))
            largest = float(numbers.max())
            return Series(values=numbers * (read(name, largest) / largest if largest else 1.0))
    return Series(values=tuple(read(name, item) for item in values))


def _like_the_last(name: str, items: list[str], read: _Read) -> list[str]:
    """Return the items with the unit of the last one on bare numbers before it. A suffix such as k goes on them only if needed."""
    *before, last = items
    unit = _unit(last.strip()) if last.strip().removeprefix("$")[:1].isdigit() else ""

    def completed(item: str) -> str:
        if not 0 < len(unit) <= LONGEST or not item.strip() or (own := _unit(item.strip())) not in ("", *_SUFFIXES):
            return item
        if own:
            words = unit.removeprefix(unit[:1] if unit[:1] in _SUFFIXES else "")
            return item.strip() + words if words[:1] == " " else item
        if unit.strip() in _SUFFIXES:
            with suppress(BacksolveError):
                read(name, item)
                return item
        return item.strip() + unit

    return [*map(completed, before), last]


def _unit(text: str) -> str:
    """Return the text after the last digit. It uses no pattern, which would be slow on a long text."""
    return text[max(map(text.rfind, "0123456789._")) + 1 :]


def _parse_range(name: str, text: str, read: _Read) -> Spread:
    written = shorten(text)[1:-1]
    low_text, _, rest = text.partition("..")
    high_text, *sweep = rest.split(":", 2)
    if len(sweep) == 1 and sweep[0].isdigit():
        raise WrongValue(f"{name}={written}: a sweep needs a spacing. Write {written.removesuffix(sweep[0])}lin:{sweep[0]} or :log")
    if rest.startswith("."):
        raise WrongValue(f"{name}={written} has three dots or more: a range is low..high with two, as in 0.1..5 or 0.1..0.5")
    low_text, high_text = _like_the_last(name, [low_text, high_text], read)
    low, high = read(name, low_text), read(name, high_text)
    if low >= high:
        ends, turned = (shorten(f"{one.strip()}..{other.strip()}")[1:-1] for one, other in ((low_text, high_text), (high_text, low_text)))
        raise WrongValue(f"{name}={ends}: the first value must be below the second. Write {turned}")
    if not sweep:
        return Interval(low, high)
    spacing = sweep[0].strip().lower()
    if spacing not in ("log", "lin"):
        raise WrongValue(f"{name}={written}: a sweep is :log or :lin, not :{shorten(spacing)[1:-1]}{suggest(spacing, ('log', 'lin'))}")
    if spacing == "log" and low == 0:
        raise WrongValue(f"{name}={written}: ratios do not start from 0. Write :lin")
    points = _count(name, sweep[1]) if sweep[1:] else POINTS
    _not_too_many(name, points)
    return Series(low=low, high=high, count=points, spacing=spacing)


def _parse_tolerance(name: str, text: str, read: _Read) -> Interval:
    """Return the range of x±y: y is in the unit of x or in percent. A unit that only one of them has is the unit of both."""
    middle_text, half_text = (part.strip() for part in re.split(_PLUS_MINUS, text, maxsplit=1))
    unit, half_unit = _unit(middle_text), _unit(half_text)
    if half_unit == "%" != unit:
        middle = read(name, middle_text)
        half = middle * _share(name, text, half_text)
    else:
        middle = read(name, _like_the_last(name, [middle_text, half_text], read)[0])
        half = _half(name, half_text if half_unit else half_text + unit, read)
    check = quantity(name).check
    return Interval(check(middle - half), check(middle + half))


def _half(name: str, text: str, read: _Read) -> float:
    """Return how far a range goes to either side. It may be less than the smallest value of its quantity."""
    if quantity(name).floor:
        with suppress(ValueError):
            return max(float(text), 0.0)
    return read(name, text)


def _share(name: str, text: str, percent: str) -> float:
    """Return the share of a percentage after ±."""
    figure = percent.removesuffix("%").strip()
    share = float(figure) / 100 if re.fullmatch(r"[0-9]*\.?[0-9]+", figure) else 0.0
    if not 0 < share < 1:
        raise WrongValue(f"{name}={shorten(text)[1:-1]}: after ± give a percentage above 0 and below 100, such as 10%")
    return share


def _count(name: str, text: str) -> int:
    try:
        count = float(text)
    except ValueError:
        count = 0.0
    if count < 2 or not count.is_integer():
        raise WrongValue(f"{name}: a sweep needs a whole number of points from 2 on, not {shorten(text)}; write e.g. {name}=1..4096:log:13")
    return int(count)


def _not_too_many(name: str, count: int) -> None:
    if count > MOST_POINTS:
        raise WrongValue(f"{name} takes {count:.4g} points; at most {MOST_POINTS:,} in one sweep, for all series together")


def is_limit(value: object) -> bool:
    """Return whether a value is given as a limit.

    >>> is_limit("<=20ms"), is_limit("20ms"), is_limit(0.02)
    (True, False, False)
    """
    return isinstance(value, str) and bool(signed(value))


def read_limits(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """Return the givens without the signs of limits, and the texts of each limit by side.

    The given value of a limit from both sides is the upper one. Raises WrongValue for two limits on the same side.

    >>> read_limits({"step_time": "<= 30ms", "batch": 8})
    ({'step_time': '30ms', 'batch': 8}, {'step_time': {'upper': '30ms'}})
    >>> read_limits({"step_time": ">10ms <30ms"})
    ({'step_time': '30ms'}, {'step_time': {'lower': '10ms', 'upper': '30ms'}})
    """
    found: dict[str, dict[str, str]] = {}
    for name, value in given.items():
        for limit in signed(value) if isinstance(value, str) else ():
            side, text, of_it = _SIDES[limit[:2]], limit[2:].strip(), found.setdefault(name, {})
            if side in of_it:
                raise WrongValue(f"{name} is given twice as {IN_WORDS[side]} so much, {shorten(of_it[side])} and {shorten(text)}: give one")
            of_it[side] = text
    values = {name: sides.get(UPPER, sides.get(LOWER)) for name, sides in found.items()}
    return {**given, **values}, found


def split_money_rates(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T | str]:
    """Return the givens with money of a fleet per hour or month as money over that time. An unknown with such a unit is over that time too.

    Raises WrongValue for money by one time beside another.

    >>> split_money_rates(["chips"], {"fleet_cost": "<=$50/h"}), split_money_rates(["cost_per_month"], {"chips": 8})
    ({'fleet_cost': '<=$50', 'deployment_time': '1 h'}, {'chips': 8, 'deployment_time': '1 month'})
    """
    texts = {name: value for name, value in given.items() if isinstance(value, str) and name in Accrued.money}
    apart = {name: found for name, text in texts.items() if (found := re.fullmatch(_BY_THE_TIME, text)) and _is_a_time(found["time"])}
    units = {word: unit.partition("/")[2] for word in unknowns if (unit := own_unit(word)) and unit.startswith("USD/")}
    of_words = [unit for word, unit in units.items() if meant_beside(word, given) in Accrued.money]
    times = {f"1 {time}" for time in (*of_words, *(found["time"] for found in apart.values()))}
    if not times:
        return given
    lasts = {parse(Accrued.time, time) for time in times}
    if len(lasts) > 1 or Accrued.time in given:
        raise WrongValue(f"the money of a fleet depends on one time ({', '.join(sorted(times))}): remove {Accrued.time} or the others")
    return {**given, **{name: found["money"] for name, found in apart.items()}, Accrued.time: min(times)}


def _is_a_time(word: str) -> bool:
    with suppress(WrongUnit):
        return bool(parse(Accrued.time, f"1 {word}"))
    return False


def list_spreads(plain: Mapping[str, Any], switches: Switches) -> dict[str, Spread]:
    """Return the ranges, lists and sweeps among givens without limits."""
    return {name: one for name, value in plain.items() if (one := spread(name, value, switches.conventions.read))}


def as_typed(name: str, value: float, switches: Switches) -> float:
    """Return the number that is read as this value in the conventions of a question."""
    return value / (switches.conventions.read(name, value) / value) if value else value
