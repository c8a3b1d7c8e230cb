"""The names of estimates and their one text: the middle, the range, or both.

KV_NAMES has the estimators of KV bytes per token that give a range and are scored on models of known cache, in the order of the tables. A
key is the name of an estimator in JSON and in CSV, and its words are the name in all other outputs.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar, cast

from derive.quantities.aliases import with_new_names
from derive.units import show

if TYPE_CHECKING:
    from invert.records import Estimate

KV_NAMES: Mapping[str, str] = {
    "from_all_prices": "that explain all prices, also the long-context premium, at one price/cost",
    "from_premium_at_cost": "whose reads at rental cost explain the long-context premium",
    "from_premium": "whose reads explain the long-context premium, at the price/cost of models with known architecture",
    "typical": "of models that were released before. Newer models count more",
}
"""For each estimator what it assumes, in the words of an explanation."""
RENAMED: Mapping[str, str] = {
    "one_markup": "from_all_prices", "at_rent": "from_premium_at_cost", "increment": "from_premium", "headline": "typical",
    "market": "by_price", "votes": "families", "cast": "weights", "worth": "reliability", "rms_of_class": "rms_of_baseline",
    "by_class": "by_baseline", "held_at_one_byte": "right_at_one_byte", "class_horizons": "typical_kv_horizons",
    "markup_of_lists": "price_cost_of_lists", "extra_markup_prior": "extra_price_cost_ratio_prior",
    "storage_markup_prior": "storage_price_cost_ratio_prior", "cache_read_markup_prior": "cache_read_price_cost_ratio_prior",
    "output_storage_markup_ratio_prior": "output_storage_price_cost_ratio_prior",
    "class_spread": "typical_kv_spread", "class_votes": "typical_kv_prior_families",
}  # fmt: skip
"""Old keys of saved results, with their present names."""
_COLUMN_PARTS = {
    **{name: RENAMED[name] for name in ("one_markup", "at_rent", "increment", "headline", "market")},
    "per_token_lecture": "per_token_from_threshold", "token_known": "token_of_architecture", "held": "right",
    "token_storage_price": "token_by_storage_price", "markup": "price_cost_ratio",
}  # fmt: skip


def kv_heading(estimator: str) -> str:
    """Return the name of KV bytes per token by an estimator."""
    words = estimator.replace("_", " ")
    return f"KV {words}" if words.startswith("from ") else f"{words} KV"


def with_new_keys(record: Mapping[str, object]) -> dict[str, object]:
    """Return an object of a saved result with the present names as keys."""
    found = {_new_key(key, value): value for key, value in with_new_names(record).items()}
    return found | {"origin": "input price"} if found.get("origin") == "market" else found


def _new_key(key: str, value: object) -> str:
    if key == "held":
        return "coverage" if isinstance(value, list) else "right"
    if key == "storage_price" and isinstance(value, Mapping) and "kind" in value:
        return "by_storage_price"
    return RENAMED.get(key, key)


def new_column_key(key: str) -> str:
    """Return the present key of a column of CSV."""
    for old, new in _COLUMN_PARTS.items():
        key = re.sub(rf"_{old}(?=_|$)", f"_{new}", key)
    return key


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


def round_digits(value: _T, digits: int = 6) -> _T:
    """Round a number to these digits. After the sixth, the digits of an estimate depend on the draws and the machine.

    >>> round_digits(154712.3456), round_digits("upper"), round_digits(None)
    (154712.0, 'upper', None)
    """
    return cast("_T", float(f"{value:.{digits}g}")) if isinstance(value, float) else value


def plain_digits(value: float, digits: int = 2) -> str:
    """Format a number with these digits, without an exponent."""
    return f"{Decimal(f'{value:.{digits}g}'):f}"


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
        return plain_digits(value / size, digits) + unit
    text = show(quantity, float(f"{value:.{digits}g}"), digits=3)
    for end in _UNIT_ENDS:
        text = text.removesuffix(end)
    return text
