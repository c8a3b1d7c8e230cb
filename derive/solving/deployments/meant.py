"""A question on a deployment as people mean it: of how many replicas, at which size, with prompts, with which hours paid."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from derive.catalogue import equation
from derive.quantities import quantity
from derive.records import UPPER
from derive.roles import Replica, Waiting, meaning_of
from derive.solving.checks.targets import better_side
from derive.solving.deployments.prompts import answer_beside_prompts
from derive.solving.deployments.replicas import (
    TAKEN_AS_OF_ALL,
    answer_for_replicas,
    chips_meant,
    is_of_whole_replicas,
    names_beside,
    rates_of_all,
    warn_of_budget,
)
from derive.solving.engine.one_equation import value_inside
from derive.solving.limits.as_typed import answer_within_inputs, answer_within_limits
from derive.solving.limits.best_size import Ask, answer_at_largest_batch, answer_together
from derive.solving.limits.limits import FREE
from derive.solving.one_question import answer_question
from derive.solving.question.conventions import USUAL_CONVENTIONS, Switches
from derive.solving.question.defaults import SHARES
from derive.solving.question.givens import as_typed, is_limit
from derive.solving.question.propagation import quantities_behind, results_of, usual_definitions
from derive.solving.question.questions import resolve_price_word
from derive.solving.result import OR, Solution, known_answer
from derive.units import show

TAKEN_AS_RENT = f"{Waiting.price} is used as {Waiting.rent}, which is also paid while chips are idle"

_Ask = Callable[..., Solution]
"""A question as people mean it: the unknown, the givens by name, the switches, and what is asked for beside it."""


def answer_as_meant(ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches, beside: Collection[str]) -> Solution:
    """Return the answer to a question as people mean it. A quantity that is asked for `beside` it has its own meaning."""

    def ask_with(name: str, values: Mapping[str, Any], silent: bool = False) -> Solution:
        return _answer_without_input_limits(ask, name, values, replace(switches, silent=silent or switches.silent), beside)

    return answer_within_inputs(ask_with, unknown, given, switches.conventions.read)


def _answer_without_input_limits(
    ask: _Ask, unknown: str, given: Mapping[str, Any], switches: Switches, beside: Collection[str]
) -> Solution:
    """Return the answer to a question in which no limit is on an input."""
    names = names_beside(given, switches.hardware)
    unknown = chips_meant(unknown, names)
    taken = rates_of_all([unknown], given)

    def ask_alone(values: Mapping[str, Any], switches: Switches) -> Solution:
        return answer_within_limits(partial(answer_question, switches=switches), unknown, values, switches.conventions.read)

    ask_again = partial(ask, switches=switches)
    ask_beside_prompts = partial(answer_beside_prompts, ask_alone, switches=switches)
    if is_of_whole_replicas(unknown, taken, names):
        solution = answer_for_replicas(ask_again, unknown, taken)
        if solution.is_refused_for("missing_givens"):
            # The cost of all tokens needs no number of replicas.
            by_equations = ask_beside_prompts(taken)
            solution = by_equations if by_equations.answers and not by_equations.unused else solution
    else:
        solution = ask_beside_prompts(taken)
        solution = answer_at_largest_batch(ask_again, solution, taken) or solution
    named = bool(switches.hardware or switches.model)
    solution = warn_of_budget(answer_meaning(solution, given, named, ask_again, beside), ask_again, given, names)
    solution = include_waiting(solution, given, ask, switches)
    return _warn_of_all(solution) if taken is not given else solution


def with_times_as_targets(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the givens with each time of a pass as a limit."""
    times = {name for name in results_of(FREE) & given.keys() if better_side(name) == UPPER and not is_limit(given[name])}
    return {name: f"<={value}" if name in times else value for name, value in given.items()}


def answer_several(ask: _Ask, unknowns: Sequence[str], given: Mapping[str, Any], switches: Switches) -> tuple[Solution, ...]:
    """Return the answers to several questions. A size among them comes first, and the others are answered at its better end."""
    names = names_beside(given, switches.hardware)
    unknowns = tuple(dict.fromkeys(resolve_price_word(chips_meant(name, names), switches.using) for name in unknowns))
    taken = rates_of_all(unknowns, given)
    ask_beside = partial(ask, switches=replace(switches, measured=not {*SHARES}.isdisjoint(unknowns)), beside=unknowns)
    found = answer_together(ask_beside, unknowns, taken)
    best = next((one for one in found if one.provenance.get(FREE, "").startswith("at ")), None)
    if best and FREE not in unknowns:
        # The batch at which one of them was answered is that of the others too.
        found = answer_together(ask_beside, (*unknowns, FREE), taken, at_end=True)[:-1]
    elif best:
        at_best = known_answer(FREE, best.given[FREE], best.provenance[FREE])
        found = tuple(at_best if one.unknown == FREE and one.reason else one for one in found)
    return tuple(map(_warn_of_all, found)) if taken is not given else tuple(found)


def _warn_of_all(solution: Solution) -> Solution:
    """Return an answer with the warning that a rate of requests counts as the rate of all replicas."""
    return solution.warn(rates_of_all.__name__, TAKEN_AS_OF_ALL)


def answer_meaning(solution: Solution, given: Mapping[str, Any], named: bool, ask: Ask, beside: Collection[str]) -> Solution:
    """Return the answer to the quantity that is meant, in place of a refusal or beside an answer that does not use a given.

    `named` says that a chip or a model is named. A quantity that is asked for `beside` it is not meant by it.
    """
    meaning = meaning_of(solution.unknown, given)
    if not meaning or meaning.means in (*beside, *given) or (meaning.alone and named):
        return solution
    lacks = bool(solution.reason and solution.reason.missing)
    if lacks == bool(meaning.told):
        return solution
    found = ask(meaning.means, given)
    own = quantities_behind(meaning.asked, usual_definitions()) if meaning.alone else meaning.beside
    if not found.answers or not own.isdisjoint(found.unused):
        return solution
    if not meaning.told:
        return found.warn(answer_meaning.__name__, f"{meaning.asked} is answered with {meaning.means}{meaning.why}")
    if [one.ends for one in found.answers] == [one.ends for one in solution.answers]:
        return solution
    both = found.answers[0], *filter(None, [found.with_prompts])
    values = (f"{show(meaning.means, value_inside(one))}{OR[one.bound]}" for one in both)
    value = " for decode alone, ".join(values) + (" with prompts" if found.with_prompts else "")
    unused = tuple(name for name in solution.unused if name in found.unused)
    return replace(solution, said=(*solution.said, f"{meaning.told}: {meaning.means} = {value}"), unused=unused)


def include_waiting(solution: Solution, given: Mapping[str, Any], ask: _Ask, switches: Switches) -> Solution:
    """Return the answer with waiting hours in the cost, if its own cost leaves them out or pays for them twice."""
    share, price, rent = Replica.used_share, Waiting.price, Waiting.rent
    rows = [equation(id) for id in solution.equations]
    paid_for = not Waiting.paid_for_by.isdisjoint(row.id for row in rows)
    if solution.unknown == Waiting.of_all_hours and share in solution.given and paid_for:
        told = f"{Waiting.of_all_hours} is {Waiting.of_use} here, because the price of a second in use also pays for idle seconds"
        return replace(ask(Waiting.of_use, given, switches), unknown=Waiting.of_all_hours).warn(include_waiting.__name__, told)
    # A time or a rate does not depend on waiting hours, unless a margin gives a cost.
    of_money = "USD" in quantity(solution.unknown).unit or Waiting.margin in (solution.unknown, *given)
    idle = share in solution.unused or (share in given and solution.is_refused_for("no_solution"))
    if of_money and idle and (of_use := Waiting.made_of_use & given.keys()):
        return _answer_over_all_hours(solution, given, ask, switches, sorted(of_use))
    costs = of_money and Waiting.of_use not in (solution.unknown, *given) and any(not Waiting.costs.isdisjoint(row.symbols) for row in rows)
    counted = paid_for or any(Waiting.of_all_hours in row.symbols for row in rows)
    left_out = costs and share in given and not counted
    if solution.unknown == price and left_out and rent not in given:
        found = ask(rent, given, switches)
        return replace(found, unknown=price).warn(include_waiting.__name__, TAKEN_AS_RENT) if found.answers else solution
    sought = solution.unknown == share and solution.reason is not None and price in given
    paid = given.get(price, solution.given.get(price))
    if rent in given or paid is None or not (left_out or sought):
        return solution
    others = {name: value for name, value in given.items() if name != price}
    # The price is given here, and is not read from the table.
    at_given_price = replace(switches, conventions=replace(switches.conventions, price=USUAL_CONVENTIONS.price))
    found = ask(solution.unknown, {**others, rent: paid}, at_given_price)
    if (found.reason and found.reason.missing) or share in found.unused:
        return solution
    source = {rent: solution.provenance[price]} if price in solution.provenance else {}
    return replace(found, provenance={**found.provenance, **source}).warn(include_waiting.__name__, TAKEN_AS_RENT)


def _answer_over_all_hours(solution: Solution, given: Mapping[str, Any], ask: _Ask, switches: Switches, costs: Sequence[str]) -> Solution:
    """Return the answer with each given cost of chips in use as the cost over all hours, or the answer as it is without one."""
    read, share = switches.conventions.read, Replica.used_share
    if any(is_limit(given[name]) for name in (share, *costs)):
        return solution
    used = read(share, given[share])
    others = {name: value for name, value in given.items() if name != share}
    found = ask(
        solution.unknown, {**others, **{name: as_typed(name, read(name, given[name]) / used, switches) for name in costs}}, switches
    )
    told = f"{' and '.join(costs)} {'is' if len(costs) == 1 else 'are'} for chips in use, and divided by {share} to pay for idle hours"
    return found.warn(include_waiting.__name__, told) if found.answers else solution
