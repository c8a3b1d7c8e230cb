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
    ("tables", ("derive/shipped", "derive/preset", "derive/price_rows", "invert/sheets/", "invert/validation/soundness")),
    ("posteriors", ("invert/posterior/",)),
    ("words", ("derive/show/", "invert/report/", "backsolve/")),
    ("questions", ("derive/solving/", "derive/expressions/")),
    ("estimates", ("invert/",)),
)
"""Each part by where its code stands; a look that finds none of them counts as other work."""
LIBRARIES = ("click", "numpy")
MODULES, OTHER = "modules", "other"
ALL = (*LIBRARIES, MODULES, *(part for part, _ in PARTS), OTHER)
"""Every part: libraries and modules are being loaded, the others run."""
LOADS = "_find_and_load"
"""The function of Python that loads a module."""


def part_of(frame: FrameType | None) -> str:
    """The innermost part that a stack is in."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == LOADS:
            return loaded(frame)
        found = next((part for part, places in PARTS if any(place in code.co_filename for place in places)), None)
        if found and code.co_name != "<module>":
            return found
        frame = frame.f_back
    return OTHER


def loaded(frame: FrameType | None) -> str:
    """The outermost library that is being loaded, on whose behalf all inside it is; else the modules of the program."""
    found = MODULES
    while frame is not None:
        if frame.f_code.co_name == LOADS and (library := str(frame.f_locals["name"]).partition(".")[0]) in LIBRARIES:
            found = library
        frame = frame.f_back
    return found


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
