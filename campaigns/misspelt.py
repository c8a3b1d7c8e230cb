"""Misspell names by one or two edits: the message names the right one, or the command finds it.

    python -m campaigns.misspelt --count 400 --seed 1

Exit status 1 if for one kind of names more than a tenth is neither found nor named.
"""

import argparse
import string
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random

from derive import presets
from derive.catalogue import by_id, equation
from derive.errors import BacksolveError
from derive.quantities import QUANTITIES, quantity
from invert.inference import infer

LEAST, SHORTEST = 0.9, 6
"""Share of the misspelt names that must be named, and the fewest letters of a name that is misspelt."""


def edited(random: Random, name: str) -> str:
    """Return a name with one or two letters replaced, left out or doubled. Digits are the sizes of models and stay."""
    for _ in range(random.randint(1, 2)):
        at = random.choice([place for place, mark in enumerate(name) if mark.isalpha()])
        name = name[:at] + random.choice(("", 2 * name[at], random.choice(string.ascii_lowercase))) + name[at + 1 :]
    return name


def kinds() -> Mapping[str, tuple[tuple[str, ...], Callable[[str], object]]]:
    """Return the names of each kind, and what reads one."""
    return {
        "quantities": (tuple(QUANTITIES), lambda name: quantity(name).name),
        "equations": (tuple(by_id()), lambda name: equation(name).id),
        "chips": (tuple(presets.hardware_names()), presets.hardware),
        "models": (tuple(presets.model_names()), presets.model),
        "price sheets": (tuple(one.sheet.model for one in infer()), lambda name: infer([name])),
    }


def end_of(name: str, misspelt: str, read: Callable[[str], object]) -> str:
    """Return whether the right name is read, named, or neither."""
    try:
        read(misspelt)
    except BacksolveError as refused:
        return "named" if name.lower() in str(refused).lower() else "not named"
    return "read"


def main() -> None:
    """Misspell names of every kind and print the ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random, poor = Random(asked.seed), []
    for kind, (names, read) in kinds().items():
        long = [name for name in names if sum(map(str.isalpha, name)) >= SHORTEST]
        found: Counter[str] = Counter()
        for name in random.choices(long, k=asked.count):
            found[end := end_of(name, misspelt := edited(random, name), read)] += 1
            if end == "not named":
                print(f"{kind}: {misspelt} for {name}", flush=True)
        print({"kind": kind, **dict(sorted(found.items()))})
        poor += [kind] if found["not named"] > (1 - LEAST) * asked.count else []
    sys.exit(bool(poor))


if __name__ == "__main__":
    main()
