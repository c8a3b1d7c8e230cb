"""Training schedules run step by step: who works on which microbatch when, and what each device has to keep meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Pass = tuple[str, int, int]
"""forward or backward, the virtual stage (from 0, in the order of the layers), the microbatch."""


@dataclass(frozen=True)
class Run:
    """Share of the time a device waits, and the largest number of passes each device holds activations of."""

    idle: Fraction
    held: tuple[int, ...]


def gpipe(stages: int, microbatches: int) -> list[list[Pass]]:
    """All forward passes, then all backward ones."""
    there = [[("forward", stage, one) for one in range(microbatches)] for stage in range(stages)]
    back = [[("backward", stage, one) for one in range(microbatches)] for stage in range(stages)]
    return [before + after for before, after in zip(there, back, strict=True)]


def one_forward_one_backward(stages: int, microbatches: int) -> list[list[Pass]]:
    """As many forward passes as there are stages behind, then one of each in turn."""
    return interleaved(stages, microbatches, 1, ahead=lambda stage: stages - 1 - stage)


def interleaved(stages: int, microbatches: int, virtual: int, ahead=None) -> list[list[Pass]]:
    """Each device holds every `stages`-th of the virtual stages, and takes `stages` microbatches through one before the next."""
    ahead = ahead or (lambda stage: 2 * (stages - 1 - stage) + (virtual - 1) * stages)

    def forward(stage: int, place: int) -> Pass:
        turn, within = divmod(place, stages * virtual)
        return "forward", within // stages * stages + stage, turn * stages + within % stages

    def backward(stage: int, place: int) -> Pass:
        turn, within = divmod(place, stages * virtual)
        return "backward", (virtual - 1 - within // stages) * stages + stage, turn * stages + within % stages

    count, orders = microbatches * virtual, []
    for stage in range(stages):
        first = min(ahead(stage), count)
        order = [forward(stage, place) for place in range(first)]
        for place in range(first, count):
            order += [forward(stage, place), backward(stage, place - first)]
        orders.append([*order, *(backward(stage, place) for place in range(count - first, count))])
    return orders


def run(orders: Sequence[Sequence[Pass]], forward: Fraction = Fraction(1), backward: Fraction = Fraction(2)) -> Run:
    """Every device takes its passes in its order, each as soon as what it needs is there."""
    last = max(stage for order in orders for _, stage, _ in order)
    done: dict[Pass, Fraction] = {}
    places, free = [0] * len(orders), [Fraction(0)] * len(orders)
    held, most = [0] * len(orders), [0] * len(orders)
    while any(place < len(order) for place, order in zip(places, orders, strict=True)):
        before = sum(places)
        for device, order in enumerate(orders):
            while places[device] < len(order):
                kind, stage, one = order[places[device]]
                needs = [("forward", stage - 1, one)] if kind == "forward" else [("backward", stage + 1, one)]
                needs = [need for need in needs if 0 <= need[1] <= last]
                if kind == "backward" and stage == last:
                    needs = [("forward", last, one)]
                if not all(need in done for need in needs):
                    break
                start = max([free[device], *(done[need] for need in needs)])
                free[device] = done[kind, stage, one] = start + (forward if kind == "forward" else backward)
                held[device] += 1 if kind == "forward" else -1
                most[device] = max(most[device], held[device])
                places[device] += 1
        assert sum(places) > before, "every device waits for another"
    busy = sum(forward if kind == "forward" else backward for kind, _, _ in orders[0])
    return Run(1 - busy / max(free), tuple(most))
