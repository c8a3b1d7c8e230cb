"""The fewest chips that can be deployed: whole replicas, each of a number of chips that divides its attention heads."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from derive.answers import DECODE_ALONE
from derive.errors import WrongValue
from derive.meanings import PROMPTS
from derive.records import LOWER
from derive.roles import BATCH, REPLICA
from derive.solving.checks.targets import limit_speeds
from derive.solving.deployments.prompts import given_with_prompts
from derive.solving.limits.limits import add_limits
from derive.solving.one_question import suppose_usual
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import read_limits
from derive.solving.question.switches import pose_question
from derive.solving.result import Solution

_TOGETHER, _ALONE = ", prefill and decode together", ", decode alone"


def lead_with_replicas(solution: Solution, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return an answer to a sizing question that leads with the whole replicas that meet the same targets.

    A question sizes a deployment if it asks for chips beside a rate of all replicas and its model has heads.
    """
    if solution.unknown != REPLICA.chips or [one.bound for one in solution.answers] != [LOWER] or solution.sweep or solution.spans:
        return solution
    targets = limit_speeds(given)
    ways: dict[str, tuple[Mapping[str, Any], Switches]] = {_ALONE if DECODE_ALONE in solution.kinds else "": (targets, switches)}
    if solution.with_prompts:
        together = switches.join(*switches.using, PROMPTS.together)
        ways = {_TOGETHER: (given_with_prompts(targets) or targets, together), **ways}
    found = ((label, _whole_replicas(*way)) for label, way in ways.items())
    return replace(solution, lead=tuple(f"{solution.unknown} >= {text.format(label)}" for label, text in found if text))


def _whole_replicas(given: Mapping[str, Any], switches: Switches) -> str:
    """Return the fewest chips of whole replicas as text, with room for a label, or no text if no replicas meet the targets."""
    from derive.solving.limits.sizing import fewest_of_replicas

    asked, spans = pose_question(REPLICA.chips, given, switches)
    heads, domain = asked.known.get(REPLICA.heads), asked.known.get(REPLICA.domain, REPLICA.usual_domain)
    sized = not asked.known.keys().isdisjoint(REPLICA.sized_by) and asked.known.keys().isdisjoint(BATCH.also)
    if not heads or not sized:
        return ""
    try:
        asked = add_limits(suppose_usual(asked, spans), read_limits(given)[1])
    except WrongValue:
        return ""
    found = fewest_of_replicas(asked, [size for size in range(1, int(min(heads, domain)) + 1) if heads % size == 0])
    if found is None:
        return ""
    count, size, (low, high) = found
    batch = f"{low:.0f}-{high:.0f}" if low < high else f"{low:.0f}"
    return f"{count * size:.0f}   {count:.0f} replica{'s' * (count != 1)} of tp={size}{{}}, batch {batch}"
