"""A result of the deployments with the fewest chips for a rate: their chips, their cost or their energy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from derive.answers import Part
from derive.catalogue import equation
from derive.records import LOWER
from derive.roles import Batch, Prompts, Replica
from derive.solving.checks.targets import better_side
from derive.solving.deployments.replicas import TOGETHER, find_deployments, is_of_fleet, lead_with
from derive.solving.engine.directions import rated_quantities
from derive.solving.question.conventions import Switches
from derive.solving.question.propagation import results_of
from derive.solving.result import Solution

_Ask = Callable[[str, Mapping[str, Any], Switches], Solution]


def answer_fleet(ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return a result of all replicas for the fewest chips that meet a rate, or None if a given says how many chips there are.

    What is bought has the answer for decode alone, and beside it the answer with prompts on the same chips.
    """
    if given.keys().isdisjoint(Replica.sized_by) or not is_of_fleet(unknown, given, switches):
        return None
    deployments = find_deployments(given, switches)
    bought = unknown in (Replica.number, *Replica.bought)
    if not deployments or (len(deployments[0].parts) > 1 and not bought):
        return None
    first, *others = (one.parts[0] for one in deployments)
    found = _answer_at(ask, unknown, given, switches, first)
    if found.answers and others and bought:
        found = replace(_answer_at(ask, unknown, given, switches, others[0]), with_prompts=_as_least(found).answers[0])
    found = _as_least(found) if bought else found
    return lead_with(found, deployments, given, switches) if unknown == Replica.all_chips else found


def _as_least(found: Solution) -> Solution:
    """Return the answers as lower bounds. A value that a table has as rated gives no bound."""
    return (
        found if rated_quantities(found.provenance) else replace(found, answers=tuple(replace(one, bound=LOWER) for one in found.answers))
    )


def _answer_at(ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches, group: Part) -> Solution:
    """Return the answer for replicas that meet the targets."""
    targets = {name for name in given if better_side(name) and name in results_of(Replica.chips)} - {*Replica.sized_by}
    sized = {name: value for name, value in given.items() if name not in targets}
    of_one = {Batch.name: group.batch[1]}
    sized |= {Replica.chips: group.chips_per_replica, **(of_one if unknown == Replica.number else {Replica.number: group.replicas})}
    if Replica.rate in sized:
        sized[Replica.rate_of_all] = sized.pop(Replica.rate)
    if group.phase == TOGETHER and (variant := equation(Prompts.together).variant):
        switches = replace(switches, variants={**switches.variants, variant.group: variant.name})
    found = ask(unknown, sized, switches)
    if (rate := next(name for name in Replica.sized_by if name in sized)) in found.unused:
        # The chips are bought for a rate, and what is left out of the rate is left out of them.
        others = {name: value for name, value in sized.items() if name != rate}
        there = ask(rate, {**others, **of_one}, switches)
        assumptions = tuple(dict.fromkeys((*found.assumptions, *there.assumptions)))
        found = replace(found.with_doubts({**there.doubts, **found.doubts}), assumptions=assumptions)
    each = f"each of {group.replicas:.0f} replicas" if group.replicas > 1 else "the one replica"
    told = f"at {Replica.chips} = {group.chips_per_replica} for {each}, with which all need the fewest"
    unused = tuple(name for name in found.unused if name not in Replica.sized_by and results_of(name).isdisjoint(given))
    return replace(found, said=(*found.said, told), unused=unused)
