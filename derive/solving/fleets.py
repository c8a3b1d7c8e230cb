"""Questions on all replicas: a rate of requests is the rate of all of them, and replicas are whole numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from derive.answers import DECODE_ALONE, Answer, WhenRead, next_whole
from derive.catalogue import by_id, equation
from derive.errors import WrongValue
from derive.presets import names_count
from derive.quantities import QUANTITIES, quantity
from derive.records import LOWER, UPPER
from derive.solving.assumptions import NOT_NEEDED
from derive.solving.best_size import chain_elasticities, replace_given, results_of
from derive.solving.directions import as_rated
from derive.solving.fit import SHORT_OF_MEMORY
from derive.solving.limits import FREE, is_limit
from derive.solving.result import Reason, RouteStep, Solution
from derive.solving.whole_numbers import BEST, SO
from derive.units import show

_T = TypeVar("_T")
_Ask = Callable[[str, Mapping[str, Any]], Solution]
"""A question with what is given by name."""

_OF_ONE, _OF_ALL = "requests_per_second", "fleet_requests_per_second"
_REPLICAS = "replicas"
_CHIPS, _ALL_CHIPS = "chips", "fleet_chips"
_OF_WHOLE_ONES = (_ALL_CHIPS, "fleet_cost", "fleet_power", "fleet_electricity_cost")
"""What replicas are bought for: parts of one are not."""
_IN_FLIGHT = "fleet_sequences_in_flight"
_SIZE_IT = (_OF_ONE, _OF_ALL, "fleet_throughput", _IN_FLIGHT)
_PREFILL_OVER_DECODE = "prefill_decode_chip_ratio"
_READ = "kv_time"
"""What needs a batch in the memory of its chips."""
_PRICE, _OF_USE = "chip_price", ("serving.chip_price_from_capex", "serving.rented_chip_price")
"""What a second of a chip costs, and by which equations that is of one in use."""
_IN_USE = "fleet_utilisation"
"""How much of the time chips are in use: it says how many replicas there are, of which every second is paid."""
_ASKED = (_REPLICAS, *_OF_WHOLE_ONES)
"""What nobody asks for who knows the rate of one replica, and how many there are."""

TAKEN_AS_OF_ALL = f"{_OF_ONE} is assumed to be for all replicas together: {_OF_ALL}"


def rates_of_all(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T]:
    """Return the givens with a rate of requests as that of all replicas, if it determines the number of replicas.

    >>> rates_of_all(["replicas"], {"qps": 50, "batch": 64})
    {'fleet_requests_per_second': 50, 'batch': 64}
    >>> rates_of_all(["replicas"], {"qps": 5, "fleet_throughput": "1M token/s"})
    {'qps': 5, 'fleet_throughput': '1M token/s'}
    """
    names = {spelled: quantity(spelled).name for spelled in given}
    asked = {quantity(unknown).name for unknown in unknowns}
    counted = {_REPLICAS, *results_of(_REPLICAS)}.isdisjoint(names.values())
    if asked.isdisjoint(_ASKED) or not counted or _OF_ONE not in names.values():
        return given
    return {_OF_ALL if names[spelled] == _OF_ONE else spelled: value for spelled, value in given.items()}


def names_beside(given: Iterable[str], hardware: str | Iterable[str] | None) -> frozenset[str]:
    """Return the givens by registry name, with the chips of a replica if they are named with a count.

    >>> sorted(names_beside(["qps"], "8xH100:fp8"))
    ['chips', 'requests_per_second']
    """
    chips = (hardware,) if isinstance(hardware, str) else hardware or ()
    return frozenset(quantity(spelled).name for spelled in (*given, *((_CHIPS,) if any(map(names_count, chips)) else ())))


def chips_meant(unknown: str, names: Set[str]) -> str:
    """Return the unknown. Beside a rate of all replicas and the chips of one, chips is for all replicas.

    >>> chips_meant("gpus", {"fleet_throughput", "chips"}), chips_meant("gpus", {"fleet_throughput", "batch"})
    ('fleet_chips', 'gpus')
    """
    both = quantity(unknown).name == _CHIPS and _CHIPS in names
    return _ALL_CHIPS if both and not names.isdisjoint(_SIZE_IT) else unknown


def batch_that_does_not_fit(ask: _Ask, unknown: str, given: Mapping[str, Any], names: Set[str]) -> Solution | None:
    """Return why replicas with a given batch are impossible, if their chips lack memory for it, else None."""
    row = quantity(unknown)
    if row.name not in (*_ASKED, _IN_FLIGHT) or not names >= {"batch", _CHIPS} or _IN_FLIGHT not in (*names, row.name):
        return None
    read = ask(_READ, {spelled: value for spelled, value in given.items() if quantity(spelled).name != _READ})
    short = read.reason and read.reason.code == SHORT_OF_MEMORY
    return replace(read, unknown=row.name, unit=row.unit) if short else None


def with_what_is_paid(solution: Solution, ask: _Ask, given: Mapping[str, Any], beside: Set[str]) -> Solution:
    """Return an answer for one chip or replica by default, with how many a limit on the cost of all pays."""
    names = {spelled: quantity(spelled).name for spelled in given}
    within = [name for spelled, name in names.items() if name in _OF_WHOLE_ONES and is_limit(given[spelled])]
    if len(within) != 1 or not {_REPLICAS, _ALL_CHIPS}.isdisjoint({*beside, solution.unknown}) or solution.unknown == _CHIPS:
        return solution
    of_one = _CHIPS not in beside and solution.provenance.get(_CHIPS, "default") == "default"
    told = {spelled: given[spelled] for spelled, name in names.items() if name in (*within, *_paid_with(within[0]))}
    found = ask(_ALL_CHIPS if of_one else _REPLICAS, told)
    if [one.bound for one in found.answers] != [UPPER] or not found.answers[0].value or found.value <= 1:
        return solution
    one = "one chip, as none are given" if of_one else "one replica, because no number is given"
    pays = f"this is of {one}: {within[0]} as limited pays {found.value:.0f}, give {_CHIPS if of_one else _REPLICAS}={found.value:.0f}"
    if solution.reason is None:
        return replace(solution, warnings=(pays, *solution.warnings), kinds=(with_what_is_paid.__name__, *solution.kinds))
    return replace(solution, reason=replace(solution.reason, message=f"{solution.why_not}\n{pays}"))


def is_of_whole_replicas(unknown: str, given: Mapping[str, Any], names: Set[str]) -> bool:
    """Return whether a result of all replicas needs their number as a whole number, which is not given.

    So many as a rate takes, of what they are bought for. It also needs the most that a limit or a budget leaves.

    >>> is_of_whole_replicas("fleet_chips", {"tp": 8}, {"fleet_requests_per_second", "chips"})
    True
    >>> is_of_whole_replicas("fleet_throughput", {"fleet_power": "<=5MW"}, {"fleet_power"})
    True
    """
    name = quantity(unknown).name
    if _REPLICAS in names or name not in results_of(_REPLICAS):
        return False
    limited = {quantity(spelled).name for spelled, value in given.items() if is_limit(value)}
    if name in _OF_WHOLE_ONES:
        return not names.isdisjoint(_SIZE_IT) or (_CHIPS in names and not names.isdisjoint(_OF_WHOLE_ONES))
    return not names.isdisjoint(_OF_WHOLE_ONES) or not limited.isdisjoint(results_of(_REPLICAS))


def answer_for_replicas(ask: _Ask, unknown: str, given: Mapping[str, Any]) -> Solution:
    """Return the result of the whole replicas that a rate needs or a budget pays. In lists each point has its own number."""
    name = quantity(unknown).name
    sized = ask(_REPLICAS, given)
    if sized.sweep:
        from derive.solving.sweeps import answer_each

        return answer_each(name, sized.sweep.given, lambda at: answer_for_replicas(ask, name, replace_given(given, at)), _REPLICAS)
    if not sized.answers:
        return sized
    one, *others = sized.answers
    side = _side(name, sized, {quantity(spelled).name for spelled in given})
    count = _whole(one, side)
    ends = {next_whole(end, side) for end in (sized.spans.low, sized.spans.high)} if sized.spans else {count}
    if others or count is None or ends != {count}:
        raise WrongValue(f"{name} is of one number of {_REPLICAS}, and here it is several: ask for {_REPLICAS}")
    budgets = [spelled for spelled in given if quantity(spelled).name in _OF_WHOLE_ONES]
    if count < 1:
        short = f"no whole one of the {_REPLICAS}: {' and '.join(budgets)} will do for {show(_REPLICAS, one.ends[1] or 0.0)} of one"
        return replace(
            sized, unknown=name, unit=QUANTITIES[name].unit, answers=(), said=(), reason=Reason(code="no_solution", message=short)
        )
    found = _answer_for_count(ask, name, given, count)
    if not found.answers:
        return found
    merged = _merged(name, sized, found, count, side, _tell_count(count, side, given))
    apart = _prompts_apart(ask, given, sized, found.answers[0].point / count) if name == _ALL_CHIPS and side == LOWER else ()
    both = _whole(sized.with_prompts, side) if sized.with_prompts and name in _OF_WHOLE_ONES else None
    more = _answer_for_count(ask, name, given, both) if both else None
    together = _moved(more.answers[0], one, side, more) if more else found.with_prompts
    return replace(merged, said=(*merged.said, *apart), with_prompts=together)


def _answer_for_count(ask: _Ask, name: str, given: Mapping[str, Any], replicas: float) -> Solution:
    """Return the result of a number of replicas: by price alone if replicas are bought for it, else by all givens within the budgets."""
    if name not in _OF_WHOLE_ONES:
        budgets = {spelled: value for spelled, value in given.items() if quantity(spelled).name in _OF_WHOLE_ONES}
        within = {spelled: value if is_limit(value) else f"<={value}" for spelled, value in budgets.items()}
        return ask(name, {**given, **within, _REPLICAS: replicas})
    paid = {spelled: value for spelled, value in given.items() if quantity(spelled).name in _paid_with(name)}
    of_use = {quantity(spelled).name for spelled in paid} & {"chip_capex", "rented_chip_price"}
    return _price_every_second(ask(name, {**paid, **({_IN_USE: 1.0} if of_use else {}), _REPLICAS: replicas}))


def _merged(name: str, sized: Solution, found: Solution, count: float, side: str, told: str) -> Solution:
    """Return the result of whole replicas, with their number."""
    base, other = (sized, found) if name in _OF_WHOLE_ONES else (found, sized)
    again = any(step.unknown == name for step in sized.route)
    doubts = {kind: text for one in (base, other) for kind, text in zip(one.kinds, one.warnings, strict=True)}
    return replace(
        base,
        unknown=found.unknown,
        unit=found.unit,
        answers=tuple(_moved(each, sized.answers[0], side, found) for each in found.answers),
        spans=found.spans,
        equations=tuple(dict.fromkeys((*found.equations, *sized.equations))),
        given={**found.given, **sized.given, _REPLICAS: count},
        unused=tuple(one for one in sized.unused if one not in found.given),
        assumptions=_join_assumptions(found, sized),
        provenance={**found.provenance, **sized.provenance, _REPLICAS: told},
        warnings=tuple(doubts.values()),
        kinds=tuple(doubts),
        route=tuple(dict.fromkeys((*(_round_step(step, count, side, again) for step in sized.route), *found.route))),
        said=(told, *(text for text in base.said if not text.startswith((BEST, SO)))),
    )


def _prompts_apart(ask: _Ask, given: Mapping[str, Any], sized: Solution, chips: float) -> Iterator[str]:
    """Yield how many chips more the prompts need if they have chips of their own."""
    if DECODE_ALONE not in sized.kinds or FREE not in sized.given:
        return
    of_all = {_OF_ONE, *results_of(_REPLICAS)}
    one = {spelled: value for spelled, value in given.items() if quantity(spelled).name not in of_all and not is_limit(value)}
    ratio = ask(_PREFILL_OVER_DECODE, replace_given(one, {FREE: sized.given[FREE]}))
    decode = next((step.value for step in reversed(sized.route) if step.unknown == _REPLICAS and step.value), sized.answers[0].ends[0])
    if [found.kind for found in ratio.answers] == ["point"]:
        more = chips * next_whole(decode * ratio.answers[0].point, LOWER)
        both = more + chips * next_whole(decode, LOWER)
        yield f"with prompts on chips of their own {more:.0f} more, {both:.0f} in all ({_PREFILL_OVER_DECODE})"


def _side(name: str, sized: Solution, names: Set[str]) -> str:
    """Return the side to which replicas are rounded: up for a rate, down for a budget or another limit."""
    if name in _OF_WHOLE_ONES and not names.isdisjoint(_SIZE_IT):
        return LOWER
    return LOWER if sized.answers[0].bound == LOWER or sized.answers[0].ends[1] is None else UPPER


def _tell_count(count: float, side: str, given: Mapping[str, Any]) -> str:
    """Return the number of replicas in words, with what determines it."""
    if side == LOWER:
        return f"at {_REPLICAS} = {count:.0f}, the fewest whole ones"
    ends = {name: value for name, value in given.items() if quantity(name).name in _OF_WHOLE_ONES or is_limit(value)}
    within = [
        f"{name}{value if is_limit(value) else f'={value}'}" for name, value in ends.items() if quantity(name).name in results_of(_REPLICAS)
    ]
    return f"at {_REPLICAS} = {count:.0f}, the most whole ones within {' and '.join(within)}"


def _join_assumptions(found: Solution, sized: Solution) -> tuple[str, ...]:
    """Return the assumptions of both. An equation that was named counts as unused if neither uses it."""
    texts = dict.fromkeys((*found.assumptions, *sized.assumptions))
    return tuple(text for text in texts if not text.endswith(NOT_NEEDED) or text in {*found.assumptions} & {*sized.assumptions})


def _price_every_second(found: Solution) -> Solution:
    """Return the result of owned chips at a price for every second: the number of replicas includes the waiting."""
    step = next((step for step in found.route if step.unknown == _PRICE), None)
    if step is None or step.value is None:
        return found
    moved = found.answers[0].elasticities
    return replace(
        found,
        answers=(replace(found.answers[0], elasticities=WhenRead(lambda: {name: by for name, by in moved.items() if name != _IN_USE})),),
        route=tuple(step for step in found.route if step.unknown != _PRICE),
        given={**found.given, _PRICE: step.value},
        provenance={**found.provenance, _PRICE: "of an owned chip, for any second, in use or not"},
    )


@cache
def _paid_with(name: str) -> frozenset[str]:
    """Return the inputs of a result of replicas and of the chip price that do not determine the number of replicas."""
    rows = (*(row for row in by_id().values() if row.defines in (_ALL_CHIPS, name)), *map(equation, _OF_USE))
    return frozenset(symbol for row in rows for symbol in row.symbols) - {*_OF_WHOLE_ONES, _REPLICAS, _IN_USE}


def _moved(found: Answer, replicas: Answer, side: str, of: Solution) -> Answer:
    """Return the result of the replicas with their bound and their sensitivities. A value that a table has as rated gives no bound."""
    bound = replicas.bound if replicas.kind == "point" else side
    by = chain_elasticities(found, _REPLICAS, replicas)
    bound = found.bound if as_rated(of.provenance) else bound or found.bound
    return replace(found, regime=replicas.regime or found.regime, bound=bound, elasticities=by)


def _round_step(step: RouteStep, count: float, side: str, again: bool) -> RouteStep:
    """Return a step of the route with the replicas as a whole number."""
    if step.unknown != _REPLICAS or step.value is None:
        return step
    made = f"{step.value:.6g}" if again else step.formula
    return replace(step, value=count, formula=made and f"{'ceiling' if side == LOWER else 'floor'}({made})")


def _whole(replicas: Answer, side: str) -> float | None:
    """Return the fewest whole replicas, at least one, or the most, or None if there is no such end."""
    low, high = replicas.ends
    if side == LOWER:
        return max(1.0, next_whole(low, LOWER))
    return None if high is None else next_whole(high, UPPER)
