"""Small simulations of what formulas say in one line: stages in a ring, drafts that are checked, trains that leave.

They know nothing of the catalogue. The two with chance in them take a generator, so that a run is the same every time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import sqrt
from random import Random
from statistics import fmean, stdev

ROUNDS = 60
"""Passes of each microbatch through all stages; the first half is warming up and is not measured."""


@dataclass(frozen=True)
class Ring:
    """What was measured of a pipeline: seconds from token to token of one sequence, share of idle time, passes a second."""

    token_latency: float
    idle_fraction: float
    passes_per_second: float


def ring(stages: int, microbatches: int, step_time: float, hop_latency: float) -> Ring:
    """Microbatches on their way round the stages, each stage one microbatch at a time, first come, first served.

    A stage takes its share of the step, a hop leads to the next one, and from the last back to the first. A single stage has none.
    """
    free_at = [0.0] * stages
    busy: list[tuple[float, float]] = []
    ends: list[list[float]] = [[] for _ in range(microbatches)]
    waiting: list[tuple[float, int, int]] = [(0.0, microbatch, 0) for microbatch in range(microbatches)]
    while min(map(len, ends)) < ROUNDS:
        ready, microbatch, stage = heappop(waiting)
        start = max(ready, free_at[stage])
        free_at[stage] = end = start + step_time / stages
        busy.append((start, end))
        if stage == stages - 1:
            ends[microbatch].append(end)
        after = (stage + 1) % stages
        heappush(waiting, (end + hop_latency * (after != stage), microbatch, after))
    # From one token of the first microbatch to a much later one: whole rounds of all microbatches.
    first, last = ends[0][ROUNDS // 2], ends[0][ROUNDS - 1]
    rounds = ROUNDS - 1 - ROUNDS // 2
    worked = sum(max(0.0, min(end, last) - max(start, first)) for start, end in busy)
    finished = sum(first < end <= last for times in ends for end in times)
    return Ring((last - first) / rounds, 1 - worked / (stages * (last - first)), finished / (last - first))


@dataclass(frozen=True)
class Mean:
    """A mean of draws, and its standard error."""

    value: float
    error: float


def mean(draws: Sequence[float]) -> Mean:
    """The mean, and how far chance may move it.

    >>> mean([1.0, 1.0, 1.0]).error
    0.0
    """
    return Mean(fmean(draws), stdev(draws) / sqrt(len(draws)))


def checks(random: Random, acceptance_rate: float, draft_tokens: int, count: int) -> list[int]:
    """Tokens of so many steps: drafted ones up to the first that is refused, and one more from the check."""
    return [1 + _accepted(random, acceptance_rate, draft_tokens) for _ in range(count)]


def _accepted(random: Random, acceptance_rate: float, draft_tokens: int) -> int:
    for place in range(draft_tokens):
        if random.random() >= acceptance_rate:
            return place
    return draft_tokens


def passes(compute_time: float, memory_time: float, draft_tokens: int, draft_cost_ratio: float, count: int) -> float:
    """Seconds of so many steps, drafts one after another, each a share of a plain step, then one pass over all positions.

    The arithmetic of a position takes its turn on the chip while memory is read once; the pass ends when both have.
    """
    plain, clock = max(compute_time, memory_time), 0.0
    for _ in range(count):
        for _ in range(draft_tokens):
            clock += draft_cost_ratio * plain
        read = clock + memory_time
        for _ in range(draft_tokens + 1):
            clock += compute_time
        clock = max(clock, read)
    return clock


def rides(random: Random, period: float, count: int) -> list[float]:
    """Seconds from an arrival at any time to the end of the pass it rides: it leaves with the next train."""
    waits = []
    for _ in range(count):
        arrival = random.uniform(0, 1000 * period)
        departure = (arrival // period + 1) * period
        waits.append(departure + period - arrival)
    return waits
