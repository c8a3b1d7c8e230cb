"""All that values lead to by putting them into right sides: no solving, no SymPy."""

from collections.abc import Mapping
from math import isfinite

from derive.records import Equation
from derive.solving.one_equation import right_side_at


def followed(active: tuple[Equation, ...], values: Mapping[str, float]) -> dict[str, float]:
    """All that the values lead to by putting them into right sides."""
    known, waiting = dict(values), [row for row in reversed(active) if row.sense == "="]
    while True:
        names = {*known}
        waiting = [row for row in waiting if row.symbols[0] not in names]
        new = {row.symbols[0]: right_side_at(row, known) for row in waiting if row.inputs <= names and row.applies(known)}
        new = {name: value for name, value in new.items() if isfinite(value)}
        if not new:
            return known
        known |= new
