"""Questions on all replicas: a rate of requests is the rate of all of them, and replicas are whole numbers."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from derive.answers import Answer, next_whole
from derive.catalogue import by_id
from derive.errors import WrongValue
from derive.meanings import Waiting
from derive.preset_record import names_count
from derive.records import LOWER, UPPER
from derive.roles import Replica
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.engine.directions import rated_quantities
from derive.solving.limits.best_size import Ask, End, add_size, results_of
from derive.solving.limits.limits import FREE
from derive.solving.limits.within_limits import refuse_in_place
from derive.solving.question.givens import is_limit
from derive.solving.result import Reason, RouteStep, Solution, chain_slopes
from derive.units import show

_T = TypeVar("_T")

TAKEN_AS_OF_ALL = f"{Replica.rate} is assumed to be for all replicas together: {Replica.rate_of_all}"


def rates_of_all(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T]:
    """Return the givens with a rate of requests as the rate of all replicas, if it determines the number of replicas.

    >>> rates_of_all(["replicas"], {"requests_per_second": 50, "batch": 64})
    {'fleet_requests_per_second': 50, 'batch': 64}
    >>> rates_of_all(["replicas"], {"requests_per_second": 5, "fleet_throughput": "1M token/s"})
    {'requests_per_second': 5, 'fleet_throughput': '1M token/s'}
    """
    counted = given.keys().isdisjoint((Replica.number, *results_of(Replica.number)))
    if {*unknowns}.isdisjoint((Replica.number, *Replica.bought)) or not counted or Replica.rate not in given:
        return given
    return {Replica.rate_of_all if name == Replica.rate else name: value for name, value in given.items()}


def names_beside(given: Iterable[str], hardware: str | Iterable[str] | None) -> frozenset[str]:
    """Return the names of the givens, with the chips of a replica if they are named with a count.

    >>> sorted(names_beside(["requests_per_second"], "8xH100:fp8"))
    ['chips', 'requests_per_second']
    """
    chips = (hardware,) if isinstance(hardware, str) else hardware or ()
    return frozenset((*given, *((Replica.chips,) if any(map(names_count, chips)) else ())))


def chips_meant(unknown: str, names: Set[str]) -> str:
    """Return the unknown. Beside a rate of all replicas and the chips of one replica, chips means all chips.

    >>> chips_meant("chips", {"fleet_throughput", "chips"}), chips_meant("chips", {"fleet_throughput", "batch"})
    ('fleet_chips', 'chips')
    """
    both = unknown == Replica.chips and Replica.chips in names
    return Replica.all_chips if both and not names.isdisjoint(Replica.sized_by) else unknown


def batch_that_does_not_fit(ask: Ask, unknown: str, given: Mapping[str, Any], names: Set[str]) -> Solution | None:
    """Return why replicas with a given batch are impossible, if their chips lack memory for it, else None."""
    sequences = Replica.sequences
    sized = unknown in (Replica.number, sequences, *Replica.bought) and sequences in (*names, unknown)
    if not sized or not names >= {FREE, Replica.chips}:
        return None
    read = ask(Replica.needs_room, {name: value for name, value in given.items() if name != Replica.needs_room})
    return refuse_in_place(unknown, read.refusal, read) if read.is_refused_for(SHORT_OF_MEMORY) else None


def warn_of_budget(solution: Solution, ask: Ask, given: Mapping[str, Any], beside: Set[str]) -> Solution:
    """Return an answer for one chip or replica by default, with how many a limit on the cost of all pays."""
    within = [name for name, value in given.items() if name in Replica.bought and is_limit(value)]
    counted = {Replica.number, Replica.all_chips, Replica.chips}
    if len(within) != 1 or solution.unknown in counted or Replica.number in {*beside, *solution.given} or Replica.all_chips in beside:
        return solution
    of_one = Replica.chips not in beside and solution.provenance.get(Replica.chips, "default") == "default"
    told = {name: value for name, value in given.items() if name in (*within, *_paid_with(within[0]))}
    found = ask(Replica.all_chips if of_one else Replica.number, told)
    if [one.bound for one in found.answers] != [UPPER] or not found.answers[0].value or found.value <= 1:
        return solution
    one, more = ("one chip, because none is given", Replica.chips) if of_one else ("one replica, because none is given", Replica.number)
    pays = f"this is for {one}: the limit on {within[0]} pays for {found.value:.0f}, give {more}={found.value:.0f}"
    if solution.reason is None:
        return solution.warn(warn_of_budget.__name__, pays)
    return replace(solution, reason=replace(solution.reason, message=f"{solution.why_not}\n{pays}"))


def is_of_whole_replicas(unknown: str, given: Mapping[str, Any], names: Set[str]) -> bool:
    """Return whether a result of all replicas needs their number as a whole number, which is not given.

    So many as a rate takes, of what they are bought for. It also needs the most that a limit or a budget leaves.

    >>> is_of_whole_replicas("fleet_chips", {"chips": 8}, {"fleet_requests_per_second", "chips"})
    True
    >>> is_of_whole_replicas("fleet_throughput", {"fleet_power": "<=5MW"}, {"fleet_power"})
    True
    """
    results = results_of(Replica.number)
    if Replica.number in names or unknown not in results:
        return False
    if unknown in Replica.bought:
        return not names.isdisjoint(Replica.sized_by) or (Replica.chips in names and not names.isdisjoint(Replica.bought))
    limited = {name for name, value in given.items() if is_limit(value)}
    return not names.isdisjoint(Replica.bought) or not limited.isdisjoint(results)


def answer_for_replicas(ask: Ask, name: str, given: Mapping[str, Any]) -> Solution:
    """Return the result of the whole replicas that a rate needs or a budget pays."""
    sized = ask(Replica.number, given)
    if sized.reason:
        return refuse_in_place(name, sized.reason, sized)
    one, *others = sized.answers
    by_a_rate = name in Replica.bought and not given.keys().isdisjoint(Replica.sized_by)
    side = LOWER if by_a_rate or one.bound == LOWER or one.ends[1] is None else UPPER
    if others:
        raise WrongValue(f"{name} is of one number of {Replica.number}, and here it is several: ask for {Replica.number}")
    count = _whole_replicas(one.ends[side == UPPER], side)
    if count < 1:
        budgets = " and ".join(name for name in given if name in Replica.bought)
        short = f"no whole replica: {budgets} pays {show(Replica.number, one.ends[1] or 0.0)} of one"
        return refuse_in_place(name, Reason(code="no_solution", message=short), sized)
    found = _answer_for_count(ask, name, given, count)
    if not found.answers:
        return found
    merged = _with_replicas(found, sized, End(size=Replica.number, value=count, of=sized, side=side), given)
    both = sized.with_prompts and name in Replica.bought and sized.with_prompts.ends[side == UPPER]
    more = _answer_for_count(ask, name, given, _whole_replicas(both, side)) if both else None
    together = _scale_answer(more.answers[0], one, side, more) if more else found.with_prompts
    return replace(merged, with_prompts=together)


def _whole_replicas(end: float | None, side: str) -> float:
    """Return the fewest whole replicas, at least one, or the most."""
    return max(1.0, next_whole(end or 0.0, LOWER)) if side == LOWER else next_whole(end or 0.0, UPPER)


def _answer_for_count(ask: Ask, name: str, given: Mapping[str, Any], replicas: float) -> Solution:
    """Return the result of a number of replicas: by price alone if replicas are bought for it, else by all givens within the budgets."""
    if name not in Replica.bought:
        within = {bought: f"<={value}" for bought, value in given.items() if bought in Replica.bought and not is_limit(value)}
        return ask(name, {**given, **within, Replica.number: replicas})
    paid = {other: value for other, value in given.items() if other in _paid_with(name)}
    waits = not paid.keys().isdisjoint(Replica.prices)
    return ask(name, {**paid, **({Replica.used_share: 1.0} if waits else {}), Replica.number: replicas})


def _with_replicas(found: Solution, sized: Solution, end: End, given: Mapping[str, Any]) -> Solution:
    """Return the result of whole replicas, with all that their number rests on."""
    again = any(step.unknown == found.unknown for step in sized.route)
    which = "fewest whole ones" if end.side == LOWER else f"most whole ones within {_limits_in_words(given)}"
    told = f"at {end.size} = {end.value:.0f}, the {which}"
    base = sized if found.unknown in Replica.bought else found
    merged = add_size(found, end)
    return replace(
        merged,
        answers=tuple(_scale_answer(each, sized.answers[0], end.side, found) for each in found.answers),
        given={**merged.given, Replica.number: end.value},
        unused=tuple(one for one in sized.unused if one not in found.given),
        provenance={**merged.provenance, Replica.number: told},
        route=tuple(dict.fromkeys((*(_round_step(step, end, again) for step in sized.route), *found.route))),
        said=(told, *base.said),
    )


def _limits_in_words(given: Mapping[str, Any]) -> str:
    """Return the budgets and limits on results of all replicas in words."""
    within = {name: value for name, value in given.items() if name in results_of(Replica.number)}
    texts = {name: value if is_limit(value) else f"={value}" for name, value in within.items() if is_limit(value) or name in Replica.bought}
    return " and ".join(f"{name}{text}" for name, text in texts.items())


@cache
def _paid_with(name: str) -> frozenset[str]:
    """Return the inputs of a result of replicas and of the chip price that do not determine the number of replicas."""
    of_use = {Waiting.price, Replica.used_share}
    rows = (row for row in by_id().values() if row.defines in (Replica.all_chips, name) or of_use <= {*row.symbols})
    return frozenset(symbol for row in rows for symbol in row.symbols) - {*Replica.bought, Replica.number, Replica.used_share}


def _scale_answer(found: Answer, replicas: Answer, side: str, of: Solution) -> Answer:
    """Return the result of the replicas with their bound and their sensitivities. A value that a table has as rated gives no bound."""
    bound = replicas.bound if replicas.kind == "point" else side
    by = chain_slopes(found.elasticities, Replica.number, replicas.elasticities)
    bound = found.bound if rated_quantities(of.provenance) else bound or found.bound
    return replace(found, regime=replicas.regime or found.regime, bound=bound, elasticities=by)


def _round_step(step: RouteStep, end: End, again: bool) -> RouteStep:
    """Return a step of the route with the replicas as a whole number."""
    if step.unknown != end.size or step.value is None:
        return step
    made = f"{step.value:.6g}" if again else step.formula
    return replace(step, value=end.value, formula=made and f"{'ceiling' if end.side == LOWER else 'floor'}({made})")
