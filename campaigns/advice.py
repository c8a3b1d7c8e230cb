"""Follow the advice of refusals: the command that a refusal prints has an answer, and an alternative input does not lack the same again.

    python -m campaigns.advice --count 400 --seed 1

A question gives a few quantities of a consistent deployment and asks for another one. Exit status 1 if a printed command has no answer.
"""

import argparse
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from random import Random

from campaigns.states import State, states
from derive.quantities import QUANTITIES
from tests.tools.commands import call

EXAMPLE = re.compile(r"^backsolve: for example[^:]*: backsolve (solve .*)$", re.MULTILINE)
INSTEAD = re.compile(r"Instead you can give (.*)$", re.MULTILINE)
LACKS = re.compile(r" also needs ")


def questions(random: Random, state: State) -> Iterator[list[str]]:
    """Yield questions with one to four quantities of a deployment."""
    names = sorted(state.values)
    while True:
        unknown, *given = random.sample(names, random.randint(2, 5))
        yield ["solve", unknown, *(f"{name}={state.values[name]!r}" for name in given)]


def alternatives(message: str) -> Iterator[list[str]]:
    """Yield the inputs of each alternative, at a usual value."""
    found = INSTEAD.search(message)
    for part in re.split(r";? or |, or ", found[1]) if found else ():
        names = [name for name in re.findall(r"[a-z_]+", part) if name in QUANTITIES]
        yield [f"{name}={QUANTITIES[name].at(0.5)!r}" for name in names]


def end_of(asked: list[str]) -> Iterator[str]:
    """Yield how a question and its advice end."""
    said = call(*asked)
    if not LACKS.search(said.err):
        yield "answered" if said.status == 0 else "refused otherwise"
        return
    example = EXAMPLE.search(said.err)
    if example:
        followed = call(*shlex.split(example[1]))
        yield "example answered" if followed.status == 0 else f"wrong: {shlex.join(asked)} -> {example[1]} -> {followed.err.strip()}"
    else:
        yield "no example"
    for more in alternatives(said.err):
        if not more:
            continue
        again = call(*asked, *more)
        yield (
            "alternative answered" if again.status == 0 else "alternative lacks more" if LACKS.search(again.err) else "alternative refused"
        )


def main() -> None:
    """Ask the questions, follow the advice and print the ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random = Random(asked.seed)
    found: Counter[str] = Counter()
    deployments = states(random)
    for number in range(asked.count):
        if number % 8 == 0:
            drawn = questions(random, next(deployments))
        for end in end_of(next(drawn)):
            found[end.partition(":")[0]] += 1
            if end.startswith("wrong"):
                print(end, flush=True)
    print({"seed": asked.seed, "questions": asked.count, **dict(sorted(found.items()))})
    sys.exit(found["wrong"] > 0)


if __name__ == "__main__":
    main()
