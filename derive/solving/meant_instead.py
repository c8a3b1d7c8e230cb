"""A question that what was given does not settle, or not all of it has a part in: what people mean by it then is answered, and said."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from derive.immutable import immutable
from derive.quantities import quantity
from derive.solving.one_equation import inside
from derive.solving.refusals import PRICED
from derive.solving.result import OR, Solution
from derive.units import show


@immutable
class Meant:
    """What is meant by a quantity beside all of some givens, and why; `alone` where no chip or model is named and all that is given
    has a part in it. Of a quantity of one replica or of the time in use it is `said` too, and not answered instead.
    """

    name: str
    beside: Collection[str]
    why: str = ""
    alone: bool = False
    said: str = ""

    def told(self, asked: str) -> str:
        """The same as a warning."""
        return f"{asked} is answered with {self.name}{self.why}"


MEANT = {
    "cost_per_request": Meant(
        name="price_per_request",
        beside=PRICED["cost_per_request"],
        why=", what its buyer pays by these prices: what serving it costs needs chips",
        alone=True,
    ),
    "cost_per_token": Meant(name="fleet_cost_per_token", beside=("fleet_utilisation",), said="with the hours in which the chips wait"),
    "throughput": Meant(name="fleet_throughput", beside=("replicas",), said="of all replicas together"),
    "requests_per_second": Meant(name="fleet_requests_per_second", beside=("replicas",), said="of all replicas together"),
    "mfu": Meant(
        name="compute_utilisation",
        beside=("throughput",),
        why=", the share of peak that a throughput comes to; mfu is what it would be without waits",
    ),
}
"""By what is asked for."""


def as_is_meant(
    solution: Solution,
    given: Mapping[str, Any],
    named: bool,
    ask: Callable[[str, Mapping[str, Any]], Solution],
    beside: Collection[str] = (),
) -> Solution:
    """The answer to what is meant in place of one that lacks something; beside one that has no part in it of what says so.

    `named` says that there is a chip or a model; what is asked for `beside` it is not meant by it.
    """
    meant = MEANT.get(solution.unknown)
    names = {quantity(spelled).name for spelled in given}
    if not meant or meant.name in (*beside, *names) or not names.issuperset(meant.beside) or (meant.alone and named):
        return solution
    lacks = solution.reason and solution.reason.missing
    if not lacks and names.intersection(solution.unused).isdisjoint(meant.beside):
        return solution
    if lacks and meant.said:
        return solution
    found = ask(meant.name, given)
    if not (found.answers or found.sweep) or not {*found.unused}.isdisjoint(names if meant.alone else meant.beside):
        return solution
    if meant.said:
        if found.sweep or found.spans:
            return replace(solution, said=(*solution.said, f"{meant.said}: ask for {meant.name}"))
        both = f"{meant.said}: {meant.name} = {show(meant.name, inside(found.answers[0]))}{OR[found.answers[0].bound]}"
        return replace(solution, said=(*solution.said, both), unused=tuple(name for name in solution.unused if name in found.unused))
    return replace(found, warnings=(meant.told(solution.unknown), *found.warnings), kinds=(as_is_meant.__name__, *found.kinds))
