"""Quantities that are given as 0, and those that are 0 with them."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from derive.errors import WrongValue
from derive.expressions.digits import has_difference
from derive.quantities import quantity
from derive.records import Equation
from derive.roles import Tokens
from derive.trees import factors, is_negative, terms


def refuse_no_output(given: Mapping[str, Any]) -> None:
    """Raise WrongValue for requests without output tokens, with the question that fits prefill alone.

    >>> refuse_no_output({"output_tokens": 0})
    Traceback (most recent call last):
        ...
    derive.errors.WrongValue: output_tokens = 0 means only prefill: remove it and ask for time_to_first_token, prefill_time or \
prefill_cost_per_token
    """
    if _is_zero(given.get(Tokens.output)):
        *others, last = Tokens.without_output
        raise WrongValue(f"{Tokens.output} = 0 means only prefill: remove it and ask for {', '.join(others)} or {last}")


def _is_zero(value: Any) -> bool:
    try:
        return float(str(value).strip().split(" ")[0]) == 0 if isinstance(value, str | int | float) else False
    except (ValueError, OverflowError):
        return False


def find_made_zeros(rows: Iterable[Equation], nothing: Iterable[str], some: Set[str], usual: Set[str] = frozenset()) -> dict[str, str]:
    """Return the other quantities that are 0 with these, and for each the given 0 that causes it.

    `some` are quantities that are not 0, `usual` those that are 0 by default. Terms without such a factor, or with several, have no part.

    >>> from derive.catalogue import equation
    >>> find_made_zeros([equation("roofline.attention_time")], ["attention_time"], set())
    {'attention_flops_per_sequence': 'attention_time'}
    """
    definitions = {row.defines: row for row in rows if row.defines}
    found: dict[str, str] = {}
    queue = list(nothing)
    while queue:
        name = queue.pop()
        for factor in _zero_factors(definitions[name], some, usual) if name in definitions else ():
            if factor not in found:
                found[factor] = found.get(name, name)
                queue.append(factor)
    return found


def _zero_factors(row: Equation, some: Set[str], usual: Set[str]) -> set[str]:
    """Return the factors that make a whole sum 0, or none if the sum can be 0 in another way."""
    found: set[str] = set()
    for term in terms(row.trees[1]):
        if any(name in usual and name not in some for name in factors(term)):
            continue
        can = [name for name in factors(term) if name not in some and quantity(name).may_be_zero]
        if len(can) != 1 or is_negative(term) or has_difference(term):
            return set()
        found |= {*can}
    return found
