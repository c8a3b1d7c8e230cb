"""Costs that include the hours in which chips wait, once, if the share of time in use is given."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from derive.catalogue import equation
from derive.meanings import Waiting
from derive.quantities import quantity
from derive.roles import Replica
from derive.solving.limits.best_size import Ask
from derive.solving.result import Solution

TAKEN_AS_RENT = f"{Waiting.price} is used as {Waiting.rent}, which is also paid while chips are idle"


def include_waiting(solution: Solution, given: Mapping[str, Any], ask: Ask, at_no_other_price: Ask) -> Solution:
    """Return the answer with waiting hours in the cost, if its own cost leaves them out or pays for them twice.

    `at_no_other_price` asks without the price of a chip that a switch reads from the table.
    """
    share, price, rent = Replica.used_share, Waiting.price, Waiting.rent
    rows = [equation(id) for id in solution.equations]
    paid_for = not Waiting.paid_for_by.isdisjoint(row.id for row in rows)
    if solution.unknown == Waiting.of_all_hours and share in solution.given and paid_for:
        told = f"{Waiting.of_all_hours} is {Waiting.of_use} here, because the price of a second in use also pays for idle seconds"
        return replace(ask(Waiting.of_use, given), unknown=Waiting.of_all_hours).warn(include_waiting.__name__, told)
    # A time or a rate does not depend on waiting hours, unless a margin gives a cost.
    of_money = "USD" in quantity(solution.unknown).unit or Waiting.margin in (solution.unknown, *given)
    costs = of_money and Waiting.of_use not in (solution.unknown, *given) and any(not Waiting.costs.isdisjoint(row.symbols) for row in rows)
    counted = paid_for or any(Waiting.of_all_hours in row.symbols for row in rows)
    left_out = costs and share in given and not counted
    if solution.unknown == price and left_out and rent not in given:
        found = ask(rent, given)
        return replace(found, unknown=price).warn(include_waiting.__name__, TAKEN_AS_RENT) if found.answers else solution
    sought = solution.unknown == share and solution.reason is not None and price in given
    paid = given.get(price, solution.given.get(price))
    if rent in given or paid is None or not (left_out or sought):
        return solution
    others = {name: value for name, value in given.items() if name != price}
    found = at_no_other_price(solution.unknown, {**others, rent: paid})
    if (found.reason and found.reason.missing) or share in found.unused:
        return solution
    source = {rent: solution.provenance[price]} if price in solution.provenance else {}
    return replace(found, provenance={**found.provenance, **source}).warn(include_waiting.__name__, TAKEN_AS_RENT)
