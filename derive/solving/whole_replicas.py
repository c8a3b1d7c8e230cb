"""The fewest chips that can be deployed: whole replicas, each of a number of chips that divides its attention heads."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from derive.errors import BacksolveError
from derive.records import LOWER
from derive.roles import REPLICA
from derive.solving.best_size import replace_given
from derive.solving.prompts import AskWith, answer_with_prompts
from derive.solving.result import Solution
from derive.solving.switches import Switches
from derive.solving.targets import limit_speeds


def tell_whole_replicas(solution: Solution, ask_with: AskWith, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return an answer to a sizing question with a first line on the whole replicas that meet the same targets.

    A question sizes a deployment if it asks for chips beside a rate of all replicas and its model has heads.
    """
    if solution.unknown != REPLICA.chips or [one.bound for one in solution.answers] != [LOWER] or solution.sweep or solution.spans:
        return solution
    known = switches.pose(solution.unknown, given)[0].known
    heads, domain = known.get(REPLICA.heads), known.get(REPLICA.domain, REPLICA.usual_domain)
    if not heads or known.keys().isdisjoint(REPLICA.sized_by):
        return solution
    sizes = [size for size in range(1, int(min(heads, domain)) + 1) if heads % size == 0]
    targets = limit_speeds(given)
    told = []
    labels = {True: ", with prompts on the same chips", False: ", for decode alone"} if solution.with_prompts else {False: ""}
    for prompts, label in labels.items():
        found = [(chips, size) for size in sizes for chips in _fleets(ask_with, targets, switches.using, size, prompts)]
        if found:
            # Of equally many chips the larger tp is faster.
            chips, size = min(found, key=lambda one: (one[0], -one[1]))
            count = round(chips / size)
            told.append(f"{chips:.0f} chip{'s' * (chips != 1)}, {count} replica{'s' * (count != 1)} of tp={size}{label}")
    return replace(solution, said=(f"deploy {'; '.join(told)}", *solution.said)) if told else solution


def _fleets(ask_with: AskWith, given: Mapping[str, Any], using: tuple[str, ...], size: int, prompts: bool) -> Iterator[float]:
    """Yield the chips of the fewest whole replicas of one size, if they meet the targets."""
    sized = replace_given(given, {REPLICA.chips: float(size)})
    try:
        fleet = answer_with_prompts(ask_with, sized, using) if prompts else ask_with(using, sized)
    except BacksolveError:
        return
    yield from (one.ends[0] for one in fleet.answers if one.bound == LOWER) if fleet else ()
