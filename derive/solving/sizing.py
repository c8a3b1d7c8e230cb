"""Fewest chips for targets of speed or cost where the batch is free: whole numbers of chips, at each the batches that meet all targets."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.answers import LIMITS_BIND, Answer, next_whole
from derive.catalogue import equation
from derive.quantities import QUANTITIES
from derive.records import LOWER, UPPER
from derive.solving.answering import answered
from derive.solving.fit import MEMORY_BINDS, SHORT_OF_MEMORY, work_out
from derive.solving.limits import FREE, limit_in_words, limited_by, one_by_one
from derive.solving.questions import IN_BF16, Question, posed, standing_beside, suppose_types, without
from derive.solving.refusals import results_made_of
from derive.solving.result import Reason, Solution
from derive.solving.speed_limits import ENDLESS, out_of_reach, warn_beyond_domain
from derive.solving.targets import batch_is_left_to_a_rate, better_side
from derive.units import show

_MOST_CHIPS = 2**17
"""Up to how many chips are looked at."""

_BATCHES, _MOST_BATCH, _BETWEEN = 2000, 1e5, 256
"""Batches that are looked at, up to how large, and numbers of chips between two powers of two."""

_MEMORY = ("memory_demand", "memory_capacity")

_Points = NDArray[np.float64]
_Fits = NDArray[np.bool_]


def fewest_chips(asked: Question, refused: Reason) -> Solution | None:
    """Return the fewest whole chips on which some batch meets every target, or None for another question.

    Results of speed that were given as met count as targets, where no batch that fits meets them all exactly. A time alone is
    no such question: the smallest batch meets it.
    """
    if asked.unknown != "chips" or FREE in asked.known or not {*asked.known}.isdisjoint(("sequences_in_flight", "microbatch_size")):
        return None
    if refused.code not in (SHORT_OF_MEMORY, "missing_givens") or (refused.code == "missing_givens" and FREE not in refused.missing):
        return None
    targets = _targets(asked)
    a_time_alone = not asked.limits and len(targets) < 2 and LOWER not in targets.values()
    if a_time_alone or not targets.keys() >= asked.limits.keys():
        return None
    limits_alone, asked = len(targets) == len(asked.limits), replace(asked, limits=targets)
    if not any(limited_by(one) in results_made_of(one, FREE) for one in one_by_one(asked)):
        return None
    meets = partial(_meets, asked)
    doubled = np.exp2(np.arange(float(_MOST_CHIPS.bit_length())))
    some = np.unique(np.geomspace(1, _MOST_BATCH, _BATCHES).round())
    if not (there := meets(doubled, some)).any():
        return _none_at_all(asked, doubled, some) if limits_alone else None
    most = int(doubled[np.argmax(there)])
    between = np.unique(np.linspace(most // 2 + 1, most, min(most, _BETWEEN)).round())
    chips = int(between[np.argmax(meets(between, some))])
    # A batch between those that were looked at may make do with less: here all whole ones are.
    every = np.arange(1.0, _MOST_BATCH + 1)
    while chips > 1 and meets(np.array([chips - 1.0]), every)[0]:
        chips -= 1
    if beyond := out_of_reach(posed(asked, asked.unknown, {**asked.known, FREE: _MOST_BATCH}), ENDLESS):
        return _refused(asked, beyond)
    found = _batches_on(asked, chips)
    return _sized(asked, chips, *found) if found else None


def with_enough_chips(asked: Question, refused: Solution) -> Solution:
    """Return a batch that memory does not hold, with the fewest chips on which a batch of its own meets the targets."""
    by_a_rate = batch_is_left_to_a_rate(asked)
    if refused.refusal.code != SHORT_OF_MEMORY or not (by_a_rate or (asked.unknown == FREE and asked.limits)):
        return refused
    bare = without(suppose_types(asked, IN_BF16.keys() - asked.known.keys()) or asked, {"chips"})
    found = fewest_chips(posed(bare, "chips", bare.known), refused.refusal)
    if found is None or not found.answers:
        return refused
    # Beside the answer itself nobody asked which batch would do.
    message = refused.refusal.message if asked.unknown == FREE else refused.refusal.message.partition("\n")[0]
    message += f"\nwhat would fit, with a batch of its own: chips at least {found.answers[0].ends[0]:.0f}"
    return replace(refused, reason=replace(refused.refusal, message=message))


def _looked_at(asked: Question, chips: _Points, batches: _Points) -> tuple[dict[str, Any], _Fits]:
    """Return the limited results of all numbers of chips with all batches, as far as they can be found, and which of them fit."""
    question = posed(asked, FREE, {**asked.known, "chips": 1.0})
    inputs = {name: value for name, value in question.known.items() if name not in asked.limits}
    inputs |= {name: value for name, value in standing_beside(question, inputs).items() if name != FREE}
    known = work_out(question, (*asked.limits, *_MEMORY), {**inputs, "chips": chips[:, None], FREE: batches[None, :]})
    demand, capacity = (known.get(name, 0.0) for name in _MEMORY)
    return known, np.broadcast_to(demand <= capacity, (len(chips), len(batches)))


def _meets(asked: Question, chips: _Points, batches: _Points, memory: bool = True) -> _Fits:
    """Return for each number of chips whether some batch meets every target and fits. Memory may be left aside."""
    known, fits = _looked_at(asked, chips, batches)
    if not asked.limits.keys() <= known.keys():
        return np.zeros(len(chips), dtype=bool)
    within = fits if memory else np.ones_like(fits)
    for one in one_by_one(asked):
        name = limited_by(one)
        within = within & (known[name] <= one.known[name] if one.limits[name] == UPPER else known[name] >= one.known[name])
    return np.asarray(within.any(axis=1))


def _rules_out(asked: Question, chips: int) -> str:
    """Return why no batch meets every target on so many chips: memory, or the targets that none meets alone or together."""
    at, every = np.array([float(chips)]), np.arange(1.0, _MOST_BATCH + 1)
    if chips < 1:
        return ""
    if _meets(asked, at, every, memory=False)[0]:
        return MEMORY_BINDS
    limits = {limited_by(one): one for one in one_by_one(asked)}
    alone = [name for name, one in limits.items() if not _meets(one, at, every, memory=False)[0]]
    return f"{LIMITS_BIND}{', '.join(alone or limits)}"


def _none_at_all(asked: Question, chips: _Points, batches: _Points) -> Solution | None:
    """Return that no chips meet the targets, with the nearest value of a single target, or None if that cannot be seen."""
    known, fits = _looked_at(asked, chips, batches)
    if not asked.limits.keys() <= known.keys() or not fits.any():
        return None
    targets = one_by_one(asked)
    message = f"no number of chips has a batch that meets {' and '.join(map(limit_in_words, targets))}"
    if len(targets) == 1:
        name, upper = limited_by(targets[0]), targets[0].limits[limited_by(targets[0])] == UPPER
        values = np.broadcast_to(known[name], fits.shape)[fits]
        message += f": nearest is {name} = {show(name, float(values.min() if upper else values.max()))}"
    return _refused(asked, Reason(code="no_solution", violated=tuple(asked.limits), message=message))


def _refused(asked: Question, reason: Reason) -> Solution:
    return Solution(
        unknown=asked.unknown,
        unit=QUANTITIES[asked.unknown].unit,
        answers=(),
        given=dict(asked.known),
        provenance=dict(asked.provenance),
        reason=reason,
    )


def _targets(asked: Question) -> dict[str, str]:
    """Return every limit, and the side of every given time or rate as a limit."""
    given = {name for name, source in asked.provenance.items() if source == "given" and better_side(name)}
    # A result that is given hides what another is made of.
    speeds = [name for name in given if name in results_made_of(without(asked, given - {name}), "chips")]
    sides = {name: side for name in speeds if (side := better_side(name))} | {**asked.limits}
    return {name: sides[name] for name in asked.provenance if name in sides}


def _batches_on(asked: Question, chips: int) -> tuple[Solution, float, float] | None:
    """Return the batches that meet every target on so many chips, or None if no whole one does."""
    known = {**asked.known, "chips": float(chips)}
    question = replace(posed(asked, FREE, known), provenance={**asked.provenance, "chips": "given"})
    solution, _ = answered(question)
    if len(solution.answers) != 1:
        return None
    (one,) = solution.answers
    least, most = one.ends
    if one.kind == "point":
        least, most = (least, _largest_batch(question)) if one.bound == LOWER else (0.0, most)
    if most is None or max(next_whole(least, LOWER), 1.0) > next_whole(most, UPPER):
        return None
    return solution, max(least, 1.0), most


def _largest_batch(asked: Question) -> float | None:
    """Return the largest batch that memory holds, without the targets."""
    solution, _ = answered(without(asked, {*asked.limits}))
    return solution.answers[0].ends[1] if len(solution.answers) == 1 else None


def _sized(asked: Question, chips: int, there: Solution, least: float, most: float) -> Solution:
    """Return the chips as an answer, with their batches and results."""
    low, high = int(next_whole(least, LOWER)), int(next_whole(most, UPPER))
    batches = f"a batch of {low} to {high}" if low < high else f"a batch of {high}"
    targets = " and ".join(map(limit_in_words, one_by_one(asked)))
    given = {name: value for name, value in there.given.items() if name != "chips"}
    rows = tuple(equation(id.split("@")[0]) for id in there.equations)
    less = ": with one chip less no whole batch meets them all" if chips > 1 else ""
    beyond = warn_beyond_domain(asked, {**asked.known, "chips": float(chips)}, rows)
    said = {**({warn_beyond_domain.__name__: beyond} if beyond else {}), **dict(zip(there.kinds, there.warnings, strict=True))}
    return replace(
        there,
        warnings=tuple(said.values()),
        kinds=tuple(said),
        unknown="chips",
        unit=QUANTITIES["chips"].unit,
        answers=(Answer(kind="point", value=float(chips), bound=LOWER, regime=_rules_out(asked, chips - 1) or None),),
        given=given,
        provenance={name: source for name, source in there.provenance.items() if name != "chips"},
        said=(f"with {batches}, for {targets}", f"best: chips = {chips}, the fewest{less}"),
        further=(),
    )
