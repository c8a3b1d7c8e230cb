"""A rate of requests where replicas are asked for: it is that of all of them, and not of one."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from derive.quantities import quantity
from derive.solving.at_best import results_of

_T = TypeVar("_T")

_OF_ONE, _OF_ALL = "requests_per_second", "fleet_requests_per_second"
_REPLICAS = "replicas"
_ASKED = (_REPLICAS, "fleet_cost")
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
