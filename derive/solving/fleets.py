"""A rate of requests where replicas, or all their chips, are asked for: it is that of all of them, and not of one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any, TypeVar

from derive.answers import Answer
from derive.errors import WrongValue
from derive.quantities import quantity
from derive.records import LOWER
from derive.requirements import HOLDS
from derive.solving.at_best import results_of, with_other
from derive.solving.result import RouteStep, Solution
from derive.solving.whole_numbers import BEST

_T = TypeVar("_T")

_OF_ONE, _OF_ALL = "requests_per_second", "fleet_requests_per_second"
_REPLICAS = "replicas"
_CHIPS, _ALL_CHIPS = "chips", "fleet_chips"
_OF_A_REPLICA = (_CHIPS, "pipeline_stages")
_RATES = (_OF_ONE, _OF_ALL, "fleet_throughput")
_ASKED = (_REPLICAS, _ALL_CHIPS, "fleet_cost")
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


def chips_meant(unknown: str, given: Iterable[str]) -> str:
    """What is asked for: beside a rate of a fleet and the chips of a replica those of all replicas, where chips are asked for.

    >>> chips_meant("gpus", ["qps", "tp"]), chips_meant("gpus", ["qps", "batch"])
    ('fleet_chips', 'gpus')
    """
    names = {quantity(spelled).name for spelled in given}
    both = quantity(unknown).name == _CHIPS and _CHIPS in names
    return _ALL_CHIPS if both and not names.isdisjoint(_RATES) else unknown


def sizes_a_fleet(unknown: str, given: Iterable[str]) -> bool:
    """Whether it takes whole replicas to say how many chips all of them have.

    >>> sizes_a_fleet("fleet_chips", ["qps", "tp"]), sizes_a_fleet("fleet_chips", ["replicas", "tp"])
    (True, False)
    """
    names = {quantity(spelled).name for spelled in given}
    return quantity(unknown).name == _ALL_CHIPS and _REPLICAS not in names and not names.isdisjoint(_RATES)


def chips_of_all(ask: Callable[[str, Mapping[str, Any]], Solution], given: Mapping[str, Any]) -> Solution:
    """The chips of as many whole replicas as a rate takes; of lists each point has replicas of its own."""
    sized = ask(_REPLICAS, given)
    if sized.sweep:
        from derive.solving.sweeps import each_by_itself

        return each_by_itself(_ALL_CHIPS, sized.sweep.given, lambda at: chips_of_all(ask, with_other(given, at)), _REPLICAS)
    if not sized.answers:
        return sized
    fewest = [_whole(one) for one in sized.answers]
    if sized.spans or len(fewest) != 1 or fewest[0] is None:
        raise WrongValue(f"{_ALL_CHIPS} is of one number of {_REPLICAS}, and here it is several: ask for {_REPLICAS}")
    (one,), count = sized.answers, fewest[0]
    of_a_replica = {spelled: value for spelled, value in given.items() if quantity(spelled).name in _OF_A_REPLICA}
    found = ask(_ALL_CHIPS, {**of_a_replica, _REPLICAS: count})
    told = f"at {_REPLICAS} = {count:.0f}, the fewest whole ones"
    each = found.value / count
    together = sized.with_prompts
    return replace(
        sized,
        unknown=found.unknown,
        unit=found.unit,
        answers=(_times(one, count, each),),
        equations=tuple(dict.fromkeys((*found.equations, *sized.equations))),
        given={**sized.given, **found.given},
        assumptions=tuple(dict.fromkeys((*found.assumptions, *sized.assumptions))),
        provenance={**sized.provenance, **found.provenance, _REPLICAS: told},
        route=(*(_in_whole_ones(step, count) for step in sized.route), *found.route),
        said=(told, *(text for text in sized.said if not text.startswith(BEST))),
        with_prompts=_times(together, fewest_of, each) if together and (fewest_of := _whole(together)) else None,
    )


def _times(one: Answer, count: float, each: float) -> Answer:
    """The chips of an answer in replicas: of so many, or more where it has no greatest number of them."""
    return Answer("point", value=count * each, regime=one.regime, bound=one.bound if one.kind == "point" else LOWER)


def _in_whole_ones(step: RouteStep, count: float) -> RouteStep:
    """A step of the route, which says of replicas that there are whole ones."""
    if step.unknown != _REPLICAS or step.value is None:
        return step
    return replace(step, value=count, formula=step.formula and f"ceiling({step.formula})")


def _whole(one: Answer) -> float | None:
    """The fewest whole replicas of an answer; None of one that has no least."""
    least = one.value if one.kind == "point" else one.low
    return None if least is None else float(max(1, ceil(least * (1 - HOLDS))))
