"""Thousands of questions about states of the catalogue, and of single equations: how many ended which way.

    python -m campaigns.campaign states --count 20000 --seed 1
    python -m campaigns.campaign equations --count 20000 --seed 1

Exit status 1 if an answer is false, a question ends in anything but an answer or a refusal, or one takes too long.
"""

import argparse
import sys
from collections import Counter
from dataclasses import replace
from itertools import count, islice
from random import Random
from time import process_time

from campaigns.referee import cases, verdict
from campaigns.states import CANCELS, Asked, holds_the_state, questions, states, untrue_defaults
from derive import solve
from derive.errors import WrongValue
from derive.solving.result import Solution

SLOW = 2.0
"""Seconds of processor time above which a question takes too long."""

_PRICE, _RENT = "chip_price", "rented_chip_price"

QUESTIONS = 10
FALSE = ("wrong", "moved", "crashed", "slow", "missing", "twice")


def ask(asked: Asked, **more: float) -> Solution:
    """The question as a person would put it: what was named and takes no part is left out, and no rule joins that the state breaks."""
    state, given = asked.state, {**asked.given, **more}
    while True:
        try:
            return solve(asked.unknown, using=state.using, variants=state.variants, strict=not state.using, given=given)
        except WrongValue as refused:
            idle = next((id for id in state.using if str(refused).startswith(f"{id} is not part of ")), "")
            if not idle:
                raise
        state = replace(state, using=tuple(id for id in state.using if id != idle))
        while untrue := untrue_defaults(state, asked.unknown, {*given}):
            given |= {name: state.values[name] for name in untrue}


def ended(asked: Asked, slow: float = SLOW) -> str:
    """How a question about a state ended; what is said to cancel is given too, and must not move the answer."""
    start = process_time()
    solution = ask(asked)
    if process_time() - start > slow:
        return "slow"
    if _RENT in solution.provenance and _RENT not in asked.given:
        # A price that is given beside the share of time in use was taken as rent, which the state has by its own name.
        given = {name: value for name, value in asked.given.items() if name != _PRICE}
        asked = replace(asked, given={**given, _RENT: asked.state.values[_RENT]})
        solution = ask(asked)
    # What was supposed of data types need not be so in the state: with its own the answer must be.
    supposed = [name for name, source in solution.provenance.items() if source == "supposed"]
    if supposed:
        solution = ask(asked, **{name: asked.state.values[name] for name in supposed})
    if not solution.answers:
        return f"refused: {solution.reason.code}"
    if not holds_the_state(asked, solution.answers):
        return "wrong"
    for name in {text.split(CANCELS)[0] for text in solution.assumptions if CANCELS in text} & asked.state.values.keys():
        again = ask(asked, **{name: asked.state.values[name]})
        if again.answers and not holds_the_state(asked, again.answers):
            return "moved"
    return "right" if solution.answers[0].kind == "point" else "right interval"


def told(asked: Asked) -> str:
    """The question as Python, and the value of the state."""
    state = asked.state
    said = f"solve({asked.unknown!r}, using={state.using!r}, variants={state.variants!r}, **{dict(asked.given)!r})"
    return f"{said}  # {state.values[asked.unknown]!r}"


def of_states(number: int, seed: int) -> Counter[str]:
    """Questions about consistent states, by how they ended."""
    random = Random(seed)
    found: Counter[str] = Counter()
    asked = (one for state in states(random) for one in questions(random, state, QUESTIONS))
    for place, one in zip(count(1), islice(asked, number), strict=False):
        try:
            end = ended(one)
        except Exception as fault:  # a crash is what is looked for
            end = f"crashed: {type(fault).__name__}"
        found[end] += 1
        if end.startswith(FALSE):
            print(f"{end}: {told(one)}", flush=True)
        if place % 1000 == 0:
            print(place, dict(sorted(found.items())), flush=True)
    return found


def of_equations(number: int, seed: int) -> Counter[str]:
    """Single equations at draws, hard ones included, by how they ended."""
    found: Counter[str] = Counter()
    for one in cases(number, seed):
        end = verdict(one)
        found[end.partition(":")[0]] += 1
        if end.startswith(FALSE):
            print(f"{end}: {one}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("states", "equations"))
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found = (of_states if asked.what == "states" else of_equations)(asked.count, asked.seed)
    print({"seed": asked.seed, "count": found.total(), **dict(sorted(found.items()))})
    sys.exit(any(end.startswith(FALSE) for end in found))


if __name__ == "__main__":
    main()
