"""Quantities that are given as 0, and those that are 0 with them."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from derive.errors import WrongValue
from derive.expressions.branches import sides_of
from derive.expressions.digits import has_difference
from derive.quantities import quantity
from derive.records import Equation
from derive.trees import factors, is_negative, terms

_NO_CACHE = ("kv_time", "kv_compute_ratio", "kv_cache_bytes", "attention_time", "attention_compute_ratio")
AT_NOTHING: Mapping[str, tuple[str, ...]] = {
    "context_length": _NO_CACHE,
    "kv_bytes_per_token": _NO_CACHE,
    "kv_cache_bytes": _NO_CACHE,
    "kv_time": _NO_CACHE,
    "batch": ("kv_cache_bytes",),
}
"""Quantities that are above zero and have a limit there: what comes to nothing with them. A batch of none holds no cache."""


_PREFILL_ALONE = "time_to_first_token, prefill_time or prefill_cost_per_token"
"""What is asked of a request that decodes nothing."""


def refuse_no_output(given: Mapping[str, Any]) -> None:
    """Raise WrongValue for requests without output tokens, with the question that fits prefill alone.

    >>> refuse_no_output({"osl": 0})
    Traceback (most recent call last):
        ...
    derive.errors.WrongValue: output_tokens = 0 is prefill alone: leave it out and ask for time_to_first_token, prefill_time or \
prefill_cost_per_token
    """
    if any(quantity(spelled).name == "output_tokens" and _is_nothing(value) for spelled, value in given.items()):
        raise WrongValue(f"output_tokens = 0 is prefill alone: leave it out and ask for {_PREFILL_ALONE}")


def zeros_with_limit(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the quantities given as 0 that have a limit there, each as it was spelled.

    >>> zeros_with_limit({"L": "0", "context_length": 8192, "overlap": "0", "kv_time": 0.0})
    {'context_length': 'L', 'kv_time': 'kv_time'}
    """
    return {name: spelled for spelled, value in given.items() if (name := quantity(spelled).name) in AT_NOTHING and _is_nothing(value)}


def _is_nothing(value: Any) -> bool:
    try:
        return float(str(value).strip().split(" ")[0]) == 0 if isinstance(value, str | int | float) else False
    except (ValueError, OverflowError):
        return False


def made_of_nothing(rows: Iterable[Equation], nothing: Iterable[str], some: Set[str]) -> dict[str, str]:
    """Return the other quantities that are 0 if these are, with the factor in each term that makes them 0.

    `some` are quantities that are not 0. Terms without such a factor, or with several, have no part in it.

    >>> from derive.catalogue import equation
    >>> made_of_nothing([equation("roofline.attention_time")], ["attention_time"], set())
    {'attention_flops_per_sequence': 'attention_time'}
    """
    definitions = {row.defines: row for row in rows if row.defines}
    found: dict[str, str] = {}
    queue = list(nothing)
    while queue:
        name = queue.pop()
        for factor in _vanishing(definitions[name], some) if name in definitions else ():
            if factor not in found:
                found[factor] = found.get(name, name)
                queue.append(factor)
    return found


def _vanishing(row: Equation, some: Set[str]) -> set[str]:
    """Return the factors that make a whole sum 0, or none if the sum can be 0 in another way."""
    found: set[str] = set()
    for term in terms(sides_of(row)[1]):
        can = [name for name in factors(term) if name not in some and quantity(name).may_be_zero]
        if len(can) != 1 or is_negative(term) or has_difference(term):
            return set()
        found |= {*can}
    return found
