"""Fewest chips for targets of speed or cost where the batch is free: whole numbers of chips, at each the batches that meet all targets."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from derive.answers import BOUGHT, LIMITS_BIND, Answer, Part, next_whole
from derive.catalogue import equation
from derive.expressions.curve import grid_of, last_places
from derive.quantities import QUANTITIES
from derive.records import HOLDS, LOWER, UPPER
from derive.roles import BETTER, Batch, Memory, Replica
from derive.solving.checks.fit import MEMORY_BINDS, SHORT_OF_MEMORY, evaluate_definitions
from derive.solving.checks.targets import (
    batch_is_left_to_a_rate,
    better_side,
    find_targets,
    is_within,
    warn_beyond_domain,
)
from derive.solving.engine.engine import refuse_question
from derive.solving.limits.answering import answer_with_way
from derive.solving.limits.limits import FREE, list_in_words, split_limits
from derive.solving.question.propagation import results_of
from derive.solving.question.questions import Question, default_values, drop_knowns, pose_again, results_made_of
from derive.solving.result import Reason, Solution
from derive.units import show

_CHIPS = Memory.bought

_MOST_CHIPS = 2**17
"""Up to how many chips are looked at."""

_MOST_BATCH = 1e5
_EVERY = np.arange(1.0, _MOST_BATCH + 1)
"""The batches that are looked at."""

_NEAR, _MORE = 0.1, 1.01
"""Relative distance of batches from the best one, and the factor of an input, to find how far the input moves the chips."""

_BATCHES, _PLACES, _BESIDE = 2000, 200, 3
"""How many batches and values of an unknown are looked at first, and then how many batches beside the best of them."""

_Points = NDArray[np.float64]
_Fits = NDArray[np.bool_]


class Replicas(NamedTuple):
    """Equal replicas, the limits that need so many chips, and the share of the memory that each part needs at the largest batch."""

    part: Part
    limited_by: tuple[str, ...]
    held: Mapping[str, float]


def fewest_chips(asked: Question) -> Solution | None:
    """Return the fewest whole chips on which some batch meets every target, or None for another question.

    Results of speed that were given as met count as targets, where no batch that fits meets them all exactly. A time alone is
    no such question: the smallest batch meets it.
    """
    if asked.unknown != _CHIPS or not asked.known.keys().isdisjoint((FREE, *Batch.also)):
        return None
    targets = find_targets(asked)
    if not asked.limits and len(targets) < 2 and LOWER not in targets.values():
        return None
    asked = replace(asked, limits=targets)
    if not _results_of_batches(asked):
        return None
    if (chips := _search_chips(asked)) is None:
        return _refuse_all(asked)
    batches = _batches_within(asked, chips)
    return _answer_with_batches(asked, float(chips), batches)


def answer_at_best_batch(asked: Question) -> Solution | None:
    """Return the end of an unknown beyond which no batch meets every limit and fits, at the best batch there, or None.

    Some limits ask for large batches, and memory or other limits for small ones. A given rate, cost or energy is a limit.
    """
    rewarding = {name: side for name in asked.typed if _rewards_batches(name) and (side := better_side(name, BETTER))}
    asked = replace(asked, limits={**rewarding, **asked.limits})
    counted = not asked.known.keys().isdisjoint((FREE, *Batch.also))
    if counted or asked.unknown in (*BOUGHT, FREE, *results_of(FREE)) or not any(map(_rewards_batches, _results_of_batches(asked))):
        return None
    # At its own ends a quantity may have no results, and next to them it has others.
    places, batches = grid_of(asked.unknown, _PLACES)[1:-1], np.unique(np.geomspace(1, _MOST_BATCH, _BATCHES).round())
    met = _are_possible(asked, batches, places)
    edges = np.flatnonzero(np.diff(met))
    if len(edges) != 1 and (len(edges) != 2 or met[0]):
        return None
    # Between two ends, the larger one is what is wanted of a size.
    inside, outside = sorted((edges[-1], edges[-1] + 1), key=lambda at: not met[at])
    end = places[[inside]]
    for _ in range(2):
        # The batch of the end is near one of those that are tried.
        end = last_places(end, places[[outside]], partial(_are_possible, asked, batches))
        best = np.flatnonzero(_batches_at(asked, end, batches)[0])
        low, high = (batches[min(max(at, 0), len(batches) - 1)] for at in (best[0] - _BESIDE, best[-1] + _BESIDE))
        batch, batches = float(batches[best[-1]]), np.unique(np.linspace(low, high, _BATCHES).round())
    told = f"at {FREE} = {batch:.0f}, the best of all"
    at_best = replace(asked, provenance={**asked.provenance, FREE: "given"})
    found, _ = answer_with_way(pose_again(at_best, asked.unknown, {**asked.known, FREE: batch}))
    provenance = {name: told if name == FREE else source for name, source in found.provenance.items()}
    # Other batches meet the limits on the other side of an interval at this batch.
    opened = {"low": 0.0} if met[edges[-1]] else {"high": None}
    answers = tuple(replace(one, **opened) if one.kind == "interval" else one for one in found.answers)
    return replace(found, answers=answers, provenance=provenance, said=(told, *found.said)) if answers else None


def _results_of_batches(asked: Question) -> set[str]:
    """Return the limited results that depend on the batch."""
    return {one.name for one in split_limits(asked) if one.name in results_made_of(drop_knowns(one.alone, {FREE}), FREE)}


def _rewards_batches(name: str) -> bool:
    """Return whether a result is better with a larger batch: a rate, or what is paid or used for a token."""
    paid = QUANTITIES[name].unit.startswith(("USD", "J"))
    return name in results_of(FREE) and (paid or better_side(name, BETTER) == LOWER)


def _search_chips(asked: Question) -> int | None:
    """Return the fewest chips on which some batch meets every target, or None if no number of chips does.

    The number is doubled until a batch does, and the last step is halved.
    """
    doubled = (1 << power for power in range(_MOST_CHIPS.bit_length()))
    enough = next((chips for chips in doubled if len(_batches_within(asked, chips))), None)
    if enough is None:
        return None
    sizes = range(enough // 2 + 1, enough)
    return enough // 2 + 1 + bisect_left(sizes, True, key=lambda chips: len(_batches_within(asked, chips)) > 0)


def _batches_within(asked: Question, chips: float) -> _Points:
    """Return the batches that meet every limit on these chips and fit."""
    every = _batches_that_may_fit(asked, [chips])
    return np.compress(_batches_at(asked, np.array([chips]), every)[0], every)


def _batches_that_may_fit(asked: Question, sizes: Sequence[float]) -> _Points:
    """Return the batch that is given, or the batches up to the first power of two that fits on no size. A larger one needs more memory."""
    if given := asked.known.get(FREE):
        return np.array([given])
    doubled = np.exp2(np.arange(np.ceil(np.log2(_MOST_BATCH))))
    fits = _evaluate_results(asked, sizes, doubled)[1][Memory.room]
    return _EVERY[: int(2 * doubled[fits.any(axis=0)].max(initial=0.5))]


def _batches_at(asked: Question, places: _Points, batches: _Points) -> _Fits:
    """Return which batches meet every limit and fit, at each value of the unknown."""
    return reduce(np.logical_and, _evaluate_results(asked, places, batches)[1].values())


def _are_possible(asked: Question, batches: _Points, places: _Points) -> _Fits:
    """Return the values of the unknown at which one of the batches meets every limit and fits."""
    return np.asarray(_batches_at(asked, places, batches).any(axis=1))


def add_enough_chips(asked: Question, refused: Solution) -> Solution:
    """Return a batch that memory does not hold, with the fewest chips on which a batch of its own meets the targets."""
    if refused.refusal.code != SHORT_OF_MEMORY or not (batch_is_left_to_a_rate(asked) or (asked.unknown == FREE and asked.limits)):
        return refused
    bare = drop_knowns(asked, {_CHIPS})
    found = fewest_chips(pose_again(bare, _CHIPS, bare.known))
    if found is None or not found.answers:
        return refused
    # Beside the answer itself nobody asked which batch would do.
    message = refused.refusal.message if asked.unknown == FREE else refused.refusal.message.partition("\n")[0]
    message += f"\nwhat would fit, with its own batch: {_CHIPS} at least {found.answers[0].ends[0]:.0f}"
    return replace(refused, reason=replace(refused.refusal, message=message))


def fewest_of_replicas(asked: Question, sizes: Sequence[int], of_prompts: bool = False) -> Replicas | None:
    """Return the replicas that meet every limit with the fewest chips.

    A rate of all replicas is divided by the rate of one. Replicas `of_prompts` compute the prompts of this rate and nothing else. With
    equally many chips the larger replica is faster. Return None if no replicas meet all limits.
    """
    every = np.ones(1) if of_prompts else _batches_that_may_fit(asked, sizes)
    known, exact, met = _count_replicas(asked, sizes, every, of_prompts)
    fits, count = met[Memory.room], np.ceil(np.maximum(exact, 1.0))
    if number := asked.known.get(Replica.number):
        count = np.where(count <= number, number, np.inf)

    def chips_without(name: str) -> _Points:
        """Return the chips for each size of a replica and each batch that meets all limits but this one."""
        within = reduce(np.logical_and, (each for other, each in met.items() if other != name), np.ones_like(fits))
        return np.where(within, count * np.array(sizes)[:, None], np.inf)

    chips = chips_without("")
    fewest = chips.min(axis=1)
    if not np.isfinite(fewest).any():
        return None
    place = int(np.flatnonzero(fewest == fewest.min())[-1])
    batches = every[chips[place] == fewest.min()]
    binding = tuple(name for name in met if chips_without(name).min() < fewest.min()) or tuple(_rates_to_reach(asked))
    at = place, int(np.searchsorted(every, batches[-1]))
    held = {name: float(np.broadcast_to(known[name] / known[Memory.room], fits.shape)[at]) for name in Memory.parts if name in known}
    ends = float(batches[0]), float(batches[-1])
    phase = "prefill" if of_prompts else "decode"
    part = Part(phase=phase, replicas=float(fewest.min() / sizes[place]), chips_per_replica=sizes[place], batch=ends)
    return Replicas(part, binding, held)


def best_of_replicas(asked: Question, sizes: Sequence[int], chips: float) -> Part | None:
    """Return the replicas of a number of chips with the highest rate within every limit, or None if none meet all limits."""
    every = _batches_that_may_fit(asked, sizes)
    _, exact, met = _count_replicas(asked, sizes, every)
    number = np.floor(chips / np.array(sizes))[:, None]
    rates = np.where(reduce(np.logical_and, met.values()), number / exact, 0.0)
    place, at = divmod(int(rates.argmax()), len(every))
    if not rates[place, at] > 0:
        return None
    return Part(phase="decode", replicas=float(number[place, 0]), chips_per_replica=sizes[place], batch=(float(every[at]),) * 2)


def moves_of_replicas(asked: Question, group: Part) -> dict[str, float]:
    """Return the elasticities of the chips of replicas of one size, if a part of a replica counts as a part."""
    size = [group.chips_per_replica]

    def chips(known: Mapping[str, float], batches: _Points) -> _Points:
        """Return the chips at each batch that meets the limits."""
        _, exact, met = _count_replicas(replace(asked, known=known), size, batches)
        needed: _Points = np.where(reduce(np.logical_and, met.values()), exact, np.inf)[0]
        return needed

    given = asked.known.get(FREE)
    batches = np.arange(group.batch[0], group.batch[1] + 1)
    best = float(batches[int(np.argmin(chips(asked.known, batches)))])
    near = np.array([given]) if given else best * np.linspace(1 - _NEAR, 1 + _NEAR, _BATCHES)
    before = chips(asked.known, near).min()
    if not 0 < before < np.inf:
        return {}
    after = {name: chips({**asked.known, name: value * _MORE}, near).min() for name, value in asked.known.items()}
    return {name: float(np.log(end / before) / np.log(_MORE)) for name, end in after.items() if np.isfinite(end)}


def _rates_to_reach(asked: Question) -> set[str]:
    """Return the rates of all replicas that are targets."""
    return {name for name in Replica.sized_by if asked.limits.get(name) == LOWER}


def _count_replicas(
    asked: Question, sizes: Sequence[float], batches: _Points, of_prompts: bool = False
) -> tuple[dict[str, Any], _Points, dict[str, _Fits]]:
    """Return the results, the replicas for the rates as fractions, and where the batch fits and each other limit is met."""
    of_one = replace(asked, known={**asked.known, Replica.number: 1.0})
    known, met = _evaluate_results(of_one, sizes, batches, (Replica.apart,) * of_prompts)
    rates, share = _rates_to_reach(asked) & known.keys(), known.get(Replica.apart, 1.0) if of_prompts else 1.0
    needed = (asked.known[name] * (1 - HOLDS) / known[name] * share for name in rates)
    exact = reduce(np.maximum, needed, np.zeros_like(met[Memory.room], dtype=float))
    return known, exact, {name: fits for name, fits in met.items() if name not in rates}


def split_phases(asked: Question) -> tuple[Question, Question]:
    """Return the questions of the replicas that decode and that compute prompts. A limit that depends on the batch is of decode.

    The rate of all replicas is of both.
    """
    moved = _results_of_batches(asked)
    return drop_knowns(asked, asked.limits.keys() - moved), drop_knowns(asked, moved - {*Replica.sized_by})


@np.errstate(all="ignore")
def _evaluate_results(
    asked: Question, sizes: Sequence[float] | _Points, batches: _Points, more: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, _Fits]]:
    """Return the limited results, and more, of all values of the unknown with all batches, and where the batch fits and each limit is met.

    The limit on a result that cannot be found is met nowhere.
    """
    question = pose_again(asked, FREE, {**asked.known, asked.unknown: 1.0})
    inputs: dict[str, Any] = {name: value for name, value in question.known.items() if name not in asked.limits}
    inputs |= default_values(question, inputs)
    inputs |= {asked.unknown: np.array(sizes, dtype=float)[:, None], FREE: batches[None, :]}
    held = (Memory.needed, Memory.room)
    known = evaluate_definitions(question, (*asked.limits, *more, *held), inputs)
    needed, room = (known.get(name, 0.0) for name in held)
    fits = np.broadcast_to(needed <= room, (len(sizes), len(batches)))
    met = {Memory.room: fits, **dict.fromkeys({*asked.limits, *more} - known.keys(), np.zeros_like(fits))}
    for one in (one for one in split_limits(asked) if one.name in known):
        met[one.name] = met.get(one.name, True) & is_within(one.side, known[one.name], one.value)
    return known, met


def _rules_out(asked: Question, chips: float) -> str | None:
    """Return why no batch meets every target on this number of chips: memory, or the targets that no batch meets."""
    if chips < 1:
        return None
    _, met = _evaluate_results(asked, [chips], _EVERY)
    if reduce(np.logical_and, (met[name] for name in asked.limits)).any():
        return MEMORY_BINDS
    unmet = [name for name in asked.limits if not met[name].any()]
    return f"{LIMITS_BIND}{', '.join(unmet or asked.limits)}"


def _refuse_all(asked: Question) -> Solution | None:
    """Return that no chips meet the targets, with the nearest value of a single target, or None if that cannot be seen."""
    doubled = np.exp2(np.arange(float(_MOST_CHIPS.bit_length())))
    known, met = _evaluate_results(asked, doubled, np.unique(np.geomspace(1, _MOST_BATCH, _BATCHES).round()))
    fits = met[Memory.room]
    if not asked.limits.keys() <= known.keys() or not fits.any():
        return None
    one, *others = split_limits(asked)
    message = f"no number of {_CHIPS} has a batch that meets {list_in_words((one, *others))}"
    if not others:
        values = np.broadcast_to(known[one.name], fits.shape)[fits]
        message += f": nearest is {one.name} = {show(one.name, float(values.min() if one.side == UPPER else values.max()))}"
    return refuse_question(asked, Reason(code="no_solution", violated=tuple(asked.limits), message=message))


def _answer_with_batches(asked: Question, chips: float, batches: _Points) -> Solution | None:
    """Return the chips as an answer, with their batches, and with all that the batch on them rests on."""
    known = {**asked.known, _CHIPS: chips}
    question = replace(pose_again(asked, FREE, known), provenance={**asked.provenance, _CHIPS: "given"})
    there, _ = answer_with_way(question)
    low, high = batches[0], batches[-1]
    if high == _MOST_BATCH:
        # Targets and memory end it further up. Without an end the memory of a chip is unknown.
        held, _ = answer_with_way(drop_knowns(question, {*asked.limits}))
        ends = [one.ends[1] for found in (there, held) for one in found.answers if one.value is None or one.bound == UPPER]
        high = min((next_whole(end, UPPER) for end in ends if end), default=0.0)
    if not there.answers or not high:
        return None
    told = f"batch {f'{low:.0f} to ' if low < high else ''}{high:.0f}"
    beyond = warn_beyond_domain(asked, known, tuple(equation(id) for id in there.equations))
    return replace(
        there.warn(warn_beyond_domain.__name__, beyond) if beyond else there,
        unknown=_CHIPS,
        unit=QUANTITIES[_CHIPS].unit,
        answers=(Answer(kind="point", value=chips, bound=LOWER, regime=_rules_out(asked, chips - 1)),),
        given={name: value for name, value in there.given.items() if name != _CHIPS},
        provenance={name: source for name, source in there.provenance.items() if name != _CHIPS},
        said=(told, f"{', '.join(one.words for one in split_limits(asked))} {'is' if len(asked.limits) == 1 else 'are'} met"),
        further=(),
    )
