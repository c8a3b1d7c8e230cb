"""Where the time of a command goes: `python -m benchmarks.samples infer` looks at its stack every millisecond.

What a look finds counts for the innermost of the parts below, and for an import where a module is being loaded.
"""

import signal
import sys
from collections import Counter
from types import FrameType

EVERY = 1e-3
"""Seconds between two looks."""
PARTS = (
    ("tables", ("derive/shipped", "derive/preset", "derive/price_rows", "derive/formulas", "invert/sheets/", "invert/soundness")),
    ("posteriors", ("invert/posterior/",)),
    ("words", ("derive/show/", "invert/report/", "backsolve/")),
    ("questions", ("derive/solving/", "derive/expressions/")),
    ("estimates", ("invert/",)),
)
"""Each part by where its code stands; a look that finds none of them counts as other work."""
LIBRARIES = ("click", "numpy", "scipy", "sympy")
OURS = ("backsolve", "derive", "invert", "pricing_data")
LOADS = "_find_and_load"
"""The function of Python that loads a module."""


def part_of(frame: FrameType | None) -> str:
    """The innermost part that a stack is in."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == LOADS:
            return f"import {loaded(frame)}"
        found = next((part for part, places in PARTS if any(place in code.co_filename for place in places)), None)
        if found and code.co_name != "<module>":
            return found
        frame = frame.f_back
    return "other"


def loaded(frame: FrameType | None) -> str:
    """On whose behalf a module is being loaded: the outermost library whose import is under way, else the program itself."""
    names = []
    while frame is not None:
        if frame.f_code.co_name == LOADS:
            names.append(str(frame.f_locals["name"]).partition(".")[0])
        frame = frame.f_back
    return next((name for name in reversed(names) if name in LIBRARIES), "its modules" if {*names} & {*OURS} else "Python's modules")


def main() -> None:
    """Runs the command and prints a part and its count a line, on standard error."""
    found: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, lambda _, frame: found.update([part_of(frame)]))
    sys.argv = ["backsolve", *sys.argv[1:]]
    signal.setitimer(signal.ITIMER_REAL, EVERY, EVERY)
    try:
        from backsolve.__main__ import main as command

        command()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for part, count in found.items():
            print(part, count, sep="\t", file=sys.stderr)


if __name__ == "__main__":
    main()
