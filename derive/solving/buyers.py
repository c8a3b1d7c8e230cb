"""A cost that is asked for with prices alone: what a buyer pays by them is answered, as its cost to the seller lacks all of the chips."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from derive.quantities import quantity
from derive.solving.refusals import PRICED
from derive.solving.result import Solution

PAID = {"cost_per_request": "price_per_request"}
"""What its buyer pays for what costs its seller so much."""

ANSWERED_WITH_PRICE = (
    "cost_per_request is answered with price_per_request, what its buyer pays by these prices: what serving it costs needs chips"
)


def as_its_buyer_pays(refused: Solution, given: Mapping[str, Any], ask: Callable[[str, Mapping[str, Any]], Solution]) -> Solution:
    """The price in place of a cost that lacks something, where all that was given has a part in the price."""
    names = {quantity(spelled).name for spelled in given}
    if refused.unknown not in PAID or not refused.reason or not refused.reason.missing or not names >= PRICED[refused.unknown]:
        return refused
    paid = ask(PAID[refused.unknown], given)
    if not (paid.answers or paid.sweep) or paid.unused:
        return refused
    return replace(paid, warnings=(ANSWERED_WITH_PRICE, *paid.warnings), kinds=(as_its_buyer_pays.__name__, *paid.kinds))
