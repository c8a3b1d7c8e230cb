"""A result of the deployments with the fewest chips for a rate: their chips, their cost or their energy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from derive.answers import Part
from derive.catalogue import equation
from derive.records import LOWER, UPPER
from derive.roles import Batch, Memory, Prompts, Replica
from derive.solving.checks.targets import better_side, is_within
from derive.solving.deployments.replicas import TOGETHER, Deployment, find_deployments, is_of_fleet, lead_with, paid_with
from derive.solving.engine.directions import rated_quantities
from derive.solving.engine.engine import refuse_question
from derive.solving.limits.as_typed import refuse_in_place
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import is_limit, read_limits
from derive.solving.question.propagation import results_of
from derive.solving.question.questions import pose_question
from derive.solving.result import Reason, Solution
from derive.units import show

_Ask = Callable[[str, Mapping[str, Any], Switches], Solution]


def answer_fleet(ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return a result of all replicas for the fewest chips that meet a rate, or None if a given says how many chips there are.

    What is bought has the answer for decode alone, and beside it the answer with prompts on the same chips.
    """
    if given.keys().isdisjoint(Replica.sized_by) or not is_of_fleet(unknown, given, switches):
        return None
    deployments, missed = _find_within_budgets(ask, given, switches)
    bought = unknown in (Replica.number, *Replica.bought)
    if missed:
        return refuse_question(pose_question(unknown, _without_budgets(given), switches), missed)
    if not deployments or (len(deployments[0].parts) > 1 and not bought):
        return None
    first, *others = (one.parts[0] for one in deployments)
    sized = _without_budgets(given)
    found = _answer_at(ask, unknown, sized, switches, first)
    if found.answers and others and bought:
        found = replace(_answer_at(ask, unknown, sized, switches, others[0]), with_prompts=_as_least(found).answers[0])
    found = _as_least(found) if bought else found
    return lead_with(found, deployments, given, switches) if unknown == Replica.all_chips else found


def lead_with_replicas(ask: _Ask, solution: Solution, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return an answer to a sizing question that leads with the whole replicas that meet the same targets.

    A question sizes a deployment if it asks for chips beside a rate of all replicas and its model has heads. The chips of a replica may be
    given. If it has prompts, there are two deployments: prompts on the same chips, and on chips of their own. Replicas in several stages
    have no such line.
    """
    in_stages = solution.unknown == Replica.all_chips and solution.given.get(Memory.groups, 1.0) != 1.0
    if [one.bound for one in solution.answers] != [LOWER] or solution.sweep or solution.spans or in_stages:
        return solution
    size = solution.given.get(Replica.chips) if solution.unknown == Replica.all_chips else None
    others = {name: value for name, value in given.items() if name != Replica.chips}
    found, missed = _find_within_budgets(ask, others, switches, size)
    if missed:
        return refuse_in_place(solution.unknown, missed, solution)
    return lead_with(solution, found, given, switches) if found else solution


def _find_within_budgets(
    ask: _Ask, given: Mapping[str, Any], switches: Switches, size: float | None = None
) -> tuple[list[Deployment], Reason | None]:
    """Return the deployments with the fewest chips within the limits on what is bought, or why there is none."""
    budgets = {name: value for name, value in given.items() if name in Replica.bought and is_limit(value)}
    others = _without_budgets(given)
    found = find_deployments(others, switches, size)
    missed = [_tell_over_budget(ask, others, switches, one, budgets) for one in found]
    kept = [one for one, over in zip(found, missed, strict=True) if not over]
    return kept, None if kept else next(filter(None, missed), None)


def _without_budgets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the givens without the limits on what is bought."""
    return {name: value for name, value in given.items() if not (name in Replica.bought and is_limit(value))}


def _tell_over_budget(
    ask: _Ask, given: Mapping[str, Any], switches: Switches, one: Deployment, budgets: Mapping[str, Any]
) -> Reason | None:
    """Return why a deployment is not within a limit on what is bought, or None if it is."""
    chips = sum(part.replicas * part.chips_per_replica for part in one.parts)
    for name, sides in read_limits(budgets)[1].items():
        priced = {**{other: value for other, value in given.items() if other in paid_with(name)}, Replica.all_chips: chips}
        value = chips if name == Replica.all_chips else ask(name, priced, replace(switches, silent=True)).first_value
        limit = switches.conventions.read(name, sides[UPPER]) if UPPER in sides else None
        if value is not None and limit is not None and not is_within(UPPER, value, limit):
            told = f"{name} <= {show(name, limit)} is not met: the fewest are {chips:.0f} chips, and {name} is {show(name, value)}"
            return Reason(code="no_solution", violated=(name,), message=told)
    return None


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
