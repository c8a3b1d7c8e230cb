"""A result of the deployments with the fewest chips for a rate: their chips, their cost or their energy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from derive.answers import Part
from derive.catalogue import equation
from derive.records import LOWER, UPPER
from derive.roles import BETTER, Batch, Memory, Prompts, Replica, Tokens
from derive.solving.checks.targets import better_side
from derive.solving.deployments.prompts import given_with_prompts
from derive.solving.deployments.replicas import (
    TAKEN_AS_OF_ALL,
    TOGETHER,
    Deployment,
    find_deployments,
    is_of_fleet,
    is_paid,
    lay_out,
    lead_with,
    paid_with,
    pose_limits,
    rates_of_all,
)
from derive.solving.engine.directions import rated_quantities
from derive.solving.engine.engine import refuse_question
from derive.solving.limits.best_size import refuse_in_place
from derive.solving.limits.limits import Limit
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
    switches = lay_out(given, switches)
    sized, bought = _without_budgets(given), unknown in (Replica.number, *Replica.bought)
    deployments, missed = _find_within_budgets(ask, given, switches)
    if missed:
        return refuse_question(pose_question(unknown, sized, switches), missed)
    if not deployments or (len(deployments[0].parts) > 1 and not bought):
        return None
    first, *others = (one.parts[0] for one in deployments)
    fewest = "with which all need the fewest"
    found = _answer_at(ask, unknown, sized, switches, first, fewest)
    if found.answers and others and bought:
        found = replace(_answer_at(ask, unknown, sized, switches, others[0], fewest), with_prompts=_as_least(found).answers[0])
    found = _as_least(found) if bought or is_paid(unknown) else found
    leads = unknown == Replica.all_chips or (bought and others and found.answers)
    return lead_with(found, deployments, given, switches) if leads else found


def answer_rate(ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches) -> Solution | None:
    """Return the highest rate of the chips that are given or paid for, or the share of it that is given, or None if a given says how many
    chips a replica has.

    It is the answer for decode alone, and beside it the answer with prompts on the same chips.
    """
    if unknown == Replica.rate:
        found = answer_rate(ask, Replica.rate_of_all, given, switches)
        return found and found.warn(rates_of_all.__name__, TAKEN_AS_OF_ALL)
    others = {name: value for name, value in given.items() if name not in Replica.bought}
    rate = next((name for name in Replica.sized_by if name == unknown or (unknown == Replica.used_share and name in given)), "")
    if not rate or len(others) == len(given) or not is_of_fleet(rate, others, switches):
        return None
    switches = lay_out(others, switches)
    chips = min(_most_chips(ask, name, given, switches) for name in given.keys() - others.keys())
    together, with_prompts = switches.join(*switches.using, Prompts.together), given_with_prompts(others)
    alone = _best_part({**others, rate: 1.0}, switches, "decode", chips)
    both = _best_part({**with_prompts, rate: 1.0}, together, TOGETHER, chips) if Tokens.prompt in others and with_prompts else None
    there = [_answer_at(ask, unknown, others, switches, one, f"the best of {chips:.0f} chips") for one in (alone, both) if one]
    return replace(there[0], with_prompts=there[-1].answers[0] if there[1:] else None) if there and there[-1].answers else None


def _most_chips(ask: _Ask, name: str, given: Mapping[str, Any], switches: Switches) -> float:
    """Return the chips that one given of what is bought says or pays."""
    if name == Replica.all_chips:
        return switches.conventions.read(name, read_limits({name: given[name]})[0][name])
    paid = {other: value for other, value in given.items() if other in paid_with(name)}
    found = ask(Replica.all_chips, {**paid, name: given[name] if is_limit(given[name]) else f"<={given[name]}"}, switches)
    return (found.answers[0].ends[1] or 0.0) if found.answers else 0.0


def _best_part(given: Mapping[str, Any], switches: Switches, phase: str, chips: float) -> Part | None:
    """Return the replicas of a number of chips with the highest rate, or None if none meet the targets."""
    from derive.solving.limits.sizing import best_of_replicas

    asked, sizes = pose_limits(given, switches, None)
    best = best_of_replicas(asked, [size for size in sizes if size <= chips], chips) if asked and chips >= 1 else None
    return best and replace(best, phase=phase)


def lead_with_replicas(ask: _Ask, solution: Solution, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return an answer to a sizing question that leads with the whole replicas that meet the same targets.

    A question sizes a deployment if it asks for chips beside a rate of all replicas and its model has heads. The chips of a replica may be
    given. If it has prompts, there are two deployments: prompts on the same chips, and on chips of their own. Replicas in several stages
    have no such line.
    """
    in_stages = solution.unknown == Replica.all_chips and solution.given.get(Memory.groups, 1.0) != 1.0
    if [one.bound for one in solution.answers] != [LOWER] or solution.spans or in_stages:
        return solution
    size = solution.given.get(Replica.chips) if solution.unknown == Replica.all_chips else None
    others = {name: value for name, value in given.items() if name != Replica.chips}
    switches = lay_out(others, switches)
    found, missed = _find_within_budgets(ask, others, switches, size)
    if missed:
        return refuse_in_place(solution.unknown, missed, solution)
    return lead_with(solution, found, given, switches) if found else solution


def _find_within_budgets(
    ask: _Ask, given: Mapping[str, Any], switches: Switches, size: float | None = None
) -> tuple[list[Deployment], Reason | None]:
    """Return the deployments with the fewest chips within the limits on what is bought or paid, or why there is none."""
    others = _without_budgets(given)
    budgets = {name: value for name, value in given.items() if name not in others}
    found = find_deployments(others, switches, size)
    missed = [_tell_over_budget(ask, others, switches, one, budgets) for one in found]
    kept = [one for one, over in zip(found, missed, strict=True) if not over]
    return kept, None if kept else next(filter(None, missed), None)


def _without_budgets(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the givens without the limits on what is bought or paid."""
    return {name: value for name, value in given.items() if not ((name in Replica.bought or is_paid(name)) and is_limit(value))}


def _tell_over_budget(
    ask: _Ask, given: Mapping[str, Any], switches: Switches, one: Deployment, budgets: Mapping[str, Any]
) -> Reason | None:
    """Return why a deployment is not within a limit on what is bought or paid for all its chips, or None if it is."""
    chips = sum(part.replicas * part.chips_per_replica for part in one.parts)
    for name, sides in read_limits(budgets)[1].items():
        bought, value = name in Replica.bought, chips if name == Replica.all_chips else _pay_for(ask, name, given, switches, chips)
        limits = [Limit(name=name, side=side, value=switches.conventions.read(name, text)) for side, text in sides.items()]
        missed = next((each for each in limits if not (bought and each.side == LOWER) and not each.allows(value)), None)
        if missed and value is not None:
            told = f"{missed.words} is not met: the fewest are {chips:.0f} chips, and {name} is {show(name, value)}"
            return Reason(code="no_solution", violated=(name,), message=told)
    return None


def _pay_for(ask: _Ask, name: str, given: Mapping[str, Any], switches: Switches, chips: float) -> float | None:
    """Return what is paid for all chips at the rate that they are bought for, or None if that is not known."""
    silent, of_a_pass = replace(switches, silent=True), {Batch.name, Tokens.context, *results_of(Replica.chips)} - {*Replica.sized_by}
    kept = paid_with(name) if name in Replica.bought else rates_of_all([Replica.number], given).keys() - of_a_pass
    priced = {other: value for other, value in rates_of_all([Replica.number], given).items() if other in kept} | {Replica.all_chips: chips}
    without_prompts = {other: value for other, value in priced.items() if other != Tokens.prompt}
    return ask(name, without_prompts, silent).first_value or ask(name, priced, silent.join(*silent.using, Prompts.together)).first_value


def _as_least(found: Solution) -> Solution:
    """Return the answers of the fewest chips as bounds: with more chips a cost is more, and a margin less.

    A value that a table has as rated gives no bound.
    """
    side = UPPER if better_side(found.unknown, BETTER) == LOWER else LOWER
    bounded = tuple(replace(one, bound=side) for one in found.answers)
    return found if rated_quantities(found.provenance) else replace(found, answers=bounded)


def _answer_at(ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches, group: Part, why: str) -> Solution:
    """Return the answer for replicas that meet the targets."""
    targets = {name for name in given if better_side(name) and name in results_of(Replica.chips)} - {*Replica.sized_by}
    sized = {name: value for name, value in given.items() if name not in targets}
    if Replica.rate in sized:
        sized[Replica.rate_of_all] = sized.pop(Replica.rate)
    sizes = {Replica.chips: group.chips_per_replica, Replica.number: group.replicas, Batch.name: group.batch[1]}
    if group.phase == TOGETHER and (variant := equation(Prompts.together).variant):
        switches = replace(switches, variants={**switches.variants, variant.group: variant.name})
    rate = next((name for name in Replica.sized_by if name in sized), Batch.name)
    # A rate that is given determines the batch, or else the number of replicas.
    free = {unknown} if unknown == Replica.number else {Batch.name} - {rate if unknown != Replica.used_share else Batch.name}
    found = ask(unknown, {**sized, **{name: value for name, value in sizes.items() if name not in free}}, switches)
    if rate in found.unused:
        # The chips are bought for a rate, and what is left out of the rate is left out of them.
        there = ask(rate, {**{name: value for name, value in sized.items() if name != rate}, **sizes}, switches)
        assumptions = tuple(dict.fromkeys((*found.assumptions, *there.assumptions)))
        found = replace(found.with_doubts({**there.doubts, **found.doubts}), assumptions=assumptions)
    each = f"each of {group.replicas:.0f} replicas" if group.replicas > 1 else "the one replica"
    told = f"at {Replica.chips} = {group.chips_per_replica} for {each}, {why}"
    unused = tuple(name for name in found.unused if name not in Replica.sized_by and results_of(name).isdisjoint((*given, unknown)))
    return replace(found, said=(*found.said, told), unused=unused)
