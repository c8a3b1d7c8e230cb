"""The one text of an estimate: its middle, its range, or both."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar, cast

from derive.units import show

if TYPE_CHECKING:
    from invert.records import Estimate

_T = TypeVar("_T")
_UNITS: Mapping[str, tuple[float, str]] = {
    "kv_bytes_per_token": (1e3, " kB"),
    "kv_bytes_stored_per_token": (1e3, " kB"),
    "active_params": (1e9, " B"),
    "total_params": (1e9, " B"),
    "total_params_by_knowledge": (1e9, " B"),
    "total_params_by_price_and_knowledge": (1e9, " B"),
    "active_params_times_price_cost_ratio": (1e9, " B"),
    "input_price_cost_ratio": (1.0, "x"),
    "balance_context": (1e3, "k"),
    "attention_intensity": (1.0, ""),
    "batch_multiple": (1.0, ""),
    "bayes_factor": (1.0, ""),
    "": (1.0, ""),
}
"""The size [SI] and the name of the unit of a quantity. It is the same for every value, so numbers in a column can be compared."""
_SHARES = ("bandwidth_bound_fraction", "memory_time_share")
_PROBABILITY = "probability_"
_WIDE = 3.0
"""Ranges that span this factor or more are printed with two digits, and also numbers without a range."""
_NONE, _NO_RANGE = "none", "-"
_UNIT = re.compile(r" [^\d\s]+$|[xk]$")
_UNIT_ENDS = ("/token", " tokens", " FLOP/byte")


def six_digits(value: _T) -> _T:
    """Round an estimate to six digits. Later digits depend on the draws and the machine.

    >>> six_digits(154712.3456), six_digits("upper"), six_digits(None)
    (154712.0, 'upper', None)
    """
    return cast("_T", float(f"{value:.6g}")) if isinstance(value, float) else value


def two_digits(value: float) -> str:
    """Format a number with two digits, without an exponent."""
    return _plain(value, 2)


def middle_text(quantity: str, estimate: "Estimate | None") -> str:
    """Return the median with its unit, a bound, a number that was given, or `none`."""
    if estimate is None:
        return _NONE
    numbers = {"upper": ("< ", estimate.high), "lower": ("> ", estimate.low)}
    sign, value = numbers.get(estimate.kind, ("", estimate.median))
    if value is None:
        return _NONE
    given = " (given)" if estimate.kind == "given" else ""
    return f"{sign}{_number_and_unit(quantity, value, _digits(estimate))}{given}"


def range_text(quantity: str, estimate: "Estimate | None") -> str:
    """Return the ends of an interval with their unit, or `-` if there are not two."""
    low, high = (estimate.low, estimate.high) if estimate and estimate.kind == "interval" else (None, None)
    if estimate is None or low is None or high is None or low >= high:
        return _NO_RANGE
    first, last = (_number_and_unit(quantity, end, _digits(estimate)) for end in (low, high))
    unit = _UNIT.search(last)
    return f"{first.removesuffix(unit[0]) if unit else first} to {last}"


def estimate_text(quantity: str, estimate: "Estimate | None") -> str:
    """Return the middle with the range in brackets.

    >>> from invert.records import Estimate
    >>> estimate_text("kv_bytes_per_token", Estimate(kind="interval", median=48900.0, low=7260.0, high=329e3))
    '49 kB (7.3-330)'
    """
    return bracket_range(middle_text(quantity, estimate), range_text(quantity, estimate))


def bracket_range(text: str, ends: str) -> str:
    """Return a cell with its second text in brackets. The unit is printed once."""
    if ends == _NO_RANGE:
        return text
    unit = _UNIT.search(text)
    shorter = ends.removesuffix(unit[0]) if unit else ends
    return f"{text} ({shorter.replace(' to ', '-')})"


def _digits(estimate: "Estimate") -> int:
    low, high = estimate.low, estimate.high
    return 3 if low and high and low < high < _WIDE * low else 2


def _number_and_unit(quantity: str, value: float, digits: int) -> str:
    if quantity in _SHARES or quantity.startswith(_PROBABILITY):
        return f"{100 * value:.0f} %"
    if quantity in _UNITS:
        size, unit = _UNITS[quantity]
        return _plain(value / size, digits) + unit
    text = show(quantity, float(f"{value:.{digits}g}"), digits=3)
    for end in _UNIT_ENDS:
        text = text.removesuffix(end)
    return text


def _plain(value: float, digits: int) -> str:
    return f"{Decimal(f'{value:.{digits}g}'):f}"
