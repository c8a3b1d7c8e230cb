"""A rate of requests where replicas, all their chips or what these cost are asked for: it is that of all of them, and not of one."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from math import ceil
from typing import Any, TypeVar

from derive.answers import Answer, WhenRead
from derive.catalogue import by_id, equation
from derive.errors import WrongUnit, WrongValue
from derive.quantities import meant_beside, own_unit, quantity
from derive.records import LOWER, UPPER
from derive.requirements import HOLDS
from derive.solving.at_best import results_of, with_other
from derive.solving.fit import SHORT_OF_MEMORY
from derive.solving.result import RouteStep, Solution
from derive.solving.whole_numbers import BEST
from derive.units import parse, signed

_T = TypeVar("_T")

_OF_ONE, _OF_ALL = "requests_per_second", "fleet_requests_per_second"
_REPLICAS = "replicas"
_CHIPS, _ALL_CHIPS = "chips", "fleet_chips"
_OF_WHOLE_ONES = (_ALL_CHIPS, "fleet_cost", "fleet_power", "fleet_electricity_cost")
"""What replicas are bought for: parts of one are not."""
_IN_FLIGHT = "fleet_sequences_in_flight"
_SIZE_IT = (_OF_ONE, _OF_ALL, "fleet_throughput", _IN_FLIGHT)
_PRICE, _OWNED = "chip_price", "serving.chip_price_from_capex"
_IN_USE = "fleet_utilisation"
"""How much of the time chips are in use: it says how many replicas there are, of which every second is paid."""
_ASKED = (_REPLICAS, *_OF_WHOLE_ONES)
"""What nobody asks for who knows the rate of one replica, and how many there are."""

TAKEN_AS_OF_ALL = f"{_OF_ONE} is taken as that of all replicas together: {_OF_ALL}"


def of_all_replicas(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T]:
    """What is given, a rate of requests by its name as that of the fleet where that is what decides how many replicas there are.

    >>> of_all_replicas(["replicas"], {"qps": 50, "batch": 64})
    {'fleet_requests_per_second': 50, 'batch': 64}
    >>> of_all_replicas(["replicas"], {"qps": 5, "fleet_throughput": "1M token/s"})
    {'qps': 5, 'fleet_throughput': '1M token/s'}
    """
    names = {spelled: quantity(spelled).name for spelled in given}
    asked = {quantity(unknown).name for unknown in unknowns}
    counted = {_REPLICAS, *results_of(_REPLICAS)}.isdisjoint(names.values())
    if asked.isdisjoint(_ASKED) or not counted or _OF_ONE not in names.values():
        return given
    return {_OF_ALL if names[spelled] == _OF_ONE else spelled: value for spelled, value in given.items()}


_LASTS = "deployment_time"
_PAID_OVER_IT = ("fleet_cost", "fleet_electricity_cost")
_BY_THE_TIME = re.compile(r"(?P<money>[^/]*?)\s*(?:/|\bper\b)\s*(?P<time>[A-Za-z]+)\s*")


def over_a_time(unknowns: Iterable[str], given: Mapping[str, _T]) -> Mapping[str, _T | str]:
    """What is given, money of a fleet by the hour or the month as that of so long a time; asked for in such a word, it is of that time.

    Raises WrongValue for money by one time beside another.

    >>> over_a_time(["chips"], {"fleet_cost": "<=$50/h"}), over_a_time(["cost_per_month"], {"chips": 8})
    ({'fleet_cost': '<=$50', 'deployment_time': '1 h'}, {'chips': 8, 'deployment_time': '1 month'})
    """
    texts = {spelled: value for spelled, value in given.items() if isinstance(value, str) and quantity(spelled).name in _PAID_OVER_IT}
    apart = {spelled: found for spelled, text in texts.items() if (found := _BY_THE_TIME.fullmatch(text)) and _is_a_time(found["time"])}
    units = {word: unit.partition("/")[2] for word in unknowns if (unit := own_unit(word)) and unit.startswith("USD/")}
    of_words = [unit for word, unit in units.items() if meant_beside(word, given) in _PAID_OVER_IT]
    times = {f"1 {time}" for time in (*of_words, *(found["time"] for found in apart.values()))}
    if not times:
        return given
    lasts = {parse(_LASTS, time) for time in times}
    if len(lasts) > 1 or any(quantity(spelled).name == _LASTS for spelled in given):
        raise WrongValue(f"money of a fleet by the time ({', '.join(sorted(times))}) is of one time: leave {_LASTS} and others out")
    return {**given, **{spelled: found["money"] for spelled, found in apart.items()}, _LASTS: min(times)}


def _is_a_time(word: str) -> bool:
    try:
        parse(_LASTS, f"1 {word}")
    except WrongUnit:
        return False
    return True


def chips_meant(unknown: str, given: Iterable[str]) -> str:
    """What is asked for: beside a rate of a fleet and the chips of a replica those of all replicas, where chips are asked for.

    >>> chips_meant("gpus", ["qps", "tp"]), chips_meant("gpus", ["qps", "batch"])
    ('fleet_chips', 'gpus')
    """
    names = {quantity(spelled).name for spelled in given}
    both = quantity(unknown).name == _CHIPS and _CHIPS in names
    return _ALL_CHIPS if both and not names.isdisjoint(_SIZE_IT) else unknown


def batch_that_does_not_fit(ask: Callable[[str, Mapping[str, Any]], Solution], unknown: str, given: Mapping[str, Any]) -> Solution | None:
    """Why there are no replicas of a batch that is given, whose chips are short of memory for it; None where all is well."""
    names, row = {quantity(spelled).name for spelled in given}, quantity(unknown)
    if row.name not in (*_ASKED, _IN_FLIGHT) or not names >= {"batch", _CHIPS} or _IN_FLIGHT not in (*names, row.name):
        return None
    read = ask("kv_time", given)
    short = read.reason and read.reason.code == SHORT_OF_MEMORY
    return replace(read, unknown=row.name, unit=row.unit) if short else None


def with_what_is_paid(solution: Solution, ask: Callable[[str, Mapping[str, Any]], Solution], given: Mapping[str, Any]) -> Solution:
    """A refusal or an answer on the one chip, or of the one replica, by default, where a limit on what a fleet costs pays more of them:
    how many it pays is said.
    """
    names = {spelled: quantity(spelled).name for spelled in given}
    within = [
        name for spelled, name in names.items() if name in _OF_WHOLE_ONES and isinstance(given[spelled], str) and signed(given[spelled])
    ]
    if len(within) != 1 or not {_REPLICAS, _ALL_CHIPS}.isdisjoint({*names.values(), solution.unknown}) or solution.unknown == _CHIPS:
        return solution
    of_one = _CHIPS not in names.values() and solution.provenance.get(_CHIPS, "default") == "default"
    told = {spelled: given[spelled] for spelled, name in names.items() if name in (*within, *_paid_with(within[0]))}
    found = ask(_ALL_CHIPS if of_one else _REPLICAS, told)
    if [one.bound for one in found.answers] != [UPPER] or not found.answers[0].value or found.value <= 1:
        return solution
    one = "one chip, as none are given" if of_one else "one replica, as nobody says how many"
    pays = f"this is of {one}: {within[0]} as limited pays {found.value:.0f}, give {_CHIPS if of_one else _REPLICAS}={found.value:.0f}"
    if solution.reason is None:
        return replace(solution, warnings=(pays, *solution.warnings), kinds=(with_what_is_paid.__name__, *solution.kinds))
    return replace(solution, reason=replace(solution.reason, message=f"{solution.why_not}\n{pays}"))


def is_of_whole_replicas(unknown: str, given: Iterable[str]) -> bool:
    """Whether it takes whole replicas, which nobody counts, to say what all of them come to.

    >>> is_of_whole_replicas("fleet_chips", ["qps", "tp"]), is_of_whole_replicas("fleet_chips", ["replicas", "tp"])
    (True, False)
    """
    names = {quantity(spelled).name for spelled in given}
    return quantity(unknown).name in _OF_WHOLE_ONES and _REPLICAS not in names and not names.isdisjoint(_SIZE_IT)


def of_whole_replicas(ask: Callable[[str, Mapping[str, Any]], Solution], unknown: str, given: Mapping[str, Any]) -> Solution:
    """What as many whole replicas come to as a rate takes; of lists each point has replicas of its own."""
    name = quantity(unknown).name
    sized = ask(_REPLICAS, given)
    if sized.sweep:
        from derive.solving.sweeps import each_by_itself

        return each_by_itself(name, sized.sweep.given, lambda at: of_whole_replicas(ask, name, with_other(given, at)), _REPLICAS)
    if not sized.answers:
        return sized
    one, *others = sized.answers
    count = _whole(one.ends[0])
    ends = (sized.spans.low, sized.spans.high) if sized.spans else (count,)
    if others or count is None or {_whole(end) for end in ends} != {count}:
        raise WrongValue(f"{name} is of one number of {_REPLICAS}, and here it is several: ask for {_REPLICAS}")
    paid = {spelled: value for spelled, value in given.items() if quantity(spelled).name in _paid_with(name)}
    owned = {_IN_USE: 1.0} if "chip_capex" in {quantity(spelled).name for spelled in paid} else {}

    def of(replicas: float) -> Solution:
        return _of_any_second(ask(name, {**paid, **owned, _REPLICAS: replicas}))

    found = of(count)
    if not found.answers:
        return found
    told = f"at {_REPLICAS} = {count:.0f}, the fewest whole ones"
    together = sized.with_prompts and _whole(sized.with_prompts.ends[0])
    return replace(
        sized,
        unknown=found.unknown,
        unit=found.unit,
        answers=_bounded(found, one),
        spans=found.spans,
        equations=tuple(dict.fromkeys((*found.equations, *sized.equations))),
        given={**found.given, **sized.given, _REPLICAS: count},
        unused=tuple(name for name in sized.unused if name not in found.given),
        assumptions=tuple(dict.fromkeys((*found.assumptions, *sized.assumptions))),
        provenance={**found.provenance, **sized.provenance, _REPLICAS: told},
        warnings=(*sized.warnings, *found.warnings),
        kinds=(*sized.kinds, *found.kinds),
        route=(*(_in_whole_ones(step, count) for step in sized.route), *found.route),
        said=(told, *(text for text in sized.said if not text.startswith(BEST))),
        with_prompts=_bounded(of(together), one)[0] if together else None,
    )


def _of_any_second(found: Solution) -> Solution:
    """What owned chips come to, at a price of any second: the waiting is in the number of replicas already."""
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
    """What a result of replicas is made of, and the price of a chip, that says nothing of how many replicas there are."""
    rows = (*(row for row in by_id().values() if row.defines in (_ALL_CHIPS, name)), equation(_OWNED))
    return frozenset(symbol for row in rows for symbol in row.symbols) - {*_OF_WHOLE_ONES, _REPLICAS, _IN_USE}


def _bounded(found: Solution, replicas: Answer) -> tuple[Answer, ...]:
    """What so many replicas come to, or more where these have no greatest number."""
    bound = replicas.bound if replicas.kind == "point" else LOWER
    return tuple(replace(one, regime=replicas.regime, bound=bound) for one in found.answers)


def _in_whole_ones(step: RouteStep, count: float) -> RouteStep:
    """A step of the route, which says of replicas that there are whole ones."""
    if step.unknown != _REPLICAS or step.value is None:
        return step
    return replace(step, value=count, formula=step.formula and f"ceiling({step.formula})")


def _whole(replicas: float | None) -> float | None:
    """The fewest whole replicas; None where there is no least."""
    return None if replicas is None else float(max(1, ceil(replicas * (1 - HOLDS))))
