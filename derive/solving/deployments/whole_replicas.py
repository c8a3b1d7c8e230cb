"""The fewest chips that can be deployed: whole replicas, each of a number of chips that divides its attention heads."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from derive.answers import DECODE_ALONE, Part
from derive.errors import WrongValue
from derive.meanings import Prompts
from derive.records import LOWER
from derive.roles import Batch, Memory, Replica
from derive.solving.checks.fit import SHORT_OF_MEMORY
from derive.solving.checks.targets import find_targets
from derive.solving.deployments.fleets import rates_of_all
from derive.solving.deployments.prompts import given_with_prompts
from derive.solving.limits.limits import add_limits
from derive.solving.one_question import suppose_usual
from derive.solving.question.conventions import Switches
from derive.solving.question.givens import read_limits
from derive.solving.question.questions import Question
from derive.solving.question.switches import pose_question
from derive.solving.result import Solution

if TYPE_CHECKING:
    from derive.solving.limits.sizing import Replicas


_Shown = tuple[str, str, tuple[str, ...], tuple[Part, ...]]
"""A deployment: its chips and replicas as text, what limits them, the line of their sensitivities, and its parts."""
_MOST_MOVES, _LEAST_MOVE = 6, 0.05
"""Largest number of sensitivities, and the smallest one, that are shown."""


def lead_with_replicas(solution: Solution, given: Mapping[str, Any], switches: Switches) -> Solution:
    """Return an answer to a sizing question that leads with the whole replicas that meet the same targets.

    A question sizes a deployment if it asks for chips beside a rate of all replicas and its model has heads. The chips of a replica may be
    given. If it has prompts, there are two deployments: prompts on the same chips, and on chips of their own. Replicas in several stages
    have no such line.
    """
    in_stages = solution.unknown == Replica.all_chips and solution.given.get(Memory.groups, 1.0) != 1.0
    if [one.bound for one in solution.answers] != [LOWER] or solution.sweep or solution.spans or in_stages:
        return solution
    size = solution.given.get(Replica.chips) if solution.unknown == Replica.all_chips else None
    given = {name: value for name, value in rates_of_all([solution.unknown], given).items() if name != Replica.chips}
    groups = []
    if solution.with_prompts:
        together = switches.join(*switches.using, Prompts.together)
        groups.append(_show_one_group(given_with_prompts(given) or given, together, ", prefill and decode together", size))
    decode = DECODE_ALONE in solution.kinds
    groups.append((decode and _show_two_groups(given, switches, size)) or _show_one_group(given, switches, ", decode alone" * decode, size))
    found = [group for group in groups if group]
    lead = [*(f"{solution.unknown} >= {text}" for text, *_ in found), *([f"limited by {found[0][1]}", *found[0][2]] if found else [])]
    return replace(solution, lead=tuple(lead), deployments=tuple(parts for *_, parts in found))


def size_of_replicas(solution: Solution, given: Mapping[str, Any], switches: Switches) -> float | None:
    """Return the chips of each of several replicas, if they meet a rate that no single one meets, or None for any other question."""
    from derive.solving.limits.sizing import fewest_of_replicas

    unmet = solution.is_refused_for("no_solution", SHORT_OF_MEMORY) or not {*Replica.sized_by}.isdisjoint(solution.unused)
    if solution.unknown != Replica.chips or Replica.chips in given or solution.sweep or not unmet:
        return None
    asked, sizes = _pose_limits(given, switches, None)
    found = fewest_of_replicas(asked, sizes) if asked else None
    return float(found.chips) if found else None


def _show_one_group(given: Mapping[str, Any], switches: Switches, label: str, size: float | None) -> _Shown | None:
    """Return the fewest chips of whole replicas as text, their limits and their sensitivities, or None if no replicas meet the targets."""
    from derive.solving.limits.sizing import fewest_of_replicas, moves_of_replicas

    asked, sizes = _pose_limits(given, switches, size)
    found = fewest_of_replicas(asked, sizes) if asked else None
    if asked is None or found is None:
        return None
    moves = sorted(moves_of_replicas(asked, found).items(), key=lambda one: -abs(one[1]))
    text = ", ".join(f"{name} {slope:+.2g} %" for name, slope in moves[:_MOST_MOVES] if abs(slope) >= _LEAST_MOVE)
    replicas = f"{found.number:.0f} replica{'s' * (found.number != 1)} of {_size_in_words(found, switches)}"
    told = f"{found.all_chips:.0f}   {replicas}{label}, batch {_show_batches(found)}"
    return told, _show_limits(found), (f"+1 %: {text}",), (_part(found, label.removeprefix(", ") or "decode"),)


def _show_two_groups(given: Mapping[str, Any], switches: Switches, size: float | None) -> _Shown | None:
    """Return the fewest chips of replicas that decode, and of those that compute prompts, or None if one of them has none."""
    from derive.solving.limits.sizing import fewest_of_replicas, split_phases

    asked, sizes = _pose_limits(given, switches, size)
    if asked is None:
        return None
    decode, prompts = split_phases(asked)
    first, second = fewest_of_replicas(decode, sizes), fewest_of_replicas(prompts, sizes, of_prompts=True)
    if not first or not second:
        return None
    each = [f"{one.number:.0f} of {_size_in_words(one, switches)}" for one in (first, second)]
    sizes_in_words = f"{each[0]}, batch {_show_batches(first)}, and {each[1]}"
    text = f"{first.all_chips:.0f} + {second.all_chips:.0f}   decode and prefill on separate GPUs: {sizes_in_words}"
    parts = _part(first, "decode"), _part(second, "prefill")
    return text, " and ".join(dict.fromkeys((_show_limits(first), _show_limits(second)))), (), parts


def _part(group: "Replicas", phase: str) -> Part:
    """Return replicas as a part of a deployment."""
    return Part(phase=phase, replicas=group.number, chips_per_replica=group.chips, batch=group.batches)


def _pose_limits(given: Mapping[str, Any], switches: Switches, size: float | None) -> tuple[Question | None, list[int]]:
    """Return the question with its targets as limits and the possible sizes of a replica, or no question if it sizes no deployment."""
    asked = pose_question(Replica.chips, given, switches)
    heads, domain = asked.known.get(Replica.heads), asked.known.get(Replica.domain, Replica.usual_domain)
    sized = not asked.known.keys().isdisjoint(Replica.sized_by) and asked.known.keys().isdisjoint(Batch.also)
    if not heads or not sized:
        return None, []
    try:
        limited = add_limits(suppose_usual(asked), read_limits(given)[1])
        sized_by = {name: LOWER for name in Replica.sized_by if name in limited.known}
        limited = replace(limited, limits={**sized_by, **find_targets(limited)})
    except WrongValue:
        return None, []
    return limited, [int(size)] if size else [tp for tp in range(1, int(min(heads, domain)) + 1) if heads % tp == 0]


def _show_limits(group: "Replicas") -> str:
    """Return what limits replicas. If it is memory, also the share of each part."""
    held = ", ".join(
        f"{label.removeprefix('a ').removesuffix(' of')} {100 * group.held.get(name, 0.0):.0f} %" for name, label in Memory.parts.items()
    )
    return " and ".join(f"memory: {held}" if name == Memory.room else name for name in group.limited_by)


def _size_in_words(group: "Replicas", switches: Switches) -> str:
    """Return the chips of a replica, which share all by tensor parallelism if no layout is given."""
    return f"{group.chips} chips" if switches.conventions.layouts else f"tp={group.chips}"


def _show_batches(group: "Replicas") -> str:
    low, high = group.batches
    return f"{low:.0f}-{high:.0f}" if low < high else f"{low:.0f}"
