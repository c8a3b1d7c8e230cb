"""Costs that include the hours in which chips wait, once, if the share of time in use is given."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from derive.catalogue import equation
from derive.quantities import quantity
from derive.solving.result import Solution

_Ask = Callable[[str, Mapping[str, Any]], Solution]
"""A question with what is given by name."""

_IN_USE, _PRICE, _RENT = "fleet_utilisation", "chip_price", "rented_chip_price"
_OF_USE, _OF_ALL_HOURS = "cost_per_token", "fleet_cost_per_token"
_COSTS = frozenset((_OF_USE, "prefill_cost_per_token"))
"""Costs of chips in use. Costs of requests and margins are made of them."""
_PAY_FOR_WAITING = frozenset(("serving.chip_price_from_capex", "serving.rented_chip_price"))
"""Equations in which the price of a second in use pays for the seconds of waiting."""

TAKEN_AS_RENT = f"{_PRICE} is taken as {_RENT}, which is paid while chips wait too"


def include_waiting(solution: Solution, given: Mapping[str, Any], ask: _Ask, at_no_other_price: _Ask) -> Solution:
    """Return the answer with waiting hours in the cost, if its own cost leaves them out or pays for them twice.

    `at_no_other_price` asks without the price of a chip that a switch reads from the table.
    """
    rows = [equation(id.split("@")[0]) for id in solution.equations]
    if solution.unknown == _OF_ALL_HOURS and _IN_USE in solution.given and not _PAY_FOR_WAITING.isdisjoint(row.id for row in rows):
        told = f"{_OF_ALL_HOURS} is {_OF_USE} here: the price of a second in use pays for those in which a chip waits"
        return replace(ask(_OF_USE, given), unknown=_OF_ALL_HOURS).warn(include_waiting.__name__, told)
    names = {quantity(spelled).name: spelled for spelled in given}
    # A time or a rate does not depend on waiting hours, unless a margin gives a cost.
    of_money = "USD" in quantity(solution.unknown).unit or "gross_margin" in (solution.unknown, *names)
    costs = of_money and solution.unknown != _OF_USE and any(not _COSTS.isdisjoint(row.symbols) for row in rows)
    left_out = costs and _IN_USE in solution.unused
    sought = solution.unknown == _IN_USE and solution.reason is not None and _PRICE in names
    if _RENT in names or not (left_out or sought):
        return solution
    rent = given[names[_PRICE]] if _PRICE in names else solution.given.get(_PRICE)
    if rent is None:
        return solution
    found = at_no_other_price(
        solution.unknown, {**{name: value for name, value in given.items() if name != names.get(_PRICE)}, _RENT: rent}
    )
    if (found.reason and found.reason.missing) or _IN_USE in found.unused:
        return solution
    source = {_RENT: solution.provenance[_PRICE]} if _PRICE in solution.provenance else {}
    return replace(found, provenance={**found.provenance, **source}).warn(include_waiting.__name__, TAKEN_AS_RENT)
