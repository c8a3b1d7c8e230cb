"""Write docs/reference/assumptions.md, every chosen number of the price side, from the record.

python docs/generate_assumptions.py           writes the file
python docs/generate_assumptions.py --check   exits 1 if the file differs from what would be written
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from written import main

from invert.assumptions import ANCHORS, NOTES, USUAL, Prior

PAGE = Path(__file__).parent / "reference" / "assumptions.md"


def page() -> str:
    """Return the whole page: outside facts, priors, and fixed numbers."""
    return "\n\n".join(heading() + list(sections())) + "\n"


def heading() -> list[str]:
    return [
        "# Assumptions",
        "Made by `python docs/generate_assumptions.py` from `invert/assumptions.py`. Edit it instead of this page.",
        f"All {len(NOTES)} numbers of the price side that someone chose and that another analyst could choose differently. A run has"
        " one record of them. `--anchor NAME=VALUE` replaces an outside fact. `infer(assumptions=...)` in Python replaces any of them."
        " `--save` writes all of them. A spread is one standard deviation of a natural logarithm, in nats.",
    ]


def sections() -> Iterator[str]:
    """Return a table for each kind, in the order of the record."""
    priors = [name for name in NOTES if isinstance(getattr(USUAL, name), Prior)]
    parts = {
        "Outside facts": (list(ANCHORS), "Facts about a model, its traffic and its hardware. Every output prints them."),
        "Priors": (
            priors,
            "The distribution of a hidden quantity before a sheet is read. It is a normal distribution of the logarithm around the value"
            " here. If two ends are given, it is a normal distribution of the logit between them.",
        ),
        "Coverage": ([name for name in NOTES if name not in {*ANCHORS, *priors}], "Spreads, noise, rules and limits."),
    }
    for title, (names, text) in parts.items():
        lines = ["| name | value | unit | why | source | varied |", "|---|---|---|---|---|---|"]
        yield "\n\n".join([f"## {title}", text, "\n".join([*lines, *map(row, names)])])


def row(name: str) -> str:
    note, default = NOTES[name], getattr(USUAL, name)
    varied = f"drawn, spread {default.spread:g}" if isinstance(default, Prior) else note.varied
    return f"| `{name}` | {value(default)} | {note.unit or '-'} | {note.why} | {note.source} | {varied} |"


def value(default: object) -> str:
    """Return a value as a reader writes it: the median of a prior, and a dash for a fact without a default."""
    if isinstance(default, Prior):
        between = f" between {default.ends[0]:g} and {default.ends[1]:g}" if default.ends else ""
        return f"{default.at(0.0):.3g}{between}"
    if isinstance(default, tuple):
        return ", ".join(f"{one:g}" for one in default)
    return "-" if default is None else f"{default:g}" if isinstance(default, float) else str(default)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).name, PAGE, page, sys.argv[1:]))
